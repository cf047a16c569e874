"""Linear learners as views of single labels: least squares, logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import CoverView

# Probabilities of linear members are never surer than this.
LEAST = 0.0005


class LeastSquaresView(CoverView):
    """Least squares on single labels.

    Attributes
    ----------
    names : sequence of str
        What the tables of confidences are called.
    least : float
        How near to 0 and 1 the pool takes probabilities.
    """

    least = LEAST
    names = ("least squares",)

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **how: Any) -> Self:
        """Return the view as a plan has it."""
        return cls(learners["least_squares"], [single_labels(cover.n_labels)], quick=how["quick"])


class LogisticView(CoverView):
    """Logistic regression on single labels."""

    least = LEAST
    names = ("logistic",)

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **how: Any) -> Self:
        """Return the view as a plan has it."""
        return cls(learners["logistic"], [single_labels(cover.n_labels)], quick=how["quick"])


def single_labels(n_labels: int) -> Cover:
    """Return the cover that has each label alone."""
    return Cover(np.arange(n_labels)[:, None], n_labels, method="single labels")
