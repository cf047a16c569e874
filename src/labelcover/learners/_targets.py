"""The target of a single-label problem, and the weights of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from labelcover._table_numbers import rows_of, unmasked

# The share of the greatest weight of a row that any other has, unless it is 0.
LEAST_SHARE = 1e-100


def encode_classes(classifier: Any, y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes and the class number of each of the `n` rows.

    The classes are ``classifier.classes`` in their order if given, else those of `y`, sorted.
    """
    if y is None:
        raise ValueError(
            f"{type(classifier).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(unmasked(y, "y"), warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(y) != n:
        check_consistent_length(np.empty(n), y)
    found, label = np.unique(y, return_inverse=True)
    wanted = getattr(classifier, "classes", None)
    if wanted is None:
        return found, label.astype(np.int32)
    declared = np.asarray(wanted)
    if len(np.unique(declared)) != len(declared):
        raise ValueError(f"classes must be distinct, got {wanted!r}.")
    number = {value: i for i, value in enumerate(declared.tolist())}
    unknown = [value for value in found.tolist() if value not in number]
    if unknown:
        raise ValueError(f"classes must contain every class of y, but lacks {unknown}.")
    return declared, np.array([number[v] for v in found.tolist()], dtype=np.int32)[label]


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weights of `n` rows as they were given; None if none were."""
    if sample_weight is None:
        return None
    weights = check_array(
        unmasked(sample_weight, "sample_weight"),
        ensure_2d=False,
        dtype=np.float64,
        input_name="sample_weight",
    )
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have an entry for each of the {n} rows, got shape {weights.shape}."
        )
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row, got only zeros.")
    return weights


def relative_weights(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights above 0 divided by their mean; None if there are none or all are the same.

    Only the proportions of weights count: where learners set them against a ridge, a prior or a
    least number of rows, a row of mean weight is one row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.learners._targets import relative_weights
    >>> relative_weights(np.array([1e-6, 3e-6]))
    array([0.5, 1.5])
    >>> relative_weights(np.array([1e-6, 1e-6])) is None
    True
    """
    if weights is None:
        return None
    least, most = float(weights.min()), float(weights.max())
    if least == most:
        return None
    if least < LEAST_SHARE * most:
        raise ValueError(
            f"sample_weight must be 0 or at least {LEAST_SHARE:g} of the greatest weight, got "
            f"{least:g} and {most:g}: rounding would decide."
        )
    shares = weights / most  # of which the sum cannot overflow
    return shares / shares.mean()


def weighted_rows(
    X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Return the rows whose weight is above 0, their relative weights, and which they are.

    Rows of weight 0 are left out before anything is read of them, so that they might as well not
    be there. Of the last, None stands for all rows.
    """
    if sample_weight is None:
        return X, y, None, None
    table = X if hasattr(X, "shape") else np.asarray(X)
    weights = check_weights(sample_weight, table.shape[0] if table.shape else 0)
    assert weights is not None
    if weights.all():
        return X, y, relative_weights(weights), None
    kept = np.flatnonzero(weights)
    if y is not None:
        check_consistent_length(X, y)
        y = rows_of(y, kept)
    return rows_of(X, kept), y, relative_weights(weights[kept]), kept
