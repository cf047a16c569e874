"""A forest while it grows, in threads beside what the caller does."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import progress_bar
from labelcover.learners.background_jobs import BackgroundJobs
from labelcover.learners.forest.grown_forest import GrownForest


class GrowingForest:
    """Trees that grow in threads beside what the caller does, who joins in the end.

    Parameters
    ----------
    forest : GrownForest
        Without trees.
    how : tuple
        What `GrownForest.grow` takes but the seed; weights of rows first.
    seeds : sequence of SeedSequence
        One for each tree. Trees do not depend on who grows them.

    Attributes
    ----------
    jobs : BackgroundJobs
        The trees, then answers for rows out of the bag; others may be added.
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
        self.forest, self.weights, self.verbose = forest, how[0], verbose
        self.jobs = BackgroundJobs(n_threads)
        self.trees = self.jobs.add([partial(forest.grow, *how, seed) for seed in seeds])
        self.asked: NDArray[np.int64] | None = None
        self.answers: list[Any] | None = None

    def ask(self, asked: NDArray[np.int64] | None = None) -> None:
        """Say which training rows are asked for, by default all.

        Once all trees are grown, threads find out what those without a row say of it.
        """
        self.asked, rows = asked, self.forest.answered_rows(asked)
        self.jobs.add([partial(self.forest.gather, self.trees)])
        self.answers = self.add_parts(self.forest.unseen_shares, rows)

    def add_parts(self, answer: Any, rows: NDArray[np.int64]) -> list[Any]:
        """Add a round of jobs, each ``answer(some of the rows)``; return the list of answers."""
        n_threads = self.jobs.n_threads
        parts = np.array_split(rows, 1 if n_threads == 1 else 2 * n_threads)
        return self.jobs.add([partial(answer, part) for part in parts])

    def finished(self) -> GrownForest:
        """Help with what is left; return the forest, with `left_out` of the rows asked for."""
        if self.answers is None:
            self.ask()
        assert self.answers is not None
        with progress_bar("growing trees", len(self.trees), show=self.verbose) as bar:
            self.jobs.finish(bar)
        shares, are_known = map(np.concatenate, zip(*self.answers, strict=True))
        self.forest.finish(shares, are_known, self.weights, self.asked)
        return self.forest

    def __enter__(self) -> GrowingForest:
        return self

    def __exit__(self, kind: type | None, *_: object) -> None:
        if kind is not None:
            self.jobs.stop()
