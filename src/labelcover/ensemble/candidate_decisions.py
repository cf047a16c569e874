"""From the confidences of candidate labels to predictions, for the measure asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.decisions import Cut, Decision, TopLabels, f1_threshold, fit_expected_f1
from labelcover.ensemble.candidate_kernels import true_candidates
from labelcover.ensemble.candidate_labels import Candidates

MEASURES = ("micro_f1", "macro_f1", "example_f1", "hamming_loss")
# A place without a candidate is never predicted.
LEAST = 1e-9


def check_candidate_decision(decide: Any, n_labels: int) -> None:
    """Raise a ``ValueError`` unless `decide` is a measure that needs candidates only."""
    is_number = isinstance(decide, (int, np.integer)) and not isinstance(decide, bool)
    if (is_number and 1 <= decide <= n_labels) or (isinstance(decide, str) and decide in MEASURES):
        return
    names = ", ".join(repr(name) for name in MEASURES)
    raise ValueError(
        f"decide must be one of {names} or a number of labels between 1 and {n_labels} where the "
        f"labels are so many that only candidates are looked at, got {decide!r}."
    )


def fit_candidate_decision(
    decide: Any,
    Y: sparse.csr_array,
    candidates: Candidates,
    weights: NDArray[np.float64],
    ties: str,
) -> Decision:
    """Return the decision that serves a measure best on rows that the models have not seen.

    Parameters
    ----------
    decide : str or int
        See `check_candidate_decision`.
    Y : CSR array of shape (n, n_labels)
        Labels of the rows.
    candidates : Candidates
        Those of the rows.
    weights : ndarray of shape (n,)
    """
    check_candidate_decision(decide, Y.shape[1])
    if decide == "hamming_loss":
        return Cut(measure=decide, threshold=0.5, ties=ties)
    if not isinstance(decide, str):
        return TopLabels(measure=int(decide))
    if decide == "example_f1":
        sizes = np.minimum(np.diff(Y.indptr), candidates.labels.shape[1])
        return fit_expected_f1(sizes.astype(np.int64), candidates.confidence, weights)
    y, p, w, label = _cells(Y, candidates, weights)
    threshold = f1_threshold(y, p, w, ties) if y.any() else 1.0
    if decide == "micro_f1":
        return Cut(measure=decide, threshold=threshold, ties=ties)
    # A label that no row of these has or is asked for is cut as all labels together.
    thresholds = np.full(Y.shape[1], threshold)
    order = np.argsort(label, kind="stable")
    ends = np.flatnonzero(np.diff(label[order], append=-1)) + 1
    for cells in np.split(order, ends[:-1]):
        if len(cells):
            thresholds[label[cells[0]]] = f1_threshold(y[cells], p[cells], w[cells], ties)
    return Cut(measure=decide, threshold=thresholds, ties=ties)


def decide_candidates(decision: Decision, candidates: Candidates) -> sparse.csr_array:
    """Return the labels that are predicted, as a sparse table of ones.

    Labels that are no candidates of a row are predicted only where a number of labels is asked
    for that is greater than the number of candidates.
    """
    if isinstance(decision, TopLabels):
        top = candidates.top(int(decision.measure))
        table = top.table(len(candidates.others))
        return sparse.csr_array(table > 0, dtype=np.int64)
    P = np.clip(candidates.confidence, LEAST, 1 - LEAST)
    if isinstance(decision, Cut) and np.ndim(decision.threshold):
        own = np.asarray(decision.threshold)[np.maximum(candidates.labels, 0)]
        decision = Cut(measure=decision.measure, threshold=own, ties=decision.ties)
    return candidates.chosen(decision.decide(P))


def _cells(Y, candidates, weights):
    """Return truth, probability, weight and label of all candidates and all labels missed."""
    truth = true_candidates(candidates.labels, Y.indices, Y.indptr)
    rows, places = np.nonzero(candidates.labels >= 0)
    missed = sparse.csr_array(Y.astype(np.int8) - candidates.chosen(truth).astype(np.int8))
    missed.eliminate_zeros()
    of_missed = np.repeat(np.arange(Y.shape[0]), np.diff(missed.indptr))
    return (
        np.concatenate([truth[rows, places], np.ones(missed.nnz, dtype=bool)]),
        np.concatenate([candidates.confidence[rows, places], candidates.others[missed.indices]]),
        np.concatenate([weights[rows], weights[of_missed]]),
        np.concatenate([candidates.labels[rows, places], missed.indices]),
    )
