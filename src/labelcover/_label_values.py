"""Label tables: their two values as zeros and ones; probabilities; equal rows."""

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import canonical_rows, unmasked

ZERO_ONE = np.array([0, 1])
HINT = "Sets of label names become such a table by sklearn.preprocessing.MultiLabelBinarizer."
# Sums and means of probabilities may be so far beyond 0 and 1 by rounding.
ROUNDING = 1e-9


def as_table(table: Any, name: str = "Y") -> Any:
    """Return an array, list or data frame as an array, or a sparse table as it is.

    One without two dimensions, or without rows or columns, is refused.
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


def label_pair(*tables: Any) -> NDArray:
    """Return the two values of label tables, sorted: the second one means "has the label".

    Two whole numbers or two strings, the same pair for all tables. It is 0 and 1 where nothing
    else is found, also where the tables hold one value only, or more than two: `as_booleans` then
    refuses what is neither 0 nor 1. The zeros of a sparse table are values of it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import label_pair
    >>> label_pair(np.array([[-1, 1], [1, 1]]))
    array([-1,  1])
    >>> label_pair(np.array([["no", "yes"]])).tolist()
    ['no', 'yes']
    >>> label_pair(np.array([[1, 1]])), label_pair(np.array([[1, 2], [3, 1]]))
    (array([0, 1]), array([0, 1]))
    """
    if all(_holds_zero_one(table) for table in tables):
        return ZERO_ONE
    try:
        values = np.unique(np.concatenate([_values(table) for table in tables]))
    except TypeError:  # Values of several types are not sorted.
        return ZERO_ONE
    if values.dtype.kind in "OT" and len(values) == 2:
        values = np.array(values.tolist())
    if values.shape != (2,) or values.dtype.kind not in "iufU" or is_zero_one(values):
        return ZERO_ONE
    if values.dtype.kind == "f" and not (np.isfinite(values) & (values % 1 == 0)).all():
        return ZERO_ONE
    # The zeros of a sparse table are cells without the label, never with it.
    of_sparse = any(sparse.issparse(table) for table in tables)
    return ZERO_ONE if of_sparse and values[1] == 0 else values


def _holds_zero_one(table: Any) -> bool:
    """Tell whether a table of numbers holds only 0 and 1."""
    values = table.data if sparse.issparse(table) else table
    kind = values.dtype.kind
    return kind == "b" or (kind in "iuf" and bool(((values == 0) | (values == 1)).all()))


def _values(table: Any) -> NDArray:
    """Return the values that occur in a table, each once."""
    if not sparse.issparse(table):
        return np.unique(table)
    rows = canonical_rows(table)
    is_full = rows.nnz == rows.shape[0] * rows.shape[1]
    return np.unique(rows.data if is_full else np.append(rows.data, rows.dtype.type(0)))


def as_booleans(values: Any, name: str = "Y", pair: NDArray = ZERO_ONE) -> NDArray[np.bool_]:
    """Return zeros and ones as booleans; an array of booleans is returned as it is.

    Parameters
    ----------
    values : ndarray or sparse array
        Booleans or the numbers 0 and 1, of any dtype; or the values of `pair`. Another value is
        refused, and named.
    name : str
        What the table is called in errors.
    pair : ndarray of shape (2,)
        The values for False and True, as from `label_pair`.
    """
    if sparse.issparse(values):
        values = values.toarray()
    if values.dtype.kind == "b" and is_zero_one(pair):
        return values
    if values.dtype.kind in "iuf" or not is_zero_one(pair):
        having = values == pair[1]
        odd = ~having & (values != pair[0])
    else:
        number, having = (numbers.Real, np.bool_), values
        odd = [not isinstance(each, number) or each not in (0, 1) for each in values.flat]
        odd = np.array(odd, dtype=bool).reshape(values.shape)
    if odd.any():
        hint = f" {HINT}" if is_zero_one(pair) else ""
        low, high = pair.tolist()
        raise ValueError(
            f"{name} must hold only {low!r} and {high!r}, got {values[odd].tolist()[0]!r}.{hint}"
        )
    return np.asarray(having, dtype=bool)


def unknown_cells(table: NDArray) -> NDArray[np.bool_] | None:
    """Return which cells of a label table are not known: NaN, None, pandas.NA; None if none is.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import unknown_cells
    >>> unknown_cells(np.array([[1.0, np.nan]])), unknown_cells(np.array([[1, 0]]))
    (array([[False,  True]]), None)
    """
    if table.dtype.kind == "f":
        unknown = np.isnan(table)
    elif table.dtype.kind == "O":
        marks = [cell is None or str(cell) in ("nan", "<NA>", "NaT") for cell in table.flat]
        unknown = np.array(marks, dtype=bool).reshape(table.shape)
    else:
        return None
    return unknown if unknown.any() else None


def split_unknown(Y: Any, name: str = "Y") -> tuple[Any, NDArray[np.bool_] | None]:
    """Return a label table with zeros for cells that are not known, and which cells are known.

    NaN, None, pandas.NA and nulls are not known; the first value of the pair of the known cells
    (`label_pair`), 0 in most tables, takes their place. Where every cell is known, which is
    everywhere in a sparse table, there is None, and the table is `as_table` of `Y`.

    Examples
    --------
    >>> from labelcover._label_values import split_unknown
    >>> split_unknown([[1, None], [0, 1]])
    (array([[1, 0],
           [0, 1]], dtype=object), array([[ True, False],
           [ True,  True]]))
    """
    table = as_table(Y, name)
    if sparse.issparse(table):
        if table.dtype.kind == "f" and np.isnan(table.tocsr().data).any():
            raise ValueError(
                f"{name} must not hold NaN where it is sparse: give a dense table, whose cells may "
                "be unknown (NaN or None)."
            )
        return table, None
    unknown = unknown_cells(table)
    if unknown is None:
        return table, None
    values = table[~unknown]
    pair = label_pair(values) if values.size else ZERO_ONE
    return np.where(unknown, pair[0], table), ~unknown


def drawn_by_frequency(Y: Any, known: NDArray[Any] | None, seed: int = 0) -> Any:
    """Return labels as zeros and ones, those that are not known drawn by their frequencies.

    For what looks for dependence on labels, such as encoders and covers: drawn ones depend on
    nothing. `known` is above 0 where a label is known; None if all are.
    """
    if known is None:
        return Y
    known = known > 0
    frequency = ((Y * known).sum(axis=0) + 0.5) / (known.sum(axis=0) + 1)
    drawn = np.random.default_rng(seed).random(Y.shape) < frequency
    return np.where(known, Y, drawn).astype(np.uint8)


def alike_rows(table: NDArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each row of a table of integers, equal rows being one, and first rows.

    Groups are numbered in the order of their first rows. Rows are compared byte by byte.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._label_values import alike_rows
    >>> alike_rows(np.array([[5, 1], [0, 3], [5, 1]]))
    (array([0, 1, 0]), array([0, 1]))
    """
    rows = np.ascontiguousarray(table)
    whole = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel()
    _, first, group = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return number[group], first[order]


def label_rows(Y: Any, name: str = "Y", pair: NDArray = ZERO_ONE) -> sparse.csr_array:
    """Return a label table as CSR with sorted labels and ones only; see `as_booleans`."""
    table = as_table(Y, name)
    if not sparse.issparse(table) or pair[0] != 0:
        return sparse.csr_array(as_booleans(table, name, pair).astype(np.uint8))
    rows = sparse.csr_array(canonical_rows(table))
    rows.data = as_booleans(rows.data, name, pair).astype(np.uint8)
    return rows


def is_zero_one(pair: NDArray) -> bool:
    """Tell whether the pair of values of a label table is 0 and 1."""
    return pair[0] == 0 and pair[1] == 1


def checked_probabilities(P: NDArray[np.float64], names: Any, by: Any) -> NDArray[np.float64]:
    """Return probabilities, all between 0 and 1.

    If one is NaN, or outside by more than rounding, no prediction is better than that: the error
    names its column by `names` and what gave it, `by`.
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
