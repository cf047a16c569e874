"""Compiled loop of the label-by-label greedy."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.covers.labelset_kernels import binomial_table, next_combination, unrank_into
from labelcover.covers.random_kernels import below, seeded


@njit(cache=True)
def rank_with(chosen, label, table):
    """Rank of the sorted labels `chosen` (r−1 of them) and `label`; −1 if it is one of them."""
    rank = np.int64(0)
    placed = 0
    for j in range(len(chosen)):
        if chosen[j] == label:
            return np.int64(-1)
        if placed == 0 and chosen[j] > label:
            rank += table[label, j + 1]
            placed = 1
        rank += table[chosen[j], j + 1 + placed]
    if placed == 0:
        rank += table[label, len(chosen) + 1]
    return rank


@njit(cache=True)
def rows_label_by_label(m, k, r, seed):
    """Rows that cover every r-labelset, each built label by label around an uncovered one.

    The label that joins a row covers the most r-labelsets with those in it, the rarest of
    equals. Nothing is kept but which r-labelsets are covered: time O(σ·m·C(k, r−1)). A place
    that would gain nothing is left free (−1).
    """
    state = seeded(seed)
    table = binomial_table(m, r)
    total = table[m, r]
    covered = np.zeros(total, dtype=np.bool_)
    frequency = np.zeros(m, dtype=np.int64)
    gain = np.empty(m, dtype=np.int64)
    out = np.full((1024, k), -1, dtype=np.int32)
    size = 0
    positions = np.empty(r, dtype=np.int64)
    chosen = np.empty(r - 1, dtype=np.int64)
    name = np.arange(m)
    for i in range(m - 1, 0, -1):
        j = below(state, i + 1)
        name[i], name[j] = name[j], name[i]
    at = 0
    while True:
        while at < total and covered[at]:
            at += 1
        if at == total:
            break
        if size == len(out):
            larger = np.full((2 * size, k), -1, dtype=np.int32)
            for i in range(size):
                for j in range(k):
                    larger[i, j] = out[i, j]
            out = larger
        row = out[size]
        unrank_into(at, table, row[:r])
        gain[:] = 0
        for n in range(1, k + 1):
            # Row now holds n labels; count what the newest makes the others gain.
            if n < r - 1:
                continue
            ordered = np.sort(row[: n - 1]) if n > r - 1 else np.sort(row[:n])
            newest = row[n - 1]
            for j in range(r):
                positions[j] = j
            while True:
                if n > r - 1:
                    # The newest and r−2 older labels, in order.
                    placed = 0
                    for j in range(r - 2):
                        other = ordered[positions[j]]
                        if placed == 0 and other > newest:
                            chosen[j] = newest
                            placed = 1
                        chosen[j + placed] = other
                    if placed == 0:
                        chosen[r - 2] = newest
                else:
                    for j in range(r - 1):
                        chosen[j] = ordered[j]
                for y in range(m):
                    rank = rank_with(chosen, y, table)
                    if rank >= 0 and not covered[rank]:
                        gain[y] += 1
                if n <= r - 1 or r == 2 or not next_combination(positions[: r - 2], n - 1):
                    break
            if n >= k:
                break
            if n >= r:
                y = _best_label(row, n, gain, frequency, state)
                if gain[y] == 0:
                    break
                row[n] = y
        used = 0
        while used < k and row[used] >= 0:
            frequency[row[used]] += 1
            used += 1
        ordered = np.sort(row[:used])
        for j in range(r):
            positions[j] = j
        while True:
            rank = np.int64(0)
            for j in range(r):
                rank += table[ordered[positions[j]], j + 1]
            covered[rank] = True
            if not next_combination(positions, used):
                break
        size += 1
    rows = out[:size].copy()
    for i in range(size):
        for j in range(k):
            if rows[i, j] >= 0:
                rows[i, j] = name[rows[i, j]]
    return rows


@njit(cache=True)
def _best_label(row, n, gain, frequency, state):
    """Pick the label of the highest gain not in the row, the least frequent of equals."""
    best = -1
    shift = below(state, len(gain))
    for t in range(len(gain)):
        y = t + shift
        if y >= len(gain):
            y -= len(gain)
        if best >= 0 and (
            gain[y] < gain[best] or (gain[y] == gain[best] and frequency[y] >= frequency[best])
        ):
            continue
        present = False
        for c in range(n):
            if row[c] == y:
                present = True
        if not present:
            best = y
    return best
