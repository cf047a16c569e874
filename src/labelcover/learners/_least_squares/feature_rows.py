"""The rows of features that a primal ridge system is made of: a table, or kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.blas import dtrmm

from labelcover._table_numbers import blocks
from labelcover.chunks import Chunk
from labelcover.learners._chunked_table import Blocks
from labelcover.learners._least_squares.feature_maps import KernelMap
from labelcover.learners._least_squares.feature_scaling import rows_times
from labelcover.learners._linear_targets import LinearTargets, Rule, TargetRows

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

    def __iadd__(self, other: RowSums) -> RowSums:
        self.gram += other.gram
        self.sums += other.sums
        self.by_target += other.by_target
        return self

    def combined(self, combine: NDArray[np.float64] | None) -> RowSums:
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
        rule = targets.block_rule(whole=table.is_whole)
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
        table = table if self.kernel_map is None else self.kernel_map.training_values(table)
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
        rows: Any = table[block] if kernel_map is None else kernel_map.training_values(table[block])
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
