"""Precision at 1, 3 and 5 on delicious: 983 labels, 500 words, its own split.

``python -m benchmarks.bench_many_labels [method …]`` measures the methods named, or all, and writes
``docs/results/many-labels.csv`` and the table of ``docs/many-labels.md``. Every method runs in a
process of its own with one thread: CPU seconds are then the seconds on a free machine. Needs the
data folder (``LABELCOVER_DATA``).

``python -m benchmarks.bench_many_labels simulated [rows [labels]]`` measures 10⁵ simulated labels;
see `benchmarks.many_label_simulated`. ``python -m benchmarks.bench_many_labels known`` measures
what known tags are worth; see `benchmarks.many_label_known`.
"""

import csv
import multiprocessing
import os
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from benchmarks import many_label_known, many_label_simulated
from benchmarks.bench_quality import ONE_THREAD
from labelcover import LabelCoverClassifier
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.learners import LabelForest, LeastSquaresClassifier

DOCS = Path(__file__).parents[1] / "docs"
RESULTS, PAGE = DOCS / "results" / "many-labels.csv", DOCS / "many-labels.md"
AT = (1, 3, 5)
COLUMNS = ["method", *(f"P@{k}" for k in AT), "fit_seconds", "predict_seconds", "peak_gb"]
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def ours(**options):
    return LabelCoverClassifier(**options, random_state=0)


# What makes a model whose `predict_proba`, or `predict`, gives scores of all labels.
METHODS = {
    "labelcover": ours,
    "forest alone": lambda: ours(estimator=LabelForest()),
    "forest split by features": lambda: ours(estimator=LabelForest(splits="features")),
    "least squares alone": lambda: ours(estimator=LeastSquaresClassifier()),
    "ridge one-vs-rest": lambda: make_pipeline(TfidfTransformer(), Ridge(1.0)),
    # The leaves of its trees are dense: smaller ones do not fit into memory.
    "random forest": lambda: RandomForestRegressor(
        50, min_samples_leaf=5, max_features="sqrt", random_state=0
    ),
}


def precision_at(P: np.ndarray, Y: np.ndarray, k: int) -> float:
    """Return the share of true labels among the k likeliest, in percent."""
    likeliest = np.argsort(-P, axis=1, kind="stable")[:, :k]
    return 100 * float(np.take_along_axis(Y, likeliest, axis=1).mean())


def measure(name: str, queue) -> None:
    """Fit and score a method; runs in a process of its own."""
    data = load("delicious")
    train, test = data.train_rows, data.test_rows
    X, Y, X_test, Y_test = data.X[train], data.Y[train], data.X[test], data.Y[test]
    if name in OURS:  # loads or compiles the loops, which is not part of fitting
        METHODS[name]().fit(X[:300], Y[:300]).predict_proba(X[:10])
    model = METHODS[name]()
    began = time.process_time()
    model.fit(X, Y)
    fitted = time.process_time()
    P = model.predict_proba(X_test) if name in OURS else model.predict(X_test)
    seconds = fitted - began, time.process_time() - fitted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    scores = [f"{precision_at(P, Y_test, k):.2f}" for k in AT]
    queue.put([name, *scores, *(f"{s:.1f}" for s in seconds), f"{peak:.2f}"])


OURS = ("labelcover", "forest alone", "forest split by features", "least squares alone")


def read_results() -> dict[str, list[str]]:
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="") as file:
        return {row[0]: row for row in list(csv.reader(file))[1:]}


def write(results: dict[str, list[str]]) -> None:
    """Write the results, in the order of the methods, and the table of the page."""
    rows = [results[name] for name in METHODS if name in results]
    with replacing(RESULTS) as temporary, temporary.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *rows])
    head = "| method | P@1 | P@3 | P@5 | fit, CPU s | predict, CPU s | peak memory, GB |"
    lines = [head, "|" + "---|" * len(COLUMNS), *(f"| {' | '.join(row)} |" for row in rows)]
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    table = "\n".join(lines)
    with replacing(PAGE) as temporary:
        temporary.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{after}", encoding="utf-8")


def main(names: list[str]) -> int:
    """Measure the named methods, or all; return the number that failed."""
    if names[:1] == ["simulated"]:
        return many_label_simulated.main(names[1:])
    if names == ["known"]:
        return many_label_known.main()
    unknown = [name for name in names if name not in METHODS]
    if unknown:
        print(f"{unknown[0]!r} is not one of {', '.join(METHODS)}")
        return 1
    # Not a fork: a new process reads the number of threads from its environment.
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    context = multiprocessing.get_context("spawn")
    results, failed = read_results(), 0
    for name in names or METHODS:
        queue = context.Queue()
        process = context.Process(target=measure, args=(name, queue))
        process.start()
        process.join()
        failed += process.exitcode != 0
        if process.exitcode == 0:
            results[name] = queue.get()
            print(", ".join(results[name]), flush=True)
            write(results)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
