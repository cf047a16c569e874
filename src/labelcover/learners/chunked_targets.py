"""Targets of rows in chunks: made of the labels of each chunk when it is there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.linear_targets import (
    LinearTargets,
    TargetRows,
    combination_of,
    combination_of_some,
)

# Labels are counted in blocks of so many rows.
BLOCK_ROWS = 2**18


@dataclass(frozen=True)
class ChunkedTargets:
    """Like `LinearTargets`, but which rows a target holds is not kept for all rows at once.

    Attributes
    ----------
    holds_of : callable
        Returns the `TargetRows` of a table of labels: which of its rows all targets hold. It can
        be pickled.
    Y : ndarray of shape (n, n_labels)
        The labels of all training rows.
    combine, constant
        As in `LinearTargets`, of the targets `numbers`.
    numbers : ndarray
        Which of all targets these are.
    """

    holds_of: Callable[[NDArray[np.uint8]], TargetRows]
    Y: NDArray[np.uint8]
    combine: sparse.csr_array
    constant: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        total: Any = 0.0
        for start in range(0, len(self.Y), BLOCK_ROWS):
            block = slice(start, start + BLOCK_ROWS)
            total = total + self.holds_of(self.Y[block]).counts(weights[block])
        return total[self.numbers]

    @property
    def combination(self) -> tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]]:
        """What makes classes of targets: the parts of `combine`, and `constant`."""
        return combination_of(self.combine, self.constant)

    def of_some(self, classes: NDArray[np.int64]) -> ChunkedTargets:
        """Return the targets of some classes."""
        combine, used = combination_of_some(self.combine, classes)
        constant, numbers = self.constant[classes], self.numbers[used]
        return replace(self, combine=combine, constant=constant, numbers=numbers)

    def of_rows(self, rows: NDArray[np.int64]) -> LinearTargets:
        """Return the same targets of some rows, which fit in memory."""
        held = self.holds_of(self.Y[rows])
        holds = held.holds[self.numbers]
        return LinearTargets(holds, self.combine, self.constant, held.group)
