"""Compiled hash tables: one scheme of open addressing, for integers and for rows of integers.

A table is an array of slots whose length is a power of two; at most half of them are taken. A
slot holds −1 if it is free, else a non-negative integer or the number of a row. What belongs
into slot s and finds it taken goes into the next free one.
"""

from __future__ import annotations

import numpy as np
from numba import njit

FREE = -1
# Start and prime of the hash function FNV-1a, here fed with whole integers.
_START = np.uint64(14695981039346656037)
_PRIME = np.uint64(1099511628211)


@njit(cache=True)
def new_slots(count):
    """Return free slots for `count` entries."""
    length = 16
    while length < 2 * count:
        length *= 2
    return np.full(length, FREE, dtype=np.int64)


@njit(cache=True)
def mixed(number):
    """Return 64 well-spread bits for an integer."""
    bits = np.uint64(number)
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(29))


@njit(cache=True)
def place_of_integer(slots, integer, key):
    """Return the slot of a non-negative `integer`, or the free one where it would go.

    `key` is ``mixed(integer)``.
    """
    mask = len(slots) - 1
    place = np.int64(key & np.uint64(mask))
    while slots[place] != FREE and slots[place] != integer:
        place = (place + 1) & mask
    return place


@njit(cache=True)
def row_key(row):
    """Return 64 well-spread bits for a row of integers."""
    key = _START
    for x in row:
        key = (key ^ np.uint64(x)) * _PRIME
    return mixed(key)


@njit(cache=True)
def place_of_row(slots, keys, rows, others, i, key):
    """Return the slot with the number of a row like ``others[i]``, or the free one where it goes.

    `keys` are the keys of `rows`, and `key` is that of ``others[i]``. The row is given by its
    table and number because a view of it would cost as much as the search.
    """
    mask = len(slots) - 1
    place = np.int64(key & np.uint64(mask))
    while slots[place] != FREE and not (
        keys[slots[place]] == key and _is_same(rows, slots[place], others, i)
    ):
        place = (place + 1) & mask
    return place


@njit(cache=True)
def _is_same(rows, i, others, j):
    x = 0
    while x < rows.shape[1] and rows[i, x] == others[j, x]:
        x += 1
    return x == rows.shape[1]


@njit(cache=True)
def alike_rows(table):
    """Group the rows of a table of integers that are the same.

    Returns
    -------
    group : int64 array of shape (n_rows,)
        The group of each row; groups are numbered in the order of their first rows.
    first : int64 array of shape (n_groups,)
        The first row of each group.
    """
    keys = np.empty(len(table), dtype=np.uint64)
    for i in range(len(table)):
        keys[i] = row_key(table[i])
    return _groups(table, keys)


@njit(cache=True)
def packed_rows(table):
    """Return a table of zeros and ones with 31 columns in each, as int32."""
    n, m = table.shape
    packed = np.zeros((n, (m + 30) // 31), dtype=np.int32)
    for i in range(n):
        for word in range(packed.shape[1]):
            bits = 0
            for j in range(31 * word, min(31 * word + 31, m)):
                bits = bits << 1 | table[i, j]
            packed[i, word] = bits
    return packed


@njit(cache=True)
def _groups(rows, keys):
    """Group of each row, and the first row of each group."""
    slots = new_slots(len(rows))
    group = np.empty(len(rows), dtype=np.int64)
    first = np.empty(len(rows), dtype=np.int64)
    found = 0
    for i in range(len(rows)):
        place = place_of_row(slots, keys, rows, rows, i, keys[i])
        if slots[place] == FREE:
            slots[place] = i
            group[i], first[found] = found, i
            found += 1
        else:
            group[i] = group[slots[place]]
    return group, first[:found].copy()
