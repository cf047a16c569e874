"""Rows that come portion by portion: the model is that of all rows."""

import pickle
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from labelcover import BalancorClassifier, LabelCoverClassifier
from labelcover.ensemble import chunked_training, wide_text
from labelcover.ensemble.pooled_view import Pool
from labelcover.ensemble.row_stream import SLACK, RowStream
from labelcover.ensemble.view import TrainingRows
from labelcover.learners import C45Classifier, LabelForest, LeastSquaresClassifier
from labelcover.learners.least_squares import choosing
from labelcover.methods import PrunedSetsClassifier
from labelcover.models import TrainedModel, load_model, save_model

N, D, M = 900, 7, 5
KEPT = 300  # rows that fit in memory where it is small


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    scores = random.normal(size=(N, D))
    X = scores * 10.0 ** np.arange(-2, 5) + 100.0
    noise = random.normal(size=(N, M))
    Y = (scores[:, :M] + np.abs(scores[:, 1 : M + 1]) + 0.5 * noise > 1).astype(np.uint8)
    return X, Y


@pytest.fixture
def small_memory():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "EXACT_ROWS", 100)
        patch.setattr(chunked_training, "SAMPLE_NUMBERS", KEPT * (D + M))
        yield


def portions(sizes, n=N):
    """Return slices of the given sizes, again and again, that make up all rows."""
    stops, at = [0], 0
    while stops[-1] < n:
        stops.append(min(n, stops[-1] + sizes[at % len(sizes)]))
        at += 1
    return [slice(low, high) for low, high in pairwise(stops)]


def streamed(model, X, Y, slices, weights=None):
    for rows in slices:
        own = None if weights is None else weights[rows]
        model.partial_fit(X[rows], Y[rows], sample_weight=own)
    return model


def linear(**params):
    return LeastSquaresClassifier(kernel="linear", alpha=1.0, **params)


MODELS = {
    "default": LabelCoverClassifier(
        Pool(LeastSquaresClassifier(), LabelForest(n_trees=3)), random_state=1
    ),
    "least squares": LabelCoverClassifier(LeastSquaresClassifier(), random_state=2),
    "forest": LabelCoverClassifier(LabelForest(n_trees=3), random_state=3),
    "BALANCOR": BalancorClassifier(k=2, threshold="loo", random_state=4),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_rows_that_fit_in_memory_give_the_model_of_fit(table, name, kind):
    X, Y = (each[:400] for each in table)
    weights = None
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X - 100) > 1, X - 100, 0))
        weights = np.random.default_rng(1).integers(0, 3, 400) / 2
    at_once = pickle.loads(pickle.dumps(MODELS[name])).fit(X, Y, sample_weight=weights)
    model = pickle.loads(pickle.dumps(MODELS[name]))
    streamed(model, X, Y, portions([150, 1, 80], 400), weights)
    np.testing.assert_allclose(model.predict_proba(X), at_once.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), at_once.predict(X))
    assert model.cover_ == at_once.cover_


@settings(max_examples=10, deadline=None)
@given(sizes=st.lists(st.integers(1, 60), min_size=1, max_size=4))
def test_any_portions_of_few_rows_give_the_model_of_fit(table, sizes):
    X, Y = (each[:90] for each in table)
    model = LabelCoverClassifier(LeastSquaresClassifier(), random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    found = streamed(model, X, Y, portions(sizes, 90)).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["numbers", "sparse", "words", "weights", "surprises"])
@pytest.mark.parametrize("k", [1, 3])
def test_more_rows_give_the_linear_members_of_fit(table, small_memory, kind, k):
    X, Y = (each.copy() for each in table)
    weights = None
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X - 100) > 1, X - 100, 0))
    elif kind == "words":
        X = ((X - 100) / 10.0 ** np.arange(-2, 5) > 0.5).astype(np.float64)
        X[:, 0] = 1 - X[:, 0]  # mostly 1: read by its zeros
    elif kind == "weights":
        weights = np.random.default_rng(1).integers(0, 3, N) / 2
    elif kind == "surprises":  # a column and a label that the first rows say nothing of
        X[:500, 3], Y[:500, 2] = 5.0, 0
        X[:, 4] = np.arange(N) > 200  # mostly 0 at first, mostly 1 in the end
    model = LabelCoverClassifier(linear(), k=k, random_state=0)
    in_memory = pickle.loads(pickle.dumps(model)).fit(X, Y, sample_weight=weights)
    for sizes in ([120], [901], [7, 200]):
        found = pickle.loads(pickle.dumps(model))
        streamed(found, X, Y, portions(sizes), weights)
        members = found.view_.members
        assert found._stream.training().Y.shape[0] == found._stream.most < N
        expected = in_memory.view_.members.of_classes()
        for one, other in zip(members.of_classes(), expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9 * max(1, np.abs(other).max()))
        # Temperatures are tuned on samples, which cannot be the same.
        members.inverse_temperature = in_memory.view_.members.inverse_temperature
        np.testing.assert_allclose(found.predict_proba(X), in_memory.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("scale", ["standard", "rows", "none"])
def test_more_rows_give_the_votes_of_fit_on_any_scale(table, small_memory, scale):
    X, Y = table
    X = (X - 100) / 10.0 ** np.arange(-2, 5)
    model = LabelCoverClassifier(linear(scale=scale), aggregate="votes", random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    found = streamed(model, X, Y, portions([77])).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("alpha", [None, 0.3])
def test_nystroem_members_are_solved_on_all_rows(table, small_memory, alpha):
    X, Y = table
    weights = np.random.default_rng(1).uniform(0.5, 2, N)
    member = LeastSquaresClassifier(kernel="rbf", alpha=alpha, n_landmarks=40)
    model = LabelCoverClassifier(member, k=1, random_state=0)
    members = streamed(model, X, Y, portions([130]), weights).view_.members
    features = members.features.transform(X)
    assert features.shape == (N, 40)
    features = features - weights @ features / weights.sum()
    gram = features.T @ (weights[:, None] * features) + members.ridge * np.eye(40)
    expected = np.linalg.solve(gram, features.T @ (weights[:, None] * Y)).T
    np.testing.assert_allclose(members.coefficients, expected, rtol=1e-6, atol=1e-8)


@settings(max_examples=8, deadline=None)
@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=4), seed=st.integers(0, 5))
def test_portions_do_not_matter(table, sizes, seed):
    X, Y = table
    pool = Pool(LeastSquaresClassifier(kernel="rbf", n_landmarks=30), LabelForest(n_trees=2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choosing, "EXACT_ROWS", 100)
        patch.setattr(chunked_training, "SAMPLE_NUMBERS", KEPT * (D + M))
        one, other = (
            streamed(LabelCoverClassifier(pool, random_state=seed), X, Y, portions(each))
            for each in (sizes, [N])
        )
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)
        assert one.n_forest_rows_ == other.n_forest_rows_ == KEPT


def test_the_order_of_later_rows_does_not_matter_to_sums(table, small_memory):
    X, Y = table
    order = np.r_[: KEPT + 1, N - 1 : KEPT : -1]
    model = LabelCoverClassifier(linear(), random_state=0)
    expected = streamed(model, X, Y, portions([100])).view_.members.of_classes()
    model = LabelCoverClassifier(linear(), random_state=0)
    found = streamed(model, X[order], Y[order], portions([100])).view_.members.of_classes()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("stopped", [2, 7])
def test_a_pickled_stream_goes_on(table, small_memory, stopped):
    X, Y = table
    slices = portions([100])
    model = LabelCoverClassifier(MODELS["default"].estimator, random_state=5)
    expected = streamed(model, X, Y, slices).predict_proba(X)
    model = LabelCoverClassifier(MODELS["default"].estimator, random_state=5, n_jobs=2)
    streamed(model, X, Y, slices[:stopped])
    model.predict(X)  # looks at the model on the way
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(
        streamed(again, X, Y, slices[stopped:]).predict_proba(X), expected
    )
    np.testing.assert_array_equal(
        streamed(model, X, Y, slices[stopped:]).predict_proba(X), expected
    )


def test_a_stream_on_disk_predicts_and_explains_the_same(table, small_memory, tmp_path):
    X, Y = table
    pool = Pool(LeastSquaresClassifier(kernel="rbf", n_landmarks=30), LabelForest(n_trees=3))
    model = streamed(LabelCoverClassifier(pool, random_state=5), X, Y, portions([250]))
    trained = TrainedModel(model, [f"x{f}" for f in range(D)], [f"y{j}" for j in range(M)])
    save_model(trained, tmp_path / "model")
    loaded = load_model(tmp_path / "model").estimator
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    why = model.explain(X[:3], label=1)
    assert all(
        sum(reason.contribution for reason in why if reason.row == i)
        == pytest.approx(why.scores[i, "label1"])
        for i in range(3)
    )
    # The forest has seen a sample, so it does not know the labels of landmarks.
    like = [reason.what for reason in why if "training row" in reason.what]
    assert like
    assert all(text.split()[-1].isdigit() for text in like)


def bad_portions(X, Y):
    """Return calls that must be refused, and what the error says."""
    named = pd.DataFrame(Y, columns=[f"label{j}" for j in range(M)])
    frame = named.rename(columns={"label4": "snow"})
    missing, odd = X.copy(), Y.copy()
    missing[3, 2], odd[4, 1] = np.nan, 2
    return {
        "columns": ((X[:, :3], Y), "X has 3 features, but .* is expecting 7"),
        "labels": ((X, Y[:, :4]), "y must have 5 labels, as in the first call, got 4"),
        "names": ((X, frame), "y must have the columns of the first call, .* got a column 'snow'"),
        "order": ((X, named[named.columns[::-1]]), "got them in another order"),
        "values": ((X, odd), "Y must hold only 0 and 1, got 2"),
        "no rows": ((X[:0], Y[:0]), "0 sample"),
        "NaN": ((missing, Y), "X contains NaN"),
        "rows": ((X, Y[:-1]), "inconsistent numbers of samples"),
        "weights": ((X, Y, None, -np.ones(len(Y))), "sample_weight must not be negative"),
        "classes": ((X, Y, [0, 1, 2]), "classes must hold only 0 and 1, got 2"),
        "tags": ((X, [["rain"]] * len(Y)), "y must be a table of zeros and ones .* got tags"),
        "text": ((X.astype(str).astype(object) + "x", Y), "could not convert"),
    }


@pytest.mark.parametrize("n_before", [200, 600])
def test_bad_rows_are_refused_and_change_nothing(table, small_memory, n_before):
    X, Y = table
    model = LabelCoverClassifier(linear(), random_state=0)
    other = pickle.loads(pickle.dumps(model))
    for each in (model, other):
        streamed(each, X[:n_before], Y[:n_before], portions([100], n_before))
    expected = other.predict_proba(X)
    for call, message in bad_portions(X[n_before:], Y[n_before:]).values():
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*call)
        np.testing.assert_array_equal(model.predict_proba(X), expected)
    for each in (model, other):
        each.partial_fit(X[n_before:], Y[n_before:])
    np.testing.assert_array_equal(model.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("name", ["values", "no rows", "NaN", "rows", "weights", "classes", "tags"])
def test_a_bad_first_call_leaves_nothing(table, name):
    X, Y = (each[:50] for each in table)
    model = LabelCoverClassifier(linear(), random_state=0)
    call, message = bad_portions(X, Y)[name]
    before = set(vars(model))
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*call)
    assert set(vars(model)) == before
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_labelsets_that_are_too_long_for_sums_are_refused_when_memory_ends(table, small_memory):
    X = table[0]
    Y = np.random.default_rng(0).integers(0, 2, (N, 8))
    model = LabelCoverClassifier(linear(), k=7, random_state=0).partial_fit(X[:200], Y[:200])
    expected = model.predict_proba(X)
    with pytest.raises(ValueError, match=r"k must be at most 6 for more than .* rows"):
        model.partial_fit(X[200:], Y[200:])
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_nominal_columns_have_the_values_of_the_first_call(table, small_memory):
    X, Y = table
    X = X.copy()
    X[:, 0] = np.arange(N) % 4
    model = LabelCoverClassifier(linear(categorical_features=[0]), random_state=0)
    in_memory = pickle.loads(pickle.dumps(model)).fit(X, Y).view_.members.of_classes()
    found = streamed(model, X, Y, portions([90])).view_.members.of_classes()
    for one, other in zip(found, in_memory, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    X[:, 0] = 4
    with pytest.raises(ValueError, match="nominal column 0 only values of the first call"):
        model.partial_fit(X, Y)


def test_a_nominal_column_with_a_new_value_is_named():
    y = np.tile([[0, 1], [1, 0]], (10, 1))
    model = LabelCoverClassifier(random_state=0)
    model.partial_fit(pd.DataFrame({"kind": pd.Categorical(["a", "b"] * 10)}), y)
    with pytest.raises(ValueError, match="nominal column 'kind' only values of the first call"):
        model.partial_fit(pd.DataFrame({"kind": pd.Categorical(["c"] * 20)}), y)


def test_it_is_there_only_where_rows_can_be_added():
    assert hasattr(LabelCoverClassifier(), "partial_fit")
    assert hasattr(BalancorClassifier(threshold=0.4), "partial_fit")
    assert not hasattr(LabelCoverClassifier(LogisticRegression()), "partial_fit")
    assert not hasattr(LabelCoverClassifier(C45Classifier()), "partial_fit")
    assert not hasattr(LabelCoverClassifier(threshold="cv"), "partial_fit")
    assert not hasattr(PrunedSetsClassifier(), "partial_fit")


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (
            LabelCoverClassifier(C45Classifier()),
            "estimator must be least squares, a LabelForest or a Pool for partial_fit, got "
            "C45Classifier()",
        ),
        (
            BalancorClassifier(threshold="cv"),
            'threshold must be "loo" or a number for partial_fit, as rows are not split into '
            "folds, got 'cv'",
        ),
        (LabelCoverClassifier(LabelForest(n_trees=0)), "n_trees must be"),
    ],
)
def test_where_it_is_not_there_the_error_says_why(model, reason):
    assert not hasattr(model, "partial_fit")
    missing = f"{type(model).__name__!r} object has no attribute 'partial_fit': "
    with pytest.raises(AttributeError, match=re.escape(missing + reason)):
        model.partial_fit([[0.0], [1.0]], [[0, 1], [1, 0]])


def test_nothing_is_fitted_before_it_is_asked_for(table):
    X, Y = (each[:80] for each in table)
    frame = pd.DataFrame(Y, columns=list("abcde"))
    model = LabelCoverClassifier(linear(), random_state=0).partial_fit(X, frame)
    assert "view_" not in vars(model)
    assert list(model.label_names_in_) == list("abcde")
    assert model.n_features_in_ == D
    first = model.threshold_
    assert "view_" in vars(model)
    model.partial_fit(table[0][80:300], table[1][80:300])
    assert "view_" not in vars(model)
    assert model.threshold_ != first
    assert model.decision_.threshold == model.threshold_
    with pytest.raises(AttributeError, match="no attribute 'coef_'"):
        model.coef_  # noqa: B018


def test_fit_starts_anew_and_so_do_rows_after_it(table):
    X, Y = (each[:120] for each in table)
    model = LabelCoverClassifier(linear(), random_state=0)
    expected = model.fit(X[:60], Y[:60]).predict_proba(X)
    model.partial_fit(X[:60], Y[:60])
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    model.partial_fit(X[60:], Y[60:]).fit(X[:60], Y[:60])
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def test_wide_text_is_fitted_on_the_sample(small_memory, monkeypatch):
    monkeypatch.setattr(wide_text, "NARROW", 100)
    random = np.random.default_rng(3)
    X = sparse.random(N, 120, 0.03, random_state=3, format="csr")
    X = X + sparse.csr_matrix((np.ones(N), (np.arange(N), random.integers(0, 120, N))))
    X = X.tocsr()
    Y = (X[:, :3].toarray() + (random.random((N, 3)) < 0.2) > 0).astype(np.uint8)
    model = LabelCoverClassifier(Pool(forest=LabelForest(n_trees=2)), random_state=0)
    streamed(model, X, Y, portions([200]))
    assert model.view_.reads_scores
    assert model._stream.summed is None
    assert 100 < model.n_forest_rows_ == model._stream.most < N


def numbered(start, stop):
    """Return training rows that hold their numbers."""
    n = stop - start
    X = np.repeat(np.arange(start, stop, dtype=float)[:, None], D, axis=1)
    return TrainingRows(X, np.ones((n, M), np.uint8), np.zeros(D, np.int32), np.ones(n), {})


def test_calls_whose_rows_are_not_kept_leave_nothing(small_memory):
    stream = RowStream(np.array([0]))
    stream.add(numbered(0, 20_000), lambda first: None)
    for i in range(20_000, 22_000):
        stream.add(numbered(i, i + 1), lambda first: None)
    assert len(stream._blocks) < 100


def test_the_sample_is_uniform_and_bounded(small_memory):
    kept = []
    for seed in range(40):
        stream = RowStream(np.array([seed]))
        for start in range(0, 3_000, 100):
            stream.add(numbered(start, start + 100), lambda first: None)
            held = sum(len(block.Y) for block in stream._blocks)
            assert held <= SLACK * KEPT + 100
        kept.append(stream.training().X[:, 0])
    assert all(len(np.unique(each)) == KEPT and (np.diff(each) > 0).all() for each in kept)
    # Of 12,000 rows that are kept, every tenth of the stream has about a tenth.
    counts = np.bincount((np.concatenate(kept) // 300).astype(int), minlength=10)
    assert np.abs(counts - 1_200).max() < 5 * np.sqrt(1_200)
