"""Compiled loops over labelsets that occur together: their enumeration, and a lazy greedy cover."""

from __future__ import annotations

import numpy as np

from labelcover._compiled import njit

# A candidate is taken if its gain is at least this share of the next best, not known to be exact.
CLOSE_ENOUGH = 0.8


@njit
def with_room(array, size):
    """`array` with room for at least `size` entries along its first axis, doubled when short."""
    if size <= len(array):
        return array
    larger = np.empty((max(size, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
    # Entry by entry, here and below: an assignment of arrays takes seconds to compile.
    entries, places = array.reshape(-1), larger.reshape(-1)
    for i in range(len(entries)):
        places[i] = entries[i]
    return larger


@njit
def frequent_labelsets(row_labels, ends, label_starts, label_places, order, min_count):
    """Labelsets of `order` ≥ 2 labels in at least `min_count` rows, and in how many rows each.

    `row_labels` are the sorted labels of one row after the other, and `ends` says where the row of
    each of these places ends. The places of label ``l`` are
    ``label_places[label_starts[l]:label_starts[l + 1]]``. Labelsets grow by one label at a time,
    and only those that are frequent grow (a part of a frequent labelset is frequent). A labelset
    is held by the places of its last label in `row_labels`, so that the labels that may follow are
    simply those further on in the same row. Only the labelsets with the same first label are in
    memory at once.
    """
    n_labels = len(label_starts) - 1
    out_sets = np.empty((1024, order), dtype=np.int32)
    out_counts = np.empty(1024, dtype=np.int64)
    n_out = 0
    count = np.zeros(n_labels, dtype=np.int64)
    slot = np.zeros(n_labels, dtype=np.int64)
    seen = np.empty(n_labels, dtype=np.int32)
    for first in range(n_labels):
        if label_starts[first + 1] - label_starts[first] < min_count:
            continue
        sets = np.empty((1, order), dtype=np.int32)
        sets[0, 0] = first
        starts = np.array([0, label_starts[first + 1] - label_starts[first]])
        places = label_places[label_starts[first] : label_starts[first + 1]].copy()
        n_sets = 1
        for depth in range(1, order):
            next_sets = np.empty((max(n_sets, 16), order), dtype=np.int32)
            next_starts = np.zeros(max(n_sets, 16) + 1, dtype=np.int64)
            next_places = np.empty(0 if depth == order - 1 else len(places), dtype=np.int64)
            n_next = 0
            for s in range(n_sets):
                n_seen = 0
                for t in range(starts[s], starts[s + 1]):
                    for place in range(places[t] + 1, ends[places[t]]):
                        label = row_labels[place]
                        if count[label] == 0:
                            seen[n_seen] = label
                            n_seen += 1
                        count[label] += 1
                found = np.sort(seen[:n_seen])
                if depth == order - 1:
                    for label in found:
                        if count[label] >= min_count:
                            out_sets = with_room(out_sets, n_out + 1)
                            out_counts = with_room(out_counts, n_out + 1)
                            for j in range(depth):
                                out_sets[n_out, j] = sets[s, j]
                            out_sets[n_out, depth] = label
                            out_counts[n_out] = count[label]
                            n_out += 1
                else:
                    for label in found:
                        slot[label] = -1
                        if count[label] >= min_count:
                            next_sets = with_room(next_sets, n_next + 1)
                            next_starts = with_room(next_starts, n_next + 2)
                            for j in range(depth):
                                next_sets[n_next, j] = sets[s, j]
                            next_sets[n_next, depth] = label
                            slot[label] = next_starts[n_next]
                            next_starts[n_next + 1] = next_starts[n_next] + count[label]
                            n_next += 1
                    next_places = with_room(next_places, next_starts[n_next])
                    for t in range(starts[s], starts[s + 1]):
                        for place in range(places[t] + 1, ends[places[t]]):
                            label = row_labels[place]
                            if slot[label] >= 0:
                                next_places[slot[label]] = place
                                slot[label] += 1
                for label in found:
                    count[label] = 0
            sets, starts, places, n_sets = next_sets, next_starts, next_places, n_next
    return out_sets[:n_out].copy(), out_counts[:n_out].copy()


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
            is_new = True
            for i in range(size):
                is_new = is_new and members[i] != label
            if is_new:
                members[size] = label
                size += 1
    return next_label


@njit
def _with_row(rows, n_rows, members, counts):
    """`rows` with one more, and how many of its labels are new; counts its labels."""
    rows = with_room(rows, n_rows + 1)
    n_new = 0
    for i in range(len(members)):
        label = members[i]
        rows[n_rows, i] = label
        n_new += counts[label] == 0
        counts[label] += 1
    return rows, n_new


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
    rows = np.empty((1024, k), dtype=np.int32)
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
        rows, n_new = _with_row(rows, n_rows, members, counts)
        n_rows, unused = n_rows + 1, unused - n_new
        for t in _uncovered_inside(members, labelsets, entries, gains):
            covered[t] = True
            weight += weights[t]
            _remove(t, labelsets, entries)
    while unused > 0:
        next_label = _pad(members, np.int64(0), counts, next_label)
        rows, n_new = _with_row(rows, n_rows, members, counts)
        n_rows, unused = n_rows + 1, unused - n_new
    return rows[:n_rows].copy()
