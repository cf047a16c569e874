from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers import balancor_cover, balco_cover, greedy_cover, inlac_cover


def imbalance_after(labelsets, counts):
    inside = np.zeros((len(labelsets), len(counts)), dtype=int)
    np.put_along_axis(inside, labelsets, 1, axis=1)
    return np.ptp(counts + inside, axis=1)


COSTS = {
    "gain": lambda labelsets, new, counts: -new,
    "balance": lambda labelsets, new, counts: imbalance_after(labelsets, counts),
    "gain-balance": lambda labelsets, new, counts: imbalance_after(labelsets, counts) - new,
}


def plain_greedy(m, k, r, cost, size=None):
    """Algorithm 3 by listing everything; ties to the first."""
    candidates = list(combinations(range(m), k))
    uncovered, counts, chosen = set(combinations(range(m), r)), np.zeros(m, int), []
    while uncovered if size is None else len(chosen) < size:
        rows = np.array(candidates)
        new = np.array([len(uncovered.intersection(combinations(s, r))) for s in candidates])
        best = candidates.pop(int(np.argmin(cost(rows, new, counts))))
        uncovered.difference_update(combinations(best, r))
        counts[list(best)] += 1
        chosen.append(list(best))
    return chosen


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("m", range(1, 8))
def test_the_search_finds_what_listing_all_candidates_finds(name, m):
    for k in range(1, m + 1):
        for r in range(1, k + 1):
            expected = plain_greedy(m, k, r, COSTS[name])
            assert greedy_cover(m, k, r, cost=name).labelsets.tolist() == expected
            assert greedy_cover(m, k, r, cost=COSTS[name]).labelsets.tolist() == expected


@pytest.mark.parametrize(("m", "k", "r"), [(14, 5, 2), (13, 5, 3), (12, 6, 4), (18, 4, 2)])
def test_the_search_agrees_with_a_scan_on_larger_problems(m, k, r):
    for name, cost in COSTS.items():
        size = 30 if name == "balance" else None
        by_search = greedy_cover(m, k, r, cost=name, size=size)
        assert by_search == greedy_cover(m, k, r, cost=cost, size=size)


def test_the_strategies_of_the_paper_are_instances():
    assert greedy_cover(10, 4, cost="gain") == inlac_cover(10, 4)
    assert greedy_cover(10, 4, cost="gain-balance") == balancor_cover(10, 4)
    assert greedy_cover(10, 4, cost="balance", size=20) == balco_cover(
        10, 4, size=20, balanced=False
    )


@given(st.data())
@settings(max_examples=40)
def test_constraints_hold_and_the_rest_is_covered(data):
    m = data.draw(st.integers(4, 8))
    k = data.draw(st.integers(3, m))
    pair = st.lists(st.integers(0, m - 1), min_size=2, max_size=2, unique=True)
    together, apart = data.draw(pair), data.draw(pair)
    name = data.draw(st.sampled_from(list(COSTS)))
    if set(together) == set(apart) or k > m - 1:
        return
    allowed = [
        s
        for s in combinations(range(m), k)
        if len(set(together) & set(s)) != 1 and not set(apart) <= set(s)
    ]
    reachable = {p for s in allowed for p in combinations(s, 2)}
    if len(reachable) < comb(m, 2) - 1:
        with pytest.raises(ValueError, match="constraints"):
            greedy_cover(m, k, together=[together], apart=[apart], cost=name)
        return
    cover = greedy_cover(m, k, together=[together], apart=[apart], cost=name)
    assert cover == greedy_cover(m, k, together=[together], apart=[apart], cost=COSTS[name])
    rows = [set(row) for row in cover.labelsets.tolist()]
    assert all(len(set(together) & row) != 1 for row in rows)
    assert not any(set(apart) <= row for row in rows)
    assert cover.uncovered(2).tolist() == [sorted(apart)]


def test_groups_of_labels_tied_together_stay_together():
    cover = greedy_cover(8, 4, together=[(0, 7), (7, 3)], ties="random", random_state=3)
    for row in cover.labelsets.tolist():
        assert len({0, 3, 7} & set(row)) in (0, 3)


def test_only_the_pairs_of_the_universe_are_covered():
    pairs = [(0, 5), (2, 3), (1, 5)]
    cover = greedy_cover(6, 3, universe=pairs)
    rows = [set(row) for row in cover.labelsets.tolist()]
    assert all(any(set(pair) <= row for row in rows) for pair in pairs)
    assert len(cover) == 2


def test_triples_that_hold_parted_labels_need_no_cover():
    cover = greedy_cover(7, 4, 3, apart=[(0, 1)])
    assert all({0, 1} <= set(triple) for triple in cover.uncovered(3).tolist())
    assert len(cover.uncovered(3)) == 5


def test_weights_choose_the_least_weight_per_new_labelset():
    candidates = [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    cheap = greedy_cover(4, 3, candidates=candidates, weights=[9.0, 1.0, 1.0, 1.0])
    assert cheap.labelsets.tolist() == [[0, 1, 3], [0, 2, 3], [1, 2, 3]]


def test_a_cost_of_infinity_excludes_a_labelset():
    def no_zero_with_five(labelsets, new, counts):
        both = (labelsets == 0).any(axis=1) & (labelsets == 5).any(axis=1)
        return np.where(both, np.inf, -new.astype(float))

    pairs = [p for p in combinations(range(6), 2) if p != (0, 5)]
    cover = greedy_cover(6, 3, universe=pairs, cost=no_zero_with_five)
    assert cover.uncovered(2).tolist() == [[0, 5]]
    with pytest.raises(ValueError, match=r"the labelset \[0, 5\] of the universe lies in none"):
        greedy_cover(6, 3, cost=no_zero_with_five)


def test_random_ties_among_candidates_are_uniform():
    candidates = [[0, 1], [1, 2], [2, 3], [0, 3]]
    rng = np.random.RandomState(0)
    first = [
        tuple(
            greedy_cover(4, 2, candidates=candidates, size=1, ties="random", random_state=rng)
            .labelsets[0]
            .tolist()
        )
        for _ in range(400)
    ]
    counts = [first.count(tuple(row)) for row in candidates]
    assert sum(counts) == 400
    assert min(counts) > 70


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"together": [(0, 1)], "apart": [(1, 0)]}, "contradict each other for labels 0 and 1"),
        ({"together": [(0, 1), (1, 2), (2, 3)]}, "ties 4 labels to each other, more than k=3"),
        ({"together": [(0, 6)]}, "together: a label must be an integer between 0 and 5, got 6"),
        ({"apart": [(0, 0)]}, r"apart must hold pairs of different labels, got \(0, 0\)"),
        ({"apart": [0]}, "apart must hold pairs of labels, got 0"),
        ({"universe": [(0, 1, 2, 3)]}, r"the labelset \[0, 1, 2, 3\] of the universe lies in none"),
        ({"universe": [(0, 9)]}, "between 0 and 5, got 9"),
        ({"candidates": [(0, 1, 2, 3)]}, "candidates must have at most k=3 labels in a row, got 4"),
        ({"k": None}, "k must be an integer unless candidates are given, got None"),
        ({"candidates": [(0, 1, 2)]}, r"the labelset \[0, 3\] of the universe lies in none"),
        ({"candidates": [(0, 1, 2)], "size": 2}, "size must be an integer between 1 and 1"),
        (
            {"candidates": [(0, 1, 2), (2, 3, 4)], "apart": [(3, 4)], "size": 2},
            "size=2 labelsets were asked for.*only 1",
        ),
        ({"weights": [1.0]}, "weights needs candidates"),
        ({"candidates": [(0, 1, 2)], "weights": [0.0]}, "one positive number"),
        ({"candidates": [(0, 1, 2)], "weights": [1.0], "cost": "balance"}, "leave out one"),
        ({"k": 6, "r": 6, "apart": [(0, 1)]}, "no cover exists: .* no labelset of k=6 out of 6"),
        ({"cost": "cheap"}, "cost must be one of 'gain', 'balance', 'gain-balance', got 'cheap'"),
        ({"cost": lambda labelsets, new, counts: 1.0}, "cost must return one number for each"),
    ],
)
def test_infeasible_or_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        greedy_cover(6, **{"k": 3, **arguments})
