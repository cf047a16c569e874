"""Features brought to one scale, so that one ridge and one kernel width serve them all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import ROUNDING
from labelcover.learners.least_squares.row_sum_kernels import (
    is_mostly_zero,
    shifted_and_scaled,
    squared_deviations,
)
from labelcover.learners.rare_values import RareValues

# Rows whose lengths differ by no more than this share are of one length: some tools that make
# them so compute with single precision.
LENGTH_TOLERANCE = 1e-5
# The mean of a column that varies by less than this share of it is computed with more care.
FAR_FROM_ZERO = 1e-4


class FeatureScaling:
    """Numeric features standardised and bags of words row-normalised, or one of the plainer ways.

    Parameters
    ----------
    scale : {"standard", "rows", "none"}
        ``"none"`` leaves tables as they are. The others first read each 0/1 column by its rarer
        value (`RareValues`).

        With ``"rows"`` each row is divided by its length.

        With ``"standard"``, a table in which at least half of the columns hold nothing but 0 and 1
        is read as a bag of words beside some numbers: the 0/1 part of each row is divided by its
        length. In any other table every column is read as a number. Numbers are centred and
        divided by their standard deviation; columns of a sparse table are divided by their root
        mean square instead, which keeps zeros. At last all is divided so that a typical row has
        length one, a word counting as much as a number.
    """

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale

    def fit(self, X: Any, weights: NDArray[np.float64] | None = None) -> Self:
        """Learn the scale of each column of `X` (ndarray or CSR), its rows weighted."""
        if self.scale == "none":
            return self
        self.rare = RareValues().fit(X, weights)
        if self.scale == "standard":
            self._fit_columns(self.rare.transform(X), weights)
        return self

    def transform(self, X: Any) -> Any:
        """Return `X` on the scale of `fit`, sparse if it was."""
        if self.scale == "none":
            return X
        X = self.rare.transform(X)
        if self.scale == "rows":
            return rows_times(X, 1 / _divisors(row_lengths(X)))
        return self._scaled_columns(X)

    def _fit_columns(self, X: Any, weights: NDArray[np.float64] | None) -> None:
        shares = np.ones(X.shape[0]) if weights is None else weights
        shares = shares / shares.sum()
        if sparse.issparse(X):
            weighted = X.data**2 * _of_cells(X, shares)
            spread = np.sqrt(np.bincount(X.indices, weighted, X.shape[1]))
            self.set_columns(np.zeros(X.shape[1]), spread, is_sparse=True)
        else:
            mean, squares = moments(X, shares)
            self.set_columns(mean, np.sqrt(squares), is_sparse=False)

    def set_columns(
        self, mean: NDArray[np.float64], spread: NDArray[np.float64], *, is_sparse: bool
    ) -> None:
        """Take the means and deviations (or root mean squares) of the columns as they are read."""
        self.words = self.rare.binary
        if 2 * self.words.sum() < len(self.words):
            self.words = np.zeros_like(self.words)
        self.shift = np.zeros(len(mean)) if is_sparse else np.where(self.words, 0.0, mean)
        # A column that is constant but for rounding carries nothing.
        spread[spread <= np.maximum(ROUNDING * np.abs(self.shift), 1e-300)] = np.inf
        self.factor = 1 / (np.where(self.words, 1.0, spread) * np.sqrt(len(self.words)))

    def _scaled_columns(self, X: Any) -> Any:
        if sparse.issparse(X):
            return self._scaled_cells(X)
        scaled = shifted_and_scaled(_plain(X), self.shift, self.factor)
        if self.words.any():
            lengths = row_lengths(X if self.words.all() else X[:, self.words])
            scaled *= np.where(self.words, self._word_factors(lengths)[:, None], 1.0)
        return scaled

    def _scaled_cells(self, X: Any) -> Any:
        values = X.data * self.factor[X.indices]
        if self.words.any():
            are_words = self.words[X.indices]
            lengths = _lengths_of_cells(X, X.data * are_words)
            values *= np.where(are_words, _of_cells(X, self._word_factors(lengths)), 1.0)
        return _with_cells(X, values)

    def _word_factors(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what brings the words of each row, once divided by √d, to length √(words / d)."""
        return np.sqrt(self.words.sum()) / _divisors(lengths)


def moments(
    X: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of columns, and the mean squared deviations from them.

    Columns far from zero are looked at from their first value, so that rounding, which is as large
    as their mean makes it, is not taken for a deviation: that of a constant column is exactly 0.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    shares : ndarray of shape (n,)
        The weights of rows, of sum 1.
    """
    mean = shares @ X
    squares = squared_deviations(_plain(X), mean, shares)
    far = np.flatnonzero(squares <= (FAR_FROM_ZERO * mean) ** 2)
    if len(far):
        first = X[0, far]
        away = _plain(X[:, far] - first)
        step = shares @ away
        mean[far], squares[far] = first + step, squared_deviations(away, step, shares)
    return mean, squares


def has_sparse_numbers(X: Any, binary: NDArray[np.bool_]) -> bool:
    """Tell whether the columns that are not `binary` hold mostly zeros, however they are stored."""
    numbers = ~binary
    if sparse.issparse(X):
        n_filled = int(np.count_nonzero(numbers[X.indices[X.data != 0]]))
        return 2 * n_filled < X.shape[0] * int(numbers.sum())
    return is_mostly_zero(_plain(X[:, numbers] if binary.any() else X))


def row_lengths(X: Any) -> NDArray[np.float64]:
    """Return the Euclidean length of each row of an array or a CSR matrix."""
    if sparse.issparse(X):
        return _lengths_of_cells(X, X.data)
    return np.sqrt((X**2).sum(axis=1))


def rows_have_one_length(X: Any) -> bool:
    """Tell whether all rows but empty ones have the same length, so that dividing by it is idle."""
    lengths = row_lengths(X)
    lengths = lengths[lengths > 0]
    return not len(lengths) or bool(np.ptp(lengths) <= LENGTH_TOLERANCE * lengths.max())


def rows_times(X: Any, factors: NDArray[np.float64]) -> Any:
    """Return `X` with each row multiplied by its factor, sparse if it was."""
    if sparse.issparse(X):
        return _with_cells(X, X.data * _of_cells(X, factors))
    return X * factors[:, None]


def _of_cells(X: Any, of_rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what belongs to the row of each cell of a CSR matrix."""
    return np.repeat(of_rows, np.diff(X.indptr))


def _with_cells(X: Any, values: NDArray[np.float64]) -> Any:
    """Return a CSR matrix with other values in its cells."""
    return type(X)((values, X.indices, X.indptr), shape=X.shape)


def _lengths_of_cells(X: Any, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the length of each row of a CSR matrix with other values in its cells."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    return np.sqrt(np.bincount(row, values**2, X.shape[0]))


def _plain(X: NDArray) -> NDArray[np.float64]:
    """Return an array as compiled loops take it, itself if it is so already."""
    return np.ascontiguousarray(X, dtype=np.float64)


def _divisors(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths == 0, 1.0, lengths)
