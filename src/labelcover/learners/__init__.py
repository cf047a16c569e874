"""Learners of many single-label problems on one table; the classifiers are useful alone too."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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

# No default has these members, so that they are imported when first asked for.
_MODULES = {"C45Classifier": "c45.c45_classifier", "SMOClassifier": "smo.smo_classifier"}


def __getattr__(name: str):
    """Import WEKA's learners when first asked for: their compiled loops take long to declare."""
    if name in _MODULES:
        return getattr(import_module(f"labelcover.learners.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'labelcover.learners' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
