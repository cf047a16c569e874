"""Compiled loops over the nearest neighbours of sparse rows."""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.swap_kernels import log_odds

# Neighbours that vote, and the power of their cosines that is the vote.
N_NEIGHBOURS = 30
VOTE_POWER = 3


@njit(nogil=True)
def neighbours_of(table, posts, n_rows, own, most):
    """Return the most similar rows of each row of a table, in order, and how similar they are.

    Rows are of length one, so that their inner products are cosines. Of equally similar rows the
    first is taken.

    Parameters
    ----------
    table : (data, indices, indptr)
        CSR.
    posts : (data, rows, starts)
        The rows to choose from, by feature: CSC.
    n_rows : int
        How many these are.
    own : int64 array of shape (n,)
        Which of them a row is itself, and is left out; -1 for none.
    most : int
        How many to return; there are fewer where others have no feature in common with a row.

    Returns
    -------
    rows : int32 array of shape (n, most)
        -1 where there are no more.
    similarity : float32 array of shape (n, most)
        Above 0; 0 where there are no more.
    """
    data, indices, indptr = table
    values, owners, starts = posts
    n = len(indptr) - 1
    found = np.full((n, most), -1, np.int32)
    similarity = np.zeros((n, most), np.float32)
    cosines = np.empty(n_rows, np.float32)
    for i in range(n):
        for j in range(n_rows):  # an assignment of arrays takes seconds to compile
            cosines[j] = 0.0
        for t in range(indptr[i], indptr[i + 1]):
            x, f = data[t], indices[t]
            for at in range(starts[f], starts[f + 1]):
                cosines[np.uintp(owners[at])] += x * values[at]
        if own[i] >= 0:
            cosines[own[i]] = 0.0
        least = similarity[i, most - 1]
        for j in range(n_rows):
            if cosines[j] > least:
                at = most - 1
                while at > 0 and similarity[i, at - 1] < cosines[j]:
                    similarity[i, at], found[i, at] = similarity[i, at - 1], found[i, at - 1]
                    at -= 1
                similarity[i, at], found[i, at] = cosines[j], j
                least = similarity[i, most - 1]
    return found, similarity


@njit(nogil=True)
def vote_parts(row, posts, orders, weights, held, shares, by):
    """Return what the columns of a row add to the log-odds of labels by the votes of neighbours.

    Columns pass one by one, in some orders, and neighbours are those by the columns that have.

    Parameters
    ----------
    row : (data, indices)
        Of the table of `neighbours_of`.
    posts
        As there.
    orders : ndarray of shape (n_orders, n)
    weights : ndarray of shape (n_posted,)
        What the votes of posted rows are multiplied by.
    held : (above, known), ndarrays of shape (n_labels, n_posted)
        What their votes move the share of a label by, and whether they count.
    shares : (origin, ends, least)
        Those where no column has passed and where all have, and how far inside (0, 1) they
        are kept.
    by : ndarray of shape (n_labels,)
        What the log-odds are multiplied by, and added up.
    """
    data, indices = row
    values, owners, starts = posts
    above, known = held
    origin, ends, least = shares
    n, n_posted, falls = len(data), len(weights), (data < 0).any() or (values < 0).any()
    parts, cosines = np.zeros(n), np.empty(n_posted, np.float32)
    place, nearest = np.empty(n_posted, np.int64), np.zeros(N_NEIGHBOURS, np.int64)
    votes = np.empty(N_NEIGHBOURS)
    for order in orders:
        cosines[:], place[:], n_near, before = 0.0, -1, 0, 0.0
        for step in range(-1, n):
            t, first, last, is_new = order[step], 0, 0, step in (-1, n - 1)
            if step >= 0:
                first, last = starts[indices[t]], starts[indices[t] + 1]
            if falls:  # a neighbour may go: all are looked for again
                for at in range(first, last):
                    cosines[owners[at]] += data[t] * values[at]
                first, last, n_near, place[:] = 0, n_posted, 0, -1
            for at in range(first, last):
                z = at if falls else owners[at]
                if not falls:
                    cosines[z] += data[t] * values[at]
                to = place[z]
                if to < 0:
                    to = min(n_near, N_NEIGHBOURS - 1)
                    if cosines[z] <= (cosines[nearest[to]] if n_near > to else 0.0):
                        continue
                    if n_near > to:
                        place[nearest[to]] = -1
                    n_near = to + 1
                while to > 0 and cosines[nearest[to - 1]] < cosines[z]:
                    nearest[to] = nearest[to - 1]
                    place[nearest[to]] = to
                    to -= 1
                nearest[to], place[z], is_new = z, to, True
            if not (is_new or falls):
                continue
            for at in range(n_near):
                votes[at] = np.float64(cosines[nearest[at]]) ** VOTE_POWER * weights[nearest[at]]
            largest, now = votes[:n_near].max() if n_near else 1.0, 0.0
            for k in range(len(by)):
                moved, total = 0.0, largest
                for at in range(n_near):
                    moved += votes[at] * above[k, nearest[at]]
                    total += votes[at] * known[k, nearest[at]]
                share = ends[k] if step == n - 1 else origin[k] + moved / total
                now += by[k] * log_odds(share, least)
            if step >= 0:
                parts[t] += (now - before) / len(orders)
            before = now
    return parts
