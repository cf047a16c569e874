"""Single-label classifiers, useful alone: least squares, C4.5 and SMO."""

from labelcover.learners.c45 import C45Classifier
from labelcover.learners.least_squares import LeastSquaresClassifier
from labelcover.learners.smo import SMOClassifier

__all__ = ["C45Classifier", "LeastSquaresClassifier", "SMOClassifier"]
