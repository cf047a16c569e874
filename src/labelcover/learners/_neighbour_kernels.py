"""Compiled loops over the nearest neighbours of sparse rows."""

import numpy as np

from labelcover._compiled import njit


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
