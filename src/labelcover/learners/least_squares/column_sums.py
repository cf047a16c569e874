"""What is to be known of the columns of a table to scale them, as sums over its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.chunks import Chunk
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.least_squares.feature_scaling import (
    LENGTH_TOLERANCE,
    FeatureScaling,
    moments,
    row_lengths,
)
from labelcover.learners.rare_values import RareValues, binary_columns


@dataclass(frozen=True)
class ColumnSums:
    """Sums over some rows, which can be added to those of other rows.

    Attributes
    ----------
    n : int
        Number of rows.
    total : float
        Sum of their weights.
    binary : ndarray of shape (d,), bool
        Which columns hold nothing but 0 and 1.
    ones : ndarray of shape (d,)
        Weighted sums, which say of a 0/1 column how much its ones weigh.
    mean : ndarray of shape (d,)
        Weighted means.
    squares : ndarray of shape (d,)
        Weighted sums of squares: around the mean, or in a sparse table around 0.
    filled : ndarray of shape (d,)
        How many cells are not 0.
    shortest, longest : float
        Least and greatest length of a row that is not empty.
    is_sparse : bool
    """

    n: int
    total: float
    binary: NDArray[np.bool_]
    ones: NDArray[np.float64]
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]
    filled: NDArray[np.int64]
    shortest: float
    longest: float
    is_sparse: bool

    @classmethod
    def of_table(cls, X: Any, weights: NDArray[np.float64] | None) -> ColumnSums:
        """Return the sums over the rows of a table, dense or CSR."""
        shares = np.ones(X.shape[0]) if weights is None else weights
        total = float(shares.sum())
        lengths = row_lengths(X)
        lengths = lengths[lengths > 0]
        is_sparse = sparse.issparse(X)
        if is_sparse:
            mean = np.asarray((shares / total) @ X).ravel()
            squares = np.asarray(shares @ X.multiply(X)).ravel()
            filled = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        else:
            mean, squares = moments(X, shares / total)
            squares = squares * total
            filled = np.count_nonzero(X, axis=0)
        return cls(
            X.shape[0],
            total,
            binary_columns(X),
            np.asarray(shares @ X).ravel(),
            mean,
            squares,
            filled,
            float(lengths.min(initial=np.inf)),
            float(lengths.max(initial=0.0)),
            is_sparse,
        )

    def __add__(self, other: ColumnSums) -> ColumnSums:
        """Return the sums over the rows of both.

        Squares around the common mean are those of both, and the squared distance of the means
        (Chan, Golub and LeVeque, 1983), so that nothing cancels.
        """
        total = self.total + other.total
        apart = other.mean - self.mean
        between = 0.0 if self.is_sparse else apart**2 * (self.total * other.total / total)
        return ColumnSums(
            self.n + other.n,
            total,
            self.binary & other.binary,
            self.ones + other.ones,
            self.mean + apart * (other.total / total),
            self.squares + other.squares + between,
            self.filled + other.filled,
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
            self.is_sparse,
        )

    @property
    def has_sparse_numbers(self) -> bool:
        """Whether the columns that are not 0/1 hold mostly zeros."""
        numbers = ~self.binary
        return bool(2 * self.filled[numbers].sum() < self.n * numbers.sum())

    @property
    def rows_have_one_length(self) -> bool:
        """Whether all rows but empty ones have the same length."""
        return bool(self.longest - self.shortest <= LENGTH_TOLERANCE * self.longest)

    def scaling(self, scale: str) -> FeatureScaling:
        """Return a fitted scaling."""
        scaling = FeatureScaling(scale)
        if scale == "none":
            return scaling
        rare = scaling.rare = RareValues()
        rare.binary = self.binary
        rare.flipped = self.binary & (2 * self.ones > self.total)
        if scale == "standard":
            mean = np.where(rare.flipped, 1 - self.mean, self.mean)
            squares = self.squares
            if self.is_sparse:
                squares = np.where(rare.flipped, mean * self.total, squares)
            scaling.set_columns(mean, np.sqrt(squares / self.total), is_sparse=self.is_sparse)
        return scaling


def column_sums(X: ChunkedTable) -> ColumnSums:
    """Return the sums over all rows of a table in chunks, in one pass."""
    return X.reduce(_sums_of_chunk)


def _sums_of_chunk(table: Any, chunk: Chunk) -> ColumnSums:
    return ColumnSums.of_table(table, chunk.weights)
