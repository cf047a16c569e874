"""Chains: links that hand on labels, samples of rows, and orders."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from labelcover.ensemble._view import TrainingRows
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier
from labelcover.methods import EnsembleOfChainsClassifier
from labelcover.methods._chains import ChainsView, LinkedChain, fitted_chains

ORDER = [3, 0, 4, 1, 2]


@pytest.fixture(scope="module")
def problem():
    X, Y = make_multilabel_classification(150, 8, n_classes=5, random_state=3)
    return StandardScaler().fit_transform(X), Y


def one_chain(estimator, **options):
    return EnsembleOfChainsClassifier(estimator, n_chains=1, bagging=None, order=ORDER, **options)


@pytest.mark.parametrize("table", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "estimator",
    [LogisticRegression(), LinearSVC(random_state=0), DecisionTreeClassifier(random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_chain_of_given_order_is_that_of_scikit_learn(problem, table, estimator):
    X, Y = table(problem[0]), problem[1]
    ours = one_chain(estimator, ties="negative").fit(X[:100], Y[:100])
    theirs = ClassifierChain(estimator, order=ORDER).fit(X[:100], Y[:100])
    np.testing.assert_array_equal(ours.predict(X[100:]), theirs.predict(X[100:]))
    if hasattr(theirs, "predict_proba"):
        np.testing.assert_allclose(
            ours.predict_proba(X[100:]), theirs.predict_proba(X[100:]), atol=1e-12
        )


@pytest.mark.parametrize("aggregate", ["mean", "votes"])
def test_the_ensemble_is_the_mean_of_its_chains(problem, aggregate):
    X, Y = problem
    orders = [ORDER, [0, 1, 2, 3, 4], [4, 3, 2, 1, 0]]
    model = EnsembleOfChainsClassifier(
        LogisticRegression(), n_chains=3, order=orders, bagging=None, aggregate=aggregate
    ).fit(X, Y)
    chains = [ClassifierChain(LogisticRegression(), order=order).fit(X, Y) for order in orders]
    answers = "predict" if aggregate == "votes" else "predict_proba"
    expected = np.mean([getattr(chain, answers)(X) for chain in chains], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-9)
    np.testing.assert_array_equal(model.orders_, orders)


def training_rows(X, Y, weights=None):
    return TrainingRows(X, Y.astype(np.uint8), np.zeros(X.shape[1], np.int32), weights, {})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_least_squares_links_from_one_factorisation_are_those_fitted_one_by_one(
    problem, table, weighted
):
    """With a given ridge and raw features, labels are features like the others."""
    X, Y = problem
    weights = np.random.default_rng(0).integers(1, 4, 100).astype(float) if weighted else None
    training = training_rows(table(X[:100]), Y[:100], weights)
    learner = LeastSquaresClassifier(kernel="linear", alpha=3.0, scale="none", random_state=0)
    order, seeds = np.array(ORDER), np.zeros(5, np.int64)
    (shared,) = fitted_chains(learner, training, order[None], seeds[None])
    alone = LinkedChain.fitted(learner, training, order, seeds)
    before = np.random.default_rng(1).integers(0, 2, (50, 5)).astype(np.uint8)
    new = table(X[100:])
    for link in range(5):
        np.testing.assert_allclose(
            shared.probability(shared.prepare(new), None, link, before[:, :link]),
            alone.probability(new, None, link, before[:, :link]),
            atol=1e-3,  # temperatures are found to within their tolerance
        )
        members = alone.links[link]
        table_of_link = np.hstack([X[100:], before[:, :link]])
        scores = members.scores(members.prepare(table_of_link), slice(0, 1))[:, 1]
        p = shared.probability(shared.prepare(new), None, link, before[:, :link])
        logits = np.log(p / (1 - p)) / shared.varying.inverse_temperatures[link]
        np.testing.assert_allclose((logits + 1) / 2, scores, atol=1e-9)


def test_some_rows_of_a_chain_are_those_of_all(problem):
    X, Y = problem
    rows = np.array([4, 4, 0, 9])
    before = np.array([[0, 1], [1, 0], [0, 0], [1, 1]], np.uint8)
    for learner in (LeastSquaresClassifier(), C45Classifier()):
        seeds = np.zeros((1, 5), np.int64)
        (chain,) = fitted_chains(learner, training_rows(X, Y), np.array([ORDER]), seeds)
        some = chain.probability(chain.prepare(X), rows, 2, before)
        alone = chain.probability(chain.prepare(X[rows]), None, 2, before)
        np.testing.assert_allclose(some, alone, atol=1e-12)


@pytest.mark.parametrize("learner", [LeastSquaresClassifier(), C45Classifier(), SMOClassifier()])
def test_a_label_that_copies_an_earlier_one_is_read_off_it(learner):
    """X says nothing, so only the link from label 0 to label 1 can."""
    random = np.random.default_rng(0)
    Y = np.repeat(random.integers(0, 2, (200, 1)), 2, axis=1)
    chain = fitted_chains(
        learner,
        training_rows(random.normal(size=(200, 3)), Y),
        np.array([[0, 1]]),
        np.zeros((1, 2)),
    )[0]
    X = random.normal(size=(50, 3))
    given = random.integers(0, 2, (50, 1)).astype(np.uint8)
    told = chain.probability(chain.prepare(X), None, 1, given)
    np.testing.assert_array_equal(told > 0.5, given[:, 0] == 1)


@pytest.mark.parametrize("estimator", [None, LogisticRegression(), C45Classifier()])
def test_labels_that_never_change_are_predicted_as_they_were(problem, estimator):
    X, Y = problem
    Y = Y.copy()
    Y[:, 1], Y[:, 3] = 1, 0
    model = EnsembleOfChainsClassifier(estimator, n_chains=3, random_state=0).fit(X, Y)
    assert (model.predict(X)[:, 1] == 1).all()
    assert (model.predict(X)[:, 3] == 0).all()
    Y[:] = 1
    assert (EnsembleOfChainsClassifier(estimator).fit(X, Y).predict(X) == 1).all()


@pytest.mark.parametrize("bagging", ["bootstrap", "subsample"])
@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier()], ids=["LS", "tree"])
def test_out_of_bag_confidences_are_those_of_chains_fitted_without_the_row(
    problem, bagging, estimator, asked_left_out
):
    X, Y = problem
    asked = asked_left_out(ChainsView)
    model = EnsembleOfChainsClassifier(
        estimator, n_chains=4, bagging=bagging, threshold="auto", random_state=0
    ).fit(X, Y)
    rows, (confidence,) = asked[0]
    assert model.n_threshold_rows_ == len(rows)
    # Trees know the rows they have seen by heart, so that the labels of others must be wrong often.
    if estimator is not None:
        assert ((confidence > 0.5) != Y[rows]).mean() > 0.1
    alone = EnsembleOfChainsClassifier(
        estimator, n_chains=1, bagging=bagging, threshold="loo", random_state=0
    ).fit(X, Y)
    rows, (confidence,) = asked[1]
    assert abs(len(rows) / 150 - {"bootstrap": 0.368, "subsample": 0.33}[bagging]) < 0.08
    np.testing.assert_array_equal(confidence, alone.view_.confidences(X[rows])[0])


def test_without_bagging_there_is_no_out_of_bag(problem):
    with pytest.raises(ValueError, match='threshold="loo" needs'):
        EnsembleOfChainsClassifier(bagging=None, threshold="loo").fit(*problem)


def test_a_row_drawn_twice_counts_twice(problem):
    """Trees on a bag equal trees on repeated rows; all chains of a bag of one row predict it."""
    X, Y = problem
    tiny = EnsembleOfChainsClassifier(
        DecisionTreeClassifier(), n_chains=1, sample_fraction=1 / 150, random_state=0
    ).fit(X, Y)
    predicted = tiny.predict(X)
    assert (predicted == predicted[0]).all()
    assert (predicted[0] == Y).all(axis=1).any()


@pytest.mark.parametrize("estimator", [None, DecisionTreeClassifier(max_features=2)], ids=repr)
def test_chains_do_not_depend_on_jobs(problem, estimator):
    X, Y = problem
    alone, jobs = (
        EnsembleOfChainsClassifier(estimator, n_chains=3, n_jobs=n_jobs, random_state=0)
        for n_jobs in (1, 2)
    )
    with parallel_config(backend="threading"):
        np.testing.assert_array_equal(
            alone.fit(X, Y).predict_proba(X), jobs.fit(X, Y).predict_proba(X)
        )


@pytest.mark.parametrize("kind", ["pandas", "numbered", "polars"])
def test_data_frames_get_labels_as_columns(problem, kind):
    X, Y = problem
    if kind == "polars":
        frame = pl.DataFrame(X, schema=[f"label{i}" for i in range(8)])
    else:
        frame = pd.DataFrame(X, index=[0] * 150)
        frame.columns = [f"x{i}" for i in range(8)] if kind == "pandas" else range(8)
    model = one_chain(LogisticRegression()).fit(frame, Y)
    plain = one_chain(LogisticRegression()).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(frame), plain.predict_proba(X), atol=1e-8)


def test_half_of_the_votes_is_positive_unless_said_otherwise(problem):
    X, Y = problem
    options = {"n_chains": 2, "aggregate": "votes", "random_state": 0}
    tree = DecisionTreeClassifier(random_state=0)
    model = EnsembleOfChainsClassifier(tree, **options).fit(X, Y)
    tied = np.isclose(model.predict_proba(X), 0.5)
    assert tied.any()
    assert model.predict(X)[tied].all()
    model = EnsembleOfChainsClassifier(tree, ties="negative", **options).fit(X, Y)
    assert not model.predict(X)[tied].any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_chains": 0}, "n_chains must be an integer of at least 1, got 0"),
        ({"order": "sorted"}, "order must be 'random' or the numbers 0 to 4 .*got 'sorted'"),
        ({"order": [0, 1, 2, 3]}, "order must be .*got \\[0, 1, 2, 3\\]"),
        ({"order": [0, 1, 2, 3, 3]}, "order must be"),
        ({"order": [ORDER, ORDER]}, "once or for each of n_chains=10 chains"),
        ({"order": [ORDER, [0]]}, "order must be"),
        ({"bagging": "boosting"}, "bagging must be one of 'bootstrap', 'subsample', None, got"),
        ({"sample_fraction": 1.5}, "sample_fraction must be a number .*got 1.5"),
        ({"aggregate": "median"}, "aggregate must be one of 'mean', 'votes', got 'median'"),
        ({"ties": "even"}, "ties must be one of 'auto', 'positive', 'negative', got 'even'"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(problem, change, message):
    with pytest.raises(ValueError, match=message):
        EnsembleOfChainsClassifier(**change).fit(*problem)
