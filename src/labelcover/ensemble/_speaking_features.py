"""Which features speak for and against a label, by logistic regression or the forest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.ensemble._explanation import feature_words
from labelcover.ensemble._shares import fitted_parts, two_classes
from labelcover.learners import PLAIN, FeatureForest, directions, log_odds_weights, one_hot_columns


def speaking_features(
    model: Any, label: int, n: int = 5, *, feature_names: Sequence[str] | None = None
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]] | None:
    """Return the features whose higher values speak most for, and most against, a label.

    Parameters
    ----------
    model : LabelModel
        Fitted.
    label : int
    n : int, default=5
        No more features than these of either kind.
    feature_names : sequence of str, optional
        As for `LabelModel.explain`.

    Returns
    -------
    for_, against : lists of (str, float)
        Names, of nominal features with the value, the strongest first, each with its weight in the
        logistic regression of the label or, where there is none, the covariance of the label with
        the splits on the feature. None if the model has neither.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.ensemble._speaking_features import speaking_features
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    >>> model = LabelCoverClassifier(k=1, r=1, random_state=0).fit(X, Y)
    >>> speaking_features(model, 0, feature_names=["warmth", "size", "noise"])[0][0][0]
    'warmth'
    """
    found = _weights(model.view_, label)
    if found is None:
        return None
    names = _column_names(model, len(found), feature_names)
    order = np.argsort(-found, kind="stable")
    strongest = [(names[c], float(found[c])) for c in order[:n] if found[c] > 0]
    against = [(names[c], float(found[c])) for c in order[::-1][:n] if found[c] < 0]
    return strongest, against


def _weights(view: Any, label: int) -> NDArray[np.float64] | None:
    """Return what each column of the table says of a label."""
    logistic, forest = fitted_parts(view)
    if logistic is not None:
        members = logistic.members
        found = two_classes(logistic.encodings[0], label)
        n_columns = len(one_hot_columns(members.n_values)[0])
        if found is None:  # the label is constant
            return np.zeros(n_columns)
        return log_odds_weights(members, *found, n_columns)[1]
    if forest is not None and isinstance(forest, FeatureForest):
        return directions(forest, label)
    return None


def _column_names(model: Any, n_columns: int, given: Sequence[str] | None) -> list[str]:
    """Return a name for each column of the learners' table: a feature, or one of its values."""
    coding = model._coding
    features = feature_words(model, coding, given)
    if n_columns == len(features):
        return features
    source, value = one_hot_columns(coding.n_values)
    return [
        features[f] if v == PLAIN else f"{features[f]} = {coding.categories[f][v]}"
        for f, v in zip(source.tolist(), value.tolist(), strict=True)
    ]
