"""best_cover and build_cover: small, balanced, verified, repeatable."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labelcover.covers import best_cover, build_cover
from labelcover.covers._catalogue import catalogued_cover
from labelcover.covers.bounds import lower_bound, schonheim_bound, smallest_cover_size


def is_cover(cover, r):
    covered = {c for row in cover.labelsets.tolist() for c in combinations(row, r)}
    return covered == set(combinations(range(cover.n_labels), r))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 30), st.integers(1, 9), st.integers(1, 4))
@example(15, 8, 4)  # bundles of two labels, for whose cover there is no rule
def test_everything_is_covered_whatever_is_asked(m, k, r):
    if not r <= k <= m or (r == 4 and m > 16):
        return
    cover = best_cover(m, k, r, effort=2_000, random_state=0)
    assert is_cover(cover, r)
    assert cover.k == k
    assert cover.lower_bound <= len(cover)
    assert cover.method


@settings(max_examples=20, deadline=None)
@given(st.integers(4, 40), st.integers(3, 8))
def test_covers_are_built_without_the_catalogue(m, k):
    if k <= m:
        cover = build_cover(m, k, effort=50_000, random_state=1)
        assert is_cover(cover, 2)
        assert lower_bound(m, k) <= len(cover) <= max(1.4 * lower_bound(m, k), 12)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 16), st.integers(2, 7), st.integers(1, 4), st.integers(0, 5000))
@example(12, 5, 4, 0)  # two labelsets became one in balancing
@example(10, 5, 3, 0)
def test_no_labelset_occurs_twice(m, k, r, effort):
    if r <= k <= m:
        labelsets = best_cover(m, k, r, effort=effort, random_state=0).labelsets
        assert len(np.unique(labelsets, axis=0)) == len(labelsets)


def test_the_catalogue_is_used_and_does_not_depend_on_the_seed():
    cover = best_cover(45, 5, random_state=1)
    assert cover == best_cover(45, 5, random_state=2) == catalogued_cover(45, 5, 2)
    assert cover.gap == 0.0


def test_the_same_seed_gives_the_same_cover():
    first, second = (build_cover(33, 6, effort=300_000, random_state=5) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("m", "k", "size", "method"),
    [
        (101, 5, 505, "difference family over GF(101)"),
        (57, 8, 57, "projective geometry PG(2, 7)"),
        (120, 8, 255, "maximal arc of degree 8 in AG(2, 16)"),
        (128, 8, 304, "transversal design TD(8, 16), groups filled"),
        (99, 3, 1617, "Steiner triples"),
    ],
)
def test_algebra_reaches_the_lower_bound(m, k, size, method):
    cover = build_cover(m, k, effort="instant", random_state=0)
    assert (len(cover), cover.method, cover.gap) == (size, method, 0.0)
    assert cover.imbalance <= 1
    assert is_cover(cover, 2)


def test_a_size_is_kept():
    most = best_cover(14, 4, size=40)
    assert len(most) == 40
    assert is_cover(most, 2)
    assert most.imbalance <= 1
    assert len(set(map(tuple, most.labelsets.tolist()))) == 40
    fewer = best_cover(14, 4, size=15, effort=50_000, random_state=0)
    assert len(fewer) == 15
    assert fewer.coverage(2) > 0.9


def test_all_labelsets_are_different_whatever_the_size():
    for m, k, r in [(4, 3, 2), (5, 2, 1), (5, 4, 2), (6, 3, 2), (6, 4, 3), (7, 4, 2)]:
        for size in [None, *range(1, comb(m, k) + 1)]:
            cover = best_cover(m, k, r, size=size, effort=1_000, random_state=0)
            assert len(set(map(tuple, cover.labelsets.tolist()))) == len(cover)
            if size is not None:
                assert len(cover) == size


def test_more_effort_never_makes_it_larger():
    quick = build_cover(29, 5, effort="instant", random_state=0)
    slow = build_cover(29, 5, effort=2_000_000, random_state=0)
    assert len(slow) <= len(quick)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": 0, "k": 3}, "n_labels must be"),
        ({"n_labels": 5, "k": 6}, "k must be an integer between 1 and 5, got 6"),
        ({"n_labels": 5, "k": 3, "r": 4}, "r must be an integer between 1 and 3, got 4"),
        ({"n_labels": 5, "k": 3, "effort": "hours"}, "effort must be one of 'instant'"),
        ({"n_labels": 5, "k": 3, "effort": -1}, "effort must be an integer of at least 0"),
        ({"n_labels": 5, "k": 3, "size": 0}, "size must be an integer between 1 and 10, got 0"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        best_cover(**arguments)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 3))
def test_bounds_only_grow(m, k, r):
    if r <= k <= m:
        assert lower_bound(m, k, r) >= schonheim_bound(m, k, r)
        assert lower_bound(m + 1, k, r) >= lower_bound(m, k, r) - 1


@pytest.mark.parametrize(
    ("m", "k", "r", "bound"),
    [
        (9, 4, 2, 8),  # Mills
        (19, 4, 2, 31),  # Mills
        (10, 4, 2, 9),  # few labelsets
        (13, 5, 2, 10),  # Hanani: 13·12 ≡ 1 (mod 5), Schönheim gives 8
        (28, 8, 2, 16),  # Fisher
        (13, 4, 2, 13),  # a plane: met
        (43, 7, 2, 44),  # there is no projective plane of order 6,
        (36, 6, 2, 43),  # nor an affine one,
        (42, 7, 2, 43),  # nor a semiplane on 42 points,
        (20, 5, 2, 21),  # nor on 20
        (111, 11, 2, 112),  # nor a plane of order 10;
        (91, 10, 2, 91),  # there are planes of order 9
        (22, 6, 3, 77),  # Witt's design: met
        (7, 3, 2, 7),
    ],
)
def test_known_lower_bounds(m, k, r, bound):
    assert lower_bound(m, k, r) == bound


def test_no_lower_bound_exceeds_the_smallest_cover():
    # Exact sizes, by exhaustive search in the literature (Gordon, Kuperberg & Patashnik 1995).
    exact = {
        (5, 3, 2): 4, (6, 3, 2): 6, (7, 3, 2): 7, (8, 3, 2): 11, (7, 4, 2): 5, (8, 4, 2): 6,
        (9, 4, 2): 8, (10, 4, 2): 9, (11, 4, 2): 11, (12, 4, 2): 12, (9, 5, 2): 5,
        (10, 5, 2): 6, (11, 5, 2): 7, (12, 5, 2): 9, (13, 5, 2): 10, (6, 4, 3): 6,
        (7, 4, 3): 12, (8, 4, 3): 14, (9, 4, 3): 25, (10, 4, 3): 30, (7, 5, 3): 5,
        (8, 5, 3): 8, (9, 5, 3): 12, (10, 5, 3): 17,
    }  # fmt: skip
    for (m, k, r), size in exact.items():
        assert lower_bound(m, k, r) <= size
        found = best_cover(m, k, r, random_state=0)
        assert len(found) == size
        assert np.ptp(found.label_counts) == found.imbalance


# Every class modulo 12 from the catalogue, and two or three of each from scratch.
FOUR_LABELS = [*range(4, 71), 75, 79, 82, 87, 90, 91, 92, 94, 95, 103, 106, 115, 129, 132, 150, 178]


def smallest_with_four_labels(m):
    cover = best_cover(m, 4, effort="instant", random_state=0)
    assert cover.coverage(2) == 1.0
    return len(cover)


@pytest.mark.parametrize("m", FOUR_LABELS)
def test_covers_with_four_labels_are_as_small_as_mills_says(m):
    assert smallest_with_four_labels(m) == smallest_cover_size(m, 4)


@pytest.mark.slow
@pytest.mark.parametrize("m", range(4, 301))
def test_all_covers_with_four_labels_are_as_small_as_mills_says(m):
    assert smallest_with_four_labels(m) == smallest_cover_size(m, 4)
