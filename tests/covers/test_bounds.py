from math import comb

import numpy as np
import pytest

from labelcover.covers import exact_cover
from labelcover.covers.bounds import (
    cover_size_bounds,
    lower_bound,
    missing_label_probability,
    pair_coverage_probability,
    schonheim_bound,
    smallest_cover_size,
)

# Settings where the probabilities are neither 0 nor 1.
SETTINGS = [
    (4, 2, 10), (5, 2, 20), (5, 3, 8), (6, 2, 40), (6, 3, 15), (6, 3, 25), (6, 4, 6), (8, 3, 30),
    (8, 4, 14), (10, 3, 60), (10, 5, 14), (12, 4, 40),
]  # fmt: skip
LABEL_SETTINGS = [
    (4, 2, 3), (5, 2, 5), (6, 2, 6), (6, 3, 4), (8, 3, 6), (10, 3, 10), (12, 4, 8), (20, 3, 20),
    (20, 5, 12), (30, 3, 40), (50, 5, 40), (100, 3, 100),
]  # fmt: skip


def draws(m, k, size, trials, rng):
    """Random covers with replacement, ``(trials, size, m)``."""
    ranks = np.argsort(rng.random_sample((trials, size, m)), axis=2)
    return ranks < k


@pytest.mark.parametrize(("m", "k", "size"), SETTINGS)
def test_lemma_1_bounds_what_simulation_with_replacement_finds(m, k, size):
    member = draws(m, k, size, 4000, np.random.RandomState(0)).astype(np.float32)
    together = np.einsum("tsa,tsb->tab", member, member, optimize=True) > 0
    share = together.all(axis=(1, 2)).mean()
    bound = pair_coverage_probability(m, k, size)
    error = 3 * np.sqrt(max(share * (1 - share), 1e-4) / 4000)
    assert share <= bound + error


@pytest.mark.parametrize(("m", "k", "size"), LABEL_SETTINGS)
def test_the_balco_bound_holds_against_simulation(m, k, size):
    member = draws(m, k, size, 1500, np.random.RandomState(1))
    share = (~member.any(axis=1)).any(axis=1).mean()
    error = 3 * np.sqrt(max(share * (1 - share), 1e-4) / 1500)
    bound = missing_label_probability(m, k, size)
    assert share >= bound - error
    assert share - bound < 0.2  # and is not far away


def test_the_figures_of_the_paper():
    assert missing_label_probability(100, 3, 100) == pytest.approx(0.8618, abs=5e-5)


def test_lemma_1_does_not_hold_for_distinct_labelsets():
    """15 of the 20 labelsets of m=6, k=3: only covers that miss a pair's four labelsets fail."""
    pairs = comb(6, 2)
    # A pair is missed if its 4 labelsets are among the 5 left out; two pairs at once cannot be.
    missed = pairs * comb(16, 1) / comb(20, 5)
    assert 1 - missed == pytest.approx(0.984, abs=1e-3)
    assert pair_coverage_probability(6, 3, 15) == pytest.approx(0.587, abs=1e-3)


def test_sizes_may_be_an_array():
    sizes = np.array([[0, 1, 10], [100, 1000, 10**6]])
    for function in (pair_coverage_probability, missing_label_probability):
        found = function(30, 3, sizes)
        assert found.shape == sizes.shape
        assert found[1, 0] == function(30, 3, 100)
        assert np.isscalar(function(30, 3, 100)) or function(30, 3, 100).shape == ()


@pytest.mark.parametrize(
    ("m", "k"), [(2, 1), (2, 2), (3, 2), (10**4, 3), (10**4, 9999), (10**4, 1)]
)
def test_extreme_sizes_neither_overflow_nor_underflow(m, k):
    sizes = np.array([0, 1, 2, 10, 10**3, 10**6])
    with np.errstate(all="raise", under="ignore"):
        covered = pair_coverage_probability(m, k, sizes)
        missing = missing_label_probability(m, k, sizes)
    for values in (covered, missing):
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(covered) >= -1e-12).all()
    assert (np.diff(missing) <= 1e-12).all()


def test_with_all_labels_in_each_labelset_nothing_is_missed():
    assert pair_coverage_probability(5, 5, 1) == 1
    assert missing_label_probability(5, 5, 1) == 0
    assert missing_label_probability(5, 2, 0) == pytest.approx(1)


@pytest.mark.parametrize("m", range(1, 8))
def test_both_sides_of_lemma_2_and_schonheim_hold_for_the_smallest_covers(m):
    for k in range(1, m + 1):
        for r in range(1, k + 1):
            lower, upper = cover_size_bounds(m, k, r)
            least = len(exact_cover(m, k, r, node_limit=500))
            assert lower <= schonheim_bound(m, k, r) <= least <= upper


@pytest.mark.parametrize(
    ("problem", "bound"),
    [((6, 3, 2), 6), ((14, 3, 2), 33), ((22, 6, 3), 77), ((101, 5, 2), 505), ((983, 6, 2), 32276)],
)
def test_schonheim_at_known_values(problem, bound):
    assert schonheim_bound(*problem) == bound


@pytest.mark.parametrize("size", [-1, 1.5, [1, -1]])
def test_sizes_that_are_none_are_refused(size):
    with pytest.raises(ValueError, match="size must hold integers of at least 0"):
        pair_coverage_probability(5, 2, size)


def test_impossible_problems_are_refused():
    with pytest.raises(ValueError, match="k must be an integer between 1 and 4, got 5"):
        schonheim_bound(4, 5)
    with pytest.raises(ValueError, match="r must be an integer between 1 and 3, got 4"):
        cover_size_bounds(4, 3, 4)


def test_lower_bounds_are_met_where_a_theorem_gives_the_smallest_size():
    for m in range(4, 301):
        for k, r in [(2, 2), (3, 2), (4, 2), (4, 1)]:
            assert lower_bound(m, k, r) == smallest_cover_size(m, k, r)
    assert smallest_cover_size(20, 5) is smallest_cover_size(20, 4, 3) is None


@pytest.mark.parametrize("m", range(4, 10))
def test_the_smallest_sizes_with_four_labels_are_those_of_exhaustive_search(m):
    assert smallest_cover_size(m, 4) == len(exact_cover(m, 4, 2))
