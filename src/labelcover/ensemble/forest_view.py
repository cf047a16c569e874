"""A forest on all labels as a view: confidences, and those of training rows out of the bag."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelcover.ensemble.chunked_training import sampled_rows
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.forest.feature_forest import MANY_ROWS
from labelcover.learners.forest.grown_forest import reads_as_sparse
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
        rows = self.grow(training, seeds, n_jobs=n_jobs, verbose=verbose)
        self.left_out = None
        if keep_left_out:
            self.left_out = rows, [self.forest.left_out(np.arange(len(rows)), n_jobs)]
        self.forest.forget_training()
        return self

    def grow(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
        among: NDArray[np.int64] | None = None,
    ) -> NDArray[np.int64]:
        """Grow the forest; return the rows it was grown on. A sample of rows holds `among`."""
        rows = np.arange(len(training.Y))
        n = training.X.shape[0]
        if isinstance(training.X, ChunkedTable):
            rows = sampled_rows(training.X, int(seeds[0]), among)
            training = training.rows(rows)
        self.n_rows, self.has_all_rows = len(rows), len(rows) == n
        how: dict[str, Any] = {"weights": training.weights, "seed": int(seeds[0])}
        learner = self._with_trees(training, how)
        tables = training.X, training.Y, training.n_values
        self.forest = learner.fit_labels(*tables, **how, n_jobs=n_jobs, verbose=verbose)
        self.training = training
        return rows

    def _with_trees(self, training: TrainingRows, how: dict[str, Any]) -> LabelForest:
        """Return the learner with the number of trees that serves here."""
        learner, X = self.learner, training.X
        if learner.n_trees != AUTO:
            return learner
        if self.left_out_only and training.Y.shape[1] < MANY_LABELS:
            return clone(learner).set_params(n_trees=LEFT_OUT_TREES)
        are_many = X.shape[0] >= MANY_ROWS and self.sparse_trees is not None
        if not are_many or not reads_as_sparse(X, training.n_values):
            return learner
        splits = learner.chosen_splits(X, training.Y, training.n_values, **how)
        n_trees = self.sparse_trees if splits == "features" else AUTO
        return clone(learner).set_params(splits=splits, n_trees=n_trees)

    @property
    def n_seeds(self) -> int:
        """One for the forest."""
        return 1

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [self.forest.confidence(X)]
