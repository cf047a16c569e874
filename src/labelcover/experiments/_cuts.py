"""Both cuts of a method: its own, and at a threshold that is tuned for all methods alike.

Measures of predictions compare cuts as much as methods: one that cuts at ½ looks worse in micro-F1
than the same method with a tuned threshold. A comparison therefore has two predictions of every
fit.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelcover import LabelCoverClassifier
from labelcover._label_values import split_unknown
from labelcover.ensemble import LabelModel
from labelcover.thresholds import best_threshold

# What thresholds are tuned for.
MEASURE = "micro_f1"
# One of so many parts is left out to tune the threshold of a fit without left-out predictions.
PARTS = 3
# Ways of tuning, as they are shown.
LEFT_OUT, FOLDS, PART = "left-out rows of the fit", "cross-validation", "a third left out"
# A table of zeros and ones, from rows and their confidences.
Cut = Callable[[Any, Any], NDArray[Any]]


class FittedMethod(NamedTuple):
    """A fitted method with its two cuts.

    `cut` says what the own one is, `tuning` on what the other's threshold was tuned, or why it was
    not; `threshold` is that if it is one number.
    """

    model: Any
    cut: str
    own: Cut
    tuning: str = ""
    threshold: float | None = None
    tuned: Cut | None = None

    def predictions(self, X: Any) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
        """Return zeros and ones by the own and by the tuned cut, and the confidences.

        The second is None if the threshold was not tuned, the third if there are no confidences.
        """
        confidence = confidences(self.model, X)
        tuned = None if self.tuned is None else self.tuned(X, confidence)
        return self.own(X, confidence), tuned, confidence


def fit_method(estimator: Any, X: Any, Y: NDArray[Any]) -> FittedMethod:
    """Return a method fitted on some rows, with its own cut and a tuned one.

    A method that tunes its threshold does so; its own cut is then ½. Where a fit gives predictions
    for left-out rows, the threshold is tuned on these for micro-F1. Any other method is fitted
    once more, on two thirds of the rows, and its threshold is tuned on the rest.

    Examples
    --------
    >>> from labelcover.datasets import load
    >>> from labelcover.experiments._cuts import fit_method
    >>> from labelcover.methods import BinaryRelevanceClassifier
    >>> data = load("debtags")
    >>> fitted = fit_method(BinaryRelevanceClassifier(), data.X[:300], data.Y[:300])
    >>> fitted.cut, fitted.tuning, 0.1 < fitted.threshold < 0.5
    ('at 0.5', 'left-out rows of the fit', True)
    """
    if isinstance(estimator, LabelModel):
        own = estimator.threshold
        # Members of rows that know all of a labelset give no left-out predictions.
        in_fit = estimator.tunes_in_fit and split_unknown(Y)[1] is None
        if isinstance(own, str) or in_fit:
            return _tuned_by_itself(estimator, own, X, Y)
    return _tuned_on_a_part(estimator, X, Y)


def _tuned_by_itself(estimator: LabelModel, own: Any, X: Any, Y: Any) -> FittedMethod:
    in_fit = estimator.tunes_in_fit and not (isinstance(own, str) and own == "cv")
    model = estimator if isinstance(own, str) else clone(estimator).set_params(threshold="loo")
    model.fit(X, Y)
    threshold = model.threshold_ if np.ndim(model.threshold_ or 0) == 0 else None
    of_measure = {"decide": MEASURE} if isinstance(model, LabelCoverClassifier) else {}
    return FittedMethod(
        model,
        _own_cut(estimator),
        _own(model, 0.5 if isinstance(own, str) else own),
        LEFT_OUT if in_fit else FOLDS,
        threshold,
        lambda new, _: np.asarray(model.predict(new, **of_measure)),
    )


def _own(model: LabelModel, threshold: Any) -> Cut:
    if threshold is not None:
        return lambda _, confidence: confidence > threshold
    # Without a threshold these models predict the most probable labelset.
    untuned = copy(model)
    untuned.threshold_ = None
    return lambda new, _: np.asarray(untuned.predict(new))


def _own_cut(estimator: Any) -> str:
    """Return the method's own cut in words."""
    if not isinstance(estimator, LabelModel):
        return "its own"
    threshold = getattr(estimator, "threshold", None)
    if "threshold" not in estimator.get_params(deep=False):
        return f"for {estimator.decide.replace('_', ' ')}"
    if threshold is None:
        return "most probable labelset"
    if not isinstance(threshold, str) and np.ndim(threshold):
        return "one threshold per label"
    share = 0.5 if isinstance(threshold, str) else threshold
    aggregate = getattr(estimator, "aggregate_", getattr(estimator, "aggregate", None))
    return f"at {share:g}{' of the votes' if aggregate == 'votes' else ''}"


def fit_untuned(estimator: Any, X: Any, Y: NDArray[Any]) -> FittedMethod:
    """Return a method fitted on some rows, with its own cut alone, of which nothing is said."""
    model = estimator.fit(X, Y)
    return FittedMethod(model, "", lambda new, _: np.asarray(model.predict(new)))


def _tuned_on_a_part(estimator: Any, X: Any, Y: NDArray[np.uint8]) -> FittedMethod:
    alike = clone(estimator)
    fitted = fit_untuned(estimator, X, Y)._replace(cut=_own_cut(estimator))
    try:
        if not hasattr(alike, "predict_proba"):
            raise ValueError("no confidences")
        if len(Y) < PARTS:
            raise ValueError(f"fewer than {PARTS} rows")
        # The same part for every method.
        rows = np.random.default_rng(0).permutation(len(Y))
        kept, left_out = np.sort(rows[len(Y) // PARTS :]), np.sort(rows[: len(Y) // PARTS])
        confidence: Any = confidences(alike.fit(X[kept], Y[kept]), X[left_out])
        threshold = best_threshold(Y[left_out], confidence, measure=MEASURE)[0]
    except Exception as error:
        return fitted._replace(tuning=f"not tuned: {error}".split("\n")[0])
    return fitted._replace(
        tuning=PART, threshold=threshold, tuned=lambda _, confidence: confidence > threshold
    )


def confidences(estimator: Any, X: Any) -> NDArray[Any] | None:
    """Return the scores of the labels, if there are any; scikit-learn's come label by label."""
    if not hasattr(estimator, "predict_proba"):
        return None
    found = estimator.predict_proba(X)
    if not isinstance(found, list):
        return np.asarray(found)
    pairs = zip(found, estimator.classes_, strict=True)
    return np.column_stack([table @ (np.asarray(classes) == 1) for table, classes in pairs])
