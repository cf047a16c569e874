"""Compiled annealing of a permutation of labels.

``column[label]`` is the column of the cover that a label stands at. Which columns lie together in
a row of the cover never changes, so the ranks of all covered labelsets of columns are kept in one
hash table, and a swap of two labels looks up only the dependent labelsets that hold one of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover._compiled import njit


class Problem(NamedTuple):
    """A cover, as the ranks of its labelsets of columns, and the dependent labelsets.

    Their index by labels is that of `labelsets_by_label`.
    """

    labelsets: NDArray[np.int32]
    weights: NDArray[np.float64]
    starts: NDArray[np.int64]
    holders: NDArray[np.int64]
    others: NDArray[np.int32]
    table: NDArray[np.integer]
    binomials: NDArray[np.int64]


@njit
def _place_of(table, rank):
    """Return the slot of the hash table that holds a rank, or the free one (−1) for it."""
    key = (np.uint64(rank) ^ (np.uint64(rank) >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    mask = len(table) - 1
    place = np.int64((key ^ (key >> np.uint64(29))) & np.uint64(mask))
    while table[place] >= 0 and table[place] != rank:
        place = (place + 1) & mask
    return place


@njit
def rank_table(ranks):
    """Hash table of the distinct `ranks`: a power of two slots, at most half of them taken."""
    length = 16
    while length < 2 * len(ranks):
        length *= 2
    table = np.full(length, -1, dtype=ranks.dtype)
    for rank in ranks:
        table[_place_of(table, rank)] = rank
    return table


@njit
def _is_covered(problem, columns):
    """Whether `columns`, which get sorted, lie together in one row of the cover."""
    for i in range(1, len(columns)):
        at = columns[i]
        j = i
        while j > 0 and columns[j - 1] > at:
            columns[j] = columns[j - 1]
            j -= 1
        columns[j] = at
    rank = np.int64(0)
    for i in range(len(columns)):
        rank += problem.binomials[columns[i], i + 1]
    return problem.table[_place_of(problem.table, rank)] == rank


@njit
def covered_now(problem, column):
    """Which of the dependent labelsets lie in one row of the cover."""
    labelsets = problem.labelsets
    covered = np.empty(len(labelsets), dtype=np.bool_)
    columns = np.empty(labelsets.shape[1], dtype=np.int64)
    for i in range(len(labelsets)):
        for j in range(len(columns)):
            columns[j] = column[labelsets[i, j]]
        covered[i] = _is_covered(problem, columns)
    return covered


@njit
def _swap_change(problem, x, y, column, covered, flipped):
    """Change of merit when `x` and `y` change places; how many labelsets flip, in `flipped`."""
    _, weights, starts, holders, others, _, _ = problem
    columns = np.empty(others.shape[1] + 1, dtype=np.int64)
    change = 0.0
    flips = 0
    for one, other in ((x, y), (y, x)):
        for t in range(starts[one], starts[one + 1]):
            both = False
            columns[0] = column[other]
            for j in range(others.shape[1]):
                both |= others[t, j] == other
                columns[j + 1] = column[others[t, j]]
            # A labelset with both labels keeps its columns.
            if both:
                continue
            holder = holders[t]
            after = _is_covered(problem, columns)
            if after != covered[holder]:
                change += weights[holder] if after else -weights[holder]
                flipped[flips] = holder
                flips += 1
    return change, flips


@njit
def swap_changes(problem, column, swaps):
    """Change of merit by each of `swaps` when made alone, ``(len(swaps),)``."""
    covered = covered_now(problem, column)
    flipped = np.empty(len(covered), dtype=np.int64)
    changes = np.empty(len(swaps))
    for i in range(len(swaps)):
        x, y = swaps[i, 0], swaps[i, 1]
        changes[i], _ = _swap_change(problem, x, y, column, covered, flipped)
    return changes


@njit
def anneal(problem, column, swaps, draws, temperatures):
    """Columns of the best and of the last permutation seen, and their merits.

    Swap ``swaps[i]`` is tried at ``temperatures[i]``; a loss Δ is accepted if
    ``draws[i] < exp(-Δ / temperature)``.
    """
    column = column.copy()
    covered = covered_now(problem, column)
    merit = 0.0
    for i in range(len(covered)):
        if covered[i]:
            merit += problem.weights[i]
    best, best_column = merit, column.copy()
    flipped = np.empty(len(covered), dtype=np.int64)
    for i in range(len(swaps)):
        x, y = swaps[i, 0], swaps[i, 1]
        change, flips = _swap_change(problem, x, y, column, covered, flipped)
        if change < 0 and draws[i] >= np.exp(change / temperatures[i]):
            continue
        merit += change
        column[x], column[y] = column[y], column[x]
        for t in flipped[:flips]:
            covered[t] = not covered[t]
        if merit > best:
            best = merit
            for j in range(len(column)):  # an assignment of arrays takes seconds to compile
                best_column[j] = column[j]
    return best_column, best, column, merit
