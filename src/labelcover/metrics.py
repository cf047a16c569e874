"""How good a prediction is: the measures of Section 5.2, those of rankings and of probabilities.

Measures of predictions take two tables of zeros and ones, ``f(Y, Y_pred)``, and weights of rows if
there are any, ``sample_weight=``; measures of rankings take a table of scores in the second place,
``f(Y, scores)``, and measures of probabilities one of numbers between 0 and 1, ``f(Y, P)``. Rows
are examples, columns labels.

Where nothing is there and nothing was predicted, nothing was done wrong: empty against empty
counts 1 in every F1 and accuracy, as it does in MULAN (scikit-learn's default is 0 with a warning).
An example without labels has nothing to be ranked first: measures of rankings within examples leave
it out, and are NaN if no example has labels.

Cells of Y may be unknown (NaN, None, pandas.NA, nulls; not in a sparse table): every measure is
then one of the known cells. Measures of cells (micro and macro F1, precision, recall, Hamming loss,
micro average precision, those of probabilities) leave unknown cells out; measures of examples count
and rank the known labels of each example, and leave out examples without any. What is predicted for
an unknown cell changes nothing. Where nothing is known, a measure is NaN.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from labelcover._arguments import check_integer
from labelcover._label_values import as_booleans, as_table, label_pair, label_rows, split_unknown
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

Weights = ArrayLike | None
ROUNDING = 1e-9


def micro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the F-measure over all cells of the table together (Section 5.2).

    Examples
    --------
    >>> from labelcover.metrics import micro_f1
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    hits, truth, guess, known = _label_counts(Y, Y_pred, sample_weight)
    return float(_ratio(2 * hits.sum(), (truth + guess).sum()) if known.any() else np.nan)


def macro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean over labels of the F-measure of each label that is known in an example."""
    each = label_f1(Y, Y_pred, sample_weight=sample_weight)
    return _mean(each[~np.isnan(each)])


def example_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean over examples of the F-measure of each example."""
    hits, truth, guess, n_known = _example_counts(Y, Y_pred)
    return _mean(_ratio(2 * hits, truth + guess), sample_weight, n_known)


def micro_precision(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of all predicted labels that are true; NaN if none is predicted."""
    hits, _, guess, _ = _label_counts(Y, Y_pred, sample_weight)
    return _share(hits, guess)


def micro_recall(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of all true labels that are predicted; NaN if none is true.

    Examples
    --------
    >>> from labelcover.metrics import micro_precision, micro_recall
    >>> Y, Y_pred = [[1, 0], [1, 1]], [[1, 0], [0, 1]]
    >>> micro_precision(Y, Y_pred), round(micro_recall(Y, Y_pred), 3)
    (1.0, 0.667)
    """
    hits, truth, _, _ = _label_counts(Y, Y_pred, sample_weight)
    return _share(hits, truth)


def label_f1(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None
) -> NDArray[np.float64]:
    """Return the F-measure of each label, ``(n_labels,)``; NaN where no cell is known."""
    hits, truth, guess, known = _label_counts(Y, Y_pred, sample_weight)
    return np.where(known, _ratio(2 * hits, truth + guess), np.nan)


def hamming_loss(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of cells that are wrong (Section 5.2); less is better."""
    hits, truth, guess, n_known = _example_counts(Y, Y_pred)
    wrong = truth + guess - 2 * hits
    if n_known is None:
        return _mean(wrong / np.shape(Y)[1], sample_weight)
    return _share(_row_weighted(wrong, sample_weight), _row_weighted(n_known, sample_weight))


def subset_accuracy(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the share of examples whose labels are all predicted right (Section 5.2)."""
    hits, truth, guess, n_known = _example_counts(Y, Y_pred)
    return _mean(truth + guess == 2 * hits, sample_weight, n_known)


def example_accuracy(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Return the mean over examples of |true ∩ predicted| / |true ∪ predicted| (Section 5.2).

    An example without labels for which none is predicted counts 1.

    Examples
    --------
    >>> from labelcover.metrics import example_accuracy
    >>> example_accuracy([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    0.75
    """
    hits, truth, guess, n_known = _example_counts(Y, Y_pred)
    return _mean(_ratio(hits, truth + guess - hits), sample_weight, n_known)


def one_error(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the share of examples whose top-ranked label is not theirs; less is better.

    Where several labels share the top score, the share of them that is wrong counts.
    """
    truth, given, _ = _ranked(Y, scores)
    top = given == given.max(axis=1, keepdims=True)
    return _mean(1 - (top & truth).sum(axis=1) / top.sum(axis=1))


def ranking_depth(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return how many steps down the ranking all labels of an example are found; less is better.

    The mean over examples of the worst rank of a true label, the best rank being 0 (Schapire and
    Singer, 2000, who call it coverage). This is scikit-learn's ``coverage_error``, whose ranks
    begin at 1, less one. Equal scores share the worse rank.
    """
    truth, given, _ = _ranked(Y, scores)
    lowest = np.where(truth, given, np.inf).min(axis=1, keepdims=True)
    return _mean((given >= lowest).sum(axis=1) - 1)


def ranking_loss(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean share of (true, false) label pairs in the wrong order; less is better."""
    truth, given, known = _ranked(Y, scores)
    if not len(truth) or truth.shape[1] == 1:
        return _mean(np.zeros(len(truth)))  # a single label is in order
    from sklearn.metrics import label_ranking_loss  # slow to import

    if known is None:
        return float(label_ranking_loss(truth, given))
    # Labels that are not known stand last, in order, as if false: those pairs are taken out again.
    false, n_pairs = (~truth).sum(axis=1), (known & ~truth).sum(axis=1)
    weights = np.where(n_pairs > 0, false / np.maximum(n_pairs, 1), 0.0)
    if not weights.any():
        return 0.0
    return float(label_ranking_loss(truth, given, sample_weight=weights) * weights.mean())


def average_precision(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return, over all true labels, the mean share of true labels among those ranked as high.

    The mean is taken within an example first, then over examples. scikit-learn's
    ``label_ranking_average_precision_score`` is the same but for examples without labels, which it
    counts as 1.
    """
    truth, given, _ = _ranked(Y, scores)
    if not len(truth) or truth.shape[1] == 1:
        return _mean(np.ones(len(truth)))  # a single label is in order
    from sklearn.metrics import label_ranking_average_precision_score  # slow to import

    return float(label_ranking_average_precision_score(truth, given))


def micro_average_precision(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision of all cells of the table in one ranking.

    This is scikit-learn's ``average_precision_score`` with ``average="micro"``. A table without
    labels counts 1.
    """
    truth, given, known = _scored(Y, scores)
    if known is not None:
        truth, given = truth[known], given[known]
    if not truth.any():
        return 1.0 if len(truth) else float("nan")
    from sklearn.metrics import average_precision_score  # slow to import

    return float(average_precision_score(truth.ravel(), given.ravel()))


def precision_at(Y: ArrayLike, scores: ArrayLike, k: int) -> float:
    """Return the mean share of true labels among the `k` that are ranked highest in an example.

    Of equal scores, the label that comes first is ranked higher. Labels that are not known are not
    ranked; where fewer than `k` are known, those are taken. Two sparse tables are not made dense.

    Examples
    --------
    >>> from labelcover.metrics import precision_at
    >>> precision_at([[1, 0, 1], [0, 1, 0]], [[0.9, 0.1, 0.8], [0.2, 0.7, 0.4]], k=2)
    0.75
    """
    if sparse.issparse(Y) and sparse.issparse(scores):
        return _sparse_precision_at(Y, scores, k)
    truth, given, known = _scored(Y, scores)
    check_integer("k", k, low=1, high=truth.shape[1])
    order = -given if known is None else np.where(known, -given, np.inf)
    top = np.argsort(order, axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(truth, top, axis=1)
    if known is None:
        return float(chosen.mean())
    n_known = known.sum(axis=1)
    return _mean(chosen.sum(axis=1) / np.clip(n_known, 1, k), None, n_known)


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
    return _mean(-np.where(truth, np.log(inside), np.log1p(-inside)))


def brier_score(Y: ArrayLike, P: ArrayLike) -> float:
    """Return the mean over all cells of the squared error of the probability; less is better."""
    truth, given = _probabilities(Y, P)
    return _mean((given - truth) ** 2)


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
    return float(np.abs(error).sum() / given.size) if given.size else float("nan")


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


def _label_counts(Y, Y_pred, weights):
    """For each label: hits, how often it is true, and predicted, and whether a cell is known."""
    *tables, known = _overlap(Y, Y_pred)
    known = np.array(True) if known is None else known.any(axis=0)
    return *(_row_weighted(table, weights) for table in tables), known


def _row_weighted(table, weights):
    """Return the sums of the columns, rows weighted."""
    return table.sum(axis=0) if weights is None else np.asarray(weights) @ table


def _mean(values, weights=None, n_known=None):
    """Return the mean over examples or cells; NaN, without a warning, if there are none.

    Of examples only those with known labels count, if their numbers are given.
    """
    if n_known is not None:
        some = n_known > 0
        weights = None if weights is None else np.asarray(weights)[some]
        values = values[some]
    return float(np.average(values, weights=weights)) if len(values) else float("nan")


def _ratio(part, whole):
    """`part` / `whole`, and 1 where `whole` is 0: empty against empty."""
    return np.where(whole == 0, 1.0, part / np.where(whole == 0, 1, whole))


def _share(part, whole):
    """Return the sum of `part` by that of `whole`, NaN if there is nothing."""
    return float(part.sum() / whole.sum()) if whole.sum() else float("nan")


def _overlap(Y, Y_pred):
    """Return three tables: what is true and predicted, true, and predicted; and what is known.

    They are sparse if both tables are given so, and then hold integers. Unknown cells are neither
    true nor predicted; None stands for all being known.
    """
    Y, known = split_unknown(Y)
    if not (sparse.issparse(Y) and sparse.issparse(Y_pred)):
        truth, guess = _dense(Y, "Y"), _dense(Y_pred, "Y_pred")
        _check_shape(truth, guess, "Y_pred")
        pair = label_pair(truth, guess)
        truth, guess = as_booleans(truth, "Y", pair), as_booleans(guess, "Y_pred", pair)
        guess = guess if known is None else guess & known
        return truth & guess, truth, guess, known
    pair = label_pair(Y, as_table(Y_pred, "Y_pred"))
    tables = label_rows(Y, "Y", pair), label_rows(Y_pred, "Y_pred", pair)
    truth, guess = (table.astype(np.int64) for table in tables)
    _check_shape(truth, guess, "Y_pred")
    return sparse.csr_array(truth.multiply(guess)), truth, guess, None


def _example_counts(Y, Y_pred):
    """Return the numbers of each example's labels: hit, true, predicted, and known (or None)."""
    *tables, known = _overlap(Y, Y_pred)
    return *(table.sum(axis=1) for table in tables), None if known is None else known.sum(axis=1)


def _sparse_precision_at(Y, scores, k):
    given = canonical_rows(sparse.csr_array(as_table(scores, "scores")))
    truth = label_rows(split_unknown(Y)[0])
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


def _scored(Y, scores):
    """Return dense tables of labels and of scores, and which cells are known (or None)."""
    truth, given, known = _alike(Y, scores, "scores")
    if not np.isfinite(given).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity.")
    return truth, given, known


def _ranked(Y, scores):
    """Return labels, scores and known cells of the examples that have labels.

    Where a cell is not known, scores are replaced by their order, unknown labels being last.
    """
    truth, given, known = _scored(Y, scores)
    labelled = truth.any(axis=1)
    if known is None:
        return truth[labelled], given[labelled], None
    order = np.unique(given, return_inverse=True)[1].reshape(given.shape) + 1
    return truth[labelled], np.where(known, order, 0)[labelled], known[labelled]


def _probabilities(Y, P):
    """Return what is true and its probability, of all cells or of those that are known."""
    truth, given, known = _alike(Y, P, "P")
    # A mean of ones may be above 1 by rounding.
    outside = ~((given >= -ROUNDING) & (given <= 1 + ROUNDING))
    if outside.any():
        odd = given[outside].tolist()[0]
        raise ValueError(f"P must hold probabilities between 0 and 1, got {odd!r}.")
    given = np.clip(given, 0.0, 1.0)
    return (truth, given) if known is None else (truth[known], given[known])


def _alike(Y, other, name):
    """Return both as dense tables of one shape, the first of booleans; and what is known."""
    Y, known = split_unknown(Y)
    truth, given = _dense(Y, "Y"), _dense(other, name)
    _check_shape(truth, given, name)
    return as_booleans(truth, "Y", label_pair(truth)), given, known


def _dense(table, name):
    table = as_table(table, name)
    return table.toarray() if sparse.issparse(table) else table
