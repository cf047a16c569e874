"""Growing a C4.5 tree: arrays in, arrays out.

A tree is five arrays with one entry per node, the root first: ``feature`` (-1 in a leaf),
``threshold``, ``first`` and ``n_sons`` (the sons of a node stand side by side), and ``dist``, the
weight of every class. A numeric split sends values up to the threshold to the first son and the
others to the second; a nominal split has a son per value. Rows whose value is missing go to every
son with a part of their weight.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.c45.row_kernels import part_segment, put_class_weights, split_rows
from labelcover.learners.c45.split_kernels import (
    TOLERANCE,
    VALUE_STEP,
    count_switches,
    n_switches,
    nominal_split_counts,
    nominal_split_weights,
    numeric_split_weights,
    numeric_splits_counts,
    switch_splits_counts,
    take_out_switches,
    xlog2x,
)

MEAN_SLACK = 1e-3  # a gain this much below the mean gain still counts as one of the better half
MANY_VALUES = 0.3  # a nominal feature with more values than this times n is left out of the mean


@njit(cache=True)
def _is_leaf(dist, min_leaf):
    total = dist.sum()
    return 2.0 * min_leaf - total > TOLERANCE or total - dist.max() < TOLERANCE


@njit(cache=True)
def _features_in_mean(n_values, total):
    """Return which features count in the mean gain: not the nominal ones with too many values."""
    few, n_few = np.empty(len(n_values), np.bool_), 0
    for f in range(len(n_values)):
        few[f] = n_values[f] == 0 or MANY_VALUES * total - n_values[f] > TOLERANCE
        n_few += few[f]
    return few if n_few else np.ones(len(n_values), np.bool_)


@njit(cache=True)
def _best_split(splits, in_mean):
    """Return the feature with the best gain ratio among those of at least average gain, or -1."""
    mean, n_valid = 0.0, 0
    for f in range(len(splits)):
        if splits[f, 1] >= 0 and in_mean[f]:
            mean += splits[f, 0]
            n_valid += 1
    if n_valid == 0:
        return -1
    mean /= n_valid
    best, best_ratio = -1, 0.0
    for f in range(len(splits)):
        if splits[f, 0] >= mean - MEAN_SLACK and splits[f, 1] - best_ratio > TOLERANCE:
            best, best_ratio = f, splits[f, 1]
    return best


@njit(cache=True)
def _splits_by_counts(table, rows, order, label, dist, min_leaf, xlogx, switch_table, present):
    """Return gain, gain ratio and cut of the best split on every feature; all weights are 1.

    `switch_table` has the counts of features of two values, and `present` those to be rated.
    """
    values, n_values, (sorted_features, numeric, _, rank, far), switches = table
    splits, counts = np.zeros((len(n_values), 3)), np.empty(len(dist), np.int64)
    for f in range(len(n_values)):
        splits[f, 1] = -1.0
    for c in range(len(dist)):
        counts[c] = np.int64(np.rint(dist[c]))
    found = np.empty((len(order), 3))
    numeric_splits_counts(numeric, rank, far, order, label, counts, min_leaf, xlogx, found)
    for k in range(len(order)):
        for i in range(3):
            splits[sorted_features[k], i] = found[k, i]
    switch_splits_counts(
        switches, n_values, present, switch_table, len(rows), counts, min_leaf, xlogx, splits
    )
    for f in switches.branching:
        splits[f, 0], splits[f, 1], splits[f, 2] = nominal_split_counts(
            values[f], n_values[f], rows, label, counts, min_leaf, xlogx
        )
    return splits


@njit(cache=True)
def _splits_by_weights(table, rows, weights, order, label, dist, min_leaf, weight_of):
    """Return gain, gain ratio and cut of the best split on every feature."""
    values, n_values, _, _ = table
    splits = np.empty((len(n_values), 3))
    total = dist.sum()
    for i in range(len(rows)):  # here and below: assignments of arrays take seconds to compile
        weight_of[rows[i]] = weights[i]
    k = 0
    for f in range(len(n_values)):
        if n_values[f] == 0:
            found = numeric_split_weights(
                values[f], order[k], label, weight_of, len(dist), total, min_leaf
            )
            k += 1
        else:
            found = nominal_split_weights(
                values[f], n_values[f], rows, label, weight_of, len(dist), total, min_leaf
            )
        splits[f, 0], splits[f, 1], splits[f, 2] = found
    return splits


@njit(cache=True)
def _largest_value_up_to(table, f, cut):
    """Return the largest known value of a numeric feature that is at most `cut`."""
    values, _, _, switches = table
    if switches.column_starts[f] < switches.column_starts[f + 1]:
        return switches.pair[f, 0]
    largest = -np.inf
    for v in values[f]:
        if largest < v <= cut:
            largest = v
    return largest


@njit(cache=True)
def _split_order(order, starts, heavy, wanted, son_of):
    """Return the sorted rows of every wanted son, as one buffer and where each son starts in it.

    The part of a son of `m` rows is a matrix of a row per numeric feature and `m` columns.
    """
    n_sons, n_numeric = len(starts) - 1, len(order)
    begin = np.zeros(n_sons + 1, np.int64)
    for son in range(n_sons):
        m = starts[son + 1] - starts[son]
        begin[son + 1] = begin[son] + (n_numeric * m if wanted[son] else 0)
    buffer = np.empty(begin[-1] + 1, order.dtype)
    if n_sons == 2 and starts[2] == order.shape[1]:  # the common case: two sons, no missing values
        for son in range(2):
            place = begin[son]
            if wanted[son]:
                for k in range(n_numeric):
                    place = _filter(order[k], son_of, son, buffer, place)
        return buffer, begin
    place = np.empty(n_sons, np.int64)
    for k in range(n_numeric):
        for son in range(n_sons):
            place[son] = begin[son] + k * (starts[son + 1] - starts[son])
        for row in order[k]:
            route_of_row = son_of[row]
            low, high = (route_of_row, route_of_row + 1) if route_of_row >= 0 else (0, n_sons)
            for son in range(low, high):
                if wanted[son] and (route_of_row >= 0 or heavy[son]):
                    buffer[place[son]] = row
                    place[son] += 1
    return buffer, begin


@njit(cache=True)
def _filter(rows, son_of, son, out, place):
    """Write the rows of one son to `out` from `place` on; return the next free place."""
    # Every row is written where the next one of the son belongs, and stays there only if it is
    # that one: no branch to be guessed wrong. Thus one place more than needed is written.
    free = np.uint64(place)
    for row in rows:
        out[free] = row
        free += np.uint64(son_of[row] == son)
    return np.int64(free)


@njit(cache=True)
def _largest_part(starts):
    largest = 0
    for son in range(len(starts) - 1):
        if starts[son + 1] - starts[son] > starts[largest + 1] - starts[largest]:
            largest = son
    return largest


@njit(cache=True)
def _heir(switches, rows, starts, largest, wanted, switch_table, features):
    """Return the son that goes on with the counts of its father, less its brothers; -1 if none.

    It has most of the rarer values, so that taking out the others is less work than counting anew,
    and more of them than there are features to be rated. Brothers are grown before it at most
    log2(n) times, so that few counts are held at a time.
    """
    total = 0
    for f in features:
        total += switch_table[f, switch_table.shape[1] - 1]
    sizes = np.empty(len(wanted), np.int64)
    sizes[largest] = total
    for son in range(len(wanted)):
        if son != largest:
            sizes[son] = n_switches(switches.starts, rows[starts[son] : starts[son + 1]])
            sizes[largest] -= sizes[son]
    heir = np.argmax(sizes)
    if wanted[heir] and 2 * sizes[heir] > total and sizes[heir] > len(features):
        return heir
    return -1


@njit(cache=True)
def _clear(switch_table, features):
    for f in features:
        for c in range(switch_table.shape[1]):
            switch_table[f, c] = 0


@njit(cache=True)
def _enlarged(array, capacity):
    larger = np.zeros(capacity, array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger


@njit(cache=True, nogil=True)
def grow(table, label, weights, n_classes, min_leaf, unit):
    """Return the unpruned tree ``(feature, threshold, first, n_sons, dist)``, and where rows went.

    Parameters
    ----------
    table : (values, n_values, sorted, switches)
        ``values`` of shape (features, n), NaN where missing; ``n_values`` of each feature, 0 if
        numeric; the rest as in `FeatureTable`.
    label : ndarray of shape (n,)
        Classes 0 to `n_classes` - 1.
    weights : ndarray of shape (n,)
        All above 0.
    unit : bool
        Whether all weights are 1 and no value is missing.

    Returns
    -------
    tree : tuple of ndarray
    segments : (members, low, high)
        Node ``i`` has the rows ``members[low[i]:high[i]]``; none unless `unit`.
    """
    values, n_values, (_, _, root_order, _, _), switches = table
    n = len(label)
    xlogx = np.empty(n + 2)
    for i in range(n + 2):
        xlogx[i] = xlog2x(float(i))
    in_mean = _features_in_mean(n_values, weights.sum())
    weight_of, son_of = np.zeros(n), np.zeros(n, np.int32)
    # Counts of features of two values, each with the features that are counted. Those of a node
    # that waits are held; the node at hand has the next.
    counted = [np.zeros((len(n_values), n_classes + 1), np.int32)]
    present = [np.empty(len(n_values), np.int32)]
    n_present, n_held = [0], 0

    size, capacity = 1, 64
    feature = np.full(capacity, -1, np.int32)
    threshold = np.zeros(capacity)
    first = np.zeros(capacity, np.int32)
    n_sons = np.zeros(capacity, np.int32)
    low, high = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
    high[0] = n
    dist = np.zeros((capacity, n_classes))
    members = np.arange(n).astype(np.int32)
    place = members.copy()
    put_class_weights(label, members, weights, dist[0])
    waiting, waiting_rows, waiting_weights, waiting_order = [0], [members], [weights], [root_order]
    holds = [False]
    if _is_leaf(dist[0], min_leaf):
        waiting.pop()
    while len(waiting):
        node, rows, w = waiting.pop(), waiting_rows.pop(), waiting_weights.pop()
        order = waiting_order.pop()
        if holds.pop():
            n_held -= 1
        elif unit:
            if n_held == len(counted):
                counted.append(np.zeros_like(counted[0]))
                present.append(np.empty_like(present[0]))
                n_present.append(0)
            n_present[n_held] = count_switches(
                switches, rows, label, counted[n_held], present[n_held]
            )
        switch_table, features = counted[n_held], present[n_held][: n_present[n_held]]
        if unit:
            splits = _splits_by_counts(
                table, rows, order, label, dist[node], min_leaf, xlogx, switch_table, features
            )
        else:
            splits = _splits_by_weights(
                table, rows, w, order, label, dist[node], min_leaf, weight_of
            )
        f = _best_split(splits, in_mean)
        if f < 0:
            _clear(switch_table, features)
            continue
        sons = 2 if n_values[f] == 0 else n_values[f]
        if size + sons > capacity:
            while size + sons > capacity:
                capacity *= 2
            feature, threshold = _enlarged(feature, capacity), _enlarged(threshold, capacity)
            first, n_sons = _enlarged(first, capacity), _enlarged(n_sons, capacity)
            low, high = _enlarged(low, capacity), _enlarged(high, capacity)
            dist = _enlarged(dist.ravel(), capacity * n_classes).reshape((capacity, n_classes))
        feature[node], first[node], n_sons[node] = f, size, sons
        if n_values[f] == 0:
            threshold[node] = _largest_value_up_to(table, f, splits[f, 2])
        wanted = np.zeros(sons, np.bool_)
        heavy = np.ones(sons, np.bool_)
        starts = np.empty(sons + 1, np.int64)
        largest = -1
        if unit:
            son_rows, son_weights = rows, w
            part_segment(table, f, threshold[node], members, place, low[node], high[node], starts)
            largest = _largest_part(starts)
            for c in range(n_classes):
                dist[size + largest, c] = dist[node, c]
        else:
            son_rows, son_weights, starts, route, heavy = split_rows(
                values[f], threshold[node], n_values[f] > 0, sons, rows, w
            )
            for i in range(len(rows)):
                son_of[rows[i]] = route[i]
        for son in range(sons):
            new, begin, end = size + son, starts[son], starts[son + 1]
            feature[new] = -1
            if son != largest:
                put_class_weights(label, son_rows[begin:end], son_weights[begin:end], dist[new])
            if unit:
                low[new], high[new] = low[node] + begin, low[node] + end
                if son != largest:
                    for c in range(n_classes):
                        dist[size + largest, c] -= dist[new, c]
        for son in range(sons):
            wanted[son] = not _is_leaf(dist[size + son], min_leaf)
            if unit and len(order):
                for row in son_rows[starts[son] : starts[son + 1]]:
                    son_of[row] = son
        buffer, begins = _split_order(order, starts, heavy, wanted, son_of)
        heir = -1
        if unit:
            heir = _heir(switches, rows, starts, largest, wanted, switch_table, features)
        if heir >= 0:
            take_out_switches(switches, rows[: starts[heir]], label, switch_table)
            take_out_switches(switches, rows[starts[heir + 1] :], label, switch_table)
            n_held += 1
        else:
            _clear(switch_table, features)
        for son in range(sons - 1, -1, -1):
            if wanted[son]:
                begin, end = starts[son], starts[son + 1]
                waiting.append(size + son)
                holds.append(son == heir)
                waiting_rows.append(son_rows[begin:end])
                waiting_weights.append(son_weights[begin:end])
                part = buffer[begins[son] : begins[son + 1]]
                waiting_order.append(part.reshape((len(order), end - begin)))
        size += sons
    tree = feature[:size], threshold[:size], first[:size], n_sons[:size], dist[:size]
    return tree, (members, low[:size], high[:size])


@njit(cache=True, nogil=True)
def value_ranks(values, order):
    """Return ranks of values, and which rank may be separated from which.

    Parameters
    ----------
    values : ndarray of shape (features, n)
        Without missing values.
    order : ndarray of shape (features, n)
        The rows by ascending value.

    Returns
    -------
    rank : ndarray of shape (features, n)
        The number of each row's value among the distinct values of the feature.
    far : ndarray of shape (features, n)
        For each rank, the least rank whose value is larger by more than `VALUE_STEP`.
    """
    rank, far = np.zeros_like(order), np.zeros_like(order)
    n = order.shape[1]
    for k in range(len(order)):
        level = np.empty(n)
        top = -1
        for row in order[k]:
            v = values[k, row]
            if top < 0 or v > level[top]:
                top += 1
                level[top] = v
            rank[k, row] = top
        above = 0
        for r in range(top + 1):
            while above <= top and not level[r] + VALUE_STEP < level[above]:
                above += 1
            far[k, r] = above
    return rank, far
