"""A fit over chunks of rows gives the answer of the fit in memory."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from labelcover import BalancorClassifier, LabelCoverClassifier
from labelcover.chunks import ChunkError, open_chunks
from labelcover.ensemble import Pool
from labelcover.ensemble import _chunked_training as chunked_training
from labelcover.learners import LabelForest, LeastSquaresClassifier
from labelcover.methods import PrunedSetsClassifier

N = 4_300  # above 4,000 rows nothing is read into memory whole


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 7)) * 10.0 ** np.arange(-2, 5) + 100.0
    scores = (X - 100.0) / 10.0 ** np.arange(-2, 5)
    noise = random.normal(size=(N, 5))
    Y = (scores[:, :5] + np.abs(scores[:, 1:6]) + 0.5 * noise > 1).astype(np.uint8)
    return X, Y


def largest_difference(first, second, X):
    assert first.decision_.measure == second.decision_.measure
    thresholds = np.abs(first.threshold_ - second.threshold_).max()
    return max(np.abs(first.predict_proba(X) - second.predict_proba(X)).max(), thresholds)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", ["numbers", "sparse", "words"])
@pytest.mark.parametrize("k", [1, 3])
def test_chunks_of_any_size_give_the_fit_in_memory(table, kernel, kind, k):
    X, Y = table
    weights = None
    if kind == "sparse":
        X = sparse.csr_matrix(np.where(np.abs(X - 100) > 1, X - 100, 0))
        weights = np.random.default_rng(1).uniform(0.5, 2, N)
    elif kind == "words":
        X = (X > 100).astype(np.float64)
        X[:, 0] = X[:, 1] < 300  # mostly 1: read by its zeros
    member = LeastSquaresClassifier(kernel=kernel, n_landmarks=30)
    model = LabelCoverClassifier(member, k=k, random_state=5)
    in_memory = model.fit(X, Y, sample_weight=weights).view_.members
    expected = model.predict_proba(X)
    in_chunks = LabelCoverClassifier(member, k=k, random_state=5)
    in_chunks.fit(open_chunks(X, Y, chunk_rows=999), sample_weight=weights)
    members = in_chunks.view_.members
    assert members.scaling.scale == in_memory.scaling.scale
    assert members.ridge == pytest.approx(in_memory.ridge)
    np.testing.assert_allclose(in_chunks.predict_proba(X), expected, atol=1e-6)
    np.testing.assert_allclose(in_chunks.threshold_, model.threshold_, atol=1e-6)


def test_the_order_of_cells_in_sparse_chunks_and_stored_zeros_change_nothing(table):
    X, Y = table
    X = np.where(np.abs(X - 100) > 1, X - 100, 0)
    n, d = X.shape
    backwards = X[:, ::-1].ravel(), np.tile(np.arange(d)[::-1], n), np.arange(0, n * d + 1, d)
    stored = sparse.csr_matrix(X), sparse.csr_matrix(backwards, shape=X.shape)
    model = LabelCoverClassifier(LabelForest(n_trees=5), random_state=5)
    first, second = (
        model.fit(open_chunks(each, Y, chunk_rows=999)).predict_proba(X) for each in stored
    )
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(stored[1].indices[:d], np.arange(d)[::-1])  # left as it was


def test_the_default_pool_is_that_of_the_fit_in_memory(table):
    X, Y = table
    pool = Pool(LeastSquaresClassifier(n_landmarks=30), LabelForest(n_trees=5))
    in_memory = LabelCoverClassifier(pool, random_state=1).fit(X, Y)
    in_chunks = LabelCoverClassifier(pool, random_state=1).fit(open_chunks(X, Y, chunk_rows=1_000))
    assert largest_difference(in_memory, in_chunks, X) < 1e-6
    assert in_chunks.n_forest_rows_ == in_memory.n_forest_rows_ == N


def test_few_rows_in_chunks_are_fitted_in_memory(table):
    X, Y = (each[:300] for each in table)
    in_memory = BalancorClassifier(k=3, threshold="loo", random_state=0).fit(X, Y)
    rows = open_chunks(X, Y, chunk_rows=70)
    in_chunks = BalancorClassifier(k=3, threshold="loo", random_state=0).fit(rows)
    np.testing.assert_array_equal(in_chunks.predict_proba(X), in_memory.predict_proba(X))


def test_nominal_columns_are_the_same_in_all_chunks(table):
    X, Y = table
    X = X.copy()
    X[:, 0] = np.arange(N) // 1_000  # values that no two chunks share
    member = LeastSquaresClassifier(kernel="linear", categorical_features=[0])
    in_memory = LabelCoverClassifier(member, random_state=1).fit(X, Y)
    in_chunks = LabelCoverClassifier(member, random_state=1).fit(open_chunks(X, Y, chunk_rows=1000))
    assert largest_difference(in_memory, in_chunks, X) < 1e-6


def test_trees_of_very_many_rows_grow_on_a_sample_that_is_said(table, monkeypatch):
    X, Y = table
    monkeypatch.setattr(chunked_training, "SAMPLE_NUMBERS", 4_050 * 7)
    pool = Pool(LeastSquaresClassifier(kernel="linear"), LabelForest(n_trees=3))
    model = LabelCoverClassifier(pool, random_state=1).fit(open_chunks(X, Y, chunk_rows=1_000))
    assert 4_050 <= model.n_forest_rows_ < N
    assert model.n_threshold_rows_ == 2_048
    alone = LabelCoverClassifier(LabelForest(n_trees=3), random_state=1)
    assert alone.fit(open_chunks(X, Y)).n_forest_rows_ == 4_050


@pytest.mark.slow
def test_wide_text_in_chunks_is_that_of_the_fit_in_memory():
    random = np.random.default_rng(3)
    Y = (random.random((4_100, 3)) < 0.3).astype(np.uint8)
    words = random.integers(0, 4_050, size=(4_100, 3)) + np.arange(3)
    words = np.where(Y == 1, words % 40, words)
    at = np.repeat(np.arange(4_100), 3), words.ravel()
    X = sparse.csr_matrix((np.ones(len(at[0])), at), shape=(4_100, 4_060))
    pool = Pool(forest=LabelForest(n_trees=3))
    in_memory = LabelCoverClassifier(pool, random_state=0).fit(X, Y)
    assert in_memory.plan_.views[0].name == "scores"
    in_chunks = LabelCoverClassifier(pool, random_state=0).fit(open_chunks(X, Y, chunk_rows=1_500))
    assert largest_difference(in_memory, in_chunks, X[:200]) < 1e-6


def test_what_cannot_be_fitted_in_chunks_is_refused_before_anything_is_read(table):
    X, Y = table

    def never():
        raise AssertionError("read")

    rows = open_chunks(never)
    with pytest.raises(ValueError, match=r"estimator must be .* got LogisticRegression"):
        LabelCoverClassifier(LogisticRegression()).fit(rows)
    with pytest.raises(ValueError, match="estimator must be"):
        PrunedSetsClassifier().fit(rows)
    with pytest.raises(ValueError, match="threshold must be"):
        LabelCoverClassifier(threshold="cv").fit(rows)
    with pytest.raises(ValueError, match="y must be None"):
        LabelCoverClassifier().fit(rows, Y)
    weights = np.arange(N)
    with pytest.raises(ValueError, match="sample_weight must be above 0"):
        LabelCoverClassifier().fit(open_chunks(X, Y), sample_weight=weights)
    with pytest.raises(ValueError, match="X must be a table in memory"):
        LabelCoverClassifier().left_out_proba(rows, None)


def test_a_fit_that_fails_leaves_no_model_of_an_earlier_one(table):
    X, Y = (each[:60] for each in table)
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    with pytest.raises(ChunkError, match="chunk 1: 3 columns, expected 7 as in chunk 0"):
        model.fit(open_chunks(lambda: iter([(X, Y), (X[:, :3], Y)])))
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_a_chunk_that_changes_between_passes_is_noticed(table):
    X, Y = table
    passes = []

    def shrinking():
        passes.append(1)
        yield X[:3_000], Y[:3_000]
        yield X[3_000 : 4_300 - len(passes)], Y[3_000 : 4_300 - len(passes)]

    model = LabelCoverClassifier(random_state=0)
    with pytest.raises(ChunkError, match=r"chunk 1: 1298 rows.*the same every time"):
        model.fit(open_chunks(shrinking))
    assert not hasattr(model, "view_")


def test_partial_fit_is_not_there_and_the_error_says_what_is_instead():
    model = LabelCoverClassifier()
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match=r"no attribute 'partial_fit': .*rows in chunks"):
        model.partial_fit([[0.0]], [[1]])


def test_long_labelsets_in_chunks_are_those_of_the_fit_in_memory(table):
    X, _ = table
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, (20, 14))[random.integers(20, size=N)]
    learner = LeastSquaresClassifier(kernel="linear", alpha=1.0)
    model = LabelCoverClassifier(
        learner, k=13, cover=[range(13), [12, 13]], threshold=0.5, random_state=0
    )
    in_memory = model.fit(X, labels).predict_proba(X[:50])
    in_chunks = model.fit(open_chunks(X, labels)).predict_proba(X[:50])
    np.testing.assert_allclose(in_chunks, in_memory, atol=1e-8)
