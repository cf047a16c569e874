import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss

from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._chunked_table import TableBlock
from labelcover.learners._least_squares.choosing import SCALE_ROWS, Settings, choose_scaling
from labelcover.learners._least_squares.least_squares_members import solve, targets_of
from labelcover.learners._least_squares.scaled_features import ColumnSums, FeatureScaling
from labelcover.learners._problems import Problems

SCALES = ["standard", "rows", "none"]
csr = sparse.csr_array


def text(n=240, n_rare=600, seed=0):
    """Return counts of some telling words and of many rare ones that say nothing, and classes."""
    random = np.random.default_rng(seed)
    y = random.integers(2, size=n)
    rates = np.where(y[:, None] == np.arange(20) % 2, 0.5, 0.15)
    X = np.hstack([random.poisson(rates), 2 * (random.random((n, n_rare)) < 0.01)])
    return sparse.csr_array(X.astype(float)), y.astype(np.int32)


def unlike_columns(n=300, seed=0):
    """Return numbers, mostly 0, of which the large ones say nothing, and classes."""
    random = np.random.default_rng(seed)
    X = random.exponential(size=(n, 12)) * (random.random((n, 12)) < 0.4)
    y = (X[:, :6].sum(axis=1) > 2.2).astype(np.int32)
    X[:, 6:] *= 1e4
    return sparse.csr_array(X), y


def one_problem(X, y, weights=None):
    offsets = np.array([0, y.max() + 1], dtype=np.int64)
    return Problems(y[None], offsets, np.zeros(X.shape[1], np.int32), weights)


def some_weights(n):
    return np.random.default_rng(n).uniform(0.1, 3.0, size=n)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_array.toarray])
def test_counts_of_words_are_not_divided_by_their_deviation(kind, weighted):
    X, y = text()
    train, test = kind(X[:160]), kind(X[160:])
    weights = some_weights(160) if weighted else None
    auto = LeastSquaresClassifier(random_state=0).fit(train, y[:160], weights)
    standard = LeastSquaresClassifier(scale="standard", random_state=0)
    standard.fit(train, y[:160], weights)
    assert auto.scale_ in ("rows", "none")
    assert auto.n_scale_rows_ == 160
    loss = log_loss(y[160:], auto.predict_proba(test))
    assert loss < 0.9 * log_loss(y[160:], standard.predict_proba(test))


@pytest.mark.parametrize("kernel", ["auto", "linear", "rbf"])
def test_columns_in_unlike_units_are_divided_by_their_deviation(kernel):
    X, y = unlike_columns()
    assert LeastSquaresClassifier(kernel=kernel, random_state=0).fit(X, y).scale_ == "standard"


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("table", [text, unlike_columns])
def test_the_chosen_scale_gives_the_same_model_when_given(table, weighted):
    X, y = table()
    weights = some_weights(len(y)) if weighted else None
    auto = LeastSquaresClassifier(random_state=0).fit(X, y, weights)
    named = LeastSquaresClassifier(scale=auto.scale_, random_state=0).fit(X, y, weights)
    np.testing.assert_array_equal(auto.predict_proba(X), named.predict_proba(X))
    assert named.n_scale_rows_ == 0


def test_numbers_that_are_seldom_zero_leave_no_choice():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(50, 4)), random.integers(2, size=50)
    for table in (X, sparse.csr_array(X), np.hstack([X, np.eye(50)])):
        model = LeastSquaresClassifier().fit(table, y)
        assert (model.scale_, model.n_scale_rows_) == ("standard", 0)


def test_zero_one_tables_leave_no_choice():
    X, y = text()
    words = (X > 0).astype(float)
    model = LeastSquaresClassifier().fit(words, y)
    assert (model.scale_, model.n_scale_rows_) == ("standard", 0)


def test_rows_of_one_length_are_not_divided_by_it():
    X, y = text()
    unit = FeatureScaling("rows").set(ColumnSums.of_table(X, None)).transform(X)
    assert LeastSquaresClassifier(random_state=0).fit(unit, y).scale_ == "none"
    single = unit.astype(np.float32).astype(np.float64)
    assert LeastSquaresClassifier(random_state=0).fit(single, y).scale_ == "none"


def test_many_rows_are_sampled_for_the_choice():
    X, y = text(n=2 * SCALE_ROWS, n_rare=50)
    problems = one_problem(X, y)
    problems = replace(problems, targets=targets_of(problems))
    scaling, n_rows = choose_scaling(TableBlock(X), problems, Settings(seed=3))
    assert n_rows == SCALE_ROWS
    assert scaling.scale in ("rows", "none")


def test_a_given_ridge_and_width_are_those_of_the_chosen_scale():
    # So great a ridge leaves nothing of rows of length one, and so wide a Gaussian is constant.
    X, y = text()
    X = 100 * X
    ridge = LeastSquaresClassifier(kernel="linear", alpha=1e4).fit(X, y)
    width = LeastSquaresClassifier(kernel="rbf", gamma=1e-5, alpha=1e-2).fit(X, y)
    assert ridge.scale_ == width.scale_ == "none"


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n_rare", [5, 60], ids=["primal", "dual"])
def test_leave_one_out_on_scaled_features_equals_fitting_without_each_row(
    n_rare, scale, weighted, as_sparse
):
    X, y = text(40, n_rare)
    X = np.hstack([X.toarray(), 1.0 - (X.toarray()[:, :3] > 0)])
    X = sparse.csr_array(X) if as_sparse else X
    weights = some_weights(40) if weighted else np.ones(40)
    learner = LeastSquaresClassifier(kernel="linear", alpha=0.1, scale=scale)
    problem = replace(one_problem(X, y, weights), left_out_rows=np.arange(40))
    members = learner.fit_problems(X, problem)
    scaled = FeatureScaling(scale).set(ColumnSums.of_table(X, weights)).transform(X)
    scaled = scaled.toarray() if as_sparse else scaled
    brute = np.empty((40, 2))
    for i in range(40):
        rest = np.delete(np.arange(40), i)
        ridge = Ridge(alpha=0.1).fit(scaled[rest], np.eye(2)[y[rest]], weights[rest])
        brute[i] = ridge.predict(scaled[i : i + 1])[0]
    expected = softmax(members.inverse_temperature[0] * brute, axis=1)
    np.testing.assert_allclose(members.left_out(slice(0, 1)), expected, atol=1e-8)


@pytest.mark.parametrize("scale", ["standard", "rows"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_zero_one_columns_may_be_coded_either_way(kind, weighted, scale):
    random = np.random.default_rng(0)
    X = (random.random((80, 30)) < 0.2).astype(float)
    y = X[:, :5].sum(axis=1) > 1
    weights = some_weights(80) if weighted else None
    new = (random.random((9, 30)) < 0.5).astype(float)
    new[0], new[1] = 0, 1
    as_it_is = LeastSquaresClassifier(scale=scale).fit(kind(X), y, weights)
    turned = LeastSquaresClassifier(scale=scale).fit(kind(1 - X), y, weights)
    for rows in (X, new):
        np.testing.assert_allclose(
            as_it_is.predict_proba(kind(rows)), turned.predict_proba(kind(1 - rows)), atol=1e-10
        )


def test_an_array_in_which_nearly_all_words_are_absent_becomes_a_sparse_table():
    random = np.random.default_rng(0)
    words = (random.random((200, 100)) < 0.02).astype(float)
    X = np.where(np.arange(100) < 50, words, 1 - words)
    y = words[:, :50].sum(axis=1) > 1
    model, same = (LeastSquaresClassifier().fit(kind(X), y) for kind in (np.asarray, csr))
    assert model.members_.scaling.is_thin
    assert sparse.issparse(model.members_.scaled(X[:3]))
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(csr(X)), atol=1e-10)
    numbers = np.hstack([X, random.normal(size=(200, 1))])
    assert not FeatureScaling().set(ColumnSums.of_table(numbers, None)).is_thin


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_divided_by_their_length_have_length_one_and_empty_rows_stay(kind):
    X = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.5, 1.0]])
    scaled = FeatureScaling("rows").set(ColumnSums.of_table(kind(X), None)).transform(kind(X))
    lengths = np.linalg.norm(scaled.toarray() if sparse.issparse(scaled) else scaled, axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 1])


@pytest.mark.parametrize("scale", ["auto", *SCALES])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 1.0, 7.0])
def test_tables_of_constant_columns_give_the_class_frequencies(value, kind, scale):
    X = np.full((12, 5), value)
    y = np.arange(12) % 3 == 0
    model = LeastSquaresClassifier(scale=scale).fit(kind(X), y)
    found = model.predict_proba(kind(X))
    assert np.ptp(found, axis=0).max() < 1e-12
    assert (found[:, 0] > found[:, 1]).all()


@pytest.mark.parametrize("scale", ["auto", *SCALES])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_array.toarray])
def test_empty_rows_and_values_never_seen_get_probabilities(kind, scale):
    X, y = text()
    X = sparse.vstack([X, sparse.csr_array((3, X.shape[1]))]).tocsr()
    model = LeastSquaresClassifier(scale=scale).fit(kind(X), np.append(y, [0, 1, 1]))
    new = X[-4:].toarray()
    new[0] = 5.5
    found = model.predict_proba(kind(sparse.csr_array(new)))
    assert np.isfinite(found).all()
    assert ((found > 0) & (found < 1)).all()


@pytest.mark.parametrize("frequent", [False, True])
def test_wide_sparse_tables_are_never_copied_dense(frequent):
    n, d = 200, 50_000
    X = sparse.random_array((n, d), density=1e-3, rng=np.random.default_rng(0), format="csr")
    if frequent:
        X = sparse.hstack([sparse.csr_array(np.ones((n, 20))), X]).tocsr()
    y = np.arange(n, dtype=np.int32) % 2
    LeastSquaresClassifier(random_state=0).fit(X, y)  # compiles
    tracemalloc.start()
    LeastSquaresClassifier(random_state=0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * d * 8 / 4


@pytest.mark.parametrize(("given", "same"), [(True, "auto"), (False, "none"), (np.True_, "auto")])
def test_true_is_auto_and_false_is_none(given, same):
    X, y = text()
    found = LeastSquaresClassifier(scale=given, random_state=0).fit(X, y).predict_proba(X)
    named = LeastSquaresClassifier(scale=same, random_state=0).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(found, named)


@pytest.mark.parametrize("value", ["unit", 1, None])
def test_other_scales_are_refused(value):
    X, y = text()
    message = f"scale must be one of 'auto', 'standard', 'rows', 'none', got {value!r}"
    with pytest.raises(ValueError, match=message):
        LeastSquaresClassifier(scale=value).fit(X, y)


def test_the_progress_bar_says_which_scale_was_chosen():
    texts = []
    bar = SimpleNamespace(advance=lambda steps: None, describe=texts.append)
    X, y = unlike_columns()
    solve(X, one_problem(X, y), Settings(), bar)
    assert texts == ["solving members (scale: standard)"]
