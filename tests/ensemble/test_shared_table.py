"""Members of scikit-learn share one table, which is checked once."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from labelcover.covers import Cover
from labelcover.ensemble._encoding import encode

LEARNERS = [
    DecisionTreeClassifier(random_state=0),
    ExtraTreeClassifier(random_state=0),
    SVC(kernel="linear"),
    LinearSVC(random_state=0),
]


class Watcher(ClassifierMixin, BaseEstimator):
    """Remembers whether finite values were taken for granted."""

    def fit(self, X, y, sample_weight=None):
        self.assumed_ = get_config()["assume_finite"]
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(X.shape[0], dtype=int)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * (rng.random((80, 6)) < 0.6)
    return X, (X[:, :4] > 0).astype(np.uint8), Cover([[0, 1], [1, 2], [2, 3]], 4)


@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
@pytest.mark.parametrize("make", [np.asfortranarray, sparse.csr_array])
def test_members_are_those_fitted_alone_on_the_table_given(data, fit_view, estimator, make):
    X, Y, cover = data
    X = make(X)
    models = fit_view(estimator, X, Y, cover).members.models
    _, classes, _ = encode(Y, [cover])
    for own, model in zip(classes.array(), models, strict=True):
        alone = clone(estimator).fit(X, own)
        np.testing.assert_array_equal(model.predict(X), alone.predict(X))


def test_values_are_checked_once_but_metadata_still_are(data, fit_view):
    models = fit_view(Watcher(), *data).members.models
    assert all(model.assumed_ for model in models)
    models = fit_view(Watcher(), *data, weights=np.linspace(1, 2, 80)).members.models
    assert not any(model.assumed_ for model in models)
    assert not get_config()["assume_finite"]


def test_values_of_a_data_frame_are_left_to_the_members(data, fit_view):
    X, Y, cover = data
    models = fit_view(Watcher(), pd.DataFrame(X).rename(columns=str), Y, cover).members.models
    assert not any(model.assumed_ for model in models)
