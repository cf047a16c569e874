"""Wide text: logistic regression on the words, and least squares on its scores.

Scores for left-out rows (out-of-fold) are a table with a column per label, on which least squares
is quick: a second stage (stacking), which learns how labels depend on each other.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import LEAST, CoverShares, SingleLabelsView
from labelcover.ensemble._log_linear_pool import inside
from labelcover.ensemble._plan import SCORE_LANDMARKS
from labelcover.ensemble._shares import Shares
from labelcover.ensemble._view import TrainingRows, View


class ScoresView(View):
    """A logistic view, and a least squares view that reads its log-odds instead of the table.

    Attributes
    ----------
    logistic, second : SingleLabelsView
        Logistic regression, and least squares on its scores.
    names, least
        As of `SingleLabelsView`.
    """

    least = LEAST

    def __init__(
        self, learners: Any, cover: Cover, *, n_landmarks: int = SCORE_LANDMARKS, **how: Any
    ) -> None:
        own = learners["least_squares"]
        # Scores are on one scale already. Divided by its deviation, the score of a rare label,
        # which hardly varies, would count as much as any other.
        landmarks = min(own.n_landmarks, n_landmarks)
        reading = clone(own).set_params(scale="none", n_landmarks=landmarks)
        self.logistic = SingleLabelsView("logistic", learners, cover, **how)
        linear = {"least_squares": reading}
        self.second = SingleLabelsView("least squares", linear, cover, **how)
        self.names = ("least squares on scores", *self.logistic.names)

    def fit(self, rows: TrainingRows, seed: int, **how: Any) -> Self:
        """Fit logistic regression, then least squares on its out-of-fold scores."""
        rows = rows.in_memory
        every = rows.leaving_out(np.arange(len(rows.Y)))
        self.logistic.fit(every, seed, **how)
        _, (P,) = self.logistic.left_out(every)
        n_values = np.zeros(P.shape[1], dtype=np.int32)
        scores = replace(rows, X=logit(inside(P, LEAST)), n_values=n_values, made={})
        self.second.fit(scores, seed, **how)
        _, tables = self.second.left_out(scores)
        self._left_out = rows.left_out, [*tables, P[rows.left_out]]
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows by both stages, ``(n, n_labels)`` each."""
        (P,) = self.logistic.confidences(X)
        return [*self.second.confidences(logit(inside(P, LEAST))), P]

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums; empty: scores are passed through to the words."""
        return self.second.no_shares or self.logistic.no_shares

    def shares(self, X: Any) -> list[Shares]:
        """Return what words add to both stages."""
        (first,) = self.logistic.shares(X)
        return [ScoreShares(first, self.second), first]


class ScoreShares(Shares):
    """The confidences of a second stage, sums over the scores of the first, as sums over words."""

    def __init__(self, first: CoverShares, view: SingleLabelsView) -> None:
        self.paths, rows = first.paths, np.arange(len(first.confidence))
        scores, origin = logit(inside(first.confidence, LEAST)), logit(inside(first.starts, LEAST))
        (self.second,) = view.shares(scores, origin)
        self.confidence, self.starts = self.second.confidence, self.second.starts
        # Labels that are not the same in all rows have two classes, without and with the label.
        self.problems: dict[int, int] = {}
        self.ways = np.zeros_like(scores)
        for label in range(len(origin)):
            ((problem, holds, _),) = first.members_with(label)
            if len(holds) == 2:
                self.problems[label] = problem
                way = self.paths.scores(problem, rows) - self.paths.start(problem)
                self.ways[:, label] = way[:, 1] - way[:, 0]

    def combined(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Return what words add to a sum of the confidences: a share of each score's part."""
        parts, ways = self.second.combined(rows, weights), self.ways[rows]
        slopes = np.where(ways != 0, parts / np.where(ways != 0, ways, 1.0), 0.0)
        none = np.zeros(len(rows))
        own = [(p, np.column_stack([none, slopes[:, j]])) for j, p in self.problems.items()]
        return self.paths.parts(rows, own)
