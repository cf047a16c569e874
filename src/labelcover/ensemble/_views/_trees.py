"""A forest on all labels as a view: confidences, and those of training rows out of the bag."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble._view import LeftOut, TrainingRows, View, drawn_seed
from labelcover.learners import GrownForest, LabelForest


class ForestView(View):
    """A `LabelForest`, fitted.

    Parameters
    ----------
    learner : LabelForest
    n_trees : int, optional
        What ``n_trees="auto"`` is where trees split by features; by default as many as of a forest
        alone.

    Attributes
    ----------
    forest : GrownForest
    has_all_rows : bool
        Whether it was grown on all training rows.
    """

    names = ("forest",)
    forest: GrownForest
    has_all_rows: bool

    def __init__(self, learner: LabelForest, n_trees: int | None = None) -> None:
        self.learner, self.n_trees = learner, n_trees

    @classmethod
    def planned(cls, learners: Any, cover: Cover, *, n_trees: int | None = None, **_: Any) -> Self:
        """Return the view as a plan has it."""
        return cls(learners["forest"], n_trees)

    @property
    def least(self) -> float:
        """How near to 0 and 1 probabilities come: one tree more votes each way."""
        return 1 / len(self.forest.trees)

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Grow the forest on the rows in memory."""
        sample = rows.in_memory
        self._n_rows = len(sample.Y)
        self.has_all_rows = self._n_rows == len(rows.Y)
        self.forest = self.learner.fit_labels(
            sample.X,
            sample.Y,
            sample.n_values,
            weights=sample.weights,
            seed=drawn_seed(seed),
            n_jobs=n_jobs,
            verbose=verbose,
            n_feature_trees=self.n_trees,
        )
        return self

    @property
    def n_forest_rows(self) -> int:
        """On how many training rows it was grown: all, or of rows in chunks a sample."""
        return self._n_rows

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the out-of-bag confidences of ``rows.left_out``; asked once, after `fit`."""
        found = self.forest.left_out(rows.in_memory.left_out)
        self.forest.forget_training()
        return rows.left_out, [found]

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [self.forest.confidence(X)]
