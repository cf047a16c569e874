"""Features: columns on one scale, so that one ridge and one width serve all, and kernel values."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri
from sklearn.utils.extmath import row_norms

from labelcover._table_numbers import ROUNDING, RareValues, binary_columns, blocks
from labelcover.chunks import Chunk
from labelcover.learners._products import inner_products, row_products, squared_lengths

# Rows whose lengths differ by no more than this share are of one length: some tools that make
# them so compute with single precision.
LENGTH_TOLERANCE = 1e-5
# The mean of a column that varies by less than this share of it is computed with more care.
FAR_FROM_ZERO = 1e-4
# An array of words with a smaller share of nonzeros becomes a sparse table, which is quicker.
THIN = 0.03
# Deviations of so many numbers are held at once (8 MB).
BLOCK_NUMBERS = 2**20
# Added to the kernel values of landmarks with themselves, in mean diagonal elements: directions
# with less than this are rounding errors in sums over many rows.
LANDMARK_RIDGE = 1e-6


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

    is_thin = False

    def __init__(self, scale: str = "standard") -> None:
        self.scale = scale

    def set(self, sums: "ColumnSums") -> Self:
        """Take the scale of each column from sums over the rows of a table."""
        if self.scale == "none":
            return self
        rare = self.rare = RareValues()
        rare.binary = sums.binary
        rare.flipped = sums.binary & (2 * sums.ones > sums.total)
        if self.scale == "standard":
            mean = np.where(rare.flipped, 1 - sums.mean, sums.mean)
            squares = sums.squares
            if sums.is_sparse:
                squares = np.where(rare.flipped, np.maximum(mean, 0) * sums.total, squares)
            spread = np.sqrt(squares / sums.total)
            self.words = rare.binary
            if 2 * self.words.sum() < len(self.words):
                self.words = np.zeros_like(self.words)
            self.shift = np.zeros(len(mean)) if sums.is_sparse else np.where(self.words, 0.0, mean)
            # A column that is constant but for rounding carries nothing.
            spread[spread <= np.maximum(ROUNDING * np.abs(self.shift), 1e-300)] = np.inf
            self.factor = 1 / (np.where(self.words, 1.0, spread) * np.sqrt(len(self.words)))
            held = np.where(rare.flipped, sums.n - sums.nonzeros, sums.nonzeros)
            self.is_thin = bool(self.words.all() and held.mean() < THIN * sums.n)
        return self

    def transform(self, X: Any) -> Any:
        """Return `X` on the scale of `fit`, sparse if it was, or if nearly all words are absent."""
        if self.scale == "none":
            return X
        X = self.rare.transform(X)
        if self.scale == "rows":
            return rows_times(X, 1 / _divisors(row_norms(X)))
        return self._scaled_columns(sparse.csr_array(X) if self.is_thin else X)

    def divided_columns(self, n_columns: int) -> NDArray[np.bool_]:
        """Return which of the columns are divided by the length of the row in them."""
        return self.words if self.scale == "standard" else np.full(n_columns, self.scale == "rows")

    def _scaled_columns(self, X: Any) -> Any:
        if sparse.issparse(X):
            return self._scaled_cells(X)
        scaled = np.ascontiguousarray(X - self.shift, dtype=np.float64)
        scaled *= self.factor
        if self.words.any():
            lengths = row_norms(X if self.words.all() else X[:, self.words])
            scaled *= np.where(self.words, self._word_factors(lengths)[:, None], 1.0)
        return scaled

    def _scaled_cells(self, X: Any) -> Any:
        values = X.data * self.factor[X.indices]
        if self.words.any():
            are_words = self.words[X.indices]
            lengths = row_norms(_with_cells(X, X.data * are_words))
            values *= np.where(are_words, _of_cells(X, self._word_factors(lengths)), 1.0)
        return _with_cells(X, values)

    def _word_factors(self, lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what brings the words of each row, once divided by √d, to length √(words / d)."""
        return np.sqrt(self.words.sum()) / _divisors(lengths)


@dataclass(frozen=True)
class ColumnSums:
    """Sums over some rows of a table, which can be added to those of other rows.

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
    nonzeros : ndarray of shape (d,)
        Number of nonzeros.
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
    nonzeros: NDArray[np.int64]
    shortest: float
    longest: float
    is_sparse: bool

    @classmethod
    def of_table(cls, X: Any, weights: NDArray[np.float64] | None) -> "ColumnSums":
        """Return the sums over the rows of a table, dense or CSR."""
        shares = np.ones(X.shape[0]) if weights is None else weights
        total = float(shares.sum())
        lengths = row_norms(X)
        lengths = lengths[lengths > 0]
        is_sparse = sparse.issparse(X)
        if is_sparse:
            mean = np.asarray((shares / total) @ X).ravel()
            squares = np.asarray(shares @ X.multiply(X)).ravel()
            nonzeros = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        else:
            mean, squares = moments(X, shares / total)
            squares = squares * total
            nonzeros = np.count_nonzero(X, axis=0)
        return cls(
            X.shape[0],
            total,
            binary_columns(X),
            np.asarray(shares @ X).ravel(),
            mean,
            squares,
            nonzeros,
            float(lengths.min(initial=np.inf)),
            float(lengths.max(initial=0.0)),
            is_sparse,
        )

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
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
            self.nonzeros + other.nonzeros,
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
            self.is_sparse,
        )

    @property
    def has_sparse_numbers(self) -> bool:
        """Whether the columns that are not 0/1 hold mostly zeros, however they are stored."""
        numbers = ~self.binary
        return bool(2 * self.nonzeros[numbers].sum() < self.n * numbers.sum())

    @property
    def rows_have_one_length(self) -> bool:
        """Whether all rows but empty ones have the same length, so that dividing by it is idle."""
        return bool(self.longest - self.shortest <= LENGTH_TOLERANCE * self.longest)


def sums_of_block(table: Any, chunk: Chunk) -> ColumnSums:
    """Return the sums over the rows of a block."""
    return ColumnSums.of_table(table, chunk.weights)


def moments(
    X: NDArray[np.float64], shares: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of columns, and the mean squared deviations from them.

    Columns far from zero are looked at from their first value, so that rounding, which is as large
    as their mean makes it, is not taken for a deviation: that of a constant column is exactly 0.
    `shares` are the weights of rows, of sum 1.
    """
    mean = shares @ X
    squares = _squared_deviations(X, mean, shares)
    far = np.flatnonzero(squares <= (FAR_FROM_ZERO * mean) ** 2)
    if len(far):
        first = X[0, far]
        away = X[:, far] - first
        step = shares @ away
        mean[far], squares[far] = first + step, _squared_deviations(away, step, shares)
    return mean, squares


def _squared_deviations(
    X: NDArray[np.float64], mean: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    parts = blocks(len(X), BLOCK_NUMBERS // X.shape[1])
    return np.sum([shares[rows] @ (X[rows] - mean) ** 2 for rows in parts], axis=0)


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


def _divisors(lengths: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(lengths == 0, 1.0, lengths)


@dataclass(frozen=True)
class Kernel:
    """A kernel: ``x · z``, or the mean over `gammas` of ``exp(-gamma |x - z|²)``."""

    gammas: tuple[float, ...] = ()

    @property
    def is_linear(self) -> bool:
        """Whether this is the plain inner product."""
        return not self.gammas

    @np.errstate(over="ignore")  # rows infinitely far apart have nothing in common
    def from_products(
        self,
        products: NDArray[np.float64],
        squares: NDArray[np.float64],
        other_squares: NDArray[np.float64],
    ) -> None:
        """Turn inner products of rows into kernel values in place, given squared lengths."""
        if self.is_linear:
            return
        distances, gammas = products, self.gammas
        distances *= -2
        distances += squares[:, None]
        distances += other_squares
        # Rounding may leave less than nothing between rows that are alike.
        np.maximum(distances, 0, out=distances)
        if all(wide == 4 * narrow for wide, narrow in pairwise(gammas)):
            # A Gaussian of half the width is the fourth power: one exponential serves all.
            distances *= -gammas[-1]
            np.exp(distances, out=distances)
            power = distances.copy() if len(gammas) > 1 else distances
            for _ in gammas[1:]:
                power *= power
                power *= power
                distances += power
        else:
            distances[:] = sum(np.exp(-gamma * distances) for gamma in gammas)
        distances /= len(gammas)


class KernelMap:
    """From scaled rows to features: the rows, kernel values with some rows, or combinations.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray or CSR matrix, optional
        The training rows, or landmarks; without any, the values of a row are its own columns.
    combine : ndarray, optional
        What the values are multiplied by, upper triangular.
    """

    def __init__(
        self, kernel: Kernel, rows: Any = None, combine: NDArray[np.float64] | None = None
    ) -> None:
        self.kernel, self.rows, self.combine = kernel, rows, combine
        self.squares = np.empty(0) if rows is None else squared_lengths(rows)

    def values(self, X: Any, *, alone: bool = True) -> Any:
        """Return the kernel values of the rows of `X` with all rows of the map.

        Each is rounded as for the row alone, unless it need not be, which is faster.
        """
        if self.rows is None:
            return X
        if alone and not sparse.issparse(X) and not sparse.issparse(self.rows):
            values = row_products(X, self.rows.T)
        else:
            values = inner_products(X, self.rows)
        self.kernel.from_products(values, squared_lengths(X), self.squares)
        return values

    def transform(self, X: Any, *, alone: bool = True) -> Any:
        """Return the features of the rows of `X`, rounded as by `values`."""
        values = self.values(X, alone=alone)
        if self.combine is None:
            return values
        return row_products(values, self.combine) if alone else values @ self.combine


def landmark_combination(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what makes Nyström features of kernel values with landmarks.

    `values` are those of the landmarks with themselves; products of features are then kernel
    values between landmarks, nearly.
    """
    ridge = LANDMARK_RIDGE * max(float(np.trace(values)) / len(values), np.finfo(np.float64).tiny)
    factor = cholesky(values + ridge * np.eye(len(values)), lower=True, check_finite=False)
    return np.asarray(dtrtri(factor, lower=True)[0].T)


def median_distance(X: Any) -> float:
    """Return the median distance between distinct rows; 1 if there are none."""
    products, squares = inner_products(X, X), squared_lengths(X)
    first, second = np.triu_indices(len(squares), 1)
    between = -2 * products[first, second] + squares[first] + squares[second]
    between = np.sqrt(between[between > 0])
    return float(np.median(between)) if len(between) else 1.0
