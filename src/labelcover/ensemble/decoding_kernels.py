"""Compiled loops from the members' class distributions to one confidence per label."""

from __future__ import annotations

from numba import njit

from labelcover.covers.labelset_kernels import row_length


@njit(cache=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, votes, sums):
    """Add what members say of their labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (n, columns)
        Class distributions; that of member ``j`` begins at column ``starts[j]`` (members that
        pose the same problem share their columns).
    patterns : uint8 array of shape (n_classes, k)
        The 0/1 values of the member's labels in each class, for ``j`` the rows
        ``lows[j]:highs[j]``.
    labelsets : int32 array of shape (members, k)
        Which labels those are; rows with fewer than k end in −1.
    votes : bool
        Whether the most probable class (the first on ties) speaks alone.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    for i in range(probabilities.shape[0]):
        for j in range(len(starts)):
            width = highs[j] - lows[j]
            length = row_length(labelsets, j)
            best = 0
            if votes:
                for a in range(1, width):
                    if probabilities[i, starts[j] + a] > probabilities[i, starts[j] + best]:
                        best = a
            for a in range(best, best + 1 if votes else width):
                share = 1.0 if votes else probabilities[i, starts[j] + a]
                for position in range(length):
                    sums[i, labelsets[j, position]] += share * patterns[lows[j] + a, position]
