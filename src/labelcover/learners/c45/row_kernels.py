"""Which rows of a node go to which of its sons, and what they weigh by class."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from labelcover.learners.c45.split_kernels import TOLERANCE


@njit(cache=True, nogil=True)
def split_rows(value, threshold, nominal, n_sons, rows, weights):
    """Return rows and weights of all sons one after the other, where each starts, and the routes.

    The route of a row is the number of its son, or -1 when its value is missing and it goes to
    every son that has some weight; the last thing returned says which sons have.
    """
    n = len(rows)
    route = np.empty(n, np.int32)
    share = np.zeros(n_sons)
    sizes = np.zeros(n_sons + 1, np.int64)
    n_missing = 0
    for i in range(n):
        v = value[rows[i]]
        if math.isnan(v):
            route[i] = -1
            n_missing += 1
        else:
            son = int(v) if nominal else (0 if v <= threshold else 1)
            route[i] = son
            share[son] += weights[i]
            sizes[son + 1] += 1
    if n_missing:
        known = share.sum()
        for son in range(n_sons):
            share[son] = 1.0 / n_sons if known < TOLERANCE else share[son] / known
            if share[son] > TOLERANCE:
                sizes[son + 1] += n_missing
    starts = np.cumsum(sizes)
    cursor = starts[:-1].copy()
    son_rows = np.empty(starts[-1], np.int32)
    son_weights = np.empty(starts[-1])
    for i in range(n):
        low, high = (route[i], route[i] + 1) if route[i] >= 0 else (0, n_sons)
        for son in range(low, high):
            part = 1.0 if route[i] >= 0 else share[son]
            if part > TOLERANCE:
                son_rows[cursor[son]] = rows[i]
                son_weights[cursor[son]] = part * weights[i]
                cursor[son] += 1
    return son_rows, son_weights, starts, route, share > TOLERANCE


@njit(cache=True, nogil=True)
def part_rows(table, f, threshold, rows, starts):
    """Bring the rows of each son side by side, in place, and write where each son starts.

    For rows of weight 1 whose value is known. Two sons have the values up to `threshold`, which is
    0 for a nominal feature, and the others; several have one nominal value each.
    """
    value, switches = table[0][f], table[3]
    n_sons = len(starts) - 1
    for son in range(n_sons):
        starts[son] = 0
    starts[n_sons] = len(rows)
    if n_sons == 2:
        left = 0
        is_switch = switches.column_starts[f] < switches.column_starts[f + 1]
        for i in range(len(rows)):
            row = rows[i]
            if is_switch:  # a row's marks stand side by side, and rows go through many splits
                goes_left = switches.is_rare[row, f] != switches.rare_is_high[f]
            else:
                goes_left = value[row] <= threshold
            if goes_left:
                rows[i] = rows[left]
                rows[left] = row
                left += 1
        starts[1] = left
        return
    for row in rows:
        son = int(value[row])
        if son + 1 < n_sons:
            starts[son + 1] += 1
    for son in range(1, n_sons):
        starts[son] += starts[son - 1]
    cursor = starts.copy()
    for row in rows.copy():
        son = int(value[row])
        rows[cursor[son]] = row
        cursor[son] += 1


@njit(cache=True)
def part_segment(table, f, threshold, members, place, low, high, starts):
    """Do as `part_rows` with ``members[low:high]``; `place` says where in `members` a row is."""
    switches = table[3]
    rare_rows = switches.rows[switches.column_starts[f] : switches.column_starts[f + 1]]
    if not 0 < len(rare_rows) < high - low:
        part_rows(table, f, threshold, members[low:high], starts)
        for at in range(low, high):
            place[members[at]] = at
        return
    # Only the rows with the rarer value are looked at: they go to their end of the segment.
    edge, step = (high - 1, -1) if switches.rare_is_high[f] else (low, 1)
    n_rare = 0
    for row in rare_rows:
        at = place[row]
        if low <= at < high:
            other = members[edge]
            members[at], place[other] = other, at
            members[edge], place[row] = row, edge
            edge += step
            n_rare += 1
    starts[0], starts[2] = 0, high - low
    starts[1] = high - low - n_rare if switches.rare_is_high[f] else n_rare


@njit(cache=True, nogil=True)
def put_class_weights(label, rows, weights, dist):
    """Write the weight of every class among `rows` to `dist`."""
    dist[:] = 0.0
    for i in range(len(rows)):
        dist[label[rows[i]]] += weights[i]


@njit(cache=True, nogil=True)
def class_weights(label, rows, weights, n_classes):
    """Return the weight of every class among `rows`."""
    dist = np.empty(n_classes)
    put_class_weights(label, rows, weights, dist)
    return dist
