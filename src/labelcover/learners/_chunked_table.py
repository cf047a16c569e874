"""The rows of a table in blocks: one where it is in memory, many where it is read in chunks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import iadd
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.chunks import Chunk, RowChunks

T = TypeVar("T")
Step = Callable[[Any], Any]


@dataclass(frozen=True)
class TableBlock:
    """A table in memory: one block.

    Attributes
    ----------
    table : ndarray or CSR matrix
    weights : ndarray of shape (n,), optional
    """

    table: Any
    weights: NDArray[np.float64] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.table.shape

    def mapped(self, step: Step) -> "TableBlock":
        """Return the table after a step that works row by row."""
        return replace(self, table=step(self.table))

    def keeping(self, rows: NDArray[np.int64]) -> "TableBlock":
        """Return the table itself: all rows are in memory."""
        return self

    def target_rule(self, targets: Any) -> Callable[[Any], Any]:
        """Return the rule of `LinearTargets` for the one block: it holds all rows."""
        return lambda labels: targets.held

    def __getitem__(self, rows: NDArray[np.int64]) -> Any:
        """Return some rows; the table itself for all of them in order."""
        every = len(rows) == self.shape[0] and np.array_equal(rows, np.arange(len(rows)))
        return self.table if every else self.table[rows]

    def reduce(self, function: Callable[[Any, Chunk], T], add: Any = None) -> T:
        """Return a function of the table and a chunk that has its weights and no labels."""
        no_labels = np.empty((self.shape[0], 0), dtype=np.uint8)
        return function(self.table, Chunk("table", self.table, no_labels, 0, self.weights))


@dataclass(frozen=True)
class ChunkedTable:
    """The features of rows in chunks, after some steps that work row by row.

    Attributes
    ----------
    chunks : RowChunks
    steps : tuple of callables
        What a table becomes, one after another; they can be pickled.
    kept : ndarray of int64
        Rows that are in memory, ascending.
    kept_rows : ndarray or CSR matrix
        Their features, after all steps. Until some rows are kept, no step changes the number of
        columns.
    """

    chunks: RowChunks
    steps: tuple[Step, ...] = ()
    kept: NDArray[np.int64] | None = None
    kept_rows: Any = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows = self.chunks if self.kept_rows is None else self.kept_rows
        return self.chunks.shape[0], rows.shape[1]

    @property
    def is_sparse(self) -> bool:
        """Whether chunks are sparse."""
        return self.chunks.is_sparse

    def mapped(self, step: Step) -> "ChunkedTable":
        """Return the table after one more step."""
        kept_rows = None if self.kept_rows is None else step(self.kept_rows)
        return replace(self, steps=(*self.steps, step), kept_rows=kept_rows)

    def keeping(self, rows: NDArray[np.int64]) -> "ChunkedTable":
        """Return the table with some rows in memory, read in one pass."""
        rows = np.unique(rows)
        return replace(self, kept=rows, kept_rows=self._gathered(rows))

    def target_rule(self, targets: Any) -> Callable[[Any], Any]:
        """Return the rule of `LinearTargets` for blocks of rows."""
        return targets.block_rule

    def __getitem__(self, rows: NDArray[np.int64]) -> Any:
        """Return some rows, from memory if all of them are there, else by a pass."""
        rows = np.asarray(rows)
        if self.kept is not None and len(self.kept):
            at = np.searchsorted(self.kept, rows).clip(max=len(self.kept) - 1)
            if (self.kept[at] == rows).all():
                return self.kept_rows[at]
        distinct, place = np.unique(rows, return_inverse=True)
        found = self._gathered(distinct)
        return found if np.array_equal(distinct, rows) else found[place.ravel()]

    def reduce(
        self, function: Callable[[Any, Chunk], T], add: Callable[[T, T], T] | None = None
    ) -> T:
        """Return the sum over all chunks of a function of their features and the chunk itself.

        Results need ``+`` unless `add` is given.
        """
        summed = partial(_after_steps, function, self.steps)
        return self.chunks.reduce(summed, iadd if add is None else add)

    def _gathered(self, rows: NDArray[np.int64]) -> Any:
        """Return some rows, which ascend, by a pass."""
        parts = self.reduce(partial(_rows_of_chunk, rows))
        if sparse.issparse(parts[0]):
            return sparse.vstack(parts, format="csr")
        return np.concatenate(parts)


Blocks = TableBlock | ChunkedTable


def as_blocks(X: Any, weights: NDArray[np.float64] | None) -> Blocks:
    """Return a table as blocks of rows; rows in chunks have their weights already."""
    return X if isinstance(X, ChunkedTable) else TableBlock(X, weights)


def _after_steps(function: Callable[[Any, Chunk], T], steps: tuple[Step, ...], chunk: Chunk) -> T:
    table = chunk.X
    for step in steps:
        table = step(table)
    return function(table, chunk)


def _rows_of_chunk(rows: NDArray[np.int64], table: Any, chunk: Chunk) -> list[Any]:
    low, high = np.searchsorted(rows, [chunk.start, chunk.start + len(chunk.Y)])
    return [table[rows[low:high] - chunk.start]]
