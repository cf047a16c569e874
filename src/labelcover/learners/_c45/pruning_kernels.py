"""Pruning a C4.5 tree in place: subtrees become leaves or are raised to their parent.

The tree is the five arrays of `growing_kernels`, in which children come after their parent; nodes
that fall away stay in the arrays, unreachable, until `compact` renumbers the tree. Nothing here is
recursive: compiled recursive functions cannot be relied on once cached on disk.
"""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._c45.row_kernels import part_rows, put_class_weights, split_rows
from labelcover.learners._c45.split_kernels import TOLERANCE

COLLAPSE_SLACK = 1e-3  # training errors that a subtree must save
PRUNE_SLACK = 0.1  # estimated errors that a subtree must save


@njit(nogil=True)
def added_errors(n, errors, confidence, z):
    """Return what the pessimistic estimate adds to `errors` seen among weight `n`.

    The upper limit of the binomial confidence interval of level `confidence`, by the normal
    approximation with continuity correction (`z` its quantile) when there is at least one error;
    in between, a straight line.
    """
    some = max(errors, 1.0)
    if some + 0.5 >= n:
        added = max(n - some, 0.0)
    else:
        f = (some + 0.5) / n
        z2 = z * z
        spread = math.sqrt(f / n - f * f / n + z2 / (4.0 * n * n))
        added = n * (f + z2 / (2.0 * n) + z * spread) / (1.0 + z2 / n) - some
    if errors >= 1.0:
        return added
    base = n * (1.0 - confidence ** (1.0 / n))
    return base + errors * (added - base) if errors > 0.0 else base


@njit(nogil=True)
def estimated_errors(dist, confidence, z):
    """Return the pessimistic number of errors of a leaf with class weights `dist`."""
    total = dist.sum()
    if total < TOLERANCE:
        return 0.0
    errors = total - dist.max()
    return errors + added_errors(total, errors, confidence, z)


@njit(nogil=True)
def collapse(tree):
    """Make a leaf of every subtree that saves no training errors."""
    feature, _, first, n_children, dist = tree
    size = len(feature)
    errors = np.zeros(size)
    for node in range(size - 1, -1, -1):
        if feature[node] < 0:
            errors[node] = dist[node].sum() - dist[node].max()
        for child in range(first[node], first[node] + n_children[node]):
            errors[node] += errors[child]
    for node in range(size):
        as_leaf = dist[node].sum() - dist[node].max()
        if feature[node] >= 0 and errors[node] >= as_leaf - COLLAPSE_SLACK:
            feature[node], n_children[node] = -1, 0


@njit(nogil=True)
def _send_down(tree, table, node, rows, weights):
    """Return the rows and weights of the children of `node`, child by child, and their bounds."""
    values, n_values, _, _ = table
    feature, threshold, _, n_children, _ = tree
    f = feature[node]
    child_rows, child_weights, starts, _, _ = split_rows(
        values[f], threshold[node], n_values[f] > 0, np.int64(n_children[node]), rows, weights
    )
    return child_rows, child_weights, starts


@njit(nogil=True)
def _branch_errors(tree, table, label, branch, rows, weights, confidence, z):
    """Return the estimated errors of the subtree at `branch` if these rows came to it."""
    feature, _, first, n_children, dist = tree
    errors, here = 0.0, np.empty(dist.shape[1])
    waiting, waiting_rows, waiting_weights = [branch], [rows], [weights]
    while len(waiting):
        node, rows, weights = waiting.pop(), waiting_rows.pop(), waiting_weights.pop()
        if feature[node] < 0:
            put_class_weights(label, rows, weights, here)
            errors += estimated_errors(here, confidence, z)
            continue
        child_rows, child_weights, starts = _send_down(tree, table, node, rows, weights)
        for i in range(n_children[node]):
            waiting.append(first[node] + i)
            waiting_rows.append(child_rows[starts[i] : starts[i + 1]])
            waiting_weights.append(child_weights[starts[i] : starts[i + 1]])
    return errors


@njit(nogil=True)
def _errors_with(tree, table, label, branch, rows, errors, confidence, z):
    """Return the estimated errors of the subtree at `branch` if these rows came to it as well.

    For rows of weight 1 without missing values, which go their way whatever the others do: what
    they do not reach has the `errors` that it had. The rows are put into another order.
    """
    feature, threshold, first, n_children, dist = tree
    total = 0.0
    waiting, low, high = [branch], [0], [len(rows)]
    while len(waiting):
        node, start, stop = waiting.pop(), low.pop(), high.pop()
        if feature[node] < 0:
            here = dist[node].copy()
            for row in rows[start:stop]:
                here[label[row]] += 1.0
            total += estimated_errors(here, confidence, z)
            continue
        f, children = np.int64(feature[node]), np.int64(n_children[node])
        starts = part_rows(table, f, threshold[node], children, rows[start:stop])
        for i in range(n_children[node]):
            if starts[i] == starts[i + 1]:
                total += errors[first[node] + i]
            else:
                waiting.append(first[node] + i)
                low.append(start + starts[i])
                high.append(start + starts[i + 1])
    return total


@njit(nogil=True)
def _distribute(tree, table, label, top, rows_of, weights_of, pending):
    """Give every node below `top` its rows of those of `top`; return the last of these nodes.

    All of them are to be pruned, and `pending` says so.
    """
    feature, _, first, n_children, dist = tree
    last = top
    waiting = [top]
    while len(waiting):
        node = waiting.pop()
        pending[node] = True
        last = max(last, node)
        put_class_weights(label, rows_of[node], weights_of[node], dist[node])
        if feature[node] < 0:
            continue
        child_rows, child_weights, starts = _send_down(
            tree, table, node, rows_of[node], weights_of[node]
        )
        for i in range(n_children[node]):
            child = first[node] + i
            rows_of[child] = child_rows[starts[i] : starts[i + 1]]
            weights_of[child] = child_weights[starts[i] : starts[i + 1]]
            waiting.append(child)
    return last


@njit(nogil=True)
def _part_again(tree, segments, table, label, weights, top, pending):
    """Give every node below `top` its rows of those of `top`; return the last that gets more.

    For rows of weight 1 without missing values: a node that gets no more stays as it is, and need
    not be pruned again.
    """
    feature, threshold, first, n_children, dist = tree
    members, low, high = segments
    pending[top] = True
    last = top
    waiting = [top]
    while len(waiting):
        node = waiting.pop()
        if feature[node] < 0:
            continue
        f, children = np.int64(feature[node]), np.int64(n_children[node])
        starts = part_rows(table, f, threshold[node], children, members[low[node] : high[node]])
        for i in range(children):
            child, n_before = (
                np.int64(first[node]) + i,
                high[first[node] + i] - low[first[node] + i],
            )
            low[child], high[child] = low[node] + starts[i], low[node] + starts[i + 1]
            waiting.append(child)
            if high[child] - low[child] > n_before:
                pending[child] = True
                last = max(last, child)
                rows = members[low[child] : high[child]]
                put_class_weights(label, rows, weights[: len(rows)], dist[child])
    return last


@njit(nogil=True)
def prune(tree, segments, table, label, weights, unit, raising, confidence, z):
    """Prune the tree of all rows, from the last node to the root.

    Parameters
    ----------
    tree, segments, table : tuples
        Of `labelcover.learners._c45.growing_kernels`; the tree is changed.
    unit : bool
        Whether all weights are 1 and no value is missing.
    raising : bool
        Whether a node may be replaced by its largest branch.
    confidence, z : float
        Level of the estimates and its normal quantile.
    """
    feature, threshold, first, n_children, dist = tree
    size = len(feature)
    pending = np.zeros(size, np.bool_)  # the nodes below the root; children come after their parent
    pending[0] = True
    for node in range(size):
        for child in range(first[node], first[node] + n_children[node]):
            pending[child] = pending[node]
    members, low, high = segments
    n_lists = 0 if unit else size
    rows_of = [members for _ in range(n_lists)]
    weights_of = [weights for _ in range(n_lists)]
    if not unit:
        # Nodes and features are int64 in every call: a constant would have it compiled twice.
        _distribute(tree, table, label, np.int64(0), rows_of, weights_of, pending)
    errors = np.zeros(size)
    limit = PRUNE_SLACK + TOLERANCE
    node = size
    while node > 0:
        node -= 1
        if not pending[node]:
            continue
        pending[node] = False
        errors[node] = estimated_errors(dist[node], confidence, z)
        if feature[node] < 0:
            continue
        as_tree, largest, largest_weight = 0.0, np.int64(-1), 0.0
        for child in range(first[node], first[node] + n_children[node]):
            as_tree += errors[child]
            if dist[child].sum() > largest_weight - TOLERANCE:
                largest, largest_weight = np.int64(child), dist[child].sum()
        as_branch = np.inf
        if raising and unit:
            before, after = members[low[node] : low[largest]], members[high[largest] : high[node]]
            beside = np.concatenate((before, after))
            as_branch = _errors_with(tree, table, label, largest, beside, errors, confidence, z)
        elif raising:
            as_branch = _branch_errors(
                tree, table, label, largest, rows_of[node], weights_of[node], confidence, z
            )
        if errors[node] < as_tree + limit and errors[node] < as_branch + limit:
            feature[node], n_children[node] = -1, 0
        elif as_branch < as_tree + limit:
            feature[node], threshold[node] = feature[largest], threshold[largest]
            first[node], n_children[node] = first[largest], n_children[largest]
            feature[largest], n_children[largest] = -1, 0  # its children have another parent now
            # The subtree has other rows now: prune it again, from its last node.
            if unit:
                last = _part_again(tree, segments, table, label, weights, node, pending)
            else:
                last = _distribute(tree, table, label, node, rows_of, weights_of, pending)
            node = last + 1
        else:
            errors[node] = as_tree


@njit(nogil=True)
def compact(tree):
    """Return the reachable part of the tree, level by level; children stay side by side."""
    feature, threshold, first, n_children, dist = tree
    old = np.zeros(len(feature), np.int64)
    new_first = np.zeros(len(feature), np.int32)
    size = 1
    for new in range(len(feature)):
        if new == size:
            break
        node = old[new]
        if feature[node] >= 0:
            new_first[new] = size
            for i in range(n_children[node]):
                old[size] = first[node] + i
                size += 1
    keep = old[:size]
    return feature[keep], threshold[keep], new_first[:size], n_children[keep], dist[keep]
