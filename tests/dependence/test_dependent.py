"""Covers of the dependent labelsets only."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelcover.dependence import dependent_cover, label_dependence
from labelcover.dependence._chi_square import labelsets_by_label
from labelcover.dependence._dependence_kernels import (
    CLOSE_ENOUGH,
    lazy_greedy,
    seed_gains,
)


def random_labels(seed, n=150, m=20):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 4)) @ random.normal(size=(4, m))
    return (hidden + random.normal(size=(n, m)) > 2).astype(np.uint8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(3, 25), k=st.integers(2, 7), r=st.integers(2, 4))
def test_every_dependent_labelset_and_every_label_is_covered(seed, m, k, r):
    k = min(max(k, r), m)
    r = min(r, k)
    Y = random_labels(seed, m=m)
    cover = dependent_cover(Y, k, r)
    dependence = label_dependence(Y, r)
    assert cover.k == k
    assert dependence.covered(cover)[dependence.chi_square > 0].all()
    assert cover.label_counts.min() >= 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(5, 40))
def test_a_size_is_kept_and_every_label_still_covered(seed, size):
    Y = random_labels(seed)
    cover = dependent_cover(Y, 4, size=size)
    assert len(cover) <= size
    assert cover.label_counts.min() >= 1
    larger = dependent_cover(Y, 4, size=size + 5)
    dependence = label_dependence(Y, 2)
    assert dependence.share(larger) >= dependence.share(cover) - 1e-12


def test_the_share_asked_for_is_reached_and_reported():
    Y = random_labels(1)
    dependence = label_dependence(Y, 2)
    whole = dependent_cover(Y, 4)
    most = dependent_cover(Y, 4, share=0.8)
    assert 0.8 <= dependence.share(most) < 1
    assert len(most) < len(whole)
    assert dependence.share(whole) == pytest.approx(1.0)
    assert f"{dependence.share(most):.1%}" in most.method


def test_rows_are_no_worse_than_those_of_a_plain_greedy():
    Y = random_labels(5, m=12)
    dependence = label_dependence(Y, 2)
    weights = np.zeros((12, 12))
    i, j = dependence.labelsets.T
    weights[i, j] = weights[j, i] = dependence.chi_square
    size = 0
    while weights.any():
        row = list(np.unravel_index(weights.argmax(), weights.shape))
        while len(row) < 4:
            gains = weights[row].sum(axis=0)
            gains[row] = -1
            row.append(int(gains.argmax()))
        weights[np.ix_(row, row)] = 0
        size += 1
    assert len(dependent_cover(Y, 4)) <= size + 1


def test_disjoint_blocks_get_a_row_each():
    Y = np.kron(np.eye(5, dtype=np.uint8), np.ones((6, 4), dtype=np.uint8))
    cover = dependent_cover(Y, 4)
    assert sorted(cover.labelsets.tolist()) == np.arange(20).reshape(5, 4).tolist()


def test_room_left_in_a_row_is_used_for_other_labelsets():
    Y = np.kron(np.eye(6, dtype=np.uint8), np.ones((6, 2), dtype=np.uint8))
    assert len(dependent_cover(Y, 6)) == 2


def test_a_wide_sparse_table_is_covered():
    random = np.random.default_rng(0)
    columns = (random.integers(5_000, size=(4_000, 1)) * 4 + np.arange(4)).ravel()
    rows = np.repeat(np.arange(4_000), 4)
    Y = sparse.csr_array((np.ones(16_000, dtype=np.uint8), (rows, columns)), (4_000, 20_000))
    cover = dependent_cover(Y, 4, min_count=2)
    assert cover.label_counts.min() >= 1
    assert label_dependence(Y, 2, min_count=2).share(cover) == pytest.approx(1.0)
    assert len(cover) < 5_100


@pytest.mark.parametrize(
    "Y",
    [np.zeros((10, 7)), np.ones((10, 7)), np.tile([1, 0, 1, 1, 0, 0, 1], (9, 1)), np.eye(4, 7)],
    ids=["no label", "all labels", "a single labelset", "fewer rows than labels"],
)
def test_without_dependence_every_label_is_covered_once(Y):
    cover = dependent_cover(Y, 3)
    assert cover.label_counts.min() >= 1
    assert len(cover) == 3


def test_same_table_same_cover():
    Y = random_labels(2)
    assert dependent_cover(Y, 5) == dependent_cover(sparse.csr_array(Y), 5)


def test_bad_arguments_are_named():
    Y = random_labels(0)
    with pytest.raises(ValueError, match="k must be"):
        dependent_cover(Y, 21)
    with pytest.raises(ValueError, match="k must be"):
        dependent_cover(Y, 2, r=3)
    with pytest.raises(ValueError, match="size must be"):
        dependent_cover(Y, 4, size=4)
    with pytest.raises(ValueError, match="share must be"):
        dependent_cover(Y, 4, share=1.5)


def sift_down(heap, keys):
    i = 0
    while 2 * i + 1 < len(heap):
        child = max(range(2 * i + 1, min(2 * i + 3, len(heap))), key=lambda j: keys[heap[j]])
        if keys[heap[child]] <= keys[heap[i]]:
            break
        heap[i], heap[child] = heap[child], heap[i]
        i = child


def plain_lazy_greedy(labelsets, weights, n_labels, k, target, most_rows):
    """The plain twin: rows are extended, taken and filled by looking at every labelset."""
    weight = dict(zip(map(frozenset, labelsets.tolist()), weights.tolist(), strict=True))
    waiting, r = list(weight), labelsets.shape[1]
    counts, next_label = np.zeros(n_labels, dtype=int), 0

    def gain(label, row):
        return sum(w for s, w in weight.items() if label in s and s - {label} <= set(row))

    def extended(seed, join):
        row = sorted(seed)
        while len(row) < k:
            gains = [-1 if x in row else gain(x, row) for x in range(n_labels)]
            best = int(np.argmax(gains))
            rest = [s for s in waiting if s in weight and not s <= set(row)]
            if gains[best] > 0:
                row.append(best)
            elif join and rest and len(row) + r <= k:
                row += [x for x in sorted(rest[0]) if x not in row]
            else:
                break
        return row

    def inside(row):
        return [s for s in weight if s <= set(row)]

    def filled(row):
        nonlocal next_label
        for unused_only in (True, False):
            for _ in range(n_labels):
                if len(row) == k:
                    break
                label, next_label = next_label, (next_label + 1) % n_labels
                if label not in row and not (unused_only and counts[label]):
                    row.append(label)
        counts[row] += 1
        return row

    rows, done = [], 0.0
    keys = {s: sum(weight[t] for t in inside(extended(s, False))) for s in weight}
    # Labelsets that grow to the same row tie; a heap decides between them.
    heap = sorted(weight, key=lambda s: -keys[s])
    while heap and done < target:
        top = heap[0]
        if top not in weight:
            heap[0] = heap[-1]
            heap.pop()
            sift_down(heap, keys)
            continue
        keys[top] = sum(weight[t] for t in inside(extended(top, False)))
        if keys[top] < CLOSE_ENOUGH * max((keys[s] for s in heap[1:3]), default=0):
            sift_down(heap, keys)
            continue
        if (counts == 0).sum() > (most_rows - len(rows) - 1) * k:
            break
        rows.append(filled(extended(top, True)))
        for s in inside(rows[-1]):
            done += weight.pop(s)
    while not counts.all():
        rows.append(filled([]))
    return rows


@pytest.mark.parametrize("r", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_compiled_greedy_makes_the_rows_of_its_plain_twin(seed, r):
    rng = np.random.default_rng(seed)
    m, k = 12, 5
    labelsets = np.unique([np.sort(rng.permutation(m)[:r]) for _ in range(18)], axis=0)
    labelsets = rng.permutation(labelsets).astype(np.int32)
    # Sums of such weights are exact and different.
    weights = np.sort(2.0 ** -rng.permutation(40)[: len(labelsets)])[::-1] + 1
    most = 4 if seed % 2 else 100
    target = weights.sum() * 0.7 if seed % 4 == 0 else np.inf
    starts, which, others = labelsets_by_label(labelsets, m)
    entries = starts, starts[1:].copy(), which, others, weights[which]
    gains = seed_gains(labelsets, entries, k)
    order = np.argsort(-gains, kind="stable")
    rows = lazy_greedy(labelsets, weights, entries, gains, order, k, target, most)
    assert rows.tolist() == plain_lazy_greedy(labelsets, weights, m, k, target, most)


def test_labelsets_are_listed_by_their_labels():
    labelsets = np.array([[0, 2, 3], [1, 2, 4], [0, 1, 2]], dtype=np.int32)
    starts, which, others = labelsets_by_label(labelsets, 5)
    for label in range(5):
        own = range(starts[label], starts[label + 1])
        assert [which[i] for i in own] == [t for t in range(3) if label in labelsets[t]]
        for i in own:
            assert others[i].tolist() == [x for x in labelsets[which[i]] if x != label]
