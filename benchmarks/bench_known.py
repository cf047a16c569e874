"""Labels predicted from features and known labels: the numbers of docs/what-covers-bring.md.

``python -m benchmarks.bench_known [--sets a,b] [--methods a,b]``. In three folds, a tenth, a
quarter, half and nine tenths of the labels of the test rows are known, by five random masks each;
scored are the others. Scores are appended to ``docs/results/known.csv`` as they come, so the same
command resumes an interrupted run; ``--page`` prints the tables of the page, ``--seconds``
how long the stage takes on 50 simulated labels and on those of delicious. Needs the data folder
(``LABELCOVER_DATA``). Seconds are CPU seconds of one thread.
"""

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.preprocessing import MaxAbsScaler

from benchmarks.simulated_labels import simulate
from labelcover import LabelCoverClassifier
from labelcover.covers import Cover
from labelcover.datasets import load
from labelcover.dependence import dependent_cover
from labelcover.ensemble._links import fit_links
from labelcover.experiments._folds import make_folds

SETS = "emotions,scene,yeast,debtags,medical,enron,slashdot,ohsumed"
SHARES = {0.0: "nothing", 0.1: "a tenth", 0.25: "a quarter", 0.5: "half", 0.9: "nine tenths"}
MASKS = 5
FILE = Path(__file__).parents[1] / "docs" / "results" / "known.csv"
COLUMNS = ["dataset", "fold", "method", "share", "mask", "average_precision", "log_loss", "seconds"]
# Of chains, so many orders are tried, and the best counts.
ORDERS = 10
# Left-out rows of the simulated labels, and how many rows are answered one by one.
ROWS, ANSWERS = 2_048, 50
Predict = Callable[[np.ndarray], np.ndarray]


def masked(Y: np.ndarray, share: float, mask: int) -> np.ndarray:
    """Return the labels with NaN where they are hidden; the same cells for every method."""
    shown = np.random.default_rng([mask, round(1000 * share)]).random(Y.shape) < share
    return np.where(shown, Y, np.nan)


def training_masks(Y: np.ndarray, copies: int) -> np.ndarray:
    """Return copies of training labels with labels hidden, by a share of each row's own."""
    random = np.random.default_rng(0)
    share = random.uniform(0, 0.97, (copies * len(Y), 1))
    return np.where(
        random.random((copies * len(Y), Y.shape[1])) < share, np.tile(Y, (copies, 1)), np.nan
    )


def ours(**options) -> Callable:
    def fit(X, Y, X_test) -> Predict:
        model = LabelCoverClassifier(random_state=0, n_jobs=1, **options).fit(X, Y)
        return lambda known: model.predict_proba(X_test, known=known)

    return fit


def default(X, Y, X_test) -> Predict:
    """Return the default that is told nothing."""
    P = LabelCoverClassifier(random_state=0, n_jobs=1).fit(X, Y).predict_proba(X_test)
    return lambda known: P


def all_pairs(X, Y, X_test) -> Predict:
    cover = Cover(list(combinations(range(Y.shape[1]), 2)), Y.shape[1])
    return ours(cover=cover)(X, Y, X_test)


def dense(X) -> np.ndarray:
    return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)


def beside(X, labels: np.ndarray):
    """Return features and labels as one table, sparse if the features are."""
    return sparse.hstack([X, labels], "csr") if sparse.issparse(X) else np.hstack([X, labels])


def chains(X, Y, X_test) -> list[Predict]:
    """Return classifier chains in several orders, with the known labels put in."""
    scaler = MaxAbsScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    m = Y.shape[1]

    def chain(order) -> Predict:
        models = []
        for at, j in enumerate(order):
            inputs = beside(X, Y[:, order[:at]])
            both = len(np.unique(Y[:, j])) == 2
            model = LogisticRegression(max_iter=200) if both else None
            models.append(model.fit(inputs, Y[:, j]) if both else float(Y[0, j]))

        def predict(known):
            P, put_in = np.empty(known.shape), np.empty(known.shape)
            for at, j in enumerate(order):
                inputs = beside(X_test, put_in[:, order[:at]])
                model = models[at]
                fixed = isinstance(model, float)
                P[:, j] = model if fixed else model.predict_proba(inputs)[:, 1]
                put_in[:, j] = np.where(np.isnan(known[:, j]), P[:, j] > 0.5, known[:, j])
            return P

        return predict

    random = np.random.default_rng(0)
    return [chain(random.permutation(m)) for _ in range(ORDERS)]


def forest(X, Y, X_test) -> Predict:
    """Return a random forest on features and known labels, missing ones imputed by the mean."""
    X, X_test, mean = dense(X), dense(X_test), Y.mean(axis=0)
    known = training_masks(Y, 3)
    inputs = np.hstack([np.tile(X, (3, 1)), np.where(np.isnan(known), mean, known)])
    model = RandomForestClassifier(200, min_samples_leaf=3, random_state=0, n_jobs=1)
    model.fit(inputs, np.tile(Y, (3, 1)))

    def predict(known):
        asked = np.hstack([X_test, np.where(np.isnan(known), mean, known)])
        found = model.predict_proba(asked)
        return np.column_stack(
            [P[:, 1] if P.shape[1] == 2 else np.full(len(P), Y[0, j]) for j, P in enumerate(found)]
        )

    return predict


def boosting(X, Y, X_test) -> Predict:
    """Return gradient boosting a label on the log-odds of the default and the known labels."""
    model = LabelCoverClassifier(random_state=0, n_jobs=1).fit(X, Y)
    left_out = model.left_out_predictions_
    odds = np.log(left_out.confidence / (1 - left_out.confidence))
    own = training_masks(left_out.Y, 3)
    inputs = np.hstack([np.tile(odds, (3, 1)), own])
    models: list = []
    for j in range(Y.shape[1]):
        rows = np.isnan(own[:, j])
        y = np.tile(left_out.Y[:, j], 3)[rows]
        if len(np.unique(y)) < 2:
            models.append(None)
            continue
        table = np.delete(inputs[rows], odds.shape[1] + j, axis=1)
        models.append(HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(table, y))
    P = model.predict_proba(X_test)
    test_odds = np.log(P / (1 - P))

    def predict(known):
        asked = np.hstack([test_odds, known])
        return np.column_stack(
            [
                P[:, j]
                if each is None
                else each.predict_proba(np.delete(asked, odds.shape[1] + j, axis=1))[:, 1]
                for j, each in enumerate(models)
            ]
        )

    return predict


METHODS: dict[str, Callable] = {
    "default": default,
    "known": ours(),
    "no links": ours(k=1),
    "all pairs": all_pairs,
    "boosting": boosting,
    "forest": forest,
    "chains": chains,
}
TITLES = {
    "default": "told nothing",
    "known": "links of the cover",
    "no links": "no links",
    "all pairs": "all pairs",
    "boosting": "gradient boosting",
    "forest": "random forest",
    "chains": "chains",
}


def scores(Y: np.ndarray, P: np.ndarray, known: np.ndarray, n: int) -> tuple[float, float]:
    """Return average precision and log-loss of the cells that are not known."""
    cells = np.isnan(known)
    y, p = Y[cells], np.clip(P[cells], 1e-3 / n, 1 - 1e-3 / n)
    loss = -np.log(np.where(y == 1, p, 1 - p)).mean()
    return float(average_precision_score(y, p)), float(loss)


def measure(name: str, fold: int, method: str) -> list[list]:
    data = load(name)
    train, test = make_folds(data, n_folds=3)[fold]
    Y, Y_test = data.Y[train], data.Y[test]
    began = time.process_time()
    found = METHODS[method](data.X[train], Y, data.X[test])
    seconds = time.process_time() - began
    lines = []
    for share in SHARES:
        for mask in range(MASKS if share else 1):
            known = masked(Y_test, share, mask)
            every = found if isinstance(found, list) else [found]
            own = max(scores(Y_test, predict(known), known, len(Y)) for predict in every)
            cells = [f"{own[0]:.6f}", f"{own[1]:.6f}", f"{seconds:.3f}"]
            lines.append([name, fold, method, share, mask, *cells])
    return lines


def print_seconds() -> None:
    """Print CPU seconds of the cover, of the links, and of answers one by one, half known."""
    for Y in (simulate(ROWS, 50).Y.toarray(), np.asarray(load("delicious").Y[:ROWS])):
        m = Y.shape[1]
        random = np.random.default_rng(0)
        P = expit(1.5 * Y - 4 + random.normal(size=Y.shape))
        frequency = Y.mean(axis=0).clip(1e-4)
        fit_links(Y[:200], np.arange(200), P[:200], dependent_cover(Y[:200], 3), frequency)
        times = [time.process_time()]
        cover = dependent_cover(Y, 3, size=4 * m)
        times.append(time.process_time())
        links, _ = fit_links(Y, np.arange(ROWS), P, cover, frequency)
        times.append(time.process_time())
        known = np.where(random.random(Y.shape) < 0.5, Y, -1).astype(np.int8)
        for row in range(ANSWERS):
            links.log_odds(P[[row]], known[[row]])
        times.append(time.process_time())
        cover_took, links_took, answers_took = np.diff(times)
        print(
            f"{m} labels, {ROWS} left-out rows: cover {cover_took:.2f} s, links {links_took:.2f} s,"
            f" a row {1000 * answers_took / ANSWERS:.2f} ms"
        )


def done() -> set[tuple[str, str, str]]:
    if not FILE.exists():
        return set()
    with FILE.open(newline="") as file:
        return {(line["dataset"], line["fold"], line["method"]) for line in csv.DictReader(file)}


def page() -> str:
    """Return the tables of the page: average precision and log-loss by share, for each method."""
    values = defaultdict(list)
    with FILE.open(newline="") as file:
        for line in csv.DictReader(file):
            for measure in ("average_precision", "log_loss"):
                key = line["dataset"], line["method"], float(line["share"]), measure
                values[key].append(float(line[measure]))
    names = list(dict.fromkeys(key[0] for key in values))
    methods = [each for each in METHODS if any(key[1] == each for key in values)]
    text = []
    for measure in ("average_precision", "log_loss"):
        text += ["" if not text else "\nLog-loss:\n"]
        text.append(f"| data set | known | {' | '.join(TITLES[each] for each in methods)} |")
        text.append("|---|---|" + "---|" * len(methods))
        for name in names:
            for share, title in SHARES.items():
                own = [values.get((name, each, share, measure)) for each in methods]
                cells = " | ".join("" if v is None else f"{np.mean(v):.3f}" for v in own)
                text.append(f"| {name} | {title} | {cells} |")
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--page", action="store_true", help="print the tables of the page")
    parser.add_argument("--seconds", action="store_true", help="print times of the stage")
    options = parser.parse_args()
    if options.seconds:
        print_seconds()
        return
    if options.page:
        print(page())
        return
    for method in options.methods.split(","):
        for name in options.sets.split(","):
            for fold in range(3):
                if (name, str(fold), method) in done():
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    lines = measure(name, fold, method)
                is_new = not FILE.exists()
                with FILE.open("a", newline="") as file:
                    writer = csv.writer(file, lineterminator="\n")
                    writer.writerows([COLUMNS, *lines] if is_new else lines)
                print(name, fold, method, *lines[-1][3:], flush=True)


if __name__ == "__main__":
    main()
