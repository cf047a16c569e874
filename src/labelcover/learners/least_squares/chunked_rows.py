"""The rows of a primal ridge system, summed over chunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.chunks import Chunk
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.chunked_targets import ChunkedTargets
from labelcover.learners.least_squares.feature_maps import Kernel
from labelcover.learners.least_squares.feature_rows import (
    FeatureRows,
    TableRows,
    TargetSums,
    combined_gram,
    value_sums,
)
from labelcover.learners.linear_targets import TargetRows


@dataclass(frozen=True)
class KernelValues:
    """The kernel values of the rows of a table with landmarks."""

    kernel: Kernel
    landmarks: Any

    def __call__(self, X: Any) -> NDArray[np.float64]:
        """Return the values, a column per landmark."""
        return self.kernel(X, self.landmarks)


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
        gram = combined_gram(self.gram, combine)
        return RowSums(gram, self.sums @ combine, self.by_target @ combine)


class ChunkedRows(FeatureRows):
    """The features of rows in chunks: of the table itself, or of a Nyström approximation.

    All sums are made in one pass, for all targets.

    Parameters
    ----------
    table : ChunkedTable
    targets : ChunkedTargets
        All targets; those of which sums are wanted later are some of them.
    values : callable, optional
        The kernel values of a table; by default the table itself.
    combine : ndarray of shape (n_landmarks, n_landmarks), optional
        What the values are multiplied by.
    """

    _by_target: NDArray[np.float64]

    def __init__(
        self,
        table: ChunkedTable,
        targets: ChunkedTargets,
        values: KernelValues | None = None,
        combine: NDArray[np.float64] | None = None,
    ) -> None:
        self.table, self.targets, self.values, self.combine = table, targets, values, combine

    def __len__(self) -> int:
        return self.table.shape[0]

    def gram(
        self, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both sums; those by target are kept. Chunks have weights of their own."""
        found = self.table.reduce(partial(_sums_of_chunk, self.values, self.targets.holds_of))
        found = found.combined(self.combine)
        self._by_target = found.by_target
        return found.gram, found.sums

    def sums(self, targets: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sums by target."""
        return self._by_target[targets.numbers]

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows."""
        table = self.table[rows]
        if self.values is not None and self.combine is not None:
            return self.values(table) @ self.combine
        return table.toarray() if sparse.issparse(table) else table


def _sums_of_chunk(
    values: KernelValues | None,
    holds_of: Callable[[NDArray[np.uint8]], Any],
    table: Any,
    chunk: Chunk,
) -> RowSums:
    return row_sums(table, holds_of(chunk.Y), chunk.weights, values)


def row_sums(
    table: Any,
    held: TargetRows,
    weights: NDArray[np.float64] | None,
    values: KernelValues | None,
) -> RowSums:
    """Return the sums over the rows of a table, or of their kernel values.

    Parameters
    ----------
    table : ndarray or CSR matrix
    held : TargetRows
        Which of its rows each target holds.
    weights : ndarray or None
    values : KernelValues or None
    """
    sums = TargetSums(held, weights)
    if values is None:
        gram, total = TableRows(table).gram(weights)
        sums.add(table, slice(0, table.shape[0]))
        return RowSums(gram, total, sums.total())
    gram, total = value_sums(
        lambda block: values(table[block]),
        table.shape[0],
        values.landmarks.shape[0],
        weights,
        sums,
    )
    return RowSums(gram, total, sums.total())
