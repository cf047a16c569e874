"""Boosted trees on all labels as a view: confidences, and those of training rows out of fold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelcover.covers import Cover
from labelcover.ensemble._shares import Parts, Shares, bent
from labelcover.ensemble._view import LeftOut, TrainingRows, View, drawn_seed
from labelcover.ensemble._views._single_labels import LEAST
from labelcover.learners import BoostedTrees, LabelBoosting


class BoostedView(View):
    """`LabelBoosting`, fitted.

    Attributes
    ----------
    trees : BoostedTrees
    """

    names = ("boosted trees",)
    least = LEAST
    trees: BoostedTrees

    def __init__(self, learner: LabelBoosting) -> None:
        self.learner = learner

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **_: Any) -> Self:
        """Return the view as a plan has it."""
        return cls(learners["boosting"])

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Boost trees on the rows in memory."""
        sample = rows.in_memory
        self.trees, self._left_out = self.learner.fit_labels(
            sample.X,
            sample.Y,
            sample.n_values,
            weights=sample.weights,
            left_out=sample.left_out,
            seed=drawn_seed(seed),
            n_jobs=n_jobs,
            verbose=verbose,
        )
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the out-of-fold confidences of ``rows.left_out``; asked once, after `fit`."""
        return rows.left_out, [self.__dict__.pop("_left_out")]

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [expit(self.trees.scores(self.trees.read(X), X.shape[0]))]

    no_shares = ""

    def shares(self, X: Any) -> list[Shares]:
        """Return what splits change on the paths of rows."""
        return [BoostedShares(self.trees, X)]


class BoostedShares(Shares):
    """The confidences of boosted trees as sums over columns."""

    def __init__(self, trees: BoostedTrees, X: Any) -> None:
        self.trees, self.table = trees, trees.read(X)
        self.scores = trees.scores(self.table, X.shape[0])
        self.confidence = expit(self.scores)

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the confidence in the roots, and what splits change."""
        parts = Parts(*self.trees.path_parts(self.table, label, rows))
        return bent(parts, self.scores[rows, label], expit)
