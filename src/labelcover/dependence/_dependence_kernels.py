"""Compiled loops over labelsets that occur together: a lazy greedy cover of them."""

import numpy as np

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
def _pad(members, size, counts, next_label):
    """Fill `members` with labels that no row holds yet, then with labels in turn."""
    m = len(counts)
    for unused_only in (True, False):
        for _ in range(m):
            if size == len(members):
                return next_label
            label = next_label % m
            next_label = (next_label + 1) % m
            if unused_only and counts[label] > 0:
                continue
            if label not in members[:size]:
                members[size] = label
                size += 1
    return next_label


@njit
def _write_row(row, members, counts):
    """Write labels to a row and count them; return how many are new."""
    n_new = 0
    for i in range(len(members)):
        row[i] = members[i]
        n_new += counts[members[i]] == 0
        counts[members[i]] += 1
    return n_new


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
        next_label = _pad(members, size, counts, next_label)
        unused -= _write_row(rows[n_rows], members, counts)
        n_rows += 1
        for t in found[: _uncovered_inside(members, labelsets, entries, gains, found)]:
            covered[t] = True
            weight += weights[t]
            _remove(t, labelsets, entries)
    while unused > 0:
        next_label = _pad(members, np.int64(0), counts, next_label)
        unused -= _write_row(rows[n_rows], members, counts)
        n_rows += 1
    return rows[:n_rows].copy()
