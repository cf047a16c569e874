"""Compiled loops of the label forest: growing a tree, and the labels that its leaves hold.

A tree is four arrays with one entry per node, the root first: ``feature`` (-1 in a leaf),
``threshold`` and ``left``, ``right``: the sons, or, in a leaf, where its rows start and end among
the rows of the tree, which are stored leaf by leaf. A row goes left if its value is at most the
threshold. Labels are never a table here: row ``i`` has the labels
``label_indices[label_starts[i]:label_starts[i + 1]]``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# How many features may be drawn for each that is wanted, where columns of a sparse table are read.
DRAWS = 8


@njit(cache=True, nogil=True)
def _random(state):
    """Advance the generator (xorshift64*) and return a number in [0, 1)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _label_totals(rows, counts, labels, totals):
    """Fill in how often each label occurs among some rows; return the sums of these and squares."""
    label_indices, label_starts = labels
    plain, squares = 0.0, 0.0
    for i in rows:
        for at in range(label_starts[i], label_starts[i + 1]):
            l = label_indices[at]
            squares += counts[i] * (2.0 * totals[l] + counts[i])
            plain += counts[i]
            totals[l] += counts[i]
    return plain, squares


@njit(cache=True, nogil=True)
def _forget(rows, labels, totals):
    label_indices, label_starts = labels
    for i in rows:
        for at in range(label_starts[i], label_starts[i + 1]):
            totals[label_indices[at]] = 0.0


@njit(cache=True, nogil=True)
def _try_split(where, values, rows, counts, node, labels, totals, part, u):
    """Return the score of a split at a random threshold, and the threshold.

    The score is the sum over both sides of the squared label counts over the number of rows, which
    is largest where the variance of the labels within the sides is least; -1 for no split, -2
    where the feature is constant. Rows that are not in `where` have the value 0.
    """
    weight, squares, min_leaf = node
    low, high = (np.inf, -np.inf) if len(where) == len(rows) else (0.0, 0.0)
    for v in values:
        low, high = min(low, v), max(high, v)
    if not low < high:
        return -2.0, np.float32(0.0)
    threshold = np.float32(low + u * (high - low))
    if threshold >= high:
        threshold = np.float32(low)
    label_indices, label_starts = labels
    # One side is counted, that without the zeros; what it leaves is the other.
    counted_above = threshold >= 0.0
    side, own, cross = 0.0, 0.0, 0.0
    for at in range(len(where)):
        if (values[at] > threshold) == counted_above:
            i = rows[where[at]]
            c = counts[i]
            side += c
            for j in range(label_starts[i], label_starts[i + 1]):
                l = label_indices[j]
                own += c * (2.0 * part[l] + c)
                cross += c * totals[l]
                part[l] += c
    for at in range(len(where)):
        if (values[at] > threshold) == counted_above:
            i = rows[where[at]]
            for j in range(label_starts[i], label_starts[i + 1]):
                part[label_indices[j]] = 0.0
    if min(side, weight - side) < min_leaf:
        return -1.0, threshold
    return own / side + (squares - 2.0 * cross + own) / (weight - side), threshold


@njit(cache=True, nogil=True)
def _read_column(table, f, rows, place, start, where, values):
    """Fill in which rows of a node have a value in feature `f`, and the values; return how many."""
    dense, (data, indices, indptr), _ = table
    if len(dense):
        column = dense[f]
        for at in range(len(rows)):
            where[at], values[at] = at, column[rows[at]]
        return len(rows)
    found = 0
    for at in range(indptr[f], indptr[f + 1]):
        position = place[indices[at]] - start
        if 0 <= position < len(rows):
            where[found], values[found] = position, data[at]
            found += 1
    return found


@njit(cache=True, nogil=True)
def _draw_present(table, rows, wanted, state, seen, mark, drawn):
    """Draw features that are not zero in all rows of a node; return how many there are.

    Fills in `drawn`, and `mark` with the place of each among the drawn.
    """
    _, indices, indptr = table[2]
    n_seen = 0
    for i in rows:
        for at in range(indptr[i], indptr[i + 1]):
            f = indices[at]
            if mark[f] == -1:
                mark[f] = -2
                seen[n_seen] = f
                n_seen += 1
    n_drawn = min(wanted, n_seen)
    for a in range(n_drawn):
        b = a + int(_random(state) * (n_seen - a))
        seen[a], seen[b] = seen[b], seen[a]
        drawn[a] = seen[a]
    for a in range(n_seen):
        mark[seen[a]] = -1
    for a in range(n_drawn):
        mark[drawn[a]] = a
    return n_drawn


@njit(cache=True, nogil=True)
def _read_rows(table, rows, mark, sizes, where, values):
    """Fill in, for each drawn feature, which rows of a node have a value, and the values."""
    data, indices, indptr = table[2]
    for a in range(len(sizes)):
        sizes[a] = 0
    for position in range(len(rows)):
        i = rows[position]
        for at in range(indptr[i], indptr[i + 1]):
            a = mark[indices[at]]
            if a >= 0:
                where[a, sizes[a]], values[a, sizes[a]] = position, data[at]
                sizes[a] += 1


@njit(cache=True, nogil=True)
def _copy(where, values, size, best_where, best_values):
    for at in range(size):
        best_where[at], best_values[at] = where[at], values[at]


@njit(cache=True, nogil=True)
def grow_tree(table, labels, counts, rows, order, n_labels, wanted, min_leaf, state):
    """Return the four arrays of a tree, whose leaves are slices of `rows`.

    Parameters
    ----------
    table : (dense, (data, indices, indptr), (data, indices, indptr))
        Features by rows, float32, if dense, else an empty table; columns and rows if sparse.
    labels : (label_indices, label_starts)
    counts : ndarray of shape (n,)
        How often each row was drawn.
    rows : int32 array
        Those that were drawn; sorted into leaves in place.
    order : int32 array of shape (n_features,)
        All features in any order; changed.
    wanted : int
        How many features that are not constant are tried in a node.
    min_leaf : int
        Least number of draws in a leaf.
    state : uint64 array of shape (1,)
    """
    is_dense = len(table[0]) > 0
    n, n_features = len(rows), len(order)
    place = np.full(len(counts), -1, np.int32)
    for at in range(n):
        place[rows[at]] = at
    feature = np.full(2 * n, -1, np.int32)
    threshold = np.zeros(2 * n, np.float32)
    left, right = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    totals, part = np.zeros(n_labels), np.zeros(n_labels)
    where, values = np.empty(n, np.int32), np.empty(n, np.float32)
    best_where, best_values = np.empty(n, np.int32), np.empty(n, np.float32)
    mark = np.full(0 if is_dense else n_features, -1, np.int32)
    seen, drawn = np.empty(len(mark), np.int32), np.empty(wanted, np.int32)
    sizes = np.empty(wanted, np.int32)
    # Up to so many rows of a node are read twice: that costs as much as reading the columns drawn,
    # of which about one in four has values in a node of this size.
    cells = len(table[1][0])
    columns = 4.0 * wanted * cells / max(n_features, 1)
    few_rows = columns / max(2.0 * cells / len(counts), 1e-9)
    moved = np.empty(n, np.int32)
    stack = np.empty((2 * n, 3), np.int32)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    waiting, n_nodes = 1, 1
    while waiting:
        waiting -= 1
        number, start, end = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        own = rows[start:end]
        weight = 0.0
        for i in own:
            weight += counts[i]
        plain, squares = _label_totals(own, counts, labels, totals)
        node = (weight, squares, min_leaf)
        best, best_feature, best_threshold, best_size = -1.0, -1, np.float32(0.0), 0
        if weight >= 2 * min_leaf and plain - squares / weight > 1e-9:
            tried = 0
            if is_dense or len(own) > few_rows:
                for a in range(n_features if is_dense else min(n_features, DRAWS * wanted)):
                    b = a + int(_random(state) * (n_features - a))
                    order[a], order[b] = order[b], order[a]
                    size = _read_column(table, order[a], own, place, start, where, values)
                    score, cut = _try_split(
                        where[:size], values[:size], own, counts, node, labels, totals, part,
                        _random(state),
                    )  # fmt: skip
                    if score > best:
                        best, best_feature, best_threshold = score, order[a], cut
                        best_size = size
                        _copy(where, values, size, best_where, best_values)
                    tried += score > -2.0
                    if tried == wanted:
                        break
            if not is_dense and tried == 0:
                n_drawn = _draw_present(table, own, wanted, state, seen, mark, drawn)
                places = np.empty((n_drawn, len(own)), np.int32)
                block = np.empty((n_drawn, len(own)), np.float32)
                _read_rows(table, own, mark, sizes, places, block)
                for a in range(n_drawn):
                    mark[drawn[a]] = -1
                    size = sizes[a]
                    score, cut = _try_split(
                        places[a, :size], block[a, :size], own, counts, node, labels, totals, part,
                        _random(state),
                    )  # fmt: skip
                    if score > best:
                        best, best_feature, best_threshold = score, drawn[a], cut
                        best_size = size
                        _copy(places[a], block[a], size, best_where, best_values)
        _forget(own, labels, totals)
        if best_feature < 0:
            left[number], right[number] = start, end
            continue
        zeros_below = best_threshold >= 0.0
        for at in range(len(own)):
            moved[at] = own[at] if zeros_below else -1 - own[at]
        for at in range(best_size):
            i = own[best_where[at]]
            moved[best_where[at]] = i if best_values[at] <= best_threshold else -1 - i
        middle, last = start, end
        for at in range(end - start):
            if moved[at] >= 0:
                rows[middle] = moved[at]
                middle += 1
            else:
                last -= 1
                rows[last] = -1 - moved[at]
        for at in range(start, end):
            place[rows[at]] = at
        feature[number], threshold[number] = best_feature, best_threshold
        left[number], right[number] = n_nodes, n_nodes + 1
        for son in range(2):
            stack[waiting + son, 0] = n_nodes + son
            stack[waiting + son, 1] = start if son == 0 else middle
            stack[waiting + son, 2] = middle if son == 0 else end
        waiting += 2
        n_nodes += 2
    return feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes]


@njit(cache=True, nogil=True)
def _leaf(tree, x):
    feature, threshold, left, right = tree
    node = 0
    while feature[node] >= 0:
        node = left[node] if x[feature[node]] <= threshold[node] else right[node]
    return node


@njit(cache=True, nogil=True)
def _add_leaf(rows, start, end, counts, labels, sums):
    label_indices, label_starts = labels
    weight = 0.0
    for at in range(start, end):
        weight += counts[at]
    for at in range(start, end):
        i = rows[at]
        share = counts[at] / weight
        for j in range(label_starts[i], label_starts[i + 1]):
            sums[label_indices[j]] += share


@njit(cache=True, nogil=True)
def add_answers(table, n_features, tree, rows, counts, labels, skip, sums):
    """Add to `sums` the label shares of the leaf of each row.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        New rows, dense, else an empty table; CSR if sparse.
    rows, counts : ndarray
        The rows of the tree, leaf by leaf, and how often each was drawn.
    skip : bool array of shape (n,)
        Rows that are not asked for.
    """
    dense, (data, indices, indptr) = table
    x = np.zeros(0 if len(dense) else n_features, np.float32)
    for i in range(len(sums)):
        if skip[i]:
            continue
        if len(dense):
            leaf = _leaf(tree, dense[i])
        else:
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = data[at]
            leaf = _leaf(tree, x)
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = 0.0
        _add_leaf(rows, tree[2][leaf], tree[3][leaf], counts, labels, sums[i])
