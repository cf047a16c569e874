import numpy as np
import pytest
from joblib import parallel_config
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelcover.covers import Cover
from labelcover.families import GenericFamily, encode, family_of


def plain_confidence(probabilities, encoding, votes):
    """Algorithm 2 as it is printed, on the members' class distributions."""
    cover, offsets = encoding.cover, encoding.offsets
    sums, counts = np.zeros((len(probabilities), cover.n_labels)), np.zeros(cover.n_labels)
    for j, labels in enumerate(cover.labelsets):
        own = probabilities[:, offsets[j] : offsets[j + 1]]
        patterns = encoding.patterns[offsets[j] : offsets[j + 1]]
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
    return X, Y, encode(Y, cover)


def fitted(estimator, X, encoding, **options):
    return family_of(estimator).fit(X, encoding, seeds=np.arange(len(encoding.cover)), **options)


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
def test_confidence_is_the_mean_over_the_members(problem, estimator, votes):
    X, _, encoding = problem
    family = fitted(estimator, X, encoding)
    probabilities = family.class_probabilities(X)
    assert probabilities.shape == (60, encoding.n_classes)
    np.testing.assert_allclose(np.add.reduceat(probabilities, encoding.offsets[:-1], axis=1), 1)
    np.testing.assert_allclose(
        family.confidence(X, votes=votes), plain_confidence(probabilities, encoding, votes)
    )


def test_other_classifiers_get_the_generic_family():
    assert isinstance(family_of(DummyClassifier()), GenericFamily)


def test_members_that_pose_the_same_problem_share_a_model(problem):
    X, _, encoding = problem
    assert len(fitted(LogisticRegression(), X, encoding).models_) == 4


def test_members_with_constant_labels_need_no_model(problem):
    X, Y, _ = problem
    Y[:, :] = 0
    Y[:, 1] = 1
    encoding = encode(Y, Cover([[0, 1], [2, 3]], n_labels=6))
    family = fitted(LogisticRegression(), X, encoding)
    assert family.models_ == [None]
    np.testing.assert_array_equal(family.confidence(X)[0], [0, 1, 0, 0, 0, 0])


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
@pytest.mark.parametrize("n_jobs", [1, 2, 4])
def test_results_do_not_depend_on_how_they_are_computed(problem, n_jobs, backend):
    X, _, encoding = problem
    tree = DecisionTreeClassifier(max_features=1)
    alone = fitted(tree, X, encoding).confidence(X)
    with parallel_config(backend=backend):
        together = fitted(tree, X, encoding, n_jobs=n_jobs).confidence(X)
    np.testing.assert_array_equal(alone, together)


def test_weights_of_rows_reach_the_members(problem):
    X, _, encoding = problem
    weights = np.linspace(0, 5, 60)
    plain = fitted(LogisticRegression(), X, encoding)
    weighted = fitted(LogisticRegression(), X, encoding, fit_params={"sample_weight": weights})
    assert not np.allclose(plain.confidence(X), weighted.confidence(X))


def test_what_is_no_classifier_is_refused(problem):
    X, _, encoding = problem
    with pytest.raises(ValueError, match="estimator must be a scikit-learn classifier"):
        fitted(object(), X, encoding)
