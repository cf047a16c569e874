"""The default: least squares over labelsets and single labels and a forest, pooled."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV

from labelcover import LabelCoverClassifier
from labelcover._table_numbers import RareValues
from labelcover.datasets import load
from labelcover.decisions import MEASURES_OF_DECISIONS
from labelcover.ensemble import Pool
from labelcover.ensemble._cover_view import CoverView
from labelcover.ensemble._pool import PooledView
from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.metrics import micro_f1
from labelcover.models import load_model, save_model


def problem(n=120, d=6, m=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, m)) + random.normal(size=(n, m)) > 0.5).astype(np.uint8)
    Y[:, 0] = (X[:, 0] * X[:, 1] > 0) ^ (random.random(n) < 0.1)
    return X, Y


def small_pool(**options):
    pool = Pool(forest=LabelForest(20))
    return LabelCoverClassifier(pool, **{"random_state": 0, **options})


@pytest.fixture(scope="module")
def fitted():
    X, Y = problem()
    return small_pool().fit(X[:80], Y[:80]), X, Y


def log_loss(Y, P):
    return -np.log(np.where(Y == 1, P, 1 - P)).mean()


def losses(model, X, Y):
    """The log-loss of the model and of each of its views."""
    table, view = model._coding.read(model, X), model.view_
    views = view.confidences_of_views(table)
    assert len(views) == len(view.view_names)
    return log_loss(Y, model.predict_proba(X)), [log_loss(Y, each) for each in views]


def test_the_pool_is_the_default():
    X, Y = problem()
    default = LabelCoverClassifier(random_state=0).fit(X, Y)
    assert isinstance(default.view_, PooledView)
    named = LabelCoverClassifier(Pool(), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(default.predict_proba(X), named.predict_proba(X))


@pytest.mark.parametrize("seed", [0, 1])
def test_the_pool_loses_nothing_to_its_views_on_simulated_data(seed):
    X, Y = problem(1200, seed=seed)
    model = LabelCoverClassifier(Pool(forest=LabelForest(50)), random_state=0)
    pooled, views = losses(model.fit(X[:600], Y[:600]), X[600:], Y[600:])
    assert pooled <= 1.01 * min(views)


def test_the_pool_loses_nothing_to_its_views_on_debtags(shared_data):
    data = load("debtags")
    order = np.random.default_rng(0).permutation(len(data.Y))
    train, test = order[:400], order[400:1000]
    model = LabelCoverClassifier(Pool(forest=LabelForest(50)), random_state=0)
    model.fit(data.X[train], data.Y[train])
    pooled, views = losses(model, data.X[test], data.Y[test])
    assert pooled <= 1.01 * min(views)


def test_weights_come_from_rows_that_the_views_have_not_seen():
    """On labels that are mere chance, views that have seen a row would be trusted."""
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(200, 30)), (random.random((200, 4)) < 0.3).astype(np.uint8)
    model = small_pool(decide="hamming_loss").fit(X, Y)
    proba = model.predict_proba(random.normal(size=(300, 30)))
    assert np.abs(proba - 0.3).mean() < 0.12
    assert model.view_.pool.weights.max() < 0.7


def test_unseen_predictions_are_not_those_of_the_fitted_model(fitted):
    model, X, Y = fitted
    kept, answer, weights, labelsets = model._unseen
    unseen = answer.dense()
    np.testing.assert_array_equal(kept, Y[:80])
    assert weights is None
    np.testing.assert_array_equal(labelsets, np.unique(Y[:80], axis=0))
    seen = model.predict_proba(X[:80])
    assert log_loss(Y[:80], unseen) > log_loss(Y[:80], seen)
    assert log_loss(Y[:80], unseen) == pytest.approx(
        log_loss(Y[80:], model.predict_proba(X[80:])), rel=0.35
    )


def test_all_views_but_least_squares_read_a_table_once(monkeypatch):
    X, Y = problem()
    fit, read = RareValues.fit, []

    def counted(self, X):
        read.append(X.shape)
        return fit(self, X)

    monkeypatch.setattr(RareValues, "fit", counted)
    model = LabelCoverClassifier(random_state=0).fit(X * (X > 1), Y)
    assert "neighbours" in model.view_.view_names
    assert len(read) == 1


# Parameters


def test_parameters_reach_both_learners():
    model = LabelCoverClassifier().set_params(
        estimator=Pool(LeastSquaresClassifier(), LabelForest()),
        estimator__least_squares__alpha=2.5,
        estimator__forest__n_trees=7,
        estimator__least_squares__kernel="linear",
    )
    view = model.set_params(random_state=0).fit(*problem()).view_
    assert view.views[0].members.ridge == 2.5
    assert view.views[0].members.kernel.is_linear
    assert view.views[1].model.n_trees == 7
    again = clone(model)
    assert again.estimator.least_squares.alpha == 2.5
    assert again.estimator.forest.n_trees == 7
    assert again.get_params()["estimator__least_squares__alpha"] == 2.5


def test_setting_parameters_of_a_clone_leaves_the_original_alone():
    model = small_pool()
    clone(model).set_params(estimator__forest__n_trees=3)
    assert model.estimator.forest.n_trees == 20
    assert LabelCoverClassifier().set_params(k=2).estimator == "auto"


def test_unknown_parameters_are_refused():
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        LabelCoverClassifier().set_params(estimator__depth=3)
    with pytest.raises(ValueError, match="n_trees must be an integer of at least 1, got 0"):
        LabelCoverClassifier(Pool(forest=LabelForest(0))).fit(*problem())
    with pytest.raises(TypeError, match="LabelCoverClassifier"):
        Pool().fit(*problem())


def test_parameters_of_both_learners_are_searched():
    X, Y = problem(60)
    grid = {
        "estimator__forest__n_trees": [2, 10],
        "estimator__least_squares__alpha": [0.1, 1.0],
    }
    pool = Pool(LeastSquaresClassifier(), LabelForest())
    model = LabelCoverClassifier(pool, k=2, random_state=0)
    search = GridSearchCV(model, grid, scoring=make_scorer(micro_f1), cv=2).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.view_.views[1].model.n_trees in (2, 10)


@pytest.mark.parametrize("member", [LeastSquaresClassifier(), LabelForest(20)], ids=repr)
def test_each_view_is_available_alone(member):
    X, Y = problem()
    model = LabelCoverClassifier(member, random_state=0).fit(X, Y)
    for decide in MEASURES_OF_DECISIONS:
        assert model.predict(X, decide=decide).shape == Y.shape


# Decisions


@pytest.mark.parametrize(
    "decide",
    [*MEASURES_OF_DECISIONS, 2, micro_f1],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_fitted_model_decides_for_another_measure_as_if_fitted_for_it(fitted, decide):
    model, X, Y = fitted
    view, own = model.view_, model.predict(X)
    found = model.predict(X, decide=decide)
    assert model.view_ is view
    np.testing.assert_array_equal(model.predict(X), own)
    asked = small_pool(decide=decide).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(asked.predict(X), found)
    assert set(np.unique(found)) <= {0, 1}
    if decide == 2:
        assert (found.sum(axis=1) == 2).all()


def test_nothing_is_fitted_to_decide_again(fitted, monkeypatch):
    model, X, _ = fitted

    def fail(*args, **options):
        pytest.fail("a view was fitted")

    monkeypatch.setattr(PooledView, "fit", fail)
    for decide in MEASURES_OF_DECISIONS:
        model.predict(X, decide=decide)


def test_hamming_loss_is_cut_at_one_half(fitted):
    model, X, _ = fitted
    found = model.predict(X, decide="hamming_loss")
    np.testing.assert_array_equal(found, model.predict_proba(X) > 0.5)


def test_a_number_as_threshold_leaves_nothing_to_decide():
    X, Y = problem()
    model = small_pool(threshold=0.4).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > 0.4)
    said = r'decide needs left-out predictions .*threshold="auto".*0.4'
    with pytest.raises(ValueError, match=said):
        model.predict(X, decide="macro_f1")


def test_a_measure_that_is_not_known_is_refused(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match=r"decide must be one of .*got 'accuracy'"):
        model.predict(X, decide="accuracy")
    with pytest.raises(ValueError, match=r"decide must be .*between 1 and 5.*got 6"):
        model.predict(X, decide=6)


# Storing


def test_pickled_and_saved_models_predict_the_same(fitted, tmp_path):
    model, X, _ = fitted
    save_model(model, tmp_path / "model.skops")
    for copy in (
        pickle.loads(pickle.dumps(model)),
        load_model(tmp_path / "model.skops"),
    ):
        np.testing.assert_array_equal(copy.predict_proba(X), model.predict_proba(X))
        for decide in (None, *MEASURES_OF_DECISIONS, 3):
            np.testing.assert_array_equal(
                copy.predict(X, decide=decide), model.predict(X, decide=decide)
            )


# Input of all kinds


def bad_tables():
    random = np.random.default_rng(0)
    X, Y = problem(60)
    constant, rare = Y.copy(), Y.copy()
    constant[:, 0], constant[:, 1] = 0, 1
    rare[:, 2] = 0
    rare[5, 2] = 1
    many = random.integers(0, 2, (12, 30)).astype(np.uint8)
    return {
        "constant labels": (X, constant),
        "one positive row": (X, rare),
        "10 rows": (X[:10], Y[:10]),
        "2 rows": (X[:2], Y[:2]),
        "1 row": (X[:1], Y[:1]),
        "1 feature": (X[:, :1], Y),
        "more labels than rows": (X[:12], many),
        "constant feature": (np.ones((60, 1)), Y),
        "all labels constant": (X, np.zeros_like(Y)),
        "all rows alike": (X, np.tile(Y[:1], (60, 1))),
        "a label twice, and its opposite": (X, np.column_stack([Y, Y[:, 0], 1 - Y[:, 0]])),
        "sparse": (sparse.csr_array(np.where(X > 1, X, 0)), Y),
    }


@pytest.mark.parametrize("what", bad_tables())
def test_bad_input_gives_probabilities_inside_0_and_1(what):
    X, Y = bad_tables()[what]
    model = small_pool().fit(X, Y)
    new = sparse.csr_array(X) * 3 if sparse.issparse(X) else 3 * X + 1
    for table in (X, new):
        proba = model.predict_proba(table)
        assert ((proba > 0) & (proba < 1)).all()
        assert np.isfinite(model.decision_function(table)).all()
        for decide in (None, *MEASURES_OF_DECISIONS, 1):
            assert set(np.unique(model.predict(table, decide=decide))) <= {0, 1}
    if what == "constant labels":
        assert (model.predict(X)[:, :2] == [0, 1]).all()


def test_one_label_is_enough():
    X, Y = problem()
    model = small_pool().fit(X, Y[:, :1])
    proba = model.predict_proba(X)
    assert proba.shape == (120, 1)
    assert ((proba > 0) & (proba < 1)).all()


def test_single_labels_as_cover_are_pooled_with_the_forest():
    X, Y = problem()
    model = small_pool(k=1, r=1).fit(X, Y)
    assert model.view_.pool.weights.shape == (5, 3)
    assert np.isfinite(model.predict_proba(X)).all()


def test_data_frames_with_categories_are_learnt():
    random = np.random.default_rng(1)
    value = random.integers(0, 10, 300)
    Y = random.integers(0, 2, (10, 4))[value]
    names = np.array([f"level {v}" for v in random.permutation(10)])
    X = pd.DataFrame({"c": pd.Categorical(names[value]), "x": random.normal(size=300)})
    model = small_pool().fit(X[:200], Y[:200])
    assert micro_f1(Y[200:], model.predict(X[200:])) > 0.98
    new = pd.DataFrame({"c": pd.Categorical(["level z", None]), "x": [0.0, 0.0]})
    assert np.isfinite(model.predict_proba(new)).all()


def test_weights_of_rows_move_the_pool():
    X, Y = problem()
    heavy = Y[:, 1] == 1
    up, down = (
        small_pool().fit(X, Y, sample_weight=np.where(heavy, w, 1.0)).predict_proba(X)
        for w in (5.0, 0.2)
    )
    assert up[:, 1].mean() > down[:, 1].mean() + 0.1
    with pytest.raises(ValueError, match="groups must not be given"):
        small_pool().fit(X, Y, groups=np.ones(120))


def test_jobs_and_seeds(fitted):
    model, X, Y = fitted
    together = small_pool(n_jobs=2).fit(X[:80], Y[:80])
    np.testing.assert_array_equal(together.predict_proba(X), model.predict_proba(X))
    assert together.threshold_ == model.threshold_
    other = small_pool(random_state=1).fit(X[:80], Y[:80])
    assert not np.array_equal(other.predict_proba(X), model.predict_proba(X))


def test_a_view_that_fails_leaves_no_model(monkeypatch):
    monkeypatch.setattr(CoverView, "fit", lambda *_, **__: 1 / 0)
    model = LabelCoverClassifier(Pool(forest=LabelForest(5)), n_jobs=3)
    with pytest.raises(ZeroDivisionError):
        model.fit(*problem())
    assert not hasattr(model, "view_")


@pytest.mark.parametrize("k", [1, 2])
def test_what_was_chosen_can_be_told_in_a_line(k):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))
    Y = (X[:, :3] + random.normal(size=(60, 3)) > 0).astype(int)
    model = LabelCoverClassifier(k=k, random_state=0).fit(X, Y)
    line = model._chosen()
    assert "views least squares" in line
    assert "forest" in line
    assert "decision for micro_f1, threshold" in line
    assert line.endswith("on 60 left-out rows")
