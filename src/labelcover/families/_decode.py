"""Compiled loops from the members' class distributions to one confidence per label."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def add_member(probabilities, patterns, labels, votes, sums):
    """Add what one member says of its labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (n, c)
        The member's class distribution in each row.
    patterns : uint8 array of shape (c, k)
        The 0/1 values of its labels in each class.
    labels : int32 array of shape (k,)
        Which labels those are.
    votes : bool
        Whether the most probable class (the first on ties) speaks alone.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    n, c = probabilities.shape
    k = len(labels)
    for i in range(n):
        if votes:
            best = 0
            for a in range(1, c):
                if probabilities[i, a] > probabilities[i, best]:
                    best = a
            for position in range(k):
                sums[i, labels[position]] += patterns[best, position]
        else:
            for a in range(c):
                for position in range(k):
                    if patterns[a, position] == 1:
                        sums[i, labels[position]] += probabilities[i, a]


@njit(cache=True)
def add_members(probabilities, starts, offsets, patterns, labelsets, votes, sums):
    """Add what every member says of its labels to `sums`.

    The class distribution of member ``j`` begins at column ``starts[j]`` of `probabilities`
    (members that pose the same problem share their columns); its patterns are the rows
    ``offsets[j]:offsets[j + 1]`` of `patterns`.
    """
    for i in range(probabilities.shape[0]):
        row = probabilities[i : i + 1]
        for j in range(len(starts)):
            c = offsets[j + 1] - offsets[j]
            add_member(
                row[:, starts[j] : starts[j] + c],
                patterns[offsets[j] : offsets[j + 1]],
                labelsets[j],
                votes,
                sums[i : i + 1],
            )


@njit(cache=True)
def softmax_columns(scores, offsets, sharpness):
    """Turn scores into class distributions in place: a softmax over each group of columns.

    Columns ``offsets[p]:offsets[p + 1]`` become ``softmax(sharpness[p] · scores)``.
    """
    for i in range(scores.shape[0]):
        for p in range(len(offsets) - 1):
            low, high = offsets[p], offsets[p + 1]
            top = scores[i, low]
            for c in range(low + 1, high):
                top = max(top, scores[i, c])
            total = 0.0
            for c in range(low, high):
                scores[i, c] = np.exp(sharpness[p] * (scores[i, c] - top))
                total += scores[i, c]
            for c in range(low, high):
                scores[i, c] /= total
