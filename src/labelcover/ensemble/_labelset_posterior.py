"""Probabilities of labels corrected by which labelsets occur in training."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcover._label_values import alike_labelsets
from labelcover.ensemble._labelset_posterior_kernels import exponentials_below
from labelcover.learners import blas_threads, row_products

# Where more labelsets occur, only the most frequent of these many count.
MOST_LABELSETS = 5_000
# Numbers in one block of rows by labelsets (2 MB: new memory costs more than the sums in it).
BLOCK_NUMBERS = 2**18
# Added to observed and expected counts, so that a labelset seen once says little.
PSEUDO_COUNT = 0.5
TINY = 1e-9


@dataclass(frozen=True)
class LabelsetPosterior:
    """The labelsets of the training rows, and how much more frequent they are than expected.

    With the probabilities ``p`` of the labels of a row, ``P(L) ∝ lift(L) Π_j p_j(L)`` over the
    labelsets that occur; the lift is how often ``L`` occurs over how often independent labels
    would make it.

    Attributes
    ----------
    labelsets : ndarray of shape (n_labelsets, n_labels), uint8
        Rows of zeros and ones.
    counts, expected : ndarray of shape (n_labelsets,)
    """

    labelsets: NDArray[np.uint8]
    counts: NDArray[np.float64]
    expected: NDArray[np.float64]

    def marginals(self, P: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the labels of new rows over the labelsets that occur."""
        lift = _log_lift(self.counts, self.expected)
        found = np.empty_like(P)
        with blas_threads(len(P), P.shape[1], len(self.labelsets)):
            for rows in _blocks(len(P), len(self.labelsets)):
                found[rows], _ = self._means(self._log_joint(P[rows]), lift)
        return found

    def likeliest(self, P: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return the likeliest labelset of each row, ``(n, n_labels)``, zeros and ones."""
        lift = _log_lift(self.counts, self.expected)
        found = [
            self.labelsets[(self._log_joint(P[rows]) + lift).argmax(axis=1)]
            for rows in _blocks(len(P), len(self.labelsets))
        ]
        return np.concatenate([np.zeros((0, P.shape[1]), np.uint8), *found])

    def _log_joint(self, P: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the logarithms of the probabilities of all labelsets if labels are independent."""
        P = np.clip(P, TINY, 1 - TINY)
        absent = np.log1p(-P)
        joint = row_products(np.log(P) - absent, self.labelsets.T.astype(np.float64))
        joint += absent.sum(axis=1)[:, None]
        return joint

    def _means(
        self, scores: NDArray[np.float64], lift: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the marginals of scores plus lift, and what their weights sum to.

        `scores` are overwritten. A row in which all are −∞ has sum 0, and so have its marginals.
        """
        totals = exponentials_below(scores, lift, True)
        sums = row_products(scores, self.labelsets.astype(np.float64))
        return sums / np.where(totals > 0, totals, 1)[:, None], totals

    def _expected(
        self, P: NDArray[np.float64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how often independent labels would make each labelset in rows with weights."""
        expected, none = np.zeros(len(self.labelsets)), np.zeros(len(self.labelsets))
        for block in _blocks(len(P), len(self.labelsets)):
            joint = self._log_joint(P[block])
            exponentials_below(joint, none, False)
            expected += weights[block] @ joint
        return expected

    def _without_each(
        self, P: NDArray[np.float64], own: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the marginals of training rows, each by the labelsets of the other rows.

        Row ``i`` has labelset ``own[i]``, or, if that is -1, one that is not counted.
        """
        lift = _log_lift(self.counts, self.expected)
        marginals = np.empty_like(P)
        for block in _blocks(len(P), len(self.labelsets)):
            joint = self._log_joint(P[block])
            known = np.flatnonzero(own[block] >= 0)
            at = known, own[block][known]
            # The row itself is taken out: a labelset that only it has does not occur.
            less = self.counts[at[1]] - weights[block][known]
            of_row = weights[block][known] * np.exp(joint[at])
            without = _log_lift(np.maximum(less, 0), self.expected[at[1]] - of_row) - lift[at[1]]
            joint[at] += np.where(less > TINY, without, -np.inf)
            means, totals = self._means(joint, lift)
            marginals[block] = np.where(totals[:, None] > 0, means, P[block])
        return marginals


def fit_posterior(
    Y: NDArray[np.uint8],
    rows: NDArray[np.int64],
    P: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None = None,
) -> tuple[LabelsetPosterior, NDArray[np.float64]]:
    """Return the posterior of the training labels, and the marginals of rows left out of it.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        The labels of all training rows.
    rows : ndarray of shape (n_rows,)
        The training rows that `P` is of.
    P : ndarray of shape (n_rows, n_labels)
        Their probabilities by models fitted without them.
    sample_weight : ndarray of shape (n,), optional
        Weights of all training rows.
    """
    weights = np.ones(len(Y)) if sample_weight is None else sample_weight / sample_weight.mean()
    group, first = alike_labelsets(Y)
    found, order = np.unique(Y[first], axis=0, return_inverse=True)
    inverse = order.ravel()[group]
    counts = np.bincount(inverse, weights).astype(np.float64)
    own_weights = weights[rows]
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELSETS])
    number = np.full(len(found), -1)
    number[kept] = np.arange(len(kept))
    own = number[inverse[rows]]
    empty = LabelsetPosterior(found[kept], counts[kept], np.zeros(len(kept)))
    with blas_threads(len(P), P.shape[1], len(kept)):
        expected = empty._expected(P, own_weights) * (weights.sum() / own_weights.sum())
        posterior = LabelsetPosterior(empty.labelsets, empty.counts, expected)
        return posterior, posterior._without_each(P, own, own_weights)


def _log_lift(counts: NDArray[np.float64], expected: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.log(counts + PSEUDO_COUNT) - np.log(np.maximum(expected, 0) + PSEUDO_COUNT)


def _blocks(n: int, width: int):
    step = max(1, BLOCK_NUMBERS // max(1, width))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
