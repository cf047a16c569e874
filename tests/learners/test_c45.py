"""C45Classifier as a scikit-learn classifier: inputs of all kinds, weights, and bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcover.learners import C45Classifier
from labelcover.learners._problems import Problems

RELATIVE = "weights are divided by their mean, and the least branch and pruning count them"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": RELATIVE,
    "check_sample_weight_equivalence_on_sparse_data": RELATIVE,
}


@parametrize_with_checks([C45Classifier()], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture
def mixed():
    """Two numeric and two nominal features, with missing cells."""
    rng = np.random.default_rng(4)
    n = 120
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 9, n), rng.integers(0, 3, n), rng.integers(0, 5, n)]
    ).astype(float)
    y = (X[:, 0] > 0.3).astype(int) + (X[:, 2] == 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def as_frame(X, names=("red", "green", "blue", "grey", "white")):
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    for f, name in ((2, "c"), (3, "d")):
        codes = np.where(np.isnan(X[:, f]), -1, X[:, f]).astype(int)
        frame[name] = pd.Categorical.from_codes(codes, names[: 3 if f == 2 else 5])
    return frame


def test_arrays_and_frames_of_both_kinds_give_the_same_tree(mixed):
    X, y = mixed
    frame = as_frame(X)
    polar = pl.DataFrame(
        {
            name: frame[name].astype(object).where(frame[name].notna(), None).tolist()
            for name in frame
        },
        schema_overrides={
            name: pl.Enum(frame[name].cat.categories.tolist()) for name in ("c", "d")
        },
    )
    of_array = C45Classifier(categorical_features=[2, 3]).fit(X, y).predict_proba(X)
    of_mask = C45Classifier(categorical_features=[False, False, True, True]).fit(X, y)
    of_pandas = C45Classifier().fit(frame, y)
    np.testing.assert_array_equal(of_mask.predict_proba(X), of_array)
    np.testing.assert_array_equal(of_pandas.predict_proba(frame), of_array)
    np.testing.assert_array_equal(C45Classifier().fit(polar, y).predict_proba(polar), of_array)


def test_columns_of_text_can_be_named_as_nominal(mixed):
    X, y = mixed
    frame = as_frame(X).astype({"c": object, "d": object})
    tree = C45Classifier(categorical_features=["c", "d"]).fit(frame, y)
    assert "c = green" in tree.export_text()


def test_sparse_and_dense_tables_give_the_same_tree():
    X = sparse.random(80, 12, density=0.3, format="csr", random_state=1)
    y = (X[:, [0]].toarray().ravel() > 0.2).astype(int)
    dense = C45Classifier().fit(X.toarray(), y)
    np.testing.assert_array_equal(
        C45Classifier().fit(X, y).predict_proba(X), dense.predict_proba(X.toarray())
    )


@pytest.mark.parametrize("missing", [False, True])
def test_a_weight_of_two_is_a_row_given_twice(mixed, missing):
    X, y = mixed
    if not missing:
        X = np.nan_to_num(X)
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    nominal = {"categorical_features": [2, 3], "classes": [0, 1, 2]}
    by_rows = C45Classifier(**nominal).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    # Not of mean 1, as `fit` makes them: a weight is a number of rows in the tree.
    kept = weight > 0
    classes = y[None, kept].astype(np.int32)
    problem = Problems(
        classes, np.array([0, 3]), by_rows._coding.n_values, weight[kept].astype(float)
    )
    numbers = by_rows._coding.read(by_rows, X)
    by_weight = C45Classifier(**nominal).fit_problems(numbers[kept], problem)
    expected = by_rows.members_.distributions(numbers, slice(0, 1))
    np.testing.assert_allclose(by_weight.distributions(numbers, slice(0, 1)), expected, atol=1e-9)
    np.testing.assert_array_equal(by_weight.trees[0].feature, by_rows.members_.trees[0].feature)


@given(st.integers(0, 10**6), st.integers(10, 150), st.integers(1, 12), st.integers(2, 6))
def test_weights_of_one_change_nothing(seed, n, d, n_classes):
    # Without weights, features of two values are counted, others sorted, and pruning sends only
    # the rows down that are new to a branch; with weights, all goes another way.
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) < rng.random(d)
    X = np.hstack([X * rng.normal(size=d), rng.integers(0, 4, (n, 2)), rng.integers(0, 2, (n, 2))])
    y = (X @ rng.normal(size=d + 4) + rng.normal(size=n) * 2).argsort().argsort() * n_classes // n
    for nominal in ([], [d, d + 2]):
        tree = C45Classifier(categorical_features=nominal)
        counted = tree.fit(X, y).export_text()
        assert counted == tree.fit(X, y, np.ones(n)).export_text()


def test_one_class_gives_one_leaf():
    X = np.arange(12.0).reshape(6, 2)
    tree = C45Classifier().fit(X, ["only"] * 6)
    assert tree.get_n_leaves() == 1
    assert tree.get_depth() == 0
    np.testing.assert_array_equal(tree.predict(X), ["only"] * 6)
    np.testing.assert_array_equal(tree.feature_importances_, [0, 0])
    assert ": only (6.0)" in tree.export_text()


def test_a_column_without_values_is_never_chosen(mixed):
    X, y = mixed
    X = X.copy()
    X[:, 0] = np.nan
    with_column = C45Classifier(categorical_features=[2, 3]).fit(X, y)
    without = C45Classifier(categorical_features=[1, 2]).fit(X[:, 1:], y)
    assert with_column.feature_importances_[0] == 0
    np.testing.assert_array_equal(with_column.predict_proba(X), without.predict_proba(X[:, 1:]))
    all_nominal = C45Classifier(categorical_features=[0]).fit(X[:, :1], y)
    assert all_nominal.get_n_leaves() == 1


def test_an_unseen_category_gets_the_distribution_at_its_node():
    X = np.repeat([[0.0], [1.0], [2.0]], 10, axis=0)
    y = np.repeat([0, 1, 1], 10)
    tree = C45Classifier(categorical_features=[0]).fit(X, y)
    assert tree.get_n_leaves() == 3
    assert tree.predict([[0.0]]) == [0]
    np.testing.assert_allclose(tree.predict_proba([[7.0]]), [[1 / 3, 2 / 3]])
    np.testing.assert_allclose(tree.predict_proba([[np.nan]]), [[1 / 3, 2 / 3]])


def test_rows_of_zero_weight_do_not_count():
    X, y = load_iris(return_X_y=True)
    weight = np.arange(len(y)) % 3 > 0
    kept = C45Classifier().fit(X[weight], y[weight])
    weighted = C45Classifier().fit(X, y, sample_weight=weight.astype(float))
    assert weighted.export_text() == kept.export_text()


def test_declared_classes_keep_their_order_and_count():
    X, y = load_iris(return_X_y=True)
    tree = C45Classifier(classes=[2, 0, 9, 1]).fit(X, y)
    np.testing.assert_array_equal(tree.classes_, [2, 0, 9, 1])
    assert tree.predict_proba(X).shape == (150, 4)
    assert (tree.predict_proba(X)[:, 2] == 0).all()
    assert (tree.predict(X) == y).mean() > 0.95


def test_importances_are_parts_of_the_information_gained():
    X, y = load_iris(return_X_y=True)
    importances = C45Classifier().fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert importances.argmax() == 3


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"confidence": 0.6}, "confidence must be a number above 0.0 and at most 0.5, got 0.6"),
        ({"confidence": 0}, "confidence must be a number above"),
        ({"confidence": "high"}, "confidence must be a number .* got 'high'"),
        ({"min_leaf": 0}, "min_leaf must be an integer of at least 1, got 0"),
        ({"categorical_features": [7]}, "categorical_features as indices .* between 0 and 3"),
        ({"categorical_features": [True]}, "categorical_features as a mask .* 4 features"),
        ({"categorical_features": ["c"]}, "categorical_features names c"),
        ({"categorical_features": "some"}, "categorical_features must be 'from_dtype'"),
        ({"classes": [0, 1]}, "classes must contain every class of y, but lacks"),
        ({"classes": [0, 1, 2, 2]}, "classes must be distinct"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        C45Classifier(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("weight", "message"), [(0.0, "got only zeros"), (-1.0, "must not be negative, got -1.0")]
)
def test_bad_weights_are_named(weight, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        C45Classifier().fit(X, y, sample_weight=np.full(len(y), weight))


def test_export_text_wants_a_name_per_feature():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="feature_names must have 4 names, got 1"):
        C45Classifier().fit(X, y).export_text(["a"])
