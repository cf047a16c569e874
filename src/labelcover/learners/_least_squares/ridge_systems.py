"""Ridge regression on 0/1 targets, for any number of targets at once.

With centred features ``Φ`` and targets ``T``, the scores of ridge ``λ`` are
``Φ (ΦᵀΦ + λ)⁻¹ Φᵀ T`` plus the targets' frequencies. One Cholesky factor of ``ΦᵀΦ + λ``, or of
``ΦΦᵀ + λ`` where there are more features than rows, gives the scores of all targets and their
leave-one-out. With weights ``W`` of rows, means and frequencies are weighted, and the scores are
``Φ (ΦᵀWΦ + λ)⁻¹ ΦᵀW T``. Where ``λ`` is too small for a Cholesky factor, eigenvectors are used.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_solve, eigh, solve_triangular
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import get_lapack_funcs

from labelcover._table_numbers import blocks
from labelcover.chunks import Chunk
from labelcover.learners._chunked_table import Blocks
from labelcover.learners._least_squares.scaled_features import Kernel, KernelMap, rows_times
from labelcover.learners._problems import LinearTargets, Rule

# Directions with less than this share of the largest eigenvalue are rounding errors.
RANK_TOLERANCE = 1e-13
# Where centring leaves no more than this share of the squared lengths of rows, these are alike but
# for rounding, which a small ridge would blow up.
CONSTANT = 1e-12
# With a smaller ridge, in mean diagonal elements, a Cholesky factor would be inexact.
LEAST_RIDGE = 1e-7
# Single precision is enough to compare ridges if the ridge is so many times its rounding error, and
# then also for leverages, where it is used from so many products on, as it takes half the time.
SINGLE_MARGIN, MANY_PRODUCTS = 100, 2**28
# Leverages of sparse rows are quicker by the inverse of the factor, where so many products for each
# pair of columns, and for each nonzero and column, are fewer than one for each row and pair.
INVERSE_COST, NONZERO_COST = 0.5, 14
# Squared lengths that single precision can hold, and one over them, with their products.
LARGEST_SINGLE = 1e18
# Kernel values, or dense rows, of so many numbers are held at once (64 MB).
BLOCK_NUMBERS = 2**23
# A sparse table with a larger share of nonzeros is made dense for the products of its columns.
MOST_SPARSE_GRAM = 0.06


@dataclass(frozen=True)
class Posed:
    """Targets, and training rows whose scores are wanted, as a system takes them.

    Attributes
    ----------
    right_sides : ndarray of shape (width, n_targets)
    frequencies : ndarray of shape (n_targets,)
    rows : ndarray of shape (n_rows,)
    features : ndarray or CSR array of shape (n_rows, width)
        The features of the rows, in a primal system; else empty. An array is centred.
    centre : ndarray of shape (width,)
        Their mean, 0 if they are centred.
    """

    right_sides: NDArray
    frequencies: NDArray[np.float64]
    rows: NDArray[np.int64]
    features: Any
    centre: NDArray

    @cached_property
    def single(self) -> "Posed":
        """The same in single precision."""
        tables = self.right_sides, self.features, self.centre
        right_sides, features, centre = (each.astype(np.float32) for each in tables)
        return replace(self, right_sides=right_sides, features=features, centre=centre)

    def times(self, table: NDArray) -> NDArray:
        """Return the centred features times a table."""
        found = np.asarray(self.features @ table)
        if sparse.issparse(self.features):
            found -= self.centre @ table
        return found


@dataclass(frozen=True)
class Solved:
    """What a system says at one ridge.

    Attributes
    ----------
    coefficients : ndarray of shape (n_targets, n_features)
    means : ndarray of shape (n_targets,)
        The scores at the mean of the features.
    scores : ndarray of shape (n_targets, n_rows)
        Of the training rows that were asked for.
    leverage : ndarray of shape (n_rows,)
        The share of each of those rows in its own score: the diagonal of the hat matrix.
    """

    coefficients: NDArray
    means: NDArray[np.float64]
    scores: NDArray[np.float64]
    leverage: NDArray[np.float64]


class RidgeSystem(ABC):
    """A ridge system that targets can be solved in.

    Attributes
    ----------
    map : KernelMap
        What makes features of rows.
    weights : ndarray of shape (n,)
        Weights of the training rows.
    total : float
        Their sum.
    centre : ndarray of shape (n_features,)
        Mean of the features, or of the columns of the kernel.
    matrix : ndarray of shape (width, width)
        The centred Gram or kernel matrix.
    is_constant : bool
        Whether all rows are alike but for rounding: nothing is known but the frequencies.
    """

    map: KernelMap
    weights: NDArray[np.float64]
    total: float
    centre: NDArray[np.float64]
    matrix: NDArray[np.float64]
    is_constant: bool

    @abstractmethod
    def pose(self, targets: LinearTargets, rows: NDArray[np.int64]) -> Posed:
        """Return what `solve` takes; `rows` are the training rows whose scores are wanted."""

    def solve(self, posed: Posed, ridge: float, *, coarse: bool = False) -> Solved:
        """Return coefficients, scores and leverage at a ridge.

        With `coarse`, in single precision where that is exact enough to compare ridges.
        """
        if self.is_constant:  # no more is known than frequencies
            scores = np.repeat(posed.frequencies[:, None], len(posed.rows), axis=1)
            leverage = self.weights[posed.rows] / self.total
            return Solved(np.zeros_like(posed.right_sides.T), posed.frequencies, scores, leverage)
        width = len(self.matrix)
        if ridge * width >= LEAST_RIDGE * self.trace:
            single = coarse and self.has_single(ridge)
            factor = _cholesky(self.matrix, ridge, np.float32 if single else np.float64)
            if factor is not None:
                return self._by_factor(posed.single if single else posed, ridge, factor)
        return self._by_eigenvectors(posed, ridge)

    def has_single(self, ridge: float) -> bool:
        """Return whether single precision is exact enough to compare predictions."""
        least = SINGLE_MARGIN * float(np.finfo(np.float32).eps) * self.trace
        return 1 / LARGEST_SINGLE < self.trace < LARGEST_SINGLE and ridge > least

    @cached_property
    def trace(self) -> float:
        """The sum of the squared lengths of the centred rows."""
        return float(np.trace(self.matrix))

    @property
    def unit(self) -> float:
        """The mean squared length of a centred row, which ridges are multiples of."""
        if self.is_constant:
            return 1.0
        return max(self.trace / self.total, float(np.finfo(np.float64).tiny))

    @cached_property
    def eigenpairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The eigenvalues of `matrix`, ``(rank,)``, and its eigenvectors, ``(width, rank)``."""
        values, vectors = eigh(self.matrix, check_finite=False, driver="evd")
        kept = values > RANK_TOLERANCE * values.max(initial=np.finfo(np.float64).tiny)
        return values[kept], vectors[:, kept]

    @abstractmethod
    def features_of_rows(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
        """Return features of all rows, their centre, and the eigenvectors of their products.

        None stands for features that are along the eigenvectors. `coefficients_of` tells what
        coefficients of these features are as coefficients of the system.
        """

    def coefficients_of(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coefficients, ``(n_features, n_targets)``, from those of `features_of_rows`."""
        return theta

    @abstractmethod
    def _by_factor(self, posed: Posed, ridge: float, factor: NDArray) -> Solved: ...

    @abstractmethod
    def _by_eigenvectors(self, posed: Posed, ridge: float) -> Solved: ...


class PrimalSystem(RidgeSystem):
    """The Gram matrix of explicit features.

    All sums are made in one pass over the blocks of a table, of kernel values where there are some,
    which are combined afterwards.

    Parameters
    ----------
    table : Blocks
    targets : LinearTargets
        All targets; those that are posed later are some of them.
    mapped : KernelMap
        What makes features of rows; by default they are the table itself.
    weights : ndarray of shape (n,), optional
    """

    def __init__(
        self,
        table: Blocks,
        targets: LinearTargets,
        mapped: KernelMap | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.table, self.map, self._numbers = table, mapped or KernelMap(Kernel()), targets.numbers
        rule, combine = table.target_rule(targets), self.map.combine
        found = table.reduce(partial(_sums_of_block, self.map, rule), _added)
        gram, sums, by_target, self._counts = found
        if combine is not None:
            gram = dtrmm(1.0, combine, dtrmm(1.0, combine, gram, trans_a=True), side=True)
            sums, by_target = sums @ combine, by_target @ combine
        self._by_target = by_target
        self.weights = np.ones(table.shape[0]) if weights is None else weights
        self.total = float(self.weights.sum())
        self.centre = sums / self.total
        self.matrix = gram - np.outer(self.centre, sums)
        self.is_constant = self.trace <= CONSTANT * float(np.trace(gram))

    def _rows(self, rows: NDArray[np.int64]) -> Any:
        return self.map.transform(self.table[rows], alone=False)

    def pose(self, targets: LinearTargets, rows: NDArray[np.int64]) -> Posed:
        """Return what `solve` takes: the right sides are ``ΦᵀW T``."""
        own = np.searchsorted(self._numbers, targets.numbers)
        counts = self._counts[own]
        sums = self._by_target[own] - np.outer(counts, self.centre)
        features, centre = self._rows(rows), self.centre
        if sparse.issparse(features):
            n, width = features.shape
            if INVERSE_COST * width**2 + NONZERO_COST * features.nnz > n * width:
                features = features.toarray()
        if not sparse.issparse(features):
            features, centre = features - centre, np.zeros_like(centre)
        return Posed(sums.T, counts / self.total, rows, features, centre)

    def features_of_rows(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the features of all rows, their mean, and the eigenvectors."""
        return self._rows(np.arange(len(self.weights))), self.centre, self.eigenpairs[1]

    def _by_factor(self, posed: Posed, ridge: float, factor: NDArray) -> Solved:
        solution = cho_solve((factor, True), posed.right_sides, check_finite=False)
        own = posed
        if len(posed.rows) * len(factor) ** 2 > MANY_PRODUCTS and self.has_single(ridge):
            factor, own = factor.astype(np.float32), posed.single
        if sparse.issparse(own.features):
            half = own.times(_inverse(factor).T).T
        else:
            half = solve_triangular(factor, own.features.T, lower=True, check_finite=False)
        return self._solved(posed, solution.T, squared_columns(half))

    def _by_eigenvectors(self, posed: Posed, ridge: float) -> Solved:
        values, vectors = self.eigenpairs
        half = vectors / np.sqrt(values + ridge)
        spread = squared_columns(posed.times(half).T)
        return self._solved(posed, (posed.right_sides.T @ half) @ half.T, spread)

    def _solved(self, posed: Posed, coefficients: NDArray, spread: NDArray) -> Solved:
        leverage = (spread + 1 / self.total) * self.weights[posed.rows]
        scores = posed.times(coefficients.T).T.astype(np.float64) + posed.frequencies[:, None]
        return Solved(coefficients, posed.frequencies, scores, leverage)


def _sums_of_block(mapped: KernelMap, rule: Rule, table: Any, chunk: Chunk) -> list[NDArray]:
    """Return sums of a block: of products of values, of values, these by target, and weights."""
    held, weights = rule(chunk.Y), chunk.weights
    counts = held.counts(np.ones(table.shape[0]) if weights is None else weights)
    n, is_sparse, is_plain = table.shape[0], sparse.issparse(table), mapped.rows is None
    if is_plain and is_sparse and table.nnz <= MOST_SPARSE_GRAM * n * table.shape[1]:
        weighted = table if weights is None else rows_times(table, weights)
        total = np.asarray(weighted.sum(axis=0)).ravel()
        by_target = held.by_target(held.sums(table, slice(0, n), weights))
        return [(table.T @ weighted).toarray(), total, by_target, counts]
    width = table.shape[1] if is_plain else mapped.rows.shape[0]
    gram, total, sums = np.zeros((width, width)), np.zeros(width), 0.0
    for block in blocks(n, n if is_plain and not is_sparse else BLOCK_NUMBERS // width):
        values = mapped.values(table[block], alone=False)
        dense = values.toarray() if sparse.issparse(values) else values
        weighted = dense if weights is None else dense * weights[block, None]
        gram += dense.T @ weighted
        total += weighted.sum(axis=0)
        sums = held.sums(values, block, weights) + sums
    return [gram, total, held.by_target(sums), counts]


def _added(first: list[NDArray], second: list[NDArray]) -> list[NDArray]:
    for own, other in zip(first, second, strict=True):
        own += other
    return first


class DualSystem(RidgeSystem):
    """The kernel matrix of the training rows, rows and columns times ``W^½``.

    The features of a row are its kernel values with the training rows.
    """

    def __init__(self, mapped: KernelMap, weights: NDArray[np.float64] | None = None) -> None:
        self.map, kernel = mapped, mapped.values(mapped.rows, alone=False)
        self.weights = np.ones(len(kernel)) if weights is None else weights
        self.total = float(self.weights.sum())
        self.centre = self.weights @ kernel / self.total
        middle = self.weights @ self.centre / self.total
        self.matrix = kernel - self.centre
        self.matrix -= (self.centre - middle)[:, None]
        self.roots = np.sqrt(self.weights)
        if weights is not None:
            self.matrix *= self.roots
            self.matrix *= self.roots[:, None]
        self.is_constant = self.trace <= CONSTANT * float(self.weights @ np.diag(kernel))

    def pose(self, targets: LinearTargets, rows: NDArray[np.int64]) -> Posed:
        """Return what `solve` takes: the right sides are the centred targets times ``W^½``."""
        frequencies = targets.held.counts(self.weights) / self.total
        centred = targets.dense()
        centred -= frequencies[:, None]
        centred *= self.roots
        return Posed(centred.T, frequencies, rows, np.empty((0, 0)), np.empty(0))

    def features_of_rows(self) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
        """Return features whose products are the centred kernel, made of its eigenvectors."""
        values, vectors = self.eigenpairs
        return vectors * np.sqrt(values) / self.roots[:, None], np.zeros(len(values)), None

    def coefficients_of(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return coefficients of kernel values."""
        values, vectors = self.eigenpairs
        return (vectors / np.sqrt(values)) @ theta * self.roots[:, None]

    def _by_factor(self, posed: Posed, ridge: float, factor: NDArray) -> Solved:
        solution = cho_solve((factor, True), posed.right_sides, check_finite=False)
        # The residual of a training row is its coefficient times the ridge, divided by its
        # weight: scores need no product.
        rows, roots = posed.rows, self.roots[posed.rows, None]
        scores = (posed.right_sides[rows] - ridge * solution[rows]) / roots
        shares = 1 - ridge * _inverse_diagonal(factor, rows)
        return self._solved(posed, solution, scores, shares)

    def _by_eigenvectors(self, posed: Posed, ridge: float) -> Solved:
        values, vectors = self.eigenpairs
        # Where rows share most of their features, centring cancels most of the kernel, and
        # rounding may leave the constant direction among the vectors.
        constant = self.roots / np.sqrt(self.total)
        vectors = vectors - np.outer(constant, constant @ vectors)
        shrunk, inside = values / (values + ridge), vectors.T @ posed.right_sides
        solution = (vectors / (values + ridge)) @ inside
        rows, roots = posed.rows, self.roots[posed.rows, None]
        scores = vectors[rows] @ (shrunk[:, None] * inside) / roots
        return self._solved(posed, solution, scores, vectors[rows] ** 2 @ shrunk)

    def _solved(self, posed: Posed, solution: NDArray, scores: NDArray, shares: NDArray) -> Solved:
        leverage = shares + self.weights[posed.rows] / self.total
        scores = np.asarray(scores.T, dtype=np.float64) + posed.frequencies[:, None]
        return Solved((solution * self.roots[:, None]).T, posed.frequencies, scores, leverage)


def _cholesky(matrix: NDArray[np.float64], ridge: float, dtype: Any) -> NDArray | None:
    """Return the lower Cholesky factor of ``matrix + λ``; None if rounding makes it indefinite."""
    # The matrix is symmetric: LAPACK's order of its elements is ours.
    shifted = np.array(matrix.T, dtype=dtype, order="F")
    shifted.reshape(-1, order="A")[:: len(matrix) + 1] += ridge
    (factorised,) = get_lapack_funcs(("potrf",), (shifted,))
    factor, failed = factorised(shifted, lower=1, clean=1, overwrite_a=1)
    return None if failed else factor


def _inverse_diagonal(factor: NDArray, rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return some diagonal elements of ``(L Lᵀ)⁻¹``: squared lengths of columns of ``L⁻¹``.

    `factor` may be overwritten: of many rows it is one of two tables as large as the kernel.
    """
    width = len(factor)
    if 3 * len(rows) < width:
        columns = np.zeros((width, len(rows)), dtype=factor.dtype, order="F")
        columns[rows, np.arange(len(rows))] = 1
        half = solve_triangular(factor, columns, lower=True, check_finite=False)
        return squared_columns(half)
    return squared_columns(_inverse(factor))[rows]


def _inverse(factor: NDArray) -> NDArray:
    """Return the inverse of a lower triangle, which is overwritten."""
    (invert,) = get_lapack_funcs(("trtri",), (factor,))
    return invert(factor, lower=1, overwrite_c=1)[0]


def squared_columns(table: NDArray) -> NDArray[np.float64]:
    """Return the squared lengths of the columns."""
    return np.einsum("ij,ij->i", table.T, table.T).astype(np.float64)
