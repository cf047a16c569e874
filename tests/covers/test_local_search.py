"""Building, freeing, packing, balancing and annealing rows, against plain Python."""

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers._greedy_kernels import rows_label_by_label
from labelcover.covers._labelset_kernels import (
    below,
    binomial_table,
    ranks_with_label,
    seeded,
    uniform,
)
from labelcover.covers._labelset_table import times_covered
from labelcover.covers._local_search import (
    Annealer,
    balanced,
    filled,
    pack_rows,
    without_spare_rows,
)
from labelcover.covers._local_search_kernels import (
    anneal_rows,
    exchange_spare,
    fill_places,
    free_places,
)


def covered(rows, r):
    return {c for row in rows for c in combinations(sorted(int(x) for x in row if x >= 0), r)}


def everything(m, r):
    return set(combinations(range(m), r))


shapes = st.tuples(st.integers(5, 14), st.integers(3, 5), st.integers(2, 3), st.integers(0, 99))


def test_random_numbers_are_spread_evenly():
    state = seeded(3)
    counts = Counter(int(below(state, 7)) for _ in range(7000))
    assert set(counts) == set(range(7))
    assert max(counts.values()) - min(counts.values()) < 250
    assert 0.48 < np.mean([uniform(state) for _ in range(5000)]) < 0.52


def test_random_numbers_are_those_of_the_published_generator():
    word = (1 << 64) - 1
    z = (5 + 0x9E3779B97F4A7C15) & word
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & word
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & word
    x = (z ^ (z >> 31)) | 1
    state = seeded(5)
    for n in (2, 10, 1000, 2**31):
        x ^= x >> 12
        x = (x ^ (x << 25)) & word
        x ^= x >> 27
        high = (x * 0x2545F4914F6CDD1D & word) >> 32
        assert below(state, n) == high * n >> 32


@pytest.mark.parametrize(("k", "r"), [(2, 2), (5, 2), (6, 3), (7, 5), (4, 4), (2, 3)])
def test_ranks_around_a_label_are_those_of_its_labelsets(k, r):
    rng = np.random.default_rng(k)
    m = 12
    labels = rng.permutation(m)
    row, label = labels[:k].astype(np.int32), int(labels[k])
    out = np.zeros(100, dtype=np.int64)
    scratch = np.zeros(max(r, 1), dtype=np.int64), np.zeros(k, dtype=np.int32)
    n = ranks_with_label(row, 1, label, r, binomial_table(m, r), *scratch, out)
    others = [int(x) for j, x in enumerate(row) if j != 1]
    twin = []
    for rest in combinations(others, r - 1):
        ordered = sorted([*rest, label])
        twin.append(sum(comb(c, i + 1) for i, c in enumerate(ordered)))
    assert sorted(out[:n].tolist()) == sorted(twin)


def test_free_places_go_to_the_rarest_labels():
    rows = np.array([[0, 1, -1], [0, 2, -1], [0, 1, 2]], dtype=np.int32)
    full = filled(rows, 5)
    # Labels 3 and 4 occur nowhere: one each.
    assert sorted(full[:2, 2].tolist()) == [3, 4]
    assert np.array_equal(full[:, :2], rows[:, :2])


@settings(max_examples=25, deadline=None)
@given(shapes)
def test_rows_built_label_by_label_cover_everything(shape):
    m, k, r, seed = shape
    rows = rows_label_by_label(m, k, r, seed)
    assert covered(rows, r) == everything(m, r)
    for row in rows:
        labels = [x for x in row if x >= 0]
        assert len(labels) == len(set(labels))


@settings(max_examples=25, deadline=None)
@given(shapes)
def test_freed_and_packed_rows_cover_the_same(shape):
    m, k, r, seed = shape
    rows = rows_label_by_label(m, k, r, seed)
    freed = free_places(rows, times_covered(rows, m, r), m, r, np.arange(len(rows)))
    assert covered(freed, r) == everything(m, r)
    packed = pack_rows(freed)
    assert covered(packed, r) == everything(m, r)
    assert len(packed) <= len(rows)


def test_freeing_takes_exactly_what_covers_nothing_alone():
    rows = np.array([[0, 1, 2], [0, 1, 3], [2, 3, 4], [0, 1, 4]], dtype=np.int32)
    freed = free_places(rows, times_covered(rows, 5, 2), 5, 2, np.arange(4))
    # A plain twin: a label leaves its row if every pair it has there is in another row.
    twin = [list(map(int, row)) for row in rows]
    for row in twin:
        j = 0
        while j < len(row):
            rest = row[:j] + row[j + 1 :]
            others = covered([other for other in twin if other is not row] + [rest], 2)
            if covered([row], 2) <= others:
                del row[j]
            else:
                j += 1
        if len(row) < 2:
            row.clear()
    assert [[x for x in row if x >= 0] for row in freed.tolist()] == twin


def test_remnants_are_packed_together():
    rows = np.array([[0, 1, -1, -1], [2, 3, -1, -1], [4, 5, 6, 7], [-1, -1, -1, -1]], np.int32)
    packed = pack_rows(rows)
    assert sorted(map(sorted, packed.tolist())) == [[0, 1, 2, 3], [4, 5, 6, 7]]


@settings(max_examples=25, deadline=None)
@given(shapes)
def test_balancing_keeps_the_cover_and_narrows_the_spread(shape):
    m, k, r, seed = shape
    full = filled(without_spare_rows(rows_label_by_label(m, k, r, seed), m, r), m, seed)
    level = balanced(full, m, r, seed)
    assert covered(level, r) == everything(m, r)
    assert level.shape == full.shape
    assert all(len(set(row)) == k for row in level.tolist())
    counts = [np.bincount(rows.ravel(), minlength=m) for rows in (full, level)]
    assert (counts[1] ** 2).sum() <= (counts[0] ** 2).sum()


@pytest.mark.parametrize(("m", "k", "r", "size"), [(13, 4, 2, 14), (9, 5, 3, 14), (10, 5, 4, 60)])
def test_annealing_tells_truly_what_it_misses(m, k, r, size):
    rng = np.random.default_rng(1)
    start = rng.permuted(np.tile(np.arange(m, dtype=np.int32), (size, 1)), axis=1)[:, :k].copy()
    for steps in (0, 50, 20_000):
        rows, missed, spent = anneal_rows(
            start, times_covered(start, m, r), m, r, steps, 0.5, 0.1, 0.0, 7
        )
        assert missed == len(everything(m, r) - covered(rows, r))
        assert spent <= steps
        assert all(len(set(row)) == k for row in rows.tolist())


def test_annealing_repeats_itself():
    start = rows_label_by_label(12, 4, 2, 0)[:10]
    start = filled(start, 12)
    count = times_covered(start, 12, 2)
    first, second = (
        anneal_rows(start, count, 12, 2, 5_000, 0.5, 0.1, 0.02, 3)[0] for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_annealing_finds_a_projective_plane():
    rng = np.random.default_rng(0)
    rows = Annealer(13, 2, rng, 2_000_000).from_random(4, 13, 14, 2_000_000)
    assert rows is not None
    assert covered(rows, 2) == everything(13, 2)


def test_rows_are_dropped_while_the_rest_can_mend():
    rng = np.random.default_rng(0)
    rows = without_spare_rows(rows_label_by_label(20, 5, 2, 0), 20, 2)
    fewer = Annealer(20, 2, rng, 3_000_000).fewer_rows(rows, 21, 500_000)
    assert len(fewer) < len(rows)
    assert covered(fewer, 2) == everything(20, 2)


def test_levelling_keeps_the_cover():
    rng = np.random.default_rng(0)
    rows = filled(without_spare_rows(rows_label_by_label(15, 5, 2, 3), 15, 2), 15)
    level = Annealer(15, 2, rng, 500_000).levelled(rows)
    assert covered(level, 2) == everything(15, 2)
    assert np.ptp(np.bincount(level.ravel())) <= 1


def test_a_budget_is_never_exceeded():
    annealer = Annealer(30, 2, np.random.default_rng(0), 1_000)
    assert annealer.from_random(5, 20, 1_000, 700) is None
    assert annealer.left == 300
    annealer.fewer_rows(filled(rows_label_by_label(30, 5, 2, 0), 30), 20, 700)
    assert annealer.left == 0


@pytest.mark.parametrize("size", [5, 12, 30])
def test_a_cover_is_brought_to_the_size_asked_for(size):
    rng = np.random.default_rng(0)
    rows = filled(rows_label_by_label(10, 4, 2, 0), 10)
    sized = Annealer(10, 2, rng, 20_000).with_size(rows, size)
    assert sized.shape == (size, 4)
    if size == 30:
        assert covered(sized, 2) == everything(10, 2)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_each_free_place_gets_a_label_that_is_rarest_when_its_turn_comes(seed):
    rng = np.random.default_rng(seed)
    rows = rng.permuted(np.tile(np.arange(7, dtype=np.int32), (6, 1)), axis=1)[:, :4].copy()
    rows[rng.random(rows.shape) < 0.4] = -1
    full = fill_places(rows, 7, seed)
    counts = np.bincount(rows[rows >= 0], minlength=7)
    for before, after in zip(rows, full, strict=True):
        held = set(before[before >= 0].tolist())
        for old, new in zip(before.tolist(), after.tolist(), strict=True):
            if old >= 0:
                assert new == old
            else:
                assert counts[new] == min(counts[x] for x in range(7) if x not in held)
                counts[new] += 1
                held.add(new)
        assert len(held) == 4


def test_only_labels_that_cover_nothing_alone_are_exchanged():
    # Two labelsets hold labels 0 to 3; label 4 is rare, and needed where it is.
    rows = np.array([[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 4], [1, 2, 3, 4]], dtype=np.int32)
    found = exchange_spare(rows, times_covered(rows, 5, 2), 5, 2, 20, 0)
    assert covered(found, 2) == covered(rows, 2) == everything(5, 2)
    assert np.ptp(np.bincount(found.ravel())) < np.ptp(np.bincount(rows.ravel()))
    # In a plane every label is needed: nothing moves.
    plane = np.array([[1, 2, 4], [2, 3, 5], [3, 4, 6], [4, 5, 0], [5, 6, 1], [6, 0, 2], [0, 1, 3]])
    plane = plane.astype(np.int32)
    assert np.array_equal(exchange_spare(plane, times_covered(plane, 7, 2), 7, 2, 20, 0), plane)
