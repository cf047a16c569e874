"""The features as a linear SVM wants them: imputed, binary for nominal values, in [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import ROUNDING
from labelcover.learners.features import PLAIN, one_hot, one_hot_columns

# The greatest number of a column.
MOST = 1e100


@dataclass(frozen=True)
class LinearFilter:
    """WEKA's filters before SMO, fitted on training rows.

    A missing value becomes the mean (numeric) or the most frequent value (nominal); a nominal
    feature of more than two values becomes one 0/1 column per value; every column is then scaled
    to [0, 1] on the training rows. A column that is constant there but for rounding
    becomes 0; values outside the range seen in training are not clipped.

    Attributes
    ----------
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    fill : ndarray of shape (features,)
        What a missing value becomes.
    source, value : ndarray of shape (columns,)
        Which feature a column is made of, and the value that it marks (-1: the feature itself).
    low, width : ndarray of shape (columns,)
        Columns are ``(x - low) / width``; the width of a constant column is infinite.
    keeps_sparse : bool
        Whether sparse tables need not be made dense.
    """

    n_values: NDArray[np.int32]
    fill: NDArray[np.float64]
    source: NDArray[np.int64]
    value: NDArray[np.int64]
    low: NDArray[np.float64]
    width: NDArray[np.float64]
    keeps_sparse: bool

    @classmethod
    def of(
        cls,
        X: Any,
        n_values: NDArray[np.int32],
        weights: NDArray[np.float64] | None = None,
    ) -> LinearFilter:
        """Return the filter of the training table `X`, whose rows have these weights."""
        if sparse.issparse(X):
            fill, low, high = _sparse_statistics(X, n_values > 0, weights)
            plain = np.arange(X.shape[1])
            keeps = bool((low == 0).all())
            return cls(
                n_values, fill, plain, np.full(len(plain), PLAIN), low, _width(low, high), keeps
            )
        fill = _fill(X, n_values, weights)
        source, value = one_hot_columns(n_values)
        columns = one_hot(_filled(X, n_values, fill), source, value)
        low, high = columns.min(axis=0), columns.max(axis=0)
        return cls(n_values, fill, source, value, low, _width(low, high), False)

    def columns(self, X: Any) -> Any:
        """Return the columns of `X`, a dense array or a CSR array."""
        if sparse.issparse(X) and self.keeps_sparse:
            X = sparse.csr_array(X, dtype=np.float64, copy=True)
            missing = np.isnan(X.data)
            X.data[missing] = self.fill[X.indices[missing]]
            X.data = _divided(X.data, self.width[X.indices])
            return X
        numbers = _filled(X.toarray() if sparse.issparse(X) else X, self.n_values, self.fill)
        return _divided(one_hot(numbers, self.source, self.value) - self.low, self.width)


def _width(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    varies = high - low > ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return np.where(varies, high - low, np.inf)


def _divided(values: NDArray[np.float64], width: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values over widths, of new rows that are far out no more than products can hold."""
    with np.errstate(over="ignore"):
        return np.clip(values / width, -MOST, MOST)


def _fill(
    numbers: NDArray[np.float64], n_values: NDArray[np.int32], weights: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return the mean of numeric features and the most frequent value of nominal ones."""
    w = np.ones(len(numbers)) if weights is None else weights
    known = ~np.isnan(numbers)
    total = w @ known
    # Row after row, as WEKA does; a matrix product would round differently.
    sums = np.cumsum(np.where(known, w[:, None] * numbers, 0.0), axis=0)[-1]
    fill = sums / np.where(total > 0, total, 1.0)
    for f in np.flatnonzero(n_values):
        seen = known[:, f]
        counts = np.bincount(numbers[seen, f].astype(np.int64), w[seen], n_values[f])
        fill[f] = np.argmax(counts)
    return fill


def _sparse_statistics(
    X: Any, nominal: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return fill values, minima and maxima of the columns; a zero may be implicit."""
    n, d = X.shape
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    w = np.ones(n) if weights is None else weights
    missing = np.isnan(X.data)
    row_of = np.repeat(np.arange(n), np.diff(X.indptr))
    known = w.sum() - np.bincount(X.indices[missing], w[row_of[missing]], d)
    sums = np.bincount(X.indices, np.where(missing, 0.0, X.data) * w[row_of], d)
    fill = sums / np.where(known > 0, known, 1.0)
    fill[nominal] = fill[nominal] > 0.5  # the more frequent of 0 and 1
    X.data[missing] = fill[X.indices[missing]]
    low, high = X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()
    return fill, low, high


def _filled(
    numbers: NDArray[np.float64], n_values: NDArray[np.int32], fill: NDArray[np.float64]
) -> NDArray[np.float64]:
    # A value never seen counts as missing where one column stands for both values; where each
    # value has a column, it marks none.
    absent = np.isnan(numbers)
    binary = (n_values > 0) & (n_values <= 2)
    absent |= binary & (numbers < 0)
    return np.where(absent, fill, numbers)
