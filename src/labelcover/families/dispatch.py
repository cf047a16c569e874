"""Which family serves an estimator."""

from __future__ import annotations

from functools import singledispatch

from sklearn.base import BaseEstimator

from labelcover.families.base import Family
from labelcover.families.generic import GenericFamily


@singledispatch
def family_of(estimator: BaseEstimator) -> Family:
    """Return the unfitted family that trains members like `estimator`.

    Learners that can share work across members have a family of their own; any other
    scikit-learn classifier gets a `GenericFamily`.
    """
    return GenericFamily(estimator)
