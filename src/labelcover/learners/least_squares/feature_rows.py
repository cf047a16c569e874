"""The rows of features that a primal ridge system is made of: a table, or kernel values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.least_squares.feature_scaling import rows_times

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
    def sums(self, holds: sparse.csr_array) -> NDArray[np.float64]:
        """Return the sums of the rows that each target holds, ``(n_targets, n_features)``."""

    @abstractmethod
    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the features of some rows, dense."""


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
        weighted = self.table if weights is None else rows_times(self.table, weights)
        gram = self.table.T @ weighted
        gram = gram.toarray() if sparse.issparse(gram) else gram
        return gram, np.asarray(weighted.sum(axis=0), dtype=np.float64).ravel()

    def sums(self, holds: sparse.csr_array) -> NDArray[np.float64]:
        """Return the sums by target."""
        return sums_of_rows(holds, self.table)

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows."""
        found = self.table[rows]
        return found.toarray() if sparse.issparse(found) else found


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
        width = len(self.combine)
        gram, sums = np.zeros((width, width)), np.zeros(width)
        for block in self._blocks():
            values = self.values(block)
            weighted = values if weights is None else values * weights[block, None]
            gram += values.T @ weighted
            sums += weighted.sum(axis=0)
        return self.combine.T @ gram @ self.combine, sums @ self.combine

    def sums(self, holds: sparse.csr_array) -> NDArray[np.float64]:
        """Return the sums by target."""
        by_row = holds.tocsc()
        sums = np.zeros((holds.shape[0], len(self.combine)))
        for block in self._blocks():
            sums += sums_of_rows(by_row[:, block], self.values(block))
        return sums @ self.combine

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows."""
        return self.values(rows) @ self.combine

    def _blocks(self) -> Iterator[slice]:
        step = max(1, BLOCK_NUMBERS // len(self.combine))
        for start in range(0, self.n, step):
            yield slice(start, min(start + step, self.n))


def sums_of_rows(holds: Any, rows: Any) -> NDArray[np.float64]:
    """Return for each target the sum of the rows that it holds."""
    if sparse.issparse(rows):
        return (holds @ rows).toarray()
    if holds.nnz > MOST_SPARSE * holds.shape[0] * holds.shape[1]:
        return holds.toarray() @ rows
    return np.asarray(holds @ rows)
