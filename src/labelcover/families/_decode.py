"""Compiled loops from the members' class distributions to one confidence per label."""

from __future__ import annotations

from numba import njit


@njit(cache=True)
def add_member(probabilities, patterns, labels, votes, sums):
    """Add what one member says of its labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (n, c)
        The member's class distribution in each row.
    patterns : uint8 array of shape (c, k)
        The 0/1 values of its labels in each class.
    labels : int32 array of shape (k,)
        Which labels those are.
    votes : bool
        Whether the most probable class (the first on ties) speaks alone.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    n, c = probabilities.shape
    k = len(labels)
    for i in range(n):
        if votes:
            best = 0
            for a in range(1, c):
                if probabilities[i, a] > probabilities[i, best]:
                    best = a
            for position in range(k):
                sums[i, labels[position]] += patterns[best, position]
        else:
            for a in range(c):
                for position in range(k):
                    if patterns[a, position] == 1:
                        sums[i, labels[position]] += probabilities[i, a]


@njit(cache=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, votes, sums):
    """Add what members say of their labels to `sums`.

    The class distribution of member ``j`` begins at column ``starts[j]`` of `probabilities`
    (members that pose the same problem share their columns); the patterns of its classes are the
    rows ``lows[j]:highs[j]`` of `patterns`.
    """
    k = labelsets.shape[1]
    for i in range(probabilities.shape[0]):
        for j in range(len(starts)):
            width = highs[j] - lows[j]
            best = 0
            if votes:
                for a in range(1, width):
                    if probabilities[i, starts[j] + a] > probabilities[i, starts[j] + best]:
                        best = a
            for a in range(best, best + 1 if votes else width):
                share = 1.0 if votes else probabilities[i, starts[j] + a]
                for position in range(k):
                    sums[i, labelsets[j, position]] += share * patterns[lows[j] + a, position]
