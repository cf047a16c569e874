"""Stacked binary relevance: unseen outputs of the first level, pruned, train the second."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.multioutput import MultiOutputClassifier
from sklearn.preprocessing import StandardScaler

from labelcover.ensemble._cover_view import CoverView
from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.methods import BinaryRelevanceClassifier, StackedBinaryRelevanceClassifier
from labelcover.methods._lead import correlations


@pytest.fixture(scope="module")
def problem():
    X, Y = make_multilabel_classification(150, 8, n_classes=5, random_state=3)
    return StandardScaler().fit_transform(X), Y


def probabilities(model, X):
    return np.column_stack([each[:, 1] for each in model.predict_proba(X)])


@pytest.mark.parametrize("passthrough", [False, True])
@pytest.mark.parametrize("phi", [0, 0.15, 1])
def test_it_is_stacking_by_hand(problem, phi, passthrough):
    X, Y = problem
    member = LogisticRegression()
    model = StackedBinaryRelevanceClassifier(
        member, phi=phi, passthrough=passthrough, n_folds=3, random_state=0
    ).fit(X[:100], Y[:100])
    folds = KFold(3, shuffle=True, random_state=model.view_.seed)
    first = MultiOutputClassifier(member).fit(X[:100], Y[:100])
    outputs = np.column_stack(
        [
            cross_val_predict(member, X[:100], y, cv=folds, method="predict_proba")[:, 1]
            for y in Y[:100].T
        ]
    )
    np.testing.assert_allclose(model.view_.outputs, outputs, atol=1e-9)
    new = probabilities(first, X[100:])
    for j in range(5):
        phis = np.array([np.corrcoef(Y[:100, j], Y[:100, i])[0, 1] for i in range(5)])
        seen = (np.abs(phis) >= phi) | (np.arange(5) == j)
        np.testing.assert_array_equal(model.correlated_[j], seen)
        tables = [outputs[:, seen], new[:, seen]]
        if passthrough:
            tables = [np.hstack([X[:100], tables[0]]), np.hstack([X[100:], tables[1]])]
        second = LogisticRegression().fit(tables[0], Y[:100, j])
        np.testing.assert_allclose(
            model.predict_proba(X[100:])[:, j], second.predict_proba(tables[1])[:, 1], atol=1e-6
        )


def test_least_squares_needs_no_folds(problem, asked_left_out):
    X, Y = problem
    asked = asked_left_out(CoverView)
    member = LeastSquaresClassifier(random_state=0)
    model = StackedBinaryRelevanceClassifier(member, random_state=0).fit(X, Y)
    BinaryRelevanceClassifier(member, threshold="loo", random_state=0).fit(X, Y)
    rows, (confidence,) = asked[-1]
    np.testing.assert_allclose(model.view_.outputs[rows], confidence)


def test_folds_are_used_where_leave_one_out_is_for_a_sample_only():
    random = np.random.default_rng(0)
    X = random.normal(size=(2100, 3))
    Y = (X[:, :2] + random.normal(size=(2100, 2)) > 0).astype(int)
    member = LeastSquaresClassifier(kernel="linear", alpha=1.0, random_state=0)
    model = StackedBinaryRelevanceClassifier(member, random_state=0).fit(X, Y)
    train, test = next(KFold(5, shuffle=True, random_state=model.view_.seed).split(X))
    fold = BinaryRelevanceClassifier(member).fit(X[train], Y[train])
    np.testing.assert_allclose(model.view_.outputs[test], fold.predict_proba(X[test]), atol=1e-9)


def test_the_second_level_learns_from_other_labels():
    """Label 1 is label 0 with noise of its own: the output of label 0 says all there is."""
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 40))
    Y = np.repeat((X[:, :1] > 0).astype(int), 2, axis=1)
    wrong = random.random(600) < 0.35
    Y[wrong, 1] = 1 - Y[wrong, 1]
    new = random.normal(size=(2000, 40))
    truth = new[:, 0] > 0
    member = LogisticRegression()
    scores = [
        (kind.fit(X, Y).predict(new)[:, 1] == truth).mean()
        for kind in (
            BinaryRelevanceClassifier(member),
            StackedBinaryRelevanceClassifier(member, random_state=0),
        )
    ]
    assert scores[1] > scores[0] + 0.05


def test_correlations_are_phi_coefficients(problem):
    Y = problem[1].astype(np.uint8)
    np.testing.assert_allclose(correlations(Y), np.corrcoef(Y.T), atol=1e-12)
    weights = np.random.default_rng(0).integers(1, 4, len(Y))
    repeated = np.repeat(Y, weights, axis=0)
    np.testing.assert_allclose(correlations(Y, weights + 0.0), np.corrcoef(repeated.T), atol=1e-12)
    Y[:, 2] = 1
    assert not np.delete(correlations(Y)[2], 2).any()


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("estimator", [LogisticRegression(), C45Classifier(), None], ids=repr)
@pytest.mark.parametrize("passthrough", [False, True])
def test_tables_of_any_kind_pass_through(problem, table, estimator, passthrough):
    X, Y = table(problem[0]), problem[1].copy()
    Y[:, 4] = 1
    model = StackedBinaryRelevanceClassifier(estimator, passthrough=passthrough, random_state=0)
    predicted = model.fit(X, Y).predict(X)
    assert (predicted[:, 4] == 1).all()
    assert (predicted == Y).mean() > 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phi": -0.1}, "phi must be a number at least 0 and at most 1, got -0.1"),
        ({"phi": "some"}, "phi must be a number"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1"),
        ({"n_folds": 200}, "n_folds=200 needs at least as many rows, got n_samples=150"),
        ({"threshold": "loo"}, 'threshold="loo" needs'),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(problem, change, message):
    with pytest.raises(ValueError, match=message):
        StackedBinaryRelevanceClassifier(**change).fit(*problem)
