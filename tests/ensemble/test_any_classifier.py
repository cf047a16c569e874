"""Any scikit-learn classifier as a member: one clone for each problem."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, RidgeClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelcover.covers import Cover
from labelcover.learners._batch_classifier import Clones


def plain_confidence(distributions, encoding, votes):
    """Algorithm 2 as it is printed, on the members' class distributions."""
    cover, starts = encoding.cover, encoding.starts
    sums, counts = np.zeros((len(distributions), cover.n_labels)), np.zeros(cover.n_labels)
    for j, labels in enumerate(cover.labelsets):
        own = distributions[:, starts[j] : starts[j + 1]]
        patterns = encoding.patterns[starts[j] : starts[j + 1]]
        said = patterns[own.argmax(axis=1)] if votes else own @ patterns
        sums[:, labels] += said
        counts[labels] += 1
    return sums / np.maximum(counts, 1)


@pytest.fixture
def problem():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    Y = (X @ random.normal(size=(4, 6)) + random.normal(size=(60, 6)) > 0).astype(np.uint8)
    Y[:, 5] = 0
    cover = Cover([[0, 1, 2], [1, 2, 3], [2, 3, 4], [0, 1, 2], [0, 4, 5]], n_labels=6)
    return X, Y, cover


@pytest.mark.parametrize("votes", [False, True])
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3),
        LinearSVC(),
        SVC(decision_function_shape="ovo"),
        RidgeClassifier(),
        Perceptron(),
        NearestCentroid(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_confidence_is_the_mean_over_the_members(problem, fit_view, estimator, votes):
    X = problem[0]
    view = fit_view(estimator, *problem, aggregate="votes" if votes else "mean")
    distributions, starts = view.distributions(X), view.encoding.starts
    assert distributions.shape == (60, starts[-1])
    np.testing.assert_allclose(np.add.reduceat(distributions, starts[:-1], axis=1), 1)
    np.testing.assert_allclose(
        view.confidence(X), plain_confidence(distributions, view.encoding, votes)
    )


def test_other_classifiers_are_cloned(problem, fit_view):
    members = fit_view(DummyClassifier(), *problem).members
    assert isinstance(members, Clones)
    assert all(isinstance(model, DummyClassifier) for model in members.models)


def test_members_that_pose_the_same_problem_share_a_model(problem, fit_view):
    assert len(fit_view(LogisticRegression(), *problem).members.models) == 4


def test_members_with_constant_labels_need_no_model(problem, fit_view):
    X, Y, _ = problem
    Y[:, :] = 0
    Y[:, 1] = 1
    view = fit_view(LogisticRegression(), X, Y, Cover([[0, 1], [2, 3]], n_labels=6))
    assert view.members.models == [None]
    np.testing.assert_array_equal(view.confidence(X)[0], [0, 1, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("n_jobs", "backend"), [(2, "loky"), (4, "threading"), (2, "multiprocessing")]
)
def test_results_do_not_depend_on_how_they_are_computed(problem, fit_view, n_jobs, backend):
    X = problem[0]
    tree = DecisionTreeClassifier(max_features=1)
    alone = fit_view(tree, *problem).confidence(X)
    with parallel_config(backend=backend):
        together = fit_view(tree, *problem, n_jobs=n_jobs).confidence(X)
    np.testing.assert_array_equal(alone, together)


def test_weights_of_rows_reach_the_members(problem, fit_view):
    X = problem[0]
    plain = fit_view(LogisticRegression(), *problem)
    weighted = fit_view(LogisticRegression(), *problem, weights=np.linspace(0.01, 5, 60))
    assert not np.allclose(plain.confidence(X), weighted.confidence(X))


@pytest.mark.parametrize(
    ("estimator", "lacks"),
    [
        (object(), "has no fit and no predict and no get_params"),
        (LogisticRegression, "is a class: call it"),
        (Ridge(), "is a regressor"),
        (StandardScaler(), "has no predict and no predict_proba: it gives neither classes nor"),
    ],
    ids=["object", "class", "regressor", "transformer"],
)
def test_what_is_no_classifier_is_refused(problem, fit_view, estimator, lacks):
    with pytest.raises(ValueError, match=f"estimator must be a scikit-learn classifier.*{lacks}"):
        fit_view(estimator, *problem)


class Silent(ClassifierMixin, BaseEstimator):
    """Has a predict, but says nowhere which classes there are."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Astray(Silent):
    """Predicts what is none of its classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), -1)


@pytest.mark.parametrize(
    ("estimator", "why"),
    [(Silent(), "no classes_ after fit"), (Astray(), "other values than its classes_")],
    ids=["no classes", "no class"],
)
def test_what_gives_neither_classes_nor_probabilities_is_refused(problem, fit_view, estimator, why):
    name = type(estimator).__name__
    with pytest.raises(ValueError, match=rf"classes or probabilities, got {name}\(\).*{why}"):
        fit_view(estimator, *problem).confidence(problem[0])


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
def test_votes_are_the_classes_that_members_predict(problem, fit_view, shape):
    X, Y, _ = problem
    # Two labels that exclude each other: three classes, and as many pairs of them.
    Y = np.column_stack([Y[:, 0], (1 - Y[:, 0]) * Y[:, 1]])
    cover = Cover([[0, 1]], n_labels=2)
    view = fit_view(SVC(decision_function_shape=shape), X, Y, cover, aggregate="votes")
    (model,) = view.members.models
    assert len(model.classes_) == 3
    np.testing.assert_array_equal(view.confidence(X), view.encoding.patterns[model.predict(X)])
