"""Dependence, permutation search and dependent covers on delicious and on 100,000 labels."""

import resource
import time

import numpy as np
from scipy import sparse

from labelcover.covers import random_cover
from labelcover.covers.bounds import schonheim_bound
from labelcover.datasets import load
from labelcover.dependence import adapt_cover, cooccurrences, dependent_cover, label_dependence


class Timer:
    """Wall and processor seconds of a block."""

    def __enter__(self) -> "Timer":
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_) -> None:
        self.wall = time.perf_counter() - self._began[0]
        self.cpu = time.process_time() - self._began[1]


def line(what: str, timer: Timer, result: str) -> None:
    print(f"| {what} | {timer.wall:.1f} | {timer.cpu:.1f} | {result} |", flush=True)


def compile_all() -> None:
    Y = np.repeat(np.eye(8, dtype=np.uint8) + np.roll(np.eye(8, dtype=np.uint8), 1, 0), 6, axis=0)
    for r in (2, 3):
        dependence = label_dependence(Y, r)
        adapt_cover(random_cover(8, 4, size=6, random_state=0), dependence, n_iterations=5)
    dependent_cover(Y, 4)


def delicious(k: int = 6) -> None:
    try:
        dataset = load("delicious")
    except FileNotFoundError as error:
        print(f"\n{error}")
        return
    Y = sparse.csr_array(dataset.Y[dataset.train_rows])
    m = Y.shape[1]
    bound = schonheim_bound(m, k)
    print(f"\n{Y.shape[0]:,} rows, {m} labels, k = {k}; a cover of all pairs needs {bound:,}\n")
    print("| delicious | wall s | CPU s | result |\n|---|---|---|---|")
    with Timer() as dense:
        table = Y.toarray().astype(np.float32)
        dense_pairs = int((np.triu(table.T @ table, 1) >= 5).sum())
    line("pairs by a dense product (peer)", dense, f"{dense_pairs:,} pairs")
    with Timer() as timer:
        labelsets, _ = cooccurrences(Y, 2)
    line("pairs by enumeration", timer, f"{len(labelsets):,} pairs")
    with Timer() as triples:
        dependence = label_dependence(Y, 3)
    line("χ² of triples", triples, f"{len(dependence.labelsets):,} triples")
    cover = random_cover(m, k, size=bound, random_state=0)
    with Timer() as once:
        before = dependence.merit(cover)
    line("merit computed once (peer of a swap)", once, f"{before / dependence.weights.sum():.2%}")
    with Timer() as timer:
        adapted = adapt_cover(cover, dependence, random_state=0)
    share = adapted.merit / adapted.total
    line("permutation search, 10 restarts", timer, f"merit {share:.2%} of all, × "
         f"{adapted.merit / before:.1f}")  # fmt: skip
    print(f"| both together | {triples.wall + timer.wall:.1f} | {triples.cpu + timer.cpu:.1f} | |")
    for wanted in (0.95, 1.0):
        with Timer() as timer:
            found = dependent_cover(Y, k, share=wanted)
        share = label_dependence(Y, 2).share(found)
        line(f"dependent cover of {wanted:.0%}", timer, f"{len(found):,} labelsets, {share:.2%}")


def many_labels(m: int = 100_000, n: int = 300_000, k: int = 6) -> None:
    """Rows that each draw from one of many overlapping topics, some far more popular."""
    random = np.random.default_rng(0)
    n_topics, width = m // 8, 24
    topics = random.integers(m, size=(n_topics, width))
    popularity = 1 / np.arange(1, n_topics + 1) ** 0.7
    drawn = random.choice(n_topics, size=n, p=popularity / popularity.sum())
    # Labels early in a topic are drawn more often.
    places = np.minimum(random.geometric(0.15, size=(n, 6)) - 1, width - 1)
    labels = topics[drawn[:, None], places].ravel()
    Y = sparse.csr_array((np.ones(labels.size), (np.repeat(np.arange(n), 6), labels)), (n, m))
    Y = (Y > 0).astype(np.uint8)
    print(f"\n{n:,} rows, {m:,} labels, {Y.nnz / n:.1f} labels in a row, k = {k}\n")
    print("| 100,000 labels | wall s | CPU s | result |\n|---|---|---|---|")
    with Timer() as timer:
        dependence = label_dependence(Y, 2)
    line("χ² of pairs", timer, f"{len(dependence.labelsets):,} pairs")
    with Timer() as timer:
        cover = dependent_cover(Y, k)
    line(
        "dependent cover", timer,
        f"{len(cover):,} labelsets, {dependence.share(cover):.2%} of χ², every label at least "
        f"{cover.label_counts.min()} times",
    )  # fmt: skip


def main() -> None:
    compile_all()
    delicious()
    many_labels()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nPeak memory of the process: {peak:,.0f} MB.")


if __name__ == "__main__":
    main()
