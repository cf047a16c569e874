"""The compiled loop behind Figure 1: random labelsets until all pairs of labels are covered."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.random_kernels import below, seeded


@njit(cache=True)
def first_covering_sizes(m, k, most, replacement, draws, seed):
    """Return for each of some random families how many labelsets it took to cover all pairs.

    Parameters
    ----------
    m, k : int
        Labels, at most 64, and labels in a labelset.
    most : int
        Families that take more than so many count as ``most + 1``; without `replacement` at most
        C(m, k).
    replacement : bool
        Whether a labelset may be drawn twice.
    draws : int
        Number of families.
    seed : int

    Returns
    -------
    ndarray of shape (draws,), int64
    """
    state = seeded(seed)
    labels = np.arange(m)
    masks = np.empty(most, dtype=np.uint64)
    found = np.full(draws, most + 1, dtype=np.int64)
    for draw in range(draws):
        covered = np.zeros((m, m), dtype=np.bool_)
        missing = m * (m - 1) // 2
        for size in range(most):
            repeated = True
            while repeated:
                mask = np.uint64(0)
                for i in range(k):
                    j = i + below(state, m - i)
                    labels[i], labels[j] = labels[j], labels[i]
                    mask |= np.uint64(1) << np.uint64(labels[i])
                repeated = False
                if not replacement:
                    for other in range(size):
                        if masks[other] == mask:
                            repeated = True
                            break
            masks[size] = mask
            for i in range(k):
                for j in range(i):
                    a, b = labels[i], labels[j]
                    if not covered[a, b]:
                        covered[a, b] = covered[b, a] = True
                        missing -= 1
            if missing == 0:
                found[draw] = size + 1
                break
    return found
