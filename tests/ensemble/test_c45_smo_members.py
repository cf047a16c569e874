"""The members of C4.5 and SMO answer together as each would alone."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from labelcover import LabelCoverClassifier
from labelcover._table_numbers import relative_weights
from labelcover.covers import Cover
from labelcover.ensemble._encoding import encode
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.learners._c45.tree import TreeStack
from labelcover.learners._smo.smo_classifier import PairStack

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


def alone(estimator, X, Y, cover, test, **fit_params):
    encoding, classes, _ = encode(Y, [cover])
    members = [
        clone(estimator).fit(X, own, **fit_params).predict_proba(test)
        for own in classes.array()[encoding.problem]
    ]
    return np.hstack(members)


def test_each_learner_fits_its_own_kind_of_members(data, fit_view):
    assert isinstance(fit_view(C45Classifier(), *data).members, TreeStack)
    assert isinstance(fit_view(SMOClassifier(), *data).members, PairStack)


@pytest.mark.parametrize("estimator", LEARNERS, ids=repr)
@pytest.mark.parametrize("missing", [False, True])
def test_members_are_those_fitted_alone(data, fit_view, estimator, missing):
    X, Y, cover = data
    if missing:
        X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    view = fit_view(estimator, X, Y, cover, n_jobs=2)
    np.testing.assert_allclose(view.distributions(X), alone(estimator, X, Y, cover, X), atol=1e-9)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_weights_reach_the_members(data, fit_view, estimator):
    X, Y, cover = data
    weight = 10 ** np.random.default_rng(2).uniform(-1, 1, len(X))
    view = fit_view(estimator, X, Y, cover, weights=relative_weights(weight))
    expected = alone(estimator, X, Y, cover, X, sample_weight=weight)
    np.testing.assert_allclose(view.distributions(X), expected, atol=1e-9)
    assert not np.allclose(view.distributions(X), fit_view(estimator, X, Y, cover).distributions(X))


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_rows_without_weight_do_not_count(data, member_distributions, estimator):
    X, Y, cover = data
    weight = np.random.default_rng(2).integers(0, 3, len(X)).astype(float)
    model = LabelCoverClassifier(estimator, cover=cover, threshold=0.5)
    model.fit(X, Y, sample_weight=weight)
    expected = alone(estimator, X, Y, cover, X, sample_weight=weight)
    np.testing.assert_allclose(member_distributions(model.view_, X), expected, atol=1e-9)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_results_do_not_depend_on_the_number_of_threads(data, fit_view, estimator):
    X = data[0]
    one, two = (fit_view(estimator, *data, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.distributions(X), two.distributions(X))


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_members_that_pose_the_same_problem_share_one_model(data, fit_view, estimator):
    view = fit_view(estimator, *data)
    assert len(view.members.offsets) - 1 == 4
    answers, starts = view.distributions(data[0]), view.encoding.starts
    parts = [answers[:, starts[j] : starts[j + 1]] for j in (0, 2)]
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
@pytest.mark.parametrize("kind", ["sparse", "float32", "read-only"])
def test_tables_of_every_kind_give_the_same_members(data, fit_view, estimator, kind):
    X, Y, cover = data
    X = np.where(np.abs(X) < 0.5, 0, np.abs(X)).astype(np.float32)
    given = {"sparse": sparse.csr_array(X, dtype=float), "float32": X, "read-only": X.astype(float)}
    if kind == "read-only":
        given[kind].setflags(write=False)
    expected = fit_view(estimator, X.astype(float), Y, cover)
    view = fit_view(estimator, given[kind], Y, cover)
    np.testing.assert_allclose(
        view.distributions(given[kind]), expected.distributions(X.astype(float))
    )


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_a_member_with_one_class_is_sure_of_it(data, fit_view, estimator):
    X, Y, _ = data
    Y = Y.copy()
    Y[:, 1:3] = [0, 1]
    view = fit_view(estimator, X, Y, Cover([[1, 2], [0, 1]], 5))
    np.testing.assert_array_equal(view.distributions(X)[:, 0], 1)
    np.testing.assert_array_equal(view.confidence(X)[:, 2], 1)


@pytest.mark.parametrize("estimator", [C45Classifier(), SMOClassifier()], ids=repr)
def test_unknown_metadata_is_refused(data, estimator):
    X, Y, cover = data
    with pytest.raises(ValueError, match="groups must not be given"):
        LabelCoverClassifier(estimator, cover=cover).fit(X, Y, groups=np.ones(len(X)))
