"""Compiled loops over the labelsets that hold several candidate labels of a row.

Candidates are an int32 array ``(n, most)`` of labels, -1 where a row has no more. Labelsets are
``(size, k)``, -1 where they are shorter; ``(holder_starts, holders)`` lists those of each label.
The patterns of a labelset are numbered by the bits of its labels.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _shared_labelsets(candidates, i, holder_starts, holders, held, seen):
    """Fill in the labelsets that hold at least two candidates of row `i`; return how many.

    `held` is scratch of zeros, and left so.
    """
    n_seen = 0
    for c in range(candidates.shape[1]):
        j = candidates[i, c]
        if j < 0:
            continue
        for at in range(holder_starts[j], holder_starts[j + 1]):
            if held[holders[at]] == 0:
                seen[n_seen] = holders[at]
                n_seen += 1
            held[holders[at]] += 1
    kept = 0
    for a in range(n_seen):
        several = held[seen[a]] >= 2
        held[seen[a]] = 0
        if several:
            seen[kept] = seen[a]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def _pattern_chances(labelset, p, chances):
    """Fill in the probabilities of all patterns of independent labels; return how many there are.

    `p` has the probabilities of all labels.
    """
    chances[0], n = 1.0, 1
    for j in labelset:
        if j < 0:
            break
        for q in range(n):
            chances[n + q] = chances[q] * p[j]
            chances[q] *= 1 - p[j]
        n *= 2
    return n


@njit(cache=True, nogil=True)
def _true_pattern(labelset, is_true):
    pattern, bit = 0, 1
    for j in labelset:
        if j < 0:
            break
        pattern += bit * is_true[j]
        bit *= 2
    return pattern


@njit(cache=True, nogil=True)
def count_patterns(candidates, P, truth, weights, labelsets, holder_starts, holders, n_labels):
    """Return how often each pattern of each labelset occurs, and how often `P` expects it.

    Counted are the rows that have at least two labels of the labelset as candidates.
    """
    size, k = labelsets.shape
    observed, expected = np.zeros((size, 2**k)), np.zeros((size, 2**k))
    p, is_true = np.zeros(n_labels), np.zeros(n_labels, np.bool_)
    held, seen, chances = np.zeros(size, np.int32), np.empty(size, np.int64), np.zeros(2**k)
    for i in range(len(candidates)):
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0:
                p[candidates[i, c]], is_true[candidates[i, c]] = P[i, c], truth[i, c]
        for a in range(_shared_labelsets(candidates, i, holder_starts, holders, held, seen)):
            one = seen[a]
            n = _pattern_chances(labelsets[one], p, chances)
            for q in range(n):
                expected[one, q] += weights[i] * chances[q]
            observed[one, _true_pattern(labelsets[one], is_true)] += weights[i]
        for c in range(candidates.shape[1]):
            if candidates[i, c] >= 0:
                p[candidates[i, c]], is_true[candidates[i, c]] = 0, False
    return observed, expected


@njit(cache=True, nogil=True)
def labelset_changes(candidates, P, own, counts, labelsets, holder_starts, holders, smooth):
    """Return how much the patterns of labelsets change the log-odds of candidates, on average.

    Parameters
    ----------
    P : ndarray of shape (n, most)
        Probabilities strictly inside (0, 1).
    own : (truth, weights)
        Which candidates are true, and weights of the rows, if they are among the rows counted:
        they are then left out. Empty weights for new rows.
    counts : (observed, expected)
        From `count_patterns`.
    smooth : float
        Added to both counts.
    """
    truth, weights = own
    observed, expected = counts
    n_labels, (size, k) = len(holder_starts) - 1, labelsets.shape
    changes = np.zeros(P.shape)
    p, is_true = np.zeros(n_labels), np.zeros(n_labels, np.bool_)
    sums, numbers = np.zeros(n_labels), np.zeros(n_labels)
    held, seen, chances = np.zeros(size, np.int32), np.empty(size, np.int64), np.zeros(2**k)
    with_label, without_label = np.zeros(k), np.zeros(k)
    for i in range(len(candidates)):
        weight = weights[i] if len(weights) else 0.0
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j >= 0:
                p[j], sums[j], numbers[j] = P[i, c], 0, 0
                is_true[j] = truth[i, c] if len(weights) else False
        for a in range(_shared_labelsets(candidates, i, holder_starts, holders, held, seen)):
            one = seen[a]
            labelset = labelsets[one]
            pattern = _true_pattern(labelset, is_true)
            with_label[:], without_label[:] = 0, 0
            for q in range(_pattern_chances(labelset, p, chances)):
                before = observed[one, q] - (weight if q == pattern else 0)
                thought = max(expected[one, q] - weight * chances[q], 0)
                chance = chances[q] * (max(before, 0) + smooth) / (thought + smooth)
                for b in range(k):
                    if q >> b & 1:
                        with_label[b] += chance
                    else:
                        without_label[b] += chance
            for b in range(k):
                j = labelset[b]
                if j >= 0 and 0 < p[j] < 1:
                    sums[j] += np.log(with_label[b] / without_label[b])
                    sums[j] -= np.log(p[j] / (1 - p[j]))
                    numbers[j] += 1
        for c in range(candidates.shape[1]):
            j = candidates[i, c]
            if j >= 0:
                if numbers[j] > 0:
                    changes[i, c] = sums[j] / numbers[j]
                p[j], is_true[j] = 0, False
    return changes
