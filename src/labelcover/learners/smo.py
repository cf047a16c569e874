"""Linear support vector machines, one against one, as WEKA's SMO."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from labelcover._arguments import check_real
from labelcover.learners._features import FeatureCoding, checked_table
from labelcover.learners._smo_filter import LinearFilter
from labelcover.learners._smo_pairs import PairStack, TrainingTable, fit_pairs
from labelcover.learners._targets import check_weights, encode_classes


class SMOClassifier(ClassifierMixin, BaseEstimator):
    """Linear support vector machine of every pair of classes, with the answers of WEKA's SMO.

    Missing values are imputed, nominal features become 0/1 columns and everything is scaled to
    [0, 1]; then a machine is trained for every pair of classes. The class distribution is each
    class's share of the votes of all pairs, or, with ``logistic=True``, couples probabilities
    fitted to the outputs.

    Parameters
    ----------
    C : float, default=1.0
        How much a training row outside the margin costs.
    tol : float, default=1e-3
        How closely the optimum is approached.
    logistic : bool, default=False
        Fit a logistic function to the outputs of each pair on its training rows and couple the
        pairs' probabilities (WEKA's option -M).
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features: the columns of categorical dtype, none, or a mask, indices or names.
    classes : array-like, optional
        All classes, in order, if some may be absent from training: such a class loses every vote
        but takes part in the count. By default those of `y`, sorted.

    Attributes
    ----------
    classes_ : ndarray
        The classes in the order of the columns of `predict_proba`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import SMOClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SMOClassifier().fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.67, 0.33, 0.  ]])
    """

    def __init__(
        self,
        C: float = 1.0,
        tol: float = 1e-3,
        logistic: bool = False,
        categorical_features: Any = "from_dtype",
        classes: Any = None,
    ) -> None:
        self.C = C
        self.tol = tol
        self.logistic = logistic
        self.categorical_features = categorical_features
        self.classes = classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the machines of all pairs of classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, features)
            NaN is missing.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Multiplies `C`. Rows of weight 0 are left out.
        """
        options = self.machine_options()
        X = checked_table(self, X, reset=True)
        coding = FeatureCoding.of(X, self.categorical_features)
        self.classes_, label = encode_classes(self, y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, label, weights = _safe_indexing(X, kept), label[kept], weights[kept]
        self._filter = LinearFilter.of(X, coding, weights)
        table = TrainingTable.of(self._filter.columns(X))
        machines = fit_pairs(table, label, len(self.classes_), weights=weights, **options)
        self._stack = PairStack([machines], logistic=options["logistic"])
        return self

    def machine_options(self) -> dict[str, Any]:
        """Return the checked parameters of training."""
        return {
            "C": check_real("C", self.C, above=0.0),
            "tol": check_real("tol", self.tol, above=0.0),
            "logistic": bool(self.logistic),
        }

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class distribution of every row."""
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        return self._stack.distributions(self._filter.columns(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of most votes (or most probable class) of every row, first of equals."""
        best = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
