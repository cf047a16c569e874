"""Pruning a C4.5 tree in place: subtrees become leaves or are raised to their parent.

The tree is the five arrays of `growing_kernels`, in which children come after their parent; nodes
that fall away stay in the arrays, unreachable, until `compact` renumbers the tree. Nothing here is
recursive: compiled recursive functions cannot be relied on once cached on disk.
"""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._c45.growing_kernels import grow
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
    """Return the rows and weights of the children of `node`, child by child, and their bounds.

    Rows of weight 1 without missing values are put into another order for it.
    """
    feature, threshold, _, n_children, _ = tree
    f, children = np.int64(feature[node]), np.int64(n_children[node])
    if table.unit:
        return rows, weights, part_rows(table, f, threshold[node], children, rows)
    below, w, starts, _, _ = split_rows(table, f, threshold[node], children, rows, weights)
    return below, w, starts


@njit(nogil=True)
def _branch_errors(tree, table, label, branch, rows, weights, confidence, z):
    """Return the estimated errors of the subtree at `branch` if these rows came to it."""
    feature, _, first, n_children, dist = tree
    errors, here = 0.0, np.empty(dist.shape[1])
    waiting, rows_of, weights_of = [branch], [rows], [weights]
    while len(waiting):
        node, rows, weights = waiting.pop(), rows_of.pop(), weights_of.pop()
        if feature[node] < 0:
            put_class_weights(label, rows, weights, here)
            errors += estimated_errors(here, confidence, z)
            continue
        below, w, starts = _send_down(tree, table, node, rows, weights)
        for i in range(n_children[node]):
            waiting.append(np.int64(first[node] + i))
            rows_of.append(below[starts[i] : starts[i + 1]])
            weights_of.append(w[starts[i] : starts[i + 1]])
    return errors


@njit(nogil=True)
def _errors_with(tree, table, label, branch, rows, errors, confidence, z):
    """Return the same if these rows came to it as well, of weight 1 and without missing values.

    They go their way whatever the others do: what they do not reach has the `errors` that it had.
    The rows are put into another order.
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
        for i in range(children):
            if starts[i] == starts[i + 1]:
                total += errors[first[node] + i]
            else:
                waiting.append(np.int64(first[node] + i))
                low.append(start + starts[i])
                high.append(start + starts[i + 1])
    return total


@njit(nogil=True)
def _send_again(tree, table, label, top, rows_of, weights_of, pending):
    """Give every node below `top` its rows of those of `top`; return the last to be pruned again.

    If all rows weigh 1 and no value is missing, a node that gets no more stays as it is, and need
    not be pruned again.
    """
    feature, _, first, n_children, dist = tree
    pending[top] = True
    last = top
    waiting = [top]
    while len(waiting):
        node = waiting.pop()
        if feature[node] < 0:
            continue
        below, w, starts = _send_down(tree, table, node, rows_of[node], weights_of[node])
        for i in range(n_children[node]):
            child = np.int64(first[node] + i)
            n_before = len(rows_of[child])
            rows_of[child] = below[starts[i] : starts[i + 1]]
            weights_of[child] = w[starts[i] : starts[i + 1]]
            waiting.append(child)
            if not table.unit or len(rows_of[child]) > n_before:
                pending[child] = True
                last = max(last, child)
                put_class_weights(label, rows_of[child], weights_of[child], dist[child])
    return last


@njit(nogil=True)
def prune(tree, rows_of, weights_of, table, label, raising, confidence, z):
    """Prune the tree that `grow` returns, from the last node to the root.

    Parameters
    ----------
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
        before = end = 0  # the rows of the children before the largest, and up to it
        n_so_far = 0
        for child in range(first[node], first[node] + n_children[node]):
            as_tree += errors[child]
            n_so_far += len(rows_of[child])
            if dist[child].sum() > largest_weight - TOLERANCE:
                largest, largest_weight = np.int64(child), dist[child].sum()
                before, end = n_so_far - len(rows_of[child]), n_so_far
        as_branch = np.inf
        if raising:
            rows, w = rows_of[node], weights_of[node]
            if table.unit:
                beside = np.concatenate((rows[:before], rows[end:]))
                as_branch = _errors_with(tree, table, label, largest, beside, errors, confidence, z)
            else:
                as_branch = _branch_errors(tree, table, label, largest, rows, w, confidence, z)
        if errors[node] < as_tree + limit and errors[node] < as_branch + limit:
            feature[node], n_children[node] = -1, 0
        elif as_branch < as_tree + limit:
            feature[node], threshold[node] = feature[largest], threshold[largest]
            first[node], n_children[node] = first[largest], n_children[largest]
            feature[largest], n_children[largest] = -1, 0  # its children have another parent now
            # The subtree has other rows now: prune it again, from its last node.
            node = _send_again(tree, table, label, node, rows_of, weights_of, pending) + 1
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


@njit(nogil=True)
def grown_and_pruned(table, label, weights, n_classes, least, in_mean, pruned, raising, level, z):
    """Return the five arrays of the finished tree; parameters are those of `grow` and `prune`."""
    tree, rows_of, weights_of = grow(table, label, weights, n_classes, least, in_mean)
    collapse(tree)
    if pruned:
        prune(tree, rows_of, weights_of, table, label, raising, level, z)
    return compact(tree)
