"""Regularised least squares on one-hot classes, in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from labelcover._arguments import check_choice, check_integer
from labelcover.learners._least_squares import softmax_columns
from labelcover.learners._targets import check_weights
from labelcover.learners.class_ridge import ClassRidge, Settings

KERNELS = ("auto", "linear", "rbf")


class LeastSquaresClassifier(ClassifierMixin, BaseEstimator):
    """Kernel ridge regression on one-hot classes, with probabilities and no cross-validation.

    The scores of the classes are those of ridge regression with an intercept; a softmax makes
    them probabilities. Leave-one-out predictions in closed form choose what is not given: the
    kernel and its width, the ridge (by the Brier score) and the temperature of the softmax (by
    the log-loss).

    Parameters
    ----------
    kernel : {"auto", "linear", "rbf"}, default="auto"
        ``"auto"`` compares the linear and the Gaussian kernel as seen from 300 landmarks.
    gamma : float or sequence of floats, optional
        The Gaussian kernel is ``exp(-gamma |x - z|²)``, or the mean of several. By default
        the best of widths ``1 / sqrt(2 gamma)`` of ½, 1 and 2 median distances between rows, and of
        the mean of those three.
    alpha : float, optional
        The ridge, as in scikit-learn's ``Ridge``. By default the best of eleven.
    scale : bool, default=True
        Bring features to one scale first: numbers are standardised; if at least half of the
        columns hold only 0 and 1, those are divided by the length of the row, like bags of words.
    n_landmarks : int, default=1000
        Above 4,000 rows (and, for the linear kernel, features) the kernel is approximated from so
        many rows (Nyström).
    random_state : int, RandomState or None, default=0
        Seed for the choice of landmarks and, above 512 rows, of the rows that are left out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    kernel_ : {"linear", "rbf"}
    gamma_ : tuple of floats
        Empty for the linear kernel.
    alpha_ : float
    sharpness_ : float
        Inverse temperature: probabilities are ``softmax(sharpness_ * decision scores)``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import LeastSquaresClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.kernel_
    'rbf'
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    def __init__(
        self,
        *,
        kernel="auto",
        gamma=None,
        alpha=None,
        scale=True,
        n_landmarks=1000,
        random_state=0,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.alpha = alpha
        self.scale = scale
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Rows of weight 0 are left out.
        """
        settings = least_squares_settings(self)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        weights = check_weights(sample_weight, X.shape[0])
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, y, weights = X[kept], y[kept], weights[kept]
        self.classes_, codes = np.unique(y, return_inverse=True)
        offsets = np.array([0, len(self.classes_)], dtype=np.int64)
        ridge = ClassRidge(X, codes.astype(np.int32)[None], offsets, settings, weights=weights)
        (solution,) = ridge.solutions()
        self.kernel_, self.gamma_, self.alpha_ = ridge.chosen
        self.features_ = ridge.for_prediction()
        self.coef_, self.intercept_ = solution.coefficients, solution.intercept
        self.sharpness_ = float(solution.sharpness[0])
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes; the score of the second less the first for two."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probabilities of the classes, ``(n, n_classes)``."""
        scores = self._scores(X)
        offsets = np.array([0, scores.shape[1]], dtype=np.int64)
        softmax_columns(scores, offsets, np.array([self.sharpness_]))
        return scores

    def predict(self, X: Any) -> NDArray:
        """Return the most probable class of each row."""
        best = self._scores(X).argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.asarray(self.features_.transform(X) @ self.coef_.T) + self.intercept_


def least_squares_settings(model: LeastSquaresClassifier) -> Settings:
    """Return the parameters of `model`, checked."""
    check_choice("kernel", model.kernel, KERNELS)
    return Settings(
        kernel=model.kernel,
        gammas=_gammas(model.gamma),
        alpha=None if model.alpha is None else _positive("alpha", model.alpha),
        scale=bool(model.scale),
        n_landmarks=check_integer("n_landmarks", model.n_landmarks, low=1),
        seed=int(check_random_state(model.random_state).randint(2**31 - 1)),
    )


def _gammas(value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    values = tuple(value) if isinstance(value, Iterable) else (value,)
    if not values:
        raise ValueError(f"gamma must be None or one or more numbers above 0, got {value!r}.")
    return tuple(_positive("gamma", each) for each in values)


def _positive(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise ValueError(f"{name} must be None or a number above 0, got {value!r}.")
    return float(value)
