"""The label table: what comes in as Y, and what goes out as a prediction."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target

from labelcover._imports import naming_extra
from labelcover._label_values import ZERO_ONE, as_booleans, label_rows, split_unknown
from labelcover._table_numbers import is_numeric, unmasked
from labelcover._tags import read_tags, tag_table
from labelcover.ensemble._plan import labels_are_many
from labelcover.metrics import subset_accuracy

NAMES = "feature_names_in_"
CONTAINERS = ("default", "pandas", "polars")


def label_table(Y: Any, pair: NDArray = ZERO_ONE) -> NDArray[np.uint8]:
    """Return an array or a sparse matrix as a dense table of zeros and ones; see `as_booleans`."""
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise ValueError(
            f"Y must be a table of zeros and ones of shape (n_samples, n_labels), got shape "
            f"{Y.shape}. Only binary classification is supported. The type of the target is "
            f"{type_of_target(Y)}. A single label is a table of one column: y.reshape(-1, 1)."
        )
    return as_booleans(Y, pair=pair).view(np.uint8)


def same_labels(
    Y: Any, predicted: Any, names: NDArray[np.object_], pair: NDArray, sample_weight: Any
) -> float:
    """Return the share of rows whose labels are all predicted right.

    `pair` has the values of both tables; tags become zeros and ones.
    """
    rows, guess = read_tags(Y, known=names.tolist()), label_rows(predicted, pair=pair)
    if rows is not None:
        truth, _ = tag_table(rows, names.tolist(), as_sparse=True)
        return subset_accuracy(truth, guess, sample_weight=sample_weight)
    given, known = split_unknown(Y)
    truth = label_rows(given, pair=pair)
    if known is not None:  # rows count by their known labels
        truth, guess = np.where(known, truth.toarray(), np.nan), guess.toarray()
    return subset_accuracy(truth, guess, sample_weight=sample_weight)


def named_labels(Y: Any) -> tuple[Any, NDArray[np.object_] | None]:
    """Return the labels as a table, and their names: of columns, or tags; None if they have none.

    Tags become a table of zeros and ones, a sparse one where there are very many; a table is
    returned as it is. The levels of names of a pandas MultiIndex are joined by " / ".

    Examples
    --------
    >>> from labelcover.ensemble._label_tables import named_labels
    >>> named_labels([["wind"], ["rain", "wind"]])
    (array([[0, 1],
           [1, 1]], dtype=uint8), array(['rain', 'wind'], dtype=object))
    """
    Y = unmasked(Y, "Y")
    rows = None if is_numeric(Y) else read_tags(Y)
    if rows is not None:
        table, names = tag_table(rows, as_sparse=True)
        return table if labels_are_many(table) else table.toarray(), np.array(names, dtype=object)
    columns = list(getattr(Y, "column_names", getattr(Y, "columns", ())))  # Arrow's, or others'
    if columns == list(range(len(columns))):  # none, or only numbered
        return Y, None
    found = [" / ".join(map(str, own)) if isinstance(own, tuple) else str(own) for own in columns]
    twice = next((name for j, name in enumerate(found) if name in found[:j]), None)
    if twice is not None:
        raise ValueError(f"Y must have columns of different names, got {twice!r} twice.")
    return Y, np.array(found, dtype=object)


def feature_words(model: Any, given: Any, X: Any = None) -> Any:
    """Return what names features: as given, by the table, by names of training, or by numbers."""
    coding = model._coding
    if given is None and hasattr(coding, "words"):
        given = coding.words(X)
    if callable(given):
        return given
    n = len(coding.categories)
    read = getattr(model, "reading_", model)  # of a file, which has names where X has none
    for owner, name in ((coding, "feature_names"), (read, "feature_names"), (model, NAMES)):
        given = getattr(owner, name, None) if given is None else given
    if given is None:
        return [f"feature {f}" for f in range(n)]
    if len(given) != n:
        raise ValueError(f"feature_names must name the {n} features, got {len(given)} names.")
    return [str(name) for name in given]


def numbered_labels(m: int) -> NDArray[np.object_]:
    """Return the names of `m` labels that have none: ``"label0"``, ``"label1"``, …."""
    return np.array([f"label{j}" for j in range(m)], dtype=object)


@naming_extra()
def labelled(table: NDArray, container: str, names: NDArray[np.object_], X: Any) -> Any:
    """Return a prediction as the `container` asked for: "default", "pandas" or "polars".

    A pandas frame takes the index of `X` where `X` is one too.
    """
    if container == "pandas":
        import pandas as pd

        index = X.index if hasattr(X, "iloc") else None
        return pd.DataFrame(table, columns=list(names), index=index)
    if container == "polars":
        import polars as pl

        return pl.DataFrame(table, schema=[str(name) for name in names])
    return table


def tags_of(predicted: Any, names: NDArray[np.object_], pair: NDArray) -> list[list[str]]:
    """Return the names of the labels of each row of a prediction, in the order of labels."""
    if not np.shape(predicted)[0]:
        return []
    table = label_rows(predicted, pair=pair)
    rows = np.split(table.indices, table.indptr[1:-1])
    return [names[row].tolist() for row in rows[: table.shape[0]]]
