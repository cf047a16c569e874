"""Compiled ranks of the r-labelsets around one label of a row."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers._kernels import next_combination


@njit(cache=True)
def ranks_with_label(row, skip, label, r, table, positions, ordered, out):
    """Write to `out` the ranks of all r-labelsets of `label` and r−1 others of `row`; how many.

    The label at place `skip` of the row is not one of the others. `positions` (r) and `ordered`
    (k) are scratch.
    """
    k = len(row)
    n_rest = k - 1
    if n_rest < r - 1:
        return 0
    if r == 2:
        at = 0
        for j in range(k):
            if j != skip:
                a, b = row[j], label
                if a > b:
                    a, b = b, a
                out[at] = a + table[b, 2]
                at += 1
        return at
    # The rest of the row with the label put in its place by insertion sort.
    n = 0
    for j in range(k):
        if j != skip:
            i = n
            while i > 0 and ordered[i - 1] > row[j]:
                ordered[i] = ordered[i - 1]
                i -= 1
            ordered[i] = row[j]
            n += 1
    for j in range(r - 1):
        positions[j] = j
    at = 0
    while True:
        rank = np.int64(0)
        placed = 0
        for j in range(r - 1):
            other = ordered[positions[j]]
            if placed == 0 and other > label:
                rank += table[label, j + 1]
                placed = 1
            rank += table[other, j + 1 + placed]
        if placed == 0:
            rank += table[label, r]
        out[at] = rank
        at += 1
        if not next_combination(positions[: r - 1], n_rest):
            break
    return at
