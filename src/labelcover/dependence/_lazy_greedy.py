"""Compiled lazy greedy cover of weighted labelsets."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.dependence._enumerate import grown

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
def _join(label, problem, covered, held, gains, reached, n_reached):
    """Put `label` into the labelset that grows, and bring the gains of the other labels up to date.

    ``held[t]`` counts the labels of labelset ``t`` that are in; ``gains[l]`` is the uncovered
    weight that label ``l`` would complete, −1 for a label that is in. Labels with a gain are
    listed in `reached`. Returns the gain of `label` and the length of `reached`.
    """
    labelsets, weights, starts, holders = problem
    r = labelsets.shape[1]
    gain = max(gains[label], 0.0)
    gains[label] = -1.0
    for i in range(starts[label], starts[label + 1]):
        t = holders[i]
        held[t] += 1
        if held[t] == r - 1 and not covered[t]:
            for j in range(r):
                missing = labelsets[t, j]
                if gains[missing] >= 0:
                    if gains[missing] == 0:
                        reached[n_reached] = missing
                        n_reached += 1
                    gains[missing] += weights[t]
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
def _grow(seed, heaviest, problem, covered, held, gains, reached, members):
    """Grow labelset `seed` to as many labels as `members` has room for, the greatest gain first.

    When no label has a gain and there is room for a whole labelset, the first uncovered one from
    `heaviest` on joins; with ``heaviest = len(labelsets)`` none does. Returns the number of
    labels and the uncovered weight inside. `held` and `gains` are zero before and after.
    """
    labelsets, _, starts, holders = problem
    r = labelsets.shape[1]
    total = 0.0
    size = 0
    n_reached = 0
    joining = seed
    while joining >= 0:
        for label in labelsets[joining]:
            if gains[label] >= 0:
                gain, n_reached = _join(label, problem, covered, held, gains, reached, n_reached)
                total += gain
                members[size] = label
                size += 1
        while size < len(members):
            label = _best_reached(gains, reached, n_reached)
            if label < 0:
                break
            gain, n_reached = _join(label, problem, covered, held, gains, reached, n_reached)
            total += gain
            members[size] = label
            size += 1
        joining = -1
        if size + r <= len(members):
            while heaviest < len(labelsets) and (covered[heaviest] or held[heaviest] == r):
                heaviest += 1
            if heaviest < len(labelsets):
                joining = heaviest
    for label in members[:size]:
        gains[label] = 0.0
        for i in range(starts[label], starts[label + 1]):
            held[holders[i]] = 0
    for label in reached[:n_reached]:
        gains[label] = 0.0
    return size, total


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
def lazy_greedy(labelsets, weights, starts, holders, n_labels, k, target, most_rows):
    """Rows of `k` labels that cover `labelsets`, heaviest first, until their weight is `target`.

    `labelsets` come in order of falling weight, all positive. Each is the seed of a candidate
    row; the candidates wait in a heap with the gain they had when last grown, and only the one on
    top is grown anew. Every label is in some row at the end, for which rows are kept back when
    `most_rows` is tight.
    """
    problem = (labelsets, weights, starts, holders)
    q, r = labelsets.shape
    covered = np.zeros(q, dtype=np.bool_)
    held = np.zeros(q, dtype=np.int64)
    gains = np.zeros(n_labels)
    reached = np.empty(n_labels, dtype=np.int64)
    counts = np.zeros(n_labels, dtype=np.int64)
    members = np.empty(k, dtype=np.int64)
    rows = np.empty((1024, k), dtype=np.int32)
    keys = np.empty(q)
    for t in range(q):
        _, keys[t] = _grow(t, q, problem, covered, held, gains, reached, members)
    heap = np.argsort(-keys, kind="mergesort")
    length, heaviest, next_label, n_rows = q, 0, 0, 0
    unused = n_labels
    weight = 0.0
    while length > 0 and weight < target:
        top = heap[0]
        if covered[top]:
            length -= 1
            heap[0] = heap[length]
            _sift_down(heap, keys, length)
            continue
        _, keys[top] = _grow(top, q, problem, covered, held, gains, reached, members)
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
        size, _ = _grow(top, heaviest, problem, covered, held, gains, reached, members)
        next_label = _pad(members, size, counts, next_label)
        n_rows += 1
        rows = grown(rows, n_rows)
        rows[n_rows - 1] = members
        for label in members:
            unused -= counts[label] == 0
            counts[label] += 1
            for i in range(starts[label], starts[label + 1]):
                t = holders[i]
                held[t] += 1
                if held[t] == r and not covered[t]:
                    covered[t] = True
                    weight += weights[t]
        for label in members:
            for i in range(starts[label], starts[label + 1]):
                held[holders[i]] = 0
    while unused > 0:
        next_label = _pad(members, 0, counts, next_label)
        n_rows += 1
        rows = grown(rows, n_rows)
        rows[n_rows - 1] = members
        for label in members:
            unused -= counts[label] == 0
            counts[label] += 1
    return rows[:n_rows].copy()
