"""Weights of rows: only their proportions count, and 0 is the row removed."""

import numpy as np
import pandas as pd
import pytest

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover._table_numbers import relative_weights
from labelcover.learners import (
    C45Classifier,
    LabelForest,
    LeastSquaresClassifier,
    LogisticClassifier,
    SMOClassifier,
)
from labelcover.metrics import micro_f1

LEARNERS = [
    LeastSquaresClassifier(),
    LogisticClassifier(random_state=0),
    C45Classifier(),
    SMOClassifier(logistic=True),
]
MEMBERS = ["auto", LabelForest(n_trees=10), LeastSquaresClassifier(), C45Classifier()]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 4))
    Y = (X[:, :3] + random.normal(size=(80, 3)) > 0).astype(np.uint8)
    return X, Y, random.integers(1, 5, 80).astype(float)


@pytest.mark.parametrize("size", [1e-6, 7.0, 1e9])
def test_equal_weights_of_any_size_are_no_weights(table, size):
    X, Y, _ = table
    weights = np.full(80, size)
    for learner in LEARNERS:
        plain = learner.fit(X, Y[:, 0]).predict_proba(X)
        np.testing.assert_array_equal(learner.fit(X, Y[:, 0], weights).predict_proba(X), plain)
    for member in MEMBERS:
        model = LabelCoverClassifier(member, random_state=0)
        plain = model.fit(X, Y).predict_proba(X)
        weighted = model.fit(X, Y, sample_weight=weights)
        np.testing.assert_array_equal(weighted.predict_proba(X), plain)
        assert micro_f1(Y, weighted.predict(X)) > 0.7


@pytest.mark.parametrize("size", [2.0**-40, 2.0**40])
def test_the_unit_of_weights_does_not_count(table, size):
    X, Y, weights = table
    for learner in LEARNERS:
        one = learner.fit(X, Y[:, 0], weights).predict_proba(X)
        other = learner.fit(X, Y[:, 0], size * weights).predict_proba(X)
        np.testing.assert_array_equal(one, other)
    for member in MEMBERS:
        model = LabelCoverClassifier(member, random_state=0)
        one = model.fit(X, Y, sample_weight=weights).predict_proba(X)
        other = model.fit(X, Y, sample_weight=size * weights).predict_proba(X)
        np.testing.assert_array_equal(one, other)


def test_a_weight_of_zero_is_the_row_removed(table):
    X, Y, weights = table
    kept = np.arange(80) % 3 > 0
    own = np.where(kept, weights, 0)
    for learner in LEARNERS:
        removed = learner.fit(X[kept], Y[kept, 0], weights[kept]).predict_proba(X)
        np.testing.assert_array_equal(learner.fit(X, Y[:, 0], own).predict_proba(X), removed)
    for member in MEMBERS:
        model = LabelCoverClassifier(member, random_state=0)
        removed = model.fit(X[kept], Y[kept], sample_weight=weights[kept]).predict_proba(X)
        found = model.fit(X, Y, sample_weight=own).predict_proba(X)
        np.testing.assert_array_equal(found, removed)


def test_classes_categories_and_tags_of_removed_rows_are_not_there():
    color = pd.Series(["red", "blue", "red", "green"] * 6, dtype=object)
    y = np.array(["a", "b", "a", "c"] * 6)
    weights = np.where(color == "green", 0.0, 1.0)
    tree = C45Classifier(categorical_features=["color"])
    tree.fit(pd.DataFrame({"color": color}), y, sample_weight=weights)
    assert tree.classes_.tolist() == ["a", "b"]
    assert tree._coding.n_values.tolist() == [2]
    tags = [["rain"], ["wind"], ["rain", "wind"], ["snow"]] * 6
    model = RakelClassifier(k=2, random_state=0)
    X = np.random.default_rng(0).normal(size=(24, 2))
    model.fit(X.tolist(), tags, sample_weight=weights)
    assert model.label_names_in_.tolist() == ["rain", "wind"]


def test_weights_of_two_are_rows_given_twice_but_for_the_scale_of_the_ridge(table):
    X, Y, weights = table
    times = weights.astype(int)
    twice = np.repeat(X, times, axis=0), np.repeat(Y[:, 0], times)
    weighted = LeastSquaresClassifier(kernel="linear", alpha=1.0).fit(X, Y[:, 0], weights)
    repeated = LeastSquaresClassifier(kernel="linear", alpha=times.mean()).fit(*twice)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=1e-9
    )


def test_relative_weights_have_mean_one_even_where_their_sum_would_overflow():
    found = relative_weights(np.array([1e308, 5e307, 1.5e308]))
    np.testing.assert_allclose(found, [1.0, 0.5, 1.5])
