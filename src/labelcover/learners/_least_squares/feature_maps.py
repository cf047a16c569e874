"""From the rows of a table to features, the table itself or kernel values, and sums of these."""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from labelcover._table_numbers import blocks
from labelcover.chunks import Chunk
from labelcover.learners._chunked_table import Blocks
from labelcover.learners._least_squares.feature_scaling import rows_times
from labelcover.learners._least_squares.score_parts import GaussianSwaps, LinearSwaps
from labelcover.learners._problems import LinearTargets, Rule, TargetRows
from labelcover.learners._products import inner_products, row_products, squared_lengths

# Added to the kernel values of landmarks with themselves, in mean diagonal elements: directions
# with less than this are rounding errors in sums over many rows.
LANDMARK_RIDGE = 1e-6


@dataclass(frozen=True)
class Kernel:
    """A kernel: ``x · z``, or the mean over `gammas` of ``exp(-gamma |x - z|²)``."""

    gammas: tuple[float, ...] = ()

    @property
    def is_linear(self) -> bool:
        """Whether this is the plain inner product."""
        return not self.gammas

    def __call__(self, X: Any, Z: Any) -> NDArray[np.float64]:
        """Return the kernel values of all rows of `X` with all rows of `Z`."""
        values = inner_products(X, Z)
        if not self.is_linear:
            self.from_products(values, squared_lengths(X), squared_lengths(Z))
        return values

    def from_products(
        self,
        products: NDArray[np.float64],
        squares: NDArray[np.float64],
        other_squares: NDArray[np.float64],
    ) -> None:
        """Turn inner products of rows into kernel values in place, given squared lengths."""
        if not self.is_linear:
            products *= -2
            products += squares[:, None]
            products += other_squares
            # Rounding may leave less than nothing between rows that are alike.
            np.maximum(products, 0, out=products)
            _mean_of_gaussians(products, self.gammas)


class IdentityMap:
    """The table itself.

    Attributes
    ----------
    combine
        As in `KernelMap`; there is none here.
    """

    combine: NDArray[np.float64] | None = None

    def transform(self, X: Any) -> Any:
        """Return `X`."""
        return X

    values = transform

    def swaps(self, X: Any, origin: Any, words: NDArray[np.bool_]) -> LinearSwaps:
        """Return what columns add to scores where they pass from an origin to rows."""
        return LinearSwaps(X if origin is None else X - origin, words)


class KernelMap:
    """Kernel values with some rows, or combinations of them.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray or CSR matrix
        The training rows, or landmarks.
    combine : ndarray, optional
        What the kernel values are multiplied by.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        combine: NDArray[np.float64] | None = None,
    ) -> None:
        self.kernel, self.rows, self.combine = kernel, rows, combine
        self.squares = squared_lengths(rows)

    def values(self, X: Any) -> NDArray[np.float64]:
        """Return the kernel values of the rows of `X` with all rows of the map."""
        if sparse.issparse(X) or sparse.issparse(self.rows):
            values = inner_products(X, self.rows)
        else:
            values = row_products(X, self.rows.T)
        self.kernel.from_products(values, squared_lengths(X), self.squares)
        return values

    def swaps(self, X: Any, origin: Any, words: NDArray[np.bool_]) -> LinearSwaps | GaussianSwaps:
        """Return what columns add to scores where they pass from an origin to rows."""
        moved = X if origin is None else X - origin
        if self.kernel.is_linear:
            to_columns = self.rows if self.combine is None else self.combine.T @ self.rows
            return LinearSwaps(moved, words, to_columns)
        centres = self.rows if origin is None else self.rows - origin
        return GaussianSwaps(self.kernel.gammas, moved, centres, self.combine)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of the rows of `X`."""
        values = self.values(X)
        return values if self.combine is None else row_products(values, self.combine)


def landmark_combination(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what makes Nyström features of kernel values with landmarks.

    `values` are those of the landmarks with themselves; products of features are then kernel
    values between landmarks, nearly.
    """
    ridge = LANDMARK_RIDGE * max(float(np.trace(values)) / len(values), np.finfo(np.float64).tiny)
    factor = cholesky(values + ridge * np.eye(len(values)), lower=True, check_finite=False)
    return np.asarray(dtrtri(factor, lower=True)[0].T)


@np.errstate(over="ignore")  # rows infinitely far apart have nothing in common
def _mean_of_gaussians(distances: NDArray[np.float64], gammas: tuple[float, ...]) -> None:
    """Overwrite squared distances with the mean over `gammas` of ``exp(-gamma d²)``."""
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
        total = sum(np.exp(-gamma * distances) for gamma in gammas)
        distances[:] = total
    distances /= len(gammas)


def median_distance(X: Any) -> float:
    """Return the median distance between distinct rows; 1 if there are none."""
    products, squares = inner_products(X, X), squared_lengths(X)
    first, second = np.triu_indices(len(squares), 1)
    between = -2 * products[first, second] + squares[first] + squares[second]
    between = np.sqrt(between[between > 0])
    return float(np.median(between)) if len(between) else 1.0


# Kernel values, or dense rows, of so many numbers are held at once (64 MB).
BLOCK_NUMBERS = 2**23
# Sparse columns with a larger share of ones are multiplied as dense ones, which is faster.
MOST_SPARSE = 0.03
# The same for the products of all columns of a sparse table.
MOST_SPARSE_GRAM = 0.06


@dataclass
class RowSums:
    """Sums over rows: of products of features, of features, and of the rows of each target."""

    gram: NDArray[np.float64]
    sums: NDArray[np.float64]
    by_target: NDArray[np.float64]

    def __iadd__(self, other: "RowSums") -> "RowSums":
        self.gram += other.gram
        self.sums += other.sums
        self.by_target += other.by_target
        return self

    def combined(self, combine: NDArray[np.float64] | None) -> "RowSums":
        """Return the sums of features that are combinations of these."""
        if combine is None:
            return self
        # The combination is upper triangular.
        gram = dtrmm(1.0, combine, dtrmm(1.0, combine, self.gram, trans_a=True), side=True)
        return RowSums(gram, self.sums @ combine, self.by_target @ combine)


class FeatureRows:
    """The features of training rows: of a table itself, or of a Nyström approximation.

    All sums are made in one pass over the blocks of the table, of kernel values where there are
    some, which are combined afterwards.

    Parameters
    ----------
    table : Blocks
    targets : LinearTargets
        All targets; those of which sums are wanted later are some of them.
    kernel_map : KernelMap, optional
        What makes kernel values of rows; by default features are the table itself.
    combine : ndarray of shape (width, width), optional
        What the values, or the columns of the table, are multiplied by; by default as the map says.
    """

    def __init__(
        self,
        table: Blocks,
        targets: LinearTargets,
        kernel_map: KernelMap | None = None,
        combine: NDArray[np.float64] | None = None,
    ) -> None:
        self.table, self.kernel_map = table, kernel_map
        self.combine = combine if kernel_map is None else kernel_map.combine
        self._numbers = targets.numbers
        rule = table.target_rule(targets)
        found = table.reduce(partial(_sums_of_block, kernel_map, rule)).combined(self.combine)
        self.gram, self.total, self._by_target = found.gram, found.sums, found.by_target

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def sums(self, targets: LinearTargets) -> NDArray[np.float64]:
        """Return weighted sums of the rows that each target holds, ``(n_targets, n_features)``."""
        return self._by_target[np.searchsorted(self._numbers, targets.numbers)]

    def rows(self, rows: NDArray[np.int64]) -> Any:
        """Return the features of some rows, an array or CSR."""
        table = self.table[rows]
        table = (
            table
            if self.kernel_map is None
            else self.kernel_map.kernel(table, self.kernel_map.rows)
        )
        return table if self.combine is None else table @ self.combine


def _sums_of_block(kernel_map: KernelMap | None, rule: Rule, table: Any, chunk: Chunk) -> RowSums:
    """Return the sums over the rows of a block, or of their kernel values."""
    sums = TargetSums(rule(chunk.Y), chunk.weights)
    n, is_sparse = table.shape[0], sparse.issparse(table)
    if kernel_map is None and is_sparse and table.nnz <= MOST_SPARSE_GRAM * n * table.shape[1]:
        weighted = table if chunk.weights is None else rows_times(table, chunk.weights)
        sums.add(table, slice(0, n))
        total = np.asarray(weighted.sum(axis=0)).ravel()
        return RowSums((table.T @ weighted).toarray(), total, sums.total())
    width = table.shape[1] if kernel_map is None else kernel_map.rows.shape[0]
    gram, total = np.zeros((width, width)), np.zeros(width)
    whole = not is_sparse and kernel_map is None
    for block in [slice(0, n)] if whole else blocks(n, BLOCK_NUMBERS // width):
        # Sooner than `KernelMap.values`; rounding may differ with the number of rows.
        rows: Any = (
            table[block] if kernel_map is None else kernel_map.kernel(table[block], kernel_map.rows)
        )
        dense = rows.toarray() if sparse.issparse(rows) else rows
        weighted = dense if chunk.weights is None else dense * chunk.weights[block, None]
        gram += dense.T @ weighted
        total += weighted.sum(axis=0)
        sums.add(rows, block)
    return RowSums(gram, total, sums.total())


class TargetSums:
    """Weighted sums of rows by target, of blocks of rows as they come.

    Where targets have groups, rows are summed by group, and by target at the end.
    """

    def __init__(self, held: TargetRows, weights: NDArray[np.float64] | None) -> None:
        self.holds, self.group, self.weights = held.holds, held.group, weights
        self.sums: Any = 0.0

    def add(self, rows: Any, block: slice) -> None:
        """Add a block of rows, dense or sparse."""
        n_rows = rows.shape[0]
        weights = np.ones(n_rows) if self.weights is None else self.weights[block]
        if self.group is None:
            holds = self.holds if n_rows == self.holds.shape[1] else self.holds[:, block]
            holds = holds if self.weights is None else holds @ sparse.diags_array(weights)
            self.sums = _product(holds, rows) + self.sums
        else:
            shape = self.holds.shape[1], n_rows
            entries = weights, (self.group[block], np.arange(n_rows))
            self.sums = sparse.csr_array(entries, shape=shape) @ rows + self.sums

    def total(self) -> NDArray[np.float64]:
        """Return the sums by target, dense."""
        sums = self.sums if self.group is None else _product(self.holds, self.sums)
        return sums.toarray() if sparse.issparse(sums) else sums


def _product(holds: sparse.csr_array, rows: Any) -> Any:
    if not sparse.issparse(rows) and holds.nnz > MOST_SPARSE * holds.shape[0] * holds.shape[1]:
        return holds.toarray() @ rows
    return holds @ rows
