"""Growing a C4.5 tree: arrays in, arrays out.

A tree is five arrays with one entry per node, the root first: ``feature`` (-1 in a leaf),
``threshold``, ``first`` and ``n_children`` (the children of a node stand side by side), and
``dist``, the weight of every class. A numeric split sends values up to the threshold to the first
child and the others to the second; a nominal split has a child per value. Rows whose value is
missing go to every child with a part of their weight.
"""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._c45.row_kernels import part_rows, put_class_weights, split_rows
from labelcover.learners._c45.split_kernels import (
    TOLERANCE,
    count_switches,
    nominal_split,
    numeric_split_weights,
    numeric_splits_counts,
    switch_splits_counts,
    xlog2x,
)

MEAN_SLACK = 1e-3  # a gain this much below the mean gain still counts as one of the better half


@njit
def _is_leaf(dist, min_leaf):
    total = dist.sum()
    return 2.0 * min_leaf - total > TOLERANCE or total - dist.max() < TOLERANCE


@njit
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


@njit
def _splits_by_counts(
    table, rows, weights, order, label, dist, min_leaf, xlogx, switch_table, present
):
    """Return gain, gain ratio and cut of the best split on every feature; all weights are 1.

    `switch_table` has the counts of features of two values, and `present` those to be rated.
    """
    values, n_values, (sorted_features, numeric, _, rank, far), switches = table
    splits, counts = np.zeros((len(n_values), 3)), np.empty(len(dist), np.int64)
    for f in range(len(n_values)):
        splits[f, 1] = -1.0
    for c in range(len(dist)):
        counts[c] = np.int64(np.rint(dist[c]))
    ranked = sorted_features, numeric, rank, far
    numeric_splits_counts(ranked, order, label, counts, min_leaf, xlogx, splits)
    switch_splits_counts(
        switches, n_values, present, switch_table, len(rows), counts, min_leaf, xlogx, splits
    )
    for f in switches.branching:
        splits[f, 0], splits[f, 1], splits[f, 2] = nominal_split(
            values[f], n_values[f], rows, label, weights, len(dist), dist.sum(), min_leaf, xlogx
        )
    return splits


@njit
def _splits_by_weights(table, rows, weights, order, label, dist, min_leaf, xlogx, weight_of):
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
            found = nominal_split(
                values[f], n_values[f], rows, label, weight_of, len(dist), total, min_leaf, xlogx
            )
        splits[f, 0], splits[f, 1], splits[f, 2] = found
    return splits


@njit
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


@njit
def _split_order(order, starts, heavy, wanted, child_of):
    """Return the sorted rows of every wanted child, as one buffer and where each starts in it.

    The part of a child of `m` rows is a matrix of a row per numeric feature and `m` columns.
    """
    n_children, n_numeric = len(starts) - 1, len(order)
    begin = np.zeros(n_children + 1, np.int64)
    for child in range(n_children):
        m = starts[child + 1] - starts[child]
        begin[child + 1] = begin[child] + (n_numeric * m if wanted[child] else 0)
    buffer = np.empty(begin[-1] + 1, order.dtype)
    if n_children == 2 and starts[2] == order.shape[1]:  # no missing values
        for child in range(2):
            if wanted[child]:
                # Every row is written where the next one of the child belongs, and stays there only
                # if it is that one: no branch to be guessed wrong. Thus one place more than needed
                # is written.
                free = np.uint64(begin[child])
                for k in range(n_numeric):
                    for row in order[k]:
                        buffer[free] = row
                        free += np.uint64(child_of[row] == child)
        return buffer, begin
    place = np.empty(n_children, np.int64)
    for k in range(n_numeric):
        for child in range(n_children):
            place[child] = begin[child] + k * (starts[child + 1] - starts[child])
        for row in order[k]:
            route_of_row = child_of[row]
            low, high = (route_of_row, route_of_row + 1) if route_of_row >= 0 else (0, n_children)
            for child in range(low, high):
                if wanted[child] and (route_of_row >= 0 or heavy[child]):
                    buffer[place[child]] = row
                    place[child] += 1
    return buffer, begin


@njit
def _heir(switches, rows, starts, largest, wanted, switch_table, features):
    """Return the child that goes on with the counts of its parent, less its siblings; -1 if none.

    It has most of the rarer values, so that taking out the others is less work than counting anew,
    and more of them than there are features to be rated. Brothers are grown before it at most
    log2(n) times, so that few counts are held at a time.
    """
    total = 0
    for f in features:
        total += switch_table[f, switch_table.shape[1] - 1]
    sizes = np.empty(len(wanted), np.int64)
    sizes[largest] = total
    for child in range(len(wanted)):
        if child != largest:
            sizes[child] = 0
            for row in rows[starts[child] : starts[child + 1]]:
                sizes[child] += switches.starts[row + 1] - switches.starts[row]
            sizes[largest] -= sizes[child]
    heir = np.argmax(sizes)
    if wanted[heir] and 2 * sizes[heir] > total and sizes[heir] > len(features):
        return heir
    return -1


@njit
def _clear(switch_table, features):
    for f in features:
        for c in range(switch_table.shape[1]):
            switch_table[f, c] = 0


@njit
def _enlarged(array, capacity):
    larger = np.zeros(capacity, array.dtype)
    for i in range(len(array)):
        larger[i] = array[i]
    return larger


@njit(nogil=True)
def grow(table, label, weights, n_classes, min_leaf, unit, in_mean):
    """Return the unpruned tree, its five arrays, and where rows went.

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
    in_mean : ndarray of bool
        Which features count in the mean gain.

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
    weight_of, child_of = np.zeros(n), np.zeros(n, np.int32)
    # Counts of features of two values, each with the features that are counted. Those of a node
    # that waits are held; the node at hand has the next.
    counted = [np.zeros((len(n_values), n_classes + 1), np.int32)]
    present = [np.empty(len(n_values), np.int32)]
    n_present, n_held = [0], 0

    size, capacity = 1, 64
    feature = np.full(capacity, -1, np.int32)
    threshold = np.zeros(capacity)
    first = np.zeros(capacity, np.int32)
    n_children = np.zeros(capacity, np.int32)
    low, high = np.zeros(capacity, np.int32), np.zeros(capacity, np.int32)
    high[0] = n
    dist = np.zeros((capacity, n_classes))
    members = np.arange(n).astype(np.int32)
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
                switches, rows, label, np.int64(1), counted[n_held], present[n_held]
            )
        switch_table, features = counted[n_held], present[n_held][: n_present[n_held]]
        if unit:
            splits = _splits_by_counts(
                table,
                rows,
                weights,
                order,
                label,
                dist[node],
                min_leaf,
                xlogx,
                switch_table,
                features,
            )
        else:
            splits = _splits_by_weights(
                table, rows, w, order, label, dist[node], min_leaf, xlogx[:0], weight_of
            )
        f = _best_split(splits, in_mean)
        if f < 0:
            _clear(switch_table, features)
            continue
        children = 2 if n_values[f] == 0 else n_values[f]
        if size + children > capacity:
            while size + children > capacity:
                capacity *= 2
            feature, threshold = _enlarged(feature, capacity), _enlarged(threshold, capacity)
            first, n_children = _enlarged(first, capacity), _enlarged(n_children, capacity)
            low, high = _enlarged(low, capacity), _enlarged(high, capacity)
            dist = _enlarged(dist.ravel(), capacity * n_classes).reshape((capacity, n_classes))
        feature[node], first[node], n_children[node] = f, size, children
        if n_values[f] == 0:
            threshold[node] = _largest_value_up_to(table, f, splits[f, 2])
        wanted = np.zeros(children, np.bool_)
        heavy = np.ones(children, np.bool_)
        largest = 0
        if unit:
            child_rows, child_weights = rows, w
            starts = part_rows(table, f, threshold[node], children, rows)
            for child in range(1, children):
                if starts[child + 1] - starts[child] > starts[largest + 1] - starts[largest]:
                    largest = child
            for c in range(n_classes):
                dist[size + largest, c] = dist[node, c]
        else:
            child_rows, child_weights, starts, route, heavy = split_rows(
                values[f], threshold[node], n_values[f] > 0, children, rows, w
            )
            for i in range(len(rows)):
                child_of[rows[i]] = route[i]
        for child in range(children):
            new, begin, end = size + child, starts[child], starts[child + 1]
            feature[new] = -1
            if child != largest or not unit:
                put_class_weights(label, child_rows[begin:end], child_weights[begin:end], dist[new])
            if unit:
                low[new], high[new] = low[node] + begin, low[node] + end
                if child != largest:
                    for c in range(n_classes):
                        dist[size + largest, c] -= dist[new, c]
        for child in range(children):
            wanted[child] = not _is_leaf(dist[size + child], min_leaf)
            if unit and len(order):
                for row in child_rows[starts[child] : starts[child + 1]]:
                    child_of[row] = child
        buffer, begins = _split_order(order, starts, heavy, wanted, child_of)
        heir = -1
        if unit:
            most = np.int64(largest)  # a constant would have `_heir` compiled twice
            heir = _heir(switches, rows, starts, most, wanted, switch_table, features)
        if heir >= 0:
            gone = np.int64(-1)
            count_switches(switches, rows[: starts[heir]], label, gone, switch_table, features)
            count_switches(switches, rows[starts[heir + 1] :], label, gone, switch_table, features)
            n_held += 1
        else:
            _clear(switch_table, features)
        for child in range(children - 1, -1, -1):
            if wanted[child]:
                begin, end = starts[child], starts[child + 1]
                waiting.append(size + child)
                holds.append(child == heir)
                waiting_rows.append(child_rows[begin:end])
                waiting_weights.append(child_weights[begin:end])
                part = buffer[begins[child] : begins[child + 1]]
                waiting_order.append(part.reshape((len(order), end - begin)))
        size += children
    tree = feature[:size], threshold[:size], first[:size], n_children[:size], dist[:size]
    return tree, (members, low[:size], high[:size])
