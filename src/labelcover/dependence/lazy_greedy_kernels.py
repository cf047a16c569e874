"""Compiled lazy greedy cover of weighted labelsets."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.dependence.cooccurrence_kernels import with_room

# A candidate is taken if its gain is at least this share of the next best, not known to be exact.
CLOSE_ENOUGH = 0.8


@njit(cache=True)
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


@njit(cache=True)
def _entries(labelsets, weights, n_labels):
    """Where each label's labelsets are listed: first and end, which, their other labels, weight."""
    q, r = labelsets.shape
    starts = np.zeros(n_labels + 1, dtype=np.int64)
    for t in range(q):
        for label in labelsets[t]:
            starts[label + 1] += 1
    starts = np.cumsum(starts)
    ends = starts[:-1].copy()
    which = np.empty(q * r, dtype=np.int64)
    others = np.empty((q * r, r - 1), dtype=np.int32)
    weight = np.empty(q * r)
    for t in range(q):
        for label in labelsets[t]:
            at = ends[label]
            ends[label] += 1
            which[at] = t
            weight[at] = weights[t]
            n_others = 0
            for other in labelsets[t]:
                if other != label:
                    others[at, n_others] = other
                    n_others += 1
    return starts, ends, which, others, weight


@njit(cache=True)
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
        others[at] = others[last]
        weight[at] = weight[last]


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def _is_inside(labels, gains):
    """Whether all `labels` are in the labelset in the making."""
    for label in labels:  # noqa: SIM110 (numba has no generators)
        if gains[label] >= 0:
            return False
    return True


@njit(cache=True)
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


@njit(cache=True)
def _uncovered_inside(members, labelsets, entries, gains):
    """Uncovered labelsets of which all labels are among `members`, each once."""
    starts, ends, which, _, _ = entries
    for label in members:
        gains[label] = -1.0
    found = np.empty(0, dtype=np.int64)
    n_found = 0
    for label in members:
        for i in range(starts[label], ends[label]):
            labels = labelsets[which[i]]
            if labels[0] == label and _is_inside(labels, gains):
                found = with_room(found, n_found + 1)
                found[n_found] = which[i]
                n_found += 1
    for label in members:
        gains[label] = 0.0
    return found[:n_found]


@njit(cache=True)
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
            if not (members[:size] == label).any():
                members[size] = label
                size += 1
    return next_label


@njit(cache=True)
def lazy_greedy(labelsets, weights, n_labels, k, target, most_rows):
    """Rows of `k` labels that cover `labelsets`, heaviest first, until their weight is `target`.

    `labelsets` come in order of falling weight, all positive. Each is the seed of a candidate
    row; the candidates wait in a heap with the gain they had when last extended, and only the
    one on top is extended again. Every label is in some row at the end, for which rows are kept
    back when `most_rows` is tight.
    """
    entries = _entries(labelsets, weights, n_labels)
    q = len(labelsets)
    covered = np.zeros(q, dtype=np.bool_)
    held = np.zeros(q, dtype=np.int64)
    gains = np.zeros(n_labels)
    reached = np.empty(n_labels, dtype=np.int64)
    counts = np.zeros(n_labels, dtype=np.int64)
    members = np.empty(k, dtype=np.int64)
    rows = np.empty((1024, k), dtype=np.int32)
    keys = np.empty(q)
    for t in range(q):
        _, keys[t] = _extend(t, q, labelsets, entries, covered, held, gains, reached, members)
    heap = np.argsort(-keys, kind="mergesort")
    length, heaviest, next_label, n_rows = q, 0, np.int64(0), 0
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
        n_rows += 1
        rows = with_room(rows, n_rows)
        rows[n_rows - 1] = members
        for label in members:
            unused -= counts[label] == 0
            counts[label] += 1
        for t in _uncovered_inside(members, labelsets, entries, gains):
            covered[t] = True
            weight += weights[t]
            _remove(t, labelsets, entries)
    while unused > 0:
        next_label = _pad(members, np.int64(0), counts, next_label)
        n_rows += 1
        rows = with_room(rows, n_rows)
        rows[n_rows - 1] = members
        for label in members:
            unused -= counts[label] == 0
            counts[label] += 1
    return rows[:n_rows].copy()
