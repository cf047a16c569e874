"""Compiled searches for base blocks: of cyclic covers, and of difference families."""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.covers._labelset_kernels import below, seeded, uniform


@njit
def _orbits_in(block, subsets, orbit, m, found):
    """Write the orbits of some subsets of a block, given by positions; return how many."""
    n_found = 0
    for c in range(len(subsets)):
        code = 0
        for position in subsets[c]:
            if block[position] < 0:
                code = -1
                break
            code = code * m + block[position]
        if code >= 0:
            found[n_found] = orbit[code]
            n_found += 1
    return n_found


@njit
def _exchange(block, j, y, shifts, stabiliser):
    """Put label y in the place of the j-th, with all that the block's stabiliser makes of it."""
    n = len(shifts)
    x = block[j]
    if shifts[n // stabiliser % n, x] == x:  # x is fixed, or nothing moves the block to itself
        block[j] = y
        return
    before = block.copy()
    for u in range(stabiliser):
        gone, come = shifts[u * (n // stabiliser), x], shifts[u * (n // stabiliser), y]
        for t in range(len(block)):
            if before[t] == gone:
                block[t] = come


@njit
def anneal_orbits(
    blocks, stabilisers, shifts, orbit, weight, subsets, touching, steps, hot, cold, seed
):
    """Exchange labels in base blocks until their translates cover every r-labelset.

    The cost is the number of r-labelsets that are not covered: the sum of ``weight[o]`` over
    the orbits o of which no block holds a member. A step exchanges a random label of a random
    block, together with what the block's stabiliser makes of it; Metropolis' rule at a
    temperature falling geometrically from `hot` to `cold`.

    Parameters
    ----------
    blocks : array of shape (b, k)
        Base blocks; −1 is a free place and stays one.
    stabilisers : array of b integers
        Order of the subgroup that maps the block to itself, and that exchanges must respect.
    shifts : array of shape (n, m)
        What each element of the group makes of each label.
    orbit, weight : arrays
        The orbit of each r-tuple ``(x₁, …, x_r)`` of labels, whatever their order, at place
        ``x₁·m^(r−1) + … + x_r``, and the number of r-labelsets in each orbit.
    subsets, touching : arrays of shapes (C(k, r), r) and (k, C(k−1, r−1), r)
        All r positions of a block, and those among them with a given position.

    Returns the best blocks met, how many r-labelsets they leave uncovered, and the steps used.
    """
    state = seeded(seed)
    m = shifts.shape[1]
    b, k = blocks.shape
    blocks = blocks.copy()
    count = np.zeros(len(weight), dtype=np.int32)
    holds = np.zeros((b, m), dtype=np.bool_)
    lost = np.empty(len(subsets), dtype=np.int32)
    won = np.empty(len(subsets), dtype=np.int32)
    before = np.empty(k, dtype=blocks.dtype)
    for i in range(b):
        for x in blocks[i]:
            if x >= 0:
                holds[i, x] = True
        for c in range(_orbits_in(blocks[i], subsets, orbit, m, won)):
            count[won[c]] += 1
    uncovered = 0
    for o in range(len(weight)):
        if count[o] == 0:
            uncovered += weight[o]
    best = blocks.copy()
    fewest = uncovered
    temperature = hot
    cooling = (cold / hot) ** (256.0 / max(steps, 1))
    for step in range(steps):
        if uncovered == 0:
            return best, 0, step
        if step % 256 == 255:
            temperature *= cooling
        i, j, y = below(state, b), below(state, k), below(state, m)
        block = blocks[i]
        x = block[j]
        if x < 0 or holds[i, y]:
            continue
        single = stabilisers[i] == 1
        if not single:
            if (shifts[1, x] == x) != (shifts[1, y] == y):
                continue  # a fixed label does not make room for others
            single = shifts[1, x] == x
        changed = touching[j] if single else subsets
        for t in range(k):
            before[t] = block[t]
        change = 0
        n_lost = _orbits_in(block, changed, orbit, m, lost)
        for c in range(n_lost):
            count[lost[c]] -= 1
            if count[lost[c]] == 0:
                change += weight[lost[c]]
        _exchange(block, j, y, shifts, stabilisers[i])
        n_won = _orbits_in(block, changed, orbit, m, won)
        for c in range(n_won):
            if count[won[c]] == 0:
                change -= weight[won[c]]
            count[won[c]] += 1
        if change > 0 and uniform(state) >= math.exp(-change / temperature):
            for c in range(n_won):
                count[won[c]] -= 1
            for c in range(n_lost):
                count[lost[c]] += 1
            for t in range(k):
                block[t] = before[t]
            continue
        for t in range(k):
            if before[t] >= 0:
                holds[i, before[t]] = False
        for t in range(k):
            if block[t] >= 0:
                holds[i, block[t]] = True
        uncovered += change
        if uncovered < fewest:
            fewest = uncovered
            best = blocks.copy()
    return best, fewest, steps


@njit
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
