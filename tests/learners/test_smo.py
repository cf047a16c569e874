"""SMOClassifier as a scikit-learn classifier: filters, votes, weights and bad input."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_classification
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcover.learners import SMOClassifier
from labelcover.learners._smo import smo_classifier
from labelcover.learners._smo.smo_classifier import vote_distributions
from labelcover.learners._smo.solver_kernels import coupled_distributions, dense_gram

RELATIVE = "weights are divided by their mean, so that C is that of fewer rows"
EQUIVALENCE = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


@parametrize_with_checks(
    [SMOClassifier(), SMOClassifier(logistic=True, tol=1e-10)],
    # Votes are the same all the same.
    expected_failed_checks=lambda model: (
        dict.fromkeys(EQUIVALENCE, RELATIVE) if model.logistic else {}
    ),
)
def test_scikit_learn_estimator_checks_pass(estimator, check):
    check(estimator)


@pytest.fixture
def problem_of_four():
    X, y = make_classification(
        200, 8, n_informative=5, n_classes=4, n_clusters_per_class=1, random_state=3
    )
    return (X - X.min(axis=0)) / np.ptp(X, axis=0), y


def test_votes_are_those_of_svc_on_scaled_features(problem_of_four):
    X, y = problem_of_four
    svc = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    outputs = svc.decision_function(X)
    votes = np.zeros((len(X), 4))
    for p, (i, j) in enumerate(zip(*np.triu_indices(4, 1), strict=True)):
        votes[np.arange(len(X)), np.where(outputs[:, p] > 0, i, j)] += 1 / 6
    np.testing.assert_allclose(SMOClassifier().fit(X, y).predict_proba(X), votes)


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_svms_come_near_the_optimum_of_libsvm(C):
    X, y = make_classification(300, 12, flip_y=0.2, random_state=1)
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    X[50:80] = X[20:50]  # rows alike, also of different classes
    weights = np.random.default_rng(0).uniform(0.2, 2.0, len(y))
    weights /= weights.mean()
    svm = SMOClassifier(C=C, tol=1e-7).fit(X, y, sample_weight=weights)
    svc = SVC(C=C, kernel="linear", tol=1e-7).fit(X, y, sample_weight=weights)

    def cost(w, b):
        slack = np.maximum(0.0, 1.0 - np.where(y == 1, 1, -1) * (X @ w + b))
        return w @ w / 2 + C * weights @ slack

    ours = cost(svm.members_.weights[0], svm.members_.bias[0])
    # Not nearer: like WEKA's, the steps can stop where a multiplier is off its bound by rounding.
    np.testing.assert_allclose(ours, cost(svc.coef_[0], svc.intercept_[0]), rtol=1e-3)


def test_a_tolerance_below_rounding_errors_ends_all_the_same(problem_of_four):
    X, y = problem_of_four
    exact = SMOClassifier(tol=1e-300).fit(X, y)
    np.testing.assert_allclose(
        exact.members_.weights, SMOClassifier(tol=1e-6).fit(X, y).members_.weights, atol=1e-3
    )


def test_many_rows_need_no_matrix_of_all_products(problem_of_four, monkeypatch):
    X, y = problem_of_four
    with_gram = SMOClassifier().fit(X, y)
    monkeypatch.setattr(smo_classifier, "MOST_GRAM_ROWS", 10)
    for table in (X, sparse.csr_array(X)):
        without = SMOClassifier().fit(table, y)
        np.testing.assert_array_equal(without.members_.weights, with_gram.members_.weights)


@pytest.mark.parametrize("n_columns", [40, 900])
def test_rows_that_come_and_go_at_their_bounds_give_the_same_svms(n_columns, monkeypatch):
    """Errors are often equal where products are whole numbers: the path must not change."""
    rng = np.random.default_rng(0)
    X = (rng.random((240, n_columns)) < 0.4).astype(float)
    y = (X[:, :6].sum(axis=1) + rng.normal(size=240) > 2.4).astype(int) + (X[:, 7] > 0)
    with_gram = SMOClassifier().fit(X, y)
    monkeypatch.setattr(smo_classifier, "MOST_GRAM_ROWS", 10)
    for table in (X, sparse.csr_array(X)):
        without = SMOClassifier().fit(table, y)
        np.testing.assert_array_equal(with_gram.members_.weights, without.members_.weights)
        np.testing.assert_array_equal(with_gram.members_.bias, without.members_.bias)


def test_sparse_and_dense_tables_give_the_same_svms():
    X = sparse.random(90, 20, density=0.3, format="csr", random_state=1)
    X.data[::7] = np.nan
    y = np.arange(90) % 3
    for offset in (0.0, 1.0):  # a least value other than 0 makes the table dense
        table = X.tolil()
        table[0, :] = -offset
        table = table.tocsr()
        dense = SMOClassifier().fit(table.toarray(), y)
        ours = SMOClassifier().fit(table, y)
        assert ours.members_.features.keeps_sparse == (offset == 0.0)
        np.testing.assert_allclose(ours.members_.weights, dense.members_.weights, atol=1e-9)
        np.testing.assert_allclose(ours.predict_proba(table), dense.predict_proba(table.toarray()))


def test_sparse_nominal_features_of_two_values_stay_sparse():
    rng = np.random.default_rng(0)
    X = (rng.random((60, 6)) < 0.3).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    y = np.arange(60) % 2
    sparse_svm = SMOClassifier(categorical_features=range(6)).fit(sparse.csr_array(X), y)
    dense_svm = SMOClassifier(categorical_features=range(6)).fit(X, y)
    assert sparse_svm.members_.features.keeps_sparse
    np.testing.assert_allclose(sparse_svm.members_.features.fill, dense_svm.members_.features.fill)
    np.testing.assert_allclose(sparse_svm.members_.weights, dense_svm.members_.weights, atol=1e-9)


def _numbers(column):
    return np.where(column.isna(), np.nan, column.cat.codes)


def test_missing_values_become_the_mean_or_the_most_frequent_value():
    frame = pd.DataFrame(
        {
            "size": [1.0, 3.0, np.nan, 5.0],
            "colour": pd.Categorical(["red", "blue", "blue", None], ["red", "green", "blue"]),
            "large": pd.Categorical(["no", "yes", "no", None], ["no", "yes"]),
        }
    )
    svm = SMOClassifier().fit(frame, [0, 1, 0, 1])
    numbers = np.column_stack([frame["size"], *(_numbers(frame[c]) for c in ("colour", "large"))])
    columns = svm.members_.features.columns(numbers)
    np.testing.assert_allclose(columns[:, 0], [0, 0.5, 0.5, 1])
    np.testing.assert_allclose(columns[:, 1:4], [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]])
    np.testing.assert_allclose(columns[:, 4], [0, 1, 0, 0])


def test_an_unseen_category_marks_no_column_and_else_counts_as_missing():
    X = np.array([[0.0, 0], [1, 1], [2, 1], [0, 1]])
    svm = SMOClassifier(categorical_features=[0, 1]).fit(X, [0, 1, 1, 0])
    columns = svm.members_.features.columns(np.array([[-1.0, -1.0]]))  # the number of unseen values
    np.testing.assert_allclose(columns, [[0, 0, 0, 1]])
    assert svm.predict_proba([[9.0, 9.0]]).sum() == 1


def test_values_beyond_the_training_range_are_not_clipped():
    svm = SMOClassifier().fit([[0.0], [2.0], [4.0]], [0, 1, 1])
    np.testing.assert_allclose(svm.members_.features.columns(np.array([[8.0]])), [[2.0]])


def test_constant_and_empty_columns_become_zero():
    X = np.array([[1.0, 7.0, np.nan], [2.0, 7.0, np.nan], [3.0, 7.0, np.nan]])
    svm = SMOClassifier().fit(X, [0, 1, 1])
    columns = svm.members_.features.columns(np.array([[1.0, 9.0, 5.0]]))
    np.testing.assert_allclose(columns[:, 1:], 0)


def test_one_class_gets_all():
    svm = SMOClassifier().fit([[0.0], [1.0]], ["only", "only"])
    np.testing.assert_array_equal(svm.predict_proba([[5.0]]), [[1.0]])
    assert svm.predict([[5.0]]) == ["only"]


def test_a_declared_class_without_rows_loses_every_vote():
    X, y = load_iris(return_X_y=True)
    for logistic in (False, True):
        svm = SMOClassifier(classes=[3, 0, 1, 2], logistic=logistic).fit(X, y)
        shares = svm.predict_proba(X)
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        assert shares[:, 0].max() < 1e-6
        assert (svm.predict(X) == y).mean() > 0.95


def test_rows_of_zero_weight_do_not_count():
    X, y = load_iris(return_X_y=True)
    kept = np.arange(len(y)) % 3 > 0
    weighted = SMOClassifier().fit(pd.DataFrame(X), y, sample_weight=kept.astype(float))
    fitted = SMOClassifier().fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.members_.weights, fitted.members_.weights)


def test_logistic_outputs_are_graded_probabilities(problem_of_four):
    X, y = problem_of_four
    svm = SMOClassifier(logistic=True).fit(X, y)
    probabilities = svm.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert len(np.unique(probabilities.round(6))) > 100
    votes = SMOClassifier().fit(X, y)
    assert (svm.predict(X) == votes.predict(X)).mean() > 0.9


def test_coupling_recovers_probabilities_that_fit_all_pairs():
    p = np.array([0.5, 0.3, 0.15, 0.05])
    first, second = (a.astype(np.int32) for a in np.triu_indices(4, 1))
    odds = np.log(p[second] / p[first])[None, :]
    logistic = np.tile([1.0, 0.0], (6, 1))
    answer = coupled_distributions(
        odds, first, second, logistic, np.ones(6), np.array([0, 6]), np.array([0, 4])
    )
    np.testing.assert_allclose(answer[0], p, atol=2e-3)


def test_vote_shares_are_those_of_numpy():
    rng = np.random.default_rng(0)
    first, second = (a.astype(np.int32) for a in np.triu_indices(4, 1))
    outputs = rng.normal(size=(20, 6)).round()  # with zeros, which vote for the first
    shares = vote_distributions(
        outputs > 0, first, second, np.array([0, 6, 6]), np.array([0, 4, 5])
    )
    winner = np.where(outputs > 0, second, first)
    expected = np.stack([(winner == c).sum(axis=1) / 6 for c in range(4)], axis=1)
    np.testing.assert_allclose(shares[:, :4], expected)
    np.testing.assert_array_equal(shares[:, 4], 1)  # a problem of one class


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a number above 0.0, got 0"),
        ({"C": "1"}, "C must be a number above 0.0, got '1'"),
        ({"tol": -1.0}, "tol must be a number above 0.0, got -1.0"),
        ({"classes": [0]}, "classes must contain every class of y"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        SMOClassifier(**parameters).fit(X, y)


def test_products_of_all_rows_are_summed_from_left_to_right():
    X = np.random.default_rng(0).normal(size=(150, 7))
    found = np.empty((150, 150))
    dense_gram(X, X.T.copy(), found)
    expected = np.cumsum(X[:, None, :] * X[None, :, :], axis=2)[:, :, -1]
    np.testing.assert_array_equal(found, expected)
