"""Own universes, candidates and weights: Section 3 with a general Σ, against plain enumeration."""

from itertools import combinations

import numpy as np
import pytest

from labelcover.covers import exact_cover, greedy_cover, rounded_cover


def instance(seed, *, n_candidates=9, one_order=False):
    """A weighted set cover problem of labelsets of different sizes that can be covered."""
    random = np.random.default_rng(seed)
    m = int(random.integers(4, 8))

    def labelset(largest):
        size = 2 if one_order and largest < m else random.integers(1, largest + 1)
        return tuple(sorted(random.choice(m, size, replace=False).tolist()))

    candidates = list(dict.fromkeys(labelset(m) for _ in range(n_candidates)))
    universe = list(dict.fromkeys(labelset(3) for _ in range(8)))
    universe = [u for u in universe if any(set(u) <= set(c) for c in candidates)]
    weights = random.integers(1, 6, len(candidates)) / 2
    return m, universe or [candidates[0][:1]], candidates, weights


def held(candidate, universe):
    return {u for u in universe if set(u) <= set(candidate)}


def plain_algorithm_3(universe, candidates, weights):
    """Algorithm 3 as it is printed; ties to the first."""
    subsets, cover = [held(c, universe) for c in candidates], []
    while set().union(*(held(candidates[i], universe) for i in cover)) != set(universe):
        costs = [w / len(s) if s else np.inf for w, s in zip(weights, subsets, strict=True)]
        q = int(np.argmin(costs))
        cover.append(q)
        taken = subsets[q]
        subsets = [s - taken for s in subsets]
    return [list(candidates[q]) for q in cover]


def labelsets(cover):
    return [labels.tolist() for labels in cover]


def covers(cover, universe):
    return set().union(*(held(row, universe) for row in labelsets(cover))) == set(universe)


@pytest.mark.parametrize("seed", range(60))
def test_algorithm_3_with_rows_of_unequal_size_equals_a_plain_one(seed):
    m, universe, candidates, weights = instance(seed)
    cover = greedy_cover(m, universe=universe, candidates=candidates, weights=weights)
    assert labelsets(cover) == plain_algorithm_3(universe, candidates, weights)
    unweighted = greedy_cover(m, universe=universe, candidates=candidates)
    equal = np.ones(len(candidates))
    assert labelsets(unweighted) == plain_algorithm_3(universe, candidates, equal)


@pytest.mark.parametrize("seed", range(12))
def test_without_candidates_any_universe_is_covered_by_the_best_of_all_labelsets(seed):
    m, universe, _, _ = instance(seed, n_candidates=12)
    everything = list(combinations(range(m), 3))
    cover = greedy_cover(m, 3, universe=universe)
    assert labelsets(cover) == plain_algorithm_3(universe, everything, np.ones(len(everything)))
    assert exact_cover(m, 3, universe=universe).gap == 0
    assert covers(rounded_cover(m, 3, universe=universe, random_state=seed), universe)


@pytest.mark.parametrize("seed", range(30))
def test_the_exact_cover_is_the_cheapest_of_all_subsets(seed):
    m, universe, candidates, weights = instance(seed)
    subsets = [held(c, universe) for c in candidates]
    complete = [
        chosen
        for n in range(1, len(candidates) + 1)
        for chosen in combinations(range(len(candidates)), n)
        if set().union(*(subsets[i] for i in chosen)) == set(universe)
    ]
    problem = {"universe": universe, "candidates": candidates}
    cheapest = exact_cover(m, **problem, weights=weights)
    price = {tuple(c): w for c, w in zip(candidates, weights, strict=True)}
    total = sum(price[tuple(row)] for row in labelsets(cheapest))
    assert covers(cheapest, universe)
    assert total == pytest.approx(min(sum(weights[i] for i in chosen) for chosen in complete))
    assert cheapest.method == f"exact, weight {total:g}, at least {total:g}"
    assert cheapest.lower_bound is None
    fewest = exact_cover(m, **problem)
    assert covers(fewest, universe)
    assert len(fewest) == fewest.lower_bound == min(map(len, complete))


@pytest.mark.parametrize("seed", range(10))
def test_a_size_covers_as_much_as_possible(seed):
    m, universe, candidates, _ = instance(seed)
    best = max(len(held(a, universe) | held(b, universe)) for a, b in combinations(candidates, 2))
    cover = exact_cover(m, universe=universe, candidates=candidates, size=2)
    a, b = labelsets(cover)
    assert len(held(a, universe) | held(b, universe)) == best


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
def test_rounded_covers_cover_with_what_they_need_only(seed, weighted):
    m, universe, candidates, weights = instance(seed)
    problem = {"universe": universe, "candidates": candidates}
    if weighted:
        problem["weights"] = weights
    cover = rounded_cover(m, **problem, random_state=seed)
    rows = labelsets(cover)
    assert covers(cover, universe)
    assert set(map(tuple, rows)) <= set(candidates)
    for i in range(len(rows)):
        others = [held(row, universe) for row in rows[:i] + rows[i + 1 :]]
        assert set().union(*others) != set(universe)
    price = {c: w if weighted else 1 for c, w in zip(candidates, weights, strict=True)}
    least = exact_cover(m, **problem)
    assert (
        sum(price[tuple(row)] for row in rows)
        >= sum(price[tuple(row)] for row in labelsets(least)) - 1e-9
    )
    assert cover == rounded_cover(m, **problem, random_state=seed)


@pytest.mark.parametrize("size", [1, 3, 9])
def test_rounding_gives_the_size_that_is_asked_for_from_own_candidates(size):
    m, universe, candidates, _ = instance(3, n_candidates=14)
    assert len(candidates) >= 9
    cover = rounded_cover(m, universe=universe, candidates=candidates, size=size, random_state=0)
    rows = labelsets(cover)
    assert len(set(map(tuple, rows))) == len(rows) == size
    assert set(map(tuple, rows)) <= set(candidates)


def test_a_candidate_given_twice_counts_once_at_its_lower_weight():
    rows, weights = [[0, 1], [0, 1], [1, 2], [0, 1, 2]], [9.0, 1.0, 1.0, 3.0]
    for function in (greedy_cover, exact_cover, rounded_cover):
        cover = function(3, universe=[[0], [2]], candidates=rows, weights=weights, random_state=0)
        assert sorted(labelsets(cover)) == [[0, 1], [1, 2]]
    with pytest.raises(ValueError, match="size must be an integer between 1 and 3, got 4"):
        exact_cover(3, 3, 1, candidates=rows, size=4)


def test_balance_counts_the_labels_that_are_there():
    rows = [[0, 1, 2, 3], [4], [3, 4], [0, 1, 2]]
    cover = greedy_cover(5, r=1, candidates=rows, cost="balance", size=3)
    assert labelsets(cover) == [[0, 1, 2, 3], [4], [3, 4]]


def test_constraints_hold_for_candidates_of_different_sizes():
    rows = [[0, 1, 2], [0, 3], [1, 2, 3], [3], [0, 1, 2, 3]]
    cover = greedy_cover(4, r=1, candidates=rows, apart=[(0, 3)], together=[(1, 2)])
    assert labelsets(cover) == [[0, 1, 2], [1, 2, 3]]


def test_a_cost_function_sees_places_without_a_label_as_minus_one():
    blocks = []

    def fewest_labels(rows, new, counts):
        blocks.append(rows.copy())
        return np.where(new > 0, (rows >= 0).sum(axis=1), np.inf)

    cover = greedy_cover(3, r=1, candidates=[[0, 1, 2], [0, 1], [2]], cost=fewest_labels)
    assert labelsets(cover) == [[2], [0, 1]]
    assert blocks[0].tolist() == [[0, 1, 2], [0, 1, -1], [2, -1, -1]]


@pytest.mark.parametrize("function", [greedy_cover, exact_cover, rounded_cover])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "k must be an integer unless candidates are given, got None"),
        ({"k": 2, "weights": [1.0]}, "weights needs candidates"),
        ({"candidates": [[0, 1], [2]], "weights": [1.0]}, "one positive number for each"),
        ({"candidates": [[0, 1], [2]], "weights": [1.0, -1.0]}, "one positive number for each"),
        ({"candidates": [[0, 1], [2]], "weights": [1.0, np.nan]}, "one positive number for each"),
        ({"candidates": [[0, 1, 2]], "k": 2}, "at most k=2 labels in a row, got 3"),
        ({"candidates": [[0, 5]]}, "between 0 and 3, got 5"),
        ({"candidates": [[0, 1], []]}, "at least one label in every row"),
        ({"candidates": [[0], [1]]}, "r must be an integer between 1 and 1, got 2"),
        (
            {"candidates": [[0, 1], [1, 2, 3]], "universe": [[1], [1, 3], [0, 2]]},
            r"the labelset \[0, 2\] of the universe lies in none",
        ),
        ({"k": 2, "universe": [[0, 1, 2]]}, r"the labelset \[0, 1, 2\] of the universe lies in"),
    ],
)
def test_what_cannot_be_covered_is_refused(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(4, **arguments)


@pytest.mark.parametrize("function", [exact_cover, rounded_cover])
def test_weights_do_not_go_with_a_size(function):
    with pytest.raises(ValueError, match="weights do not go with a size; leave out one, got size"):
        function(3, r=1, candidates=[[0, 1], [2]], weights=[1, 2], size=1)
