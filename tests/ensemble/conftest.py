"""Members over the labelsets of a cover, without an estimator around them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from labelcover import LabelCoverClassifier
from labelcover.ensemble._cover_view import CoverView, leaving_out_some
from labelcover.ensemble._view import TrainingRows, drawn_seed
from labelcover.learners._batch_classifier import AnyClassifier


def distributions_of(view, X):
    """Return the class distributions of all members side by side, for rows as members read them.

    Columns ``encoding.starts[j]:encoding.starts[j + 1]`` belong to member ``j``.
    """
    members, offsets = view.members, view.members.offsets
    of_problems = members.distributions(members.prepare(X), slice(0, len(offsets) - 1))
    columns = [np.arange(offsets[p], offsets[p + 1]) for p in view.encoding.problem]
    return of_problems[:, np.concatenate(columns)]


@dataclass(frozen=True)
class FittedView:
    """A `CoverView` that takes tables as people have them."""

    view: CoverView
    owner: Any
    coding: Any
    left_out: Any = None

    @property
    def members(self):
        return self.view.members

    @property
    def encoding(self):
        return self.view.encoding

    def confidence(self, X):
        return self.view.confidences(self.coding.read(self.owner, X))[0]

    def distributions(self, X):
        return distributions_of(self.view, self.coding.read(self.owner, X))


@pytest.fixture(scope="session")
def member_distributions():
    """Return the function `distributions_of`."""
    return distributions_of


@pytest.fixture(scope="session")
def fit_view():
    """Return a function that fits one member for each labelset of a cover."""

    def fit(
        estimator, X, Y, cover, *, weights=None, aggregate="mean", keep_left_out=False, **options
    ):
        is_batch_learner = hasattr(estimator, "fit_problems")
        learner = estimator if is_batch_learner else AnyClassifier(estimator)
        owner = LabelCoverClassifier(estimator)
        coding, table = learner.read_table(owner, X)
        training = TrainingRows(table, Y, coding.n_values, weights, {})
        if keep_left_out:
            training = leaving_out_some(training, learner, [cover], drawn_seed(0))
        view = CoverView(learner, [cover], aggregate=aggregate).fit(training, 0, **options)
        if not keep_left_out:
            return FittedView(view, owner, coding)
        rows, (confidence,) = view.left_out(training)
        return FittedView(view, owner, coding, (rows, confidence))

    return fit
