import csv
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers import balancor_cover, balco_cover, inlac_cover, random_cover

STRATEGIES = [random_cover, inlac_cover, balco_cover, balancor_cover]
LABELS = {
    "Emotions": 6, "Scene": 6, "Yeast": 14, "Slashdot": 22, "Ohsumed": 23, "Genbase": 27,
    "Medical": 45, "Enron": 53,
}  # fmt: skip


def covers_everything(cover, r):
    rows = [set(row) for row in cover.labelsets.tolist()]
    return all(
        any(row.issuperset(s) for row in rows) for s in combinations(range(cover.n_labels), r)
    )


def distinct(cover):
    return len({tuple(row) for row in cover.labelsets.tolist()}) == len(cover)


@st.composite
def problems(draw, largest=12):
    m = draw(st.integers(1, largest))
    k = draw(st.integers(1, m))
    return m, k, draw(st.integers(1, k))


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(problem=problems(9), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_without_a_size_every_labelset_of_order_r_is_covered(strategy, problem, seed):
    cover = strategy(*problem, random_state=seed)
    assert covers_everything(cover, problem[2])
    assert distinct(cover)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("m", [10, 11, pytest.param(12, marks=pytest.mark.slow)])
def test_every_problem_up_to_twelve_labels_ends(strategy, m):
    for k in range(1, m + 1):
        for r in range(1, k + 1):
            assert strategy(m, k, r, random_state=0).coverage(r) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(problem=problems(9), data=st.data())
@settings(max_examples=30)
def test_a_size_gives_that_many_distinct_labelsets(strategy, problem, data):
    m, k, r = problem
    size = data.draw(st.integers(1, min(comb(m, k), 40)))
    cover = strategy(m, k, r, size=size, random_state=0)
    assert len(cover) == size
    assert distinct(cover)


@pytest.mark.parametrize("strategy", [inlac_cover, balco_cover, balancor_cover])
@given(problem=problems(9), seed=st.integers(0, 100))
@settings(max_examples=20)
def test_ties_at_random_still_cover(strategy, problem, seed):
    cover = strategy(*problem, ties="random", random_state=seed)
    assert covers_everything(cover, problem[2])
    assert cover == strategy(*problem, ties="random", random_state=seed)


def test_ties_at_random_differ_between_seeds():
    assert len({inlac_cover(9, 3, ties="random", random_state=s) for s in range(5)}) > 1


def test_inlac_gives_table_4():
    expected = [[1, 1, 1, 0], [1, 1, 0, 1], [1, 0, 1, 1]]
    assert inlac_cover(4, 3, 2).matrix().astype(int).tolist() == expected


def test_inlac_has_the_sizes_of_the_paper(paper_tables):
    with open(paper_tables / "table7_SMO.csv", newline="") as file:
        sizes = {
            (LABELS[row["dataset"]], int(row["k"])): int(row["sigma"])
            for row in csv.DictReader(file)
            if row["dataset"] in LABELS
        }
    found = {problem: len(inlac_cover(*problem)) for problem in sizes}
    differ = {problem: found[problem] for problem in sizes if found[problem] != sizes[problem]}
    assert len(sizes) == 28
    assert differ == {(53, 5): 168}


def test_inlac_takes_every_labelset_when_asked_for_all():
    cover = inlac_cover(6, 3, size=comb(6, 3))
    assert {tuple(row) for row in cover.labelsets.tolist()} == set(combinations(range(6), 3))
    assert cover.labelsets[:7].tolist() == inlac_cover(6, 3).labelsets.tolist()


def test_random_labelsets_are_uniform():
    rng = np.random.RandomState(0)
    counts = {}
    for _ in range(3000):
        for row in random_cover(5, 2, size=3, random_state=rng).labelsets.tolist():
            counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    expected = 3000 * 3 / 10
    chi2 = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(counts) == 10
    assert chi2 < 27.9  # the 0.999 quantile for nine degrees of freedom


def test_random_labelsets_of_very_many_are_distinct():
    assert distinct(random_cover(200, 4, size=500, random_state=0))


@pytest.mark.parametrize("m", range(1, 11))
def test_balco_is_balanced_for_every_size(m):
    for k in range(1, m + 1):
        sizes = range(1, comb(m, k) + 1)
        for size in (
            sizes if len(sizes) <= 40 else np.unique(np.geomspace(1, len(sizes), 16, dtype=int))
        ):
            cover = balco_cover(m, k, size=int(size))
            assert cover.imbalance <= 1
            assert cover.imbalance == 0 or (size * k) % m
            assert distinct(cover)


@pytest.mark.slow
@pytest.mark.parametrize("m", range(8, 13))
def test_balco_is_balanced_for_really_every_size(m):
    for k in range(1, m + 1):
        for size in range(1, comb(m, k) + 1):
            cover = balco_cover(m, k, size=size)
            assert cover.imbalance <= 1
            assert cover.imbalance == 0 or (size * k) % m
            assert distinct(cover)


@pytest.mark.parametrize(
    ("m", "k", "size"),
    [(45, 3, 30), (45, 3, 372), (53, 5, 53), (53, 5, 213), (101, 5, 101), (101, 5, 1187)],
)
def test_balco_is_balanced_at_the_sizes_of_the_paper(m, k, size):
    cover = balco_cover(m, k, size=size)
    assert cover.imbalance == (0 if size * k % m == 0 else 1)
    assert distinct(cover)


def test_balco_repeats_none_of_more_labelsets_than_integers_count():
    cover = balco_cover(70, 40, size=100)
    assert distinct(cover)
    assert cover.imbalance == 1


@pytest.mark.parametrize(("m", "k"), [(9, 3), (6, 2)])
def test_the_literal_balco_loses_its_balance_at_row_six(m, k):
    imbalances = [balco_cover(m, k, size=s, balanced=False).imbalance for s in range(1, 7)]
    assert max(imbalances[:5]) == 1
    assert imbalances[5] == 2


def test_the_literal_balco_is_the_greedy_by_exhaustion():
    """Algorithm 5, written down again."""
    for m, k in [(5, 2), (6, 3), (7, 3)]:
        left, counts, chosen = list(combinations(range(m), k)), np.zeros(m, int), []
        for _ in range(12 if comb(m, k) >= 12 else comb(m, k)):
            after = [np.ptp(counts + np.isin(np.arange(m), s)) for s in left]
            best = left.pop(int(np.argmin(after)))
            counts[list(best)] += 1
            chosen.append(list(best))
        cover = balco_cover(m, k, size=len(chosen), balanced=False)
        assert cover.labelsets.tolist() == chosen


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": 4, "k": 5}, "k must be an integer between 1 and 4, got 5"),
        ({"n_labels": 4, "k": 3, "r": 4}, "r must be an integer between 1 and 3, got 4"),
        ({"n_labels": 4, "k": 3, "r": 0}, "r must be an integer between 1 and 3, got 0"),
        ({"n_labels": 4, "k": 3, "size": 5}, "size must be an integer between 1 and 4, got 5"),
        ({"n_labels": 4, "k": 3, "size": -1}, "size must be an integer between 1 and 4, got -1"),
        ({"n_labels": 4, "k": 3, "size": 2.0}, "size must be an integer between 1 and 4, got 2.0"),
        ({"n_labels": -4, "k": 3}, "n_labels must be an integer of at least 1, got -4"),
        ({"n_labels": "4", "k": 3}, "n_labels must be an integer of at least 1, got '4'"),
        ({"n_labels": 4, "k": 3, "random_state": "x"}, "random_state must be an integer"),
        ({"n_labels": 10**5, "k": 3, "r": 2}, "at most 268435456 are accepted"),
    ],
)
def test_impossible_arguments_are_refused(strategy, arguments, message):
    with pytest.raises(ValueError, match=message):
        strategy(**arguments)


def test_an_unknown_way_with_ties_is_refused():
    with pytest.raises(ValueError, match="ties must be one of 'first', 'random', got 'last'"):
        inlac_cover(4, 3, ties="last")
