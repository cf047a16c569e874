"""The exact best next labelset of a greedy cover, by depth-first branch and bound.

A labelset S is worth ``gain_weight · |S*| − balance_weight · imb(I ∪ S)``, where ``|S*|`` is the
number of r-labelsets of S not covered yet and ``imb(I ∪ S)`` the imbalance after adding S: INLAC
has weights (1, 0), BALCO (0, 1) and BALANCOR (1, 1).

`first_labelset` walks the k-labelsets in lexicographic order and stops at the first worth at
least a target; asking with falling targets gives the exact arg-max, ties to the first. What
makes this quick:

* A prefix P that gained g and lacks ``l`` labels can gain at most g, plus the ``l`` largest
  numbers of uncovered r-labelsets that one more label closes with P, plus all r-labelsets with
  two or more new labels.
* Gains only fall as labelsets are chosen, so a bound on the gain below a prefix, once found,
  holds for all later steps. Bounds are remembered for prefixes of one and two labels.
* ``imb(I ∪ S)`` depends only on whether S meets the most frequent labels and whether it holds
  all of the least frequent ones, so it can be bounded below from a prefix.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover._hash_kernels import FREE, place_of_row, row_key
from labelcover.covers.labelset_kernels import binomial_table


@njit(cache=True)
def gain_below_pairs(k, r):
    """``extra[j]``: r-labelsets with at least two of the ``k − j`` labels still to come."""
    table = binomial_table(k, k)
    extra = np.zeros(k + 1, dtype=np.int64)
    for j in range(k + 1):
        for t in range(2, min(r, k - j) + 1):
            if r - t <= j:
                extra[j] += table[k - j, t] * table[j, r - t]
    return extra


@njit(cache=True)
def is_chosen(chosen, labels):
    """Whether `labels` is among the rows chosen: their slots, keys and labels."""
    slots, keys, rows = chosen
    place = place_of_row(slots, keys, rows, labels.reshape(1, -1), 0, row_key(labels))
    return slots[place] != FREE


@njit(cache=True)
def remember_chosen(chosen, begin, end):
    """Enter the rows from `begin` to `end`, all different, into the slots."""
    slots, keys, rows = chosen
    for i in range(begin, end):
        keys[i] = row_key(rows[i])
        slots[place_of_row(slots, keys, rows, rows, i, keys[i])] = i


@njit(cache=True)
def _fits(prefix, depth, label, together, apart):
    """Whether `label` may follow the prefix under the constraints."""
    for i in range(depth):
        if apart[prefix[i], label]:
            return False
    # A partner with a smaller index than `label` can no longer be added, so it must be there.
    for i in range(depth + 1):
        owner = label if i == depth else prefix[i]
        for partner in range(label):
            if together[owner, partner]:
                found = False
                for j in range(depth):
                    if prefix[j] == partner:
                        found = True
                        break
                if not found:
                    return False
    return True


@njit(cache=True)
def _complete(prefix, depth, label, together):
    """Whether no label of the full labelset waits for a partner behind `label`."""
    for i in range(depth + 1):
        owner = label if i == depth else prefix[i]
        for partner in range(label + 1, together.shape[0]):
            if together[owner, partner]:
                return False
    return True


@njit(cache=True)
def _largest_sum(values, start, count, histogram):
    """Sum of the `count` largest of ``values[start:]``, all below ``len(histogram)``."""
    histogram[:] = 0
    for v in range(start, len(values)):
        histogram[values[v]] += 1
    total = 0
    value = len(histogram) - 1
    while count > 0 and value > 0:
        taken = min(count, histogram[value])
        total += taken * value
        count -= taken
        value -= 1
    return total


@njit(cache=True)
def first_labelset(
    covered,
    counts,
    k,
    r,
    gain_weight,
    balance_weight,
    target,
    chosen,
    names,
    together,
    apart,
    constrained,
    bound_1,
    bound_2,
    out,
):
    """Write to `out` the lexicographically first labelset worth at least `target`.

    Parameters
    ----------
    covered : bool array
        By rank of r-labelset; also true for those outside the universe.
    counts : int array
        Labelsets that hold each label so far.
    chosen : (slots, keys, rows)
        The labelsets chosen so far, which are not offered again.
    names : int array
        What the labels are called in the chosen rows.
    together, apart : bool arrays of shape (m, m)
        Labels that must be, or must not be, in the same labelset; read if `constrained`.
    bound_1, bound_2 : int arrays of shapes (m,) and (m, m)
        Upper bounds on the gain of labelsets that start with these one or two labels; tightened.

    Returns
    -------
    bool
        Whether there is one.
    """
    m = len(counts)
    binomials = binomial_table(m, r)
    small = binomial_table(k, k)
    extra = gain_below_pairs(k, r)
    histogram = np.zeros(small[k, r - 1] + 1, dtype=np.int64)

    # The balance side: who is most and least frequent, counted from the right.
    highest, lowest = counts.max(), counts.min()
    low_total = 0
    for v in range(m):
        low_total += counts[v] == lowest
    low_after = np.zeros(m + 1, dtype=np.int64)  # least frequent labels at or after v
    free_after = np.zeros(m + 1, dtype=np.int64)  # labels at or after v that are not at the top
    for v in range(m - 1, -1, -1):
        low_after[v] = low_after[v + 1] + (counts[v] == lowest)
        free_after[v] = free_after[v + 1] + (counts[v] != highest)

    # One frame per depth: the prefix, its gain, and what one more label would close with it.
    prefix = np.zeros(k, dtype=np.int64)
    gain = np.zeros(k + 1, dtype=np.int64)
    topped = np.zeros(k + 1, dtype=np.bool_)
    lows = np.zeros(k + 1, dtype=np.int64)
    closes = np.zeros((k + 1, m), dtype=np.int64)
    best_sum = np.zeros(k + 1, dtype=np.int64)
    reach = np.zeros(k + 1, dtype=np.int64)  # largest gain seen or allowed below this frame
    following = np.zeros(k + 1, dtype=np.int64)  # the next label to try
    # ranks[t]: partial ranks of the t-subsets of the prefix; a frame uses C(depth, t) of them.
    ranks = np.zeros((r, small[k].max()), dtype=np.int64)

    if r == 1:
        for v in range(m):
            closes[0, v] = 0 if covered[v] else 1
    best_sum[0] = _largest_sum(closes[0], 0, k - 1, histogram)
    depth = 0
    while depth >= 0:
        v = following[depth]
        lacking = k - depth
        if v > m - lacking:
            # The frame is done: hand its reach up and remember it.
            if depth == 1:
                bound_1[prefix[0]] = min(bound_1[prefix[0]], reach[1])
            elif depth == 2:
                bound_2[prefix[0], prefix[1]] = min(bound_2[prefix[0], prefix[1]], reach[2])
            depth -= 1
            if depth >= 0:
                reach[depth] = max(reach[depth], reach[depth + 1])
            continue
        following[depth] = v + 1
        if constrained and not _fits(prefix, depth, v, together, apart):
            continue

        bound = gain[depth] + closes[depth, v] + best_sum[depth] + extra[depth]
        if depth == 0:
            bound = min(bound, bound_1[v])
        elif depth == 1:
            bound = min(bound, bound_2[prefix[0], v])

        in_top = topped[depth] or counts[v] == highest or free_after[v + 1] < lacking - 1
        in_low = lows[depth] + (counts[v] == lowest)
        lifts = in_low + low_after[v + 1] >= low_total and low_total - in_low <= lacking - 1
        imbalance = highest + in_top - lowest - lifts
        if gain_weight * bound - balance_weight * imbalance < target:
            reach[depth] = max(reach[depth], bound)
            continue

        if lacking == 1:
            # `bound` is the gain and `imbalance` exact. What gains something is new.
            reach[depth] = max(reach[depth], bound)
            prefix[depth] = v
            if constrained and not _complete(prefix, depth, v, together):
                continue
            new = gain_weight > 0 and bound > 0
            if new or not is_chosen(chosen, np.sort(names[prefix])):
                out[:] = prefix
                return True
            continue

        # Open the frame of the longer prefix.
        prefix[depth] = v
        below = depth + 1
        gain[below] = gain[depth] + closes[depth, v]
        topped[below] = topped[depth] or counts[v] == highest
        lows[below] = in_low
        reach[below] = 0
        following[below] = v + 1
        if gain_weight > 0:
            for w in range(v + 1, m):
                closes[below, w] = closes[depth, w]
            if r >= 2:
                for i in range(small[depth, r - 2]):
                    part = binomials[v, r - 1] + ranks[r - 2, i]
                    for w in range(v + 1, m):
                        closes[below, w] += not covered[part + binomials[w, r]]
            for t in range(min(r - 2, below), 0, -1):
                for i in range(small[depth, t - 1]):
                    ranks[t, small[depth, t] + i] = ranks[t - 1, i] + binomials[v, t]
            best_sum[below] = _largest_sum(closes[below], v + 1, lacking - 2, histogram)
        depth = below
    return False
