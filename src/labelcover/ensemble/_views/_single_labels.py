"""Linear learners as views: least squares over labelsets and single labels, logistic regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import CoverView

# Probabilities of linear members are never surer than this.
LEAST = 0.0005


class LeastSquaresView(CoverView):
    """Least squares over the labelsets of a cover and over single labels, in one factorisation.

    Attributes
    ----------
    names : list of str
        What the tables of confidences are called, one for each cover.
    least : float
        How near to 0 and 1 the pool takes probabilities.
    """

    least = LEAST

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **how: Any) -> Self:
        """Return the view as a plan has it."""
        covers = [cover, single_labels(cover.n_labels)] if cover.k > 1 else [cover]
        return cls(learners["least_squares"], covers, **how)

    @property
    def names(self) -> list[str]:
        """What the tables of confidences are called."""
        names = ["least squares on labelsets", "least squares on single labels"]
        return names[-len(self.covers) :]


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
