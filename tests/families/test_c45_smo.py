"""The families of C4.5 and SMO answer as their members would alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from labelcover.covers import Cover
from labelcover.families import C45Family, SMOFamily, encode, family_of
from labelcover.learners import C45Classifier, SMOClassifier

LEARNERS = [
    C45Classifier(),
    C45Classifier(pruned=False, laplace=True),
    C45Classifier(categorical_features=[3, 4]),
    SMOClassifier(),
    SMOClassifier(logistic=True),
    SMOClassifier(categorical_features=[3, 4]),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 6))
    X[:, 3:5] = rng.integers(0, 4, (150, 2))
    Y = (X[:, [0, 1, 2, 3, 0]] + 0.7 * rng.normal(size=(150, 5)) > 0.4).astype(np.uint8)
    Y[:, 1] = Y[:, 0]  # so that two labelsets pose the same problem
    return X, Y, Cover([[0, 2], [0, 3], [1, 2], [3, 4], [2, 3]], 5)


def fitted(estimator, X, encoding, **options):
    seeds = np.arange(len(encoding.cover))
    return family_of(estimator).fit(X, encoding, seeds=seeds, **options)


def alone(estimator, X, encoding, test, **fit_params):
    members = [
        clone(estimator).fit(X, codes, **fit_params).predict_proba(test) for codes in encoding.codes
    ]
    return np.hstack(members)


def test_each_learner_has_its_family():
    assert isinstance(family_of(C45Classifier()), C45Family)
    assert isinstance(family_of(SMOClassifier()), SMOFamily)


@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_members_are_those_fitted_alone(data, estimator, missing):
    X, Y, cover = data
    if missing:
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    encoding = encode(Y, cover)
    family = fitted(estimator, X, encoding, n_jobs=2)
    np.testing.assert_allclose(
        family.class_probabilities(X), alone(estimator, X, encoding, X), atol=1e-9
    )


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_weights_reach_the_members_and_rows_without_weight_do_not_count(data, estimator):
    X, Y, cover = data
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    encoding = encode(Y, cover)
    family = fitted(estimator, X, encoding, fit_params={"sample_weight": weight})
    expected = alone(estimator, X, encoding, X, sample_weight=weight)
    np.testing.assert_allclose(family.class_probabilities(X), expected, atol=1e-9)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_results_do_not_depend_on_the_number_of_threads(data, estimator):
    X, Y, cover = data
    one, two = (fitted(estimator, X, encode(Y, cover), n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.class_probabilities(X), two.class_probabilities(X))


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_members_that_pose_the_same_problem_share_one_model(data, estimator):
    X, Y, cover = data
    encoding = encode(Y, cover)
    family = fitted(estimator, X, encoding)
    assert len(family.stack_.offsets) - 1 == 4
    answers = family.class_probabilities(X)
    parts = [answers[:, encoding.offsets[j] : encoding.offsets[j + 1]] for j in (0, 2)]
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
@pytest.mark.parametrize("kind", ["sparse", "float32", "read-only"])
def test_tables_of_every_kind_give_the_same_members(data, estimator, kind):
    X, Y, cover = data
    X = np.where(np.abs(X) < 0.5, 0, np.abs(X)).astype(np.float32)
    given = {"sparse": sparse.csr_array(X, dtype=float), "float32": X, "read-only": X.astype(float)}
    if kind == "read-only":
        given[kind].setflags(write=False)
    expected = fitted(estimator, X.astype(float), encode(Y, cover))
    family = fitted(estimator, given[kind], encode(Y, cover))
    np.testing.assert_allclose(
        family.class_probabilities(given[kind]), expected.class_probabilities(X.astype(float))
    )


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_a_member_with_one_class_is_sure_of_it(data, estimator):
    X, Y, _ = data
    Y = Y.copy()
    Y[:, 1:3] = [0, 1]
    encoding = encode(Y, Cover([[1, 2], [0, 1]], 5))
    family = fitted(estimator, X, encoding)
    np.testing.assert_array_equal(family.class_probabilities(X)[:, 0], 1)
    np.testing.assert_array_equal(family.confidence(X)[:, 2], 1)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_unknown_metadata_is_refused(data, estimator):
    X, Y, cover = data
    with pytest.raises(TypeError, match="takes sample_weight only, got groups"):
        fitted(estimator, X, encode(Y, cover), fit_params={"groups": np.ones(len(X))})
