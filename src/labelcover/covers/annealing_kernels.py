"""Compiled simulated annealing of the rows of a cover."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import (
    binomial_table,
    next_combination,
    ranks_with_label,
    unrank_into,
)
from labelcover.covers.random_kernels import below, seeded, uniform


@njit(cache=True)
def _listed(at, flag, listed, where, n_listed):
    """Put r-labelset `at` on the list of uncovered ones (flag) or take it off; the new length."""
    if flag:
        listed[n_listed] = at
        where[at] = n_listed
        return n_listed + 1
    last = listed[n_listed - 1]
    listed[where[at]] = last
    where[last] = where[at]
    return n_listed - 1


@njit(cache=True)
def anneal_rows(rows, m, r, steps, hot, cold, balance, seed):
    """Swap labels in `rows` until every r-labelset is covered or the steps are spent.

    The cost is the number of uncovered r-labelsets plus `balance` times half the sum of squared
    label counts; with a `balance` above 0 the rows are done only when they are balanced too. A
    step proposes one swap in one row: half of the steps a random one, half of them one that
    helps to cover an uncovered r-labelset, in the row that lacks least of it (of some sampled);
    Metropolis' rule at a temperature falling geometrically from `hot` to `cold`.

    Returns
    -------
    rows : array of shape (size, k)
        The best rows met.
    uncovered : int
        How many r-labelsets they leave uncovered.
    spent : int
        Steps used.
    """
    state = seeded(seed)
    size, k = rows.shape
    table = binomial_table(m, r)
    total = table[m, r]
    rows = rows.copy()
    count = np.zeros(total, dtype=np.int16)
    holds = np.zeros((size, m), dtype=np.bool_)
    frequency = np.zeros(m, dtype=np.int64)
    most = binomial_table(k, r)[k, r] + 1
    lost = np.empty(most, dtype=np.int64)
    won = np.empty(most, dtype=np.int64)
    positions = np.empty(r, dtype=np.int64)
    ordered = np.empty(k, dtype=np.int32)
    missing = np.empty(r, dtype=np.int64)
    for i in range(size):
        row = np.sort(rows[i])
        for j in range(k):
            holds[i, row[j]] = True
            frequency[row[j]] += 1
        for j in range(r):
            positions[j] = j
        while True:
            rank = np.int64(0)
            for j in range(r):
                rank += table[row[positions[j]], j + 1]
            count[rank] += 1
            if not next_combination(positions, k):
                break
    listed = np.empty(total, dtype=np.int32)
    where = np.empty(total, dtype=np.int32)
    n_listed = np.int64(0)  # a constant would have `_listed` compiled twice
    for at in range(total):
        if count[at] == 0:
            n_listed = _listed(at, True, listed, where, n_listed)
    best = rows.copy()
    best_uncovered = n_listed
    spread = (frequency * frequency).sum()
    best_spread = spread
    low, extra = (size * k) // m, (size * k) % m
    level = m * low * low + extra * (2 * low + 1) if balance > 0 else spread
    if (n_listed == 0 and spread <= level) or k == m:
        return best, best_uncovered, 0
    temperature = hot
    cooling = (cold / hot) ** (1024.0 / max(steps, 1))
    for step in range(steps):
        if step % 1024 == 1023:
            temperature *= cooling
        if step % 2 == 0 or n_listed == 0:
            i = below(state, size)
            y = below(state, m)
            if holds[i, y]:
                continue
            j = below(state, k)
        else:
            unrank_into(listed[below(state, n_listed)], table, missing)
            # Rows that lack one label of it; sampled, since an index of them would cost more.
            i = -1
            fewest = r
            y = 0
            for _ in range(12):
                t = below(state, size)
                lacking = 0
                candidate = 0
                for c in range(r):
                    if not holds[t, missing[c]]:
                        lacking += 1
                        if below(state, lacking) == 0:
                            candidate = missing[c]
                if lacking < fewest:
                    fewest = lacking
                    i = t
                    y = candidate
                    if lacking == 1:
                        break
            if i < 0:
                continue
            j = below(state, k)
            x = rows[i, j]
            wanted = False
            for c in range(r):
                if missing[c] == x:
                    wanted = True
            if wanted:
                continue
        x = np.int64(rows[i, j])
        n_lost = ranks_with_label(rows[i], j, x, r, table, positions, ordered, lost)
        n_won = ranks_with_label(rows[i], j, y, r, table, positions, ordered, won)
        change = 0
        for c in range(n_lost):
            if count[lost[c]] == 1:
                change += 1
        for c in range(n_won):
            if count[won[c]] == 0:
                change -= 1
        delta = change + balance * (frequency[y] + 1 - frequency[x])
        if delta > 0 and uniform(state) >= math.exp(-delta / temperature):
            continue
        for c in range(n_lost):
            count[lost[c]] -= 1
            if count[lost[c]] == 0:
                n_listed = _listed(lost[c], True, listed, where, n_listed)
        for c in range(n_won):
            if count[won[c]] == 0:
                n_listed = _listed(won[c], False, listed, where, n_listed)
            count[won[c]] += 1
        rows[i, j] = y
        holds[i, x] = False
        holds[i, y] = True
        spread += 2 * (frequency[y] + 1 - frequency[x])
        frequency[x] -= 1
        frequency[y] += 1
        if balance == 0.0:
            spread = level
        if n_listed < best_uncovered or (n_listed == 0 and spread < best_spread):
            best_uncovered = n_listed
            best_spread = spread
            best = rows.copy()
            if n_listed == 0 and spread <= level:
                return best, 0, step + 1
    return best, best_uncovered, steps
