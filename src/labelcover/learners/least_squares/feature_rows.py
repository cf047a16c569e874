"""The rows of features that a primal ridge system is made of: a table, or kernel values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dtrmm

from labelcover.learners.least_squares.feature_maps import gram_of_sparse
from labelcover.learners.least_squares.feature_scaling import rows_times
from labelcover.learners.least_squares.row_sum_kernels import add_rows
from labelcover.learners.linear_targets import LinearTargets, TargetRows

# Kernel values of so many numbers are held at once (64 MB).
BLOCK_NUMBERS = 2**23
# Sparse columns with a larger share of ones are multiplied as dense ones, which is faster.
MOST_SPARSE = 0.03


class FeatureRows(ABC):
    """The features of the training rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def gram(
        self, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weighted sums of the products of features, and of the features."""

    @abstractmethod
    def sums(
        self, targets: LinearTargets, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return weighted sums of the rows that each target holds, ``(n_targets, n_features)``."""

    @abstractmethod
    def rows(self, rows: NDArray[np.int64]) -> Any:
        """Return the features of some rows, an array or CSR."""


class TableRows(FeatureRows):
    """A dense or sparse table that is at hand."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def gram(
        self, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both sums."""
        if sparse.issparse(self.table):
            shares = np.ones(len(self)) if weights is None else weights
            return gram_of_sparse(self.table, shares), np.asarray(shares @ self.table).ravel()
        weighted = self.table if weights is None else rows_times(self.table, weights)
        return self.table.T @ weighted, np.ones(len(self)) @ weighted

    def sums(
        self, targets: LinearTargets, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the sums by target."""
        sums = TargetSums(targets, weights)
        sums.add(self.table, slice(0, len(self)))
        return sums.total()

    def rows(self, rows: NDArray[np.int64]) -> Any:
        """Return some rows, sparse if the table is."""
        return self.table[rows]


class NystroemRows(FeatureRows):
    """The features of a Nyström approximation: kernel values with landmarks, combined.

    Sums are made of kernel values and combined afterwards.

    Parameters
    ----------
    values : callable
        Returns the kernel values of some rows (a slice, or indices) with all landmarks.
    n : int
        Number of rows.
    combine : ndarray of shape (n_landmarks, n_landmarks)
    """

    def __init__(
        self,
        values: Callable[[Any], NDArray[np.float64]],
        n: int,
        combine: NDArray[np.float64],
    ) -> None:
        self.values, self.n, self.combine = values, n, combine

    def __len__(self) -> int:
        return self.n

    def gram(
        self, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both sums."""
        gram, sums = value_sums(self.values, self.n, len(self.combine), weights)
        return combined_gram(gram, self.combine), sums @ self.combine

    def sums(
        self, targets: LinearTargets, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the sums by target."""
        sums = TargetSums(targets, weights)
        for block in value_blocks(self.n, len(self.combine)):
            sums.add(self.values(block), block)
        return sums.total() @ self.combine

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows."""
        return self.values(rows) @ self.combine


def value_sums(
    values: Callable[[Any], NDArray[np.float64]],
    n: int,
    width: int,
    weights: NDArray[np.float64] | None,
    along: TargetSums | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted sums of products of kernel values, and of kernel values.

    Parameters
    ----------
    values, n
        As in `NystroemRows`.
    width : int
        Number of landmarks.
    along : TargetSums, optional
        What the values are added to by target, while they are there.
    """
    gram, sums = np.zeros((width, width)), np.zeros(width)
    for block in value_blocks(n, width):
        found = values(block)
        weighted = found if weights is None else found * weights[block, None]
        gram += found.T @ weighted
        sums += weighted.sum(axis=0)
        if along is not None:
            along.add(found, block)
    return gram, sums


def combined_gram(gram: NDArray[np.float64], combine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``Cᵀ G C`` for the sums of products of kernel values."""
    # The combination is upper triangular.
    return dtrmm(1.0, combine, dtrmm(1.0, combine, gram, trans_a=True), side=True)


def value_blocks(n: int, width: int) -> Iterator[slice]:
    """Yield slices of rows of which kernel values are held at once."""
    step = max(1, BLOCK_NUMBERS // width)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class TargetSums:
    """Weighted sums of rows by target, of blocks of rows as they come.

    Where targets have groups, rows are summed by group, and by target at the end.
    """

    def __init__(
        self, targets: LinearTargets | TargetRows, weights: NDArray[np.float64] | None
    ) -> None:
        self.holds, self.group, self.weights = targets.holds, targets.group, weights
        self.sums: Any = None

    def add(self, rows: Any, block: slice) -> None:
        """Add a block of rows, dense or sparse."""
        n_rows, width = rows.shape
        weights = np.ones(n_rows) if self.weights is None else self.weights[block]
        if self.group is None:
            holds = self.holds
            if n_rows < holds.shape[1]:
                holds = holds[:, block]
            self._add(_product(holds @ sparse.diags_array(weights), rows))
        elif sparse.issparse(rows):
            shape = self.holds.shape[1], n_rows
            entries = weights, (self.group[block], np.arange(n_rows))
            self._add(sparse.csr_array(entries, shape=shape) @ rows)
        else:
            if self.sums is None:
                self.sums = np.zeros((self.holds.shape[1], width))
            add_rows(np.ascontiguousarray(rows), self.group[block], weights, self.sums)

    def total(self) -> NDArray[np.float64]:
        """Return the sums by target, dense."""
        sums = self.sums if self.group is None else _product(self.holds, self.sums)
        return sums.toarray() if sparse.issparse(sums) else sums

    def _add(self, sums: Any) -> None:
        self.sums = sums if self.sums is None else self.sums + sums


def _product(holds: sparse.csr_array, rows: Any) -> Any:
    if not sparse.issparse(rows) and holds.nnz > MOST_SPARSE * holds.shape[0] * holds.shape[1]:
        return holds.toarray() @ rows
    return holds @ rows
