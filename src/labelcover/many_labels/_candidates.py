"""The candidate labels of rows with their confidences, and what is decided from them."""

import os
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from labelcover.decisions import Cut, Decision, TopLabels, f1_threshold, fit_expected_f1

# Assumed where a system does not tell how much memory it has.
USUAL_MEMORY = 8 * 2**30
# Cells that are looked at in one step.
BLOCK_CELLS = 2**22
MEASURES = ("micro_f1", "macro_f1", "example_f1", "hamming_loss")
# A place without a candidate is never predicted.
LEAST = 1e-9


class RankedLabels(NamedTuple):
    """The likeliest labels of rows, the likeliest first.

    Attributes
    ----------
    labels : ndarray of shape (n, n_top), int64
        Numbers of labels.
    confidence : ndarray of shape (n, n_top)
        Their confidences, strictly inside (0, 1).
    """

    labels: NDArray[np.int64]
    confidence: NDArray[np.float64]

    def table(self, n_labels: int) -> csr_array:
        """Return the confidences as a sparse table, ``(n, n_labels)``, which the measures take.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover.many_labels import RankedLabels
        >>> ranked = RankedLabels(np.array([[2, 0]]), np.array([[0.75, 0.5]]))
        >>> ranked.table(4).toarray()
        array([[0.5 , 0.  , 0.75, 0.  ]])
        """
        n, most = self.labels.shape
        rows = np.repeat(np.arange(n), most)
        cells = rows, self.labels.ravel()
        return csr_array((self.confidence.ravel(), cells), shape=(n, n_labels))


def ranked_labels(P: NDArray[np.float64], n_top: int) -> RankedLabels:
    """Return the likeliest labels by a table of confidences; of equal ones, the first."""
    order = np.argsort(-P, axis=1, kind="stable")[:, :n_top]
    return RankedLabels(order, np.take_along_axis(P, order, axis=1))


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate labels of rows.

    Attributes
    ----------
    labels : ndarray of shape (n, most), int32
        The likeliest first; -1 where a row has no more.
    confidence : ndarray of shape (n, most)
        Strictly inside (0, 1); 0 and 1 of labels that are known, 0 where there is no candidate.
    others : ndarray of shape (n_labels,)
        The confidence of each label in rows that do not have it as a candidate.
    """

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    others: NDArray[np.float64]

    @classmethod
    def ranked(cls, labels, P, others) -> "Candidates":
        """Return candidates in any order, with probabilities, as `Candidates`."""
        P = np.where(labels >= 0, P, 0.0)
        # Of equal probabilities the lower label comes first.
        order = np.lexsort((np.where(labels >= 0, labels, len(others)), -P), axis=1)
        return cls(
            np.take_along_axis(labels, order, axis=1), np.take_along_axis(P, order, axis=1), others
        )

    def top(self, n_top: int) -> RankedLabels:
        """Return the likeliest labels of each row, candidates or not."""
        n, n_own = self.labels.shape
        # Even if all candidates of a row are among these labels, enough others are.
        others = np.argsort(-self.others, kind="stable")[: n_top + n_own]
        place = np.full(len(self.others) + 1, -1)
        place[others] = np.arange(len(others))
        labels, confidence = np.empty((n, n_top), np.int64), np.empty((n, n_top))
        for rows in gen_batches(n, max(1, BLOCK_CELLS // (n_own + len(others)))):
            own = self.labels[rows]
            names = np.hstack([own, np.tile(others, (len(own), 1))])
            values = np.hstack(
                [
                    np.where(own >= 0, self.confidence[rows], -1.0),
                    np.tile(self.others[others], (len(own), 1)),
                ]
            )
            row, at = np.nonzero(place[own] >= 0)
            values[row, n_own + place[own[row, at]]] = -1.0  # a candidate is named once
            order = np.argsort(-values, axis=1, kind="stable")[:, :n_top]
            labels[rows] = np.take_along_axis(names, order, axis=1)
            confidence[rows] = np.take_along_axis(values, order, axis=1)
        return RankedLabels(labels, confidence)

    def stored(self) -> csr_array:
        """Return the confidences of candidates as a sparse table, ``(n, n_labels)``."""
        return self.chosen(self.labels >= 0, self.confidence)

    def dense(self) -> NDArray[np.float64]:
        """Return the confidences of all labels, ``(n, n_labels)``, if they fit into memory."""
        check_fits(len(self.labels), len(self.others))
        table = np.tile(self.others, (len(self.labels), 1))
        rows, places = np.nonzero(self.labels >= 0)
        table[rows, self.labels[rows, places]] = self.confidence[rows, places]
        return table

    def decide(self, decision: Decision) -> csr_array:
        """Return the labels that are predicted, as a sparse table of ones.

        Labels that are no candidates of a row are predicted only where a number of labels is asked
        for that is greater than the number of candidates.
        """
        return decision.decide_candidates(self)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """The confidences inside (0, 1)."""
        return np.clip(self.confidence, LEAST, 1 - LEAST)

    def predicted(self, decided: NDArray[np.bool_]) -> csr_array:
        """Return the candidates that are decided for; those known (not) to be there stay so."""
        return self.chosen((decided | (self.confidence == 1)) & (self.confidence > 0))

    def fit_decision(self, decide: Any, Y: csr_array, **how: Any) -> Decision:
        """Return the decision that serves a measure best, if these rows were left out.

        `decide` is as in `check_candidate_decision`.
        """
        check_candidate_decision(decide, Y.shape[1])
        weights, ties = how["sample_weight"], how["ties"]
        weights = np.ones(Y.shape[0]) if weights is None else weights
        if decide == "hamming_loss":
            return Cut(measure=decide, threshold=0.5, ties=ties)
        if not isinstance(decide, str):
            return TopLabels(measure=int(decide))
        if decide == "example_f1":
            sizes = np.minimum(np.diff(Y.indptr), self.labels.shape[1])
            return fit_expected_f1(sizes.astype(np.int64), self.confidence, weights)
        y, p, w, label = _cells(Y, self, weights)
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

    def chosen(self, cells: NDArray[np.bool_], values: NDArray | None = None) -> csr_array:
        """Return ones (or `values`) for some of the candidates, as a sparse table."""
        rows, places = np.nonzero(cells & (self.labels >= 0))
        data = np.ones(len(rows), np.int64) if values is None else values[rows, places]
        shape = len(self.labels), len(self.others)
        return csr_array((data, (rows, self.labels[rows, places])), shape=shape)


def joined(parts: list[Candidates], others: NDArray[np.float64]) -> Candidates:
    """Return the candidates of some rows, then of others; all as many as of those with most."""
    most = max((part.labels.shape[1] for part in parts), default=0)
    labels = [np.zeros((0, most), np.int32)]
    confidence = [np.zeros((0, most))]
    for part in parts:
        missing = (0, 0), (0, most - part.labels.shape[1])
        labels.append(np.pad(part.labels, missing, constant_values=-1))
        confidence.append(np.pad(part.confidence, missing))
    return Candidates(np.concatenate(labels), np.concatenate(confidence), others)


def true_candidates(labels: NDArray[np.int32], Y: csr_array) -> NDArray[np.bool_]:
    """Return which candidates ``(n, most)`` are labels of their row; Y has sorted labels."""
    n, m = Y.shape
    # Cells in the order of rows and labels; the last stands for none.
    own = np.append(np.repeat(np.arange(n), np.diff(Y.indptr)) * m + Y.indices, n * m)
    found = np.empty(labels.shape, dtype=bool)
    for rows in gen_batches(n, max(1, BLOCK_CELLS // max(labels.shape[1], 1))):
        cells = np.arange(n)[rows, None] * m + labels[rows]
        found[rows] = (own[np.searchsorted(own, cells)] == cells) & (labels[rows] >= 0)
    return found


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


def check_fits(n_rows: int, n_labels: int) -> None:
    """Raise a ``ValueError`` if a table of confidences would take half of the memory or more."""
    needed, memory = 8 * n_rows * n_labels, _memory()
    if needed > memory / 2:
        raise ValueError(
            f"The confidences of {n_rows} rows and {n_labels} labels would take "
            f"{needed / 2**30:.1f} GB, more than half of the memory, {memory / 2**30:.1f} GB. Use "
            "predict_top(X, n_top), which gives the likeliest labels of each row, or fewer rows."
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return USUAL_MEMORY


def _cells(Y, candidates, weights):
    """Return truth, probability, weight and label of all candidates and all labels missed."""
    truth = true_candidates(candidates.labels, Y)
    rows, places = np.nonzero(candidates.labels >= 0)
    missed = csr_array(Y.astype(np.int8) - candidates.chosen(truth).astype(np.int8))
    missed.eliminate_zeros()
    of_missed = np.repeat(np.arange(Y.shape[0]), np.diff(missed.indptr))
    return (
        np.concatenate([truth[rows, places], np.ones(missed.nnz, dtype=bool)]),
        np.concatenate([candidates.confidence[rows, places], candidates.others[missed.indices]]),
        np.concatenate([weights[rows], weights[of_missed]]),
        np.concatenate([candidates.labels[rows, places], missed.indices]),
    )
