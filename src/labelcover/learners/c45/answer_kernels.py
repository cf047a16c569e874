"""Class distributions of many rows by many C4.5 trees at once."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

BLOCK_ROWS = 128  # so many rows go through a tree while both are at hand in the cache


@njit(cache=True, nogil=True)
def node_answers(tree, parent, laplace):
    """Return the class distribution that each node answers with; an empty one has its parent's."""
    _, _, _, _, dist = tree
    n_classes = dist.shape[1]
    answers = np.empty_like(dist)
    for node in range(len(dist)):
        total = dist[node].sum()
        for c in range(n_classes):
            if total < 1e-6 and node > 0:
                answers[node, c] = answers[parent[node], c]
            elif laplace:
                answers[node, c] = (dist[node, c] + 1.0) / (total + n_classes)
            else:
                answers[node, c] = dist[node, c] / total
    return answers


@njit(cache=True, nogil=True)
def distributions(X, nodes, roots, answers, answer_at, offsets):
    """Return, for every row of `X`, the class distributions of all trees side by side.

    Parameters
    ----------
    X : ndarray of shape (n, features)
        Nominal features as value numbers, -1 for a value never seen in training; NaN is missing.
    nodes : (feature, threshold, first, n_sons, nominal, weight)
        The nodes of all trees one after the other, ``first`` counted over all of them; ``nominal``
        tells whether the node's feature is, ``weight`` is the node's training weight.
    roots : ndarray of shape (trees,)
        The roots' numbers.
    answers, answer_at : ndarray
        The distribution of node ``i`` begins at ``answers[answer_at[i]]``.
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
                    _spread(X[i], nodes, node, answers, answer_at, out[i, low : low + width])
                    continue
                at = answer_at[node]
                for c in range(width):
                    out[i, low + c] = answers[at + c]
    return out


@njit(cache=True, nogil=True)
def _spread(x, nodes, top, answers, answer_at, out):
    """Add to `out` the answer of the subtree at `top`, divided where values are missing."""
    feature, threshold, first, n_sons, nominal, weight = nodes
    waiting, parts = [top], [1.0]
    while len(waiting):
        node, part = waiting.pop(), parts.pop()
        v = x[feature[node]] if feature[node] >= 0 else 0.0
        if feature[node] >= 0 and math.isnan(v):
            for son in range(first[node], first[node] + n_sons[node]):
                if weight[son] > 0.0:
                    waiting.append(son)
                    parts.append(part * weight[son] / weight[node])
        elif feature[node] < 0 or (v < 0.0 and nominal[node]):
            at = answer_at[node]
            for c in range(len(out)):
                out[c] += part * answers[at + c]
        else:
            waiting.append(first[node] + (int(v) if nominal[node] else int(v > threshold[node])))
            parts.append(part)
