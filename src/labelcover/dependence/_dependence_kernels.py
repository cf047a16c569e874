"""Compiled loops over labelsets that occur together: their lazy greedy cover, their permutation.

In the annealing of a permutation ``column[label]`` is the column of the cover that a label stands
at. Which columns lie together in a row of the cover never changes, so the ranks of all covered
labelsets of columns are kept in one hash table, and a swap of two labels looks up only the
dependent labelsets that hold one of them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover._compiled import njit

# A candidate is taken if its gain is at least this share of the next best, not known to be exact.
CLOSE_ENOUGH = 0.8


@njit
def _sift_down(heap, keys, length):
    """Move the first entry of `heap` down to its place; the greatest key is on top."""
    i = 0
    item = heap[0]
    while True:
        child = 2 * i + 1
        if child >= length:
            break
        if child + 1 < length and keys[heap[child + 1]] > keys[heap[child]]:
            child += 1
        if keys[heap[child]] <= keys[item]:
            break
        heap[i] = heap[child]
        i = child
    heap[i] = item


@njit
def _remove(t, labelsets, entries):
    """Take labelset `t`, which is covered now, off the lists of its labels."""
    starts, ends, which, others, weight = entries
    for label in labelsets[t]:
        at = starts[label]
        while which[at] != t:
            at += 1
        ends[label] -= 1
        last = ends[label]
        which[at] = which[last]
        for i in range(others.shape[1]):
            others[at, i] = others[last, i]
        weight[at] = weight[last]


@njit
def _join(label, entries, held, gains, reached, n_reached):
    """Put `label` into the labelset in the making, and update the gains of the other labels.

    ``held[t]`` counts the labels of uncovered labelset ``t`` that are in (not needed for pairs);
    ``gains[l]`` is the uncovered weight that label ``l`` would complete, −1 for a label that is
    in. Labels with a gain are listed in `reached`. Returns the gain of `label` and the length of
    `reached`.
    """
    starts, ends, which, others, weight = entries
    r = others.shape[1] + 1
    gain = max(gains[label], 0.0)
    gains[label] = -1.0
    for i in range(starts[label], ends[label]):
        if r > 2:
            held[which[i]] += 1
            if held[which[i]] != r - 1:
                continue
        for missing in others[i]:
            if gains[missing] >= 0:
                if gains[missing] == 0:
                    reached[n_reached] = missing
                    n_reached += 1
                gains[missing] += weight[i]
    return gain, n_reached


@njit
def _best_reached(gains, reached, n_reached):
    """Label of greatest gain, the lowest of equals; −1 if none has any."""
    best = -1
    for i in range(n_reached):
        label = reached[i]
        if gains[label] > 0 and (
            best < 0 or gains[label] > gains[best] or (gains[label] == gains[best] and label < best)
        ):
            best = label
    return best


@njit
def _is_inside(labels, gains):
    """Whether all `labels` are in the labelset in the making."""
    for label in labels:  # noqa: SIM110 (numba has no generators)
        if gains[label] >= 0:
            return False
    return True


@njit
def _extend(seed, heaviest, labelsets, entries, covered, held, gains, reached, members):
    """Extend labelset `seed` to as many labels as `members` has room for, the greatest gain first.

    When no label has a gain and there is room for a whole labelset, the first uncovered one from
    `heaviest` on joins; with ``heaviest = len(labelsets)`` none does. Returns the number of
    labels and the uncovered weight inside. `held` and `gains` are zero before and after.
    """
    starts, ends, which, _, _ = entries
    r = labelsets.shape[1]
    total = 0.0
    size = 0
    n_reached = np.int64(0)  # a constant would have functions it is given to compiled twice
    joining = seed
    while joining >= 0:
        for label in labelsets[joining]:
            if gains[label] >= 0:
                gain, n_reached = _join(np.int64(label), entries, held, gains, reached, n_reached)
                total += gain
                members[size] = label
                size += 1
        while size < len(members):
            label = _best_reached(gains, reached, n_reached)
            if label < 0:
                break
            gain, n_reached = _join(label, entries, held, gains, reached, n_reached)
            total += gain
            members[size] = label
            size += 1
        joining = -1
        if size + r <= len(members):
            while heaviest < len(labelsets) and (
                covered[heaviest] or _is_inside(labelsets[heaviest], gains)
            ):
                heaviest += 1
            if heaviest < len(labelsets):
                joining = heaviest
    for label in members[:size]:
        gains[label] = 0.0
        if r > 2:
            for i in range(starts[label], ends[label]):
                held[which[i]] = 0
    for label in reached[:n_reached]:
        gains[label] = 0.0
    return size, total


@njit
def _uncovered_inside(members, labelsets, entries, gains, found):
    """Write to `found` the uncovered labelsets all labels of which are in `members`; how many."""
    starts, ends, which, _, _ = entries
    for label in members:
        gains[label] = -1.0
    n_found = 0
    for label in members:
        for i in range(starts[label], ends[label]):
            labels = labelsets[which[i]]
            if labels[0] == label and _is_inside(labels, gains):
                found[n_found] = which[i]
                n_found += 1
    for label in members:
        gains[label] = 0.0
    return n_found


@njit
def _write_row(row, members, size, counts, next_label):
    """Write `size` members to a row, then labels that no row holds yet, then labels in turn.

    Returns how many labels no row held before, and the label whose turn is next.
    """
    m = len(counts)
    for unused_only in (True, False):
        for _ in range(m):
            label = next_label % m
            if size == len(members):
                break
            next_label = (next_label + 1) % m
            if not (unused_only and counts[label] > 0) and label not in members[:size]:
                members[size] = label
                size += 1
    n_new = 0
    for i in range(len(members)):
        row[i] = members[i]
        n_new += counts[members[i]] == 0
        counts[members[i]] += 1
    return n_new, next_label


@njit
def seed_gains(labelsets, entries, k):
    """Gains of the rows of `k` labels that grow from each labelset, before any is taken."""
    q, n_labels = len(labelsets), len(entries[0]) - 1
    covered, held = np.zeros(q, dtype=np.bool_), np.zeros(q, dtype=np.int64)
    gains, reached = np.zeros(n_labels), np.empty(n_labels, dtype=np.int64)
    members, keys = np.empty(k, dtype=np.int64), np.empty(q)
    for t in range(q):
        _, keys[t] = _extend(t, q, labelsets, entries, covered, held, gains, reached, members)
    return keys


@njit
def lazy_greedy(labelsets, weights, entries, keys, heap, k, target, most_rows):
    """Rows of `k` labels that cover `labelsets`, heaviest first, until their weight is `target`.

    `labelsets` come in order of falling weight, all positive. `entries` are their index by labels
    (`labelsets_by_label`), where the list of each label ends, and their weights; the lists lose
    what is covered. Each labelset is the seed of a candidate row; the candidates wait in a heap,
    at first in order, with the gain they had when last extended (`keys`, at first `seed_gains`),
    and only the one on top is extended again. Every label is in some row at the end, for which rows
    are kept back when `most_rows` is tight.
    """
    q, n_labels = len(labelsets), len(entries[0]) - 1
    covered = np.zeros(q, dtype=np.bool_)
    held = np.zeros(q, dtype=np.int64)
    gains = np.zeros(n_labels)
    reached = np.empty(n_labels, dtype=np.int64)
    counts = np.zeros(n_labels, dtype=np.int64)
    members = np.empty(k, dtype=np.int64)
    found = np.empty(q, dtype=np.int64)
    rows = np.empty((most_rows, k), dtype=np.int32)
    length, heaviest, next_label, n_rows = q, 0, np.int64(0), np.int64(0)
    unused = n_labels
    weight = 0.0
    while length > 0 and weight < target:
        top = heap[0]
        if covered[top]:
            length -= 1
            heap[0] = heap[length]
            _sift_down(heap, keys, length)
            continue
        _, keys[top] = _extend(top, q, labelsets, entries, covered, held, gains, reached, members)
        next_key = 0.0
        for i in range(1, min(3, length)):
            next_key = max(next_key, keys[heap[i]])
        if keys[top] < CLOSE_ENOUGH * next_key:
            _sift_down(heap, keys, length)
            continue
        if unused > (most_rows - n_rows - 1) * k:
            break
        while covered[heaviest]:
            heaviest += 1
        size, _ = _extend(top, heaviest, labelsets, entries, covered, held, gains, reached, members)
        n_new, next_label = _write_row(rows[n_rows], members, size, counts, next_label)
        unused -= n_new
        n_rows += 1
        for t in found[: _uncovered_inside(members, labelsets, entries, gains, found)]:
            covered[t] = True
            weight += weights[t]
            _remove(t, labelsets, entries)
    while unused > 0:
        n_new, next_label = _write_row(rows[n_rows], members, np.int64(0), counts, next_label)
        unused -= n_new
        n_rows += 1
    return rows[:n_rows].copy()


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
def _is_covered(columns, table, binomials):
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
        rank += binomials[columns[i], i + 1]
    return table[_place_of(table, rank)] == rank


@njit
def covered_now(problem, column):
    """Which of the dependent labelsets lie in one row of the cover."""
    labelsets = problem.labelsets
    covered = np.empty(len(labelsets), dtype=np.bool_)
    columns = np.empty(labelsets.shape[1], dtype=np.int64)
    for i in range(len(labelsets)):
        for j in range(len(columns)):
            columns[j] = column[labelsets[i, j]]
        covered[i] = _is_covered(columns, problem.table, problem.binomials)
    return covered


@njit
def _swap_change(problem, x, y, column, covered, flipped):
    """Change of merit when `x` and `y` change places; how many labelsets flip, in `flipped`."""
    _, weights, starts, holders, others, table, binomials = problem
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
            after = _is_covered(columns, table, binomials)
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
