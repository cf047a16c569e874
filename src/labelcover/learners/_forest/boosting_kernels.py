"""Compiled loops of boosted trees: one tree after another, each for all labels at once.

A tree is four arrays, as in `forest_kernels`: ``feature`` (-1 in a leaf), ``threshold``, ``left``
and ``right``; in a leaf ``left`` is the number of its line of values. Trees grow on codes: dense
columns are cut into few bins, and of a sparse table only what is above 0 counts.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners._forest.forest_kernels import next_random

# Compilers take several numbers at a time only where sums may be taken in any order.
FAST = {"nnan", "nsz", "reassoc", "contract"}
# What is subtracted from both sides of a split that sets few rows apart, in rows.
SHRINKAGE = 3.0
# A step is no longer than this, in log-odds: where a label is rare, curvature is near 0.
MOST_STEP = 3.0
# Least weight of a side, in rows.
LEAST_SIDE = 2.0


@njit(cache=True, nogil=True, fastmath=FAST)
def fill_gradients(p, Y, drawn, directions, gradient, curvature, sketch):
    """Fill in the gradients and curvatures of the log-loss, and the sketches of the gradients.

    Rows that were not drawn have a weight of 0 in `drawn`, and zeros in all three.
    """
    m, n_directions = directions.shape
    for i in range(len(p)):
        w = drawn[i]
        sketch[i] = 0.0
        if w == 0.0:
            gradient[i], curvature[i] = 0.0, 0.0
            continue
        for j in range(m):
            gradient[i, j] = w * (np.float32(Y[i, j]) - p[i, j])
            curvature[i, j] = w * p[i, j] * (np.float32(1.0) - p[i, j])
        for j in range(m):
            for k in range(n_directions):
                sketch[i, k] += gradient[i, j] * directions[j, k]


@njit(cache=True, nogil=True, fastmath=FAST)
def _fill(codes, own, sketch, drawn, sums, weights):
    for at in range(len(own)):
        i = np.uintp(own[at])
        b = np.uintp(codes[i])
        weights[b] += drawn[i]
        for k in range(sketch.shape[1]):
            sums[b, k] += sketch[i, k]


@njit(cache=True, nogil=True, fastmath=FAST)
def _score(part, total, side, weight):
    """Return how much the gradients of two sides have in common; -1 where a side is too light."""
    if side < LEAST_SIDE or weight - side < LEAST_SIDE:
        return -1.0
    own, other = 0.0, 0.0
    for k in range(len(total)):
        rest = total[k] - part[k]
        own += part[k] * part[k]
        other += rest * rest
    return own / (side + SHRINKAGE) + other / (weight - side + SHRINKAGE)


@njit(cache=True, nogil=True)
def _best_cut(sums, weights, total, weight, part):
    """Return the score of the best cut between bins, and the last bin on the left."""
    best, cut, side = -1.0, -1, 0.0
    part[:] = 0.0
    for b in range(len(weights) - 1):
        if weights[b] == 0.0:
            continue
        side += weights[b]
        for k in range(len(part)):
            part[k] += sums[b, k]
        score = _score(part, total, side, weight)
        if score > best:
            best, cut = score, b
    return best, cut


@njit(cache=True, nogil=True)
def _sums_of(rows, drawn, sketch, total):
    """Fill in the sum of the sketches of some rows; return their weight."""
    weight = 0.0
    total[:] = 0.0
    for i in rows:
        weight += drawn[i]
        for k in range(len(total)):
            total[k] += sketch[i, k]
    return weight


@njit(cache=True, nogil=True)
def grow_on_bins(codes, n_bins, rows, drawn, sketch, order, wanted, tree, weights, at_node, state):
    """Grow a tree on binned columns, node by node; return how many nodes it has.

    Parameters
    ----------
    codes : uint8 array of shape (n_columns, n)
    n_bins : int32 array of shape (n_columns,)
    rows : int32 array
        Those that were drawn; changed.
    drawn : float32 array of shape (n,)
        The weights of the rows that were drawn, else 0.
    sketch : float32 array of shape (n, n_directions)
    order : int32 array of shape (n_columns,)
        All columns in any order; changed.
    wanted : int
        How many columns are tried in a node.
    tree : (feature, cut, left, right)
        Of the most nodes that a tree may have; filled in. `cut` is a bin.
    weights : float32 array
        The weight of each node; filled in.
    at_node : int32 array of shape (n,)
        The leaf of each row, drawn or not; filled in.
    state : uint64 array of shape (1,)
    """
    feature, cuts, left, right = tree
    n_directions, d = sketch.shape[1], len(order)
    sums = np.zeros((n_bins.max(), n_directions), np.float32)
    in_bins = np.zeros(n_bins.max(), np.float32)
    total, part = np.zeros(n_directions, np.float32), np.zeros(n_directions, np.float32)
    ends = np.zeros((len(feature), 2), np.int32)
    ends[0, 1] = len(rows)
    moved = np.empty(len(rows), np.int32)
    node, n_nodes = 0, 1
    while node < n_nodes:
        start, end = ends[node]
        own = rows[start:end]
        weight = _sums_of(own, drawn, sketch, total)
        weights[node], feature[node] = weight, -1
        best = (total * total).sum() / (weight + SHRINKAGE) * (1.0 + 1e-6)
        tried = wanted if weight < 2 * LEAST_SIDE or n_nodes + 2 > len(feature) else 0
        for a in range(d):
            if tried >= wanted:
                break
            b = a + int(next_random(state) * (d - a))
            order[a], order[b] = order[b], order[a]
            f = order[a]
            sums[: n_bins[f]] = 0.0
            in_bins[: n_bins[f]] = 0.0
            _fill(codes[f], own, sketch, drawn, sums, in_bins)
            score, cut = _best_cut(sums, in_bins[: n_bins[f]], total, weight, part)
            tried += 1
            if score > best:
                best, feature[node], cuts[node] = score, f, cut
        if feature[node] >= 0:
            left[node], right[node] = n_nodes, n_nodes + 1
            middle, last = start, end
            moved[: end - start] = own
            for i in moved[: end - start]:
                if codes[feature[node], i] <= cuts[node]:
                    rows[middle] = i
                    middle += 1
                else:
                    last -= 1
                    rows[last] = i
            ends[n_nodes, 0], ends[n_nodes, 1] = start, middle
            ends[n_nodes + 1, 0], ends[n_nodes + 1, 1] = middle, end
            n_nodes += 2
        node += 1
    for i in range(codes.shape[1]):
        node = 0
        while feature[node] >= 0:
            node = left[node] if codes[feature[node], i] <= cuts[node] else right[node]
        at_node[i] = node
    return n_nodes


@njit(cache=True, nogil=True)
def grow_on_words(columns, share, n_levels, drawn, sketch, tree, weights, at_node, state):
    """Grow a tree on what is above 0 in a sparse table, level by level; return its nodes.

    Rows above 0 go right. A level costs as much as its columns have nonzeros.

    Parameters
    ----------
    columns : (rows, starts)
        Rows ``rows[starts[f]:starts[f + 1]]`` are above 0 in column ``f``.
    share : float
        How many of the columns are tried in a level.
    n_levels : int
        How many levels are split at most.
    drawn, sketch, tree, weights, at_node, state
        As in `grow_on_bins`.
    """
    (above, starts), (feature, cuts, left, right) = columns, tree
    n_directions, most = sketch.shape[1], len(feature)
    totals, sums = np.zeros((2, most, n_directions), np.float32)
    sides, best = np.zeros(most, np.float32), np.zeros(most)
    feature[0], at_node[:] = -1, 0
    weights[0] = _sums_of(np.arange(len(drawn)), drawn, sketch, totals[0])
    touched = np.empty(most, np.int32)
    first, n_nodes = 0, 1
    for _ in range(n_levels):
        for node in range(first, n_nodes):
            squares = (totals[node] * totals[node]).sum()
            best[node] = squares / (weights[node] + SHRINKAGE) * (1.0 + 1e-6)
        for f in range(len(starts) - 1):
            if next_random(state) >= share:
                continue
            n_touched = 0
            for at in range(starts[f], starts[f + 1]):
                i = np.uintp(above[at])
                node = at_node[i]
                if drawn[i] == 0.0 or node < first:
                    continue
                if sides[node] == 0.0:
                    touched[n_touched] = node
                    n_touched += 1
                sides[node] += drawn[i]
                for k in range(n_directions):
                    sums[node, k] += sketch[i, k]
            for node in touched[:n_touched]:
                score = _score(sums[node], totals[node], sides[node], weights[node])
                if score > best[node]:
                    best[node], feature[node] = score, f
                sides[node] = 0.0
                sums[node] = 0.0
        before, first = first, n_nodes
        for node in range(before, first):
            f = feature[node]
            if f < 0 or n_nodes + 2 > most:
                feature[node] = -1
                continue
            left[node], right[node], cuts[node] = n_nodes, n_nodes + 1, 0
            feature[n_nodes : n_nodes + 2] = -1
            for at in range(starts[f], starts[f + 1]):
                if at_node[above[at]] == node:
                    at_node[above[at]] = n_nodes + 1
            n_nodes += 2
        if n_nodes == first:
            break
        totals[first:n_nodes] = 0.0
        weights[first:n_nodes] = 0.0
        for row in range(len(at_node)):
            node = at_node[row]
            if node < first and feature[node] >= 0:
                node = at_node[row] = left[node]
            if node >= first:
                weights[node] += drawn[row]
                for k in range(n_directions):
                    totals[node, k] += sketch[row, k]
    return n_nodes


@njit(cache=True, nogil=True, fastmath=FAST)
def leaf_values(tree, n_nodes, at_node, drawn, gradient, curvature, rate):
    """Return the values of the leaves of a tree, a line each, and number these in `left`.

    A value is a step of Newton's method, shrunken as by `SHRINKAGE` rows of mean curvature.
    """
    feature, _, left, _ = tree
    n_leaves = 0
    for node in range(n_nodes):
        if feature[node] < 0:
            left[node] = n_leaves
            n_leaves += 1
    m = gradient.shape[1]
    above, below = np.zeros((n_leaves, m), np.float32), np.zeros((n_leaves, m), np.float32)
    n_drawn = 0
    for i in range(len(at_node)):
        if drawn[i] > 0.0:
            n_drawn += 1
            leaf = left[at_node[i]]
            for j in range(m):
                above[leaf, j] += gradient[i, j]
                below[leaf, j] += curvature[i, j]
    for j in range(m):
        prior = SHRINKAGE * below[:, j].sum() / max(n_drawn, 1)
        for leaf in range(n_leaves):
            low = below[leaf, j] + prior
            step = above[leaf, j] / low if low > 0.0 else 0.0
            above[leaf, j] = rate * min(max(step, -MOST_STEP), MOST_STEP)
    return above


@njit(cache=True, nogil=True)
def add_scores(table, n_features, stack, values, scores):
    """Add to `scores` the values of the leaves that rows of a table fall into, tree by tree.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        As in `forest_kernels.add_answers`.
    stack : (feature, threshold, left, right, starts)
        The nodes of all trees one after the other, children counted within their tree, and where
        each tree starts.
    values : float32 array of shape (n_leaves, n_labels)
    """
    feature, threshold, left, right, starts = stack
    dense, (data, indices, indptr) = table
    x = np.zeros(0 if len(dense) else n_features, np.float32)
    for i in range(len(scores)):
        if len(dense):
            x = dense[i]
        else:
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = data[at]
        for root in starts:
            node = root
            while feature[node] >= 0:
                child = left[node] if x[feature[node]] <= threshold[node] else right[node]
                node = root + child
            for j in range(scores.shape[1]):
                scores[i, j] += values[left[node], j]
        if not len(dense):
            for at in range(indptr[i], indptr[i + 1]):
                x[indices[at]] = 0.0
