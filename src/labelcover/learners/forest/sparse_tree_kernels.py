"""Compiled loops that grow a tree on a sparse table.

The tree is that of `labelcover.learners.forest.forest_kernels`. A word is in few rows, so most
splits take a few rows from many: what a split costs must depend on the few. The entries of every
column are kept in one array, in which those of a node lie side by side. When a node is split, the
rows of the smaller son are taken out, entry by entry; what is left is the larger son. A row is in
the smaller son at most log₂ n times.

Labels are seen through a random sketch: a row of `SKETCH_COLUMNS` numbers, with the number of draws
as one more, all of them times the number of draws.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.forest.forest_kernels import _random

# Numbers of a row: columns of the sketch, and one for the draws.
WIDTH = 8
SKETCH_COLUMNS = WIDTH - 1
# Rows whose sketches vary less than this, per draw, have the same labels.
ALIKE = 1e-9


@njit(cache=True, nogil=True)
def _try_split(values, rows, n_rows, sketch, total, side, min_leaf, u):
    """Return the score of a split at a random threshold, and the threshold.

    The score is the sum over both sides of the squared sums of the sketch over the number of
    draws, which is largest where the sketch varies least within the sides; -1 for no split, -2
    where the feature is constant. Rows without a value have the value 0. `side` is scratch.
    """
    low, high = (np.inf, -np.inf) if len(values) == n_rows else (0.0, 0.0)
    for v in values:
        low, high = min(low, v), max(high, v)
    if not low < high:
        return -2.0, np.float32(0.0)
    threshold = np.float32(low + u * (high - low))
    if threshold >= high:
        threshold = np.float32(low)
    # One side is counted, that without the zeros; what it leaves is the other.
    counted_above = threshold >= 0.0
    for c in range(WIDTH):
        side[c] = 0.0
    for at in range(len(values)):
        if (values[at] > threshold) == counted_above:
            own = sketch[rows[at]]
            for c in range(WIDTH):
                side[c] += own[c]
    weight = side[SKETCH_COLUMNS]
    rest = total[SKETCH_COLUMNS] - weight
    if min(weight, rest) < min_leaf:
        return -1.0, threshold
    inner, outer = 0.0, 0.0
    for c in range(SKETCH_COLUMNS):
        inner += side[c] * side[c]
        outer += (total[c] - side[c]) * (total[c] - side[c])
    return inner / weight + outer / rest, threshold


@njit(cache=True, nogil=True)
def _best_split(columns, present, n_present, n_rows, sketch, total, side, draw, state):
    """Return the best of some random splits: its feature (-1 for none) and threshold.

    And how many features are present: those that have no entries in the node, or do not vary, are
    taken off the list, for good, since they cannot vary in a part of the node either.
    """
    values, rows, starts, ends = columns
    wanted, min_leaf = draw
    best, feature, threshold = -1.0, -1, np.float32(0.0)
    a = 0
    while a < min(wanted, n_present):
        b = a + int(_random(state) * (n_present - a))
        f = present[b]
        score, cut = -2.0, np.float32(0.0)
        s, e = starts[f], ends[f]
        if s < e:
            score, cut = _try_split(
                values[s:e], rows[s:e], n_rows, sketch, total, side, min_leaf, _random(state)
            )
        if score == -2.0:
            n_present -= 1
            present[b] = present[n_present]
            continue
        present[b] = present[a]
        present[a] = f
        a += 1
        if score > best:
            best, feature, threshold = score, f, cut
    return feature, threshold, n_present


@njit(cache=True, nogil=True)
def _move_rows(values, own, threshold, rows, place, start, end):
    """Sort the rows of a node into those at most and above the threshold; return the middle."""
    counted_above = threshold >= 0.0
    middle = end if counted_above else start
    for at in range(len(values)):
        if (values[at] > threshold) == counted_above:
            i = own[at]
            middle -= counted_above
            p, other = place[i], rows[middle]
            rows[p], place[other] = other, p
            rows[middle], place[i] = i, middle
            middle += not counted_above
    return middle


@njit(cache=True, nogil=True)
def _take_entries(taken, table, columns, entries, where, son_starts, son_ends, son_present, is_new):
    """Take the entries of some rows out of the columns of a node; return how many have any.

    They stay where they are taken to, side by side, as the columns of a son. `is_new` is True for
    every feature, before and after.
    """
    _, indices, indptr = table
    values, rows, _, ends = columns
    n_present = 0
    for i in taken:
        for t in range(indptr[i], indptr[i + 1]):
            f = indices[t]
            last = ends[f] - 1
            p, other = where[t], entries[last]
            v = values[p]
            entries[p], values[p], rows[p], where[other] = other, values[last], rows[last], p
            entries[last], values[last], rows[last], where[t] = t, v, i, last
            ends[f] = last
            son_starts[f] = last
            if is_new[f]:
                is_new[f] = False
                son_ends[f] = last + 1
                son_present[n_present] = f
                n_present += 1
    for a in range(n_present):
        is_new[son_present[a]] = True
    return n_present


@njit(cache=True, nogil=True)
def _fill_columns(own, table, columns, entries, where, present):
    """Fill in the entries of some rows column by column; return how many columns have any."""
    data, indices, indptr = table
    values, rows, starts, ends = columns
    starts[:], ends[:] = 0, 0
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            ends[indices[t]] += 1
    n_present, filled = 0, 0
    for f in range(len(starts)):
        starts[f] = filled
        filled += ends[f]
        if ends[f]:
            present[n_present] = f
            n_present += 1
        ends[f] = starts[f]
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            p = ends[indices[t]]
            entries[p], values[p], rows[p], where[t] = t, data[t], i, p
            ends[indices[t]] = p + 1
    return n_present


@njit(cache=True, nogil=True)
def _may_split(total, square, min_leaf):
    """Return whether rows are enough to split, and vary; `square` is the sum of squared lengths."""
    weight = total[SKETCH_COLUMNS]
    if weight < 2 * min_leaf:
        return False
    for c in range(SKETCH_COLUMNS):
        square -= total[c] * total[c] / weight
    return square > ALIKE * weight


@njit(cache=True, nogil=True)
def grow_sparse_tree(table, sketch, rows, n_features, wanted, min_leaf, state):
    """Return the four arrays of a tree, whose leaves are slices of `rows`.

    Parameters
    ----------
    table : (data, indices, indptr)
        CSR, float32.
    sketch : ndarray of shape (n, WIDTH)
        Of the labels of each row, times the number of draws, and the number of draws last.
    rows : int32 array
        Those that were drawn; sorted into leaves in place.
    wanted : int
        How many features that vary are tried in a node.
    min_leaf : int
        Least number of draws in a leaf.
    state : uint64 array of shape (1,)
    """
    _, indices, indptr = table
    n, n_entries = len(rows), 0
    place = np.full(len(sketch), -1, np.int32)
    for at in range(n):
        place[rows[at]] = at
        n_entries += indptr[rows[at] + 1] - indptr[rows[at]]
    feature = np.full(2 * n, -1, np.int32)
    threshold = np.zeros(2 * n, np.float32)
    left, right = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    # A waiting node has at least as many rows as all that are grown before it together, so that
    # few wait at a time: what is kept of a node is kept once for each of these levels.
    levels = 2
    while 2 ** (levels - 2) < n:
        levels += 1
    values, entry_rows = np.empty(n_entries, np.float32), np.empty(n_entries, np.int32)
    entries, where = np.empty(n_entries, np.int32), np.empty(len(indices), np.int32)
    starts = np.empty((levels, n_features), np.int32)
    ends, present = np.empty_like(starts), np.empty_like(starts)
    n_present = np.zeros(levels, np.int32)
    totals, side, squares = np.zeros((levels, WIDTH)), np.zeros(WIDTH), np.zeros(levels)
    is_new = np.ones(n_features, np.bool_)
    # Number, first and last row of the nodes that wait.
    nodes = np.empty((levels, 3), np.int32)
    n_present[0] = _fill_columns(
        rows, table, (values, entry_rows, starts[0], ends[0]), entries, where, present[0]
    )
    for i in rows:
        squares[0] += _add_row(sketch[i], totals[0])
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, 0, n
    at, n_nodes = 0, 1
    while at >= 0:
        number, start, end = nodes[at, 0], nodes[at, 1], nodes[at, 2]
        best, cut = -1, np.float32(0.0)
        columns = (values, entry_rows, starts[at], ends[at])
        if _may_split(totals[at], squares[at], min_leaf):
            best, cut, n_present[at] = _best_split(
                columns, present[at], n_present[at], end - start, sketch, totals[at], side,
                (wanted, min_leaf), state,
            )  # fmt: skip
        if best < 0:
            left[number], right[number] = start, end
            at -= 1
            continue
        s, e = starts[at, best], ends[at, best]
        middle = _move_rows(values[s:e], entry_rows[s:e], cut, rows, place, start, end)
        feature[number], threshold[number] = best, cut
        left[number], right[number] = n_nodes, n_nodes + 1
        is_left = middle - start < end - middle
        small_start, small_end = (start, middle) if is_left else (middle, end)
        small = rows[small_start:small_end]
        son = at + 1
        totals[son], squares[son] = 0.0, 0.0
        for i in small:
            squares[son] += _add_row(sketch[i], totals[son])
        for c in range(WIDTH):
            totals[at, c] -= totals[son, c]
        squares[at] -= squares[son]
        nodes[son, 0], nodes[son, 1], nodes[son, 2] = n_nodes + 1 - is_left, small_start, small_end
        nodes[at, 0] = n_nodes + is_left
        nodes[at, 1], nodes[at, 2] = (middle, end) if is_left else (start, middle)
        n_nodes += 2
        is_leaf = not _may_split(totals[son], squares[son], min_leaf)
        if not is_leaf or _may_split(totals[at], squares[at], min_leaf):
            n_present[son] = _take_entries(
                small, table, columns, entries, where, starts[son], ends[son], present[son], is_new
            )
        at = son
    return feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes]


@njit(cache=True, nogil=True)
def _add_row(own, total):
    """Add a row of the sketch to `total`; return the squared length of its labels, times draws."""
    square = 0.0
    for c in range(WIDTH):
        total[c] += own[c]
        if c < SKETCH_COLUMNS:
            square += own[c] * own[c]
    return square / own[SKETCH_COLUMNS]
