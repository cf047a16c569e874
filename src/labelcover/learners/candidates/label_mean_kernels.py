"""Compiled loops that compare rows with the means of the training rows of every label.

The sums of the rows of all labels are sparse: by label, ``(sum_values, sum_features,
sum_starts)``, and by feature, ``(post_values, post_labels, post_starts)``. Tables are CSR:
``(data, indices, indptr)``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.candidates.share_kernels import greatest_first


@njit(cache=True, nogil=True)
def _rarest_first(table, i, post_starts, order):
    """Fill in where the features of row `i` lie, those of the fewest labels first."""
    _, indices, indptr = table
    n = 0
    for at in range(indptr[i], indptr[i + 1]):
        f = indices[at]
        size = post_starts[f + 1] - post_starts[f]
        place = n
        while place > 0:
            other = indices[order[place - 1]]
            if post_starts[other + 1] - post_starts[other] <= size:
                break
            order[place] = order[place - 1]
            place -= 1
        order[place] = at
        n += 1
    return n


@njit(cache=True, nogil=True)
def _without(product, square, own, xx):
    """Return the product with a row and the square of a sum that the row, weight `own`, left."""
    return product - own * xx, square - 2 * own * product + own * own * xx


@njit(cache=True, nogil=True)
def _cosine(product, square, xx):
    """Return the cosine of a row and a sum, 0 where one of them is nothing but rounding."""
    if xx <= 0 or square <= 1e-9 * xx:
        return 0.0
    return product / np.sqrt(square * xx)


@njit(cache=True, nogil=True)
def likeliest_means(table, rows, posts, squares, labels, own_weights, most, most_posts):
    """Return the `most` labels of each row whose means have the greatest cosines with it.

    Features of a row are read from the rarest on, until `most_posts` sums were added to: what
    nearly all labels have tells none from another, and takes the time. The cosines are therefore
    not exact.

    Parameters
    ----------
    rows : ndarray
        Rows of `table` that are asked for.
    squares : ndarray of shape (n_labels,)
        Squared lengths of the sums.
    labels : (label_indices, label_starts)
        Those of the training rows.
    own_weights : ndarray
        How often each row of `table` counts in the sums of its labels; the row is then left out.
        Empty where rows are new.

    Returns
    -------
    found : int32 array of shape (n_rows, most)
        The greatest cosines first; -1 where no more labels have a cosine above 0.
    """
    data, indices, indptr = table
    post_values, post_labels, post_starts = posts
    label_indices, label_starts = labels
    n_labels = len(squares)
    found = np.full((len(rows), most), -1, np.int32)
    sums, seen, likeness = np.zeros(n_labels), np.empty(n_labels, np.int32), np.empty(n_labels)
    longest = 0
    for i in rows:
        longest = max(longest, indptr[i + 1] - indptr[i])
    order = np.empty(longest, np.int64)
    for r in range(len(rows)):
        i = rows[r]
        n_seen, n_posts, xx = 0, 0, 0.0
        for place in range(_rarest_first(table, i, post_starts, order)):
            x, f = data[order[place]], indices[order[place]]
            n_posts += post_starts[f + 1] - post_starts[f]
            if n_posts > most_posts and n_seen > 0:
                break
            xx += x * x
            for at in range(post_starts[f], post_starts[f + 1]):
                j = post_labels[at]
                if sums[j] == 0:
                    seen[n_seen] = j
                    n_seen += 1
                sums[j] += x * post_values[at]
        if len(own_weights):
            own = own_weights[i]
            for k in range(label_starts[i], label_starts[i + 1]):
                j = label_indices[k]
                if sums[j] != 0:
                    product, square = _without(sums[j], squares[j], own, xx)
                    # A cosine that `squares` makes below: the other lengths stay as they are.
                    enough = square > 1e-9 * xx
                    sums[j] = product * np.sqrt(squares[j] / square) if enough else 0.0
        kept = np.int64(0)  # a constant would have `greatest_first` compiled twice
        for a in range(n_seen):
            j = seen[a]
            if sums[j] > 1e-9:
                seen[kept], likeness[kept] = j, sums[j] / np.sqrt(squares[j])
                kept += 1
            sums[j] = 0
        for a in range(greatest_first(seen, likeness, kept, most)):
            found[r, a] = seen[a]
    return found


@njit(cache=True, nogil=True)
def candidate_cosines(table, n_features, rows, candidates, sums, squares, labels, own_weights):
    """Return the cosines of some rows with the means of their candidates, 0 where there is none.

    A row of `table` that counts in the sum of a label, with its weight of `own_weights`, is left
    out of it; `own_weights` is empty where rows are new.
    """
    data, indices, indptr = table
    sum_values, sum_features, sum_starts = sums
    label_indices, label_starts = labels
    cosines = np.zeros(candidates.shape, np.float32)
    row = np.zeros(n_features)
    for r in range(len(rows)):
        i = rows[r]
        xx = 0.0
        for at in range(indptr[i], indptr[i + 1]):
            row[indices[at]] = data[at]
            xx += data[at] * data[at]
        for c in range(candidates.shape[1]):
            j = candidates[r, c]
            if j < 0:
                continue
            product, square = 0.0, squares[j]
            for at in range(sum_starts[j], sum_starts[j + 1]):
                product += sum_values[at] * row[sum_features[at]]
            if len(own_weights):
                for k in range(label_starts[i], label_starts[i + 1]):
                    if label_indices[k] == j:
                        product, square = _without(product, square, own_weights[i], xx)
            cosines[r, c] = _cosine(product, square, xx)
        for at in range(indptr[i], indptr[i + 1]):
            row[indices[at]] = 0
    return cosines
