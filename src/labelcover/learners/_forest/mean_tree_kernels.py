"""Compiled loops of trees whose nodes send a row to the nearest of a few means.

Trees are as in `forest_kernels`, but that a node has up to four children, and of each node
``n_children``, ``offset``, and the mean that it stands for, which is sparse: ``mean_features`` and
``mean_values`` from ``mean_starts[node]`` to ``mean_starts[node + 1]``. A row x goes to the child
with the greatest ``x · mean - |mean|² / 2``, the offset: that with the nearest mean. Tables are
CSR: ``(data, indices, indptr)``.
"""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.forest_kernels import longer, next_random

# A node has at most this many children.
MOST_CHILDREN = 4
# Rounds of k-means, and rows of a node that it looks at: more of either grow no better trees.
ROUNDS = 3
MOST_ROWS = 1_000
# Of a mean, the features that are largest count; this bounds the memory of a tree.
MOST_FEATURES = 256
# Draws of which the row least like the centres so far starts the next one.
START_DRAWS = 3
# Labels whose sketches vary less than this are alike.
ALIKE = 1e-6


@njit(nogil=True)
def _label_groups(sketch, counts, chosen, centres, sums, group, state):
    """Fill in the group of each chosen row: spherical k-means on the sketches of its labels.

    `centres` and `sums` are scratch of shape (q, MOST_CHILDREN).
    """
    q, k = centres.shape
    n = len(chosen)
    for c in range(k):
        start = chosen[int(next_random(state) * n)]
        least = np.inf
        for _ in range(START_DRAWS if c else 0):
            i = chosen[int(next_random(state) * n)]
            greatest = -np.inf
            for other in range(c):
                similarity = 0.0
                for j in range(q):
                    similarity += centres[j, other] * sketch[i, j]
                greatest = max(greatest, similarity)
            if greatest < least:
                least, start = greatest, i
        for j in range(q):
            centres[j, c] = sketch[start, j]
    similarity_of = np.zeros(k, np.float32)
    for step in range(ROUNDS):
        sums[:] = 0
        for at in range(n):
            i = chosen[at]
            for c in range(k):
                similarity_of[c] = 0
            for j in range(q):
                s = sketch[i, j]
                for c in range(k):
                    similarity_of[c] += centres[j, c] * s
            best = 0
            for c in range(1, k):
                if similarity_of[c] > similarity_of[best]:
                    best = c
            group[at] = best
            weight = np.float32(counts[i])
            for j in range(q):
                sums[j, best] += weight * sketch[i, j]
        if step == ROUNDS - 1:
            break
        for c in range(k):
            length = 0.0
            for j in range(q):
                length += sums[j, c] * sums[j, c]
            if length > 0:
                shrink = np.float32(1 / np.sqrt(length))
                for j in range(q):
                    centres[j, c] = shrink * sums[j, c]


@njit(nogil=True)
def _largest(values, features, n, sizes):
    """Keep the MOST_FEATURES largest of the first `n` values in place; return how many.

    `sizes` is scratch of the size of `values`.
    """
    if n <= MOST_FEATURES:
        return n
    for at in range(n):
        sizes[at] = abs(values[at])
    # Hoare's selection: NumPy's takes ten seconds to compile.
    k = n - MOST_FEATURES
    low, high = 0, n - 1
    while low < high:
        pivot = sizes[(low + high) // 2]
        a, b = low, high
        while a <= b:
            while sizes[a] < pivot:
                a += 1
            while sizes[b] > pivot:
                b -= 1
            if a <= b:
                sizes[a], sizes[b] = sizes[b], sizes[a]
                a += 1
                b -= 1
        if k <= b:
            high = b
        elif k >= a:
            low = a
        else:
            break
    least = sizes[k]
    above = 0
    for at in range(n):
        above += abs(values[at]) > least
    equal, kept = MOST_FEATURES - above, 0
    for at in range(n):
        size = abs(values[at])
        if size > least or (size == least and equal > 0):
            equal -= size == least
            values[kept], features[kept] = values[at], features[at]
            kept += 1
    return kept


@njit(nogil=True)
def _nearest(table, i, means, offsets, is_child):
    """Return the child whose mean is nearest to row `i`; `means` has a row per feature."""
    data, indices, indptr = table
    score = offsets.copy()
    for at in range(indptr[i], indptr[i + 1]):
        x, f = data[at], indices[at]
        for c in range(len(score)):
            score[c] += x * means[f, c]
    best = -1
    for c in range(len(score)):
        if is_child[c] and (best < 0 or score[c] > score[best]):
            best = c
    return best


@njit(nogil=True)
def _drop_small(table, own, counts, means, offsets, is_child, min_leaf, child):
    """Assign rows to children but those that would get too few draws; return how many remain."""
    k = len(is_child)
    draws = np.zeros(k)
    while True:
        draws[:] = 0
        for at in range(len(own)):
            child[at] = _nearest(table, own[at], means, offsets, is_child)
            draws[child[at]] += counts[own[at]]
        is_large = is_child & (draws >= min_leaf)
        n_large = is_large.sum()
        if n_large == is_child.sum() or n_large < 2:
            return n_large
        is_child[:] = is_large


@njit(nogil=True)
def _sort_into(rows, child, moved, c, at):
    """Move the rows of child `c` to place `at` of `rows`; return the place after them."""
    for i in range(len(moved)):
        if child[i] == c:
            rows[at] = moved[i]
            at += 1
    return at


@njit(nogil=True)
def _vary(sketch, counts, own):
    """Return whether the sketches of some rows differ."""
    q = sketch.shape[1]
    total, squares, weight = np.zeros(q), 0.0, 0.0
    for i in own:
        c = counts[i]
        weight += c
        for j in range(q):
            squares += c * sketch[i, j] * sketch[i, j]
            total[j] += c * sketch[i, j]
    for j in range(q):
        squares -= total[j] * total[j] / weight
    return squares > ALIKE * weight


@njit(nogil=True)
def grow_mean_tree(table, n_features, sketch, counts, rows, min_leaf, most_leaf, state):
    """Return the eight arrays of a tree, whose leaves are slices of `rows`.

    In each node the rows are grouped by their labels, by k-means on the sketches; the means of the
    groups, in the features, then decide to which child a row goes. The arrays are the beginnings of
    larger ones: copies free memory. For `mean_starts` there is how many features each mean has.

    Parameters
    ----------
    table : (data, indices, indptr)
        Training rows.
    sketch : float32 array of shape (n, q)
        Of length one, or zero for a row without labels.
    most_leaf : int
        Nodes of fewer draws are not split.
    counts, rows, min_leaf, state
        As in `grow_tree`.
    """
    data, indices, indptr = table
    n, k = len(rows), MOST_CHILDREN
    first, n_children = np.full(2 * n, -1, np.int32), np.zeros(2 * n, np.int32)
    start, end = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    offsets, mean_sizes = np.zeros(2 * n, np.float32), np.zeros(2 * n, np.int32)
    mean_features, mean_values = np.empty(4096, np.int32), np.empty(4096, np.float32)
    centres = np.empty((sketch.shape[1], k), np.float32)
    sums = np.empty((sketch.shape[1], k), np.float32)
    group, child, moved = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    means = np.zeros((n_features, k), np.float32)
    seen, mark = np.empty(n_features, np.int32), np.zeros(n_features, np.bool_)
    values, features = np.empty(n_features, np.float32), np.empty(n_features, np.int32)
    scratch = np.empty(n_features, np.float32)
    kept_values = np.empty((k, MOST_FEATURES), np.float32)
    kept_features, sizes = np.empty((k, MOST_FEATURES), np.int32), np.zeros(k, np.int32)
    own_offsets, is_child, weights = np.zeros(k, np.float32), np.zeros(k, np.bool_), np.zeros(k)
    end[0], n_nodes, node, stop = n, 1, 0, 0
    while node < n_nodes:
        s, e = start[node], end[node]
        number, node = node, node + 1
        weight = 0.0
        for at in range(s, e):
            weight += counts[rows[at]]
        if weight < max(most_leaf, 2 * min_leaf) or not _vary(sketch, counts, rows[s:e]):
            continue
        n_chosen = min(e - s, MOST_ROWS)
        if n_chosen < e - s:
            for a in range(n_chosen):
                b = a + int(next_random(state) * (e - s - a))
                rows[s + a], rows[s + b] = rows[s + b], rows[s + a]
        chosen = rows[s : s + n_chosen]
        _label_groups(sketch, counts, chosen, centres, sums, group, state)

        n_seen = 0
        weights[:] = 0
        for a in range(n_chosen):
            i = chosen[a]
            weights[group[a]] += counts[i]
            for at in range(indptr[i], indptr[i + 1]):
                f = indices[at]
                if not mark[f]:
                    mark[f] = True
                    seen[n_seen] = f
                    n_seen += 1
                means[f, group[a]] += np.float32(counts[i]) * data[at]
        for c in range(k):
            is_child[c] = weights[c] > 0
            filled = np.int64(0)  # a constant would have `_largest` compiled twice
            for a in range(n_seen):
                f = seen[a]
                if means[f, c] != 0:
                    values[filled], features[filled] = means[f, c] / np.float32(weights[c]), f
                    filled += 1
                    means[f, c] = 0
            sizes[c] = _largest(values, features, filled, scratch)
            squares = 0.0
            for a in range(sizes[c]):
                kept_values[c, a], kept_features[c, a] = values[a], features[a]
                squares += values[a] * values[a]
            own_offsets[c] = -squares / 2
        for c in range(k):
            for a in range(sizes[c]):
                means[kept_features[c, a], c] = kept_values[c, a]
        n_left = _drop_small(
            table, rows[s:e], counts, means, own_offsets, is_child, min_leaf, child
        )
        for a in range(n_seen):
            mark[seen[a]] = False
            means[seen[a]] = 0
        if n_left < 2:
            continue
        for at in range(e - s):
            moved[at] = rows[s + at]
        first[number], n_children[number] = n_nodes, n_left
        at = s
        for c in range(k):
            if not is_child[c]:
                continue
            start[n_nodes], offsets[n_nodes] = at, own_offsets[c]
            at = _sort_into(rows, child, moved[: e - s], c, np.int64(at))
            end[n_nodes], mean_sizes[n_nodes] = at, sizes[c]
            begin, stop = stop, stop + sizes[c]
            if stop > len(mean_values):
                mean_features = longer(mean_features, stop)
                mean_values = longer(mean_values, stop)
            for a in range(sizes[c]):
                mean_features[begin + a] = kept_features[c, a]
                mean_values[begin + a] = kept_values[c, a]
            n_nodes += 1
    every = slice(n_nodes)
    tree = first[every], start[every], end[every], n_children[every], offsets[every]
    return *tree, mean_sizes[every], mean_features[:stop], mean_values[:stop]


@njit(nogil=True)
def sort_into_leaves(table, n_features, nodes, tree, asked, order):
    """Sort places in `asked`, rows of a table, node by node; return where those of each node lie.

    `tree` is the number of the root, and that of the next one.
    """
    child, n_children, offsets, mean_starts, mean_features, mean_values = nodes
    root, n_nodes = tree[0], tree[1] - tree[0]
    starts, ends = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    ends[0] = len(order)
    nearest, moved = np.empty(len(order), np.int32), np.empty(len(order), np.int32)
    means = np.zeros((n_features, MOST_CHILDREN), np.float32)
    own_offsets = np.zeros(MOST_CHILDREN, np.float32)
    is_child = np.zeros(MOST_CHILDREN, np.bool_)
    for node in range(n_nodes):
        s, e, first = starts[node], ends[node], child[root + node]
        if first < 0 or s == e:
            continue
        for c in range(MOST_CHILDREN):
            is_child[c] = c < n_children[root + node]
        for c in range(n_children[root + node]):
            own_offsets[c] = offsets[first + c]
            for at in range(mean_starts[first + c], mean_starts[first + c + 1]):
                means[mean_features[at], c] = mean_values[at]
        for at in range(e - s):
            moved[at] = order[s + at]
            nearest[at] = _nearest(table, asked[moved[at]], means, own_offsets, is_child)
        place = s
        for c in range(n_children[root + node]):
            one = first - root + c
            starts[one] = place
            place = _sort_into(order, nearest, moved[: e - s], np.int64(c), place)
            ends[one] = place
            for at in range(mean_starts[first + c], mean_starts[first + c + 1]):
                means[mean_features[at], c] = 0
    return starts, ends


@njit(nogil=True)
def fall_to_means(table, n_features, nodes, roots, asked, leaves):
    """Let rows fall through trees that split by means, as `forest_kernels.fall` does.

    `table` is CSR, and `nodes` (child, n_children, offset, mean_starts, mean_features, mean_values)
    of all trees.
    """
    order = np.empty(len(asked), np.int32)
    for t in range(len(leaves)):
        n = 0
        for a in range(len(asked)):
            order[n] = a
            n += leaves[t, a] >= 0
        tree = roots[t], roots[t + 1]
        starts, ends = sort_into_leaves(table, n_features, nodes, tree, asked, order[:n])
        for node in range(len(starts)):
            if nodes[0][roots[t] + node] < 0:
                for at in range(starts[node], ends[node]):
                    leaves[t, order[at]] = roots[t] + node


@njit(nogil=True)
def add_mean_paths(table, n_features, nodes, roots, means, asked, sums, starting):
    """Add how the means of nodes change on the paths of rows, divided among their features.

    The features in which a row is more like the mean of its child than like those of all children
    share the change. Where the length of means decides alone, it is added to `starting`, as is the
    mean of the root.

    Parameters
    ----------
    table, n_features, nodes, roots, asked
        As in `fall_to_means`.
    means : float64 array, of all nodes
    sums : ndarray of shape (n_asked, n_features)
    starting : ndarray of shape (n_asked,)
    """
    data, indices, indptr = table
    child, n_children, _, mean_starts, mean_features, mean_values = nodes
    usual, own = np.zeros(n_features), np.zeros(n_features)
    order = np.empty(len(asked), np.int32)
    for t in range(len(roots) - 1):
        root, tree = roots[t], (roots[t], roots[t + 1])
        for a in range(len(asked)):
            order[a] = a
            starting[a] += means[root]
        starts, ends = sort_into_leaves(table, n_features, nodes, tree, asked, order)
        for node in range(root, roots[t + 1]):
            first, last = child[node], child[node] + n_children[node]
            if first < 0 or starts[node - root] == ends[node - root]:
                continue
            for at in range(mean_starts[first], mean_starts[last]):
                usual[mean_features[at]] += mean_values[at] / n_children[node]
            for one in range(first, last):
                for at in range(mean_starts[one], mean_starts[one + 1]):
                    own[mean_features[at]] = mean_values[at]
                change = means[one] - means[node]
                for place in order[starts[one - root] : ends[one - root]]:
                    i, total = asked[place], 0.0
                    for at in range(indptr[i], indptr[i + 1]):
                        f = indices[at]
                        total += max(data[at] * (own[f] - usual[f]), 0.0)
                    if total == 0:
                        starting[place] += change
                        continue
                    for at in range(indptr[i], indptr[i + 1]):
                        f = indices[at]
                        part = max(data[at] * (own[f] - usual[f]), 0.0)
                        sums[place, f] += change * part / total
                for at in range(mean_starts[one], mean_starts[one + 1]):
                    own[mean_features[at]] = 0.0
            for at in range(mean_starts[first], mean_starts[last]):
                usual[mean_features[at]] = 0.0
