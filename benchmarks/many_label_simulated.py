"""Very many simulated labels: time, memory and precision, beside liblinear on a part of the labels.

``python -m benchmarks.bench_many_labels simulated [rows [labels]]`` (10⁵ of each by default) fits
`LabelCoverClassifier()` on sparse tables of `benchmarks.simulated_labels` and writes
``docs/results/many-labels-simulated.csv``. One-vs-rest liblinear learns the labels of some groups
only, from all rows; both are then asked to rank the labels of these groups, in the test rows that
have at least one of them.
"""

import csv
import resource
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.svm import LinearSVC

from benchmarks.simulated_labels import simulate
from labelcover import LabelCoverClassifier
from labelcover._files import replacing
from labelcover.metrics import precision_at

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "many-labels-simulated.csv"
AT = (1, 3, 5)
TEST_ROWS = 10_000
# Labels that liblinear learns: those of groups from the whole range, at least so many.
PART = 400
COLUMNS = [
    "rows", "labels", "method", "ranked labels", *(f"P@{k}" for k in AT), "fit CPU s",
    "top 5 CPU s", "peak GB",
]  # fmt: skip


def measured(n_rows: int, n_labels: int) -> list[list[str]]:
    """Return a line for ours on all labels, and one for each method on a part of them."""
    data = simulate(n_rows + TEST_ROWS, n_labels)
    X, Y, X_test, Y_test = data.X[:n_rows], data.Y[:n_rows], data.X[n_rows:], data.Y[n_rows:]
    model = LabelCoverClassifier(random_state=0)
    began = time.process_time()
    model.fit(X, Y)
    fitted = time.process_time()
    top = model.predict_top(X_test, 5).table(n_labels)
    seconds = fitted - began, time.process_time() - fitted
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(model._chosen(), flush=True)

    def line(method, n_ranked, tables, *figures):
        scores = [f"{100 * precision_at(*tables, k):.2f}" for k in AT]
        return [str(n_rows), str(n_labels), method, str(n_ranked), *scores, *figures]

    ours = line(
        "labelcover", n_labels, (Y_test, top), *(f"{s:.0f}" for s in seconds), f"{peak:.2f}"
    )
    print(", ".join(ours), flush=True)

    groups = np.unique(data.group)
    some = groups[:: max(1, len(groups) * 50 // PART)]
    part = np.flatnonzero(
        np.isin(data.group, some) & (np.bincount(Y.indices, minlength=n_labels) > 0)
    )
    rows = np.flatnonzero(Y_test[:, part].sum(axis=1))
    truth = Y_test[:, part][rows]
    own = model._answer(X_test[rows]).stored()[:, part]
    of_part = line("labelcover", len(part), (truth, own), "", "", "")
    began = time.process_time()
    scores = one_vs_rest(X, Y[:, part], X_test[rows])
    spent = f"{time.process_time() - began:.0f}"
    peer = line("liblinear, one-vs-rest", len(part), (truth, scores), spent, "", "")
    print(", ".join(of_part), "|", ", ".join(peer), flush=True)
    return [ours, of_part, peer]


def one_vs_rest(X, Y, X_test) -> sparse.csr_array:
    """Return positive scores of all labels; liblinear with its default C on TF-IDF."""
    words = TfidfTransformer(sublinear_tf=True).fit(X)
    X, X_test = words.transform(X), words.transform(X_test)
    columns = sparse.csc_array(Y)
    scores = np.empty((X_test.shape[0], Y.shape[1]))
    for j in range(Y.shape[1]):
        y = np.zeros(Y.shape[0], dtype=np.int8)
        y[columns.indices[columns.indptr[j] : columns.indptr[j + 1]]] = 1
        scores[:, j] = LinearSVC(dual=True, random_state=0).fit(X, y).decision_function(X_test)
    return sparse.csr_array(scores - scores.min() + 1)


def main(sizes: list[str]) -> int:
    """Measure one size, keep the lines of the others."""
    numbers = [int(float(size)) for size in sizes] or [100_000]
    n_rows, n_labels = numbers[0], numbers[-1]
    lines = measured(n_rows, n_labels)
    known = []
    if RESULTS.exists():
        with RESULTS.open(newline="") as file:
            known = [row for row in list(csv.reader(file))[1:] if row[:2] != lines[0][:2]]
    every = sorted([*known, *lines], key=lambda row: (int(row[0]), int(row[1])))
    with replacing(RESULTS) as temporary, temporary.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *every])
    return 0
