"""Compiled loops that free, pack and refill the places of a cover's rows.

Rows may hold −1: a place that is free. Labels come before free places.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import binomial_table, next_combination, ranks_with_label
from labelcover.covers.random_kernels import below, seeded

# Rounds of exchanges without a gain after which balancing stops.
PATIENCE = 6


@njit(cache=True)
def _row_ranks(row, n, r, table, positions, out):
    """Ranks of the r-labelsets of the first `n` labels of a row (any order); how many."""
    ordered = np.sort(row[:n])
    if n < r:
        return 0
    for j in range(r):
        positions[j] = j
    at = 0
    while True:
        rank = np.int64(0)
        for j in range(r):
            rank += table[ordered[positions[j]], j + 1]
        out[at] = rank
        at += 1
        if not next_combination(positions, n):
            break
    return at


@njit(cache=True)
def _lengths(rows):
    """Move the labels of each row to its front, and count them."""
    size, k = rows.shape
    lengths = np.zeros(size, dtype=np.int64)
    for i in range(size):
        n = 0
        for j in range(k):
            if rows[i, j] >= 0:
                rows[i, n] = rows[i, j]
                n += 1
        for j in range(n, k):
            rows[i, j] = -1
        lengths[i] = n
    return lengths


@njit(cache=True)
def _counts(rows, lengths, m, r, table):
    """How often each r-labelset is covered, by rank."""
    k = rows.shape[1]
    count = np.zeros(table[m, r], dtype=np.int32)
    positions = np.empty(r, dtype=np.int64)
    ranks = np.empty(binomial_table(k, r)[k, r] + 1, dtype=np.int64)
    for i in range(len(rows)):
        for c in range(_row_ranks(rows[i], lengths[i], r, table, positions, ranks)):
            count[ranks[c]] += 1
    return count


@njit(cache=True)
def _covers_nothing_alone(count, ranks, n):
    """Whether the first `n` ranks are all of r-labelsets that are covered twice or more."""
    fine = True
    for c in range(n):
        fine &= count[ranks[c]] > 1
    return fine


@njit(cache=True)
def free_places(rows, m, r, order):
    """Take labels out of the rows, in the given `order` of rows, that cover nothing there alone.

    Returns the rows with −1 in the freed places; a row that covers nothing alone comes out empty.
    """
    rows = rows.copy()
    k = rows.shape[1]
    table = binomial_table(m, r)
    lengths = _lengths(rows)
    count = _counts(rows, lengths, m, r, table)
    positions = np.empty(r, dtype=np.int64)
    ordered = np.empty(k, dtype=rows.dtype)
    ranks = np.empty(binomial_table(k, r)[k, r] + 1, dtype=np.int64)
    for i in order:
        n = lengths[i]
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
        lengths[i] = n
    return rows


@njit(cache=True)
def pack_rows(rows):
    """Put the labels of rows with free places together in fewer rows; empty rows are dropped.

    Longest first, each takes the longest others that fit beside it (by their lengths alone).
    """
    rows = rows.copy()
    k = rows.shape[1]
    lengths = _lengths(rows)
    order = np.argsort(-lengths, kind="mergesort")
    # first[n]: the next row of length n in the order that is not used yet.
    first = np.zeros(k + 2, dtype=np.int64)
    last = np.zeros(k + 2, dtype=np.int64)
    start = 0
    for n in range(k, -1, -1):
        first[n] = start
        while start < len(order) and lengths[order[start]] == n:
            start += 1
        last[n] = start
    out = np.full((len(rows), k), -1, dtype=rows.dtype)
    at = 0
    for n in range(k, 0, -1):
        while first[n] < last[n]:
            i = order[first[n]]
            first[n] += 1
            for j in range(n):  # an assignment of arrays takes seconds to compile
                out[at, j] = rows[i, j]
            used = n
            room = min(k - used, n)
            while room > 0:
                if first[room] < last[room]:
                    other = order[first[room]]
                    first[room] += 1
                    for j in range(room):
                        present = False
                        for c in range(used):
                            if out[at, c] == rows[other, j]:
                                present = True
                        if not present:
                            out[at, used] = rows[other, j]
                            used += 1
                    room = min(k - used, room)
                else:
                    room -= 1
            at += 1
    return out[:at].copy()


@njit(cache=True)
def fill_places(rows, m, seed):
    """Put into every free place the least frequent label that the row does not hold."""
    state = seeded(seed)
    rows = rows.copy()
    k = rows.shape[1]
    frequency = np.zeros(m, dtype=np.int64)
    for i in range(len(rows)):
        for j in range(k):
            if rows[i, j] >= 0:
                frequency[rows[i, j]] += 1
    for i in range(len(rows)):
        for j in range(k):
            if rows[i, j] >= 0:
                continue
            choice = -1
            shift = below(state, m)
            for t in range(m):
                y = (t + shift) % m
                if choice >= 0 and frequency[y] >= frequency[choice]:
                    continue
                present = False
                for c in range(k):
                    if rows[i, c] == y:
                        present = True
                if not present:
                    choice = y
            rows[i, j] = choice
            frequency[choice] += 1
    return rows


@njit(cache=True)
def exchange_spare(rows, m, r, rounds, seed):
    """Exchange labels that cover nothing alone for less frequent ones, until balanced.

    Returns full rows that cover what `rows` cover. Exchanges that leave the spread as it is are
    made too, at random, since they may open the way for others.
    """
    state = seeded(seed)
    rows = rows.copy()
    size, k = rows.shape
    table = binomial_table(m, r)
    lengths = np.full(size, k, dtype=np.int64)
    count = _counts(rows, lengths, m, r, table)
    frequency = np.zeros(m, dtype=np.int64)
    for i in range(size):
        for j in range(k):
            frequency[rows[i, j]] += 1
    positions = np.empty(r, dtype=np.int64)
    ranks = np.empty(binomial_table(k, r)[k, r] + 1, dtype=np.int64)
    ordered = np.empty(k, dtype=rows.dtype)
    rare = np.empty(m, dtype=np.int64)
    lowest = (frequency * frequency).sum()
    idle = 0
    for _ in range(rounds):
        if frequency.max() - frequency.min() <= 1 or idle == PATIENCE:
            break
        start = below(state, size)
        n_rare = 0
        for s in range(size):
            if s % 256 == 0 and s * 8 % size < 2048:
                n_rare = _rarest(frequency, size * k // m, rare)
            i = (s + start) % size
            for j in range(k):
                x = np.int64(rows[i, j])
                y = _rarer_label(rows[i], frequency, rare, n_rare, state)
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


@njit(cache=True)
def _rarest(frequency, average, rare):
    """List the labels that are less frequent than average, or if none is the average ones."""
    lowest = frequency.min()
    limit = max(average - 1, lowest)
    n = 0
    for x in range(len(frequency)):
        if frequency[x] <= limit:
            rare[n] = x
            n += 1
    return n


@njit(cache=True)
def _rarer_label(row, frequency, rare, n_rare, state):
    """Pick the least frequent of a few labels of the list that the row lacks, or −1."""
    y = -1
    for _ in range(6):
        z = rare[below(state, n_rare)]
        if y >= 0 and frequency[z] >= frequency[y]:
            continue
        present = False
        for c in range(len(row)):
            if row[c] == z:
                present = True
        if not present:
            y = z
    return y
