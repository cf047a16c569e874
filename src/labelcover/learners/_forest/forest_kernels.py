"""Compiled loops of trees: growing one that splits by features, and the labels that leaves hold.

A tree is arrays with one entry per node, the root first: ``child`` (the first of its children,
which are side by side and after their parent, -1 in a leaf), ``start`` and ``end`` (where its rows
lie among those of the tree, which are stored leaf by leaf), ``feature`` and ``threshold``: a row
goes to the first child if its value is at most the threshold, else to the second. The arrays of a
forest are those of its trees, one after the other: nodes and rows are numbered on, and tree ``t``
begins at ``roots[t]``. Labels are never a table here: row ``i`` has the labels
``label_indices[label_starts[i]:label_starts[i + 1]]``.
"""

import numpy as np

from labelcover._compiled import njit

# So many rows are worth finding the path of a row of zeros first, and in a leaf summing once.
MANY_ROWS = 32
# Trees through which a row falls while it is at hand: more of them would not stay at hand.
TREES_AT_ONCE = 8


@njit(nogil=True)
def next_random(state):
    """Advance the generator (xorshift64*) and return a number in [0, 1)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@njit(nogil=True)
def longer(array, size):
    """Return an array that begins with `array` and has twice `size`."""
    found = np.empty(2 * size, array.dtype)
    for at in range(len(array)):
        found[at] = array[at]
    return found


@njit(nogil=True)
def _forget(rows, labels, totals):
    label_indices, label_starts = labels
    for i in rows:
        for at in range(label_starts[i], label_starts[i + 1]):
            totals[label_indices[at]] = 0.0


# Compilers take several numbers at a time only where none may be missing.
@njit(nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _span(values):
    low, high = values[0], values[0]
    for v in values:
        low, high = min(low, v), max(high, v)
    return np.float64(low), np.float64(high)


@njit(nogil=True)
def _try_split(values, rows, counts, node, labels, totals, part, u):
    """Return the score of a split at a random threshold, and the threshold.

    The score is the sum over both sides of the squared label counts over the number of rows, which
    is largest where the variance of the labels within the sides is least; -1 for no split, -2
    where the feature is constant.
    """
    weight, squares, min_leaf = node
    low, high = _span(values)
    if not low < high:
        return -2.0, np.float32(0.0)
    threshold = np.float32(low + u * (high - low))
    if threshold >= high:
        threshold = np.float32(low)
    label_indices, label_starts = labels
    # One side is counted; what it leaves is the other.
    counted_above = threshold >= 0.0
    side, own, cross = 0.0, 0.0, 0.0
    # Without signs: an index that may be negative would be compared with 0 each time.
    one = np.uintp(1)
    for at in range(len(values)):
        if (values[at] > threshold) == counted_above:
            i = np.uintp(rows[at])
            c = counts[i]
            side += c
            for j in range(np.uintp(label_starts[i]), np.uintp(label_starts[i + one])):
                l = np.uintp(label_indices[j])
                own += c * (2.0 * part[l] + c)
                cross += c * totals[l]
                part[l] += c
    if len(part) <= len(values):
        part[:] = 0.0
    else:
        _forget(rows, labels, part)
    if min(side, weight - side) < min_leaf:
        return -1.0, threshold
    return own / side + (squares - 2.0 * cross + own) / (weight - side), threshold


@njit(nogil=True)
def split_rows(column, threshold, rows, moved):
    """Sort rows into those at most and above the threshold; return how many are at most."""
    for at in range(len(rows)):
        moved[at] = rows[at]
    middle, last = 0, len(rows)
    for at in range(len(rows)):
        if column[moved[at]] <= threshold:
            rows[middle] = moved[at]
            middle += 1
        else:
            last -= 1
            rows[last] = moved[at]
    return middle


@njit(nogil=True)
def grow_tree(table, labels, counts, rows, order, n_labels, wanted, min_leaf, state):
    """Return the five arrays of a tree, whose leaves are slices of `rows`.

    Parameters
    ----------
    table : float32 array of shape (n_features, n)
    labels : (label_indices, label_starts)
    counts : ndarray of shape (n,)
        How often each row was drawn.
    rows : int32 array
        Those that were drawn; sorted into leaves in place.
    order : int32 array of shape (n_features,)
        All features in any order; changed.
    wanted : int
        How many features that are not constant are tried in a node.
    min_leaf : int
        Least number of draws in a leaf.
    state : uint64 array of shape (1,)
    """
    n, n_features = len(rows), len(order)
    label_indices, label_starts = labels
    child, feature = np.full(2 * n, -1, np.int32), np.full(2 * n, -1, np.int32)
    start, end = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    threshold, waiting = np.zeros(2 * n, np.float32), np.zeros(2 * n, np.int32)
    totals, part = np.zeros(n_labels), np.zeros(n_labels)
    values, moved = np.empty(n, np.float32), np.empty(n, np.int32)
    end[0], n_waiting, n_nodes = n, 1, 1
    while n_waiting:
        n_waiting -= 1
        number = waiting[n_waiting]
        own = rows[start[number] : end[number]]
        weight, plain, squares = 0.0, 0.0, 0.0  # `plain` is the sum of `totals`
        for i in own:
            c = counts[i]
            weight += c
            for at in range(label_starts[i], label_starts[i + 1]):
                l = label_indices[at]
                squares += c * (2.0 * totals[l] + c)
                plain += c
                totals[l] += c
        node = (weight, squares, min_leaf)
        best, best_feature, best_threshold = -1.0, -1, np.float32(0.0)
        if weight >= 2 * min_leaf and plain - squares / weight > 1e-9:
            tried = 0
            for a in range(n_features):
                b = a + int(next_random(state) * (n_features - a))
                order[a], order[b] = order[b], order[a]
                column = table[order[a]]
                for at in range(len(own)):
                    values[at] = column[np.uintp(own[at])]
                score, cut = _try_split(
                    values[: len(own)], own, counts, node, labels, totals, part, next_random(state)
                )
                if score > best:
                    best, best_feature, best_threshold = score, order[a], cut
                tried += score > -2.0
                if tried == wanted:
                    break
        _forget(own, labels, totals)
        if best_feature < 0:
            continue
        middle = start[number] + split_rows(table[best_feature], best_threshold, own, moved)
        child[number], feature[number], threshold[number] = n_nodes, best_feature, best_threshold
        start[n_nodes], end[n_nodes] = start[number], middle
        start[n_nodes + 1], end[n_nodes + 1] = middle, end[number]
        waiting[n_waiting], waiting[n_waiting + 1] = n_nodes, n_nodes + 1
        n_waiting += 2
        n_nodes += 2
    return child[:n_nodes], start[:n_nodes], end[:n_nodes], feature[:n_nodes], threshold[:n_nodes]


@njit(nogil=True)
def _leaf(nodes, x, node):
    child, feature, threshold = nodes
    if node < 0:
        return node
    at = np.uintp(node)
    while child[at] >= 0:
        # Rows of sparse tables go left, mostly: a loop that goes on as guessed waits for nothing.
        while child[at] >= 0 and x[np.uintp(feature[at])] <= threshold[at]:
            at = np.uintp(child[at])
        at = np.uintp(child[at] + 1) if child[at] >= 0 else at
    return np.int32(at)


@njit(nogil=True)
def _fall_with_zeros(table, n_features, nodes, root, asked, leaves):
    """Let rows fall as far as a row of zeros would go with them, and one node further.

    Where few rows have any of the words, trees are long paths that rows leave with their words. In
    other trees rows stay where they are.
    """
    (data, indices, indptr), (child, feature, threshold) = table, nodes
    n, node = 0, root
    while child[node] >= 0:
        n, node = n + 1, child[node] + (threshold[node] < 0.0)
    if n * (len(indptr) - 1) <= 2 * len(data):
        return
    path, following = np.empty(n + 1, np.int64), np.empty(n, np.int64)
    path[0] = root
    for at in range(n):
        path[at + 1] = child[path[at]] + (threshold[path[at]] < 0.0)
    # The first split of each feature on the path, and the next one of the same feature.
    first = np.full(n_features, -1, np.int64)
    for at in range(n - 1, -1, -1):
        f = feature[path[at]]
        following[at], first[f] = first[f], at
    for a in range(len(asked)):
        if leaves[a] < 0:
            continue
        end = n
        for t in range(indptr[asked[a]], indptr[asked[a] + 1]):
            at = first[indices[t]]
            while 0 <= at < end:
                cut = threshold[path[at]]
                if (data[t] <= cut) != (cut >= 0.0):
                    end = at
                at = following[at]
        node = path[end]
        leaves[a] = node if end == n else child[node] + (threshold[node] >= 0.0)


@njit(nogil=True)
def fall(table, n_features, nodes, roots, asked, leaves):
    """Let rows fall through trees that split by features, to their leaves.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        Rows, dense, else an empty table; CSR if sparse.
    nodes : (child, feature, threshold)
        Those of all trees.
    roots : ndarray of shape (n_trees + 1,)
    asked : ndarray of shape (n_asked,)
        Which rows.
    leaves : int32 array of shape (n_trees, n_asked)
        The root of each tree, or -1, which stays, where it is not asked; filled in.
    """
    dense, csr = table
    if len(dense):
        for own in leaves:
            for a in range(len(asked)):
                own[a] = _leaf(nodes, dense[asked[a]], own[a])
        return
    data, indices, indptr = csr
    for t in range(len(leaves) if len(asked) >= MANY_ROWS else 0):
        _fall_with_zeros(csr, n_features, nodes, roots[t], asked, leaves[t])
    x = np.zeros(n_features, np.float32)
    for some in range(0, len(leaves), TREES_AT_ONCE):
        for a in range(len(asked)):
            start, end = indptr[asked[a]], indptr[asked[a] + 1]
            for at in range(start, end):
                x[indices[at]] = data[at]
            for own in leaves[some : some + TREES_AT_ONCE]:
                own[a] = _leaf(nodes, x, own[a])
            for at in range(start, end):
                x[indices[at]] = 0.0


@njit(nogil=True)
def leave_out_drawn(rows, row_starts, place, leaves):
    """Set to -1 what trees say of rows that they were grown on; `place` is theirs in `leaves`."""
    for t in range(len(leaves)):
        for at in range(row_starts[t], row_starts[t + 1]):
            if place[rows[at]] >= 0:
                leaves[t, place[rows[at]]] = -1


@njit(nogil=True)
def add_label_shares(leaf, held, labels, sums, seen, n_seen):
    """Add the label shares of a leaf to `sums`; return how many labels have been seen.

    `seen` lists those whose sum is not 0, the first `n_seen` before.
    """
    (start, end, rows, counts), (label_indices, label_starts) = held, labels
    weight, one = 0.0, np.uintp(1)
    for at in range(start[leaf], end[leaf]):
        weight += counts[at]
    for at in range(start[leaf], end[leaf]):
        i, share = np.uintp(rows[at]), counts[at] / weight
        for j in range(np.uintp(label_starts[i]), np.uintp(label_starts[i + one])):
            l = np.uintp(label_indices[j])
            if sums[l] == 0.0:
                seen[n_seen] = l
                n_seen += 1
            sums[l] += share
    return n_seen


@njit(nogil=True)
def add_leaf_shares(leaves, roots, held, labels, many, sums):
    """Add to `sums` the label shares of the leaves of rows.

    Parameters
    ----------
    leaves : int32 array of shape (n_trees, n)
        From `fall`.
    roots : ndarray of shape (n_trees + 1,)
    held : (start, end, rows, counts)
        Where the rows of each node lie among those of all trees, these, and how often each was
        drawn.
    labels : (label_indices, label_starts)
    many : int
        Leaves of so many rows are summed once.
    sums : ndarray of shape (n, n_labels)
    """
    n, longest = leaves.shape[1], np.int64(0)
    for t in range(len(leaves)):
        longest = max(longest, roots[t + 1] - roots[t])
    # The last row in each large leaf of a tree, and the one before each.
    last, before = np.full(longest, -1, np.int64), np.empty(n, np.int64)
    large, shares = np.empty(n, np.int32), np.zeros(sums.shape[1])
    seen = np.empty(sums.shape[1], np.int32)
    for t in range(len(leaves)):
        n_large = 0
        for a in range(n):
            leaf = leaves[t, a]
            if leaf < 0:
                continue
            if held[1][leaf] - held[0][leaf] < many:
                add_label_shares(leaf, held, labels, sums[a], seen, np.int64(0))
                continue
            before[a], last[leaf - roots[t]] = last[leaf - roots[t]], a
            if before[a] < 0:
                large[n_large] = leaf
                n_large += 1
        for leaf in large[:n_large]:
            n_seen = add_label_shares(leaf, held, labels, shares, seen, np.int64(0))
            a, last[leaf - roots[t]] = last[leaf - roots[t]], -1
            while a >= 0:
                for j in range(n_seen):
                    sums[a, seen[j]] += shares[seen[j]]
                a = before[a]
            for j in range(n_seen):
                shares[seen[j]] = 0.0


@njit(nogil=True)
def node_means(roots, held, values):
    """Return the mean over the draws of each node of a value of each training row."""
    start, end, rows, counts = held
    total, own = np.zeros(len(rows) + 1), np.zeros(len(rows) + 1)
    means = np.empty(len(start))
    for t in range(len(roots) - 1):
        first, last = start[roots[t]], end[roots[t]]
        total[first], own[first] = 0.0, 0.0
        for at in range(first, last):
            total[at + 1] = total[at] + counts[at]
            own[at + 1] = own[at] + counts[at] * values[rows[at]]
        for node in range(roots[t], roots[t + 1]):
            low, high = start[node], end[node]
            means[node] = (own[high] - own[low]) / (total[high] - total[low])
    return means
