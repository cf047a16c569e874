"""Label tables: the one check that they hold zeros and ones, or probabilities; equal rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import unmasked

# Entries of a table that are worked on at once.
BLOCK_ENTRIES = 2**20
HINT = "Sets of label names become such a table by sklearn.preprocessing.MultiLabelBinarizer."
# Sums and means of probabilities may be so far beyond 0 and 1 by rounding.
ROUNDING = 1e-9


def as_table(table: Any, name: str = "Y") -> Any:
    """Return an array, list or data frame as an array, or a sparse table as it is.

    Raises
    ------
    ValueError
        If it is not two-dimensional, or has no rows or no columns.
    """
    if not sparse.issparse(table):
        table = unmasked(table, name)
        try:
            table = np.asarray(table)
        except ValueError:
            raise ValueError(
                f"{name} must be a table, got rows of different lengths. {HINT}"
            ) from None
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(
            f"{name} must be a table of at least one row and one label, got shape {table.shape}."
        )
    return table


def as_booleans(values: Any, name: str = "Y") -> NDArray[np.bool_]:
    """Return zeros and ones as booleans; an array of booleans is returned as it is.

    Parameters
    ----------
    values : ndarray or sparse array
        Booleans or the numbers 0 and 1, of any dtype.
    name : str
        What the table is called in errors.

    Raises
    ------
    ValueError
        If there is another value, which is named.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import as_booleans
    >>> as_booleans(np.array([[0.0, 1.0]]))
    array([[False,  True]])
    """
    if sparse.issparse(values):
        values = values.toarray()
    if values.dtype.kind == "b":
        return values
    if values.dtype.kind in "iuf":
        odd = (values != 0) & (values != 1)
    else:
        odd = np.array([not _is_zero_or_one(value) for value in values.flat], dtype=bool)
        odd = odd.reshape(values.shape)
    if odd.any():
        raise ValueError(f"{name} must hold only 0 and 1, got {values[odd].tolist()[0]!r}. {HINT}")
    return values.astype(bool)


def alike_rows(table: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each row of a table of integers, equal rows being one, and first rows.

    Groups are numbered in the order of their first rows. Rows are compared by a sum of their
    entries with random factors, modulo 2⁶⁴, and those with the same sum entry by entry.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import alike_rows
    >>> alike_rows(np.array([[5, 1], [0, 3], [5, 1]]))
    (array([0, 1, 0]), array([0, 1]))
    """
    factors = np.random.default_rng(0).integers(2**64, size=table.shape[1], dtype=np.uint64)
    rows_at_once = BLOCK_ENTRIES // max(table.shape[1], 1) + 1
    keys = np.empty(len(table), dtype=np.uint64)
    for start in range(0, len(table), rows_at_once):
        block = slice(start, start + rows_at_once)
        keys[block] = table[block].astype(np.uint64) @ factors
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    repeats = np.flatnonzero(first[group] != np.arange(len(table)))
    for start in range(0, len(repeats), rows_at_once):
        some = repeats[start : start + rows_at_once]
        if not np.array_equal(table[some], table[first[group[some]]]):
            _, first, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
            break
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[group.ravel()], first[order]


def alike_labelsets(Y: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each row, rows with the same labels being one, and their first rows.

    As `alike_rows`, for zeros and ones: 64 labels are compared at a time.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        Zeros and ones.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import alike_labelsets
    >>> alike_labelsets(np.array([[0, 1], [1, 1], [0, 1]], dtype=np.uint8))
    (array([0, 1, 0]), array([0, 1]))
    """
    bits = np.packbits(Y, axis=1)
    words = np.zeros((len(bits), -(-bits.shape[1] // 8)), dtype=np.uint64)
    words.view(np.uint8)[:, : bits.shape[1]] = bits
    return alike_rows(words)


def label_rows(Y: Any, name: str = "Y") -> sparse.csr_array:
    """Return a label table as CSR with sorted labels and ones only.

    Parameters
    ----------
    Y : array-like, sparse array or data frame of shape (n, m)
        Booleans or the numbers 0 and 1.

    Raises
    ------
    ValueError
        If `Y` is not a table, has no rows or no labels, or holds anything else.
    """
    table = as_table(Y, name)
    if not sparse.issparse(table):
        return sparse.csr_array(as_booleans(table, name).astype(np.uint8))
    rows = sparse.csr_array(table, copy=True)
    rows.sum_duplicates()
    as_booleans(rows.data, name)
    rows.eliminate_zeros()
    return rows.astype(np.uint8)


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.bool_)) and value in (0, 1)


def checked_probabilities(P: NDArray[np.float64], names: Any, by: Any) -> NDArray[np.float64]:
    """Return probabilities, all between 0 and 1.

    Parameters
    ----------
    P : ndarray of shape (n, n_columns)
    names : sequence
        Of the labels or classes, which the columns are.
    by : object
        What gave them, for the error.

    Raises
    ------
    ValueError
        If one is NaN, or outside by more than rounding: no prediction is better than that.
    """
    if not P.size or (P.min() >= 0 and P.max() <= 1):
        return P
    if P.min() >= -ROUNDING and P.max() <= 1 + ROUNDING:
        return np.clip(P, 0.0, 1.0)
    row, column = np.argwhere(~((P >= -ROUNDING) & (P <= 1 + ROUNDING)))[0].tolist()
    name = names[column].item() if isinstance(names[column], np.generic) else names[column]
    raise ValueError(
        f"{by!r} gave {P[row, column]} as the probability of {name!r} in row {row}, which "
        "must lie between 0 and 1."
    )
