"""Compiled loops that read the label shares of rows off the leaves of a forest.

The leaves of all trees are numbered on: leaf ``l`` holds the places ``leaf_starts[l]`` to
``leaf_ends[l]`` of ``rows`` (training rows) and ``counts`` (how often each was drawn).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.forest.mean_tree_kernels import add_label_shares


@njit(cache=True, nogil=True)
def note_leaves(first, asked, starts, ends, offset, leaves):
    """Fill in the leaf of each asked row; `starts` and `ends` are those of `sort_into_leaves`."""
    for node in range(len(first)):
        if first[node] < 0:
            for at in range(starts[node], ends[node]):
                leaves[asked[at]] = offset + node


@njit(cache=True, nogil=True)
def candidate_shares(leaves, leaf_starts, leaf_ends, rows, counts, labels, n_labels, given, most):
    """Return candidates of each row, those given and those with the greatest shares; and shares.

    Parameters
    ----------
    leaves : int32 array of shape (n, n_trees)
        The leaf of each row in each tree, -1 where the tree is not to be asked.
    leaf_starts, leaf_ends, rows, counts : ndarray
        See above.
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
    n, n_trees = leaves.shape
    candidates = np.full((n, most), -1, np.int32)
    shares = np.zeros((n, most), np.float32)
    sums, seen, weights = np.zeros(n_labels), np.empty(n_labels, np.int32), np.empty(n_labels)
    for i in range(n):
        # Constants would have functions that they are given to compiled twice.
        n_seen, n_asked, n_left = np.int64(0), 0, np.int64(0)
        for t in range(n_trees):
            leaf = leaves[i, t]
            if leaf < 0:
                continue
            n_asked += 1
            n_seen = add_label_shares(
                rows, counts, leaf_starts[leaf], leaf_ends[leaf], labels, sums, seen, n_seen
            )
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


@njit(cache=True, nogil=True)
def greatest_first(labels, weights, n, most):
    """Sort the `most` greatest of the first `n` weights to the front; return how many there are.

    A heap whose root is the least of those kept: nearly all weights are compared once.
    """
    kept = min(n, most)
    for a in range(kept // 2 - 1, -1, -1):
        _sift(labels, weights, a, kept)
    for a in range(kept, n):
        if _before(labels, weights, a, 0):
            labels[0], labels[a] = labels[a], labels[0]
            weights[0], weights[a] = weights[a], weights[0]
            _sift(labels, weights, 0, kept)
    for last in range(kept - 1, 0, -1):
        labels[0], labels[last] = labels[last], labels[0]
        weights[0], weights[last] = weights[last], weights[0]
        _sift(labels, weights, 0, last)
    return kept


@njit(cache=True, nogil=True)
def _before(labels, weights, a, b):
    """Return whether `a` is to come before `b`: it weighs more, or as much with a lower label."""
    if weights[a] != weights[b]:
        return weights[a] > weights[b]
    return labels[a] < labels[b]


@njit(cache=True, nogil=True)
def _sift(labels, weights, a, n):
    """Let `a` sink in the heap of the first `n`, whose root comes last of all."""
    while True:
        last = a
        for son in (2 * a + 1, 2 * a + 2):
            if son < n and _before(labels, weights, last, son):
                last = son
        if last == a:
            return
        labels[a], labels[last] = labels[last], labels[a]
        weights[a], weights[last] = weights[last], weights[a]
        a = last
