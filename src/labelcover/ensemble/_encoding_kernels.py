"""Compiled loops from class distributions to confidences, and of the rows of label products."""

import numpy as np

from labelcover._compiled import njit
from labelcover.covers._labelset_kernels import row_length

# Rows that are taken through all members at a time.
LANES = 256
# MULAN's three readings of a member's class distribution.
VOTES, WINNER, MARGINAL = 0, 1, 2


@njit(nogil=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, reading, sums):
    """Add what members say of their labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (classes, n)
        Class distributions; that of member ``j`` begins in row ``starts[j]`` (members that
        pose the same problem share their rows).
    patterns : uint8 array of shape (n_classes, k)
        The 0/1 values of the member's labels in each class, for ``j`` the rows
        ``lows[j]:highs[j]``.
    labelsets : int32 array of shape (members, k)
        Which labels those are; rows with fewer than k end in −1.
    reading : int
        What a member says of a label, by MULAN's numbers: `VOTES`, the 0 or 1 of its most probable
        class (the first on ties); `WINNER`, the probability of that class where it has the label,
        else one minus it; `MARGINAL`, the probability of all classes that have the label.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    n = probabilities.shape[1]
    totals = np.empty((sums.shape[1], LANES))
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        totals[:] = 0.0
        for j in range(len(starts)):
            length = row_length(labelsets, j)
            if reading != MARGINAL:
                for i in range(first, last):
                    of_row = probabilities[starts[j] : starts[j] + highs[j] - lows[j], i]
                    best = of_row.argmax()
                    sure = 1.0 if reading == VOTES else of_row[best]
                    for position in range(length):
                        has = patterns[lows[j] + best, position]
                        totals[labelsets[j, position], i - first] += sure if has else 1.0 - sure
                continue
            for c in range(highs[j] - lows[j]):
                of_class = probabilities[starts[j] + c, first:last]
                for position in range(length):
                    if patterns[lows[j] + c, position]:
                        total = totals[labelsets[j, position]]
                        for i in range(len(of_class)):
                            total[i] += of_class[i]
        for i in range(last - first):
            for label in range(sums.shape[1]):
                sums[first + i, label] += totals[label, i]


@njit(nogil=True)
def product_rows(columns, parents, labels):
    """Return which rows each product holds, as the starts and indices of a CSR matrix.

    Parameters
    ----------
    columns : uint8 array of shape (n_labels, n)
        The label table, transposed.
    parents : int64 array of shape (n_products,)
        The product, one of those before, that is multiplied by one more label; −1 for none.
    labels : int64 array of shape (n_products,)
        That label.
    """
    n = columns.shape[1]
    starts = np.zeros(len(parents) + 1, dtype=np.int64)
    indices = np.empty(max(n, 1024), dtype=np.int32)
    size = 0
    for p in range(len(parents)):
        column, parent = columns[labels[p]], parents[p]
        most = n if parent < 0 else starts[parent + 1] - starts[parent]
        if size + most > len(indices):
            larger = np.empty(2 * (size + most), dtype=np.int32)
            for at in range(size):  # an assignment of arrays takes seconds to compile
                larger[at] = indices[at]
            indices = larger
        if parent < 0:
            for i in range(n):
                indices[size] = i
                size += column[i]
        else:
            for at in range(starts[parent], starts[parent + 1]):
                indices[size] = indices[at]
                size += column[indices[at]]
        starts[p + 1] = size
    return starts, indices[:size].copy()
