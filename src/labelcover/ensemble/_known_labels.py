"""Labels of rows that are known: read beforehand, and what they say of the others."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from labelcover._label_values import as_table
from labelcover._tags import read_tags
from labelcover.covers import Cover, linked_labels
from labelcover.ensemble._links import LINK_PENALTY, TINY, UNKNOWN, least_loss


def known_labels(
    known: Any, names: NDArray[np.object_], pair: NDArray, n: int
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
    rows = read_tags(known, "known", names.tolist(), may_be_empty=True)
    if rows is not None:
        told = "known must hold labels of the model"
        return cells_of_tags(_as_long(rows, n), names.tolist(), told)
    if sparse.issparse(known):
        cells = sparse.coo_array(known)
        _check_shape(cells.shape, n, len(names))
        found = np.full(cells.shape, UNKNOWN, np.int8)
        found[cells.row, cells.col] = _values(cells.data, cells.row, cells.col, names, pair)
        return found
    columns = _columns(known, names)
    given = as_table(known, "known") if columns is None else np.asarray(known, dtype=object)
    _check_shape(given.shape, n, len(names) if columns is None else len(columns))
    missing = np.array([[_is_missing(cell) for cell in row] for row in given.astype(object)])
    places = np.nonzero(~missing.reshape(given.shape))
    columns = np.arange(len(names)) if columns is None else columns
    found = np.full((n, len(names)), UNKNOWN, np.int8)
    at = places[0], columns[places[1]]
    found[at] = _values(given[places], *at, names, pair)
    return found


def _columns(known: Any, names: NDArray[np.object_]) -> NDArray[np.int64] | None:
    """Return which labels the columns of a data frame are; None if they are not named."""
    columns = getattr(known, "columns", None)
    if columns is None or list(columns) == list(range(len(names))):
        return None
    at = {str(name): j for j, name in enumerate(names)}
    given = [str(name) for name in columns]
    for k, name in enumerate(given):
        if name not in at:
            raise ValueError(
                f"known must have columns that are labels of the model, such as "
                f"{str(names[0])!r}, got {name!r}."
            )
        if name in given[:k]:
            raise ValueError(f"known must have columns of different names, got {name!r} twice.")
    return np.array([at[name] for name in given], dtype=np.int64)


def cells_of_tags(rows: list[list[str]], names: list[str], must: str) -> NDArray[np.int8]:
    """Return a table with 1 for the tags of each row, -1 elsewhere; `must` begins the error."""
    at = {str(name): j for j, name in enumerate(names)}
    found = np.full((len(rows), len(names)), UNKNOWN, np.int8)
    for i, tags in enumerate(rows):
        for tag in tags:
            if tag not in at:
                raise ValueError(f"{must}, such as {str(names[0])!r}, got {tag!r} in row {i}.")
            found[i, at[tag]] = 1
    return found


def _as_long(rows: list[list[str]], n: int) -> list[list[str]]:
    if len(rows) != n:
        raise ValueError(f"known must have as many rows as X, {n}, got {len(rows)}.")
    return rows


def _check_shape(shape: tuple[int, ...], n: int, m: int) -> None:
    if tuple(shape) != (n, m):
        raise ValueError(
            f"known must be a table with a row for each of the {n} rows of X and a column for each "
            f"of the {m} labels, or tags, got shape {tuple(shape)}."
        )


def _values(
    given: NDArray, rows: NDArray, columns: NDArray, names: NDArray[np.object_], pair: NDArray
) -> NDArray[np.int8]:
    """Return cells as 0 and 1."""
    ones = np.asarray(given == pair[1], dtype=bool)
    wrong = np.flatnonzero(~(ones | np.asarray(given == pair[0], dtype=bool)))
    if len(wrong):
        low, high = pair.tolist()
        i, j = int(rows[wrong[0]]), int(columns[wrong[0]])
        value = np.asarray(given, dtype=object)[wrong[0]]
        raise ValueError(
            f"known must hold {low!r}, {high!r} and NaN where a label is not known, got {value!r} "
            f"in row {i} of label {str(names[j])!r}."
        )
    return ones.astype(np.int8)


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType")


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
