"""Confidences of candidates corrected by which patterns the labelsets of a cover have.

With thousands of labels hardly any two rows have the same labels, but small labelsets recur. Of a
labelset of k labels with the probabilities p, its pattern y has the probability::

    P(y) ∝ lift(y) · Π p(y),   lift(y) = how often y occurs / how often the p expect it

in the rows that have at least two of its labels as candidates. The p are out-of-sample.
A label's log-odds change by the mean over the labelsets that hold it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.many_labels.labelset_lift_kernels import count_patterns, labelset_changes

# Added to observed and expected counts, so that a pattern seen once says little.
PSEUDO_COUNT = 0.5
# Patterns grow with two to the power of k: labelsets may not be larger.
MOST_K = 8


@dataclass(frozen=True, eq=False)
class LabelsetLifts:
    """Patterns of the labelsets of a cover.

    Attributes
    ----------
    labelsets : ndarray of shape (size, k), int32
        -1 where a labelset is shorter.
    holders : (starts, labelsets)
        The labelsets that hold each label.
    counts : (observed, expected)
        How often each pattern occurs, ``(size, 2**k)``, and how often it is expected.
    """

    labelsets: NDArray[np.int32]
    holders: tuple[NDArray[np.int64], NDArray[np.int64]]
    counts: tuple[NDArray[np.float64], NDArray[np.float64]]

    def changes(
        self,
        candidates: NDArray[np.int32],
        P: NDArray[np.float64],
        own: tuple[NDArray[np.bool_], NDArray[np.float64]] | None = None,
    ) -> NDArray[np.float64]:
        """Return by how much labelsets change the log-odds of candidates, ``(n, most)``.

        Parameters
        ----------
        P : ndarray of shape (n, most)
            Inside (0, 1).
        own : (truth, weights), optional
            Of rows that were counted, which are then left out.
        """
        own = (np.zeros((0, 0), dtype=bool), np.zeros(0)) if own is None else own
        return labelset_changes(
            candidates, P, own, self.counts, self.labelsets, *self.holders, PSEUDO_COUNT
        )


def fit_lifts(
    cover: Cover,
    candidates: NDArray[np.int32],
    P: NDArray[np.float64],
    truth: NDArray[np.bool_],
    weights: NDArray[np.float64],
) -> LabelsetLifts:
    """Return the lifts of the patterns of a cover's labelsets.

    Parameters
    ----------
    candidates : ndarray of shape (n, most), int32
        Of training rows.
    P, truth : ndarray of shape (n, most)
        Their out-of-sample probabilities, and which are true.
    weights : ndarray of shape (n,)
    """
    labelsets = cover.labelsets.copy()  # not read-only, as in a model that is loaded
    number, place = np.nonzero(labelsets >= 0)
    held = labelsets[number, place]
    order = np.argsort(held, kind="stable")
    starts = np.searchsorted(held[order], np.arange(cover.n_labels + 1)).astype(np.int64)
    holders = starts, number[order].astype(np.int64)
    counts = count_patterns(candidates, P, truth, weights, labelsets, *holders, cover.n_labels)
    return LabelsetLifts(labelsets, holders, counts)
