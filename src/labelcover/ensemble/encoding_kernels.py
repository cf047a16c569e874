"""Compiled loops from label columns to the class of every row for every member.

Arguments are the same in all:

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


@njit(cache=True, nogil=True)
def encode_members(columns, labelsets, ranks):
    """Fill in `ranks`; return the class of every row for every member, ``(size, n)``.

    A class is the rank of the row's pattern.
    """
    classes = np.empty((len(labelsets), columns.shape[1]), dtype=np.int32)
    keys = _room_for_keys(columns)
    for j in range(len(labelsets)):
        _row_keys(columns, labelsets, j, keys)
        _rank_keys(keys, ranks[j])
        _look_up(keys, ranks[j], classes[j])
    return classes


@njit(cache=True, nogil=True)
def occurring_patterns(columns, labelsets, ranks):
    """Fill in `ranks`."""
    keys = _room_for_keys(columns)
    for j in range(len(labelsets)):
        _row_keys(columns, labelsets, j, keys)
        _rank_keys(keys, ranks[j])


@njit(cache=True, nogil=True)
def ranked_patterns(columns, labelsets, ranks):
    """Return the class of every row for every member, ``(size, n)``, given `ranks`."""
    classes = np.empty((len(labelsets), columns.shape[1]), dtype=np.int32)
    keys = _room_for_keys(columns)
    for j in range(len(labelsets)):
        _row_keys(columns, labelsets, j, keys)
        _look_up(keys, ranks[j], classes[j])
    return classes


@njit(cache=True, nogil=True)
def _room_for_keys(columns):
    # Narrow keys stay in the cache and are shifted many at a time.
    return np.empty(columns.shape[1], dtype=np.uint16)


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
