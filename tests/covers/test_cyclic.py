"""Covers with a cyclic symmetry, checked with plain sets."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers import build_cover
from labelcover.covers._designs.cyclic import (
    MOST_TUPLES,
    Shape,
    _orbits,
    _positions,
    _shifts,
    annealed_shape,
    cyclic_cover,
    developed_blocks,
    shapes,
)
from labelcover.covers._designs.cyclic_kernels import anneal_orbits
from labelcover.covers.bounds import lower_bound


def missing(rows, n_labels, r=2):
    held = {c for row in rows.tolist() for c in combinations(sorted(x for x in row if x >= 0), r)}
    return set(combinations(range(n_labels), r)) - held


def moved(label, n, n_labels, fixed):
    """The permutation itself, in plain words."""
    if label < 0 or label >= n_labels - fixed:
        return label
    return label + 1 if label % n < n - 1 else label - n + 1


def test_translates_of_a_difference_cover_hold_every_pair():
    block = [2, 4, 9, 12, 21, 22, 37]
    assert {(a - b) % 39 for a in block for b in block} == set(range(39))
    shifts = (np.arange(39) + np.arange(39)[:, None]) % 39
    rows = developed_blocks(np.array([block]), np.array([1]), shifts)
    assert rows.shape == (39, 7)
    assert not missing(rows, 39)
    assert (np.bincount(rows.ravel()) == 7).all()


# The longest cycles of which one base block has all differences.
@pytest.mark.parametrize(("k", "n"), [(3, 7), (4, 13), (5, 21), (6, 31), (7, 39)])
def test_one_base_block_is_found_where_it_exists(k, n):
    rows, uncovered, spent = annealed_shape(Shape(n, 0, ((1, 0),)), n, k, 2, 3_000_000, 0)
    assert uncovered == 0
    assert len(rows) == n
    assert spent < 3_000_000
    assert not missing(rows, n)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_keep_their_shape_and_what_they_miss_is_counted(data):
    r = data.draw(st.integers(2, 3))
    n_labels = data.draw(st.integers(r + 2, 24 if r == 2 else 14))
    k = data.draw(st.integers(r + 1, min(7, n_labels - 1)))
    least = lower_bound(n_labels, k, r)
    possible = shapes(n_labels, k, least, 2 * least)
    if not possible:
        return
    shape = data.draw(st.sampled_from(possible))
    steps, seed = data.draw(st.sampled_from([0, 50, 3_000])), data.draw(st.integers(0, 9))
    rows, uncovered, spent = annealed_shape(shape, n_labels, k, r, steps, seed)
    assert spent <= steps
    assert least <= len(rows) == shape.size <= 2 * least
    for row in rows.tolist():
        labels = [x for x in row if x >= 0]
        assert 2 <= len(labels) == len(set(labels)) <= k
        assert max(labels) < n_labels
    assert len(missing(rows, n_labels, r)) == uncovered
    # The permutation maps rows to rows.
    before = {frozenset(row) for row in rows.tolist()}
    n, fixed = shape.order, shape.fixed
    after = {frozenset(moved(x, n, n_labels, fixed) for x in row) for row in rows.tolist()}
    assert before == after


def test_tuples_are_in_one_orbit_if_and_only_if_a_shift_joins_them():
    n, fixed, m = 3, 1, 7
    labels = np.arange(m)
    shifts = np.array([labels, *[labels] * (n - 1)])
    for j in range(1, n):
        shifts[j] = [moved(x, n, m, fixed) for x in shifts[j - 1]]
    orbits, sizes = _orbits(m, n, fixed, 2)
    orbits = orbits.reshape(m, m)
    assert sizes.sum() == comb(m, 2)
    for a, b in combinations(range(m), 2):
        assert orbits[a, b] == orbits[b, a]
        for c, d in combinations(range(m), 2):
            joined = any({s[a], s[b]} == {c, d} for s in shifts.tolist())
            assert (orbits[a, b] == orbits[c, d]) == joined


@pytest.mark.parametrize("steps", [0, 1, 300, 5_000])
def test_the_annealing_of_base_blocks_tells_truly_what_they_miss(steps):
    n, fixed, m, k, r = 6, 1, 13, 4, 2
    shifts = _shifts(m, n, fixed)
    orbit, weight = _orbits(m, n, fixed, r)
    # The second block is one that the shift by 3 maps to itself.
    blocks = np.array([[0, 1, 7, 12], [2, 5, 6, 9], [3, 4, 8, 10]], dtype=np.int32)
    stabilisers = np.array([1, 2, 1])
    found, uncovered, spent = anneal_orbits(
        blocks, stabilisers, shifts, orbit, weight, *_positions(k, r), steps, 3.0, 0.7, 5
    )
    rows = developed_blocks(found, stabilisers, shifts)
    assert uncovered == len(missing(rows, m))
    assert spent <= steps
    assert all(len(set(block)) == k for block in found.tolist())
    assert {int(shifts[3, x]) for x in found[1]} == set(found[1].tolist())
    assert steps > 0 or np.array_equal(found, blocks)


@pytest.mark.parametrize(
    ("m", "k", "r", "most", "size"),
    [(39, 7, 2, 42, 39), (40, 7, 2, 44, 40), (34, 6, 2, 43, 40), (38, 5, 2, 78, 76)],
)
def test_the_race_finds_covers_at_the_lower_bound(m, k, r, most, size):
    rows, title = cyclic_cover(m, k, r, lower_bound(m, k, r), most, 20_000_000)
    assert len(rows) == size == lower_bound(m, k, r)
    assert title.startswith("base blocks under a cyclic group of order")
    assert not missing(rows, m, r)


@settings(max_examples=30, deadline=None)
@given(st.integers(4, 30), st.integers(3, 7), st.integers(2, 3))
def test_what_is_found_covers_all_and_is_smaller_than_asked(m, k, r):
    if not r < k < m or (r == 3 and m > 16):
        return
    least = lower_bound(m, k, r)
    most = least + 1 + least // 4
    found = cyclic_cover(m, k, r, least, most, 200_000, seed=3)
    if found is not None:
        assert least <= len(found[0]) < most
        assert not missing(found[0], m, r)
        again = cyclic_cover(m, k, r, least, most, 200_000, seed=3)
        assert np.array_equal(found[0], again[0])


def test_nothing_is_tried_where_there_are_too_many_tuples_or_no_sizes():
    m = int(MOST_TUPLES**0.5) + 1
    assert cyclic_cover(m, 5, 2, 1, 2**31, 10**9) is None
    assert cyclic_cover(39, 7, 2, 39, 39, 10**9) is None
    assert cyclic_cover(39, 7, 2, 39, 42, 0) is None


@pytest.mark.slow
def test_symmetry_serves_beside_the_projective_plane_that_does_not_exist():
    cover = build_cover(40, 7, effort=2_000_000, random_state=0)
    assert (len(cover), cover.imbalance, cover.gap) == (40, 0, 0.0)
    assert not missing(cover.labelsets, 40)
    cover = build_cover(41, 7, effort=2_000_000, random_state=0)
    assert len(cover) <= 47
    assert not missing(cover.labelsets, 41)
