"""Compiled greedy choices: the exact best next labelset, and rows built label by label.

`first_labelset` walks the k-labelsets in lexicographic order and stops at the first that gains
at least so much, where the gain |S*| of a labelset S is the number of its r-labelsets not covered
yet. Only given labels may be in S, and others must be: with these, `ExactSearch` asks for the
worths of INLAC, BALCO and BALANCOR. What makes this quick:

* A prefix P that gained g and lacks ``l`` labels can gain at most g, plus the ``l`` largest
  numbers of uncovered r-labelsets that one more label closes with P, plus all r-labelsets with
  two or more new labels. Labels that cannot follow P are dropped from what follows.
* For pairs, few labels that may follow P are bounded more sharply: of the pairs among the labels
  to come, each label brings half of its own uncovered ones.
* Gains only fall as labelsets are chosen, so a bound on the gain below a prefix, once found,
  holds for all later steps. Bounds are remembered for prefixes of one label.
* Labels that must be in S are the prefix of all prefixes, so that what they close counts from
  the start. That does not change which labelset is first: of two labelsets, the one that holds
  the least label in which they differ comes first, and they differ in other labels only.

`rows_label_by_label` looks at no labelset as a whole and makes covers of thousands of labels.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover._compiled import njit
from labelcover.covers._labelset_kernels import (
    add_closed,
    below,
    binomial_table,
    labelset_ranks,
    seeded,
    unrank_into,
)

# Pairs among the labels that may follow are looked at if there are at most so many labels.
MOST_PAIRED = 128


class Task(NamedTuple):
    """What the compiled search is for."""

    covered: NDArray[np.bool_]  # by rank of r-labelset; also true for those outside the universe
    k: int
    r: int
    counting: bool  # whether gains are counted; otherwise all of them are 0
    chosen: NDArray[np.int64]  # ranks of the labelsets not to be offered again, ascending
    names: NDArray[np.int64]  # what the labels are called there
    constrained: bool  # whether the next two, of shape (m, m), are looked at
    together: NDArray[np.bool_]  # labels that must be in the same labelset
    apart: NDArray[np.bool_]  # labels that must not


class Kind(NamedTuple):
    """Labelsets that change the imbalance alike."""

    imbalance: int  # after one of them is chosen
    labels: NDArray[np.int64]  # those that may be in the labelset, ascending
    required: NDArray[np.int64]  # others, that must be
    bounds: NDArray[np.int32]  # on the gain, by the first label after those required


@njit
def is_chosen(chosen, labels, table):
    """Whether the rank of `labels`, ascending, is among the numbers chosen, ascending too."""
    rank = np.int64(0)
    for i in range(len(labels)):
        rank += table[labels[i], i + 1]
    at = np.searchsorted(chosen, rank)
    return at < len(chosen) and chosen[at] == rank


@njit
def _is_allowed(labels, end, together, apart):
    """Whether a labelset, of labels below `end` a complete one, obeys the constraints."""
    inside = np.zeros(len(together), dtype=np.bool_)
    for label in labels:
        inside[label] = True
    for label in labels:
        for partner in range(end):
            if apart[label, partner] if inside[partner] else together[label, partner]:
                return False
    return True


@njit
def _largest_sum(values, count, histogram):
    """Sum of the `count` largest of `values`, all below ``len(histogram)``."""
    if count <= 0:
        return 0
    histogram[:] = 0
    for value in values:
        histogram[value] += 1
    total = 0
    value = len(histogram) - 1
    while count > 0 and value > 0:
        taken = min(count, histogram[value])
        total += taken * value
        count -= taken
        value -= 1
    return total


@njit
def _without_isolated(covered, table, labels, closes, lacking, gain, least):
    """Keep the labels that can be in a labelset for pairs of at least `least`; return how many.

    Half of the pairs among the labels to come counts for each of the two: a label gains what it
    closes with the prefix, plus half of its uncovered pairs with ``lacking − 1`` others. Also
    returned: the largest gain that the others allow.
    """
    n = len(labels)
    scores = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(i):
            if not covered[labels[j] + table[labels[i], 2]]:
                scores[i] += 1
                scores[j] += 1
    largest = np.zeros(lacking, dtype=np.int64)
    for i in range(n):
        scores[i] = 2 * closes[i] + min(scores[i], lacking - 1)
        if scores[i] > largest[0]:
            largest[0] = scores[i]
            largest.sort()
    others = 2 * gain + largest.sum() - largest[0]
    kept, dropped = 0, 0
    for i in range(n):
        bound = (others + min(scores[i], largest[0])) // 2
        if bound < least:
            dropped = max(dropped, bound)
        else:
            labels[kept] = labels[i]
            closes[kept] = closes[i]
            kept += 1
    return kept, dropped


@njit
def _write(source, target):
    """Copy `source` to the start of `target`: an assignment of arrays takes seconds to compile."""
    for i in range(len(source)):
        target[i] = source[i]


@njit
def first_labelset(task, least, kind):
    """Return the lexicographically first labelset of a `Kind` that gains at least `least`.

    That is its labels as the prefix has them, or none if there is no such labelset. The bounds of
    the kind are tightened.
    """
    covered, k, r, counting, chosen, names, constrained, together, apart = task
    _, labels, required, bounds = kind
    n_required = len(required)
    table = binomial_table(len(bounds), k)
    # After j labels: how many r-labelsets have two or more of the labels to come.
    extra = table[k, r] - table[: k + 1, r] - np.arange(k, -1, -1) * table[: k + 1, r - 1]
    extra *= counting
    histogram = np.zeros(table[k - 1, r - 1] + 1, dtype=np.int64)

    # One frame per depth: the prefix, its gain, the labels that may follow, what each of them
    # would close, and the largest gain seen or allowed below.
    prefix = np.zeros(k, dtype=np.int64)
    gain = np.zeros(k + 1, dtype=np.int64)
    n_following = np.zeros(k + 1, dtype=np.int64)
    following = np.empty((k + 1, len(labels)), dtype=np.int64)
    closes = np.zeros((k + 1, len(labels)), dtype=np.int64)
    best_sum = np.zeros(k + 1, dtype=np.int64)
    reach = np.zeros(k + 1, dtype=np.int64)
    dropped = np.zeros(k + 1, dtype=np.int64)  # the largest gain that labels left out allow
    at = np.zeros(k + 1, dtype=np.int64)

    # What the required labels gain and close; the labels come first for that.
    first = np.concatenate((required, labels))
    closed = np.zeros(len(first), dtype=np.int64)
    if counting and r == 1:
        for i in range(len(first)):
            closed[i] = not covered[first[i]]
    for depth in range(n_required):
        v = required[depth]
        gain[n_required] += closed[depth]
        if counting:
            add_closed(covered, prefix, depth, v, r, table, first[depth + 1 :], closed[depth + 1 :])
        prefix[depth] = v
    depth = n_required
    if depth == k:
        allowed = not constrained or _is_allowed(prefix, len(apart), together, apart)
        if gain[k] < least or not allowed or is_chosen(chosen, np.sort(names[prefix]), table):
            return prefix[:0]
        return prefix
    n_following[depth] = len(labels)
    _write(labels, following[depth])
    _write(closed[n_required:], closes[depth])
    best_sum[depth] = _largest_sum(closes[depth], k - depth - 1, histogram)

    while depth >= n_required:
        lacking = k - depth
        i = at[depth]
        if i > n_following[depth] - lacking:
            # The frame is done: hand its reach up and remember it.
            if depth == n_required + 1:
                a = prefix[depth - 1]
                bounds[a] = min(bounds[a], reach[depth])
            depth -= 1
            if depth >= n_required:
                reach[depth] = max(reach[depth], reach[depth + 1])
            continue
        at[depth] = i + 1
        v = following[depth, i]
        bound = gain[depth] + closes[depth, i] + best_sum[depth] + extra[depth]
        if depth == n_required:
            bound = min(bound, bounds[v])
        if bound < least:
            reach[depth] = max(reach[depth], bound)
            continue
        prefix[depth] = v
        # A label below `v` that is not in the prefix can no longer follow.
        end = len(apart) if lacking == 1 else v + 1
        if constrained and not _is_allowed(prefix[: depth + 1], end, together, apart):
            continue
        if lacking == 1:
            # `bound` is the gain. What gains something is new.
            reach[depth] = max(reach[depth], bound)
            if bound > 0 or not is_chosen(chosen, np.sort(names[prefix]), table):
                return prefix
            continue

        # Open the frame of the longer prefix, with the labels that can follow it.
        below = depth + 1
        gain[below] = gain[depth] + closes[depth, i]
        n = n_following[depth] - i - 1
        _write(following[depth, i + 1 : i + 1 + n], following[below])
        _write(closes[depth, i + 1 : i + 1 + n], closes[below])
        if counting:
            add_closed(covered, prefix, depth, v, r, table, following[below, :n], closes[below, :n])
        best_sum[below] = _largest_sum(closes[below, :n], lacking - 2, histogram)
        dropped[below] = dropped[depth]
        others = gain[below] + best_sum[below] + extra[below]
        kept = 0
        for j in range(n):
            if others + closes[below, j] < least:
                dropped[below] = max(dropped[below], others + closes[below, j])
            else:
                following[below, kept] = following[below, j]
                closes[below, kept] = closes[below, j]
                kept += 1
        if counting and r == 2 and lacking > 2 and kept <= MOST_PAIRED:
            kept, allowed = _without_isolated(
                covered,
                table,
                following[below, :kept],
                closes[below, :kept],
                lacking - 1,
                gain[below],
                least,
            )
            dropped[below] = max(dropped[below], allowed)
            best_sum[below] = _largest_sum(closes[below, :kept], lacking - 2, histogram)
        n_following[below] = kept
        reach[below] = dropped[below]
        at[below] = 0
        depth = below
    return prefix[:0]


@njit
def rows_label_by_label(m, k, r, seed):
    """Rows that cover every r-labelset (r ≥ 2), each built label by label around an uncovered one.

    The label that joins a row covers the most r-labelsets with those in it, the rarest of
    equals. Nothing is kept but which r-labelsets are covered: time O(σ·m·C(k, r−1)). A place
    that would gain nothing is left free (−1).
    """
    state = seeded(seed)
    table = binomial_table(m, r)
    total = table[m, r]
    covered = np.zeros(total + 1, dtype=np.bool_)  # one more, for labels that are in the row
    covered[total] = True
    frequency = np.zeros(m, dtype=np.int64)
    gain = np.empty(m, dtype=np.int64)
    labels = np.arange(m)
    rows = np.full((1024, k), -1, dtype=np.int32)
    size = 0
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
        if size == len(rows):
            rows = np.concatenate((rows, np.full((size, k), -1, dtype=np.int32)))
        row = rows[size]
        unrank_into(at, table, row[:r])
        gain[:] = 0
        n = np.int64(0)
        while n < k:
            if n >= r:
                y = best_label(row, n, gain, frequency, state)
                if gain[y] == 0:
                    break
                row[n] = y
            # What the newest label makes the others gain.
            add_closed(covered, row, n, np.int64(row[n]), r, table, labels, gain)
            n += 1
        for label in row[:n]:
            frequency[label] += 1
        for rank in labelset_ranks(np.sort(row[:n]).reshape(1, -1), r):
            covered[rank] = True
        size += 1
    rows = rows[:size]
    for i in range(size):
        for j in range(k):
            if rows[i, j] >= 0:
                rows[i, j] = name[rows[i, j]]
    return rows


@njit
def best_label(row, n, gain, frequency, state):
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
        if y not in row[:n]:
            best = y
    return best
