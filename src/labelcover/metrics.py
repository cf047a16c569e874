"""How good a prediction is: the measures of Section 5.2, and those of rankings.

Measures of predictions take two tables of zeros and ones, ``f(Y, Y_pred)``, and weights of rows if
there are any, ``sample_weight=``; measures of rankings take a table of scores in the second place,
``f(Y, scores)``. Rows are examples, columns labels.

Where nothing is there and nothing was predicted, nothing was done wrong: empty against empty
counts 1 in every F1 and accuracy, as it does in MULAN (scikit-learn's default is 0 with a warning).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import (
    coverage_error,
    label_ranking_average_precision_score,
    label_ranking_loss,
)

from labelcover._label_values import as_booleans, as_table


def micro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the F-measure over all cells of the table together (Section 5.2).

    Examples
    --------
    >>> from labelcover.metrics import micro_f1
    >>> micro_f1([[1, 0], [1, 1]], [[1, 0], [0, 1]])
    0.8
    """
    truth, guess = _tables(Y, Y_pred)
    hits, both = _row_weighted(truth & guess, sample_weight), _counts(truth, guess, sample_weight)
    return float(_ratio(2 * hits.sum(), both.sum()))


def macro_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over labels of the F-measure of each label."""
    return float(label_f1(Y, Y_pred, sample_weight=sample_weight).mean())


def example_f1(Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Return the mean over examples of the F-measure of each example."""
    truth, guess = _tables(Y, Y_pred)
    hits, both = (truth & guess).sum(axis=1), truth.sum(axis=1) + guess.sum(axis=1)
    return _mean(_ratio(2 * hits, both), sample_weight)


def label_f1(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return the F-measure of each label, ``(n_labels,)``."""
    truth, guess = _tables(Y, Y_pred)
    hits = _row_weighted(truth & guess, sample_weight)
    return _ratio(2 * hits, _counts(truth, guess, sample_weight))


def hamming_loss(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of cells that are wrong (Section 5.2); less is better."""
    truth, guess = _tables(Y, Y_pred)
    return _mean((truth != guess).mean(axis=1), sample_weight)


def subset_accuracy(
    Y: ArrayLike, Y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return the share of examples whose labels are all predicted right (Section 5.2)."""
    truth, guess = _tables(Y, Y_pred)
    return _mean((truth == guess).all(axis=1), sample_weight)


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
    truth, guess = _tables(Y, Y_pred)
    shares = _ratio((truth & guess).sum(axis=1), (truth | guess).sum(axis=1))
    return _mean(shares, sample_weight)


def one_error(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the share of examples whose top-ranked label is not theirs; less is better.

    Where several labels share the top score, the share of them that is wrong counts. An example
    without labels counts 0, as in the other measures of rankings.
    """
    truth, given = _tables(Y, scores, ranking=True)
    top = given == given.max(axis=1, keepdims=True)
    wrong = 1 - (top & truth).sum(axis=1) / top.sum(axis=1)
    return float(np.where(truth.any(axis=1), wrong, 0.0).mean())


def ranking_depth(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return how many steps down the ranking all labels of an example are found; less is better.

    The mean over examples of the worst rank of a true label, the best rank being 0 (Schapire and
    Singer, 2000, who call it coverage). This is scikit-learn's ``coverage_error``, whose ranks
    begin at 1, less one for every example that has labels. Equal scores share the worse rank.
    """
    truth, given = _tables(Y, scores, ranking=True)
    return float(coverage_error(truth, given) - truth.any(axis=1).mean())


def ranking_loss(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean share of (true, false) label pairs in the wrong order; less is better."""
    truth, given = _tables(Y, scores, ranking=True)
    return float(label_ranking_loss(truth, given))


def average_precision(Y: ArrayLike, scores: ArrayLike) -> float:
    """Return, over all true labels, the mean share of true labels among those ranked as high.

    The mean is taken within an example first, then over examples; one with no or with all labels
    counts 1.
    """
    truth, given = _tables(Y, scores, ranking=True)
    return float(label_ranking_average_precision_score(truth, given))


class Measure(NamedTuple):
    """A measure as tables and reports use it."""

    function: Callable[[ArrayLike, ArrayLike], float]
    title: str
    higher_is_better: bool
    of_ranking: bool


MEASURES: dict[str, Measure] = {
    "micro_f1": Measure(micro_f1, "micro-F1", True, False),
    "macro_f1": Measure(macro_f1, "macro-F1", True, False),
    "example_f1": Measure(example_f1, "example-F1", True, False),
    "hamming_loss": Measure(hamming_loss, "Hamming loss", False, False),
    "subset_accuracy": Measure(subset_accuracy, "subset accuracy", True, False),
    "example_accuracy": Measure(example_accuracy, "accuracy", True, False),
    "one_error": Measure(one_error, "one-error", False, True),
    "ranking_depth": Measure(ranking_depth, "ranking depth", False, True),
    "ranking_loss": Measure(ranking_loss, "ranking loss", False, True),
    "average_precision": Measure(average_precision, "average precision", True, True),
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


def _tables(Y, other, *, ranking=False):
    truth = _dense(Y, "Y")
    name = "scores" if ranking else "Y_pred"
    given = _dense(other, name)
    if truth.shape != given.shape:
        raise ValueError(f"{name} must have the shape of Y, {truth.shape}, got {given.shape}.")
    truth = as_booleans(truth, "Y")
    if not ranking:
        return truth, as_booleans(given, name)
    if not np.isfinite(given).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity.")
    return truth, given


def _dense(table, name):
    table = as_table(table, name)
    return table.toarray() if sparse.issparse(table) else table
