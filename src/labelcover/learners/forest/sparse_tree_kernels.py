"""Compiled loops that grow a tree on a sparse table.

The tree is that of `labelcover.learners.forest.forest_kernels`. A word is in few rows, so most
splits take a few rows from many: what a split costs must depend on the few. When a node is split,
the smaller son gets columns of its own: the entries of its rows, column by column. The larger son
goes on with those of its father, from which the entries of rows that have gone are dropped when a
column is read. A row is in the smaller son at most log₂ n times.

Labels are seen through a random sketch: a row has `SKETCH_COLUMNS` numbers, and a one, all of them
times the number of draws.
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
def _read_column(values, rows, s, e, place, node):
    """Drop the entries of rows that are not in the node from `s` to `e`.

    Returns where the others end, and the least and the greatest value of the node.
    """
    start, end = node
    low, high = np.float32(np.inf), np.float32(-np.inf)
    at = s
    while at < e:
        if start <= place[rows[at]] < end:
            low, high = min(low, values[at]), max(high, values[at])
            at += 1
        else:
            e -= 1
            values[at], rows[at] = values[e], rows[e]
    if e - s < end - start:
        # Rows without an entry have the value 0.
        low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
    return e, low, high


@njit(cache=True, nogil=True)
def _score_split(values, rows, s, e, threshold, sketch, total, side, min_leaf):
    """Return the score of a split; -1 if a side has too few draws. `side` is scratch.

    The score is the sum over both sides of the squared sums of the sketch over the number of
    draws, which is largest where the sketch varies least within the sides.
    """
    # One side is counted, that without the zeros; what it leaves is the other.
    counted_above = threshold >= 0.0
    for c in range(WIDTH):
        side[c] = 0.0
    for at in range(s, e):
        if (values[at] > threshold) == counted_above:
            for c in range(WIDTH):
                side[c] += sketch[rows[at], c]
    weight = side[SKETCH_COLUMNS]
    rest = total[SKETCH_COLUMNS] - weight
    if min(weight, rest) < min_leaf:
        return -1.0
    inner, outer = 0.0, 0.0
    for c in range(SKETCH_COLUMNS):
        inner += side[c] * side[c]
        outer += (total[c] - side[c]) * (total[c] - side[c])
    return inner / weight + outer / rest


@njit(cache=True, nogil=True)
def _best_split(columns, present, n_present, place, node, sketch, total, side, how, state):
    """Return the best of some random splits: its feature (-1 for none) and threshold.

    And how many features are present: those that have no entries in the node, or do not vary, are
    taken off the list, for good, since they cannot vary in a part of the node either.
    """
    values, rows, starts, ends = columns
    wanted, min_leaf = how
    best, feature, threshold = -1.0, -1, np.float32(0.0)
    a = 0
    while a < min(wanted, n_present):
        b = a + int(_random(state) * (n_present - a))
        f = present[b]
        ends[f], low, high = _read_column(values, rows, starts[f], ends[f], place, node)
        if not low < high:
            n_present -= 1
            present[b] = present[n_present]
            continue
        present[b] = present[a]
        present[a] = f
        a += 1
        cut = np.float32(low + _random(state) * (high - low))
        if cut >= high:
            cut = low
        score = _score_split(values, rows, starts[f], ends[f], cut, sketch, total, side, min_leaf)
        if score > best:
            best, feature, threshold = score, f, cut
    return feature, threshold, n_present


@njit(cache=True, nogil=True)
def _move_rows(values, own, threshold, rows, place, node):
    """Sort the rows of a node into those at most and above the threshold; return the middle."""
    counted_above = threshold >= 0.0
    middle = node[1] if counted_above else node[0]
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
def _fill_columns(own, table, columns, first, present, sizes):
    """Fill in the entries of some rows, column by column, from place `first` on.

    Returns how many columns have entries. `sizes` is 0 for every feature, before and after.
    """
    data, indices, indptr = table
    values, rows, starts, ends = columns
    n_present = 0
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            f = indices[t]
            if sizes[f] == 0:
                present[n_present] = f
                n_present += 1
            sizes[f] += 1
    for a in range(n_present):
        f = present[a]
        starts[f] = ends[f] = first
        first += sizes[f]
        sizes[f] = 0
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            p = ends[indices[t]]
            values[p], rows[p] = data[t], i
            ends[indices[t]] = p + 1
    return n_present


@njit(cache=True, nogil=True)
def _sum_rows(own, sketch, total):
    """Set `total` to the sum of some rows of the sketch; return that of their squared lengths."""
    square = 0.0
    for c in range(WIDTH):
        total[c] = 0.0
    for i in own:
        length = 0.0
        for c in range(WIDTH):
            total[c] += sketch[i, c]
            if c < SKETCH_COLUMNS:
                length += sketch[i, c] * sketch[i, c]
        square += length / sketch[i, SKETCH_COLUMNS]
    return square


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
def _longer(array, size):
    """Return an array that begins with `array` and has twice `size`."""
    found = np.empty(2 * size, array.dtype)
    for at in range(len(array)):
        found[at] = array[at]
    return found


@njit(cache=True, nogil=True)
def _n_entries(own, indptr):
    size = 0
    for i in own:
        size += indptr[i + 1] - indptr[i]
    return size


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
    indptr, n = table[2], len(rows)
    place = np.full(len(sketch), -1, np.int32)
    for at in range(n):
        place[rows[at]] = at
    feature = np.full(2 * n, -1, np.int32)
    threshold = np.zeros(2 * n, np.float32)
    left, right = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    # A waiting node has at least as many rows as its brother, which is grown before it, so that few
    # wait at a time: what is kept of a node is kept once for each of these levels.
    levels = 2
    while 2 ** (levels - 2) < n:
        levels += 1
    starts = np.empty((levels, n_features), np.int32)
    ends, present = np.empty_like(starts), np.empty_like(starts)
    n_present, sizes = np.zeros(levels, np.int32), np.zeros(n_features, np.int32)
    totals, side, squares = np.empty((levels, WIDTH)), np.empty(WIDTH), np.empty(levels)
    # The number of each node that waits, its first and last row, and where its columns end.
    nodes = np.empty((levels, 4), np.int64)
    n_entries = _n_entries(rows, indptr)
    values, owners = np.empty(2 * n_entries, np.float32), np.empty(2 * n_entries, np.int32)
    columns = (values, owners, starts[0], ends[0])
    n_present[0] = _fill_columns(rows, table, columns, 0, present[0], sizes)
    squares[0] = _sum_rows(rows, sketch, totals[0])
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3] = 0, 0, n, n_entries
    at, n_nodes = 0, 1
    while at >= 0:
        number, start, end = nodes[at, 0], nodes[at, 1], nodes[at, 2]
        node, best, cut = (start, end), -1, np.float32(0.0)
        if _may_split(totals[at], squares[at], min_leaf):
            best, cut, n_present[at] = _best_split(
                (values, owners, starts[at], ends[at]), present[at], n_present[at], place, node,
                sketch, totals[at], side, (wanted, min_leaf), state,
            )  # fmt: skip
        if best < 0:
            left[number], right[number] = start, end
            at -= 1
            continue
        s, e = starts[at, best], ends[at, best]
        middle = _move_rows(values[s:e], owners[s:e], cut, rows, place, node)
        feature[number], threshold[number] = best, cut
        left[number], right[number] = n_nodes, n_nodes + 1
        is_left = middle - start < end - middle
        first, last = (start, middle) if is_left else (middle, end)
        small, son = rows[first:last], at + 1
        squares[son] = _sum_rows(small, sketch, totals[son])
        for c in range(WIDTH):
            totals[at, c] -= totals[son, c]
        squares[at] -= squares[son]
        nodes[son, 0], nodes[son, 1], nodes[son, 2] = n_nodes + 1 - is_left, first, last
        nodes[at, 0] = n_nodes + is_left
        nodes[at, 1], nodes[at, 2] = (middle, end) if is_left else (start, middle)
        n_nodes += 2
        at = son
        if _may_split(totals[son], squares[son], min_leaf):
            begin = nodes[son - 1, 3]
            nodes[son, 3] = begin + _n_entries(small, indptr)
            if nodes[son, 3] > len(values):
                values = _longer(values, nodes[son, 3])
                owners = _longer(owners, nodes[son, 3])
            columns = (values, owners, starts[son], ends[son])
            n_present[son] = _fill_columns(small, table, columns, begin, present[son], sizes)
    return feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes]
