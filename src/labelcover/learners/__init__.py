"""Learners of many single-label problems on one table; the classifiers are useful alone too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names
from labelcover.learners.forest.label_forest import LabelForest
from labelcover.learners.least_squares.least_squares_classifier import LeastSquaresClassifier
from labelcover.learners.logistic.logistic_classifier import LogisticClassifier

if TYPE_CHECKING:
    from labelcover.learners.c45.c45_classifier import C45Classifier
    from labelcover.learners.smo.smo_classifier import SMOClassifier

__all__ = [
    "C45Classifier",
    "LabelForest",
    "LeastSquaresClassifier",
    "LogisticClassifier",
    "SMOClassifier",
]

# No default has these members, whose compiled loops take long to declare.
__getattr__, __dir__ = lazy_names(
    __name__,
    {"C45Classifier": "c45.c45_classifier", "SMOClassifier": "smo.smo_classifier"},
)
