"""Training rows that come in chunks: what is read of them, and what they do not go with."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import ZERO_ONE
from labelcover._table_numbers import check_weights, relative_weights
from labelcover.chunks import Chunk, RowChunks
from labelcover.ensemble._plan import SAMPLE_NUMBERS
from labelcover.ensemble._view import TrainingRows, drawn_seed
from labelcover.learners import EXACT_ROWS, ChunkedTable


def read_chunks(
    model: Any, learner: Any, chunks: RowChunks, sample_weight: Any, looked_at: Any, seed: int
) -> TrainingRows:
    """Return training rows in chunks for a model, on which what is known of columns is set.

    So few rows that nothing is approximated are read into memory. By `seed` those rows are drawn
    that are held in memory together.
    """
    if looked_at is not None or len(getattr(sample_weight, "shape", ())) == 2:
        raise ValueError("looked_at and weights of cells need rows in memory, not chunks.")
    if not (model._reads_chunks and learner.reads_chunks):
        raise ValueError(
            "estimator must be least squares, a LabelForest or a Pool for rows in chunks, got "
            f"{model._member()!r}, which needs the whole table in memory."
        )
    if model._tuning() == "cv":
        raise ValueError(
            'threshold must be "loo" or a number for rows in chunks, as rows are not split into '
            f"folds, got {model.threshold!r}."
        )
    Y = chunks.survey()
    weights = check_weights(sample_weight, len(Y))
    if weights is not None and not weights.all():
        raise ValueError(
            "sample_weight must be above 0 for rows in chunks, got 0: leave such rows out of them."
        )
    weights = relative_weights(weights)
    table, sample = ChunkedTable(chunks.weighted(weights)), None
    if len(Y) <= EXACT_ROWS:
        model._coding, X = learner.read_table(model, table[np.arange(len(Y))])
    else:
        model._coding, X = learner.read_chunks(model, table)
        sample = _sampled_rows(X, drawn_seed(drawn_seed(seed)))
    model._kept_rows = None
    if chunks.feature_names is not None:
        model.feature_names_in_ = np.array(chunks.feature_names, dtype=object)
    elif hasattr(model, "feature_names_in_"):  # of an earlier fit
        del model.feature_names_in_
    names = None if chunks.label_names is None else np.array(chunks.label_names, dtype=object)
    model._keep_labels(names, Y.shape[1], ZERO_ONE, is_sparse=False)
    return TrainingRows(X, Y, model._coding.n_values, weights, {}, sample=sample)


def _sampled_rows(X: ChunkedTable, seed: int) -> NDArray[np.int64]:
    """Return the rows that fit in memory together, ascending: all, or a sample."""
    n, d = X.shape
    width = X.reduce(_nonzeros_of_chunk) / n if X.is_sparse else d
    most = max(EXACT_ROWS, int(SAMPLE_NUMBERS / max(1.0, width)))
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _nonzeros_of_chunk(table: Any, chunk: Chunk) -> int:
    return int(table.count_nonzero() if sparse.issparse(table) else np.count_nonzero(table))
