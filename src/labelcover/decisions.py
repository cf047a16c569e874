"""From confidences to 0/1, for the measure that predictions are meant for.

A decision is fitted on the labels `Y` of training rows and on the probabilities `P` that a model
gives these rows without having seen them. It is then applied to the probabilities of new rows:

===================  ==============================================================================
measure              what is predicted
===================  ==============================================================================
micro_f1             labels above one threshold, the best on the training rows
macro_f1             labels above a threshold of their own, the best on the training rows
example_f1           in each row the labels with the greatest expected F1
hamming_loss         labels that are likelier true than not
subset_accuracy      in each row the likeliest labelset, by how often labelsets occur in training
a number k           in each row the k likeliest labels
a function           labels above one threshold, the best on the training rows for this function
===================  ==============================================================================
"""

import inspect
import numbers
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._decision_kernels import expected_counts, expected_f1_sets
from labelcover._label_values import alike_rows
from labelcover._table_numbers import blocks
from labelcover.thresholds import Score, best_threshold, cut_inside

MEASURES_OF_DECISIONS = ("micro_f1", "macro_f1", "example_f1", "hamming_loss", "subset_accuracy")

# F1 at a threshold is a mean of the observed one and of the one expected by the probabilities,
# which counts as much as this many positive rows: rare labels have too few to choose by.
EXPECTED_POSITIVES = 10.0
# Added to observed and to expected numbers of rows, so that what is rare has a lift near 1: for
# the rows with s labels, and for the rows with one labelset.
COUNT_SMOOTHING = 1.0
LABELSET_SMOOTHING = 0.5
# Probabilities are kept this far from 0 and 1, where log-odds are infinite.
LEAST_PROBABILITY = 1e-9
# Cells of a table of rows × labelsets that is computed at once: 32 MB.
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Decision(ABC):
    """How probabilities become 0/1.

    Attributes
    ----------
    measure : str or int
        What the decision serves: a name of `MEASURES_OF_DECISIONS`, a number of labels, or the
        name of a function.
    threshold : float, ndarray of shape (n_labels,) or None
        What a probability has to exceed; None where nothing is cut.
    """

    measure: str | int
    threshold: float | NDArray[np.float64] | None = None

    @abstractmethod
    def decide(self, P: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the labels that are predicted for rows with the probabilities `P`."""

    def decide_candidates(self, candidates: Any) -> Any:
        """Return the same for `labelcover.many_labels.Candidates`, as a sparse table of ones."""
        return candidates.predicted(self.decide(candidates.probabilities))


def check_decision(decide: Any, n_labels: int) -> None:
    """Raise a ``ValueError`` unless `decide` says what predictions of `n_labels` labels serve.

    Examples
    --------
    >>> from labelcover.decisions import check_decision
    >>> check_decision("macro_f1", 6)
    >>> check_decision(3, 6)
    """
    if isinstance(decide, str):
        accepted = decide in MEASURES_OF_DECISIONS
    elif isinstance(decide, numbers.Integral) and not isinstance(decide, bool):
        accepted = 1 <= int(decide) <= n_labels
    else:
        accepted = callable(decide)
    if not accepted:
        names = ", ".join(repr(name) for name in MEASURES_OF_DECISIONS)
        raise ValueError(
            f"decide must be one of {names}, a number of labels between 1 and {n_labels}, or a "
            f"function f(Y, Y_pred) where higher is better, got {decide!r}."
        )


def fit_decision(
    decide: str | int | Score,
    Y: NDArray[np.uint8],
    P: NDArray[np.float64],
    *,
    sample_weight: NDArray[np.float64] | None = None,
    seen: NDArray[np.uint8] | None = None,
    ties: str = "negative",
) -> Decision:
    """Return the decision that serves a measure best on these rows.

    Parameters
    ----------
    decide : str, int or callable
        A name of `MEASURES_OF_DECISIONS`, a number of labels for every row, or a function
        ``f(Y, Y_pred)`` where higher is better, which takes ``sample_weight`` if rows have weights.
    Y : ndarray of shape (n, n_labels)
        Labels of training rows, 0 or 1.
    P : ndarray of shape (n, n_labels)
        Their probabilities, by models fitted without the row.
    sample_weight : ndarray of shape (n,) or (n, n_labels), optional
        How many rows each row, or cell, stands for; 0 where a label is not known. Decisions on
        whole rows then look at those that are known whole.
    seen : ndarray of shape (n_labelsets, n_labels), optional
        The distinct labelsets of all training rows, where `Y` has only some of the rows.
    ties : {"positive", "negative"}, default="negative"
        What a probability of exactly the threshold means, where the decision is a cut.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.decisions import fit_decision
    >>> Y = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=np.uint8)
    >>> P = np.array([[0.4, 0.3, 0.1], [0.3, 0.4, 0.2], [0.2, 0.1, 0.4], [0.45, 0.2, 0.2]])

    No probability is above one half, but every row seen has one label:

    >>> fit_decision("hamming_loss", Y, P).decide(P).sum(axis=1)
    array([0, 0, 0, 0])
    >>> fit_decision("subset_accuracy", Y, P).decide(P).sum(axis=1)
    array([1, 1, 1, 1])
    >>> fit_decision("micro_f1", Y, P).threshold
    0.35
    """
    check_decision(decide, Y.shape[1])
    weights = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    of_cells = weights.ndim == 2
    cells = weights if of_cells else np.broadcast_to(weights[:, None], Y.shape)
    known, whole = cells > 0, (cells > 0).all(axis=1)
    weights = cells.mean(axis=1)[whole] if of_cells else weights[whole]
    seen = Y[known.any(axis=1)] if seen is None or of_cells else seen
    if decide == "micro_f1":
        threshold = _nothing(ties)
        if Y[known].any() or seen.any():
            threshold = f1_threshold(Y[known], P[known], cells[known], ties)
        return Cut(measure=decide, threshold=threshold, ties=ties)
    if decide == "macro_f1":
        # Nothing is known of a label that is never true: it is not predicted.
        thresholds = np.full(Y.shape[1], _nothing(ties))
        for j in np.flatnonzero((Y * known).any(axis=0) | seen.any(axis=0)):
            own = known[:, j]
            thresholds[j] = f1_threshold(Y[own, j], P[own, j], cells[own, j], ties)
        return Cut(measure=decide, threshold=thresholds, ties=ties)
    if callable(decide):
        given = None if of_cells or sample_weight is None else weights
        if given is not None and "sample_weight" not in inspect.signature(decide).parameters:
            raise ValueError(
                "decide must be a function that takes sample_weight where rows have weights, "
                f"got {decide!r}."
            )
        Y, P = (np.where(known, Y, np.nan), P) if of_cells else (Y[whole], P[whole])
        threshold, _ = best_threshold(Y, P, measure=decide, sample_weight=given, ties=ties)
        # The name, because a function could not be stored with the model.
        name = getattr(decide, "__name__", repr(decide))
        return Cut(measure=name, threshold=threshold, ties=ties)
    if decide == "hamming_loss" or (decide == "subset_accuracy" and not whole.any()):
        return Cut(measure=decide, threshold=0.5, ties=ties)
    Y, P = Y[whole], P[whole]
    if decide == "example_f1":
        return fit_expected_f1(Y.sum(axis=1, dtype=np.int64), P, weights)
    if decide == "subset_accuracy":
        return _fit_labelsets(Y, P, weights, Y if of_cells else seen)
    return TopLabels(measure=int(decide))


@dataclass(frozen=True, eq=False, kw_only=True)
class Cut(Decision):
    """Predict the labels whose probability exceeds a threshold or, with positive ties, equals it.

    Attributes
    ----------
    ties : {"positive", "negative"}
        What a probability of exactly the threshold means.
    """

    threshold: float | NDArray[np.float64]
    ties: str = "negative"

    def decide(self, P: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the labels that are predicted for rows with the probabilities `P`."""
        return cut_inside(P, self.threshold, self.ties)

    def decide_candidates(self, candidates: Any) -> Any:
        """Return the same for candidates: a threshold for each label is that of each candidate."""
        if not np.ndim(self.threshold):
            return super().decide_candidates(candidates)
        own = np.asarray(self.threshold)[np.maximum(candidates.labels, 0)]
        return candidates.predicted(cut_inside(candidates.probabilities, own, self.ties))


@dataclass(frozen=True, eq=False, kw_only=True)
class TopLabels(Decision):
    """Predict as many labels in every row as `measure` says; of equal ones, the first."""

    def decide(self, P: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the labels that are predicted for rows with the probabilities `P`."""
        likeliest = np.argsort(-P, axis=1, kind="stable")[:, : int(self.measure)]
        decided = np.zeros(P.shape, dtype=bool)
        np.put_along_axis(decided, likeliest, True, axis=1)
        return decided

    def decide_candidates(self, candidates: Any) -> Any:
        """Return the same for candidates; where more labels are asked for, others follow."""
        table = candidates.top(int(self.measure)).table(len(candidates.others))
        return (table > 0).astype(np.int64)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedF1(Decision):
    """Predict in each row the labels with the greatest expected F1.

    The labels y of a row are taken as independent but for their number s: the probability of y is
    proportional to ``lift(s) · Π p(y)``. The best k labels are then the k likeliest, and the best
    k is found in a time proportional to the number of labels times the number that a row may
    have (the algorithm of Dembczyński et al., 2011, for such distributions). No labels against no
    labels counts 1, as in `labelcover.metrics.example_f1`.

    Attributes
    ----------
    count_lift : ndarray of shape (n_labels + 1,)
        How many times likelier s labels are than for independent labels.
    """

    count_lift: NDArray[np.float64]

    def decide(self, P: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the labels that are predicted for rows with the probabilities `P`."""
        # Known labels are candidates beside those of the fit: nothing was seen of so many labels.
        more = max(0, P.shape[1] + 1 - len(self.count_lift))
        lift = np.pad(self.count_lift, (0, more), constant_values=1.0)
        return expected_f1_sets(_inside(P), lift)


@dataclass(frozen=True, eq=False, kw_only=True)
class LikeliestLabelset(Decision):
    """Predict in each row the likeliest labelset.

    The probability of a labelset is proportional to its probability for independent labels times
    its lift: how many times as often it occurs in training rows as their probabilities say. The
    choice is between the labelsets seen in training and the one that is likeliest for independent
    labels. If that was not seen, it has the lift of all labelsets not seen together. Their share is
    estimated by the rows whose labelset no other row has (Good and Turing).

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels)
        The labelsets seen in training, 0 or 1.
    log_lift : ndarray of shape (n_labelsets,)
        Logarithms of their lifts.
    log_lift_unseen : float
        That of a labelset not seen.
    """

    labelsets: NDArray[np.uint8]
    log_lift: NDArray[np.float64]
    log_lift_unseen: float

    def decide(self, P: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return the labels that are predicted for rows with the probabilities `P`."""
        seen = {row.tobytes() for row in np.packbits(self.labelsets, axis=1)}
        holds = sparse.csr_array(self.labelsets, dtype=np.float64)
        decided = np.empty(P.shape, dtype=bool)
        for rows in blocks(len(P), CELLS_AT_ONCE // len(self.labelsets)):
            odds = _log_odds(_inside(P[rows]))
            scores = holds @ odds.T + self.log_lift[:, None]
            best = scores.argmax(axis=0)
            cut = odds > 0
            is_new = np.array([row.tobytes() not in seen for row in np.packbits(cut, axis=1)])
            score_of_cut = np.where(cut, odds, 0).sum(axis=1) + self.log_lift_unseen
            better = is_new & (score_of_cut > scores[best, np.arange(len(best))])
            decided[rows] = np.where(better[:, None], cut, self.labelsets[best])
        return decided


def f1_threshold(
    y: NDArray[Any], p: NDArray[np.float64], weights: NDArray[np.float64], ties: str
) -> float:
    """Return where to cut `p` for the greatest mean of observed and expected F1 of one label.

    The means are of the counts that F1 is made of. Only the expected counts are there if the
    label is never true. Nothing is predicted if that is better: it has an F1 of 1 where nothing is
    true, which is expected of labels that are rarer than one row in all.
    """
    order = np.argsort(-p, kind="stable")
    p, weights = p[order], weights[order]
    positives = weights * y[order]
    trust = EXPECTED_POSITIVES / (EXPECTED_POSITIVES + positives.sum())
    true = np.cumsum((1 - trust) * positives + trust * weights * p)
    f1 = 2 * true / (np.cumsum(weights) + true[-1])
    # Equal probabilities are on the same side of any threshold.
    ends = np.flatnonzero(np.append(p[1:] < p[:-1], True))
    best = ends[np.argmax(f1[ends])]
    if trust * np.exp(weights @ np.log1p(-_inside(p))) > f1[best]:
        return _nothing(ties)
    below = p[best + 1] if best + 1 < len(p) else 0.0
    middle = (p[best] + below) / 2
    # Between neighbouring numbers the middle is one of the two: the one that ties put aright.
    if ties == "positive":
        return float(middle if middle > below else p[best])
    return float(middle if middle < p[best] else below)


def _nothing(ties):
    """Return the lowest threshold above which, or from which, there is no probability."""
    return float(np.nextafter(1.0, 2.0)) if ties == "positive" else 1.0


def fit_expected_f1(
    sizes: NDArray[np.int64], P: NDArray[np.float64], weights: NDArray[np.float64]
) -> ExpectedF1:
    """Return the decision for the greatest expected F1 of rows, from their numbers of labels.

    `P` holds the probabilities of the labels, by models fitted without the row.
    """
    observed = np.bincount(sizes, weights, minlength=P.shape[1] + 1)
    expected = expected_counts(_inside(P), weights)
    lift = (observed + COUNT_SMOOTHING) / (expected + COUNT_SMOOTHING)
    return ExpectedF1(measure="example_f1", count_lift=lift)


def _fit_labelsets(Y, P, weights, seen):
    every = np.vstack([seen, Y])
    group, first = alike_rows(every)
    labelsets, own = every[first], group[len(seen) :]
    observed = np.bincount(own, weights, minlength=len(labelsets))
    alone = observed <= 1
    expected, expected_unseen = np.zeros(len(labelsets)), 0.0
    holds = sparse.csr_array(labelsets, dtype=np.float64)
    for rows in blocks(len(P), CELLS_AT_ONCE // len(labelsets)):
        p, mine = _inside(P[rows]), own[rows]
        chances = np.exp(holds @ _log_odds(p).T + np.log1p(-p).sum(axis=1))
        expected += chances @ weights[rows]
        # Had this row not been there, a labelset that no other row has would not be seen.
        of_own = chances[mine, np.arange(len(mine))]
        of_seen = chances.sum(axis=0) - np.where(alone[mine], of_own, 0)
        expected_unseen += weights[rows] @ np.maximum(1 - of_seen, 0)
    return LikeliestLabelset(
        measure="subset_accuracy",
        labelsets=labelsets,
        log_lift=_log_lift(observed, expected),
        log_lift_unseen=float(_log_lift(observed[alone].sum(), expected_unseen)),
    )


def _log_lift(observed, expected):
    return np.log((observed + LABELSET_SMOOTHING) / (expected + LABELSET_SMOOTHING))


def _inside(P):
    return np.ascontiguousarray(np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY))


def _log_odds(P):
    return np.log(P) - np.log1p(-P)
