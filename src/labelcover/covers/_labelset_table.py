"""Labelsets as one table of integers, whatever their sizes.

A row holds the labels of a labelset in ascending order. Where labelsets differ in size, shorter
rows are filled up with −1 at the end; a table of labelsets of one size holds no −1.
"""

from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets

Labelsets = ArrayLike | Sequence[ArrayLike]
#: What fills up a row that is shorter than the longest.
NO_LABEL = -1
# Rows of a table whose r-labelsets are worked on at once.
BLOCK = 1 << 12


def labelset_table(labelsets: Labelsets, n_labels: int) -> NDArray[np.int32]:
    """Return labelsets of any sizes as a table, after checking them."""
    try:
        rows = np.asarray(labelsets)
    except ValueError:  # NumPy's answer to rows of different lengths
        rows = None
    if rows is None or (rows.dtype == object and rows.ndim == 1 and len(rows)):
        rows = _filled_up(labelsets, n_labels)
    else:
        _check_values(rows, n_labels)
    result = sorted_rows(rows.astype(np.int32))
    same = np.diff(result, axis=1) == 0
    repeated = (same & (result[:, 1:] >= 0)).any(axis=1) if same.any() else np.array([False])
    if repeated.any():
        i = int(np.argmax(repeated))
        raise ValueError(
            "labelsets must not repeat a label in a row, got "
            f"{rows[i][rows[i] >= 0].tolist()} in row {i}."
        )
    return np.ascontiguousarray(result)


def sorted_rows(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the rows in ascending order, free places at the end."""
    # As an unsigned number −1 is the greatest.
    return np.sort(table.view(np.uint32), axis=1).view(np.int32)


def labelset_rows(table: NDArray[np.integer]) -> Any:
    """Return a table as `Cover` takes it: itself, or a list of rows that differ in length."""
    if (table[:, -1:] >= 0).all():
        return table
    return [labels[labels >= 0] for labels in table]


def label_matrix(table: NDArray[np.integer], n_labels: int) -> NDArray[np.bool_]:
    """Return which labels each row of a table holds, ``(size, n_labels)``.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.covers._labelset_table import label_matrix
    >>> label_matrix(np.array([[0, 1], [2, -1]]), 3).astype(int)
    array([[1, 1, 0],
           [0, 0, 1]])
    """
    # The index −1 is the last column: one more takes the free places, if there are any.
    more = int((table[:, -1:] < 0).any())
    holds = np.zeros((len(table), n_labels + more), dtype=bool)
    np.put_along_axis(holds, table.astype(np.intp), True, axis=1)
    return np.ascontiguousarray(holds[:, :n_labels])


def marked(table: NDArray[np.int32], r: int, covered: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Set ``covered[rank]`` for every r-labelset that lies in some row of a table; return it."""
    for begin in range(0, len(table), BLOCK):
        covered[labelset_ranks(table[begin : begin + BLOCK], r)] = True
    return covered


def rows_of_ranks(table: NDArray[np.int32], r: int) -> NDArray[np.int64]:
    """Return the row that each of ``labelset_ranks(table, r)`` comes from."""
    lengths = np.count_nonzero(table >= 0, axis=1)
    subsets = np.array([comb(length, r) for length in range(table.shape[1] + 1)])
    return np.repeat(np.arange(len(table)), subsets[lengths])


def times_covered(rows: NDArray[np.int32], n_labels: int, r: int) -> NDArray[np.int32]:
    """Return by rank how many rows hold each r-labelset; labels are in any order, −1 is none."""
    counts = np.bincount(labelset_ranks(sorted_rows(rows), r), minlength=comb(n_labels, r))
    return counts.astype(np.int32)


def labelsets_in_order(n_labels: int, k: int, begin: int, end: int) -> NDArray[np.int32]:
    """Return the k-labelsets number `begin` to ``end − 1`` in lexicographic order.

    With labels counted from the last one, this is the order of falling ranks.
    """
    ranks = comb(n_labels, k) - 1 - np.arange(begin, end)
    backwards = unrank_labelsets(ranks, n_labels, k)[:, ::-1]
    return np.ascontiguousarray(n_labels - 1 - backwards, dtype=np.int32)


def _filled_up(labelsets, n_labels: int) -> NDArray[np.int64]:
    """Return rows of different lengths, their labels checked, filled up to the longest."""
    rows = []
    for i, labels in enumerate(labelsets):
        try:
            row = np.asarray(labels)
        except ValueError:
            row = np.empty((0, 0))
        if row.ndim != 1 or len(row) == 0:
            raise ValueError(
                f"labelsets must hold a list of at least one label in every row, got {labels!r} "
                f"in row {i}."
            )
        _check_values(row[None], n_labels, first=i)
        rows.append(row)
    sizes = np.array([len(row) for row in rows])
    table = np.full((len(rows), sizes.max()), NO_LABEL, dtype=np.int64)
    table[np.arange(table.shape[1]) < sizes[:, None]] = np.concatenate(rows)
    return table


def _check_values(rows: NDArray, n_labels: int, first: int = 0) -> None:
    """Raise a ``ValueError`` if a rectangular table, whose first row is `first`, is not right."""
    if rows.ndim != 2 or rows.shape[0] == 0 or rows.shape[1] == 0:
        raise ValueError(
            f"labelsets must be a table of at least one row and one label, got shape {rows.shape}."
        )
    if rows.dtype.kind not in "iu":
        raise ValueError(f"labelsets must hold integers, got dtype {rows.dtype}.")
    if rows.shape[1] > n_labels:
        raise ValueError(
            f"labelsets must have at most n_labels={n_labels} labels in a row, got {rows.shape[1]}."
        )
    outside = (rows < 0) | (rows >= n_labels)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise ValueError(
            f"labelsets must hold label indices between 0 and {n_labels - 1}, "
            f"got {rows[i, j]} in row {first + i}."
        )
