"""The one check of probabilities before they leave the library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums and means of probabilities may be so far beyond 0 and 1 by rounding.
ROUNDING = 1e-9


def checked_probabilities(P: NDArray[np.float64], names: Any, by: Any) -> NDArray[np.float64]:
    """Return probabilities, all between 0 and 1.

    Parameters
    ----------
    P : ndarray of shape (n, n_columns)
    names : sequence
        Of the labels or classes, which the columns are.
    by : object
        What gave them, for the error.

    Raises
    ------
    ValueError
        If one is NaN, or outside by more than rounding: no prediction is better than that.
    """
    if not P.size or (P.min() >= 0 and P.max() <= 1):
        return P
    if P.min() >= -ROUNDING and P.max() <= 1 + ROUNDING:
        return np.clip(P, 0.0, 1.0)
    row, column = np.argwhere(~((P >= -ROUNDING) & (P <= 1 + ROUNDING)))[0].tolist()
    name = names[column].item() if isinstance(names[column], np.generic) else names[column]
    raise ValueError(
        f"{by!r} gave {P[row, column]} as the probability of {name!r} in row {row}, which "
        "must lie between 0 and 1."
    )
