"""Training rows that come in chunks: what is read of them, and what they do not go with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.chunks import Chunk, RowChunks, as_chunks
from labelcover.ensemble._plan import SAMPLE_NUMBERS
from labelcover.learners import EXACT_ROWS, ChunkedTable, check_weights, relative_weights


def chunked(X: Any, y: Any) -> RowChunks | None:
    """Return training rows in chunks, if they come so; None for a table in memory.

    Parameters
    ----------
    X : RowChunks, dask.array or dask.dataframe; or anything else
    y : None for `RowChunks`, which have labels; else a collection of Dask too
    """
    chunks = as_chunks(X, y)
    if isinstance(X, RowChunks) and y is not None:
        raise ValueError("y must be None where X is a table in chunks, which holds the labels.")
    return chunks


def check_chunked(learner: Any, tuning: str | None, owner: Any) -> None:
    """Raise a ``ValueError`` if an estimator cannot be fitted on rows in chunks."""
    if not getattr(learner, "reads_chunks", False):
        raise ValueError(
            "estimator must be least squares, a LabelForest or a Pool for rows in chunks, got "
            f"{owner._member()!r}, which needs the whole table in memory."
        )
    if tuning == "cv":
        raise ValueError(
            'threshold must be "loo" or a number for rows in chunks, as rows are not split into '
            f"folds, got {owner.threshold!r}."
        )


def read_chunks(
    chunks: RowChunks, sample_weight: Any
) -> tuple[Any, NDArray[np.uint8], NDArray[np.object_] | None, NDArray[np.float64] | None]:
    """Return the table, the labels and their names, and the weights of rows.

    So few rows that nothing is approximated are read into memory.
    """
    Y = chunks.survey()
    weights = check_weights(sample_weight, len(Y))
    if weights is not None and not weights.all():
        raise ValueError(
            "sample_weight must be above 0 for rows in chunks, got 0: leave such rows out of them."
        )
    weights = relative_weights(weights)
    table: Any = ChunkedTable(chunks.weighted(weights), chunks.shape[1])
    if len(Y) <= EXACT_ROWS:
        table = table[np.arange(len(Y))]
    names = chunks.label_names
    return table, Y, None if names is None else np.array(names, dtype=object), weights


def keep_names(owner: Any, names: list[str] | None) -> None:
    """Set the names of features on an estimator; without names, those of an earlier fit go."""
    if names is not None:
        owner.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(owner, "feature_names_in_"):
        del owner.feature_names_in_


def sampled_rows(X: Any, seed: int) -> NDArray[np.int64] | None:
    """Return the rows of a table in chunks that fit in memory together, ascending.

    All, or a sample; None for a table that is in memory.
    """
    if not isinstance(X, ChunkedTable):
        return None
    n, d = X.shape
    width = filled_cells(X) / n if X.is_sparse else d
    most = max(EXACT_ROWS, int(SAMPLE_NUMBERS / max(1.0, width)))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def filled_cells(X: ChunkedTable) -> int:
    """Return how many cells of a table are not 0."""
    return X.reduce(_filled_of_chunk)


def _filled_of_chunk(table: Any, chunk: Chunk) -> int:
    return int(table.count_nonzero() if sparse.issparse(table) else np.count_nonzero(table))
