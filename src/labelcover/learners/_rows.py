"""Tables, dense or sparse, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def rows_times(X: Any, factors: NDArray[np.float64]) -> Any:
    """Return `X` with each row multiplied by its factor, sparse if it was."""
    if sparse.issparse(X):
        return (sparse.diags_array(factors) @ X).tocsr()
    return X * factors[:, None]
