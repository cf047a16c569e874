"""Scores of any model as features of a second stage."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from labelcover import LabelCoverClassifier
from labelcover.ensemble import OutOfFoldScores
from labelcover.learners import LabelForest, LeastSquaresClassifier
from labelcover.metrics import subset_accuracy


def table(n=120, d=5, m=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, m)) + random.logistic(size=(n, m)) > 0.5).astype(np.uint8)
    return X, Y


ONE_VS_REST = OneVsRestClassifier(LogisticRegression())
MODELS = {
    "one array of probabilities": ONE_VS_REST,
    "a list of arrays": ExtraTreesClassifier(5, random_state=0),
    "decision function": OneVsRestClassifier(RidgeClassifier()),
    "ours": LabelCoverClassifier(LabelForest(5), k=2, random_state=0),
}


@pytest.mark.parametrize("what", MODELS)
def test_every_row_gets_the_scores_of_a_model_that_has_not_seen_it(what):
    X, Y = table()
    scores = OutOfFoldScores(MODELS[what], random_state=0)
    found = scores.fit_transform(X, Y)
    assert found.shape == Y.shape
    assert np.isfinite(found).all()
    assert len(scores.estimators_) == 3
    new = scores.transform(X)
    assert new.shape == Y.shape
    assert not np.allclose(new, found)


def test_a_model_that_remembers_rows_has_nothing_to_remember():
    """The nearest neighbour of a row seen is itself; by chance labels it would be always right."""
    X, _ = table()
    Y = np.random.default_rng(1).integers(0, 2, (120, 3)).astype(np.uint8)
    nearest = KNeighborsClassifier(1)
    found = OutOfFoldScores(nearest, random_state=0).fit_transform(X, Y)
    assert 0.35 < ((found > 0) == Y).mean() < 0.65
    assert (nearest.fit(X, Y).predict(X) == Y).all()


def test_new_rows_get_the_mean_of_the_folds():
    X, Y = table()
    first = MODELS["decision function"]
    scores = OutOfFoldScores(first, n_folds=4, random_state=0).fit(X, Y)
    each = [model.decision_function(X) for model in scores.estimators_]
    assert len(each) == 4
    np.testing.assert_allclose(scores.transform(X), np.mean(each, axis=0))


def test_probabilities_become_log_odds():
    X, Y = table()
    found = OutOfFoldScores(ONE_VS_REST, random_state=0).fit(X, Y)
    model = found.estimators_[0]
    found.estimators_, found.shifts_ = [model], np.zeros((1, 4))
    np.testing.assert_allclose(expit(found.transform(X)), model.predict_proba(X), atol=1e-3)


def test_models_that_know_nothing_say_nothing():
    """Their frequencies, from the other folds, would say the opposite of a row's label."""
    _, Y = table(60)
    nothing = np.zeros((60, 1))
    found = OutOfFoldScores(ONE_VS_REST, random_state=0).fit_transform(nothing, Y)
    raw = [
        model.decision_function(nothing)[0]
        for model in OutOfFoldScores(ONE_VS_REST, random_state=0).fit(nothing, Y).estimators_
    ]
    assert np.ptp(found, axis=0).max() < 0.1 * np.ptp(raw, axis=0).max()


def test_text_goes_in_and_labels_come_out():
    documents = ["red apple", "green apple", "red car", "blue car fast"] * 15
    Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1]] * 15)
    first = make_pipeline(TfidfVectorizer(), clone(ONE_VS_REST))
    model = make_pipeline(
        OutOfFoldScores(first, random_state=0),
        LabelCoverClassifier(LeastSquaresClassifier(), k=2, random_state=0),
    )
    model.fit(documents, Y)
    assert (model.predict(["an apple", "a car"]) == [[1, 0], [0, 1]]).all()


def test_the_second_stage_learns_which_labels_go_together():
    """Exactly one of three labels; a model of each alone knows nothing of the others."""
    random = np.random.default_rng(0)
    X = random.normal(size=(900, 6))
    one = np.argmax(X[:, :3] * X[:, 3:] + random.gumbel(size=(900, 3)) / 2, axis=1)
    Y = np.eye(3, dtype=np.uint8)[one]
    first = MultiOutputClassifier(ExtraTreesClassifier(30, min_samples_leaf=5, random_state=0))
    alone = first.fit(X[:600], Y[:600]).predict(X[600:])
    second = LabelCoverClassifier(
        LeastSquaresClassifier(), decide="subset_accuracy", random_state=0
    )
    both = make_pipeline(OutOfFoldScores(first, random_state=0), second).fit(X[:600], Y[:600])
    assert subset_accuracy(Y[600:], both.predict(X[600:])) > subset_accuracy(Y[600:], alone) + 0.1


def test_names_weights_seeds_and_containers():
    X, Y = table()
    frame = pd.DataFrame(Y, columns=list("abcd"))
    scores = OutOfFoldScores(MultiOutputClassifier(LogisticRegression()), random_state=0)
    found = scores.set_output(transform="pandas").fit_transform(pd.DataFrame(X), frame)
    assert list(found.columns) == list("abcd")
    again = OutOfFoldScores(MultiOutputClassifier(LogisticRegression()), n_jobs=2, random_state=0)
    np.testing.assert_allclose(again.fit_transform(X, sparse.csr_array(Y)), found, rtol=1e-9)
    heavy = again.fit(X, Y, sample_weight=1 + 9.0 * Y[:, 0]).transform(X)
    assert heavy[:, 0].mean() > np.asarray(found)[:, 0].mean() + 1
    copy = pickle.loads(pickle.dumps(again))
    np.testing.assert_array_equal(copy.transform(X), again.transform(X))


def test_a_label_that_a_fold_does_not_have_is_improbable_there():
    X, Y = table()
    Y[:, 3] = 0
    Y[5, 3] = 1
    found = OutOfFoldScores(ExtraTreesClassifier(5, random_state=0)).fit_transform(X, Y)
    assert found[5, 3] < -5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1"),
        ({"n_folds": 121}, "n_folds must be at most the number of rows, got n_folds=121 and 120"),
        ({"n_jobs": 0}, "n_jobs must"),
    ],
)
def test_wrong_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        OutOfFoldScores(ONE_VS_REST, **options).fit(*table())


def test_a_model_without_a_score_for_each_label_is_refused():
    class Two(LogisticRegression):
        def fit(self, X, Y):
            return super().fit(X, Y[:, 0])

    with pytest.raises(ValueError, match=r"expected 4 columns, got an array of shape \(\d+, 2\)"):
        OutOfFoldScores(Two()).fit_transform(*table())
    with pytest.raises(ValueError, match="Y must be a table of zeros and ones"):
        OutOfFoldScores(ONE_VS_REST).fit(table()[0], table()[1][:, 0])
