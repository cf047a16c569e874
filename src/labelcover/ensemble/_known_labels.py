"""Which labels of rows are known: read beforehand, and what they say of the others."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils.validation import check_consistent_length

from labelcover._label_values import (
    ZERO_ONE,
    as_table,
    split_unknown,
    unknown_cells,
)
from labelcover._table_numbers import rows_of, weighted_rows
from labelcover._tags import read_tags
from labelcover.covers import Cover, linked_labels
from labelcover.ensemble._label_tables import named_labels, numbered_labels
from labelcover.ensemble._links import LINK_PENALTY, TINY, UNKNOWN, least_loss

Names = NDArray[np.object_] | None


class KnownRows(NamedTuple):
    """Training rows of weight above 0, of which a label is known.

    Attributes
    ----------
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

    X: Any
    y: Any
    names: Names
    weights: NDArray[np.float64] | None
    cells: NDArray[np.float64] | None
    kept: NDArray[np.int64] | None


def known_rows(X: Any, y: Any, sample_weight: Any, looked_at: Any) -> KnownRows:
    """Return the rows to fit on; parameters are those of `LabelModel.fit`."""
    of_cells = _table_of_weights(sample_weight)
    of_rows = sample_weight if of_cells is None else row_weights(of_cells)
    X, y, weights, kept = weighted_rows(X, y, of_rows)
    if kept is not None:
        looked_at = None if looked_at is None else rows_of(looked_at, kept)
        of_cells = None if of_cells is None else of_cells[kept]
    y, names = named_labels(y)
    y, cells = known_cells(y, names, looked_at, of_cells)
    if cells is None:
        return KnownRows(X, y, names, weights, None, kept)
    check_consistent_length(X, y)
    some = np.flatnonzero(cells.any(axis=1))
    if len(some) == len(cells):
        return KnownRows(X, y, names, weights, cells, kept)
    if not len(some):
        raise ValueError("Y must have a known label in at least one row, got none.")
    without = f"Y has no known label in {len(cells) - len(some)} of {len(cells)} rows"
    warnings.warn(f"{without}, which are left out.", UserWarning, stacklevel=4)
    own = None if weights is None else weights[some]
    kept = some if kept is None else kept[some]
    return KnownRows(rows_of(X, some), y[some], names, own, cells[some], kept)


def row_weights(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights of rows from those of cells: the mean of the cells above 0."""
    return cells.sum(axis=1) / np.maximum((cells > 0).sum(axis=1), 1)


def known_cells(
    y: Any, names: Names, looked_at: Any, weights: NDArray[np.float64] | None
) -> tuple[Any, NDArray[np.float64] | None]:
    """Return a label table without gaps, and by what the weights of its rows are multiplied.

    Parameters
    ----------
    y : array-like, sparse matrix or data frame of shape (n, n_labels)
        NaN, None and the like where a label is not known.
    names : ndarray of shape (n_labels,), optional
        Of the labels.
    looked_at : array-like or data frame of shape (n, n_labels), lists of names, or None
        Which labels of each row are known.
    weights : ndarray of shape (n, n_labels), or None
        Of cells.

    Returns
    -------
    y : ndarray or sparse matrix
    cells : ndarray of shape (n, n_labels), or None
        0 where a label is not known; None if all are, and rows weigh the same in all labels.
    """
    if looked_at is None and weights is None and _is_whole(y):
        return y, None
    y, known = split_unknown(y)
    if looked_at is not None:
        own = numbered_labels(y.shape[1]) if names is None else names
        is_frame = names is None and hasattr(looked_at, "columns")
        given = np.asarray(looked_at) if is_frame else looked_at
        looked: Any = known_labels(given, own, ZERO_ONE, y.shape[0], "looked_at")
        looked = looked == 1
        _check_tags(y, looked, names)
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
    if y.dtype.kind == "O":
        y = np.array(y.tolist())
    return y, cells


def _is_whole(y: Any) -> bool:
    """Tell whether a label table has no gaps, or is none, where that is seen at a glance."""
    if sparse.issparse(y):
        return y.dtype.kind != "f" or not np.isnan(y.tocsr().data).any()
    if isinstance(y, np.ndarray) and y.dtype.kind in "biuUc":
        return True
    return len(getattr(y, "shape", ())) != 2 and not isinstance(y, list)


def _table_of_weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Return weights of cells; None if they are of rows, or there are none."""
    given = np.asarray(sample_weight)
    if given.ndim != 2:
        return None
    weights = given.astype(np.float64)
    wrong = np.argwhere(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"sample_weight must not be negative or missing, got {weights[i, j]} in row {i} of "
            f"label {j}."
        )
    return weights


def _check_tags(y: Any, looked: NDArray[np.bool_], names: Names) -> None:
    """Raise a ``ValueError`` if a row has a label that nobody looked at."""
    if y.dtype.kind not in "biuf":
        return
    has = y.toarray() if sparse.issparse(y) else y
    wrong = np.argwhere((has == 1) & ~looked)
    if len(wrong):
        i, j = wrong[0].tolist()
        raise ValueError(
            f"looked_at must hold the labels that rows have, but row {i} has the label "
            f"{str(j if names is None else names[j])!r}, which was not looked at."
        )


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
    names : ndarray of shape (n_labels,)
    pair : ndarray of shape (2,)
        The values for 0 and 1.
    n : int
        How many rows there are.
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
    rows = read_tags(known, called, names.tolist(), may_be_empty=True)
    if rows is not None:
        if len(rows) != n:
            raise ValueError(f"{called} must have as many rows as X, {n}, got {len(rows)}.")
        return _cells_of_tags(rows, names.tolist(), called)
    named = _columns(known, names, called)
    columns = np.arange(len(names)) if named is None else named
    if sparse.issparse(known):
        given: Any = sparse.coo_array(known)
    else:
        given = as_table(known, called) if named is None else np.asarray(known, dtype=object)
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
    found = np.full((n, len(names)), UNKNOWN, np.int8)
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
    found[row, columns[at]] = ones
    return found


def _columns(known: Any, names: NDArray[np.object_], called: str) -> NDArray[np.int64] | None:
    """Return which labels the columns of a data frame are; None if they are not named."""
    columns = getattr(known, "columns", None)
    if columns is None or list(columns) == list(range(len(names))):
        return None
    at = {str(name): j for j, name in enumerate(names)}
    given = [str(name) for name in columns]
    for k, name in enumerate(given):
        if name not in at:
            raise ValueError(
                f"{called} must have columns that are labels of the model, such as "
                f"{str(names[0])!r}, got {name!r}."
            )
        if name in given[:k]:
            raise ValueError(f"{called} must have columns of different names, got {name!r} twice.")
    return np.array([at[name] for name in given], dtype=np.int64)


def _cells_of_tags(rows: list[list[str]], names: list[str], called: str) -> NDArray[np.int8]:
    """Return a table with 1 for the tags of each row, -1 elsewhere."""
    at = {str(name): j for j, name in enumerate(names)}
    found = np.full((len(rows), len(names)), UNKNOWN, np.int8)
    for i, tags in enumerate(rows):
        for tag in tags:
            if tag not in at:
                raise ValueError(
                    f"{called} must hold labels of the model, such as {str(names[0])!r}, got "
                    f"{tag!r} in row {i}."
                )
            found[i, at[tag]] = 1
    return found


def effects_of_labels(model: Any) -> NDArray[np.float64] | None:
    """Return what setting a label adds to the log-odds of each, ``(n_labels, n_labels)``.

    In a row of which nothing is known but the frequencies of labels: row ``k`` is for label ``k``
    set. None for a model without links.
    """
    links = getattr(model.view_, "links", None)
    if links is None:
        return None
    m = len(model.label_names_in_)
    P = np.tile(expit(model.view_.pool.base), (m, 1))
    found = links.log_odds(P, (2 * np.eye(m) - 1).astype(np.int8)) - links.log_odds(P)
    np.fill_diagonal(found, 0.0)
    return found


def given_others(
    Y: NDArray[np.uint8],
    P: NDArray[np.float64],
    cover: Cover | None = None,
    known: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], sparse.csr_array]:
    """Return the log-odds of every cell of a label table given all other labels of its row.

    And the links by which they are: a regression of each label with a constant, from which each row
    is left out (approximate leave-one-out, Rad and Maleki, 2020). The labelsets that occur say
    nothing here: a wrong label makes one that did not occur before.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models fitted without the row, inside (0, 1).
    cover : Cover, optional
        Two labels are linked if a labelset holds both; by default all are.
    known : ndarray of bool of shape (n, n_labels), optional
        Which labels are known: others say nothing of their rows.
    """
    m = Y.shape[1]
    together = sparse.csr_array(1.0 - np.eye(m)) if cover is None else linked_labels(cover)
    looked = np.ones(Y.shape, dtype=bool) if known is None else known
    given, surprise = logit(np.clip(P, TINY, 1 - TINY)), np.where(looked, Y - P, 0.0)
    values = np.zeros(together.nnz)
    for j in range(m):
        at = slice(together.indptr[j], together.indptr[j + 1])
        inputs = np.vstack([surprise[:, together.indices[at]].T, np.ones(len(Y))])
        penalty = np.full(len(inputs), LINK_PENALTY)
        weights = looked[:, j].astype(np.float64)
        theta = least_loss(inputs, given[:, j], Y[:, j], weights, penalty)
        odds = given[:, j] + theta @ inputs
        p = expit(odds)
        curve = (inputs * (weights * p * (1 - p))) @ inputs.T + np.diag(penalty)
        leverage = (inputs * np.linalg.solve(curve, inputs)).sum(axis=0)
        # Without the row, the fit would be further from it.
        leverage /= np.maximum(1 - p * (1 - p) * leverage, 1e-6)
        given[:, j], values[at] = odds - weights * leverage * (Y[:, j] - p), theta[:-1]
    return given, sparse.csr_array((values, together.indices, together.indptr), together.shape)
