"""Compiled loops over the splits of trees: how the share of a label changes from node to node."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def node_shares(tree, rows, counts, holds):
    """Return the share of a label among the draws of each node, and how many draws there are.

    `holds` tells for each training row whether it has the label; a node has the slice of `rows`
    from the first of its leaves to the last.
    """
    feature, _, left, right = tree
    n_nodes = len(feature)
    total, own = np.zeros(len(rows) + 1), np.zeros(len(rows) + 1)
    for at in range(len(rows)):
        total[at + 1] = total[at] + counts[at]
        own[at + 1] = own[at] + (counts[at] if holds[rows[at]] else 0.0)
    first, last = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    shares, weights = np.empty(n_nodes), np.empty(n_nodes)
    # Sons have higher numbers than their father.
    for node in range(n_nodes - 1, -1, -1):
        if feature[node] < 0:
            first[node], last[node] = left[node], right[node]
        else:
            first[node], last[node] = first[left[node]], last[right[node]]
        weights[node] = total[last[node]] - total[first[node]]
        shares[node] = (own[last[node]] - own[first[node]]) / weights[node]
    return shares, weights


@njit(cache=True, nogil=True)
def add_paths(table, n_features, tree, shares, sums):
    """Add to `sums`, ``(n, n_features)``, how the share changes at each split on a row's path."""
    feature, threshold, left, right = tree
    dense, (data, indices, indptr) = table
    x = np.zeros(0 if len(dense) else n_features, np.float32)
    for i in range(len(sums)):
        if len(dense):
            x = dense[i]
        else:
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = data[at]
        node = 0
        while feature[node] >= 0:
            f = feature[node]
            son = left[node] if x[f] <= threshold[node] else right[node]
            sums[i, f] += shares[son] - shares[node]
            node = son
        if not len(dense):
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = 0.0


@njit(cache=True, nogil=True)
def add_directions(tree, shares, weights, sums):
    """Add to `sums`, ``(n_features,)``, by how much rows above the cuts have the label more often.

    A split counts with the covariance of its side and the label, over all draws of the tree.
    """
    feature, _, left, right = tree
    for node in range(len(feature)):
        if feature[node] >= 0:
            a, b = left[node], right[node]
            part = weights[a] * weights[b] / (weights[node] * weights[0])
            sums[feature[node]] += part * (shares[b] - shares[a])
