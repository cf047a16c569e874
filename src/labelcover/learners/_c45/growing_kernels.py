"""Growing a C4.5 tree: arrays in, arrays out.

A tree is the first five arrays of `Tree`, the root first. A numeric split sends values up to the
threshold to the first child and the others to the second; a nominal split has a child per value.
Rows whose value is missing go to every child with a part of their weight.
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
def _all_splits(table, rows, weight, order, label, dist, min_leaf, xlogx, rare, features):
    """Return gain, gain ratio and cut of the best split on every feature.

    If all weights are 1, `rare` has the counts of features of two values, and `features` are those
    to be rated.
    """
    splits, total = np.zeros((len(table.n_values), 3)), dist.sum()
    for f in range(len(splits)):
        splits[f, 1] = -1.0
    if table.unit:
        counts = np.empty(len(dist), np.int64)
        for c in range(len(dist)):
            counts[c] = np.int64(np.rint(dist[c]))
        numeric_splits_counts(table, order, label, counts, min_leaf, xlogx, splits)
        n = len(rows)
        switch_splits_counts(table, features, rare, n, counts, min_leaf, xlogx, splits)
    else:
        for k in range(len(order)):
            f = table.sorted_features[k]
            splits[f, 0], splits[f, 1], splits[f, 2] = numeric_split_weights(
                table.values[f], order[k], label, weight, len(dist), total, min_leaf
            )
    for f in table.branching:
        value, n_values = table.values[f], table.n_values[f]
        splits[f, 0], splits[f, 1], splits[f, 2] = nominal_split(
            value, n_values, rows, label, weight, len(dist), total, min_leaf, xlogx
        )
    return splits


@njit
def _largest_value_up_to(table, f, cut):
    """Return the largest known value of a numeric feature that is at most `cut`."""
    if table.is_switch[f]:
        return table.pair[f, 0]
    largest = -np.inf
    for v in table.values[f]:
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
def _heir(table, rows, starts, wanted, counts, features):
    """Return the child that goes on with the counts of its parent, less its siblings; -1 if none.

    It has most of the rarer values, so that taking out the others is less work than counting anew,
    and more of them than there are features to be rated. Brothers are grown before it at most
    log2(n) times, so that few counts are held at a time.
    """
    total = 0
    for f in features:
        total += counts[f, counts.shape[1] - 1]
    sizes, largest = np.zeros(len(wanted), np.int64), np.argmax(np.diff(starts))
    sizes[largest] = total
    for child in range(len(wanted)):
        if child != largest:
            for row in rows[starts[child] : starts[child + 1]]:
                sizes[child] += table.starts[row + 1] - table.starts[row]
            sizes[largest] -= sizes[child]
    heir = np.argmax(sizes)
    if wanted[heir] and 2 * sizes[heir] > total and sizes[heir] > len(features):
        return heir
    return -1


@njit
def _clear(counts, features):
    for f in features:
        for c in range(counts.shape[1]):
            counts[f, c] = 0


@njit(nogil=True)
def grow(table, label, weights, n_classes, min_leaf, in_mean):
    """Return the unpruned tree, its five arrays, and the rows of each node and their weights.

    Parameters
    ----------
    table : FeatureTable
    label : ndarray of shape (n,)
        Classes 0 to `n_classes` - 1.
    weights : ndarray of shape (n,)
        All above 0.
    in_mean : ndarray of bool
        Which features count in the mean gain.
    """
    n, n_values, unit = len(label), table.n_values, table.unit
    xlogx = np.empty(n + 2 if unit else 0)
    for i in range(len(xlogx)):
        xlogx[i] = xlog2x(float(i))
    weight_of, child_of = weights.copy(), np.zeros(n, np.int32)
    # Counts of features of two values, each with the features that are counted. Those of a node
    # that waits are held; the node at hand has the next.
    counted = [np.zeros((len(n_values), n_classes + 1), np.int32)]
    present = [np.empty(len(n_values), np.int32)]
    n_present, n_held = [0], 0

    feature, threshold, first, n_children = [-1], [0.0], [0], [0]
    rows_of, weights_of, dist = [np.arange(n).astype(np.int32)], [weights], [np.empty(n_classes)]
    put_class_weights(label, rows_of[0], weights, dist[0])
    waiting, orders, holds = [0], [table.order], [False]
    if _is_leaf(dist[0], min_leaf):
        waiting.pop()
    while len(waiting):
        node, order = waiting.pop(), orders.pop()
        rows, w = rows_of[node], weights_of[node]
        if holds.pop():
            n_held -= 1
        elif unit:
            if n_held == len(counted):
                counted.append(np.zeros_like(counted[0]))
                present.append(np.empty_like(present[0]))
                n_present.append(0)
            n_present[n_held] = count_switches(
                table, rows, label, np.int64(1), counted[n_held], present[n_held]
            )
        else:
            for i in range(len(rows)):
                weight_of[rows[i]] = w[i]
        counts, features = counted[n_held], present[n_held][: n_present[n_held]]
        splits = _all_splits(
            table, rows, weight_of, order, label, dist[node], min_leaf, xlogx, counts, features
        )
        f = _best_split(splits, in_mean)
        if f < 0:
            _clear(counts, features)
            continue
        children, size = int(n_values[f]) if n_values[f] > 0 else 2, len(feature)
        feature[node], first[node], n_children[node] = f, size, children
        if n_values[f] == 0:
            threshold[node] = _largest_value_up_to(table, f, splits[f, 2])
        wanted, heavy = np.zeros(children, np.bool_), np.ones(children, np.bool_)
        if unit:
            below, w_below = rows, w
            starts = part_rows(table, f, threshold[node], children, rows)
        else:
            below, w_below, starts, route, heavy = split_rows(
                table, f, threshold[node], children, rows, w
            )
            for i in range(len(rows)):
                child_of[rows[i]] = route[i]
        for child in range(children):
            begin, end = starts[child], starts[child + 1]
            own, own_w = below[begin:end], w_below[begin:end]
            of_class = np.empty(n_classes)
            put_class_weights(label, own, own_w, of_class)
            wanted[child] = not _is_leaf(of_class, min_leaf)
            if unit and len(order):
                for row in own:
                    child_of[row] = child
            rows_of.append(own)
            weights_of.append(own_w)
            dist.append(of_class)
            feature.append(-1)
            threshold.append(0.0)
            first.append(0)
            n_children.append(0)
        buffer, begins = _split_order(order, starts, heavy, wanted, child_of)
        heir = _heir(table, below, starts, wanted, counts, features) if unit else -1
        if heir >= 0:
            gone = np.int64(-1)
            count_switches(table, rows[: starts[heir]], label, gone, counts, features)
            count_switches(table, rows[starts[heir + 1] :], label, gone, counts, features)
            n_held += 1
        else:
            _clear(counts, features)
        for child in range(children - 1, -1, -1):
            if wanted[child]:
                waiting.append(size + child)
                holds.append(child == heir)
                part = buffer[begins[child] : begins[child + 1]]
                orders.append(part.reshape((len(order), starts[child + 1] - starts[child])))
    of_classes = np.empty((len(dist), n_classes))
    for node in range(len(dist)):
        of_classes[node] = dist[node]
    tree = (
        np.array(feature, np.int32),
        np.array(threshold),
        np.array(first, np.int32),
        np.array(n_children, np.int32),
        of_classes,
    )
    return tree, rows_of, weights_of
