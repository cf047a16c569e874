"""Compiled loops from the members' class distributions to one confidence per label."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import row_length

# Rows that are taken through all members at a time, so that a pattern is looked at once for them.
LANES = 16


@njit(cache=True, nogil=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, votes, sums):
    """Add what members say of their labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (n, columns)
        Class distributions; that of member ``j`` begins at column ``starts[j]`` (members that
        pose the same problem share their columns).
    patterns : uint8 array of shape (n_classes, k)
        The 0/1 values of the member's labels in each class, for ``j`` the rows
        ``lows[j]:highs[j]``.
    labelsets : int32 array of shape (members, k)
        Which labels those are; rows with fewer than k end in −1.
    votes : bool
        Whether the most probable class (the first on ties) speaks alone.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    tile = np.empty((sums.shape[1], LANES))
    for first in range(0, len(probabilities), LANES):
        lanes = min(LANES, len(probabilities) - first)
        tile[:] = 0.0
        for j in range(len(starts)):
            length = row_length(labelsets, j)
            if votes:
                for lane in range(lanes):
                    row = probabilities[first + lane, starts[j] : starts[j] + highs[j] - lows[j]]
                    best = lows[j] + row.argmax()
                    for position in range(length):
                        tile[labelsets[j, position], lane] += patterns[best, position]
                continue
            for a in range(highs[j] - lows[j]):
                for position in range(length):
                    if patterns[lows[j] + a, position]:
                        total = tile[labelsets[j, position]]
                        for lane in range(lanes):
                            total[lane] += probabilities[first + lane, starts[j] + a]
        for lane in range(lanes):
            for label in range(sums.shape[1]):
                sums[first + lane, label] += tile[label, lane]
