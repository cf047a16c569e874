"""Compiled loops that find the candidate labels of rows, and score them.

Tables are CSR: ``(data, indices, indptr)``. The sums of the rows of all labels are sparse: by
label, ``(sum_values, sum_features, sum_starts)``, and by feature, ``(post_values, post_labels,
post_starts)``. Leaves are those of `labelcover.learners._forest.forest_kernels`.
"""

import numpy as np

from labelcover._compiled import njit
from labelcover.learners._forest.forest_kernels import add_label_shares, longer, next_random


@njit(nogil=True)
def greatest_first(labels, weights, n, most):
    """Sort the `most` greatest of the first `n` weights to the front; return how many there are.

    Of equal weights the lower label comes first. Nearly all are compared once, with the last of
    those kept.
    """
    kept = 0
    for a in range(n):
        label, weight = labels[a], weights[a]
        at = kept
        while at > 0 and (
            weights[at - 1] < weight or (weights[at - 1] == weight and labels[at - 1] > label)
        ):
            at -= 1
        if at == most:
            continue
        kept = min(kept + 1, most)
        for b in range(kept - 1, at, -1):
            labels[b], weights[b] = labels[b - 1], weights[b - 1]
        labels[at], weights[at] = label, weight
    return kept


@njit(nogil=True)
def likeliest_means(table, posts, squares, labels, own_weights, most, most_posts):
    """Return the `most` labels of each row whose means have the greatest cosines with it.

    Features of a row are read until `most_posts` sums were added to, so the cosines are not exact.

    Parameters
    ----------
    table : (data, indices, indptr)
        The rows asked for, the rarest features of each first: what nearly all labels have tells
        none from another, and takes the time.
    squares : ndarray of shape (n_labels,)
        Squared lengths of the sums.
    labels : (label_indices, label_starts)
        Of the rows, if these are training rows.
    own_weights : ndarray
        How often each row counts in the sums of its labels; the row is then left out. Empty where
        rows are new.

    Returns
    -------
    found : int32 array of shape (n_rows, most)
        The greatest cosines first; -1 where no more labels have a cosine above 0.
    """
    data, indices, indptr = table
    post_values, post_labels, post_starts = posts
    label_indices, label_starts = labels
    n_labels = len(squares)
    n_rows = len(indptr) - 1
    found = np.full((n_rows, most), -1, np.int32)
    sums, seen, cosines = np.zeros(n_labels), np.empty(n_labels, np.int32), np.empty(n_labels)
    is_seen = np.zeros(n_labels, np.bool_)  # a sum may come back to 0
    for r in range(n_rows):
        n_seen, n_posts, xx = 0, 0, 0.0
        for place in range(indptr[r], indptr[r + 1]):
            x, f = data[place], indices[place]
            n_posts += post_starts[f + 1] - post_starts[f]
            if n_posts > most_posts and n_seen > 0:
                break
            xx += x * x
            for at in range(post_starts[f], post_starts[f + 1]):
                j = post_labels[at]
                if not is_seen[j]:
                    is_seen[j] = True
                    seen[n_seen] = j
                    n_seen += 1
                sums[j] += x * post_values[at]
        if len(own_weights):
            own = own_weights[r]
            for k in range(label_starts[r], label_starts[r + 1]):
                j = label_indices[k]
                if sums[j] != 0:
                    square = squares[j] - 2 * own * sums[j] + own * own * xx
                    product = sums[j] - own * xx
                    # A cosine that `squares` makes below: the other lengths stay as they are.
                    enough = square > 1e-9 * xx
                    sums[j] = product * np.sqrt(squares[j] / square) if enough else 0.0
        kept = np.int64(0)  # a constant would have `greatest_first` compiled twice
        for a in range(n_seen):
            j = seen[a]
            if sums[j] > 1e-9:
                seen[kept], cosines[kept] = j, sums[j] / np.sqrt(squares[j])
                kept += 1
            sums[j], is_seen[j] = 0, False
        for a in range(greatest_first(seen, cosines, kept, most)):
            found[r, a] = seen[a]
    return found


@njit(nogil=True)
def candidate_products(table, n_features, candidates, vectors):
    """Return the products of rows with the vectors of their candidates, 0 where there is none.

    `vectors` are those of all labels, ``(values, features, starts)``.
    """
    data, indices, indptr = table
    values, features, starts = vectors
    products = np.zeros(candidates.shape)
    row = np.zeros(n_features)
    for r in range(len(candidates)):
        for at in range(indptr[r], indptr[r + 1]):
            row[indices[at]] = data[at]
        for c in range(candidates.shape[1]):
            j, product = candidates[r, c], 0.0
            if j >= 0:
                for at in range(starts[j], starts[j + 1]):
                    product += values[at] * row[features[at]]
            products[r, c] = product
        for at in range(indptr[r], indptr[r + 1]):
            row[indices[at]] = 0
    return products


@njit(nogil=True)
def candidate_shares(leaves, held, labels, n_labels, given, most):
    """Return candidates of each row, those given and those with the greatest shares; and shares.

    Parameters
    ----------
    leaves : int32 array of shape (n_trees, n)
        The leaf of each row in each tree, -1 where the tree is not to be asked.
    held
        As in `add_leaf_shares`.
    labels : (label_indices, label_starts)
        Those of the training rows.
    given : int32 array of shape (n, n_given)
        Candidates that a row has already, -1 where there are no more.
    most : int
        Candidates of a row in all, at least `n_given`.

    Returns
    -------
    candidates : int32 array of shape (n, most)
        First those given, then the greatest shares, of equal ones the lower label; then -1.
    shares : float32 array of shape (n, most)
        The mean share of each candidate in the leaves of the row.
    """
    n_trees, n = leaves.shape
    candidates = np.full((n, most), -1, np.int32)
    shares = np.zeros((n, most), np.float32)
    sums, seen, weights = np.zeros(n_labels), np.empty(n_labels, np.int32), np.empty(n_labels)
    for i in range(n):
        # Constants would have functions that they are given to compiled twice.
        n_seen, n_asked, n_left = np.int64(0), 0, np.int64(0)
        for t in range(n_trees):
            if leaves[t, i] >= 0:
                n_asked += 1
                n_seen = add_label_shares(leaves[t, i], held, labels, sums, seen, n_seen)
        n_kept = 0
        for a in range(given.shape[1]):
            j = given[i, a]
            if j >= 0:
                candidates[i, n_kept], shares[i, n_kept] = j, sums[j] / max(n_asked, 1)
                sums[j] = 0
                n_kept += 1
        for a in range(n_seen):
            j = seen[a]
            if sums[j] > 0:
                seen[n_left], weights[n_left] = j, sums[j]
                sums[j] = 0
                n_left += 1
        for a in range(greatest_first(seen, weights, n_left, most - n_kept)):
            candidates[i, n_kept + a], shares[i, n_kept + a] = seen[a], weights[a] / n_asked
    return candidates, shares


@njit(nogil=True)
def train_svms(table, n_features, samples, targets, starts, costs, most_features, stop, state):
    """Return the weights of linear SVMs with the squared hinge loss, each of few features.

    Dual coordinate descent (Hsieh et al., 2008, Algorithm 1): minimises
    ``|w|²/2 + Σ cost · max(0, 1 - y (w·x + b))²``, where the bias b is one of the weights.

    Parameters
    ----------
    table : (data, indices, indptr)
        Training rows.
    samples, targets : ndarray
        Rows of each SVM, from ``starts[j]`` to ``starts[j + 1]``, and their classes, -1 or 1.
    costs : ndarray of shape (n,)
        That of an error in each training row.
    most_features : int
        Of the weights of an SVM, so many that are largest count.
    stop : (most_rounds, tolerance)
        An SVM is found after so many rounds, or when no step of a round changes a multiplier
        by more than this share of the greatest change in the first.

    Returns
    -------
    weight_starts, features, weights : ndarray
        SVM j has ``weights[weight_starts[j]:weight_starts[j + 1]]`` of these features, sorted.
    biases : ndarray
    """
    data, indices, indptr = table
    most_rounds, tolerance = stop
    n_svms = len(starts) - 1
    w, mark = np.zeros(n_features), np.zeros(n_features, np.bool_)
    seen = np.empty(n_features, np.int32)
    longest = 0
    for j in range(n_svms):
        longest = max(longest, starts[j + 1] - starts[j])
    alpha, squares, order = np.empty(longest), np.empty(longest), np.empty(longest, np.int64)
    weight_starts, biases = np.zeros(n_svms + 1, np.int64), np.zeros(n_svms, np.float32)
    features, weights = np.empty(65536, np.int32), np.empty(65536, np.float32)
    sizes = np.empty(n_features)
    for j in range(n_svms):
        begin, n = starts[j], starts[j + 1] - starts[j]
        n_seen, bias = 0, 0.0
        for a in range(n):
            i = samples[begin + a]
            alpha[a], order[a], squares[a] = 0.0, a, 1.0 + 0.5 / costs[i]
            for at in range(indptr[i], indptr[i + 1]):
                f = indices[at]
                squares[a] += data[at] * data[at]
                if not mark[f]:
                    mark[f] = True
                    seen[n_seen] = f
                    n_seen += 1
        first = 0.0
        for step in range(most_rounds):
            largest = 0.0
            for a in range(n):
                b = a + int(next_random(state) * (n - a))
                order[a], order[b] = order[b], order[a]
            for b in range(n):
                a = order[b]
                i = samples[begin + a]
                y = targets[begin + a]
                score = bias
                for at in range(indptr[i], indptr[i + 1]):
                    score += data[at] * w[indices[at]]
                slope = y * score - 1 + alpha[a] * 0.5 / costs[i]
                new = max(alpha[a] - slope / squares[a], 0.0)
                change = new - alpha[a]
                if change != 0:
                    alpha[a] = new
                    largest = max(largest, abs(change))
                    for at in range(indptr[i], indptr[i + 1]):
                        w[indices[at]] += change * y * data[at]
                    bias += change * y
            if step == 0:
                first = largest
            if largest <= tolerance * first:
                break
        biases[j] = bias
        for a in range(n_seen):
            sizes[a] = abs(w[seen[a]])
        least = 0.0
        if n_seen > most_features:
            least = np.sort(sizes[:n_seen])[n_seen - most_features]
        place = weight_starts[j]
        if place + min(n_seen, most_features) > len(weights):
            features = longer(features, place + most_features)
            weights = longer(weights, place + most_features)
        end = place + min(n_seen, most_features)
        for a in range(n_seen):
            f = seen[a]
            if abs(w[f]) >= least and w[f] != 0 and place < end:
                features[place], weights[place] = f, w[f]
                place += 1
            w[f], mark[f] = 0.0, False
        weight_starts[j + 1] = place
    end = weight_starts[n_svms]
    return weight_starts, features[:end].copy(), weights[:end].copy(), biases
