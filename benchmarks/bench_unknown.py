"""Training labels that are not known: the numbers of docs/unknown-labels.md.

``python -m benchmarks.bench_unknown [--sets a,b] [--methods a,b] [--folds 2] [--hidden 0,0.5]``. Of
the labels of the training rows none, a fifth, half and four fifths are hidden at random, or two
thirds by design: every row is looked at for one third of the labels; or half of the rows have no
known label, and the others all. Test rows are scored with all their labels. Scores are appended to
``docs/results/unknown.csv`` as they come, so the same command resumes an interrupted run;
``--page`` prints the tables of the page. Needs the data folder (``LABELCOVER_DATA``). Seconds are
CPU seconds of one thread.
"""

import argparse
import csv
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.experiments._folds import make_folds
from labelcover.metrics import average_precision, log_loss

SETS = "emotions,yeast,debtags,enron"
HIDDEN = ("0", "0.2", "0.5", "0.8", "design", "rows")
FILE = Path(__file__).parents[1] / "docs" / "results" / "unknown.csv"
COLUMNS = ["dataset", "fold", "method", "hidden", "log_loss", "average_precision", "seconds"]
# Peers are never surer than this: a label of few known rows would have an infinite loss.
LEAST = 1e-3
CS = [0.1, 1.0, 10.0, 100.0]


def with_gaps(Y: np.ndarray, hidden: str, fold: int) -> np.ndarray:
    """Return the labels with NaN where they are hidden; the same cells for every method."""
    random = np.random.default_rng([fold, HIDDEN.index(hidden)])
    if hidden == "design":
        group = random.integers(3, size=(len(Y), 1))
        return np.where(np.arange(Y.shape[1]) % 3 == group, Y, np.nan)
    if hidden == "rows":
        return np.where(random.random((len(Y), 1)) < 0.5, np.nan, Y)
    return np.where(random.random(Y.shape) < float(hidden), np.nan, Y)


def ours(X, Y, X_test) -> np.ndarray:
    return LabelCoverClassifier(random_state=0, n_jobs=1).fit(X, Y).predict_proba(X_test)


def zeros(X, Y, X_test) -> np.ndarray:
    return ours(X, np.nan_to_num(Y), X_test)


def one_a_label(make):
    def fit(X, Y, X_test) -> np.ndarray:
        P = np.empty((X_test.shape[0], Y.shape[1]))
        for j in range(Y.shape[1]):
            known = np.flatnonzero(~np.isnan(Y[:, j]))
            y = Y[known, j]
            rarer = int(min((y == 0).sum(), (y == 1).sum()))
            if not rarer:
                P[:, j] = (y.sum() + 0.5) / (len(y) + 1)
            else:
                P[:, j] = make(rarer).fit(X[known], y).predict_proba(X_test)[:, 1]
        return np.clip(P, LEAST, 1 - LEAST)

    return fit


def logistic(rarer: int):
    """Return logistic regression whose C is chosen by three folds, where there are rows for it."""
    chosen = {"Cs": CS, "cv": 3, "scoring": "neg_log_loss", "solver": "liblinear"}
    model = LogisticRegressionCV(**chosen) if rarer >= 6 else LogisticRegression(C=CS[1])
    return make_pipeline(MaxAbsScaler(), model)


def boosting(X, Y, X_test) -> np.ndarray:
    dense = (each.toarray() if sparse.issparse(each) else each for each in (X, X_test))
    first, last = dense
    return one_a_label(lambda _: HistGradientBoostingClassifier(random_state=0))(first, Y, last)


METHODS = {
    "labelcover": ours,
    "unknown as 0": zeros,
    "logistic a label": one_a_label(logistic),
    "boosting a label": boosting,
}


def measure(name: str, fold: int, method: str, hidden: str) -> list:
    data = load(name)
    labels = np.asarray(data.Y)
    train, test = make_folds(data, n_folds=3)[fold]
    Y = with_gaps(labels[train].astype(float), hidden, fold)
    start = time.process_time()
    P = METHODS[method](data.X[train], Y, data.X[test])
    seconds = time.process_time() - start
    truth = labels[test]
    return [
        *(name, fold, method, hidden),
        *(round(log_loss(truth, P), 5), round(average_precision(truth, P), 5), round(seconds, 2)),
    ]


def read() -> list[dict[str, str]]:
    if not FILE.exists():
        return []
    with FILE.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def page() -> str:
    """Return the tables of the page, from the file."""
    found = defaultdict(list)
    for row in read():
        key = row["dataset"], row["method"], row["hidden"]
        found[key].append([float(row[x]) for x in ("log_loss", "average_precision", "seconds")])
    mean = {key: np.mean(rows, axis=0) for key, rows in found.items()}
    lines = []
    sets = [name for name in SETS.split(",") if (name, "labelcover", "0") in mean]
    for measure, what in enumerate(("Log-loss", "Average precision")):
        lines += [f"\n{what}\n", "| set | method | " + " | ".join(HIDDEN) + " |"]
        lines.append("|---|---|" + "---|" * len(HIDDEN))
        for name in sets:
            for method in METHODS:
                cells = [mean.get((name, method, each)) for each in HIDDEN]
                said = ["" if cell is None else f"{cell[measure]:.4f}" for cell in cells]
                lines.append(f"| {name} | {method} | " + " | ".join(said) + " |")
        sign = 1 if measure == 0 else -1
        for each in HIDDEN:
            whole = [n for n in sets if all((n, method, each) in mean for method in METHODS)]
            if not whole:
                continue
            values = [[sign * mean[n, method, each][measure] for method in METHODS] for n in whole]
            ranks = np.mean([rankdata(row) for row in values], axis=0).round(2).tolist()
            lines.append(f"mean ranks, {each} hidden, {len(whole)} sets: {ranks}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--hidden", default=",".join(HIDDEN))
    parser.add_argument("--page", action="store_true")
    given = parser.parse_args()
    if given.page:
        print(page())
        return
    warnings.simplefilter("ignore")
    done = {tuple(row[x] for x in COLUMNS[:4]) for row in read()}
    for fold in range(given.folds):
        for name in given.sets.split(","):
            for method in given.methods.split(","):
                for hidden in given.hidden.split(","):
                    if (name, str(fold), method, hidden) in done:
                        continue
                    row = measure(name, fold, method, hidden)
                    print(*row, flush=True)
                    is_new = not FILE.exists()
                    with FILE.open("a", newline="", encoding="utf-8") as file:
                        writer = csv.writer(file, lineterminator="\n")
                        writer.writerows([COLUMNS, row] if is_new else [row])


if __name__ == "__main__":
    main()
