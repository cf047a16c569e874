"""Covers that follow the training labels: DD-BALANCOR, adapt, and k and r chosen."""

import numpy as np
import pytest

from labelcover import (
    BalancorClassifier,
    DDBalancorClassifier,
    LabelCoverClassifier,
    dependence,
)
from labelcover.covers import Cover, balancor_cover
from labelcover.dependence import _dependent_covers as dependent_covers
from labelcover.dependence import adapt_cover, label_dependence
from labelcover.learners import LeastSquaresClassifier


def problem(seed=0, n=200, m=9):
    """Labels that depend on each other, and features that tell something about them."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    Y = (X @ random.normal(size=(5, m)) + random.normal(size=(n, m)) > 0.7).astype(np.uint8)
    return X, Y


def test_dd_balancor_uses_balancors_matrix_permuted_for_the_training_labels():
    X, Y = problem()
    plain = BalancorClassifier(k=4, random_state=0).fit(X, Y).cover_
    driven = DDBalancorClassifier(k=4, random_state=0).fit(X, Y).cover_
    assert len(driven) == len(plain)
    assert driven.coverage(2) == 1.0
    assert driven.imbalance == plain.imbalance
    np.testing.assert_array_equal(np.sort(driven.label_counts), np.sort(plain.label_counts))
    triples = label_dependence(Y, 3)
    assert triples.merit(driven) > triples.merit(plain)


def test_the_permutation_sees_only_the_training_rows():
    X, Y = problem(1)
    half = DDBalancorClassifier(k=3, random_state=0).fit(X[:100], Y[:100])
    again = DDBalancorClassifier(k=3, random_state=0).fit(X[:100], Y[:100])
    whole = DDBalancorClassifier(k=3, random_state=0).fit(X, Y)
    assert half.cover_ == again.cover_
    assert half.cover_ != whole.cover_
    triples = label_dependence(Y[:100], 3)
    assert triples.merit(half.cover_) >= triples.merit(whole.cover_)


@pytest.mark.parametrize("cover", ["auto", "inlac", "random", balancor_cover, "labelsets"])
def test_any_cover_can_be_adapted(cover):
    X, Y = problem(2)
    if cover == "labelsets":
        cover = Cover([[0, 1, 2], [2, 3, 4], [4, 5, 6], [6, 7, 8]], n_labels=9)
    triples = label_dependence(Y, 3)
    settings = {"cover": cover, "k": 3, "size": None if callable(cover) else 12}
    plain = LabelCoverClassifier(**settings, random_state=0).fit(X, Y)
    adapted = LabelCoverClassifier(**settings, adapt=True, random_state=0).fit(X, Y)
    assert len(adapted.cover_) == len(plain.cover_)
    assert triples.merit(adapted.cover_) > triples.merit(plain.cover_)
    assert adapted.predict(X).shape == Y.shape


def test_k_and_r_are_chosen_and_the_table_is_kept():
    X, Y = problem(3)
    model = LabelCoverClassifier(k="auto", r="auto", adapt=True, random_state=0).fit(X, Y)
    (chosen,) = [choice for choice in model.cover_choices_ if choice.chosen]
    assert model.cover_ == chosen.cover
    assert model.cover_.k == chosen.k
    assert model.cover_.coverage(chosen.r) == 1.0
    assert {choice.r for choice in model.cover_choices_} == {2, 3}


def test_a_budget_limits_the_choice():
    X, Y = problem(3)
    member = LeastSquaresClassifier()
    free = LabelCoverClassifier(member, k="auto", budget=1e6, random_state=0).fit(X, Y)
    cheapest = min(choice.cost for choice in free.cover_choices_)
    model = LabelCoverClassifier(member, k="auto", budget=cheapest, random_state=0).fit(X, Y)
    assert [choice.cost for choice in model.cover_choices_ if choice.affordable] == [cheapest]
    with pytest.raises(ValueError, match="budget must be at least"):
        LabelCoverClassifier(member, k="auto", budget=1e-3).fit(X, Y)
    with pytest.raises(ValueError, match="budget must be None unless estimator names"):
        LabelCoverClassifier(k="auto", budget=1e6).fit(X, Y)


def test_dd_balancor_can_choose_k():
    X, Y = problem(4)
    model = DDBalancorClassifier(k="auto", random_state=0).fit(X, Y)
    assert {choice.k for choice in model.cover_choices_} == {3, 4, 5, 6, 7}
    assert model.predict_proba(X).shape == Y.shape
    assert DDBalancorClassifier(random_state=0).fit(X, Y).cover_choices_ is None


def test_labelsets_that_are_given_leave_nothing_to_choose():
    X, Y = problem(5)
    given = Cover([[0, 1, 2], [3, 4, 5], [6, 7, 8]], n_labels=9)
    model = LabelCoverClassifier(cover=given, k="auto", r="auto", random_state=0).fit(X, Y)
    assert model.cover_ == given
    assert model.cover_choices_ is None


@pytest.mark.parametrize(
    "change",
    [
        lambda Y: np.zeros_like(Y),
        lambda Y: np.ones_like(Y),
        lambda Y: np.tile(Y[:1], (len(Y), 1)),
        lambda Y: np.where(np.arange(Y.shape[1]) == 2, 0, Y),
    ],
    ids=["labels that never occur", "constant labels", "a single labelset", "one empty label"],
)
@pytest.mark.parametrize("k", [3, "auto"])
def test_labels_without_dependence_are_defined_and_quiet(change, k):
    X, Y = problem(6, n=30)
    Y = change(Y)
    model = DDBalancorClassifier(k=k, threshold=0.5, random_state=0).fit(X, Y)
    assert model.cover_.label_counts.min() >= 1
    assert model.predict(X).shape == Y.shape


def test_fewer_rows_than_labels_is_fine():
    X, Y = problem(7, n=6, m=9)
    model = DDBalancorClassifier(k=3, threshold=0.5, random_state=0).fit(X, Y)
    assert model.predict(X).shape == (6, 9)


@pytest.mark.parametrize("k", [4, "auto"])
def test_the_parameters_of_section_4_4_reach_the_search(k, monkeypatch):
    X, Y = problem(8)
    seen = []

    def spy(cover, found, **options):
        seen.append((found.counts.min(), options))
        return adapt_cover(cover, found, **options)

    monkeypatch.setattr(dependence, "adapt_cover", spy)
    monkeypatch.setattr(dependent_covers, "adapt_cover", spy)
    search = {"decay": 0.7, "n_iterations": 50, "first_temperature": 9.0, "n_restarts": 2}
    options = {"threshold": 0.5, "random_state": 0}
    DDBalancorClassifier(k=k, min_count=20, **search, **options).fit(X, Y)
    assert seen
    for least, given in seen:
        assert least >= 20
        assert {name: given[name] for name in search} == search


def test_the_defaults_are_those_of_adapt_cover():
    X, Y = problem(8)
    plain = DDBalancorClassifier(k=4, threshold=0.5, random_state=0).fit(X, Y)
    by_name = DDBalancorClassifier(
        k=4, threshold=0.5, random_state=0, min_count=5, decay=0.85, n_iterations=2000,
        n_restarts=10,
    ).fit(X, Y)  # fmt: skip
    assert plain.cover_ == by_name.cover_


def test_bad_arguments_are_named():
    X, Y = problem()
    with pytest.raises(ValueError, match="k must be"):
        DDBalancorClassifier(k="many").fit(X, Y)
    with pytest.raises(ValueError, match="r must be"):
        DDBalancorClassifier(r="some").fit(X, Y)
