"""Compiled loops of the label forest: growing a tree, and the labels that its leaves hold.

A tree is four arrays with one entry per node, the root first: ``feature`` (-1 in a leaf),
``threshold`` and ``left``, ``right``: the children, or, in a leaf, where its rows start and end
among the rows of the tree, which are stored leaf by leaf. A row goes left if its value is at most
the threshold. Labels are never a table here: row ``i`` has the labels
``label_indices[label_starts[i]:label_starts[i + 1]]``.
"""

import numpy as np

from labelcover._compiled import njit

# So many rows are worth finding the path of a row of zeros first, and in a leaf summing once.
MANY_ROWS = 32
_NO_PATH = np.zeros(1, np.int32), np.zeros(0, np.int32)


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
    """Return the four arrays of a tree, whose leaves are slices of `rows`.

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
    feature = np.full(2 * n, -1, np.int32)
    threshold = np.zeros(2 * n, np.float32)
    left, right = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    totals, part = np.zeros(n_labels), np.zeros(n_labels)
    values, moved = np.empty(n, np.float32), np.empty(n, np.int32)
    stack = np.empty((2 * n, 3), np.int32)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, 0, n
    waiting, n_nodes = 1, 1
    while waiting:
        waiting -= 1
        number, start, end = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2]
        own = rows[start:end]
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
            left[number], right[number] = start, end
            continue
        middle = start + split_rows(table[best_feature], best_threshold, own, moved)
        feature[number], threshold[number] = best_feature, best_threshold
        left[number], right[number] = n_nodes, n_nodes + 1
        for child in range(2):
            stack[waiting + child, 0] = n_nodes + child
            stack[waiting + child, 1] = start if child == 0 else middle
            stack[waiting + child, 2] = middle if child == 0 else end
        waiting += 2
        n_nodes += 2
    return feature[:n_nodes], threshold[:n_nodes], left[:n_nodes], right[:n_nodes]


@njit(nogil=True)
def _path_of_zeros(tree, first):
    """Return the nodes that a row of zeros goes through, and the next split of the same feature.

    The last node is a leaf. `first`, -1 for every feature before, becomes its first split on the
    path; -1 stands for none.
    """
    feature, threshold, left, right = tree
    path = np.empty(len(feature) // 2 + 1, np.int32)
    node, n = 0, 0
    while feature[node] >= 0:
        path[n] = node
        n += 1
        node = left[node] if threshold[node] >= 0.0 else right[node]
    path[n] = node
    following = np.empty(n, np.int32)
    for at in range(n - 1, -1, -1):
        f = feature[path[at]]
        following[at], first[f] = first[f], at
    return path[: n + 1], following


@njit(nogil=True)
def _off_path(tree, zeros, first, values, features):
    """Return the node at which a sparse row leaves the path of a row of zeros, or its leaf."""
    _, threshold, left, right = tree
    path, following = zeros
    end = len(following)
    for t in range(len(values)):
        at = first[features[t]]
        while 0 <= at < end:
            cut = threshold[path[at]]
            if (values[t] <= cut) != (cut >= 0.0):
                end = at
            at = following[at]
    node = path[end]
    if end == len(following):
        return node
    return right[node] if threshold[node] >= 0.0 else left[node]


@njit(nogil=True)
def _leaf(tree, x, node):
    feature, threshold, left, right = tree
    at = np.uintp(node)
    while feature[at] >= 0:
        at = np.uintp(left[at] if x[np.uintp(feature[at])] <= threshold[at] else right[at])
    return np.int64(at)


@njit(nogil=True)
def _add_leaf(rows, start, end, counts, labels, sums):
    label_indices, label_starts = labels
    weight = 0.0
    for at in range(start, end):
        weight += counts[at]
    for at in range(start, end):
        i = np.uintp(rows[at])
        share = counts[at] / weight
        for j in range(np.uintp(label_starts[i]), np.uintp(label_starts[i + np.uintp(1)])):
            sums[np.uintp(label_indices[j])] += share


@njit(nogil=True)
def _add_large(rows, leaf, tree, counts, labels, shares, before, a, into, sums):
    """Add the shares of a leaf, summed in `shares`, for row `a` that asks and all `before` it."""
    shares[:] = 0.0
    _add_leaf(rows, tree[2][leaf], tree[3][leaf], counts, labels, shares)
    while a >= 0:
        for l in range(len(shares)):
            sums[into[a], l] += shares[l]
        a = before[a]


@njit(nogil=True)
def add_answers(table, n_features, tree, rows, counts, labels, asked, into, sums):
    """Add the label shares of the leaves of some rows of a table to rows `into` of `sums`.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        Rows, dense, else an empty table; CSR if sparse.
    rows, counts : ndarray
        The rows of the tree, leaf by leaf, and how often each was drawn.
    asked, into : int64 array
    """
    dense, (data, indices, indptr) = table
    if len(dense):
        for a in range(len(asked)):
            leaf = _leaf(tree, dense[asked[a]], np.int64(0))
            _add_leaf(rows, tree[2][leaf], tree[3][leaf], counts, labels, sums[into[a]])
        return
    first, x = np.full(n_features, -1, np.int32), np.zeros(n_features, np.float32)
    zeros = _path_of_zeros(tree, first) if len(asked) >= MANY_ROWS else _NO_PATH
    # Where few rows have any of the words, trees are long paths that rows leave with their words.
    is_long = len(zeros[1]) * (len(indptr) - 1) > 2 * len(data)
    # The last row asked for in each large leaf, and the one before each: a leaf is summed once.
    n_asked = len(asked)
    last = np.full(len(tree[0]) if n_asked >= MANY_ROWS else 0, -1, np.int64)
    before, large = np.empty(n_asked, np.int64), np.empty(n_asked, np.int64)
    shares, n_large = np.zeros(sums.shape[1]), 0
    for a in range(n_asked):
        start, end = indptr[asked[a]], indptr[asked[a] + 1]
        leaf = np.int64(0)
        if is_long:
            leaf = _off_path(tree, zeros, first, data[start:end], indices[start:end])
        if tree[0][leaf] >= 0:
            for at in range(start, end):
                x[indices[at]] = data[at]
            leaf = _leaf(tree, x, leaf)
            for at in range(start, end):
                x[indices[at]] = 0.0
        if tree[3][leaf] - tree[2][leaf] < MANY_ROWS:
            _add_leaf(rows, tree[2][leaf], tree[3][leaf], counts, labels, sums[into[a]])
            continue
        before[a] = -1
        if not len(last):
            _add_large(rows, leaf, tree, counts, labels, shares, before, a, into, sums)
            continue
        before[a], last[leaf] = last[leaf], a
        if before[a] < 0:
            large[n_large] = leaf
            n_large += 1
    for at in range(n_large):
        leaf = large[at]
        _add_large(rows, leaf, tree, counts, labels, shares, before, last[leaf], into, sums)


@njit(nogil=True)
def add_answers_of_trees(table, n_features, stack, labels, asked, out_of_bag, sums, n_trees):
    """Add to `sums` the label shares of some rows in the leaves of all trees.

    Parameters
    ----------
    stack : (feature, threshold, left, right, rows, counts, node_starts, row_starts)
        The arrays of all trees one after the other, and where each tree begins.
    asked : int64 array of shape (n_asked,)
        The rows, one for each row of `sums`.
    out_of_bag : bool
        Whether these are training rows, of which each asks the trees grown without it.
    n_trees : int64 array of shape (n_asked,)
        To which the number of trees that a row asks is added.
    table, n_features, labels, sums
        As in `add_answers`.
    """
    feature, threshold, left, right, rows, counts, node_starts, row_starts = stack
    # The last tree that was grown with a row.
    last = np.full(len(labels[1]) - 1, -1, np.int64)
    asking, into = np.empty(len(asked), np.int64), np.empty(len(asked), np.int64)
    for t in range(len(node_starts) - 1):
        a, b = node_starts[t], node_starts[t + 1]
        c, d = row_starts[t], row_starts[t + 1]
        for at in range(c, d):
            last[rows[at]] = t
        n_asking = 0
        for i in range(len(asked)):
            if not out_of_bag or last[asked[i]] != t:
                asking[n_asking], into[n_asking] = asked[i], i
                n_asking += 1
                n_trees[i] += 1
        tree = feature[a:b], threshold[a:b], left[a:b], right[a:b]
        add_answers(
            table, n_features, tree, rows[c:d], counts[c:d], labels,
            asking[:n_asking], into[:n_asking], sums,
        )  # fmt: skip


@njit(nogil=True)
def node_means(tree, rows, counts, values):
    """Return the mean over the draws of each node of a value of each training row.

    A node has the slice of `rows` from the first of its leaves to the last.
    """
    feature, _, left, right = tree
    n_nodes = len(feature)
    total, own = np.zeros(len(rows) + 1), np.zeros(len(rows) + 1)
    for at in range(len(rows)):
        total[at + 1] = total[at] + counts[at]
        own[at + 1] = own[at] + counts[at] * values[rows[at]]
    first, last = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int32)
    means = np.empty(n_nodes)
    # Children have higher numbers than their parent.
    for node in range(n_nodes - 1, -1, -1):
        if feature[node] < 0:
            first[node], last[node] = left[node], right[node]
        else:
            first[node], last[node] = first[left[node]], last[right[node]]
        low, high = first[node], last[node]
        means[node] = (own[high] - own[low]) / (total[high] - total[low])
    return means
