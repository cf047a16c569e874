"""Compiled loops from label columns to the class of every row for every member."""

from __future__ import annotations

import numpy as np
from numba import njit

# Patterns of up to this many labels are ranked by a table of all of them, longer ones by sorting.
TABLE_BITS = 12
# Longer labelsets are ranked a chunk of labels at a time: 31 bits beside a 32-bit rank.
CHUNK_BITS = 31


@njit(cache=True)
def _rank_by_table(keys, bits, ranks):
    """Write the rank of each key among the distinct ones to `ranks`; return how many there are."""
    place = np.full(1 << bits, -1, dtype=np.int32)
    for key in keys:
        place[key] = 0
    found = 0
    for key in range(1 << bits):
        if place[key] == 0:
            place[key] = found
            found += 1
    for i in range(len(keys)):
        ranks[i] = place[keys[i]]
    return found


@njit(cache=True)
def _rank_by_sorting(keys, ranks):
    """Write the rank of each key among the distinct ones to `ranks`; return how many there are."""
    order = np.argsort(keys)
    found = 0
    for position in range(len(order)):
        if position > 0 and keys[order[position]] != keys[order[position - 1]]:
            found += 1
        ranks[order[position]] = found
    return found + 1


@njit(cache=True)
def encode_members(columns, labelsets, codes):
    """Class of every row for every member, and the number of classes of each member.

    Parameters
    ----------
    columns : uint8 array of shape (n_labels, n)
        The label table, transposed.
    labelsets : int32 array of shape (size, k)
        The labels of each member, in the order that ranks patterns.
    codes : int32 array of shape (size, n)
        Filled: ``codes[j, i]`` is the lexicographic rank of the pattern of row ``i`` among the
        patterns that occur.

    Returns
    -------
    int64 array of shape (size,)
        How many patterns occur.
    """
    if labelsets.shape[1] <= TABLE_BITS:
        return _encode_short(columns, labelsets, codes)
    return _encode_long(columns, labelsets, codes)


@njit(cache=True)
def _encode_short(columns, labelsets, codes):
    size, k = labelsets.shape
    n = columns.shape[1]
    counts = np.empty(size, dtype=np.int64)
    # Narrow keys stay in the cache and are shifted many at a time.
    keys = np.empty(n, dtype=np.uint16)
    for j in range(size):
        keys[:] = 0
        for position in range(k):
            column = columns[labelsets[j, position]]
            for i in range(n):
                keys[i] = (keys[i] << np.uint16(1)) | column[i]
        counts[j] = _rank_by_table(keys, k, codes[j])
    return counts


@njit(cache=True)
def _encode_long(columns, labelsets, codes):
    size, k = labelsets.shape
    n = columns.shape[1]
    counts = np.empty(size, dtype=np.int64)
    keys = np.empty(n, dtype=np.int64)
    for j in range(size):
        ranks = codes[j]
        ranks[:] = 0
        for start in range(0, k, CHUNK_BITS):
            for i in range(n):
                keys[i] = ranks[i]
            for position in range(start, min(start + CHUNK_BITS, k)):
                column = columns[labelsets[j, position]]
                for i in range(n):
                    keys[i] = (keys[i] << 1) | column[i]
            counts[j] = _rank_by_sorting(keys, ranks)
    return counts


@njit(cache=True)
def fingerprints(codes):
    """Return a 64-bit hash of every row of `codes`, uint64 ``(size,)``."""
    found = np.empty(codes.shape[0], dtype=np.uint64)
    for j in range(codes.shape[0]):
        # FNV-1a, a whole code at a time.
        key = np.uint64(14695981039346656037)
        for i in range(codes.shape[1]):
            key = (key ^ np.uint64(codes[j, i])) * np.uint64(1099511628211)
        found[j] = key
    return found


@njit(cache=True)
def class_patterns(columns, labelsets, codes, offsets):
    """Return the 0/1 values of the member's labels in each class, uint8 ``(n_classes, k)``."""
    size, k = labelsets.shape
    patterns = np.empty((offsets[-1], k), dtype=np.uint8)
    seen = np.zeros(offsets[-1], dtype=np.bool_)
    for j in range(size):
        missing = offsets[j + 1] - offsets[j]
        for i in range(codes.shape[1]):
            if missing == 0:
                break
            c = offsets[j] + codes[j, i]
            if not seen[c]:
                seen[c] = True
                missing -= 1
                for position in range(k):
                    patterns[c, position] = columns[labelsets[j, position], i]
    return patterns
