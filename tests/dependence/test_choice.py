"""The choice of k and r."""

from itertools import combinations

import numpy as np
import pytest

from labelcover.covers import inlac_cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.dependence import cover_choices, label_dependence


def random_labels(seed, n=300, m=9):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 3)) @ random.normal(size=(3, m))
    return (hidden + random.normal(size=(n, m)) > 0.8).astype(np.uint8)


def chosen_of(choices):
    (found,) = [choice for choice in choices if choice.chosen]
    return found


def test_the_affordable_cover_of_greatest_dependency_is_chosen():
    Y = random_labels(0)
    choices = cover_choices(Y, random_state=0)
    assert {(choice.k, choice.r) for choice in choices} == {
        (k, r) for k in (3, 4, 5, 6, 7) for r in (2, 3) if r < k
    }
    dependence = label_dependence(Y, max(c.r for c in choices if c.affordable) + 1)
    for choice in choices:
        assert choice.size_bound == cover_size_bounds(9, choice.k, choice.r)[0]
        assert choice.cost == choice.size_bound * choice.member_cost
        assert choice.affordable == (choice.cost <= 90)
        if choice.affordable:
            assert choice.cover.coverage(choice.r) == 1.0
            assert choice.dependency == dependence.merit(choice.cover)
            assert choice.share == pytest.approx(choice.dependency / dependence.weights.sum())
        else:
            assert choice.cover is None
            assert np.isnan(choice.dependency)
    best = chosen_of(choices)
    assert best.dependency == max(c.dependency for c in choices if c.affordable)


def test_a_budget_rules_out_what_costs_more():
    Y = random_labels(1)
    free = cover_choices(Y, r=[2], budget=1e9, random_state=0)
    assert all(choice.affordable for choice in free)
    limit = sorted(choice.cost for choice in free)[1]
    tight = cover_choices(Y, r=[2], budget=limit, random_state=0)
    assert sum(choice.affordable for choice in tight) == 2
    assert chosen_of(tight).cost <= limit
    with pytest.raises(ValueError, match="budget must be at least"):
        cover_choices(Y, budget=1)


def test_without_a_budget_something_is_always_affordable():
    choices = cover_choices(random_labels(2), member_cost=lambda k: 1e6 * k, random_state=0)
    assert sum(choice.affordable for choice in choices) == 1
    assert chosen_of(choices).cost == min(choice.cost for choice in choices)


def test_the_cost_of_a_member_follows_its_classes():
    # Every row has one of two labelsets, so members have at most two classes.
    Y = np.repeat([[1] * 4 + [0] * 4, [0] * 4 + [1] * 4], 10, axis=0)
    assert all(choice.member_cost == 1.0 for choice in cover_choices(Y, random_state=0))


def test_a_strategy_of_ones_own_and_no_permutation():
    Y = random_labels(3)
    choices = cover_choices(Y, r=[2], strategy=inlac_cover, adapt=False, random_state=0)
    for choice in choices:
        assert choice.cover.coverage(2) == 1.0
        assert choice.dependency == label_dependence(Y, 3).merit(choice.cover)


def test_the_order_of_the_comparison_comes_from_what_is_affordable():
    Y = random_labels(5)
    both = cover_choices(Y, budget=1e9, random_state=0)
    limit = min(choice.cost for choice in both if choice.r == 3) * (1 - 1e-9)
    choices = cover_choices(Y, budget=limit, random_state=0)
    assert {choice.r for choice in choices if choice.affordable} == {2}
    triples = label_dependence(Y, 3)
    for choice in choices:
        if choice.affordable:
            assert choice.dependency == triples.merit(choice.cover) > 0
    only_pairs = cover_choices(Y, r=[2], budget=limit, random_state=0)
    assert {choice.k for choice in only_pairs if choice.affordable} == {
        choice.k for choice in choices if choice.affordable
    }


def test_every_cover_is_permuted_at_its_own_order():
    Y = random_labels(6)
    choices = cover_choices(Y, budget=1e9, random_state=0)
    assert {choice.r for choice in choices} == {2, 3}
    triples, quadruples = label_dependence(Y, 3), label_dependence(Y, 4)
    for choice in choices:
        assert choice.dependency == quadruples.merit(choice.cover)
        own = triples if choice.r == 2 else quadruples
        # No swap of two labels improves what the search maximised.
        merit = own.merit(choice.cover)
        for a, b in combinations(range(9), 2):
            swap = np.arange(9)
            swap[[a, b]] = b, a
            assert own.merit(choice.cover.permute(swap)) <= merit * (1 + 1e-9)


def test_numpy_numbers_are_numbers():
    Y = random_labels(7)
    settings = {"k": np.array([3, 4]), "r": [np.int64(2)], "random_state": np.int64(0)}
    for budget in (np.int64(500), np.float32(500.0)):
        found = cover_choices(Y, size=np.int64(12), budget=budget, **settings)
        expected = cover_choices(Y, [3, 4], [2], size=12, budget=500, random_state=0)
        assert [c.cover for c in found] == [c.cover for c in expected]


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_few_labels_still_give_a_cover(m):
    best = chosen_of(cover_choices(random_labels(4, m=m), random_state=0))
    assert best.cover.n_labels == m


@pytest.mark.parametrize(
    "Y", [np.zeros((10, 6)), np.ones((10, 6)), np.eye(4, 6)], ids=["none", "all", "few rows"]
)
def test_without_dependence_the_smallest_cover_is_chosen(Y):
    choices = cover_choices(Y, random_state=0)
    sizes = [len(choice.cover) for choice in choices if choice.affordable]
    assert len(chosen_of(choices).cover) == min(sizes)


def test_bad_arguments_are_named():
    Y = random_labels(0)
    with pytest.raises(ValueError, match="budget"):
        cover_choices(Y, budget="much")
    with pytest.raises(ValueError, match="budget must be a number above 0, got True"):
        cover_choices(Y, budget=True)
    with pytest.raises(ValueError, match="size must be an integer of at least 1, got 0"):
        cover_choices(Y, size=0)
    with pytest.raises(ValueError, match="random_state must be an integer"):
        cover_choices(Y, random_state="x")
    with pytest.raises(ValueError, match="k must be"):
        cover_choices(Y, k=[0])
    with pytest.raises(ValueError, match="r must be"):
        cover_choices(Y, r=[2.5])
