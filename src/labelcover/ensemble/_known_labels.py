"""Which labels of training rows, and of new ones, are known."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from labelcover._label_values import ZERO_ONE, as_table, split_unknown, unknown_cells
from labelcover._table_numbers import rows_of, weighted_rows
from labelcover._tags import read_tags, tag_table
from labelcover.ensemble._label_tables import named_labels, numbered_labels
from labelcover.ensemble._links import UNKNOWN

Names = NDArray[np.object_] | None


def known_rows(X: Any, y: Any, sample_weight: Any, looked_at: Any) -> tuple[Any, ...]:
    """Return the training rows of weight above 0, of which a label is known.

    Parameters are those of `LabelModel.fit`.

    Returns
    -------
    X : table
    y : ndarray, sparse matrix or data frame of shape (n, n_labels)
        Without gaps.
    names : ndarray of shape (n_labels,), or None
    weights : ndarray of shape (n,), or None
        Of rows, 1 in the mean; None if all are the same.
    cells : ndarray of shape (n, n_labels), or None
        By what the weights of rows are multiplied for each label, 0 where it is not known; None if
        all are known, and rows weigh the same in all labels.
    kept : ndarray of shape (n,), or None
        Which rows these are of those that were given; None for all.
    """
    given = np.asarray(sample_weight)  # what only can be made an array has no dimensions yet
    of_cells = given.astype(np.float64) if given.ndim == 2 else None
    if of_cells is not None:
        wrong = np.argwhere(~((of_cells >= 0) & np.isfinite(of_cells)))
        if len(wrong):
            i, j = wrong[0].tolist()
            raise ValueError(
                f"sample_weight must not be negative or missing, got {of_cells[i, j]} in row {i} "
                f"of label {j}."
            )
    of_rows = sample_weight if of_cells is None else row_weights(of_cells)
    X, y, weights, kept = weighted_rows(X, y, of_rows)
    if kept is not None:
        looked_at = None if looked_at is None else rows_of(looked_at, kept)
        of_cells = None if of_cells is None else of_cells[kept]
    y, names = named_labels(y)
    y, cells = known_cells(y, names, looked_at, of_cells)
    if cells is None:
        return X, y, names, weights, None, kept
    check_consistent_length(X, y)
    some = np.flatnonzero(cells.any(axis=1))
    if len(some) == len(cells):
        return X, y, names, weights, cells, kept
    if not len(some):
        raise ValueError("Y must have a known label in at least one row, got none.")
    without = f"Y has no known label in {len(cells) - len(some)} of {len(cells)} rows"
    warnings.warn(f"{without}, which are left out.", UserWarning, stacklevel=4)
    own = None if weights is None else weights[some]
    kept = some if kept is None else kept[some]
    return rows_of(X, some), y[some], names, own, cells[some], kept


def row_weights(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of rows from those of cells: the mean of the cells above 0."""
    return cells.sum(axis=1) / np.maximum((cells > 0).sum(axis=1), 1)


def known_cells(
    y: Any, names: Names, looked_at: Any, weights: NDArray[np.float64] | None
) -> tuple[Any, NDArray[np.float64] | None]:
    """Return the labels and cells of `known_rows`, from weights of cells, if there are any."""
    if looked_at is None and weights is None:
        # What has no gaps, or is no table, is checked with the rest of it.
        whole = isinstance(y, np.ndarray) and y.dtype.kind in "biuUc"
        if whole or (len(getattr(y, "shape", ())) != 2 and not isinstance(y, list)):
            return y, None
    y, known = split_unknown(y)
    if looked_at is not None:
        own = numbered_labels(y.shape[1]) if names is None else names
        is_frame = names is None and hasattr(looked_at, "columns")
        given = np.asarray(looked_at) if is_frame else looked_at
        looked: Any = known_labels(given, own, ZERO_ONE, y.shape[0], "looked_at")
        looked = looked == 1
        # Nobody has a label that was not looked at.
        has = y.toarray() if sparse.issparse(y) else y
        wrong: Any = np.argwhere((has == 1) & ~looked) if y.dtype.kind in "biuf" else []
        if len(wrong):
            i, j = wrong[0].tolist()
            raise ValueError(
                f"looked_at must hold the labels that rows have, but row {i} has the label "
                f"{str(j if names is None else names[j])!r}, which was not looked at."
            )
        known = looked if known is None else known & looked
    cells = None if known is None else known.astype(np.float64)
    if weights is not None:
        if weights.shape != y.shape:
            raise ValueError(
                f"sample_weight must have an entry for each row, or for each cell of Y, of shape "
                f"{y.shape}, got shape {weights.shape}."
            )
        share = weights / np.where(weights.any(axis=1), row_weights(weights), 1.0)[:, None]
        cells = share if cells is None else cells * share
    if cells is None or np.allclose(cells, 1, rtol=0, atol=1e-12):
        return y, None
    if sparse.issparse(y):
        raise ValueError("Y must be dense where cells are unknown or weighed, got a sparse matrix.")
    return np.array(y.tolist()) if y.dtype.kind == "O" else y, cells


def warned_of_unknown(
    Y: NDArray[np.uint8], cells: NDArray[np.float64], names: Any
) -> NDArray[np.uint8]:
    """Return labels that are known, else 0; warn of those never known (to be absent), by name."""
    known = cells > 0
    for which, what in (
        (~known.any(axis=0), "no known cell: they have the mean frequency of all labels"),
        (
            known.any(axis=0) & (Y | ~known).all(axis=0),
            "no cell known to be 0: they have their frequency in every row",
        ),
    ):
        if which.any():
            found = [str(name) for name in np.asarray(names)[which]]
            shown = ", ".join(found[:10]) + (", …" if len(found) > 10 else "")
            warnings.warn(f"Labels of Y with {what}: {shown}.", UserWarning, stacklevel=5)
    return Y * known


def known_labels(
    known: Any, names: NDArray[np.object_], pair: NDArray, n: int, called: str = "known"
) -> NDArray[np.int8] | None:
    """Return what is known of rows, ``(n, n_labels)``: 0, 1, and -1 for what is not known.

    Parameters
    ----------
    known : array-like, sparse matrix or data frame of shape (n, n_labels), or tags, or None
        Zeros, ones and NaN (or None). Columns of a data frame are found by their names, and labels
        without a column are not known; of a sparse matrix, what is stored is known. Tags, as lists
        or as a column of strings in which they are separated, are known ones, and all others are
        not known.
    names, pair : ndarray of shape (n_labels,) and (2,)
        Of the labels, and the values for 0 and 1 of `n` rows.
    called : str
        What the parameter is called in errors.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble._known_labels import known_labels
    >>> names, pair = np.array(["rain", "wind"], dtype=object), np.array([0, 1])
    >>> known_labels([["wind"], []], names, pair, 2)
    array([[-1,  1],
           [-1, -1]], dtype=int8)
    >>> known_labels([[0, np.nan], [1, 1]], names, pair, 2)
    array([[ 0, -1],
           [ 1,  1]], dtype=int8)
    """
    if known is None:
        return None
    places = {str(name): j for j, name in enumerate(names)}
    labels = f"labels of the model, such as {str(names[0])!r}"
    rows = read_tags(known, called, names.tolist(), may_be_empty=True)
    if rows is not None:
        if len(rows) != n:
            raise ValueError(f"{called} must have as many rows as X, {n}, got {len(rows)}.")
        for i, tags in enumerate(rows):
            if odd := [tag for tag in tags if tag not in places]:
                raise ValueError(f"{called} must hold {labels}, got {odd[0]!r} in row {i}.")
        return np.where(tag_table(rows, [str(name) for name in names])[0] == 1, 1, UNKNOWN).astype(
            np.int8
        )
    columns = np.arange(len(names))
    heads = list(getattr(known, "columns", columns))
    is_named = heads != columns.tolist()
    if is_named:
        heads = list(map(str, heads))
        for k, name in enumerate(heads):
            if name not in places:
                raise ValueError(f"{called} must have columns that are {labels}, got {name!r}.")
            if name in heads[:k]:
                raise ValueError(
                    f"{called} must have columns of different names, got {name!r} twice."
                )
        columns = np.array([places[name] for name in heads], dtype=np.int64)
    if sparse.issparse(known):
        given: Any = sparse.coo_array(known)
    else:
        given = np.asarray(known, dtype=object) if is_named else as_table(known, called)
    if tuple(given.shape) != (n, len(columns)):
        raise ValueError(
            f"{called} must be a table with a row for each of the {n} rows of X and a column for "
            f"each of the {len(columns)} labels, or tags, got shape {tuple(given.shape)}."
        )
    if sparse.issparse(given):
        row, at, values = given.row, given.col, given.data
    else:
        unknown = unknown_cells(given)
        row, at = np.nonzero(np.ones(given.shape, dtype=bool) if unknown is None else ~unknown)
        values = given[row, at]
    ones = np.asarray(values == pair[1], dtype=bool)
    wrong = np.flatnonzero(~(ones | np.asarray(values == pair[0], dtype=bool)))
    if len(wrong):
        low, high = pair.tolist()
        i, j = int(row[wrong[0]]), int(columns[at[wrong[0]]])
        value = np.asarray(values, dtype=object)[wrong[0]]
        raise ValueError(
            f"{called} must hold {low!r}, {high!r} and NaN where a label is not known, got "
            f"{value!r} in row {i} of label {str(names[j])!r}."
        )
    found = np.full((n, len(names)), UNKNOWN, np.int8)
    found[row, columns[at]] = ones
    return found
