"""Compiled loops over labelsets: their ranks, which of them are covered, random numbers.

An r-labelset ``c_1 < … < c_r`` has the colexicographic rank ``Σ C(c_i, i)``, which does not
depend on the number of labels. Where labelsets differ in size, the rows of a table end in −1,
which is no label. The state of random numbers is an argument, never global.
"""

import numpy as np

from labelcover._compiled import njit


@njit
def binomial_table(n, r):
    """``table[a, b] = C(a, b)`` for ``a ≤ n`` and ``b ≤ r`` as int64."""
    table = np.zeros((n + 1, r + 1), dtype=np.int64)
    for a in range(n + 1):
        table[a, 0] = 1
        for b in range(1, min(a, r) + 1):
            table[a, b] = table[a - 1, b - 1] + table[a - 1, b]
    return table


@njit
def next_combination(positions, n):
    """Step `positions` to the next combination of ``range(n)``; false when it was the last."""
    r = len(positions)
    i = r - 1
    while i >= 0 and positions[i] == n - r + i:
        i -= 1
    if i < 0:
        return False
    positions[i] += 1
    for j in range(i + 1, r):
        positions[j] = positions[j - 1] + 1
    return True


@njit
def row_length(labelsets, i):
    """Return how many labels row `i` holds."""
    length = labelsets.shape[1]
    while length > 0 and labelsets[i, length - 1] < 0:
        length -= 1
    return length


@njit
def labelset_ranks(labelsets, r):
    """Rank of every r-subset of every row of `labelsets` (rows sorted), flat."""
    size, k = labelsets.shape
    subsets = binomial_table(k, r)
    highest = 0
    total = 0
    for i in range(size):
        length = row_length(labelsets, i)
        highest = max(highest, labelsets[i, length - 1])
        total += subsets[length, r]
    table = binomial_table(highest + 1, r)
    out = np.empty(total, dtype=np.int64)
    positions = np.arange(r)
    at = 0
    for i in range(size):
        length = row_length(labelsets, i)
        if length < r:
            continue
        for j in range(r):
            positions[j] = j
        while True:
            rank = np.int64(0)
            for j in range(r):
                rank += table[labelsets[i, positions[j]], j + 1]
            out[at] = rank
            at += 1
            if not next_combination(positions, length):
                break
    return out


@njit
def ranks_with_label(row, skip, label, r, table, positions, ordered, out):
    """Write to `out` the ranks of all r-labelsets of `label` and r−1 others of `row`; how many.

    The label at place `skip` of the row is not one of the others. `positions` (r) and `ordered`
    (k) are scratch.
    """
    k = len(row)
    n_rest = k - 1
    if n_rest < r - 1:
        return 0
    if r == 2:
        at = 0
        for j in range(k):
            if j != skip:
                a, b = row[j], label
                if a > b:
                    a, b = b, a
                out[at] = a + table[b, 2]
                at += 1
        return at
    # The rest of the row with the label put in its place by insertion sort.
    n = 0
    for j in range(k):
        if j != skip:
            i = n
            while i > 0 and ordered[i - 1] > row[j]:
                ordered[i] = ordered[i - 1]
                i -= 1
            ordered[i] = row[j]
            n += 1
    for j in range(r - 1):
        positions[j] = j
    at = 0
    while True:
        rank = np.int64(0)
        lower = 0
        for j in range(r - 1):
            other = ordered[positions[j]]
            lower += other < label
            rank += table[other, j + 1 + (other > label)]
        out[at] = rank + table[label, lower + 1]
        at += 1
        if not next_combination(positions[: r - 1], n_rest):
            break
    return at


@njit
def unrank_into(rank, table, out):
    """Write to `out` the labels, ascending, with a rank; `table` holds the binomials."""
    top = len(table) - 1
    for j in range(len(out), 0, -1):
        low, high = j - 1, top - 1
        while low < high:
            middle = (low + high + 1) // 2
            if table[middle, j] <= rank:
                low = middle
            else:
                high = middle - 1
        out[j - 1] = low
        rank -= table[low, j]
        top = low


@njit
def unrank_labelsets(ranks, n_labels, r):
    """Labelsets with the given colexicographic ranks, ``(len(ranks), r)``."""
    table = binomial_table(n_labels, r)
    out = np.empty((len(ranks), r), dtype=np.int32)
    for i in range(len(ranks)):
        unrank_into(ranks[i], table, out[i])
    return out


@njit
def rank_with(chosen, label, table):
    """Rank of the sorted labels `chosen` (r−1 of them) and `label`; −1 if it is one of them."""
    rank = np.int64(0)
    lower = 0
    for j in range(len(chosen)):
        if chosen[j] == label:
            return np.int64(-1)
        lower += chosen[j] < label
        rank += table[chosen[j], j + 1 + (chosen[j] > label)]
    return rank + table[label, lower + 1]


@njit
def add_closed(covered, prefix, depth, v, r, table, labels, closes):
    """Add to `closes` the uncovered r-labelsets of v, r−2 labels of the prefix and each label.

    What is added for v itself and for labels of the prefix means nothing.
    """
    if r == 2:
        for i in range(len(labels)):
            low, high = min(v, labels[i]), max(v, labels[i])
            closes[i] += not covered[low + table[high, 2]]
        return
    if r == 1 or depth < r - 2:
        return
    positions = np.arange(r - 2)
    while True:
        others = np.empty(r - 1, dtype=np.int64)
        others[r - 2] = v
        for j in range(r - 2):
            others[j] = prefix[positions[j]]
        others.sort()
        rank = np.int64(0)
        for j in range(r - 1):
            rank += table[others[j], j + 1]
        for i in range(len(labels)):
            w = labels[i]
            if w > others[r - 2]:
                closes[i] += not covered[rank + table[w, r]]
            else:
                closes[i] += not covered[rank_with(others, w, table)]
        if not next_combination(positions, depth):
            return


@njit
def seeded(seed):
    """Return a generator's state for `seed`, an array of one 64-bit word (splitmix64)."""
    z = np.uint64(seed) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    state = np.empty(1, dtype=np.uint64)
    state[0] = (z ^ (z >> np.uint64(31))) | np.uint64(1)
    return state


@njit
def _next_word(state):
    """Step the generator (xorshift64*, Vigna 2016) and return 64 bits."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(0x2545F4914F6CDD1D)


@njit
def below(state, n):
    """Return a random integer of ``0 … n−1``, for n below 2³²."""
    high = _next_word(state) >> np.uint64(32)
    return np.int64((high * np.uint64(n)) >> np.uint64(32))


@njit
def uniform(state):
    """Return a random number in ``[0, 1)``."""
    return np.float64(_next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
