"""Compiled loops that grow a tree on a sparse table.

The tree is that of `labelcover.learners._forest.forest_kernels`. A word is in few rows, so most
splits take a few rows from many: what a split costs must depend on the few. When a node is split,
the smaller child gets columns of its own: the entries of its rows, column by column. The larger
child goes on with those of its parent, from which the entries of rows that have gone are dropped
when a column is read. A row is in the smaller child at most log₂ n times. A larger child that holds
most of the rows of its parent also goes on with the splits that were tried there: the next best of
them is about as good in it as before, and is taken without trying others.

Labels are seen through a random sketch: a row has `SKETCH_COLUMNS` numbers, and a one, all of them
times the number of draws.
"""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.forest_kernels import longer, next_random

# Numbers of a row: columns of the sketch, and one for the draws.
WIDTH = 8
SKETCH_COLUMNS = WIDTH - 1
# Rows whose sketches vary less than this, per draw, have the same labels.
ALIKE = 1e-9
# Splits that are kept of those tried in a node, and the share of its rows that a node further down
# must hold for them to be taken there.
KEPT = 4
MOST_ROWS = 0.7


@njit(nogil=True)
def _score_column(columns, f, cut, place, node, sketch, total, min_leaf):
    """Return the score of a split, and the least and the greatest value of the feature in the node.

    The score is the sum over both sides of the squared sums of the sketch over the number of
    draws, which is largest where the sketch varies least within the sides; -1 if a side has too few
    draws. Entries of rows that are not in the node are dropped.
    """
    values, rows, starts, ends = columns
    start, end = node
    # One side is counted, that without the zeros; what it leaves is the other.
    counted_above = cut >= 0.0
    low, high = np.float32(np.inf), np.float32(-np.inf)
    # Eight numbers and no array: they stay in registers.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = weight = np.float32(0.0)
    # Without signs: an index that may be negative would be compared with 0 each time.
    at, e, one = np.uintp(starts[f]), np.uintp(ends[f]), np.uintp(1)
    while at < e:
        i, value = np.uintp(rows[at]), values[at]
        if start <= place[i] < end:
            low, high = min(low, value), max(high, value)
            at += one
            if (value > cut) == counted_above:
                row = sketch[i]
                s0 += row[0]
                s1 += row[1]
                s2 += row[2]
                s3 += row[3]
                s4 += row[4]
                s5 += row[5]
                s6 += row[6]
                weight += row[7]
        else:
            e -= one
            values[at], rows[at] = values[e], rows[e]
    ends[f] = e
    if ends[f] - starts[f] < end - start:
        # Rows without an entry have the value 0.
        low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
    rest = total[SKETCH_COLUMNS] - weight
    if min(np.float64(weight), rest) < min_leaf:
        return -1.0, low, high
    inner = s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3 + s4 * s4 + s5 * s5 + s6 * s6
    t0, t1, t2, t3 = total[0] - s0, total[1] - s1, total[2] - s2, total[3] - s3
    t4, t5, t6 = total[4] - s4, total[5] - s5, total[6] - s6
    outer = t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3 + t4 * t4 + t5 * t5 + t6 * t6
    return inner / weight + outer / rest, low, high


@njit(nogil=True)
def _best_splits(columns, present, n_present, place, node, sketch, total, kept, how, state):
    """Keep the best of some random splits, the best first; return how many.

    And how many features are present: those that have no entries in the node, or do not vary, are
    taken off the list, for good, since they cannot vary in a part of the node either.
    """
    features, cuts, scores = kept
    wanted, min_leaf = how
    values, _, starts, ends = columns
    a, n_kept = 0, 0
    while a < min(wanted, n_present):
        b = a + int(next_random(state) * (n_present - a))
        f, cut = present[b], np.float32(0.0)
        # Between 0 and a value, perhaps of a row that has gone: that is known once all are read.
        if ends[f] > starts[f]:
            cut = np.float32(next_random(state))
            cut *= values[starts[f] + int(next_random(state) * (ends[f] - starts[f]))]
        score, low, high = _score_column(columns, f, cut, place, node, sketch, total, min_leaf)
        if low < high and not low <= cut < high:
            cut = np.float32(low + next_random(state) * (high - low))
            if cut >= high:
                cut = low
            score, _, _ = _score_column(columns, f, cut, place, node, sketch, total, min_leaf)
        if not low < high:
            n_present -= 1
            present[b] = present[n_present]
            continue
        present[b] = present[a]
        present[a] = f
        a += 1
        if score < 0 or (n_kept == KEPT and score <= scores[KEPT - 1]):
            continue
        at = min(n_kept, KEPT - 1)
        n_kept = min(n_kept + 1, KEPT)
        while at > 0 and scores[at - 1] < score:
            features[at], cuts[at], scores[at] = features[at - 1], cuts[at - 1], scores[at - 1]
            at -= 1
        features[at], cuts[at], scores[at] = f, cut, score
    return n_kept, n_present


@njit(nogil=True)
def _move_rows(values, own, threshold, rows, place, node):
    """Sort the rows of a node into those at most and above the threshold; return the middle."""
    counted_above = threshold >= 0.0
    middle = node[1] if counted_above else node[0]
    for at in range(len(values)):
        if (values[at] > threshold) == counted_above:
            i = own[at]
            middle -= counted_above
            p, other = place[i], rows[middle]
            rows[p], place[other] = other, p
            rows[middle], place[i] = i, middle
            middle += not counted_above
    return middle


@njit(nogil=True)
def _fill_columns(own, table, columns, first, present, sizes, least):
    """Fill in the entries of some rows, column by column, from place `first` on.

    Columns of fewer than `least` entries, too few for a leaf, are left out. Returns how many
    columns there are, and where they end. `sizes` is 0 for every feature, before and after.
    """
    data, indices, indptr = table
    values, rows, starts, ends = columns
    n_found, n_present = 0, 0
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            f = indices[t]
            if sizes[f] == 0:
                present[n_found] = f
                n_found += 1
            sizes[f] += 1
    for a in range(n_found):
        f = present[a]
        ends[f] = -1
        if sizes[f] >= least:
            starts[f] = ends[f] = first
            first += sizes[f]
            present[n_present] = f
            n_present += 1
        sizes[f] = 0
    for i in own:
        for t in range(indptr[i], indptr[i + 1]):
            p = ends[indices[t]]
            if p >= 0:
                values[p], rows[p] = data[t], i
                ends[indices[t]] = p + 1
    return n_present, first


@njit(nogil=True)
def _own_table(table, drawn, is_used):
    """Return the rows that were drawn, with the features that a tree may use, as CSR."""
    data, indices, indptr = table
    starts = np.zeros(len(drawn) + 1, np.int64)
    n_entries = (indptr[drawn + 1] - indptr[drawn]).sum()
    values, features = np.empty(n_entries, np.float32), np.empty(n_entries, np.int32)
    at = 0
    for i in range(len(drawn)):
        for t in range(indptr[drawn[i]], indptr[drawn[i] + 1]):
            # Written in any case, and overwritten if not used: no branch to guess.
            values[at], features[at] = data[t], indices[t]
            at += is_used[indices[t]]
        starts[i + 1] = at
    return values[:at], features[:at], starts


@njit(nogil=True)
def _sketch(drawn, counts, labels, directions):
    """Return some random sums of the labels of each row, and a one, times the draws of the row."""
    label_indices, label_starts = labels
    sketch = np.zeros((len(drawn), WIDTH), np.float32)
    for i in range(len(drawn)):
        count = np.float32(counts[i])
        for at in range(label_starts[drawn[i]], label_starts[drawn[i] + 1]):
            for c in range(SKETCH_COLUMNS):
                sketch[i, c] += count * directions[label_indices[at], c]
        sketch[i, SKETCH_COLUMNS] = count
    return sketch


@njit(nogil=True)
def _sum_rows(own, sketch, total):
    """Set `total` to the sum of some rows of the sketch; return that of their squared lengths."""
    square = 0.0
    for c in range(WIDTH):
        total[c] = 0.0
    for i in own:
        length = 0.0
        for c in range(WIDTH):
            total[c] += sketch[i, c]
            if c < SKETCH_COLUMNS:
                length += np.float64(sketch[i, c]) * sketch[i, c]
        square += length / sketch[i, SKETCH_COLUMNS]
    return square


@njit(nogil=True)
def _may_split(total, square, min_leaf):
    """Return whether rows are enough to split, and vary; `square` is the sum of squared lengths."""
    weight = total[SKETCH_COLUMNS]
    if weight < 2 * min_leaf:
        return False
    for c in range(SKETCH_COLUMNS):
        square -= total[c] * total[c] / weight
    return square > ALIKE * weight


@njit(nogil=True)
def grow_sparse_tree(table, labels, directions, drawn, counts, is_used, wanted, min_leaf, state):
    """Return the five arrays of a tree, and its rows leaf by leaf, as places in `drawn`.

    Parameters
    ----------
    table : (data, indices, indptr)
        CSR, float32.
    directions : float32 array of shape (n_labels, SKETCH_COLUMNS)
        What a label adds to the sketch of a row.
    drawn, counts : ndarray
        The rows that were drawn, and how often.
    is_used : bool array of shape (n_features,)
        The features that the tree may use.
    labels, wanted, min_leaf, state
        As in `grow_tree`.
    """
    n, n_features = len(drawn), len(is_used)
    own = _own_table(table, drawn, is_used)
    indptr = own[2]
    sketch = _sketch(drawn, counts, labels, directions)
    rows, place = np.arange(n).astype(np.int32), np.arange(n).astype(np.int32)
    children, feature = np.full(2 * n, -1, np.int32), np.full(2 * n, -1, np.int32)
    begins, stops = np.zeros(2 * n, np.int32), np.zeros(2 * n, np.int32)
    threshold = np.zeros(2 * n, np.float32)
    # A waiting node has at least as many rows as its sibling, which is grown before it, so that few
    # wait at a time: what is kept of a node is kept once for each of these levels.
    levels = 2
    while 2 ** (levels - 2) < n:
        levels += 1
    starts = np.empty((levels, n_features), np.int32)
    ends, present = np.empty_like(starts), np.empty_like(starts)
    n_present, sizes = np.zeros(levels, np.int32), np.zeros(n_features, np.int32)
    totals, squares = np.empty((levels, WIDTH)), np.empty(levels)
    kept_features = np.empty((levels, KEPT), np.int32)
    kept_cuts, kept_scores = np.empty((levels, KEPT), np.float32), np.empty((levels, KEPT))
    # How many splits are kept, how many of them have been taken, and the rows that still do.
    taken = np.zeros(levels, np.int64)
    n_kept, least_rows = np.zeros(levels, np.int64), np.zeros(levels)
    # The number of each node that waits, its first and last row, and where its columns end.
    nodes = np.empty((levels, 4), np.int64)
    n_entries = len(own[0])
    values, owners = np.empty(2 * n_entries, np.float32), np.empty(2 * n_entries, np.int32)
    columns = (values, owners, starts[0], ends[0])
    least = np.int64(np.ceil(min_leaf / counts.max()))
    n_present[0], filled = _fill_columns(rows, own, columns, np.int64(0), present[0], sizes, least)
    squares[0] = _sum_rows(rows, sketch, totals[0])
    nodes[0, 0], nodes[0, 1], nodes[0, 2], nodes[0, 3] = 0, 0, n, filled
    at, n_nodes = 0, 1
    while at >= 0:
        number, start, end = nodes[at, 0], nodes[at, 1], nodes[at, 2]
        begins[number], stops[number] = start, end
        node, best, cut = (start, end), -1, np.float32(0.0)
        if _may_split(totals[at], squares[at], min_leaf):
            columns = (values, owners, starts[at], ends[at])
            while best < 0:
                if taken[at] < n_kept[at] and end - start >= least_rows[at]:
                    f, cut = kept_features[at, taken[at]], kept_cuts[at, taken[at]]
                    taken[at] += 1
                    score, _, _ = _score_column(
                        columns, f, cut, place, node, sketch, totals[at], min_leaf
                    )
                    if score >= 0:
                        best = f
                    continue
                n_kept[at], n_present[at] = _best_splits(
                    columns, present[at], n_present[at], place, node, sketch, totals[at],
                    (kept_features[at], kept_cuts[at], kept_scores[at]), (wanted, min_leaf), state,
                )  # fmt: skip
                if n_kept[at] == 0:
                    break
                best, cut = kept_features[at, 0], kept_cuts[at, 0]
                taken[at], least_rows[at] = 1, MOST_ROWS * (end - start)
        if best < 0:
            at -= 1
            continue
        s, e = starts[at, best], ends[at, best]
        middle = _move_rows(values[s:e], owners[s:e], cut, rows, place, node)
        children[number], feature[number], threshold[number] = n_nodes, best, cut
        is_left = middle - start < end - middle
        first, last = (start, middle) if is_left else (middle, end)
        small, child = rows[first:last], at + 1
        squares[child] = _sum_rows(small, sketch, totals[child])
        for c in range(WIDTH):
            totals[at, c] -= totals[child, c]
        squares[at] -= squares[child]
        nodes[child, 0], nodes[child, 1], nodes[child, 2] = n_nodes + 1 - is_left, first, last
        nodes[at, 0] = n_nodes + is_left
        nodes[at, 1], nodes[at, 2] = (middle, end) if is_left else (start, middle)
        n_nodes += 2
        at = child
        n_kept[child] = taken[child] = 0
        if _may_split(totals[child], squares[child], min_leaf):
            begin = nodes[child - 1, 3]
            most = begin + (indptr[small + 1] - indptr[small]).sum()
            if most > len(values):
                values, owners = longer(values, most), longer(owners, most)
            columns = (values, owners, starts[child], ends[child])
            n_present[child], nodes[child, 3] = _fill_columns(
                small, own, columns, begin, present[child], sizes, least
            )
    every = slice(n_nodes)
    return (children[every], begins[every], stops[every], feature[every], threshold[every]), rows
