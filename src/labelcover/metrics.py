"""How good a prediction is: the measures of Section 5.2, those of rankings and of probabilities.

Measures of predictions take two tables of zeros and ones, ``f(Y, Y_pred)``, and weights of rows if
there are any, ``sample_weight=``; measures of rankings take a table of scores in the second place,
``f(Y, scores)``, and measures of probabilities one of numbers between 0 and 1, ``f(Y, P)``. Rows
are examples, columns labels.

Where nothing is there and nothing was predicted, nothing was done wrong: empty against empty
counts 1 in every F1 and accuracy, as it does in MULAN (scikit-learn's default is 0 with a warning).
An example without labels has nothing to be ranked first: measures of rankings within examples leave
it out, and are NaN if no example has labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelcover._arguments import check_integer
from labelcover._label_values import as_booleans, as_table, label_pair, label_rows
from labelcover._table_numbers import canonical_rows

__all__ = [
    "MEASURES",
    "Measure",
    "average_precision",
    "brier_score",
    "example_accuracy",
    "example_f1",
    "expected_calibration_error",
    "hamming_loss",
    "label_f1",
    "log_loss",
    "macro_f1",
    "micro_average_precision",
    "micro_f1",
    "micro_precision",
    "micro_recall",
    "one_error",
    "precision_at",
    "ranking_depth",
    "ranking_loss",
    "subset_accuracy",
]

ROUNDING = 1e-9


def micro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the F-measure over all cells of the table together (Section 5.2).

    Examples
    --------
    >>> from labelcover.metrics import micro_f1
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    hits, truth, guess = _overlap(Y, Y_pred)
    both = _counts(truth, guess, sample_weight)
    return float(_ratio(2 * _row_weighted(hits, sample_weight).sum(), both.sum()))


def macro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over labels of the F-measure of each label."""
    return float(label_f1(Y, Y_pred, sample_weight=sample_weight).mean())


def example_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over examples of the F-measure of each example."""
    hits, truth, guess = (table.sum(axis=1) for table in _overlap(Y, Y_pred))
    return _mean(_ratio(2 * hits, truth + guess), sample_weight)


def micro_precision(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of all predicted labels that are true; NaN if none is predicted."""
    hits, _, guess = _overlap(Y, Y_pred)
    return _share(_row_weighted(hits, sample_weight), _row_weighted(guess, sample_weight))


def micro_recall(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of all true labels that are predicted; NaN if none is true.

    Examples
    --------
    >>> from labelcover.metrics import micro_precision, micro_recall
    >>> Y, Y_pred = [[1, 0], [1, 1]], [[1, 0], [0, 1]]
    >>> micro_precision(Y, Y_pred), round(micro_recall(Y, Y_pred), 3)
    (1.0, 0.667)
    """
    hits, truth, _ = _overlap(Y, Y_pred)
    return _share(_row_weighted(hits, sample_weight), _row_weighted(truth, sample_weight))


def label_f1(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the F-measure of each label, ``(n_labels,)``."""
    hits, truth, guess = _overlap(Y, Y_pred)
    both = _counts(truth, guess, sample_weight)
    return _ratio(2 * _row_weighted(hits, sample_weight), both)


def hamming_loss(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of cells that are wrong (Section 5.2); less is better."""
    wrong, n_labels = _wrong(Y, Y_pred)
    return _mean(wrong / n_labels, sample_weight)


def subset_accuracy(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of examples whose labels are all predicted right (Section 5.2)."""
    wrong, _ = _wrong(Y, Y_pred)
    return _mean(wrong == 0, sample_weight)


def example_accuracy(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the mean over examples of |true ∩ predicted| / |true ∪ predicted| (Section 5.2).

    An example without labels for which none is predicted counts 1.

    Examples
    --------
    >>> from labelcover.metrics import example_accuracy
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    """
    hits, truth, guess = (table.sum(axis=1) for table in _overlap(Y, Y_pred))
    return _mean(_ratio(hits, truth + guess - hits), sample_weight)


def one_error(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the share of examples whose top-ranked label is not theirs; less is better.

    Where several labels share the top score, the share of them that is wrong counts.
    """
    truth, given = _ranked(Y, scores)
    top = given == given.max(axis=1, keepdims=True)
    return _row_mean(1 - (top & truth).sum(axis=1) / top.sum(axis=1))


def ranking_depth(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return how many steps down the ranking all labels of an example are found; less is better.

    The mean over examples of the worst rank of a true label, the best rank being 0 (Schapire and
    Singer, 2000, who call it coverage). This is scikit-learn's ``coverage_error``, whose ranks
    begin at 1, less one. Equal scores share the worse rank.
    """
    truth, given = _ranked(Y, scores)
    lowest = np.where(truth, given, np.inf).min(axis=1, keepdims=True)
    return _row_mean((given >= lowest).sum(axis=1) - 1)


def ranking_loss(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean share of (true, false) label pairs in the wrong order; less is better."""
    truth, given = _ranked(Y, scores)
    if not len(truth) or truth.shape[1] == 1:
        return _row_mean(np.zeros(len(truth)))  # a single label is in order
    from sklearn.metrics import label_ranking_loss  # slow to import

    return float(label_ranking_loss(truth, given))


def average_precision(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return, over all true labels, the mean share of true labels among those ranked as high.

    The mean is taken within an example first, then over examples. scikit-learn's
    ``label_ranking_average_precision_score`` is the same but for examples without labels, which it
    counts as 1.
    """
    truth, given = _ranked(Y, scores)
    if not len(truth) or truth.shape[1] == 1:
        return _row_mean(np.ones(len(truth)))  # a single label is in order
    from sklearn.metrics import label_ranking_average_precision_score  # slow to import

    return float(label_ranking_average_precision_score(truth, given))


def micro_average_precision(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision of all cells of the table in one ranking.

    This is scikit-learn's ``average_precision_score`` with ``average="micro"``. A table without
    labels counts 1.
    """
    truth, given = _tables(Y, scores, ranking=True)
    if not truth.any():
        return 1.0
    from sklearn.metrics import average_precision_score  # slow to import

    return float(average_precision_score(truth.ravel(), given.ravel()))


def precision_at(Y: ArrayLike, scores: ArrayLike, k: int) -> float:
    """Return the mean share of true labels among the `k` that are ranked highest in an example.

    Of equal scores, the label that comes first is ranked higher. Two sparse tables are not made
    dense.

    Examples
    --------
    >>> from labelcover.metrics import precision_at
    >>> precision_at([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.8], [0.2, 0.7, 0.4]], k=2)
    0.75
    """
    if sparse.issparse(Y) and sparse.issparse(scores):
        return _sparse_precision_at(Y, scores, k)
    truth, given = _tables(Y, scores, ranking=True)
    check_integer("k", k, low=1, high=truth.shape[1])
    top = np.argsort(-given, axis=1, kind="stable")[:, :k]
    return float(np.take_along_axis(truth, top, axis=1).mean())


def log_loss(Y: ArrayLike, P: ArrayLike) -> float:
    """Return the mean over all cells of −log of the probability of what is true; less is better.

    Probabilities are kept 10⁻¹⁵ away from 0 and 1, so that the loss is finite.

    Examples
    --------
    >>> from labelcover.metrics import log_loss
    >>> round(log_loss([[1, 0]], [[0.5, 0.5]]), 4)
    0.6931
    """
    truth, given = _probabilities(Y, P)
    inside = np.clip(given, 1e-15, 1 - 1e-15)
    return float(-np.where(truth, np.log(inside), np.log1p(-inside)).mean())


def brier_score(Y: ArrayLike, P: ArrayLike) -> float:
    """Return the mean over all cells of the squared error of the probability; less is better."""
    truth, given = _probabilities(Y, P)
    return float(((given - truth) ** 2).mean())


def expected_calibration_error(Y: ArrayLike, P: ArrayLike, bins: int = 10) -> float:
    """Return how far probabilities are from frequencies; less is better.

    All cells are grouped by their probability in `bins` intervals of equal width. The error of a
    group is the absolute difference between its mean probability and the share of its cells that
    are true; groups are weighted by their numbers of cells.

    Examples
    --------
    >>> from labelcover.metrics import expected_calibration_error
    >>> expected_calibration_error([[1, 0], [0, 0]], [[0.25, 0.25], [0.25, 0.25]])
    0.0
    """
    truth, given = _probabilities(Y, P)
    check_integer("bins", bins, low=1)
    group = np.minimum((given.ravel() * bins).astype(np.int64), bins - 1)
    error = np.bincount(group, given.ravel() - truth.ravel(), minlength=bins)
    return float(np.abs(error).sum() / given.size)


class Measure(NamedTuple):
    """A measure as tables and reports use it."""

    function: Callable[[ArrayLike, ArrayLike], float]
    title: str
    higher_is_better: bool
    kind: Literal["predictions", "rankings", "probabilities"]

    @property
    def of_predictions(self) -> bool:
        """Whether it takes zeros and ones; others take what ``predict_proba`` gives."""
        return self.kind == "predictions"

    @property
    def direction(self) -> str:
        """Which values are better, in a word."""
        return "higher" if self.higher_is_better else "lower"


MEASURES: dict[str, Measure] = {
    "micro_f1": Measure(micro_f1, "micro-F1", True, "predictions"),
    "macro_f1": Measure(macro_f1, "macro-F1", True, "predictions"),
    "example_f1": Measure(example_f1, "example-F1", True, "predictions"),
    "hamming_loss": Measure(hamming_loss, "Hamming loss", False, "predictions"),
    "subset_accuracy": Measure(subset_accuracy, "subset accuracy", True, "predictions"),
    "example_accuracy": Measure(example_accuracy, "accuracy", True, "predictions"),
    "one_error": Measure(one_error, "one-error", False, "rankings"),
    "ranking_depth": Measure(ranking_depth, "ranking depth", False, "rankings"),
    "ranking_loss": Measure(ranking_loss, "ranking loss", False, "rankings"),
    "average_precision": Measure(average_precision, "average precision", True, "rankings"),
    "micro_average_precision": Measure(
        micro_average_precision, "micro average precision", True, "rankings"
    ),
    "log_loss": Measure(log_loss, "log-loss", False, "probabilities"),
    "brier_score": Measure(brier_score, "Brier score", False, "probabilities"),
}


def _counts(truth, guess, weights):
    """For each label, how often it is true plus how often it is predicted."""
    return _row_weighted(truth, weights) + _row_weighted(guess, weights)


def _row_weighted(table, weights):
    """Return the sums of the columns, rows weighted."""
    return table.sum(axis=0) if weights is None else np.asarray(weights) @ table


def _mean(values, weights):
    return float(np.average(values, weights=weights))


def _ratio(part, whole):
    """`part` / `whole`, and 1 where `whole` is 0: empty against empty."""
    return np.where(whole == 0, 1.0, part / np.where(whole == 0, 1, whole))


def _share(part, whole):
    """Return the sum of `part` by that of `whole`, NaN if there is nothing."""
    return float(part.sum() / whole.sum()) if whole.sum() else float("nan")


def _row_mean(values):
    """Return the mean over examples; NaN, without a warning, if there are none."""
    return float(values.mean()) if len(values) else float("nan")


def _overlap(Y, Y_pred):
    """Return what is true and predicted, what is true, and what is predicted: three tables.

    They are sparse if both tables are given so, and then hold integers.
    """
    if not (sparse.issparse(Y) and sparse.issparse(Y_pred)):
        truth, guess = _tables(Y, Y_pred)
        return truth & guess, truth, guess
    pair = label_pair(as_table(Y), as_table(Y_pred, "Y_pred"))
    truth, guess = (
        label_rows(Y, "Y", pair).astype(np.int64),
        label_rows(Y_pred, "Y_pred", pair).astype(np.int64),
    )
    _check_shape(truth, guess, "Y_pred")
    return sparse.csr_array(truth.multiply(guess)), truth, guess


def _wrong(Y, Y_pred):
    """Return how many cells of each example are wrong, and how many it has."""
    tables = _overlap(Y, Y_pred)
    hits, truth, guess = (table.sum(axis=1) for table in tables)
    return truth + guess - 2 * hits, tables[0].shape[1]


def _sparse_precision_at(Y, scores, k):
    truth, given = label_rows(Y), canonical_rows(sparse.csr_array(as_table(scores, "scores")))
    _check_shape(truth, given, "scores")
    check_integer("k", k, low=1, high=truth.shape[1])
    if not np.isfinite(given.data).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity.")
    n = given.shape[0]
    row = np.repeat(np.arange(n), np.diff(given.indptr))
    order = np.lexsort((given.indices, -given.data, row))
    rank = np.arange(len(row)) - given.indptr[row[order]]
    top = order[(rank < k) & (given.data[order] > 0)]
    chosen = sparse.csr_array((np.ones(len(top)), (row[top], given.indices[top])), given.shape)
    hits = np.asarray(chosen.multiply(truth).sum(axis=1))
    # Labels without a score have the score 0, and may be among the highest.
    for i in np.flatnonzero(np.bincount(row[top], minlength=n) < k):
        highest = np.argsort(-given[[i]].toarray()[0], kind="stable")[:k]
        hits[i] = truth[[i]].toarray()[0, highest].sum()
    return float(hits.mean() / k)


def _check_shape(truth, given, name):
    if truth.shape != given.shape:
        raise ValueError(f"{name} must have the shape of Y, {truth.shape}, got {given.shape}.")


def _tables(Y, other, *, ranking=False):
    if not ranking:
        truth, given = _dense(Y, "Y"), _dense(other, "Y_pred")
        _check_shape(truth, given, "Y_pred")
        pair = label_pair(truth, given)
        return as_booleans(truth, "Y", pair), as_booleans(given, "Y_pred", pair)
    truth, given = _alike(Y, other, "scores")
    if not np.isfinite(given).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity.")
    return truth, given


def _ranked(Y, scores):
    """Return labels and scores of the examples that have labels."""
    truth, given = _tables(Y, scores, ranking=True)
    labelled = truth.any(axis=1)
    return truth[labelled], given[labelled]


def _probabilities(Y, P):
    truth, given = _alike(Y, P, "P")
    # A mean of ones may be above 1 by rounding.
    outside = ~((given >= -ROUNDING) & (given <= 1 + ROUNDING))
    if outside.any():
        odd = given[outside].tolist()[0]
        raise ValueError(f"P must hold probabilities between 0 and 1, got {odd!r}.")
    return truth, np.clip(given, 0.0, 1.0)


def _alike(Y, other, name):
    """Return both as dense tables of one shape, the first of booleans."""
    truth, given = _dense(Y, "Y"), _dense(other, name)
    _check_shape(truth, given, name)
    return as_booleans(truth, "Y", label_pair(truth)), given


def _dense(table, name):
    table = as_table(table, name)
    return table.toarray() if sparse.issparse(table) else table
