"""Learners of many single-label problems on one table; the classifiers are useful alone too."""

from labelcover.learners.c45.c45_classifier import C45Classifier
from labelcover.learners.forest.label_forest import LabelForest
from labelcover.learners.least_squares.least_squares_classifier import LeastSquaresClassifier
from labelcover.learners.logistic.logistic_classifier import LogisticClassifier
from labelcover.learners.smo.smo_classifier import SMOClassifier

__all__ = [
    "C45Classifier",
    "LabelForest",
    "LeastSquaresClassifier",
    "LogisticClassifier",
    "SMOClassifier",
]
