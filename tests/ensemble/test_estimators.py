"""What the estimators promise beyond scikit-learn's own checks."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import labelcover
from labelcover import BalancorClassifier, LabelCoverClassifier, RakelClassifier, methods
from labelcover.covers import Cover, random_cover
from labelcover.ensemble._choose_cover import default_cover
from labelcover.ensemble._cover_view import CoverView
from labelcover.learners import LeastSquaresClassifier
from labelcover.metrics import micro_f1

NAMES = [(room, name) for room in (labelcover, methods) for name in room.__all__]
ESTIMATORS = [getattr(room, name) for room, name in NAMES if name.endswith("Classifier")]
NAMES = ["rock", "jazz", "soul", "folk", "funk"]


@pytest.fixture(scope="module")
def problem():
    X, Y = make_multilabel_classification(90, 10, n_classes=5, random_state=1)
    return StandardScaler().fit_transform(X), Y


@pytest.fixture(params=["numpy", "pandas", "polars", "sparse"])
def tables(request, problem):
    X, Y = problem
    columns = [f"x{i}" for i in range(10)]
    if request.param == "pandas":
        index = [f"row{i}" for i in range(len(X))]
        return pd.DataFrame(X, index, columns), pd.DataFrame(Y, index, NAMES)
    if request.param == "polars":
        return pl.DataFrame(X, schema=columns), pl.DataFrame(Y, schema=NAMES)
    if request.param == "sparse":
        return sparse.csr_matrix(X), sparse.csr_matrix(Y)
    return X, Y


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_tables_of_any_kind_give_the_same_predictions(estimator, problem, tables):
    X, Y = tables
    # Scaling centres dense columns only, so it is left out where sparse is compared with dense.
    member = LeastSquaresClassifier(kernel="linear", alpha=1.0, scale=False)
    model = estimator(member, random_state=0).fit(X, Y)
    plain = estimator(member, random_state=0).fit(*problem)
    proba = model.predict_proba(X)
    assert isinstance(proba, np.ndarray)
    assert proba.shape == (90, 5)
    assert ((proba > 0) & (proba < 1)).all()
    np.testing.assert_allclose(proba, plain.predict_proba(problem[0]), atol=1e-8)
    predicted = model.predict(X)
    assert sparse.issparse(predicted) == sparse.issparse(Y)
    dense = predicted.toarray() if sparse.issparse(predicted) else predicted
    assert set(np.unique(dense)) <= {0, 1}


def test_label_names_are_kept(tables):
    X, Y = tables
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    named = NAMES if hasattr(Y, "columns") else [f"label{j}" for j in range(5)]
    assert model.label_names_in_.tolist() == named
    if hasattr(X, "columns"):
        assert model.feature_names_in_.tolist() == [f"x{i}" for i in range(10)]


@pytest.mark.parametrize("method", ["predict", "predict_proba", "decision_function"])
def test_data_frames_come_out_where_they_are_asked_for(problem, method):
    X, Y = problem
    X = pd.DataFrame(X, index=[f"row{i}" for i in range(90)]).rename(columns=str)
    model = LabelCoverClassifier(random_state=0).fit(X, pd.DataFrame(Y, columns=NAMES))
    assert isinstance(getattr(model, method)(X), np.ndarray)
    frame = getattr(model.set_output(predict="pandas"), method)(X)
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == NAMES
    assert frame.index.tolist() == X.index.tolist()
    frame = getattr(model.set_output(predict="polars"), method)(X)
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == NAMES
    assert isinstance(getattr(model.set_output(predict="default"), method)(X), np.ndarray)
    with pytest.raises(ValueError, match="predict must be one of 'default', 'pandas', 'polars'"):
        model.set_output(predict="excel")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_same_seed_gives_the_same_model(estimator, problem):
    X, Y = problem
    tree = DecisionTreeClassifier(max_features=2)
    first = estimator(tree, random_state=7).fit(X, Y)
    again = estimator(tree, random_state=7).fit(X, Y)
    assert getattr(first, "cover_", None) == getattr(again, "cover_", None)
    np.testing.assert_array_equal(first.threshold_, again.threshold_)
    np.testing.assert_array_equal(first.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize(("n_jobs", "backend"), [(2, "loky"), (4, "threading")])
@pytest.mark.parametrize("tree", [False, True], ids=["least squares", "tree"])
def test_predictions_do_not_depend_on_jobs_or_backend(problem, tree, n_jobs, backend):
    X, Y = problem
    member = DecisionTreeClassifier(max_features=2) if tree else None
    alone = BalancorClassifier(member, random_state=0).fit(X, Y)
    with parallel_config(backend=backend):
        together = BalancorClassifier(member, n_jobs=n_jobs, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(alone.predict_proba(X), together.predict_proba(X))
    assert alone.threshold_ == together.threshold_


def test_pipelines_and_searches_reach_nested_parameters(problem):
    X, Y = problem
    pipeline = make_pipeline(StandardScaler(), LabelCoverClassifier(LogisticRegression()))
    grid = {"labelcoverclassifier__estimator__C": [0.1, 10], "labelcoverclassifier__k": [2, 3]}
    search = GridSearchCV(pipeline, grid, scoring=make_scorer(micro_f1), cv=2).fit(X, Y)
    assert set(search.best_params_) == set(grid)
    assert search.predict(X).shape == Y.shape


@pytest.mark.parametrize("n_labels", [2, 5])
def test_scorers_and_cross_validation_use_probabilities(problem, n_labels):
    X, Y = problem
    model = LabelCoverClassifier(LogisticRegression(), k=2, threshold=0.5)
    scorer = make_scorer(roc_auc_score, response_method="predict_proba", average="micro")
    assert cross_val_score(model, X, Y[:, :n_labels], scoring=scorer, cv=3).min() > 0.6
    proba = cross_val_predict(model, X, Y[:, :n_labels], method="predict_proba", cv=3)
    assert proba.shape == (90, n_labels)


def test_a_model_can_be_shown_and_cloned(problem):
    model = LabelCoverClassifier(LogisticRegression(), cover=Cover([[0, 1, 2], [2, 3, 4]], 5))
    assert "LabelCoverClassifier" in model._repr_html_()
    copy = clone(model)
    assert copy.cover == model.cover
    assert "LogisticRegression" in clone(model).fit(*problem)._repr_html_()


def test_sets_of_label_names_become_a_table_by_scikit_learn(problem):
    X, Y = problem
    sets = [{NAMES[j] for j in np.flatnonzero(row)} for row in Y]
    binarizer = MultiLabelBinarizer(classes=NAMES)
    model = LabelCoverClassifier(random_state=0).fit(X, binarizer.fit_transform(sets))
    assert len(binarizer.inverse_transform(model.predict(X))) == 90


def test_weights_of_rows_are_routed_to_the_members(problem):
    X, Y = problem
    weights = np.linspace(0.01, 5, 90)
    plain = RakelClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    model = RakelClassifier(LogisticRegression(), random_state=0)
    weighted = clone(model).fit(X, Y, sample_weight=weights)
    differ = [
        not np.allclose(one.coef_, other.coef_)
        for one, other in zip(
            plain.view_.members.models, weighted.view_.members.models, strict=True
        )
    ]
    assert all(differ)
    with config_context(enable_metadata_routing=True):
        asked = RakelClassifier(LogisticRegression().set_fit_request(sample_weight=True))
        asked.set_params(random_state=0).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(
        asked.view_.members.models[0].coef_, weighted.view_.members.models[0].coef_
    )


@pytest.mark.parametrize("kind", [LabelCoverClassifier, BalancorClassifier])
def test_default_members_ask_for_weights_that_are_routed(problem, kind):
    X, Y = problem
    weights = np.linspace(0.01, 5, 90)
    plain = kind(random_state=0).fit(X, Y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        routed = kind(random_state=0).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(routed.predict_proba(X), plain.predict_proba(X))


def test_weights_beside_which_others_vanish_are_refused(problem):
    model = LabelCoverClassifier(random_state=0)
    weights = np.ones(90)
    weights[0] = 1e-300
    with pytest.raises(ValueError, match=r"sample_weight must be 0 or at least .* got 1e-300 and"):
        model.fit(*problem, sample_weight=weights)


def test_weights_of_rows_follow_their_rows_in_cross_validation(problem):
    X, Y = problem
    weights = np.linspace(0.01, 5, 90)
    model = BalancorClassifier(LogisticRegression(), random_state=0)
    assert 0 < model.fit(X, Y, sample_weight=weights).threshold_ < 1


def test_metadata_that_members_do_not_take_is_refused(problem):
    with pytest.raises(ValueError, match="sample_weight must not be given"):
        LabelCoverClassifier(KNeighborsClassifier()).fit(*problem, sample_weight=np.ones(90))


def test_weights_move_the_default_members_and_zero_leaves_a_row_out(problem):
    X, Y = problem
    cover = [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    model = LabelCoverClassifier(LeastSquaresClassifier(), cover=cover, random_state=0)
    heavy = Y[:, 0] == 1
    up = clone(model).fit(X, Y, sample_weight=np.where(heavy, 5.0, 1.0)).predict_proba(X)
    down = clone(model).fit(X, Y, sample_weight=np.where(heavy, 0.2, 1.0)).predict_proba(X)
    assert up[:, 0].mean() > down[:, 0].mean() + 0.1
    kept = np.arange(90) % 3 > 0
    without = clone(model).fit(X[kept], Y[kept])
    weighted = clone(model).fit(X, Y, sample_weight=kept.astype(float))
    np.testing.assert_allclose(weighted.predict_proba(X), without.predict_proba(X), atol=1e-8)
    assert weighted.threshold_ == without.threshold_


@pytest.mark.parametrize("options", [{}, {"threshold": "cv"}, {"decide": "macro_f1"}])
def test_a_label_in_no_labelset_is_never_predicted_and_named_in_a_warning(problem, options):
    X, Y = problem
    cover = Cover([[0, 1, 2], [1, 2, 3]], 5)
    model = LabelCoverClassifier(LeastSquaresClassifier(), cover=cover, random_state=0, **options)
    with pytest.warns(UserWarning, match="cover leaves out 1 of 5 labels, .*: funk"):
        model.fit(X, pd.DataFrame(Y, columns=NAMES))
    assert model.predict_proba(X)[:, 4].max() < 1e-9
    assert not model.predict(X)[:, 4].any()


def test_one_row_is_predicted_like_many(problem):
    X, Y = problem
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    one = np.vstack([model.predict_proba(row[None]) for row in X[:5]])
    np.testing.assert_allclose(one, model.predict_proba(X)[:5], atol=1e-12)


def test_fixed_thresholds_are_used_as_given(problem):
    X, Y = problem
    each = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    model = LabelCoverClassifier(threshold=each, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X) > each)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": "loo"},
        {"threshold": "cv"},
        {"threshold": "loo", "decide": "macro_f1"},
        {"threshold": "cv", "decide": "macro_f1"},
        {"threshold": "loo", "decide": "hamming_loss"},
    ],
    ids=str,
)
@pytest.mark.parametrize("member", ["auto", LeastSquaresClassifier()], ids=repr)
def test_thresholds_are_tuned(problem, member, options):
    X, Y = problem
    model = LabelCoverClassifier(member, random_state=0, **options).fit(X, Y)
    assert np.shape(model.threshold_) == ((5,) if options.get("decide") == "macro_f1" else ())
    assert (np.asarray(model.threshold_) > 0).all()
    assert (np.asarray(model.threshold_) < 1).all()


@pytest.mark.parametrize(
    "options",
    [
        {"threshold_search": "golden"},
        {"threshold_max_std": 0.05},
        {"threshold": "loo", "threshold_per_label": True, "threshold_measure": "macro_f1"},
        {"threshold_per_label": True},
        {"threshold": "loo", "threshold_measure": "hamming_loss"},
    ],
    ids=str,
)
def test_thresholds_of_the_paper_are_tuned(problem, options):
    X, Y = problem
    model = BalancorClassifier(random_state=0, **options).fit(X, Y)
    assert np.shape(model.threshold_) == ((5,) if options.get("threshold_per_label") else ())
    assert (np.asarray(model.threshold_) > 0).all()
    assert (np.asarray(model.threshold_) < 1).all()


def test_left_out_confidences_are_asked_for_only_to_tune_the_threshold(problem, asked_left_out):
    X, Y = problem
    asked = asked_left_out(CoverView)
    for threshold, is_asked in (("auto", 1), ("loo", 1), ("cv", 0), (0.5, 0)):
        asked.clear()
        model = BalancorClassifier(threshold=threshold, random_state=0).fit(X, Y)
        assert len(asked) == is_asked
        assert "_left_out" not in vars(model.view_)
        assert model.n_threshold_rows_ == (0 if threshold == 0.5 else 90)


def test_weights_of_rows_count_in_the_threshold(problem):
    X, Y = problem
    weights = np.random.default_rng(0).integers(1, 6, size=90).astype(float)

    def measure(Y, predicted, sample_weight):
        seen.append(np.sort(sample_weight))
        return micro_f1(Y, predicted, sample_weight=sample_weight)

    for threshold in ("loo", "cv"):
        seen = []
        model = BalancorClassifier(
            threshold=threshold, threshold_measure=measure, random_state=0
        ).fit(X, Y, sample_weight=weights)
        named = clone(model).set_params(threshold_measure="micro_f1")
        assert named.fit(X, Y, sample_weight=weights).threshold_ == model.threshold_
        assert sum(map(len, seen)) % 90 == 0
        if threshold == "loo":
            np.testing.assert_allclose(seen[0], np.sort(weights) / weights.mean())


def test_a_measure_without_weights_is_refused_where_rows_have_them(problem):
    def measure(Y, predicted):
        return micro_f1(Y, predicted)

    for model, name in (
        (LabelCoverClassifier(decide=measure, random_state=0), "decide"),
        (BalancorClassifier(threshold_measure=measure, random_state=0), "threshold_measure"),
    ):
        assert 0 < clone(model).fit(*problem).threshold_ < 1
        with pytest.raises(ValueError, match=f"{name} must .*take"):
            model.fit(*problem, sample_weight=np.linspace(1, 2, 90))


@pytest.mark.parametrize("member", ["auto", LogisticRegression(), LinearSVC(), SVC()], ids=repr)
def test_gaps_in_a_data_frame_are_filled_if_training_had_some_and_else_refused(problem, member):
    X = pd.DataFrame(problem[0]).rename(columns=str)
    model = LabelCoverClassifier(member, threshold=0.5, random_state=0).fit(X, problem[1])
    X.iloc[3, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(X)
    model.fit(X, problem[1])
    assert model.columns_["2"].why.startswith("1.1% missing")
    assert np.isfinite(model.predict_proba(X)).all()


def test_columns_with_missing_values_are_named(problem):
    X = pd.DataFrame(problem[0]).rename(columns="x{}".format)
    model = LabelCoverClassifier(random_state=0).fit(X, problem[1])
    X.iloc[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN in 'x2' \(1\) of 90 rows. Fill missing"):
        model.predict(X)
    X.iloc[:7] = np.nan
    with pytest.raises(ValueError, match=r"'x4' \(7\) and 5 more of 90 rows"):
        model.predict(X)


def test_large_ensembles_are_tuned_on_a_tenth_of_their_members(problem, monkeypatch):
    X, Y = make_multilabel_classification(60, 5, n_classes=12, random_state=0)
    sizes = []

    fit = CoverView.fit

    def spy(view, *args, **options):
        sizes.extend(map(len, view.covers))
        return fit(view, *args, **options)

    monkeypatch.setattr(CoverView, "fit", spy)
    model = BalancorClassifier(RidgeClassifier(), size=150, threshold="cv", random_state=0)
    model.fit(X, Y)
    assert sizes == [150] + [15] * 5
    sizes.clear()
    # Of a smaller number, every label would be in few.
    cover = random_cover(12, 3, size=150, random_state=0)
    LabelCoverClassifier(RidgeClassifier(), cover=cover, threshold="cv").fit(X, Y)
    assert sizes == [150] + [16] * 5


def test_very_many_labels_get_a_cover_that_can_be_trained():
    cover = default_cover(400, 3, random_state=0)
    assert len(cover) == 1600
    assert cover.imbalance <= 1


def test_labels_that_never_change_are_predicted_as_they_were(problem):
    X, Y = problem
    Y = Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    for member in ("auto", LeastSquaresClassifier(), LogisticRegression()):
        model = LabelCoverClassifier(member, random_state=0).fit(X, Y)
        assert (model.predict(X)[:, 0] == 0).all()
        assert (model.predict(X)[:, 1] == 1).all()


def test_a_single_row_and_a_single_label_are_enough():
    model = LabelCoverClassifier(threshold=0.5, k=1).fit([[1.0, 2.0]], [[1]])
    np.testing.assert_array_equal(model.predict([[0.0, 0.0]]), [[1]])


def test_too_long_labelsets_are_shortened_with_one_warning(problem):
    X, Y = problem
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LabelCoverClassifier(k=9, random_state=0).fit(X, Y)
    assert [str(warning.message)[:22] for warning in caught] == ["k=9 is larger than the"]
    assert model.cover_.k == 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": np.full((90, 10), np.nan)}, "Input X contains NaN"),
        ({"X": np.full((90, 10), np.inf)}, "Input X contains infinity"),
        ({"Y": np.full((90, 5), np.nan)}, "Y must have a known label in at least one row"),
        ({"Y": np.ones((89, 5))}, "inconsistent numbers of samples: \\[90, 89\\]"),
        ({"Y": np.full((90, 5), 2)}, "Y must hold only 0 and 1, got 2"),
        ({"Y": np.full((90, 5), 0.5)}, "Y must hold only 0 and 1, got 0.5"),
        ({"Y": np.full((90, 5), "rock")}, "Y must hold only 0 and 1, got 'rock'"),
        ({"Y": np.ones(90)}, "Y must be a table of zeros and ones .*got shape \\(90,\\)"),
        ({"cover": Cover([[0, 1]], 4)}, "cover must be for the 5 labels of Y, got one for 4"),
        ({"cover": "worst"}, "cover must be one of 'auto', .*got 'worst'"),
        ({"cover": [[0, 7]]}, "labelsets must hold label indices between 0 and 4"),
        ({"cover": lambda *args, **options: None}, "cover must return a Cover"),
        ({"k": 0}, "k must be an integer of at least 1, got 0"),
        ({"r": 0}, "r must be an integer of at least 1, got 0"),
        ({"threshold": "best"}, "threshold must be one of 'auto', 'cv', 'loo', .*got 'best'"),
        ({"threshold": 1.5}, "threshold must be .*got 1.5"),
        ({"threshold": [0.5, 0.5]}, "threshold must be .*got \\[0.5, 0.5\\]"),
        ({"decide": "ranking_depth"}, "decide must be one of .*got 'ranking_depth'"),
        ({"decide": 6}, "decide must be .*a number of labels between 1 and 5.*got 6"),
        ({"decide": None}, "decide must be one of .*got None"),
        ({"decide": "f1", "estimator": LogisticRegression()}, "decide must be one of .*got 'f1'"),
        ({"estimator": "ridge"}, "estimator must be a scikit-learn classifier"),
        ({"estimator": LogisticRegression(), "threshold": "loo"}, 'threshold="loo" needs members'),
    ],
    ids=lambda given: given if isinstance(given, str) else ",".join(given),
)
def test_bad_input_is_refused_with_a_clear_error(problem, change, message):
    parameters = {"random_state": 0, **change}
    X, Y = parameters.pop("X", problem[0]), parameters.pop("Y", problem[1])
    with pytest.raises(ValueError, match=message):
        LabelCoverClassifier(**parameters).fit(X, Y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"threshold_measure": "ranking_depth"},
            "threshold_measure must be one of .*got 'ranking_depth'",
        ),
        (
            {"threshold_search": "random"},
            "threshold_search must be one of 'grid', 'golden', 'mulan', got 'random'",
        ),
        ({"threshold_max_std": 0}, "threshold_max_std must be a number above 0, got 0"),
    ],
)
def test_bad_searches_for_a_threshold_are_refused_with_a_clear_error(problem, change, message):
    with pytest.raises(ValueError, match=message):
        BalancorClassifier(random_state=0, **change).fit(*problem)
