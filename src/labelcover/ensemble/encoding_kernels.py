"""Compiled loops from label columns to classes, and from class distributions to confidences.

Arguments of the first are the same:

columns : uint8 array of shape (n_labels, n)
    The label table, transposed.
labelsets : int32 array of shape (size, k)
    The labels of each member, in the order that ranks patterns; k is at most 16. Rows with fewer
    labels end in −1.
ranks : int32 array of shape (size, 2 ** k)
    The lexicographic rank of each pattern among those that occur, −1 for the others.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import row_length

# Rows that are taken through all members at a time.
LANES = 256


@njit(cache=True, nogil=True)
def occurring_patterns(columns, labelsets, ranks):
    """Fill in `ranks`."""
    keys = np.empty(columns.shape[1], dtype=np.uint16)  # narrow keys stay in the cache
    for j in range(len(labelsets)):
        _row_keys(columns, labelsets, j, keys)
        _rank_keys(keys, ranks[j])


@njit(cache=True, nogil=True)
def ranked_patterns(columns, labelsets, ranks):
    """Return the class of every row for every member, ``(size, n)``, given `ranks`."""
    classes = np.empty((len(labelsets), columns.shape[1]), dtype=np.int32)
    keys = np.empty(columns.shape[1], dtype=np.uint16)  # narrow keys stay in the cache
    for j in range(len(labelsets)):
        _row_keys(columns, labelsets, j, keys)
        _look_up(keys, ranks[j], classes[j])
    return classes


@njit(cache=True, nogil=True)
def _row_keys(columns, labelsets, j, keys):
    """Write the pattern of each row for member ``j``, as a binary number."""
    keys[:] = 0
    for position in range(row_length(labelsets, j)):
        column = columns[labelsets[j, position]]
        for i in range(len(keys)):
            keys[i] = (keys[i] << np.uint16(1)) | column[i]


@njit(cache=True, nogil=True)
def _rank_keys(keys, rank):
    """Write the rank of each key among those that occur, −1 for the others."""
    rank[:] = -1
    for i in range(len(keys)):
        rank[keys[i]] = 0
    count = 0
    for key in range(len(rank)):
        if rank[key] == 0:
            rank[key] = count
            count += 1


@njit(cache=True, nogil=True)
def _look_up(keys, rank, classes):
    for i in range(len(keys)):
        classes[i] = rank[keys[i]]


@njit(cache=True, nogil=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, votes, sums):
    """Add what members say of their labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (classes, n)
        Class distributions; that of member ``j`` begins in row ``starts[j]`` (members that
        pose the same problem share their rows).
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
    n = probabilities.shape[1]
    totals = np.empty((sums.shape[1], LANES))
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        totals[:] = 0.0
        for j in range(len(starts)):
            length = row_length(labelsets, j)
            if votes:
                for i in range(first, last):
                    of_row = probabilities[starts[j] : starts[j] + highs[j] - lows[j], i]
                    best = lows[j] + of_row.argmax()
                    for position in range(length):
                        totals[labelsets[j, position], i - first] += patterns[best, position]
                continue
            for c in range(highs[j] - lows[j]):
                of_class = probabilities[starts[j] + c, first:last]
                for position in range(length):
                    if patterns[lows[j] + c, position]:
                        total = totals[labelsets[j, position]]
                        for i in range(len(of_class)):
                            total[i] += of_class[i]
        for i in range(last - first):
            for label in range(sums.shape[1]):
                sums[first + i, label] += totals[label, i]
