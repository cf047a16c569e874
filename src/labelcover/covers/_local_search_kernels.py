"""Compiled local searches on the rows of a cover: annealing, freeing and filling places.

Rows may hold −1, a place that is free, but not where they are annealed. Labels come before free
places.
"""

import math

import numpy as np

from labelcover._compiled import njit
from labelcover.covers._greedy_kernels import best_label
from labelcover.covers._labelset_kernels import (
    below,
    binomial_table,
    ranks_with_label,
    row_length,
    seeded,
    uniform,
    unrank_into,
)

# Rounds of exchanges without a gain after which balancing stops.
PATIENCE = 6


@njit
def _recount(ranks, step, count, listed, where, n_listed):
    """Count rows that hold r-labelsets one more (step 1) or less (−1); keep the list of uncovered.

    `where` says at which place of `listed` each is. Returns how many are listed.
    """
    for at in ranks:
        if step > 0 and count[at] == 0:
            last = listed[n_listed - 1]
            listed[where[at]] = last
            where[last] = where[at]
            n_listed -= 1
        count[at] += step
        if step < 0 and count[at] == 0:
            listed[n_listed] = at
            where[at] = n_listed
            n_listed += 1
    return n_listed


@njit
def anneal_rows(rows, count, m, r, steps, hot, cold, balance, seed):
    """Swap labels in `rows` until every r-labelset is covered or the steps are spent.

    `count` says how many rows hold each r-labelset (`times_covered`). The cost is the number of
    uncovered r-labelsets plus `balance` times half the sum of squared label counts; with a
    `balance` above 0 the rows are done only when they are balanced too. A step proposes one swap
    in one row: half of the steps a random one, half of them one that helps to cover an uncovered
    r-labelset, in the row that lacks least of it (of some sampled); Metropolis' rule at a
    temperature falling geometrically from `hot` to `cold`.

    Returns the best rows met, how many r-labelsets they leave uncovered, and the steps used.
    """
    state = seeded(seed)
    size, k = rows.shape
    table = binomial_table(m, r)
    total = table[m, r]
    rows, count = rows.copy(), count.copy()
    holds = np.zeros((size, m), dtype=np.bool_)
    for i in range(size):
        for label in rows[i]:
            holds[i, label] = True
    frequency = np.bincount(rows.ravel(), minlength=m)
    most = binomial_table(k, r)[k, r] + 1
    lost = np.empty(most, dtype=np.int64)
    won = np.empty(most, dtype=np.int64)
    positions = np.empty(r, dtype=np.int64)
    ordered = np.empty(k, dtype=np.int32)
    missing = np.empty(r, dtype=np.int64)
    listed = np.empty(total, dtype=np.int32)
    where = np.empty(total, dtype=np.int32)
    n_listed = np.int64(0)  # a constant would have `_recount` compiled twice
    for at in np.flatnonzero(count == 0):
        listed[n_listed] = at
        where[at] = n_listed
        n_listed += 1
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
            if rows[i, j] in missing:
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
        n_listed = _recount(lost[:n_lost], -1, count, listed, where, n_listed)
        n_listed = _recount(won[:n_won], 1, count, listed, where, n_listed)
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


@njit
def _covers_nothing_alone(count, ranks, n):
    """Whether the first `n` ranks are all of r-labelsets that are covered twice or more."""
    fine = True
    for c in range(n):
        fine &= count[ranks[c]] > 1
    return fine


@njit
def free_places(rows, count, m, r, order):
    """Take labels out of the rows, in the given `order` of rows, that cover nothing there alone.

    `count` says how many rows hold each r-labelset. Returns the rows with −1 in the freed places,
    which come last; a row that covers nothing alone comes out empty.
    """
    rows, count = rows.copy(), count.copy()
    k = rows.shape[1]
    table = binomial_table(m, r)
    positions = np.empty(r, dtype=np.int64)
    ordered = np.empty(k, dtype=rows.dtype)
    ranks = np.empty(binomial_table(k, r)[k, r] + 1, dtype=np.int64)
    for i in order:
        n = row_length(rows, i)
        j = np.int64(0)  # a constant would have functions it is given to compiled twice
        while j < n:
            row = rows[i, :n]
            x = np.int64(row[j])
            n_ranks = ranks_with_label(row, j, x, r, table, positions, ordered, ranks)
            if _covers_nothing_alone(count, ranks, n_ranks):
                for c in range(n_ranks):
                    count[ranks[c]] -= 1
                for c in range(j, n - 1):
                    row[c] = row[c + 1]
                row[n - 1] = -1
                n -= 1
            else:
                j += 1
    return rows


@njit
def fill_places(rows, m, seed):
    """Put into every free place the least frequent label that the row does not hold."""
    state = seeded(seed)
    rows = rows.copy()
    frequency = np.zeros(m, dtype=np.int64)
    for label in rows.flat:
        if label >= 0:
            frequency[label] += 1
    nothing = np.zeros(m, dtype=np.int64)
    for i in range(len(rows)):
        for j in range(rows.shape[1]):
            if rows[i, j] < 0:
                rows[i, j] = best_label(rows[i], rows.shape[1], nothing, frequency, state)
                frequency[rows[i, j]] += 1
    return rows


@njit
def exchange_spare(rows, count, m, r, rounds, seed):
    """Exchange labels that cover nothing alone for less frequent ones, until balanced.

    `count` says how many rows hold each r-labelset. Returns full rows that cover what `rows`
    cover. Exchanges that leave the spread as it is are made too, at random, since they may open
    the way for others.
    """
    state = seeded(seed)
    rows, count = rows.copy(), count.copy()
    size, k = rows.shape
    table = binomial_table(m, r)
    frequency = np.bincount(rows.ravel(), minlength=m)
    positions = np.empty(r, dtype=np.int64)
    ranks = np.empty(binomial_table(k, r)[k, r] + 1, dtype=np.int64)
    ordered = np.empty(k, dtype=rows.dtype)
    rare = np.arange(m)
    lowest = (frequency * frequency).sum()
    idle = 0
    for _ in range(rounds):
        if frequency.max() - frequency.min() <= 1 or idle == PATIENCE:
            break
        start = below(state, size)
        for s in range(size):
            if s % 256 == 0 and s * 8 % size < 2048:
                # Labels less frequent than average, or if there are none the average ones.
                limit = max(size * k // m - 1, frequency.min())
                rare = np.flatnonzero(frequency <= limit)
            i = (s + start) % size
            for j in range(k):
                x = np.int64(rows[i, j])
                y = _rarer_label(rows[i], frequency, rare, state)
                if y < 0 or frequency[y] >= frequency[x]:
                    continue
                if frequency[y] == frequency[x] - 1 and below(state, 4) > 0:
                    continue
                n = ranks_with_label(rows[i], j, x, r, table, positions, ordered, ranks)
                if not _covers_nothing_alone(count, ranks, n):
                    continue
                for c in range(n):
                    count[ranks[c]] -= 1
                for c in range(
                    ranks_with_label(rows[i], j, y, r, table, positions, ordered, ranks)
                ):
                    count[ranks[c]] += 1
                rows[i, j] = y
                frequency[x] -= 1
                frequency[y] += 1
        spread = (frequency * frequency).sum()
        idle = 0 if spread < lowest else idle + 1
        lowest = min(lowest, spread)
    return rows


@njit
def _rarer_label(row, frequency, rare, state):
    """Pick the least frequent of a few of the rare labels that the row lacks, or −1."""
    y = -1
    for _ in range(6):
        z = rare[below(state, len(rare))]
        if y >= 0 and frequency[z] >= frequency[y]:
            continue
        if z not in row:
            y = z
    return y
