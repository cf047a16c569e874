"""Which labels occur together: labelsets and the number of rows that hold all their labels."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer
from labelcover._label_values import label_rows
from labelcover.dependence.cooccurrence_kernels import frequent_labelsets

# Labelsets are told apart by their colexicographic rank, which must fit 64 bits.
MOST_LABELSETS = 2**63 - 1


def cooccurrences(
    Y: Any, r: int = 2, *, min_count: int = 5
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the r-labelsets whose labels occur together in at least `min_count` rows.

    They are found by walking the rows that hold a growing labelset, so time and memory follow
    what co-occurs in `Y` and not the number of labelsets there could be.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    r : int
        Number of labels in a labelset: 2 for pairs, 3 for triples, and so on.
    min_count : int
        Labelsets that occur together in fewer rows are left out; 5 in Section 4.4.

    Returns
    -------
    labelsets : ndarray of shape (count, r), int32
        In lexicographic order, each sorted.
    counts : ndarray of shape (count,), int64
        Number of rows with all the labels.

    Examples
    --------
    >>> from labelcover.dependence import cooccurrences
    >>> labelsets, counts = cooccurrences([[1, 1, 0], [1, 1, 1], [0, 1, 1]], r=2, min_count=2)
    >>> labelsets.tolist(), counts.tolist()
    ([[0, 1], [1, 2]], [2, 2])
    """
    rows = label_rows(Y)
    m = rows.shape[1]
    r = check_integer("r", r, low=1)
    min_count = check_integer("min_count", min_count, low=1)
    if comb(m, r) > MOST_LABELSETS:
        raise ValueError(f"r={r} is too high for {m} labels: labelsets cannot be numbered.")
    if r == 1:
        counts = np.bincount(rows.indices, minlength=m).astype(np.int64)
        frequent = np.flatnonzero(counts >= min_count)
        return frequent[:, None].astype(np.int32), counts[frequent]
    if r > m:
        return np.empty((0, r), dtype=np.int32), np.empty(0, dtype=np.int64)
    starts, labels = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
    return frequent_labelsets(starts, labels, m, r, min_count)
