"""Compiled loops of boosted trees: one tree after another, each for all labels at once.

A tree is three arrays, as in `forest_kernels`: ``child`` (-1 in a leaf), ``feature`` (in a leaf the
line of its values) and ``threshold``. Trees grow on codes: dense columns are cut into few bins, and
of a sparse table only what is above 0 counts.
"""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.forest_kernels import next_random, split_rows

# Compilers take several numbers at a time only where sums may be taken in any order.
FAST = {"nnan", "nsz", "reassoc", "contract"}
# What is added to both sides of a split, in rows, so that few rows set apart count less.
SHRINKAGE = 3.0
# Least weight of a side, in rows.
LEAST_SIDE = 2.0
# Numbers of a row in a tree: four sums of its gradients, its weight, and three that fill a line of
# memory. All are 0 where a row was not drawn.
DIRECTIONS, WEIGHT, WIDTH = 4, 4, 8


@njit(nogil=True, fastmath=FAST)
def _add(sums, to, moments, i):
    """Add a row to a line of sums; all numbers are read before any is written, which is quicker."""
    a, b, c, d = moments[i, 0], moments[i, 1], moments[i, 2], moments[i, 3]
    w = sums[to, 4] + moments[i, 4]
    a, b, c, d = sums[to, 0] + a, sums[to, 1] + b, sums[to, 2] + c, sums[to, 3] + d
    sums[to, 0], sums[to, 1], sums[to, 2], sums[to, 3], sums[to, 4] = a, b, c, d, w


@njit(nogil=True, fastmath=FAST)
def _score(part, total):
    """Return how much the gradients of two sides have in common; -1 where a side is too light."""
    side, other = part[WEIGHT], total[WEIGHT] - part[WEIGHT]
    if side < LEAST_SIDE or other < LEAST_SIDE:
        return -1.0
    own, rest = 0.0, 0.0
    for k in range(DIRECTIONS):
        own += part[k] * part[k]
        rest += (total[k] - part[k]) * (total[k] - part[k])
    return own / (side + SHRINKAGE) + rest / (other + SHRINKAGE)


@njit(nogil=True, fastmath=FAST)
def _score_unsplit(total):
    """Return what a split must exceed."""
    own = 0.0
    for k in range(DIRECTIONS):
        own += total[k] * total[k]
    return own / (total[WEIGHT] + SHRINKAGE) * (1.0 + 1e-6)


@njit(nogil=True)
def grow_on_bins(codes, n_bins, rows, moments, order, wanted, tree, at_node, state):
    """Grow a tree on binned columns, node by node; return how many nodes it has.

    Parameters
    ----------
    codes : uint8 array of shape (n_columns, n)
    n_bins : int32 array of shape (n_columns,)
    rows : int32 array
        Those that were drawn; changed.
    moments : float32 array of shape (n, `WIDTH`)
        Sums of gradients and weights of the rows.
    order : int32 array of shape (n_columns,)
        All columns in any order; changed.
    wanted : int
        How many columns are tried in a node.
    tree : (child, feature, cut)
        Of the most nodes that a tree may have, all -1; filled in. `cut` is a bin.
    at_node : int32 array of shape (n,)
        The leaf of each row, drawn or not; filled in.
    state : uint64 array of shape (1,)
    """
    child, feature, cuts = tree
    d = len(order)
    sums = np.zeros((256, WIDTH), np.float32)
    total, part = np.zeros((1, WIDTH), np.float32), np.zeros((1, WIDTH), np.float32)
    ends = np.zeros((len(feature), 2), np.int32)
    ends[0, 1] = len(rows)
    moved = np.empty(len(rows), np.int32)
    node, n_nodes = 0, 1
    while node < n_nodes:
        start, end = ends[node]
        own = rows[start:end]
        total[:] = 0.0
        for i in own:
            _add(total, np.uintp(0), moments, np.uintp(i))
        best = _score_unsplit(total[0])
        if total[0, WEIGHT] < 2 * LEAST_SIDE or n_nodes + 2 > len(feature):
            node += 1
            continue
        for a in range(min(wanted, d)):
            b = a + int(next_random(state) * (d - a))
            order[a], order[b] = order[b], order[a]
            f = order[a]
            sums[: n_bins[f]] = 0.0
            for i in own:
                _add(sums, np.uintp(codes[f, i]), moments, np.uintp(i))
            part[:] = 0.0
            for cut in range(n_bins[f] - 1):
                if sums[cut, WEIGHT] > 0.0:
                    _add(part, np.uintp(0), sums, np.uintp(cut))
                    score = _score(part[0], total[0])
                    if score > best:
                        best, feature[node], cuts[node] = score, f, cut
        if feature[node] >= 0:
            child[node] = n_nodes
            middle = start + split_rows(codes[feature[node]], cuts[node], own, moved)
            ends[n_nodes, 0], ends[n_nodes, 1] = start, middle
            ends[n_nodes + 1, 0], ends[n_nodes + 1, 1] = middle, end
            n_nodes += 2
        node += 1
    for i in range(codes.shape[1]):
        node = 0
        while child[node] >= 0:
            node = child[node] + (codes[feature[node], i] > cuts[node])
        at_node[i] = node
    return n_nodes


@njit(nogil=True)
def grow_on_words(columns, share, n_levels, rows, moments, tree, at_node, state):
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
    rows, moments, tree, at_node, state
        As in `grow_on_bins`; `rows` stay as they are.
    """
    (above, starts), (child, feature, cuts) = columns, tree
    most = len(feature)
    totals, sums = np.zeros((most, WIDTH), np.float32), np.zeros((most, WIDTH), np.float32)
    best = np.zeros(most)
    at_node[:] = 0
    first, n_nodes = 0, 1
    for level in range(n_levels + 1):
        for i in range(len(at_node)):
            node = at_node[i]
            if node < first and child[node] >= 0:
                at_node[i] = child[node]
        for i in rows:
            _add(totals, np.uintp(at_node[i]), moments, np.uintp(i))
        if level == n_levels or first == n_nodes:
            break
        for node in range(first, n_nodes):
            best[node] = _score_unsplit(totals[node])
        for f in range(len(starts) - 1):
            if next_random(state) >= share:
                continue
            sums[first:n_nodes] = 0.0
            # Leaves of earlier levels are added to, too, and never looked at: no need to ask.
            for at in range(starts[f], starts[f + 1]):
                row = np.uintp(above[at])
                _add(sums, np.uintp(at_node[row]), moments, row)
            for node in range(first, n_nodes):
                if sums[node, WEIGHT] >= LEAST_SIDE:
                    score = _score(sums[node], totals[node])
                    if score > best[node]:
                        best[node], feature[node] = score, f
        before, first = first, n_nodes
        for node in range(before, first):
            f = feature[node]
            if f < 0 or n_nodes + 2 > most:
                continue
            child[node], cuts[node] = n_nodes, 0
            for at in range(starts[f], starts[f + 1]):
                if at_node[above[at]] == node:
                    at_node[above[at]] = n_nodes + 1
            n_nodes += 2
    return n_nodes


@njit(nogil=True, fastmath=FAST)
def add_rows(values, taken, sums, to):
    """Add some rows of `values`, those `taken`, to the rows `to` of `sums`."""
    for a in range(len(to)):
        own, more = sums[to[a]], values[taken[a]]
        for j in range(len(own)):
            own[j] += more[j]
