"""Labels of training rows that are not known, and weights of single cells."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from labelcover._label_values import as_booleans, as_table, label_pair, split_unknown
from labelcover._progress import each_warning_once
from labelcover._table_numbers import rows_of, weighted_rows
from labelcover._tags import read_tags
from labelcover.ensemble._known_labels import cells_of_tags
from labelcover.ensemble._label_tables import named_labels, numbered_labels
from labelcover.ensemble._plan import POOL

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
    X, y, weights, kept = weighted_rows(X, y, row_weights(sample_weight))
    if kept is not None:
        looked_at = None if looked_at is None else rows_of(looked_at, kept)
        sample_weight = np.asarray(sample_weight)[kept]
    y, names = named_labels(y)
    y, cells = known_cells(y, names, looked_at, sample_weight)
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


def row_weights(sample_weight: Any) -> Any:
    """Return weights of rows from those of cells, the mean of the cells above 0; else as given."""
    cells = _table_of_weights(sample_weight)
    if cells is None:
        return sample_weight
    return cells.sum(axis=1) / np.maximum((cells > 0).sum(axis=1), 1)


def known_cells(
    y: Any, names: Names, looked_at: Any, sample_weight: Any
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
    sample_weight : array-like of shape (n,) or (n, n_labels), or None

    Returns
    -------
    y : ndarray or sparse matrix
    cells : ndarray of shape (n, n_labels), or None
        0 where a label is not known; None if all are, and rows weigh the same in all labels.
    """
    weights = _table_of_weights(sample_weight)
    if looked_at is None and weights is None and _is_whole(y):
        return y, None
    y, known = split_unknown(y)
    if looked_at is not None:
        looked = _looked_at(looked_at, names, y.shape)
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


def _looked_at(looked_at: Any, names: Names, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which cells were looked at, from a table of zeros and ones or lists of names."""
    own = [f"label{j}" for j in range(shape[1])] if names is None else names.tolist()
    rows = read_tags(looked_at, "looked_at", own, may_be_empty=True)
    if rows is not None:
        found = cells_of_tags(rows, own, "looked_at must hold labels of Y") == 1
    else:
        columns = getattr(looked_at, "columns", None)
        if names is not None and columns is not None and set(map(str, columns)) == set(own):
            looked_at = looked_at[own]
        found = as_booleans(as_table(looked_at, "looked_at"), "looked_at")
    if found.shape != shape:
        raise ValueError(
            f"looked_at must have a row for each row of Y and a column for each label, {shape}, "
            f"got {found.shape}."
        )
    return found


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


def check_takes_unknown(estimator: Any, cells: NDArray[np.float64] | None) -> None:
    """Raise a ``ValueError`` if labels are unknown, and the estimator does not take that."""
    if cells is not None and not estimator._takes_unknown:
        raise ValueError(
            f"Y must have all labels known for {type(estimator).__name__}, got "
            f"{(cells == 0).sum()} of {cells.size} cells unknown, or weights of cells. "
            "LabelCoverClassifier, the methods of the paper and BinaryRelevanceClassifier take "
            "such tables."
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


def completed(estimator: Any, X: Any, y: Any, n_folds: int) -> tuple[NDArray, Any]:
    """Return labels with probabilities where they are not known, and their names.

    As `LabelCoverClassifier.complete`, of which the parameters are.
    """
    from labelcover.model_selection import StratifiedLabelKFold

    if estimator._learner().view != POOL:
        raise ValueError(
            'estimator must be "auto" or a Pool to fill in labels from the known ones of a row, '
            f"got {estimator.estimator!r}."
        )
    given, names = named_labels(y)
    table, known = split_unknown(given)
    found = as_booleans(table, pair=label_pair(table)).astype(np.float64)
    if known is not None:
        folds = StratifiedLabelKFold(n_folds, shuffle=True, random_state=estimator.random_state)
        with each_warning_once():
            for train, test in folds.split(np.empty(len(found)), np.where(known, found, np.nan)):
                some = train[known[train].any(axis=1)]  # others teach nothing, and would be told
                train = some if len(some) else train
                model = clone(estimator).fit(rows_of(X, train), rows_of(y, train))
                own = model.predict_proba(rows_of(X, test), known=rows_of(y, test))
                found[test] = np.where(known[test], found[test], np.asarray(own))
    return found, numbered_labels(found.shape[1]) if names is None else names
