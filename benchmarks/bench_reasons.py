"""Reasons of predictions: whether they add up, whom they speak for, how faithful, how fast.

``python -m benchmarks.bench_reasons [--parts sums,sets,deletion,command] [--problems 2000]
[--rows 40] [--sets emotions,yeast]`` prints tables and writes ``docs/results/reasons.csv``, a line
for each measurement; parts and sets that are not run keep their lines. Needs the data folder
(``LABELCOVER_DATA``) and, for ``deletion``, shap.

- ``sums``: random problems, all estimators that explain, dense and sparse, well separated and not:
  the greatest difference between the sum of contributions and the score of `predict_proba`.
- ``sets``: of predicted labels of test rows, how often the first reason speaks for the label and
  names a column, and which share of the way from start to score the reasons shown explain.
- ``deletion``: three columns of each predicted label are set to the training mean (numbers) or to
  their commoner value (words and flags of a sparse table): those that reasons name first, those of
  SHAP's permutation explainer, and three at random. What the log-odds fall by, the difference of
  both with its standard error, and the CPU seconds of both explanations.
- ``command``: CPU seconds of ``labelcover predict`` with and without ``--why 3``.
"""

import argparse
import csv
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from benchmarks.bench_tables import docstrings
from labelcover import LabelCoverClassifier, RakelPlusPlusClassifier
from labelcover._files import replacing
from labelcover.datasets import feature_words, load, read_table
from labelcover.ensemble import Pool
from labelcover.learners import LabelForest, LeastSquaresClassifier, LogisticClassifier
from labelcover.methods import BinaryRelevanceClassifier, LabelPowersetClassifier

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "reasons.csv"
COLUMNS = ["part", "set", "measure", "value"]
TEXT = ("docstrings", "enron", "medical", "ohsumed", "slashdot")
NUMBERS = ("emotions", "scene", "yeast", "mediamill-subset", "genbase")
DELETED = ("emotions", "yeast", "scene", "medical", "debtags")
TRAIN_ROWS, TEST_ROWS, TEXT_ROWS = 1_500, 300, 1_500
SHAP_ROWS, N_DELETED = 40, 3
COMMAND = "from labelcover.cli import main; main()"
ESTIMATORS = {
    "pool": lambda: LabelCoverClassifier(random_state=0),
    "pool, Gaussian": lambda: LabelCoverClassifier(
        Pool(LeastSquaresClassifier(kernel="rbf")), random_state=0
    ),
    "pool, means": lambda: LabelCoverClassifier(
        Pool(forest=LabelForest(8, splits="means")), random_state=0
    ),
    "pool, logistic": lambda: LabelCoverClassifier(
        Pool(logistic=LogisticClassifier()), random_state=0
    ),
    "forest": lambda: LabelCoverClassifier(LabelForest(8), random_state=0),
    "labelsets": lambda: LabelCoverClassifier(LeastSquaresClassifier(), threshold=0.5),
    "RAKEL++": lambda: RakelPlusPlusClassifier(k=2, threshold=0.5, random_state=0),
    "weighted": lambda: RakelPlusPlusClassifier(
        k=2, aggregate="weighted", threshold=0.5, random_state=0
    ),
    "BR": BinaryRelevanceClassifier,
    "BR, logistic": lambda: BinaryRelevanceClassifier(LogisticClassifier(), threshold=0.5),
    "LP": LabelPowersetClassifier,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--parts", default="sums,sets,deletion,command")
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--rows", type=int, default=SHAP_ROWS)
    parser.add_argument("--sets", default=",".join(DELETED), help="of deletion")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for part in options.parts.split(","):
        lines = {
            "sums": lambda: sums(options.problems),
            "sets": sets,
            "deletion": lambda: deletion(options.rows, options.sets.split(",")),
            "command": command,
        }[part]()
        measured = {(part, line[0]) for line in lines}
        kept = [line for line in read() if tuple(line[:2]) not in measured]
        write(kept + [(part, *line) for line in lines])


def sums(n_problems):
    """Return the greatest difference between sums of contributions and scores, by estimator."""
    worst, counts = dict.fromkeys(ESTIMATORS, 0.0), dict.fromkeys(ESTIMATORS, 0)
    names = list(ESTIMATORS)
    for seed in range(n_problems):
        name = names[seed % len(names)]
        X, Y, new = random_problem(seed)
        try:
            model = ESTIMATORS[name]().fit(X, Y)
        except ValueError:  # such as logistic regression on too few rows
            continue
        counts[name] += 1
        worst[name] = max(worst[name], difference(model, new))
    for name, found in worst.items():
        print(f"{name}: {found:.1e} in {counts[name]} problems", flush=True)
    lines = [(name, "greatest difference", f"{found:.1e}") for name, found in worst.items()]
    lines += [(name, "problems", count) for name, count in counts.items()]
    return [*lines, ("all", "problems", sum(counts.values()))]


def random_problem(seed):
    """Return training rows, labels and new rows: of odd sizes, separated or not, dense or CSR."""
    random = np.random.default_rng(seed)
    n, d, m = random.integers(12, 60), random.integers(1, 12), random.integers(2, 6)
    X = random.normal(size=(n + 5, d))
    if random.random() < 0.3:
        X = (X > 0.5).astype(float)
    X *= 10.0 ** random.integers(-3, 4, size=d)
    noise = random.choice([0.0, 0.3, 3.0])
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Y = X / spread @ random.normal(size=(d, m)) + noise * random.normal(size=(n + 5, m)) > 0
    Y[0], Y[1] = 0, 1
    if random.random() < 0.4:
        X = sparse.csr_array(np.where(random.random(X.shape) < 0.5, X, 0.0))
    return X[:n], Y[:n].astype(int), X


def difference(model, X):
    """Return the greatest difference between sums of contributions and scores."""
    P = np.asarray(model.predict_proba(X))
    why = model.explain(X, label=range(P.shape[1]), n_reasons=2)
    totals = dict.fromkeys(why.scores, 0.0)
    for reason in why:
        totals[reason.row, reason.label] += reason.contribution
    names = [str(name) for name in model.label_names_in_]
    found = views_difference(model, X)
    for (row, label), total in totals.items():
        p = P[row, names.index(label)]
        if why.scale == "log-odds":
            # Log-odds beyond 20 are lost in the digits of the probability itself.
            own = abs(total - logit(p)) if abs(total) < 20 else abs(expit(total) - p)
        else:
            own = abs(total - p)
        found = max(found, float(own))
    return found


def views_difference(model, X):
    """Return the same for the confidences of each view: a pool leaves what is missing to labels."""
    read, found = model._coding.read(model, X), 0.0
    for view in getattr(model.view_, "views", [model.view_]):
        for shares in view.shares(read):
            rows = np.arange(len(shares.confidence))
            for label in range(shares.confidence.shape[1]):
                away = shares.of_label(label, rows).total() - shares.confidence[:, label]
                found = max(found, float(np.abs(away).max()))
    return found


def sets():
    """Return whom the first reasons speak for, what they name, and how much they explain."""
    lines = []
    for name in TEXT + NUMBERS:
        model, X, words, _ = fitted(name)
        for n in (3, 10):
            why = model.explain(X, n_reasons=n, feature_names=words)
            is_for, is_column, shown, ways, largest = [], [], [], [], []
            for key, own in by_pair(why).items():
                told = [each for each in own if each.part not in ("start", "rest")]
                if not told:
                    is_for.append(False)
                    continue
                way = why.scores[key] - own[0].contribution
                is_for.append(told[0].contribution > 0)
                is_column.append(told[0].part == "feature")
                shown.append(sum(each.contribution for each in told))
                ways.append(way)
                largest.append(max(abs(each.contribution) for each in told) / max(abs(way), 1.0))
            share = np.clip(np.array(shown) / np.array(ways), 0, 1)
            found = {
                "labels explained": len(is_for),
                "first is for": np.mean(is_for),
                "first names a column": np.mean(is_column),
                "share of the way shown": np.mean(share),
                "shown of all ways": np.sum(shown) / np.sum(ways),
                "largest reason by way": np.max(largest),
            }
            print(f"{name}, {n} reasons: " + ", ".join(f"{k} {v:.3f}" for k, v in found.items()),
                  flush=True)  # fmt: skip
            lines += [(name, f"{k}, {n} reasons", f"{v:.3f}") for k, v in found.items()]
    return lines


def by_pair(why):
    found = {key: [] for key in why.scores}
    for reason in why:
        found[reason.row, reason.label].append(reason)
    return found


def fitted(name):
    """Return the default on some rows, other rows, the words of features, and training means."""
    if name == "docstrings":
        with tempfile.TemporaryDirectory() as folder:
            dataset = texts(Path(folder) / "text.csv", TRAIN_ROWS + TEST_ROWS)
    else:
        dataset = load(name)
    order = np.random.default_rng(0).permutation(dataset.X.shape[0])
    n = min(TRAIN_ROWS, 2 * len(order) // 3)
    train, test = order[:n], order[n : n + TEST_ROWS]
    model = LabelCoverClassifier(random_state=0).fit(dataset.X[train], dataset.Y[train])
    words = feature_words(dataset)
    words = words.of_rows(test.tolist()) if hasattr(words, "of_rows") else words
    return model, dataset.X[test], words, np.asarray(dataset.X[train].mean(axis=0)).ravel()


def texts(path, n):
    """Return docstrings of installed packages as a table."""
    rows = list(docstrings())
    order = np.random.default_rng(0).permutation(len(rows))[:n]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "tags"])
        writer.writerows([rows[i][0], ";".join(rows[i][1])] for i in order)
    return read_table(path, tags="tags", separator=";", text=["text"])


def deletion(n_rows, names):
    """Return what log-odds fall by where the columns of reasons are deleted, and the times."""
    import shap

    lines = []
    for name in names:
        model, X, _, mean = fitted(name)
        was_sparse = sparse.issparse(X)
        X = X.toarray() if was_sparse else np.asarray(X)
        is_sparse = np.count_nonzero(X) < 0.25 * X.size
        is_flag = ((X == 0) | (X == 1)).all(axis=0) | was_sparse
        absent = np.where(is_flag, mean > 0.5, mean) if is_sparse else mean
        X = X[:n_rows]
        predicted = np.asarray(model.predict(X)) == 1

        def odds(table, model=model):
            return logit(np.asarray(model.predict_proba(table)))

        odds(X)
        ours_top(model, X[:1], predicted[:1])  # compiled
        began = time.process_time()
        ours = ours_top(model, X, predicted)
        seconds = time.process_time() - began
        began = time.process_time()
        masker = shap.maskers.Independent(absent[None], max_samples=1)
        found = shap.PermutationExplainer(odds, masker, seed=0)(X, max_evals="auto", silent=True)
        shap_seconds = time.process_time() - began
        theirs = {
            (i, j): np.argsort(-found.values[i, :, j], kind="stable")[:N_DELETED]
            for i, j in np.argwhere(predicted).tolist()
        }
        random = np.random.default_rng(0)
        any_three = {
            (i, j): random.permutation(np.flatnonzero(X[i] != absent))[:N_DELETED]
            for i, j in np.argwhere(predicted).tolist()
        }
        own = odds(X)
        falls = {
            "reasons": fall(odds, own, X, absent, ours),
            "SHAP": fall(odds, own, X, absent, theirs),
            "random": fall(odds, own, X, absent, any_three),
        }
        found = {f"fall of log-odds, {key}": value.mean() for key, value in falls.items()}
        ahead = falls["reasons"] - falls["SHAP"]
        by_row = np.bincount([i for i, _ in theirs], ahead - ahead.mean())
        found["reasons less SHAP"] = ahead.mean()
        found["standard error of this, by rows"] = np.sqrt((by_row**2).sum()) / len(ahead)
        found |= {"CPU seconds, reasons": seconds, "CPU seconds, SHAP": shap_seconds}
        found["labels explained"] = int(predicted.sum())
        print(f"{name}: " + ", ".join(f"{k} {v:.3f}" for k, v in found.items()), flush=True)
        lines += [(name, k, f"{v:.3f}") for k, v in found.items()]
    return lines


def ours_top(model, X, predicted):
    """Return the three columns that add the most to each predicted label."""
    (shares,) = model.view_.shares(model._coding.read(model, X))
    top = {}
    for j in np.flatnonzero(predicted.any(axis=0)).tolist():
        rows = np.flatnonzero(predicted[:, j])
        columns = shares.of_label(j, rows).columns
        columns = columns.toarray() if sparse.issparse(columns) else columns
        for i, own in zip(rows.tolist(), columns, strict=True):
            top[i, j] = np.argsort(-own, kind="stable")[:N_DELETED]
    return top


def fall(odds, own, X, absent, top):
    """Return what the log-odds of labels fall by without their columns, in the order of rows."""
    pairs = sorted(top)
    table = X[[i for i, _ in pairs]].copy()
    for row, pair in zip(table, pairs, strict=True):
        row[top[pair]] = absent[top[pair]]
    without = odds(table)
    return np.array([own[i, j] - without[at, j] for at, (i, j) in enumerate(pairs)])


def command():
    """Return the CPU seconds of the command on texts, with and without reasons."""
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train.csv", Path(folder) / "test.csv"
        rows = list(docstrings())
        order = np.random.default_rng(0).permutation(len(rows))
        for path, own in ((train, order[:TEXT_ROWS]), (test, order[TEXT_ROWS : 2 * TEXT_ROWS])):
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["text", "tags"])
                writer.writerows([rows[i][0], ";".join(rows[i][1])] for i in own)
        model, out = Path(folder) / "model.skops", Path(folder) / "out.csv"
        run("train", train, "--tags", "tags", "--text", "text", "-o", model)
        times = {"predict": [], "predict --why 3": []}
        for _ in range(3):
            times["predict"].append(run("predict", model, test, "-o", out))
            times["predict --why 3"].append(run("predict", model, test, "--why", "3", "-o", out))
    found = {f"CPU seconds, {key}": min(own) for key, own in times.items()}
    print(found, flush=True)
    return [("docstrings", key, f"{value:.2f}") for key, value in found.items()]


def run(*arguments):
    """Run the command; return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def read():
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return [tuple(line) for line in list(csv.reader(file))[1:]]


def write(lines):
    with replacing(RESULTS) as path, open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(lines)


if __name__ == "__main__":
    main()
