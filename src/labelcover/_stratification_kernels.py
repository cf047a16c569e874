"""The compiled loop of iterative stratification."""

import numpy as np

from labelcover._compiled import njit

#: Wishes that differ by less are equal.
EQUAL = 1e-9


@njit
def spread_rows(label_starts, labels, row_starts, rows, wanted, wanted_rows, ties):
    """Return the part of each row such that every part gets the labels and rows it wants.

    The label with the fewest rows left goes first, and each of its rows to the part that wants
    that label most, then to the one that wants most rows, then to one of these by `ties`. Rows
    without labels fill the parts up.

    Parameters
    ----------
    label_starts, labels : ndarray of int
        Labels of each row: `indptr` and `indices` of the label table in CSR.
    row_starts, rows : ndarray of int
        Rows of each label, in the order in which they are taken: the same of the transpose.
    wanted : ndarray of shape (n_labels, n_parts)
        Rows of each label that each part wants; it is changed.
    wanted_rows : ndarray of shape (n_parts,)
        Rows that each part wants; it is changed.
    ties : ndarray of shape (n,)
        A number in [0, 1) for each row that breaks its ties.

    Returns
    -------
    part_of : ndarray of shape (n,)
    """
    n, left = len(label_starts) - 1, np.diff(row_starts)
    part_of = np.full(n, -1, dtype=np.int64)
    while left.any():
        rarest = np.where(left > 0, left, n + 1).argmin()
        for row in rows[row_starts[rarest] : row_starts[rarest + 1]]:
            if part_of[row] >= 0:
                continue
            part = neediest(wanted[rarest], wanted_rows, ties[row])
            part_of[row] = part
            wanted_rows[part] -= 1.0
            for label in labels[label_starts[row] : label_starts[row + 1]]:
                wanted[label, part] -= 1.0
                left[label] -= 1
    for row in range(n):
        if part_of[row] < 0:
            part = neediest(wanted_rows, wanted_rows, ties[row])
            part_of[row] = part
            wanted_rows[part] -= 1.0
    return part_of


@njit
def neediest(first, second, tie):
    """Return the part with the largest first wish, then second wish, then by a tie in [0, 1)."""
    best = np.flatnonzero(first >= first.max() - EQUAL)
    best = best[second[best] >= second[best].max() - EQUAL]
    return best[int(tie * len(best))]
