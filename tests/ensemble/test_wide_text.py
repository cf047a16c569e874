"""Wide text: logistic regressions on the words, and a second stage on their scores."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.base import clone

from labelcover import LabelCoverClassifier
from labelcover.decisions import MEASURES_OF_DECISIONS
from labelcover.ensemble import Plan, Pool, TableFacts, ViewPlan
from labelcover.learners import LabelForest, LeastSquaresClassifier, LogisticClassifier
from labelcover.models import load_model, save_model


def text(n=200, d=120, m=5, seed=0):
    """Bags of words whose labels hang on words, and on each other."""
    random = np.random.default_rng(seed)
    X = np.where(random.random((n, d)) < 0.06, random.uniform(0.5, 1.5, (n, d)), 0)
    scores = X @ random.normal(size=(d, m)) * 2
    Y = (scores + random.logistic(size=(n, m)) > 1).astype(np.uint8)
    Y[:, 1] &= Y[:, 0]
    return sparse.csr_array(X), Y


def small_pool(**options):
    learners = {name: options.pop(name) for name in ("logistic",) if name in options}
    pool = Pool(forest=LabelForest(20), **learners)
    return LabelCoverClassifier(pool, **{"random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    X, Y = text()
    return text_pool().fit(X[:150], Y[:150]), X, Y


def text_pool(**options):
    """The pool with the plan of wide text, whatever the table."""
    plan = Plan([ViewPlan("scores"), ViewPlan("neighbours"), ViewPlan("forest")])
    return small_pool(plan=plan, **options)


def log_loss(Y, P):
    return -np.log(np.where(Y == 1, P, 1 - P)).mean()


# When


def facts(*shape, share=0.01):
    return TableFacts(*shape, 5, share, True, False, shape[0])


def test_text_is_wide_above_2000_rows_and_columns():
    assert facts(2_001, 2_001).is_wide_text
    assert not facts(2_000, 9_000).is_wide_text
    assert not facts(9_000, 2_000).is_wide_text


def test_text_has_at_most_a_tenth_nonzeros():
    assert facts(5_000, 5_000, share=0.1).is_wide_text
    assert not facts(5_000, 5_000, share=0.1001).is_wide_text


def test_other_tables_have_no_logistic_view(monkeypatch):
    X, Y = text()
    monkeypatch.setattr(LogisticClassifier, "fit_problems", None)
    model = small_pool().fit(X, Y)
    names = ["least squares", "neighbours", "forest", "boosted trees"]
    assert [view.name for view in model.plan_.views] == names
    assert model.view_.pool.weights.shape == (5, 4)


def test_least_squares_reads_a_score_for_each_label(fitted):
    model, _, _ = fitted
    view = model.view_
    assert view.pool.weights.shape == (5, 4)
    read = view.views[0].second.members
    assert read.scaling.scale == "none"
    assert len(read.n_values) == 5
    line = model._chosen()
    assert "least squares on scores" in line
    assert "logistic" in line
    assert line.endswith("on 150 left-out rows")


def test_the_pool_loses_nothing_to_its_views():
    X, Y = text(2_000)
    model = text_pool().fit(X[:1_500], Y[:1_500])
    table = model._coding.read(model, X[1_500:])
    views = [log_loss(Y[1_500:], each) for each in model.view_.confidences_of_views(table)]
    assert len(views) == 4
    assert log_loss(Y[1_500:], model.predict_proba(X[1_500:])) <= 1.01 * min(views)


def test_weights_come_from_rows_that_the_views_have_not_seen():
    """On labels that are mere chance, views that have seen a row would be trusted."""
    X, _ = text(400)
    Y = (np.random.default_rng(0).random((400, 4)) < 0.3).astype(np.uint8)
    model = text_pool(logistic=LogisticClassifier(C=100.0)).fit(X[:300], Y[:300])
    assert model.view_.pool.weights.max() < 0.7
    assert np.abs(model.predict_proba(X[300:]) - 0.3).mean() < 0.12


def test_unseen_predictions_look_like_those_of_new_rows(fitted):
    model, X, Y = fitted
    unseen = model.left_out_predictions_.confidence
    seen = model.predict_proba(X[:150])
    assert log_loss(Y[:150], unseen) > log_loss(Y[:150], seen)
    new = log_loss(Y[150:], model.predict_proba(X[150:]))
    assert log_loss(Y[:150], unseen) == pytest.approx(new, rel=0.35)


def test_a_logistic_learner_that_is_given_is_pooled_on_any_table():
    X, Y = text()
    dense = X.toarray() + 1.0
    model = small_pool(logistic=LogisticClassifier(C=2.0)).fit(dense, Y)
    view = model.view_
    assert view.pool.weights.shape == (5, 4)
    assert view.views[1].members.C == 2.0
    assert "least squares" in model._chosen()
    assert np.isfinite(model.predict_proba(dense)).all()


@pytest.mark.parametrize("k", [1, 2])
def test_logistic_members_over_a_cover(k):
    X, Y = text()
    model = LabelCoverClassifier(LogisticClassifier(), k=k, r=min(2, k), random_state=0).fit(X, Y)
    for decide in MEASURES_OF_DECISIONS:
        assert model.predict(X, decide=decide).shape == Y.shape
    assert model.n_threshold_rows_ == 200


# Parameters, storing, jobs


def test_parameters_reach_the_logistic_learner():
    learners = {"least_squares": LeastSquaresClassifier(), "logistic": LogisticClassifier()}
    model = text_pool().set_params(
        estimator=Pool(forest=LabelForest(5), **learners),
        estimator__logistic__C=2.5,
        estimator__least_squares__kernel="linear",
        estimator__least_squares__n_landmarks=7,
    )
    view = clone(model).fit(*text()).view_.views[0]
    assert view.logistic.members.C == 2.5
    assert view.second.learner.get_params()["n_landmarks"] == 7
    assert view.second.members.kernel.is_linear
    assert model.get_params()["estimator__logistic__C"] == 2.5
    assert model.estimator.least_squares.scale == "auto"


def test_wrong_parameters_of_the_logistic_learner_are_refused():
    with pytest.raises(ValueError, match="C must be a number above 0, got -1"):
        small_pool(logistic=LogisticClassifier(C=-1)).fit(*text())


def test_pickled_and_saved_models_predict_the_same(fitted, tmp_path):
    model, X, _ = fitted
    save_model(model, tmp_path / "model.skops")
    for copy in (
        pickle.loads(pickle.dumps(model)),
        load_model(tmp_path / "model.skops"),
    ):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        for decide in (None, *MEASURES_OF_DECISIONS):
            found = copy.predict(X, decide=decide)
            np.testing.assert_array_equal(found, model.predict(X, decide=decide))


def test_jobs_do_not_change_results_and_seeds_do(fitted):
    model, X, Y = fitted
    together = text_pool(n_jobs=2).fit(X[:150], Y[:150])
    np.testing.assert_array_equal(together.predict_proba(X), model.predict_proba(X))
    other = text_pool(random_state=1).fit(X[:150], Y[:150])
    assert not np.array_equal(other.predict_proba(X), model.predict_proba(X))


def test_weights_of_rows_move_the_pool():
    X, Y = text()
    up, down = (
        text_pool().fit(X, Y, sample_weight=np.where(Y[:, 2] == 1, w, 1.0)).predict_proba(X)
        for w in (5.0, 0.2)
    )
    assert up[:, 2].mean() > down[:, 2].mean() + 0.1


# Bad input


def with_rare_tags():
    X, Y = text()
    Y = np.column_stack([Y, np.zeros((200, 3), np.uint8)])
    Y[7, 5] = 1
    Y[:, 7] = 1
    return X, Y


def without_words():
    X, Y = text()
    return sparse.csr_array(sparse.diags_array((np.arange(200) % 3 > 0).astype(float)) @ X), Y


def without_any_word():
    return sparse.csr_array((200, 120)), text()[1]


BAD = {
    "a tag in one row, one in none, one in all": with_rare_tags,
    "a third of the rows without words": without_words,
    "no words at all": without_any_word,
    "one label": lambda: (text()[0], text()[1][:, :1]),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.filterwarnings("ignore:k=3 is larger")
def test_bad_input_gives_probabilities_inside_0_and_1(what):
    X, Y = BAD[what]()
    model = text_pool().fit(X, Y)
    for table in (X, X * 5, sparse.csr_array((3, 120))):
        proba = model.predict_proba(table)
        assert ((proba > 0) & (proba < 1)).all()
        for decide in (None, *MEASURES_OF_DECISIONS):
            assert set(np.unique(model.predict(table, decide=decide))) <= {0, 1}
    if Y.shape[1] == 8:
        assert (model.predict(X)[:, 6:] == [0, 1]).all()


def test_an_empty_vocabulary_is_an_error():
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        LabelCoverClassifier().fit(sparse.csr_array((200, 0)), text()[1])


@pytest.mark.parametrize("logistic", [None, LogisticClassifier()], ids=["default", "logistic"])
def test_a_hundred_thousand_columns_with_50_rows(logistic):
    random = np.random.default_rng(0)
    X = sparse.random_array((50, 100_000), density=1e-4, rng=random, format="csr")
    Y = (random.random((50, 6)) < 0.4).astype(np.uint8)
    proba = small_pool(logistic=logistic).fit(X, Y).predict_proba(X)
    assert ((proba > 0) & (proba < 1)).all()


def test_scores_of_rare_labels_are_not_blown_up():
    """Their scores hardly vary in training; on new rows they do."""
    X, Y = text(300, m=6)
    Y[:, 3:] = 0
    Y[[5, 105], 3] = Y[[8], 4] = 1
    model = text_pool().fit(X[:200], Y[:200])
    scores = model.view_.confidences_of_views(model._coding.read(model, X[200:]))
    for view in scores[:2]:
        assert view[:, 3:].max() < 0.3


def test_reasons_add_up_where_least_squares_reads_scores(fitted):
    model, X, _ = fitted
    why = model.explain(X[:3], n_reasons=400, label=list(range(5)))
    assert {each.part for each in why} <= {"start", "feature", "label", "rest"}
    proba = model.predict_proba(X[:3])
    for (row, label), score in why.scores.items():
        own = [each for each in why if (each.row, each.label) == (row, label)]
        assert sum(each.contribution for each in own) == pytest.approx(score, abs=1e-8)
        place = list(model.label_names_in_).index(label)
        assert logit(proba[row, place]) == pytest.approx(score, abs=1e-8)
