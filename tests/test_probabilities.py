"""No estimator returns what is no probability."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from labelcover import LabelCoverClassifier, RakelPlusPlusClassifier
from labelcover._label_values import checked_probabilities
from labelcover.learners import LogisticClassifier, SMOClassifier
from labelcover.methods import LabelPowersetClassifier, ProbabilisticChainClassifier


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier that divides by zero."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), np.nan)

    def predict(self, X):
        return np.zeros(len(X))


def test_rounding_is_taken_off_and_all_else_is_an_error():
    P = np.array([[0.2, 1 + 1e-12], [-1e-12, 1.0]])
    np.testing.assert_array_equal(checked_probabilities(P, "ab", None), [[0.2, 1.0], [0.0, 1.0]])
    for wrong in (np.nan, 1.1, -0.1, np.inf):
        with pytest.raises(ValueError, match="as the probability of 'b' in row 0, which must"):
            checked_probabilities(np.array([[0.2, wrong]]), "ab", None)


def test_members_that_give_no_number_are_named():
    X, Y = np.arange(12.0)[:, None], np.eye(2, dtype=int)[np.arange(12) % 2]
    model = LabelCoverClassifier(Broken(), threshold=0.5, k=2, random_state=0).fit(X, Y)
    for method in (model.predict_proba, model.predict):
        with pytest.raises(ValueError, match=r"Broken\(\) gave nan as the probability of \d in"):
            method(X)
    chain = ProbabilisticChainClassifier(Broken(), random_state=0).fit(X, Y)
    for method in (chain.predict_proba, chain.predict):
        with pytest.raises(ValueError, match=r"Broken\(\) gave nan as the probability of \d in"):
            method(X)


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12])
def test_no_weights_make_newtons_method_lose_its_way(size):
    random = np.random.default_rng(0)
    for seed in range(15):
        random = np.random.default_rng(seed)
        X = random.normal(size=(30, 4)) * 10.0 ** random.integers(-3, 4)
        Y = random.integers(2, size=(30, 3))
        weights = np.where(random.random(30) < 0.5, size, 1.0)
        model = LabelPowersetClassifier(LogisticClassifier(scale="none"), random_state=0)
        P = model.fit(X, Y, sample_weight=weights).predict_proba(X)
        assert np.isfinite(P).all()


def test_a_label_that_is_the_same_in_all_rows_is_certain_for_coupled_machines():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    Y = np.column_stack([np.ones(40), X[:, 0] > 0, np.zeros(40)]).astype(int)
    for k in (1, 2, 3):
        model = RakelPlusPlusClassifier(SMOClassifier(logistic=True), k=k, random_state=0)
        P = model.fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(P[:, 0], 1.0)
        np.testing.assert_allclose(P[:, 2], 0.0, atol=1e-9)
        assert (model.predict(X)[:, 0] == 1).all()
    alone = SMOClassifier(logistic=True).fit(X, ["only"] * 40)
    np.testing.assert_array_equal(alone.predict_proba(X), np.ones((40, 1)))


@pytest.mark.parametrize("ties", ["positive", "negative"])
@pytest.mark.parametrize("threshold", [0.0, 0.5, 1.0])
def test_deciding_on_probabilities_is_predicting(threshold, ties):
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    Y = np.column_stack([np.ones(40), X[:, 0] > 0, np.zeros(40)]).astype(int)
    for member in (SMOClassifier(), LogisticClassifier()):
        model = LabelCoverClassifier(member, k=1, threshold=threshold, ties=ties, random_state=0)
        model.fit(X, Y)
        decided = model.decision_.decide(model.predict_proba(X))
        np.testing.assert_array_equal(decided, model.predict(X))
