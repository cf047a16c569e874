"""The choice of k and r."""

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
    dependence = label_dependence(Y, 4)
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
    with pytest.raises(ValueError, match="k must be"):
        cover_choices(Y, k=[0])
    with pytest.raises(ValueError, match="r must be"):
        cover_choices(Y, r=[2.5])
