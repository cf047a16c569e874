from itertools import combinations

import pytest

from labelcover.covers import exact_cover, randomized_greedy_cover, rounded_cover
from labelcover.covers.bounds import schonheim_bound


def covers_everything(cover, r):
    rows = [set(row) for row in cover.labelsets.tolist()]
    return all(
        any(row.issuperset(s) for row in rows) for s in combinations(range(cover.n_labels), r)
    )


@pytest.mark.parametrize(
    ("problem", "size"), [((10, 3, 2), 17), ((14, 3, 2), 33), ((6, 4, 2), 3), ((8, 4, 3), 14)]
)
def test_the_smallest_covers_are_found_and_proven(problem, size):
    cover = exact_cover(*problem)
    assert len(cover) == cover.lower_bound == size
    assert cover.gap == 0
    assert covers_everything(cover, problem[2])


@pytest.mark.parametrize("function", [exact_cover, rounded_cover, randomized_greedy_cover])
@pytest.mark.parametrize("m", [1, 2, 5, 6])
def test_every_small_problem_is_covered(function, m):
    for k in range(1, m + 1):
        for r in range(1, k + 1):
            cover = function(m, k, r, random_state=0)
            assert covers_everything(cover, r)
            assert len(cover) >= schonheim_bound(m, k, r)


def test_an_early_stop_keeps_an_honest_bound():
    cover = exact_cover(12, 4, gap=0.5)
    assert covers_everything(cover, 2)
    assert schonheim_bound(12, 4) <= cover.lower_bound <= len(cover)
    assert cover.gap <= 0.5


def test_a_size_below_the_least_covers_as_much_as_possible():
    best = max(
        len({p for s in rows for p in combinations(s, 2)})
        for rows in combinations(combinations(range(6), 3), 3)
    )
    cover = exact_cover(6, 3, size=3)
    assert len(cover) == 3
    assert cover.coverage(2) * 15 == pytest.approx(best)


def test_renaming_keeps_the_size():
    cover = exact_cover(7, 3, random_state=1)
    assert len(cover) == 7
    assert cover == exact_cover(7, 3, random_state=1)
    assert cover != exact_cover(7, 3)


@pytest.mark.parametrize("function", [rounded_cover, randomized_greedy_cover])
@pytest.mark.parametrize("size", [1, 5, 25])
def test_rounding_gives_the_size_that_is_asked_for(function, size):
    cover = function(8, 3, size=size, random_state=0)
    assert len(cover) == len(set(map(tuple, cover.labelsets.tolist()))) == size
    assert cover.coverage(2) == 1 or size < 25


def test_the_same_seed_gives_the_same_cover():
    for function in (rounded_cover, randomized_greedy_cover):
        assert function(9, 3, random_state=5) == function(9, 3, random_state=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_cover(60, 8), "the zero-one program takes at most 1000000"),
        (
            lambda: exact_cover(6, 3, gap=1.0),
            "gap must be a number at least 0 and below 1",
        ),
        (lambda: exact_cover(6, 3, node_limit=-1), "node_limit must be an integer of at least 0"),
        (lambda: rounded_cover(6, 3, scale=1.0), "scale must be a number above 1, got 1.0"),
        (lambda: rounded_cover(6, 3, trials=0), "trials must be an integer of at least 1, got 0"),
        (lambda: rounded_cover(3, 4), "k must be an integer between 1 and 3, got 4"),
        (lambda: exact_cover(4, 3, size=9), "size must be an integer between 1 and 4, got 9"),
    ],
)
def test_impossible_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
