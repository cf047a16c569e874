"""The weights of rows among the metadata of a family's ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners._targets import check_weights


def weighted_rows(
    X: Any, codes: NDArray[np.int32], fit_params: Mapping[str, Any] | None, learner: Any
) -> tuple[Any, NDArray[np.int32], NDArray[np.float64] | None, NDArray[np.int64]]:
    """Return rows, their classes and their weights without those of weight 0, and which remain.

    The weights are ``fit_params["sample_weight"]``, or None if all are 1.
    """
    unknown = set(fit_params or ()) - {"sample_weight"}
    if unknown:
        raise TypeError(
            f"{type(learner).__name__}.fit takes sample_weight only, "
            f"got {', '.join(sorted(unknown))}."
        )
    weights = check_weights((fit_params or {}).get("sample_weight"), X.shape[0])
    kept = np.arange(X.shape[0])
    if weights is not None and not weights.all():
        kept = np.flatnonzero(weights)
        X, codes, weights = X[kept], np.ascontiguousarray(codes[:, kept]), weights[kept]
    return X, codes, weights, kept
