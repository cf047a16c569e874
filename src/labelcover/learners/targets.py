"""The target of a single-label problem, and the weights of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

# The greatest weight of a row is no smaller; nor is one over it.
LEAST_WEIGHT = 1e-100


def encode_classes(classifier: Any, y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes and the class number of each of the `n` rows.

    The classes are ``classifier.classes`` in their order if given, else those of `y`, sorted.
    """
    if y is None:
        raise ValueError(
            f"{type(classifier).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(y, warn=True)
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
    """Return the weights of `n` rows, or None if all are 1."""
    if sample_weight is None:
        return None
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have an entry for each of the {n} rows, got shape {weights.shape}."
        )
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row, got only zeros.")
    if not LEAST_WEIGHT <= weights.max() <= 1 / LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight must be at least {LEAST_WEIGHT:g} for some row and nowhere above "
            f"{1 / LEAST_WEIGHT:g}, got at most {weights.max():g}: rounding would decide."
        )
    return None if (weights == 1).all() else weights


def weighted_rows(
    weights: NDArray[np.float64] | None,
) -> tuple[slice | NDArray[np.int64], NDArray[np.float64] | None]:
    """Return which rows have a weight above 0, and their weights."""
    if weights is None or weights.all():
        return slice(None), weights
    kept = np.flatnonzero(weights)
    return kept, weights[kept]
