"""Boosted trees on all labels as a view: confidences, and those of training rows out of fold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelcover.covers import Cover
from labelcover.ensemble._shares import CLOSE, Parts, Shares
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
            cells=sample.cells,
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
        """Return what columns add to the confidences of rows."""
        return [BoostedShares(self.trees, X)]


class BoostedShares(Shares):
    """The confidences of boosted trees as sums over columns."""

    def __init__(self, trees: BoostedTrees, X: Any) -> None:
        self.trees, self.table = trees, trees.read(X)
        self.scores, self.origin = trees.scores(self.table, X.shape[0]), trees.origin_scores
        self.confidence = expit(self.scores)

    @property
    def starts(self) -> NDArray[np.float64]:
        """The confidences before anything of a row is known."""
        return expit(self.origin)

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the confidence of a label at the start, and what columns add."""
        weights = np.zeros((len(rows), len(self.origin)))
        weights[:, label] = 1.0
        return Parts(np.full(len(rows), self.starts[label]), self.combined(rows, weights))

    def combined(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Return what columns add to a sum of the confidences of all labels."""
        way = self.scores[rows] - self.origin
        far = np.abs(way) > CLOSE
        slopes = np.where(far, self.confidence[rows] - self.starts, 0) / np.where(far, way, 1.0)
        return self.trees.swap_parts(self.table, rows, weights * slopes)
