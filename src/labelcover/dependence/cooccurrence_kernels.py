"""Compiled enumeration of the labelsets that occur together."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
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


@njit(cache=True)
def _places(row_starts, row_labels, n_labels):
    """Return the end of the row of each place, and where in the list of places each label is."""
    ends = np.empty(len(row_labels), dtype=np.int64)
    for i in range(len(row_starts) - 1):
        for place in range(row_starts[i], row_starts[i + 1]):
            ends[place] = row_starts[i + 1]
    label_starts = np.zeros(n_labels + 1, dtype=np.int64)
    for label in row_labels:
        label_starts[label + 1] += 1
    label_starts = np.cumsum(label_starts)
    label_places = np.empty(len(row_labels), dtype=np.int64)
    filled = label_starts[:-1].copy()
    for place in range(len(row_labels)):
        label = row_labels[place]
        label_places[filled[label]] = place
        filled[label] += 1
    return ends, label_starts, label_places


@njit(cache=True)
def frequent_labelsets(row_starts, row_labels, n_labels, order, min_count):
    """Labelsets of `order` ≥ 2 labels in at least `min_count` rows, and in how many rows each.

    Rows are CSR with sorted labels. Labelsets grow by one label at a time, and only those that
    are frequent grow (a part of a frequent labelset is frequent). A labelset is held by the
    places of its last label in `row_labels`, so that the labels that may follow are simply those
    further on in the same row. Only the labelsets with the same first label are in memory at once.
    """
    ends, label_starts, label_places = _places(row_starts, row_labels, n_labels)
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
