"""Compiled loops over what features change where a row takes their place in an origin."""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.forest_kernels import longer, next_random

# Features of a path in which a row and the origin part; where there are more, the row is followed.
MOST_APART = 64
# Of no label log-odds are explained.
UNBENT = np.zeros(0), 0.0, np.zeros(0), np.zeros(0), 0.0, 0
# No fewer pairs of orders are drawn, and these always the same.
LEAST_PAIRS = 2
SEED = 88172645463325252


@njit(nogil=True)
def orders_of(n, most_steps):
    """Return orders of `n` columns and their reverses, ``(n_orders, n)``: always the same.

    So many as have `most_steps` steps of one column each. As far as there are enough of them, each
    column is as often at each place.
    """
    n_pairs = max(LEAST_PAIRS, most_steps // (2 * n))
    orders, order = np.empty((2 * n_pairs, n), np.int64), np.arange(n)
    state = np.full(1, SEED, np.uint64)
    for p in range(n_pairs):
        if p % n == 0:
            for a in range(n - 1, 0, -1):
                b = int(next_random(state) * (a + 1))
                order[a], order[b] = order[b], order[a]
        orders[p] = np.roll(order, -(p % n * n // min(n, n_pairs)))
        orders[n_pairs + p] = orders[p, ::-1]
    return orders


@njit(nogil=True)
def log_odds(p, least):
    """Return the log-odds of a probability that is kept `least` inside (0, 1)."""
    p = (min(max(p, 0.0), 1.0) + least) / (1.0 + 2.0 * least)
    return np.log(p / (1.0 - p))


@njit(nogil=True)
def score_bends(terms, squares, orders, start, least):
    """Return what columns of a row add to log-odds less a slope times a linear score.

    The slope is that of the whole way from `start` to the row, so that all of it adds up to 0.

    Parameters
    ----------
    terms, squares : ndarrays of shape (n,)
        Coefficient times value; and the squared values of the columns that are divided by their
        length together, of others 0.
    orders : ndarray of shape (n_orders, n)
    start : float
        The score where no column has passed: log-odds.
    least : float
        How far inside (0, 1) probabilities are kept.
    """
    n, whole, way, parts = len(terms), squares.sum(), terms.sum(), np.zeros(len(terms))
    first = log_odds(1.0 / (1.0 + np.exp(-start)), least)
    last = log_odds(1.0 / (1.0 + np.exp(-start - way)), least)
    slope = (last - first) / way if way != 0.0 else 0.0
    for order in orders:
        numbers, words, length, before = 0.0, 0.0, 0.0, first
        for step in range(n):
            t, now = order[step], first
            if squares[t] > 0.0:
                words, length = words + terms[t], length + squares[t]
            else:
                numbers += terms[t]
            if step < n - 1:
                moved = numbers + (words * np.sqrt(whole / length) if length > 0.0 else 0.0)
                now = log_odds(1.0 / (1.0 + np.exp(-start - moved)), least) - slope * moved
            parts[t] += (now - before) / len(orders)
            before = now
    return parts


@njit(nogil=True)
def swap_parts(table, origin, nodes, roots, means, weights, asked, bent):
    """Return what the features of rows add to the answers of trees at an origin: Shapley values.

    Some features may have their values of the row, the others those of the origin; what a feature
    adds is averaged over all orders in which features pass from the origin to the row. A leaf is
    reached by those sets only that agree with its path, so that each leaf is looked at once.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        Rows, dense, else an empty table; CSR if sparse.
    origin : float32 array of shape (n_features,)
    nodes : (child, feature, threshold)
        Those of all trees, each from one of `roots` on (`forest_kernels`).
    means : float64 array of shape (n_labels, n_nodes)
        Of all nodes, in the same order.
    weights : float64 array of shape (n_asked, n_labels)
        What is explained of each row is the sum of its labels' answers times these.
    asked : int64 array
        The rows.
    bent : (means, start, by, slopes, least, most_steps)
        Of one label, or of none: the means, and its mean over trees at the origin. In each row `by`
        times its log-odds, kept `least` inside (0, 1), less `slopes` times its mean are explained
        too, times the number of trees, by orders of so many steps.

    Returns
    -------
    data, indices, indptr
        CSR, a row for each of `asked` and a column for each feature that matters.
    """
    child, feature, threshold = nodes
    dense, (values, columns, starts) = table
    n_features, n_labels, bent_means, by = len(origin), len(means), bent[0], bent[2]
    x = np.zeros(n_features, np.float32)
    # p! q! / (p + q + 1)!
    order = np.zeros((MOST_APART + 1, MOST_APART + 1))
    for p in range(MOST_APART + 1):
        order[p, 0] = 1.0 / (p + 1)
        for q in range(1, MOST_APART + 1):
            order[p, q] = order[p, q - 1] * q / (p + q + 1)
    sums, is_seen = np.zeros(n_features), np.zeros(n_features, np.bool_)
    seen, labels = np.empty(n_features, np.int32), np.empty(n_labels, np.int64)
    apart, of_row = np.empty(MOST_APART + 1, np.int32), np.empty(MOST_APART + 1, np.bool_)
    # Branches to look at: node, number of features that part, the last of them, and its side.
    waiting = np.empty((2 * MOST_APART + 4, 4), np.int64)
    data, indices = np.empty(1024), np.empty(1024, np.int32)
    indptr = np.zeros(len(asked) + 1, np.int64)
    # Leaves: their answers, where their features end, and these, or ~f on the side of the origin.
    answers, ends = np.empty(roots[-1]), np.zeros(roots[-1] + 1, np.int64)
    sides, turn = np.empty(4096, np.int32), np.empty(n_features, np.int32)
    for a in range(len(asked)):
        i = asked[a]
        if len(dense):
            x = dense[i]
        else:
            for at in range(starts[i], starts[i + 1]):
                x[columns[at]] = values[at]
        n_seen, n_own, n_leaves = 0, 0, 0
        is_bent = len(by) > 0 and by[a] != 0.0
        for k in range(n_labels):
            if weights[a, k] != 0:
                labels[n_own] = k
                n_own += 1
        for t in range(len(roots) - 1):
            room = MOST_APART * (roots[t + 1] - roots[t])
            if is_bent and ends[n_leaves] + room > len(sides):
                sides = np.append(sides, np.empty(len(sides) + room, np.int32))
            waiting[0, 0], waiting[0, 1] = roots[t], 0
            n_waiting = 1
            while n_waiting:
                n_waiting -= 1
                node, n_apart = waiting[n_waiting, 0], waiting[n_waiting, 1]
                if n_apart:
                    apart[n_apart - 1] = waiting[n_waiting, 2]
                    of_row[n_apart - 1] = waiting[n_waiting, 3] == 1
                while child[node] >= 0:
                    f = feature[node]
                    to_row = child[node] + (x[f] > threshold[node])
                    to_origin = child[node] + (origin[f] > threshold[node])
                    if to_row != to_origin:
                        side = -1
                        for at in range(n_apart):
                            if apart[at] == f:
                                side = 1 if of_row[at] else 0
                        if side < 0 and n_apart < MOST_APART:
                            for of in range(2):
                                waiting[n_waiting, 0] = to_row if of else to_origin
                                waiting[n_waiting, 1] = n_apart + 1
                                waiting[n_waiting, 2], waiting[n_waiting, 3] = f, of
                                n_waiting += 1
                            break
                        to_row = to_origin if side == 0 else to_row
                    node = to_row
                if child[node] >= 0 or n_apart == 0:
                    continue
                if is_bent:
                    answers[n_leaves], end = bent_means[node], ends[n_leaves]
                    for at in range(n_apart):
                        sides[end + at] = apart[at] if of_row[at] else ~apart[at]
                    n_leaves += 1
                    ends[n_leaves] = end + n_apart
                answer = 0.0
                for at in range(n_own):
                    answer += weights[a, labels[at]] * means[labels[at], node]
                n_row = 0
                for at in range(n_apart):
                    n_row += of_row[at]
                n_origin = n_apart - n_row
                for at in range(n_apart):
                    f = apart[at]
                    if not is_seen[f]:
                        is_seen[f], seen[n_seen] = True, f
                        n_seen += 1
                    if of_row[at]:
                        sums[f] += answer * order[n_row - 1, n_origin]
                    else:
                        sums[f] -= answer * order[n_row, n_origin - 1]
        if n_leaves:
            leaves = answers[:n_leaves], ends, sides
            _add_bends(seen[:n_seen], leaves, len(roots) - 1, bent, a, turn, sums)
        if not len(dense):
            for at in range(starts[i], starts[i + 1]):
                x[columns[at]] = 0.0
        first = indptr[a]
        if first + n_seen > len(data):
            data, indices = longer(data, first + n_seen), longer(indices, first + n_seen)
        for at in range(n_seen):
            f = seen[at]
            data[first + at], indices[first + at] = sums[f], f
            sums[f], is_seen[f] = 0.0, False
        indptr[a + 1] = first + n_seen
    return data[: indptr[-1]], indices[: indptr[-1]], indptr


@njit(nogil=True)
def _add_bends(seen, leaves, n_trees, bent, a, turn, sums):
    """Add what features of a row add to the bent log-odds of `swap_parts` to their sums."""
    answers, ends, sides = leaves
    _, start, by, slopes, least, most_steps = bent
    n, orders = len(seen), orders_of(len(seen), most_steps)
    steps, first = np.empty((2, n + 2)), log_odds(start, least) - slopes[a] * start
    factor = by[a] * n_trees / len(orders)
    for order in orders[: len(orders) // 2]:
        steps[:] = 0.0
        for at in range(n):
            turn[seen[order[at]]] = at + 1
        for leaf in range(len(answers)):
            # From the last turn of a feature of the row to the first of the others, and the same
            # of the reverse: from the first of the row to the last of the others.
            last, first_other, first_own, last_other = 0, n + 1, n + 1, 0
            for at in range(ends[leaf], ends[leaf + 1]):
                if sides[at] >= 0:
                    own = turn[sides[at]]
                    last, first_own = max(last, own), min(first_own, own)
                else:
                    own = turn[~sides[at]]
                    first_other, last_other = min(first_other, own), max(last_other, own)
            answer = answers[leaf] / n_trees
            ways = (last, first_other), (n + 1 - first_own, n + 1 - last_other)
            for reverse, (begin, end) in enumerate(ways):
                if begin < end:
                    steps[reverse, begin] += answer
                    steps[reverse, end] -= answer
        for reverse in range(2):
            answer, before = start, first
            for at in range(n):
                answer += steps[reverse, at + 1]
                now = log_odds(answer, least) - slopes[a] * answer if at < n - 1 else first
                t = order[n - 1 - at] if reverse else order[at]
                sums[seen[t]] += factor * (now - before)
                before = now
