"""Compiled loops from label columns to the class of every row for every member."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import row_length


@njit(cache=True, nogil=True)
def encode_members(columns, labelsets, classes, patterns):
    """Class of every row for every member, by a table of all patterns of its labels.

    Parameters
    ----------
    columns : uint8 array of shape (n_labels, n)
        The label table, transposed.
    labelsets : int32 array of shape (size, k)
        The labels of each member, in the order that ranks patterns; k is at most 16. Rows with
        fewer labels end in −1.
    classes : int32 array of shape (size, n)
        Filled: ``classes[j, i]`` is the lexicographic rank of the pattern of row ``i`` among the
        patterns that occur.
    patterns : uint16 array of shape (size, most)
        Filled: the patterns that occur, as binary numbers, ascending.

    Returns
    -------
    int64 array of shape (size,)
        How many patterns occur.
    """
    size, k = labelsets.shape
    n = columns.shape[1]
    counts = np.zeros(size, dtype=np.int64)
    # Narrow keys stay in the cache and are shifted many at a time.
    keys = np.empty(n, dtype=np.uint16)
    rank = np.empty(1 << k, dtype=np.int32)
    for j in range(size):
        keys[:] = 0
        length = row_length(labelsets, j)
        for position in range(length):
            column = columns[labelsets[j, position]]
            for i in range(n):
                keys[i] = (keys[i] << np.uint16(1)) | column[i]
        rank[:] = -1
        for i in range(n):
            rank[keys[i]] = 0
        for key in range(1 << length):
            if rank[key] == 0:
                rank[key] = counts[j]
                patterns[j, counts[j]] = key
                counts[j] += 1
        for i in range(n):
            classes[j, i] = rank[keys[i]]
    return counts


@njit(cache=True, nogil=True)
def occurring_patterns(columns, labelsets, ranks):
    """Rank the patterns of every member that occur in some row; return how many there are.

    Parameters
    ----------
    columns, labelsets
        As in `encode_members`.
    ranks : int32 array of shape (size, 2 ** k)
        Filled: the rank of each pattern among those that occur, −1 for the others.
    """
    size, n = labelsets.shape[0], columns.shape[1]
    counts = np.zeros(size, dtype=np.int64)
    keys = np.empty(n, dtype=np.uint16)
    for j in range(size):
        length = row_length(labelsets, j)
        keys[:] = 0
        for position in range(length):
            column = columns[labelsets[j, position]]
            for i in range(n):
                keys[i] = (keys[i] << np.uint16(1)) | column[i]
        ranks[j, :] = -1
        for i in range(n):
            ranks[j, keys[i]] = 0
        for key in range(1 << length):
            if ranks[j, key] == 0:
                ranks[j, key] = counts[j]
                counts[j] += 1
    return counts


@njit(cache=True, nogil=True)
def ranked_patterns(columns, labelsets, ranks):
    """Return the class of every row for every member, ``(size, n)``, given ranks of patterns."""
    size, n = labelsets.shape[0], columns.shape[1]
    classes = np.empty((size, n), dtype=np.int32)
    keys = np.empty(n, dtype=np.uint16)
    for j in range(size):
        keys[:] = 0
        for position in range(row_length(labelsets, j)):
            column = columns[labelsets[j, position]]
            for i in range(n):
                keys[i] = (keys[i] << np.uint16(1)) | column[i]
        for i in range(n):
            classes[j, i] = ranks[j, keys[i]]
    return classes
