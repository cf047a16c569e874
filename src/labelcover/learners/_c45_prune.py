"""Pruning a C4.5 tree in place: subtrees become leaves or are raised to their parent.

The tree is the five arrays of `labelcover.learners._c45_grow`; nodes that fall away stay in the
arrays, unreachable, until `compact` renumbers the tree.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from labelcover.learners._c45_grow import class_weights, split_rows
from labelcover.learners._c45_splits import TOLERANCE

COLLAPSE_SLACK = 1e-3  # training errors that a subtree must save
PRUNE_SLACK = 0.1  # estimated errors that a subtree must save


@njit(cache=True, nogil=True)
def added_errors(n, errors, confidence, z):
    """Return what the pessimistic estimate adds to `errors` seen among weight `n`.

    The upper limit of the binomial confidence interval of level `confidence`, by the normal
    approximation with continuity correction (`z` its quantile) when there is at least one error.
    """
    if errors < 1.0:
        base = n * (1.0 - confidence ** (1.0 / n))
        if errors == 0.0:
            return base
        return base + errors * (added_errors(n, 1.0, confidence, z) - base)
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    f = (errors + 0.5) / n
    z2 = z * z
    spread = math.sqrt(f / n - f * f / n + z2 / (4.0 * n * n))
    return n * (f + z2 / (2.0 * n) + z * spread) / (1.0 + z2 / n) - errors


@njit(cache=True, nogil=True)
def estimated_errors(dist, confidence, z):
    """Return the pessimistic number of errors of a leaf with class weights `dist`."""
    total = dist.sum()
    if total < TOLERANCE:
        return 0.0
    errors = total - dist.max()
    return errors + added_errors(total, errors, confidence, z)


@njit(cache=True, nogil=True)
def _training_errors(tree, node):
    feature, _, first, n_sons, dist = tree
    if feature[node] < 0:
        return dist[node].sum() - dist[node].max()
    errors = 0.0
    for son in range(first[node], first[node] + n_sons[node]):
        errors += _training_errors(tree, son)
    return errors


@njit(cache=True, nogil=True)
def collapse(tree, node):
    """Make a leaf of every subtree at or below `node` that saves no training errors."""
    feature, _, first, n_sons, dist = tree
    if feature[node] < 0:
        return
    as_leaf = dist[node].sum() - dist[node].max()
    if _training_errors(tree, node) >= as_leaf - COLLAPSE_SLACK:
        feature[node], n_sons[node] = -1, 0
        return
    for son in range(first[node], first[node] + n_sons[node]):
        collapse(tree, son)


@njit(cache=True, nogil=True)
def _branch_errors(tree, table, label, node, rows, weights, confidence, z):
    """Return the estimated errors of the subtree at `node` if these rows came to it."""
    values, n_values, _ = table
    feature, threshold, first, n_sons, dist = tree
    f = feature[node]
    if f < 0:
        return estimated_errors(class_weights(label, rows, weights, dist.shape[1]), confidence, z)
    son_rows, son_weights, starts, _, _ = split_rows(
        values[f], threshold[node], n_values[f] > 0, n_sons[node], rows, weights
    )
    errors = 0.0
    for i in range(n_sons[node]):
        part = slice(starts[i], starts[i + 1])
        errors += _branch_errors(
            tree, table, label, first[node] + i, son_rows[part], son_weights[part], confidence, z
        )
    return errors


@njit(cache=True, nogil=True)
def _redistribute(tree, table, label, node, rows, weights):
    """Set the class weights of the subtree at `node` to those of these rows."""
    values, n_values, _ = table
    feature, threshold, first, n_sons, dist = tree
    dist[node] = class_weights(label, rows, weights, dist.shape[1])
    f = feature[node]
    if f < 0:
        return
    son_rows, son_weights, starts, _, _ = split_rows(
        values[f], threshold[node], n_values[f] > 0, n_sons[node], rows, weights
    )
    for i in range(n_sons[node]):
        part = slice(starts[i], starts[i + 1])
        _redistribute(tree, table, label, first[node] + i, son_rows[part], son_weights[part])


@njit(cache=True, nogil=True)
def prune(tree, table, label, node, rows, weights, confidence, z, raising):
    """Prune the subtree at `node`, whose training rows are `rows`; return its estimated errors."""
    values, n_values, _ = table
    feature, threshold, first, n_sons, dist = tree
    f = feature[node]
    if f < 0:
        return estimated_errors(dist[node], confidence, z)
    son_rows, son_weights, starts, _, _ = split_rows(
        values[f], threshold[node], n_values[f] > 0, n_sons[node], rows, weights
    )
    as_tree, largest, largest_weight = 0.0, -1, 0.0
    for i in range(n_sons[node]):
        part = slice(starts[i], starts[i + 1])
        son = first[node] + i
        as_tree += prune(
            tree, table, label, son, son_rows[part], son_weights[part], confidence, z, raising
        )
        if dist[son].sum() > largest_weight - TOLERANCE:
            largest, largest_weight = son, dist[son].sum()
    as_leaf = estimated_errors(dist[node], confidence, z)
    as_branch = np.inf
    if raising:
        as_branch = _branch_errors(tree, table, label, largest, rows, weights, confidence, z)
    limit = PRUNE_SLACK + TOLERANCE
    if as_leaf < as_tree + limit and as_leaf < as_branch + limit:
        feature[node], n_sons[node] = -1, 0
        return as_leaf
    if as_branch < as_tree + limit:
        feature[node], threshold[node] = feature[largest], threshold[largest]
        first[node], n_sons[node] = first[largest], n_sons[largest]
        _redistribute(tree, table, label, node, rows, weights)
        return prune(tree, table, label, node, rows, weights, confidence, z, raising)
    return as_tree


@njit(cache=True, nogil=True)
def compact(tree):
    """Return the reachable part of the tree, level by level; sons stay side by side."""
    feature, threshold, first, n_sons, dist = tree
    old = np.zeros(len(feature), np.int64)
    new_first = np.zeros(len(feature), np.int32)
    size = 1
    for new in range(len(feature)):
        if new == size:
            break
        node = old[new]
        if feature[node] >= 0:
            new_first[new] = size
            for i in range(n_sons[node]):
                old[size] = first[node] + i
                size += 1
    keep = old[:size]
    return feature[keep], threshold[keep], new_first[:size], n_sons[keep], dist[keep]
