"""Wide text: logistic regression on the words, and least squares on its scores.

Scores for left-out rows (out-of-fold) are a table with a column per label, on which the members of
a cover are quick: a second stage (stacking), which learns how labels depend on each other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone

from labelcover.covers import Cover
from labelcover.ensemble._log_linear_pool import inside
from labelcover.ensemble._view import LeftOut, TrainingRows, View
from labelcover.ensemble._views._single_labels import LEAST, LeastSquaresView, LogisticView
from labelcover.learners import LeastSquaresClassifier


class ScoresView(View):
    """A logistic view, and a least squares view that reads its log-odds instead of the table.

    Attributes
    ----------
    logistic : LogisticView
    second : LeastSquaresView
        On the scores of `logistic`.
    names, least
        As of `LeastSquaresView`.
    """

    least = LEAST

    def __init__(self, logistic: LogisticView, second: LeastSquaresView) -> None:
        self.logistic, self.second = logistic, second
        on_scores = [name.replace("squares on", "squares on scores of") for name in second.names]
        self.names = [*on_scores, *logistic.names]

    @classmethod
    def planned(cls, learners: Any, cover: Cover, *, n_landmarks: int, **how: Any) -> Self:
        """Return the view as a plan has it; least squares on scores has so many landmarks."""
        reading = reading_scores(learners["least_squares"], n_landmarks)
        second = LeastSquaresView.planned({"least_squares": reading}, cover, **how)
        return cls(LogisticView.planned(learners, cover, **how), second)

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit logistic regression, then least squares on its out-of-fold scores."""
        rows = rows.in_memory
        every = rows.leaving_out(np.arange(len(rows.Y)))
        self.logistic.fit(every, seed, n_jobs=n_jobs, verbose=verbose)
        _, (P,) = self.logistic.left_out(every)
        n_values = np.zeros(P.shape[1], dtype=np.int32)
        scores = replace(rows, X=logit(inside(P, LEAST)), n_values=n_values)
        self.second.fit(scores, seed, n_jobs=n_jobs, verbose=verbose)
        _, tables = self.second.left_out(scores)
        self._left_out = [*tables, P[rows.left_out]]
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the left-out confidences of ``rows.left_out``; asked once, after `fit`."""
        return rows.left_out, self.__dict__.pop("_left_out")

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows by both stages, ``(n, n_labels)`` each."""
        (P,) = self.logistic.confidences(X)
        return [*self.second.confidences(logit(inside(P, LEAST))), P]


def reading_scores(learner: LeastSquaresClassifier, n_landmarks: int) -> LeastSquaresClassifier:
    """Return least squares as it reads scores.

    They are on one scale already. Divided by its deviation, the score of a rare label, which
    hardly varies, would count as much as any other.
    """
    landmarks = min(learner.n_landmarks, n_landmarks)
    return clone(learner).set_params(scale="none", n_landmarks=landmarks)
