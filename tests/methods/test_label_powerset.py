"""Label powerset is a single-label problem whose classes are labelsets."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.methods import BinaryRelevanceClassifier, LabelPowersetClassifier

MEMBERS = [
    DecisionTreeClassifier(max_depth=5, random_state=3),
    LogisticRegression(),
    C45Classifier(),
    LeastSquaresClassifier(),
]


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(200, 8, n_classes=5, random_state=1)
    X = StandardScaler().fit_transform(X)
    return X[:120], Y[:120], X[120:]


def by_hand(member, X, Y, X_new):
    """Return the most probable labelsets and the marginals, by way of one class number a row."""
    labelsets, classes = np.unique(Y, axis=0, return_inverse=True)
    model = member.fit(X, classes.ravel())
    distribution = model.predict_proba(X_new)
    return labelsets[np.argmax(distribution, axis=1)], distribution @ labelsets


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: type(member).__name__)
def test_it_equals_encoding_by_hand(data, member):
    X, Y, X_new = data
    predicted, marginals = by_hand(member, X, Y, X_new)
    model = LabelPowersetClassifier(member).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X_new), predicted)
    np.testing.assert_allclose(model.predict_proba(X_new), marginals, atol=1e-9)
    # The marginals alone would say something else.
    assert (predicted != (marginals > 0.5)).any()


def test_more_labels_than_a_table_of_patterns_holds(data):
    X, Y, X_new = data
    Y = np.hstack([Y, 1 - Y, Y])
    member = LogisticRegression()
    predicted, marginals = by_hand(member, X, Y, X_new)
    model = LabelPowersetClassifier(member).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X_new), predicted)
    np.testing.assert_allclose(model.predict_proba(X_new), marginals, atol=1e-9)


def test_equally_probable_labelsets_give_the_first_in_lexicographic_order():
    X = np.zeros((4, 1))
    Y = np.array([[1, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1]])
    model = LabelPowersetClassifier(DecisionTreeClassifier()).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X[:1]), [[1, 0, 1]])


def test_a_threshold_cuts_the_marginals(data):
    X, Y, X_new = data
    model = LabelPowersetClassifier(LogisticRegression(), threshold=0.3).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X_new), model.predict_proba(X_new) > 0.3)


def test_least_squares_tunes_a_threshold_without_refits(data):
    X, Y, _ = data
    model = LabelPowersetClassifier(threshold="auto").fit(X, Y)
    assert 0 < model.threshold_ < 1
    assert model.n_threshold_rows_ == len(X)
    with pytest.raises(ValueError, match='threshold="loo" needs'):
        LabelPowersetClassifier(LogisticRegression(), threshold="loo").fit(X, Y)


def test_one_label_is_binary_relevance(data):
    X, Y, X_new = data
    member = LogisticRegression()
    alone = LabelPowersetClassifier(member).fit(X, Y[:, :1])
    relevance = BinaryRelevanceClassifier(member).fit(X, Y[:, :1])
    np.testing.assert_array_equal(alone.predict(X_new), relevance.predict(X_new))
    np.testing.assert_array_equal(alone.predict_proba(X_new), relevance.predict_proba(X_new))
