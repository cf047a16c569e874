"""Compiled searches for difference families."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def wilson_block(k, differences, logarithm, most_nodes):
    """Find a base block ``0, 1, …`` whose k(k−1)/2 differences fall into different cosets.

    Depth-first over the elements in order. ``differences[a, b]`` is ``a − b``, for a prime field
    an empty table; ``logarithm[x]`` is the coset of x. Returns an array of k elements, all zero
    if there is none or it was not found in `most_nodes` trials.
    """
    q = len(logarithm)
    n_cosets = k * (k - 1) // 2
    block = np.zeros(k, dtype=np.int64)
    block[1] = 1
    used = np.zeros(n_cosets, dtype=np.bool_)
    used[logarithm[1] % n_cosets] = True
    depth = 2
    block[2] = 1
    taken = np.zeros((k, k), dtype=np.int64)
    for _ in range(most_nodes):
        block[depth] += 1
        if block[depth] >= q:
            depth -= 1
            if depth < 2:
                break
            for i in range(depth):
                used[taken[depth, i]] = False
            continue
        fits = True
        for i in range(depth):
            if len(differences) == 0:
                difference = block[depth] - block[i]  # elements ascend
            else:
                difference = differences[block[depth], block[i]]
            coset = logarithm[difference] % n_cosets
            if used[coset]:
                for j in range(i):
                    used[taken[depth, j]] = False
                fits = False
                break
            used[coset] = True
            taken[depth, i] = coset
        if not fits:
            continue
        if depth == k - 1:
            return block
        depth += 1
        block[depth] = block[depth - 1]
    return np.zeros(k, dtype=np.int64)
