"""Parameters, types, seeds and names: an answer, or a clear error before anything is fitted."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import parallel_config
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

import labelcover
from labelcover import (
    BalancorClassifier,
    BalcoClassifier,
    DDBalancorClassifier,
    LabelCoverClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
    methods,
)
from labelcover.covers import Cover
from labelcover.dependence import label_dependence
from labelcover.ensemble import Pool
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.methods import BinaryRelevanceClassifier
from labelcover.metrics import micro_f1

NAMES = [name for name in labelcover.__all__ if name.endswith("Classifier")]
ENSEMBLES = [getattr(labelcover, name) for name in NAMES]
EVERY = [*ENSEMBLES, *(getattr(methods, name) for name in methods.__all__)]
# Parameters that keep the tests quick.
SMALL = {"n_chains": 2, "n_members": 2, "n_partitions": 50}


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    Y = (X @ random.normal(size=(5, 6)) + random.normal(size=(60, 6)) > 0.5).astype(int)
    return X, Y


class NeverFitted(LogisticRegression):
    """Fails the test if anything is fitted."""

    def fit(self, X, y, sample_weight=None):
        pytest.fail("a member was fitted before the mistake was noticed")


VALUES = {
    "k": [2, np.int64(3), np.int32(2), 9, 0, -1, 2.5, "three", True],
    "r": [1, np.int64(2), 3, 0, "two", 2.0],
    "size": [None, 4, np.int64(4), np.uint8(5), 0, -3, 4.5, "many"],
    "threshold": [
        0.3, np.float32(0.3), 0, 1, [0.1] * 6, np.full(6, 0.5), "auto", "cv", "loo", "best", 1.5,
        -0.1, [0.5] * 5, None, np.nan,
    ],
    "decide": ["macro_f1", "subset_accuracy", micro_f1, 2, np.int64(3), "f1", 0, 9, 2.5, None],
    "threshold_measure": ["auto", "macro_f1", "hamming_loss", micro_f1, "f1", "one_error", 3],
    "aggregate": ["mean", "votes", "weighted", np.str_("votes"), "sum", None, 1],
    "threshold_search": ["golden", "mulan", "newton", 1],
    "threshold_per_label": [True, np.bool_(False)],
    "threshold_max_std": [0.01, np.float64(0.01), 0, -1, "small"],
    "cover": ["auto", "random", [[0, 1], [2, 3], [4, 5]], Cover([[0, 5]], 6), "spread", 7],
    "budget": [np.int64(500), 500, 500.0, 0, "much"],
    "adapt": [True],
    "ties": ["auto", "positive", "negative", "sometimes", True, None],
    "min_count": [1, np.int64(5), 10**6, 0, -5, 2.5, "some"],
    "decay": [0.5, np.float32(0.99), 1e-9, 0, 1, 1.5, -0.5, "fast", True, np.nan],
    "n_iterations": [None, 1, np.uint8(200), 0, -1, 10.0, "many"],
    "first_temperature": [None, 1, 1e9, np.float32(0.1), 0, -1, "hot", np.nan],
    "n_restarts": [1, np.uint8(3), 0, -2, 1.5, "often", None],
    "clusters": [2, np.int64(9), 1, 2.5, "three"],
    "max_parents": [0, np.int64(2), -1, 2.5, "two"],
    "clustering": ["random", "k-means", "em", 3],
    "method": [None, BinaryRelevanceClassifier(), "br", LogisticRegression()],
    "p": [0, np.int64(1), 40, -1, 1.5, "two", True],
    "strategy": ["B", "C", 1],
    "b": [0, np.int64(1), -1, 2.5, "three"],
    "n_members": [np.int64(2), 0, 2.5, "ten"],
    "n_partitions": [1, np.int64(20), 0, 2.5, "many"],
    "dependence": ["conditional", "causal", None],
    "alpha": [0.05, np.float32(0.5), 0, 1, "small", np.nan],
    "max_failures": [0, np.int64(1), -1, 1.5, "few"],
    "subsample": [0.5, 1, np.float32(0.5), 0.001, 0, 1.5, "half", np.nan],
    "n_jobs": [None, 1, np.int64(2), 0, 1.5, "two"],
    "random_state": [0, np.int64(0), np.random.RandomState(0), -1, "seed", 0.5],
    "estimator": [C45Classifier(), Ridge(), KMeans(), Ridge, "tree", 3],
    "verbose": [np.bool_(True)],
    "n_chains": [1, np.int64(2), 0, 2.5, "ten", None],
    "order": ["random", list(range(6)), np.arange(6)[::-1], "sorted", [0, 1], [0.5] * 6, None],
    "bagging": [None, "subsample", "bagging", 3, True],
    "sample_fraction": [None, 0.5, np.float32(0.5), 1, 0, 1.5, "half"],
    "inference": ["exact", "beam", "epsilon", "monte-carlo", "gibbs", None],
    "beam_width": [1, np.int64(3), 0, 2.5, "wide"],
    "epsilon": [1, np.float32(0.1), 0, 1.5, "small"],
    "phi": [0, 1, np.float32(0.1), -0.1, 1.5, "some", None],
    "passthrough": [True, np.bool_(True)],
    "n_folds": [2, np.int64(3), 1, 2.5, 61, "five"],
    "n_samples": [1, np.int64(10), 0, 2.5, "many"],
}  # fmt: skip


CASES = [
    pytest.param(kind, name, id=f"{kind.__name__}-{name}")
    for kind in EVERY
    for name in VALUES
    if name in kind().get_params(deep=False)
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_every_value_of_a_parameter_gives_an_answer_or_a_clear_error(kind, name, data):
    """A clear error names the parameter, or what it is about, and comes before any fit."""
    X, Y = data
    offered = kind().get_params(deep=False)
    small = {key: value for key, value in SMALL.items() if key in offered}
    if kind is LabelCoverClassifier and name in ("aggregate", "budget"):
        small["estimator"] = LeastSquaresClassifier()  # by default there are no members
    for value in VALUES[name]:
        model = kind(**{"random_state": 0, **small, name: value})
        with parallel_config(backend="threading"):  # processes take seconds to start
            error = complaint(model, X, Y)
        if error is not None:
            assert name in error, f"{name}={value!r}: {error}"
            if name != "estimator":
                assert complaint(model.set_params(estimator=NeverFitted()), X, Y) is not None


def complaint(model, X, Y):
    """Return the message of the error of a fit; None if there is an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            predicted = model.fit(X, Y).predict(X)
        except ValueError as error:
            return str(error)
    assert predicted.shape == Y.shape
    return None


@pytest.mark.parametrize("name", ["aggregate", "ties", "decay", "min_count", "n_restarts"])
def test_a_list_is_no_value_of_a_parameter_that_takes_one(name, data):
    with pytest.raises(ValueError, match=f"{name} must be"):
        DDBalancorClassifier(NeverFitted(), **{name: [0.5]}).fit(*data)


def test_parameters_of_the_search_for_a_permutation_are_checked_even_if_nothing_is_permuted(data):
    with pytest.raises(ValueError, match="decay must be a number above 0 and below 1, got 2"):
        DDBalancorClassifier(NeverFitted(), k=1, decay=2).fit(*data)


@pytest.mark.parametrize("member", [C45Classifier(), DecisionTreeClassifier(), LabelForest()])
@pytest.mark.parametrize("threshold", [0.5, "cv"])
def test_only_members_with_left_out_predictions_are_weighted(member, threshold, data):
    model = LabelCoverClassifier(member, aggregate="weighted", threshold=threshold)
    with pytest.raises(ValueError, match=r"aggregate(=.weighted. needs| must be)"):
        model.fit(*data)


def test_the_search_of_mulan_is_not_repeated(data):
    model = BalancorClassifier(NeverFitted(), threshold_search="mulan", threshold_max_std=0.1)
    with pytest.raises(ValueError, match=r"threshold_max_std must be None .*got 0\.1"):
        model.fit(*data)


def test_the_search_of_mulan_needs_three_rows(data):
    X, Y = data
    model = BalancorClassifier(NeverFitted(), threshold_search="mulan")
    with pytest.raises(ValueError, match="at least 3 rows"):
        model.fit(X[:2], Y[:2])


@pytest.mark.parametrize("kind", ENSEMBLES, ids=lambda kind: kind.__name__)
def test_lists_are_tables_too(kind, data):
    X, Y = data
    model = kind(random_state=0).fit(X.tolist(), Y.tolist())
    model.set_output(predict="pandas")
    predicted = model.predict(X.tolist())
    assert list(predicted.columns) == [f"label{j}" for j in range(6)]
    assert list(predicted.index) == list(range(60))


def test_labels_of_one_name_are_an_error(data):
    X, Y = data
    with pytest.raises(ValueError, match="Y must have columns of different names, got 'b' twice"):
        RakelClassifier().fit(X, pd.DataFrame(Y, columns=list("abcbef")))


def test_r_above_k_is_an_error(data):
    with pytest.raises(ValueError, match="r must be at most k=2"):
        LabelCoverClassifier(k=2, r=3).fit(*data)


def test_a_vote_has_no_tuned_threshold(data):
    with pytest.raises(ValueError, match="threshold must be one of a number"):
        RakelClassifier(NeverFitted(), threshold="cv").fit(*data)


def test_leave_one_out_is_refused_before_fitting_where_it_is_not_offered(data):
    with pytest.raises(ValueError, match='threshold="loo" needs'):
        LabelCoverClassifier(NeverFitted(), threshold="loo").fit(*data)


def test_too_few_rows_for_cross_validation_are_noticed_before_fitting(data):
    X, Y = data
    with pytest.raises(ValueError, match="at least 5 rows"):
        LabelCoverClassifier(NeverFitted(), threshold="cv").fit(X[:4], Y[:4])


# Nominal columns


@pytest.fixture
def levels():
    """A nominal column of twelve values, in no useful order, decides all labels."""
    random = np.random.default_rng(1)
    value = random.integers(0, 12, 400)
    Y = random.integers(0, 2, (12, 4))[value]
    names = np.array([f"level {chr(97 + v)}" for v in random.permutation(12)])
    X = pd.DataFrame({"c": pd.Categorical(names[value]), "x": random.normal(size=400)})
    return X, Y


LEARNERS = [LeastSquaresClassifier, C45Classifier, SMOClassifier]


def assert_learnt(model, X, Y, kind):
    """Machines of pairs cannot learn it all, but they must see 0/1 columns, not one number."""
    model.fit(X[:300], Y[:300])
    if kind is not SMOClassifier:
        assert micro_f1(Y[300:], model.predict(X[300:])) == 1.0
    else:
        columns = pd.get_dummies(X, columns=["c"]).astype(float)
        expected = LabelCoverClassifier(SMOClassifier(), random_state=0).fit(columns[:300], Y[:300])
        np.testing.assert_array_equal(
            model.predict_proba(X[300:]), expected.predict_proba(columns[300:])
        )


@pytest.mark.parametrize("kind", LEARNERS)
def test_a_category_column_is_nominal_inside_an_ensemble(levels, kind):
    assert_learnt(LabelCoverClassifier(kind(), random_state=0), *levels, kind)


@pytest.mark.parametrize("member", ["auto", LabelForest()], ids=repr)
def test_a_category_column_is_nominal_for_the_default_views(levels, member):
    X, Y = levels
    assert_learnt(LabelCoverClassifier(member, random_state=0), X, Y, LeastSquaresClassifier)


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.parametrize("features", [["c"], [0], [True, False]])
def test_nominal_columns_may_be_named_inside_an_ensemble(levels, kind, features):
    X, Y = levels
    X = X.assign(c=X["c"].cat.codes)
    model = LabelCoverClassifier(kind(categorical_features=features), random_state=0)
    assert_learnt(model, X, Y, kind)


def test_unseen_and_missing_values_of_a_nominal_column_are_predicted_for(levels):
    X, Y = levels
    model = LabelCoverClassifier(random_state=0).fit(X[:300], Y[:300])
    new = pd.DataFrame({"c": pd.Categorical(["level z", None]), "x": [0.0, 0.0]})
    assert np.isfinite(model.predict_proba(new)).all()


@pytest.mark.parametrize(
    "column", [["text"] * 400, pd.date_range("2024-01-01", periods=400)], ids=["text", "date"]
)
def test_a_column_that_holds_no_numbers_is_read_for_what_it_is(levels, column):
    X, Y = levels
    model = LabelCoverClassifier(random_state=0).fit(X.assign(odd=column), Y)
    assert [kind.name for kind in model.columns_] == ["c", "x", "odd"]


def test_data_frames_reach_the_pipelines_of_members(levels):
    X, Y = levels
    columns = make_column_transformer((OneHotEncoder(), ["c"]), remainder="passthrough")
    member = make_pipeline(columns, LogisticRegression(C=1e3))
    model = LabelCoverClassifier(member, threshold=0.5, random_state=0).fit(X[:300], Y[:300])
    assert micro_f1(Y[300:], model.predict(X[300:])) == 1.0


# Seeds


def many_rows():
    random = np.random.default_rng(2)
    X = random.normal(size=(700, 4))
    return X, (X @ random.normal(size=(4, 5)) + random.normal(size=(700, 5)) > 0).astype(int)


@pytest.mark.parametrize("member", ["auto", LeastSquaresClassifier(random_state=None)])
def test_the_seed_of_the_ensemble_reaches_the_members(member):
    X, Y = many_rows()
    first, again, other = (
        LabelCoverClassifier(member, cover="best", random_state=seed).fit(X, Y).predict_proba(X)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_seed_of_the_members_own_is_kept():
    X, Y = many_rows()
    member = LeastSquaresClassifier(random_state=0)
    cover = [[0, 1, 2], [2, 3, 4]]
    first, other = (
        LabelCoverClassifier(member, cover=cover, random_state=seed).fit(X, Y).predict_proba(X)
        for seed in (0, 1)
    )
    np.testing.assert_array_equal(first, other)


# Names, weights, settings


def test_labels_that_the_cover_leaves_out_are_named(data):
    X, Y = data
    Y = pd.DataFrame(Y, columns=list("abcdef"))
    with pytest.warns(UserWarning, match="leaves out 3 of 6 labels.*: d, e, f"):
        LabelCoverClassifier(LeastSquaresClassifier(), cover=[[0, 1], [1, 2]], random_state=0).fit(
            X, Y
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The default has members for single labels, too.
        LabelCoverClassifier(cover=[[0, 1], [1, 2]], random_state=0).fit(X, Y)


@pytest.mark.parametrize("threshold", ["cv", "loo"])
@pytest.mark.parametrize("decide", ["micro_f1", "macro_f1"])
@pytest.mark.parametrize("member", ["auto", LeastSquaresClassifier()], ids=repr)
def test_rows_of_weight_zero_count_nowhere(threshold, decide, member):
    X, Y = many_rows()
    kept = np.arange(300)
    weights = np.zeros(700)
    weights[kept] = 1
    Y[300:] = 1 - Y[300:]
    options = {"threshold": threshold, "decide": decide, "random_state": 0}
    model = LabelCoverClassifier(member, **options).fit(X, Y, sample_weight=weights)
    alone = LabelCoverClassifier(member, **options).fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.threshold_, alone.threshold_)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X))


@pytest.mark.parametrize("per_label", [False, True])
@pytest.mark.parametrize("threshold", ["cv", "loo"])
def test_rows_of_weight_zero_count_nowhere_in_the_threshold_of_the_paper(threshold, per_label):
    X, Y = many_rows()
    kept = np.arange(300)
    weights = np.zeros(700)
    weights[kept] = 1
    Y[300:] = 1 - Y[300:]
    options = {"threshold": threshold, "threshold_per_label": per_label, "random_state": 0}
    model = BalancorClassifier(**options).fit(X, Y, sample_weight=weights)
    alone = BalancorClassifier(**options).fit(X[kept], Y[kept])
    np.testing.assert_allclose(model.threshold_, alone.threshold_)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X))


def test_the_threshold_counts_weights(data):
    X, Y = data
    random = np.random.default_rng(3)
    weights = random.choice([0.1, 10.0], 60)
    model = BalancorClassifier(threshold="loo", random_state=0).fit(X, Y, sample_weight=weights)
    alike = LabelCoverClassifier(LeastSquaresClassifier(), cover=model.cover_, random_state=0)
    found = alike.fit(X, Y, sample_weight=weights).left_out_predictions_
    rows, confidence = found.rows, found.confidence
    scores = {
        t: micro_f1(Y[rows], confidence > t, sample_weight=weights[rows])
        for t in np.round(np.arange(0.01, 1, 0.01), 2)
    }
    assert scores[model.threshold_] >= max(scores.values()) - 0.02
    with pytest.raises(ValueError, match="threshold_measure must take sample_weight"):
        BalancorClassifier(threshold_measure=lambda Y, P: 0.0).fit(X, Y, sample_weight=weights)
    with pytest.raises(ValueError, match=r"decide must .*takes sample_weight"):
        LabelCoverClassifier(decide=lambda Y, P: 0.0).fit(X, Y, sample_weight=weights)


def test_the_output_setting_of_transformers_changes_no_prediction(data):
    X, Y = data
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    with sklearn.config_context(transform_output="pandas"):
        assert isinstance(model.predict(X), np.ndarray)


def test_the_default_member_can_be_searched(data):
    X, Y = data
    search = GridSearchCV(
        LabelCoverClassifier(Pool(LeastSquaresClassifier()), random_state=0),
        {"estimator__least_squares__alpha": [0.1, 1.0]},
        cv=2,
    ).fit(X, Y)
    assert search.best_estimator_.estimator.least_squares.alpha in (0.1, 1.0)
    assert LabelCoverClassifier().get_params()["estimator__forest"] is None
    assert LabelCoverClassifier().set_params(k=4).estimator == "auto"


def test_samples_are_told():
    X, Y = many_rows()
    model = LabelCoverClassifier(LeastSquaresClassifier(), random_state=0).fit(X, Y)
    assert model.n_threshold_rows_ == 700
    assert model.view_.members.n_temperature_rows == 512
    assert model.view_.members.n_choice_rows == 512
    alone = LeastSquaresClassifier().fit(X, Y[:, 0])
    assert (alone.n_choice_rows_, alone.n_temperature_rows_) == (512, 512)


# Covers


def test_balco_takes_as_many_labelsets_as_balancor():
    random = np.random.default_rng(4)
    X, Y = random.normal(size=(40, 3)), random.integers(0, 2, (40, 22))
    options = {"k": 7, "threshold": 0.5, "random_state": 0}
    sizes = [
        len(kind(**options).fit(X, Y).cover_) for kind in (BalcoClassifier, BalancorClassifier)
    ]
    assert sizes == [16, 16]


def test_numpy_integers_give_the_same_rakel(data):
    X, Y = data
    plain = RakelPlusPlusClassifier(k=3, random_state=0).fit(X, Y)
    scalar = RakelPlusPlusClassifier(k=np.int64(3), random_state=np.int64(0)).fit(X, Y)
    assert plain.cover_ == scalar.cover_


def test_a_chosen_cover_is_adapted_at_its_own_order():
    random = np.random.default_rng(5)
    groups = random.integers(0, 2, (500, 4))
    Y = np.hstack([groups, groups, groups])[:, random.permutation(12)]
    Y = np.where(random.random(Y.shape) < 0.1, 1 - Y, Y)
    X = random.normal(size=(500, 3))
    model = DDBalancorClassifier(k="auto", r="auto", threshold=0.5, random_state=0).fit(X, Y)
    (chosen,) = [choice for choice in model.cover_choices_ if choice.chosen]
    fixed = DDBalancorClassifier(k=chosen.k, r=chosen.r, threshold=0.5, random_state=0).fit(X, Y)
    triples = label_dependence(Y, r=chosen.r + 1)
    assert triples.merit(model.cover_) >= 0.95 * triples.merit(fixed.cover_)


def test_a_tree_as_member_gets_arrays_of_a_numeric_frame(data):
    X, Y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    options = {"threshold": 0.5, "random_state": 0}
    of_frame = LabelCoverClassifier(DecisionTreeClassifier(), **options).fit(frame, Y)
    of_array = LabelCoverClassifier(DecisionTreeClassifier(), **options).fit(X, Y)
    np.testing.assert_array_equal(of_frame.predict_proba(frame), of_array.predict_proba(X))


@pytest.mark.parametrize("kind", ENSEMBLES)
@pytest.mark.parametrize("n_labels", [1, 2])
def test_the_default_says_nothing_of_fewer_labels_than_it_would_take(kind, n_labels, data):
    X, Y = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(random_state=0).fit(X, Y[:, :n_labels])
    assert model.predict(X).shape == (len(X), n_labels)


def test_a_labelset_of_more_labels_than_there_are_is_told(data):
    X, Y = data
    with pytest.warns(UserWarning, match="k=5 is larger than the number of labels; k=2 is used"):
        LabelCoverClassifier(k=5, random_state=0).fit(X, Y[:, :2])


def test_a_fit_that_fails_in_its_last_step_leaves_no_model(data):
    X, Y = data

    def failing(Y, predicted):
        raise ArithmeticError("no measure")

    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    with pytest.raises(ArithmeticError, match="no measure"):
        model.set_params(decide=failing).fit(X, Y)
    assert not hasattr(model, "view_")
    with pytest.raises(sklearn.exceptions.NotFittedError):
        model.predict(X)


def test_half_floats_are_read_without_a_word_and_infinite_ones_are_refused(data):
    X, Y = np.asarray(data[0], dtype=np.float16), np.asarray(data[1], dtype=np.float16)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LabelCoverClassifier(LeastSquaresClassifier(), random_state=0).fit(X, Y)
        expected = clone(model).fit(X.astype(float), Y.astype(int)).predict_proba(X.astype(float))
        np.testing.assert_array_equal(model.predict_proba(X), expected)
    X[0, 0] = np.inf
    for use in (lambda: model.predict(X), lambda: model.fit(X, Y)):
        with pytest.raises(ValueError, match="infinity"):
            use()
