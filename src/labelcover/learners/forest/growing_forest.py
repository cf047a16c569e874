"""A forest while it grows: threads take the next tree, and the caller's joins them at the end."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import progress_bar
from labelcover.learners.forest.grown_forest import GrownForest


class GrowingForest:
    """Trees that grow in threads beside what the caller does.

    Compiled loops hold no lock of Python's. The thread of the caller is one of those that were
    asked for, so one thread fewer is started, and none for one.

    Parameters
    ----------
    forest : GrownForest
        Without trees.
    how : tuple
        What `GrownForest.grow` takes but the seed; weights of rows first.
    seeds : sequence of SeedSequence
        One for each tree. Trees do not depend on who grows them.
    """

    def __init__(
        self,
        forest: GrownForest,
        how: tuple[Any, int, int],
        seeds: Sequence[np.random.SeedSequence],
        *,
        n_threads: int,
        verbose: bool = False,
    ) -> None:
        self.forest, self.how, self.verbose = forest, how, verbose
        self.trees: list[Any] = [None] * len(seeds)
        self.n_threads = min(n_threads, len(seeds))
        self._left, self._lock = list(enumerate(seeds))[::-1], Lock()
        self._started: list[Future[None]] = []
        if self.n_threads > 1:
            threads = ThreadPoolExecutor(self.n_threads - 1)
            self._started = [threads.submit(self._work) for _ in range(self.n_threads - 1)]
            threads.shutdown(wait=False)

    def finished(self, asked: NDArray[np.int64] | None = None) -> GrownForest:
        """Grow what is left in this thread too; return the forest, finished.

        Its `left_out` are of the training rows that are asked for, else of all.
        """
        with progress_bar("growing trees", len(self.trees), show=self.verbose) as bar:
            try:
                while self._grow_next():
                    bar.advance()
            finally:
                self.stop()
        for thread in self._started:
            thread.result()
        self.forest.trees = self.trees
        self.forest.finish(self.how[0], asked, n_threads=self.n_threads)
        return self.forest

    def __enter__(self) -> GrowingForest:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is not None:
            self.stop()

    def stop(self) -> None:
        """Start no further tree, and wait for those that grow."""
        with self._lock:
            self._left.clear()
        wait(self._started)

    def _work(self) -> None:
        while self._grow_next():
            pass

    def _grow_next(self) -> bool:
        with self._lock:
            if not self._left:
                return False
            number, seed = self._left.pop()
        self.trees[number] = self.forest.grow(*self.how, seed)
        return True
