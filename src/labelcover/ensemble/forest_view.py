"""A forest on all labels as a view: confidences, and those of training rows out of the bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelcover.ensemble.chunked_training import sampled_rows
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.forest.growing_forest import GrowingForest
from labelcover.learners.forest.label_forest import (
    AUTO,
    MANY_LABELS,
    GrownForest,
    LabelForest,
)

# Trees that are grown for out-of-bag predictions alone. With 100 or 200, audits find wrong labels
# with the same average precision to 0.005 (`benchmarks/bench_audit.py`), in up to twice the time.
LEFT_OUT_TREES = 64


class ForestView:
    """A `LabelForest`, fitted.

    Attributes
    ----------
    forest : GrownForest
    n_rows : int
        On how many training rows it was grown: all, or of rows in chunks a sample.
    has_all_rows : bool
        Whether it was grown on all training rows.
    left_out : tuple
        The rows that trees were grown on, and their confidences by the trees grown without them.
    left_out_only : bool
        Whether `fit` is for these confidences alone; ``n_trees="auto"`` is then 64 below 100
        labels.
    sparse_trees : int or None
        What ``n_trees="auto"`` is on a sparse table of 1,000 rows or more, if not 200.
    """

    forest: GrownForest
    n_rows: int
    has_all_rows = True
    left_out_only = False
    sparse_trees: int | None = None
    # What is needed while the forest grows.
    growing: GrowingForest
    rows: NDArray[np.int64]
    training: TrainingRows

    def __init__(self, learner: LabelForest) -> None:
        self.learner = learner

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> ForestView:
        """Grow the forest; its seed is the first of `seeds`."""
        self.start(training, seeds, n_jobs=n_jobs, verbose=verbose)
        rows = self.rows
        confidence = self.finish()
        self.left_out = (rows, [confidence]) if keep_left_out else None
        return self

    def start(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
        among: NDArray[np.int64] | None = None,
    ) -> GrowingForest:
        """Begin to grow the forest, beside what the caller does. A sample of rows holds `among`.

        No further tree is grown if the caller fails in the context of what is returned.
        """
        self.rows = np.arange(len(training.Y))
        n = training.X.shape[0]
        if isinstance(training.X, ChunkedTable):
            self.rows = sampled_rows(training.X, int(seeds[0]), among)
            training = training.rows(self.rows)
        self.n_rows, self.training = len(self.rows), training
        self.has_all_rows = self.n_rows == n
        learner = self.learner
        if self.left_out_only and learner.n_trees == AUTO and training.Y.shape[1] < MANY_LABELS:
            learner = clone(learner).set_params(n_trees=LEFT_OUT_TREES)
        self.growing = learner.start_labels(
            training.X,
            training.Y,
            training.n_values,
            weights=training.weights,
            seed=int(seeds[0]),
            n_jobs=n_jobs,
            verbose=verbose,
            sparse_trees=self.sparse_trees,
        )
        return self.growing

    def ask(self, asked: NDArray[np.int64]) -> None:
        """Say which training rows `finish` is asked for, while the forest grows."""
        self.growing.ask(np.searchsorted(self.rows, asked))

    def finish(self) -> NDArray[np.float64]:
        """Grow the rest; return the confidences of rows by the trees grown without them.

        Of the rows that were asked for, else of all that trees were grown on.
        """
        self.forest = self.growing.finished()
        confidence, self.forest.left_out = self.forest.left_out, np.zeros((0, 0))
        del self.growing, self.rows, self.training
        return confidence

    @property
    def n_seeds(self) -> int:
        """One for the forest."""
        return 1

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [self.forest.confidence(X)]
