"""Labels as further features of a table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.ensemble.view import TrainingRows
from labelcover.learners.features import is_frame


def rows_with_labels(training: TrainingRows, labels: NDArray[np.int64]) -> TrainingRows:
    """Return training rows with some of their labels as further nominal features of two values."""
    added = np.full(len(labels), 2, dtype=training.n_values.dtype)
    return replace(
        training,
        X=with_columns(training.X, training.Y[:, labels]),
        n_values=np.concatenate([training.n_values, added]),
    )


def with_columns(X: Any, values: NDArray[Any]) -> Any:
    """Return a table, sparse matrix or data frame with further columns at the right.

    The columns of a data frame get names that it does not have.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods.appended_labels import with_columns
    >>> with_columns(np.array([[0.5], [2.5]]), np.array([[1], [0]]))
    array([[0.5, 1. ],
           [2.5, 0. ]])
    """
    if is_frame(X):
        return _frame_with_columns(X, values)
    columns = values.astype(X.dtype)
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(columns)], format="csr")
    return np.hstack([X, columns])


def _frame_with_columns(X: Any, values: NDArray[Any]) -> Any:
    names = [f"label feature {i}" for i in range(values.shape[1])]
    while set(names) & set(X.columns):
        names = [f"{name}'" for name in names]
    columns = dict(zip(names, values.T.astype(np.float64), strict=True))
    if hasattr(X, "iloc"):  # pandas
        return X.assign(**columns)
    return X.hstack(type(X)(columns))
