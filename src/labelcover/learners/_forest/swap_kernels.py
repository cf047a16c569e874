"""Compiled loops over what features change where a row takes their place in an origin."""

import numpy as np

from labelcover._compiled import njit

# Features of a path in which a row and the origin part; where there are more, the row is followed.
MOST_APART = 64


@njit(nogil=True)
def swap_parts(table, origin, trees, node_starts, means, weights, asked):
    """Return what the features of rows add to the answers of trees at an origin: Shapley values.

    Some features may have their values of the row, the others those of the origin; what a feature
    adds is averaged over all orders in which features pass from the origin to the row. A leaf is
    reached by those sets only that agree with its path, so that each leaf is looked at once.

    Parameters
    ----------
    table : (dense, (data, indices, indptr))
        Rows, dense, else an empty table; CSR if sparse.
    origin : float32 array of shape (n_features,)
    trees : (feature, threshold, left, right)
        The arrays of all trees one after the other, from `node_starts` on each.
    means : float64 array of shape (n_labels, n_nodes)
        Of all nodes, in the same order.
    weights : float64 array of shape (n_asked, n_labels)
        What is explained of each row is the sum of its labels' answers times these.
    asked : int64 array
        The rows.

    Returns
    -------
    data, indices, indptr
        CSR, a row for each of `asked` and a column for each feature that matters.
    """
    feature, threshold, left, right = trees
    dense, (values, columns, starts) = table
    n_features, n_labels = len(origin), len(means)
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
    for a in range(len(asked)):
        i = asked[a]
        if len(dense):
            x = dense[i]
        else:
            for at in range(starts[i], starts[i + 1]):
                x[columns[at]] = values[at]
        n_seen, n_own = 0, 0
        for k in range(n_labels):
            if weights[a, k] != 0:
                labels[n_own] = k
                n_own += 1
        for t in range(len(node_starts) - 1):
            root = node_starts[t]
            waiting[0, 0], waiting[0, 1] = root, 0
            n_waiting = 1
            while n_waiting:
                n_waiting -= 1
                node, n_apart = waiting[n_waiting, 0], waiting[n_waiting, 1]
                if n_apart:
                    apart[n_apart - 1] = waiting[n_waiting, 2]
                    of_row[n_apart - 1] = waiting[n_waiting, 3] == 1
                while feature[node] >= 0:
                    f = feature[node]
                    to_row = left[node] if x[f] <= threshold[node] else right[node]
                    to_origin = left[node] if origin[f] <= threshold[node] else right[node]
                    if to_row != to_origin:
                        side = -1
                        for at in range(n_apart):
                            if apart[at] == f:
                                side = 1 if of_row[at] else 0
                        if side < 0 and n_apart < MOST_APART:
                            for of in range(2):
                                waiting[n_waiting, 0] = root + (to_row if of else to_origin)
                                waiting[n_waiting, 1] = n_apart + 1
                                waiting[n_waiting, 2], waiting[n_waiting, 3] = f, of
                                n_waiting += 1
                            break
                        to_row = to_origin if side == 0 else to_row
                    node = root + to_row
                if feature[node] >= 0 or n_apart == 0:
                    continue
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
        if not len(dense):
            for at in range(starts[i], starts[i + 1]):
                x[columns[at]] = 0.0
        first = indptr[a]
        if first + n_seen > len(data):
            more_data = np.empty(2 * (first + n_seen))
            more_indices = np.empty(2 * (first + n_seen), np.int32)
            for at in range(first):
                more_data[at], more_indices[at] = data[at], indices[at]
            data, indices = more_data, more_indices
        for at in range(n_seen):
            f = seen[at]
            data[first + at], indices[first + at] = sums[f], f
            sums[f], is_seen[f] = 0.0, False
        indptr[a + 1] = first + n_seen
    return data[: indptr[-1]], indices[: indptr[-1]], indptr
