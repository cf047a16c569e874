"""What known tags are worth where only candidates are looked at: precision of the tags not known.

``python -m benchmarks.bench_many_labels known`` fits `ManyLabelPool` on delicious and on 10⁴
simulated labels, shows a share of the tags of each test row, drawn at random, and ranks the others
with and without them. It writes ``docs/results/many-labels-known.csv``.
"""

import csv
import time
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.simulated_labels import simulate
from labelcover import LabelCoverClassifier
from labelcover._files import replacing
from labelcover.datasets import load
from labelcover.ensemble import ManyLabelPool
from labelcover.metrics import precision_at

RESULTS = Path(__file__).parents[1] / "docs" / "results" / "many-labels-known.csv"
AT, SHARES = (1, 3, 5), (0.0, 0.1, 0.25, 0.5)
COLUMNS = ["data", "share known", "told", *(f"P@{k}" for k in AT), "top 5 CPU s"]


def tables(name: str):
    """Return X and Y of training rows and of test rows, Y sparse."""
    if name == "delicious":
        data = load(name)
        X, Y, train, test = data.X, sparse.csr_array(data.Y), data.train_rows, data.test_rows
    else:
        made = simulate(13_000, 10_000)
        X, Y, train, test = made.X, made.Y, slice(0, 10_000), slice(10_000, None)
    return X[train], Y[train], X[test], Y[test]


def some_of(Y: sparse.csr_array, share: float) -> sparse.csr_array:
    """Return a table with a share of the ones of another."""
    cells = sparse.coo_array(Y)
    kept = np.random.default_rng(1).random(cells.nnz) < share
    where = cells.row[kept], cells.col[kept]
    return sparse.csr_array((np.ones(kept.sum(), Y.dtype), where), shape=Y.shape)


def main() -> int:
    """Measure both data sets and write the table."""
    lines = []
    for name in ("delicious", "simulated"):
        X, Y, X_test, Y_test = tables(name)
        model = LabelCoverClassifier(ManyLabelPool(), random_state=0).fit(X, Y)
        print(model._chosen(), flush=True)
        for share in SHARES:
            known = some_of(Y_test, share)
            hidden = sparse.csr_array(Y_test - known)
            hidden.eliminate_zeros()
            # Tags that are known are taken off the top: they come first where they are told.
            most = AT[-1] + int(np.diff(known.indptr).max())
            for told in (False, True) if share else (False,):
                began = time.process_time()
                top = model.predict_top(X_test, most, known=known if told else None)
                seconds = time.process_time() - began
                ranked = top.table(Y_test.shape[1])
                ranked = sparse.csr_array(ranked - ranked * (known > 0))
                scores = [f"{100 * precision_at(hidden, ranked, k):.2f}" for k in AT]
                lines.append([name, str(share), str(told), *scores, f"{seconds:.1f}"])
                print(", ".join(lines[-1]), flush=True)
    with replacing(RESULTS) as temporary, temporary.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *lines])
    return 0
