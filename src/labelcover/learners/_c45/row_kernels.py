"""Rows on their way down C4.5 trees: to which children they go, and with which classes they end."""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._c45.split_kernels import TOLERANCE

BLOCK_ROWS = 128  # so many rows go through a tree while both are at hand in the cache


@njit(nogil=True)
def split_rows(table, f, threshold, n_children, rows, weights):
    """Return rows and weights of all children in turn, where each starts, and the routes.

    The route of a row is the number of its child, or -1 when its value is missing and it goes to
    every child that has some weight; the last thing returned says which children have.
    """
    value, nominal = table.values[f], table.n_values[f] > 0
    n = len(rows)
    route = np.empty(n, np.int32)
    share = np.zeros(n_children)
    sizes = np.zeros(n_children + 1, np.int64)
    n_missing = 0
    for i in range(n):
        v = value[rows[i]]
        if math.isnan(v):
            route[i] = -1
            n_missing += 1
        else:
            child = int(v) if nominal else (0 if v <= threshold else 1)
            route[i] = child
            share[child] += weights[i]
            sizes[child + 1] += 1
    if n_missing:
        known = share.sum()
        for child in range(n_children):
            share[child] = 1.0 / n_children if known < TOLERANCE else share[child] / known
            if share[child] > TOLERANCE:
                sizes[child + 1] += n_missing
    starts = np.cumsum(sizes)
    cursor = starts[:-1].copy()
    child_rows = np.empty(starts[-1], np.int32)
    child_weights = np.empty(starts[-1])
    for i in range(n):
        low, high = (route[i], route[i] + 1) if route[i] >= 0 else (0, n_children)
        for child in range(low, high):
            part = 1.0 if route[i] >= 0 else share[child]
            if part > TOLERANCE:
                child_rows[cursor[child]] = rows[i]
                child_weights[cursor[child]] = part * weights[i]
                cursor[child] += 1
    return child_rows, child_weights, starts, route, share > TOLERANCE


@njit(nogil=True)
def part_rows(table, f, threshold, n_children, rows):
    """Bring the rows of each child side by side, in place; return where each child starts.

    For rows of weight 1 whose value is known. Two children have the values up to `threshold`,
    which is 0 for a nominal feature, and the others; several have one nominal value each.
    """
    value = table.values[f]
    starts = np.zeros(n_children + 1, np.int64)
    starts[n_children] = len(rows)
    if n_children == 2:
        left = 0
        for i in range(len(rows)):
            row = rows[i]
            if value[row] <= threshold:
                rows[i] = rows[left]
                rows[left] = row
                left += 1
        starts[1] = left
        return starts
    for row in rows:
        child = int(value[row])
        if child + 1 < n_children:
            starts[child + 1] += 1
    for child in range(1, n_children):
        starts[child] += starts[child - 1]
    cursor = starts.copy()
    for row in rows.copy():
        child = int(value[row])
        rows[cursor[child]] = row
        cursor[child] += 1
    return starts


@njit(nogil=True)
def put_class_weights(label, rows, weights, dist):
    """Write the weight of every class among `rows` to `dist`."""
    dist[:] = 0.0
    for i in range(len(rows)):
        dist[label[rows[i]]] += weights[i]


@njit(nogil=True)
def distributions(X, nodes, roots, answers, offsets):
    """Return, for every row of `X`, the class distributions of all trees side by side.

    Parameters
    ----------
    X : ndarray of shape (n, features)
        Nominal features as value numbers, -1 for a value never seen in training; NaN is missing.
    nodes : (feature, threshold, first, n_children, nominal, weight)
        The nodes of all trees one after the other, ``first`` counted over all of them; ``nominal``
        tells whether the node's feature is, ``weight`` is the node's training weight.
    roots : ndarray of shape (trees,)
        The roots' numbers.
    answers : ndarray of shape (nodes, most classes)
    offsets : ndarray of shape (trees + 1,)
        The columns of tree ``j`` are ``offsets[j]:offsets[j + 1]``.
    """
    feature, threshold, first, _, nominal, _ = nodes
    n = len(X)
    out = np.zeros((n, offsets[-1]))
    for start in range(0, n, BLOCK_ROWS):
        for j in range(len(roots)):
            low, width = offsets[j], offsets[j + 1] - offsets[j]
            for i in range(start, min(start + BLOCK_ROWS, n)):
                node = roots[j]
                f = feature[node]
                missing = False
                while f >= 0:
                    v = X[i, f]
                    if v != v:
                        missing = True
                        break
                    if nominal[node]:
                        if v < 0.0:
                            break
                        node = first[node] + int(v)
                    else:
                        node = first[node] + (v > threshold[node])
                    f = feature[node]
                if missing:
                    _spread(X[i], nodes, node, answers, out[i, low : low + width])
                    continue
                for c in range(width):
                    out[i, low + c] = answers[node, c]
    return out


@njit(nogil=True)
def _spread(x, nodes, top, answers, out):
    """Add to `out` the answer of the subtree at `top`, divided where values are missing."""
    feature, threshold, first, n_children, nominal, weight = nodes
    waiting, parts = [top], [1.0]
    while len(waiting):
        node, part = waiting.pop(), parts.pop()
        v = x[feature[node]] if feature[node] >= 0 else 0.0
        if math.isnan(v):
            for child in range(first[node], first[node] + n_children[node]):
                if weight[child] > 0.0:
                    waiting.append(child)
                    parts.append(part * weight[child] / weight[node])
        elif feature[node] < 0 or (v < 0.0 and nominal[node]):
            for c in range(len(out)):
                out[c] += part * answers[node, c]
        else:
            waiting.append(first[node] + (int(v) if nominal[node] else int(v > threshold[node])))
            parts.append(part)
