"""Binary relevance is scikit-learn's `MultiOutputClassifier`."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from labelcover.methods import BinaryRelevanceClassifier

BASES = {
    "logistic regression": LogisticRegression(max_iter=500, random_state=0),
    # Features are drawn at random, so the trees are the same only if their seeds are.
    "tree": DecisionTreeClassifier(max_depth=4, max_features=3, random_state=0),
}


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 12))
    Y = (X @ random.normal(size=(12, 7)) + random.normal(size=(300, 7)) > 0.5).astype(int)
    # Two labels that agree in all rows are one problem for us and two for scikit-learn.
    Y[:, 6] = Y[:, 2]
    return X[:200], Y[:200], X[200:]


@pytest.mark.parametrize("base", BASES)
def test_probabilities_and_predictions_are_those_of_scikit_learn(base, data):
    X, Y, new = data
    expected = MultiOutputClassifier(BASES[base]).fit(X, Y)
    model = BinaryRelevanceClassifier(BASES[base], random_state=3).fit(X, Y)
    of_positive = np.column_stack([P[:, 1] for P in expected.predict_proba(new)])
    tiny = np.finfo(float).eps
    np.testing.assert_allclose(
        model.predict_proba(new), np.clip(of_positive, tiny, 1 - tiny), rtol=1e-12
    )
    np.testing.assert_array_equal(model.predict(new), expected.predict(new))


def test_a_tree_that_draws_features_depends_on_its_seed(data):
    """So the comparison above could fail."""
    X, Y, new = data
    trees = [DecisionTreeClassifier(max_depth=4, max_features=3, random_state=s) for s in (0, 1)]
    one, other = (BinaryRelevanceClassifier(t).fit(X, Y).predict_proba(new) for t in trees)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize("ties", ["positive", "negative"])
def test_a_leaf_of_half_and_half_is_a_tie(ties):
    X, Y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([[1, 0], [0, 0], [1, 0], [1, 1]])
    model = BinaryRelevanceClassifier(DecisionTreeClassifier(), ties=ties).fit(X, Y)
    tied = int(ties == "positive")
    np.testing.assert_array_equal(model.predict([[0.0], [1.0]]), [[tied, 0], [1, tied]])
