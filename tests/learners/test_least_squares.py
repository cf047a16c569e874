from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._chunked_table import TableBlock
from labelcover.learners._least_squares.class_kernels import (
    HIGHEST,
    LOWEST,
    class_distributions,
    exponential,
    left_out_temperatures,
    logarithm_beyond_one,
)
from labelcover.learners._least_squares.least_squares_members import FINE
from labelcover.learners._least_squares.ridge_systems import PrimalSystem
from labelcover.learners._least_squares.scaled_features import ColumnSums, FeatureScaling
from labelcover.learners._problems import LinearTargets, Problems


def one_hot(classes, n_classes):
    return (classes[:, None] == np.arange(n_classes)).astype(float)


def problem(n=40, d=6, n_classes=3, seed=0):
    X, y = make_classification(
        n, d, n_informative=4, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    return X, y.astype(np.int32)


def solved(X, y, weights=None, **parameters):
    """Return the model of one problem and its leave-one-out predictions, on features as given."""
    offsets = np.array([0, y.max() + 1], dtype=np.int64)
    n_values, rows = np.zeros(X.shape[1], np.int32), np.arange(len(y))
    problems = Problems(y[None], offsets, n_values, weights, left_out_rows=rows)
    members = LeastSquaresClassifier(scale=False, **parameters).fit_problems(X, problems)
    return members, members.left_out(slice(0, 1))


def some_weights(n):
    return np.random.default_rng(n).uniform(0.1, 3.0, size=n)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("n", "d"), [(40, 6), (25, 60)], ids=["primal", "dual"])
def test_linear_scores_are_those_of_ridge_regression(n, d, as_sparse, weighted):
    X, y = problem(n, d)
    weights = some_weights(n) if weighted else None
    model = LeastSquaresClassifier(kernel="linear", alpha=0.7, scale=False)
    model.fit(sparse.csr_matrix(X) if as_sparse else X, y, weights)
    relative = weights / weights.mean() if weighted else None
    ridge = Ridge(alpha=0.7).fit(X, one_hot(y, 3), relative)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-9)


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("n", "d"), [(60, 6), (25, 60)])
def test_integer_weights_are_repeated_rows_where_nothing_is_left_out(n, d, kernel, as_sparse):
    X, y = problem(n, d)
    times = np.random.default_rng(0).integers(0, 4, size=n)
    table = sparse.csr_matrix if as_sparse else np.asarray
    model = LeastSquaresClassifier(kernel=kernel, gamma=0.3, alpha=0.7)
    weighted = clone(model).fit(table(X), y, times)
    # Weights are divided by their mean, so that the ridge is that of fewer rows.
    repeated = clone(model).set_params(alpha=0.7 * times[times > 0].mean())
    repeated.fit(table(np.repeat(X, times, axis=0)), np.repeat(y, times))
    np.testing.assert_allclose(
        weighted.decision_function(table(X)), repeated.decision_function(table(X)), atol=1e-8
    )


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize(("n", "d"), [(60, 6), (25, 60)])
def test_a_chosen_ridge_gives_the_same_weighted_model_when_given(n, d, kernel):
    X, y = problem(n, d)
    chosen = LeastSquaresClassifier(kernel=kernel).fit(X, y, some_weights(n))
    given_again = LeastSquaresClassifier(
        kernel=kernel, alpha=chosen.alpha_, gamma=chosen.gamma_ or None
    ).fit(X, y, some_weights(n))
    np.testing.assert_allclose(chosen.predict_proba(X), given_again.predict_proba(X), atol=1e-8)


def test_scaled_linear_scores_are_those_of_ridge_regression_on_scaled_features():
    X, y = problem()
    model = LeastSquaresClassifier(kernel="linear", alpha=0.7).fit(X, y)
    scaled = FeatureScaling().set(ColumnSums.of_table(X, None)).transform(X)
    expected = Ridge(alpha=0.7).fit(scaled, one_hot(y, 3)).predict(scaled)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_gaussian_scores_are_those_of_centred_kernel_ridge_regression():
    X, y = problem()
    model = LeastSquaresClassifier(kernel="rbf", gamma=0.3, alpha=0.7, scale=False).fit(X, y)
    K = rbf_kernel(X, gamma=0.3)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    T = one_hot(y, 3)
    ridge = KernelRidge(alpha=0.7, kernel="precomputed").fit(centred, T - T.mean(axis=0))
    expected = ridge.predict(centred) + T.mean(axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "linear", "alpha": 0.5},
        {"kernel": "rbf", "gamma": 0.2, "alpha": 0.5},
        {"kernel": "rbf", "gamma": (0.05, 0.2, 0.8), "alpha": 0.05},
    ],
    ids=["linear", "rbf", "mean of rbf"],
)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(("n", "d"), [(30, 6), (18, 40)])
def test_closed_form_leave_one_out_equals_fitting_without_each_row(n, d, settings, weighted):
    X, y = problem(n, d)
    weights = some_weights(n) if weighted else np.ones(n)
    members, left_out = solved(X, y, weights, **settings)
    brute = np.empty((n, 3))
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        if settings["kernel"] == "linear":
            fitted = Ridge(alpha=settings["alpha"])
            fitted.fit(X[rest], one_hot(y[rest], 3), weights[rest])
            brute[i] = fitted.predict(X[i : i + 1])[0]
        else:
            left, _ = solved(X[rest], y[rest], weights[rest], **settings)
            brute[i] = left.scores(left.prepare(X[i : i + 1]), slice(0, 1))[0]
    expected = softmax(members.inverse_temperature[0] * brute, axis=1)
    np.testing.assert_allclose(left_out, expected, atol=1e-8)


def test_the_temperature_has_the_least_leave_one_out_log_loss():
    X, y = problem(60)
    members, left_out = solved(X, y, kernel="linear", alpha=1.0)
    (inverse_temperature,) = members.inverse_temperature
    scores = np.log(left_out) / inverse_temperature

    def loss(log_beta):
        return -log_softmax(np.exp(log_beta) * scores, axis=1)[np.arange(60), y].mean()

    found = minimize_scalar(loss, bounds=(-3, 5), method="bounded", options={"xatol": 1e-9})
    assert inverse_temperature == pytest.approx(np.exp(found.x), rel=1e-4)
    model = LeastSquaresClassifier(kernel="linear", alpha=1.0, scale=False).fit(X, y)
    assert model.inverse_temperature_ == pytest.approx(inverse_temperature)


def test_many_rows_are_approximated_with_landmarks(monkeypatch):
    monkeypatch.setattr("labelcover.learners._least_squares.choosing.EXACT_ROWS", 50)
    X, y = problem(200, 8)
    few = LeastSquaresClassifier(kernel="rbf", n_landmarks=40, random_state=0).fit(X, y)
    assert few.coef_.shape[1] <= 40
    all_of_them = LeastSquaresClassifier(
        kernel="rbf", gamma=few.gamma_, alpha=few.alpha_, n_landmarks=200
    ).fit(X, y)
    monkeypatch.undo()
    exact = LeastSquaresClassifier(kernel="rbf", gamma=few.gamma_, alpha=few.alpha_).fit(X, y)
    np.testing.assert_allclose(all_of_them.predict_proba(X), exact.predict_proba(X), atol=1e-6)
    assert few.score(X, y) > 0.9
    members = few.members_
    assert members.of_values is not None
    features = members.map.transform(members.scaled(X)) @ members.coefficients.T + members.intercept
    np.testing.assert_allclose(members.prepare(X), features, atol=1e-9)


def test_the_automatic_kernel_bends_where_a_line_does_not_do():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = (X**2).sum(axis=1) > 1.4
    model = LeastSquaresClassifier().fit(X[:200], y[:200])
    assert model.kernel_ == "rbf"
    assert model.score(X[200:], y[200:]) > 0.9
    assert (
        LeastSquaresClassifier(kernel="linear").fit(X[:200], y[:200]).score(X[200:], y[200:]) < 0.7
    )


def test_the_automatic_kernel_stays_linear_where_that_is_best():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 40))
    y = X @ random.normal(size=40) > 0
    assert LeastSquaresClassifier().fit(X, y).kernel_ == "linear"


@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(1, 5), st.integers(1, 4))
def test_targets_give_the_one_hot_classes_and_sums_of_centred_rows(seed, n, d, n_problems):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, size=n_problems)
    classes = np.array([random.integers(0, size, size=n) for size in sizes], dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.5)
    T = np.hstack([one_hot(own, size) for own, size in zip(classes, sizes, strict=True)])
    targets = LinearTargets.of_classes(classes, offsets)
    assert len(targets) == offsets[-1] - n_problems
    Z = targets.dense()
    np.testing.assert_array_equal(targets.combine @ Z + targets.constant[:, None], T.T)
    for table in (X, sparse.csr_matrix(X)):
        posed = PrimalSystem(TableBlock(table), targets).pose(targets, np.arange(n))
        np.testing.assert_allclose(posed.right_sides.T, Z @ (X - X.mean(axis=0)), atol=1e-12)


def test_the_exponential_is_right_to_the_last_bits():
    x = np.concatenate([-np.geomspace(1e-300, 708, 20_000), -np.arange(709) * np.log(2) / 2, [0.0]])
    x = x[x >= -708]
    np.testing.assert_allclose([exponential(each) for each in x], np.exp(x), rtol=5e-16)
    assert exponential(-1e9) == pytest.approx(np.exp(-708))


def test_the_logarithm_is_right_to_the_last_bits():
    x = np.concatenate([np.linspace(0, 1, 1001), 10.0 ** -np.arange(1, 300, 7)])
    found = [logarithm_beyond_one(each) for each in x]
    np.testing.assert_allclose(found, np.log1p(x), rtol=7e-16)


def some_problems(n, sizes=(3, 1, 4)):
    random = np.random.default_rng(0)
    sizes = np.array(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    classes = np.array([random.integers(0, size, size=n) for size in sizes], dtype=np.int32)
    T = np.hstack([one_hot(own, size) for own, size in zip(classes, sizes, strict=True)])
    targets = LinearTargets.of_classes(classes, offsets)
    fitted = random.random((n, len(targets)))
    return classes, offsets, T, targets, fitted


def plain_temperature(scores, classes, weights):
    """The inverse temperature with the least log-loss, by a search that knows no derivatives."""

    def loss(log_beta):
        own = log_softmax(np.exp(log_beta) * scores, axis=1)[np.arange(len(classes)), classes]
        return -weights @ own

    bounds = np.log([LOWEST, HIGHEST])
    return np.exp(minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-9}).x)


def plain_distributions(scores, offsets, beta):
    parts = np.split(scores, offsets[1:-1], axis=1)
    return np.hstack([softmax(b * part, axis=1) for b, part in zip(beta, parts, strict=True)])


@pytest.mark.parametrize("n", [5, 16, 40])
def test_kernels_of_many_problems_equal_their_plain_twins(n):
    classes, offsets, T, targets, fitted = some_problems(n)
    random = np.random.default_rng(1)
    leverage, weights = random.random(n) * 0.9, random.uniform(0.5, 2, n)
    of_targets = np.ascontiguousarray(fitted.T)
    scores = fitted @ targets.combine.toarray().T + targets.constant
    left = T - (T - scores) / (1 - leverage)[:, None]
    beta = np.ones(len(classes))
    for p, (low, high) in enumerate(pairwise(offsets)):
        if high - low > 1:
            beta[p] = plain_temperature(left[:, low:high], classes[p], weights)
    cells = np.tile(weights, (len(classes), 1))
    how = targets.combination, leverage, classes, offsets, cells, 1e-11
    best, brier_score = left_out_temperatures(of_targets, *how)
    np.testing.assert_allclose(best, beta, rtol=1e-5)
    beta = best
    expected = plain_distributions(left, offsets, beta)
    found = class_distributions(of_targets, targets.combination, offsets, beta, classes, leverage)
    np.testing.assert_allclose(found.T, expected, atol=1e-12)
    loss = weights @ ((expected - T) ** 2).sum(axis=1)
    assert brier_score == pytest.approx(loss)
    new = class_distributions(
        of_targets, targets.combination, offsets, beta, np.empty((1, 0), np.int32), np.empty(0)
    )
    np.testing.assert_allclose(new.T, plain_distributions(scores, offsets, beta), atol=1e-12)


def test_kernels_of_some_problems_take_offsets_that_do_not_begin_at_zero():
    _, offsets, _, targets, fitted = some_problems(20)
    beta = np.array([1.0, 2.0, 3.0])
    none = np.empty((1, 0), np.int32), np.empty(0)
    of_targets = np.ascontiguousarray(fitted.T)
    whole = class_distributions(of_targets, targets.combination, offsets, beta, *none)
    starts, columns, values, constant = targets.combination
    low = offsets[1]
    part = starts[low:], columns, values, constant[low:]
    found = class_distributions(of_targets, part, offsets[1:], beta[1:], *none)
    np.testing.assert_array_equal(found, whole[low:])


def test_sparse_and_dense_bags_of_words_give_the_same_model():
    random = np.random.default_rng(0)
    X = (random.random((80, 30)) < 0.2).astype(float)
    y = X[:, :5].sum(axis=1) > 1
    dense = LeastSquaresClassifier().fit(X, y)
    thin = LeastSquaresClassifier().fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        dense.predict_proba(X), thin.predict_proba(sparse.csr_matrix(X)), atol=1e-8
    )


def test_scaling_standardises_numbers_and_normalises_rows_of_words():
    random = np.random.default_rng(0)
    numbers = random.normal(3, 5, size=(50, 2))
    words = (random.random((50, 6)) < 0.4).astype(float)
    scaled = FeatureScaling().set(ColumnSums.of_table(numbers, None)).transform(numbers)
    np.testing.assert_allclose(scaled.std(axis=0), 1 / np.sqrt(2))
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    lengths = np.linalg.norm(
        FeatureScaling().set(ColumnSums.of_table(words, None)).transform(words), axis=1
    )
    np.testing.assert_allclose(lengths[words.any(axis=1)], 1)
    both = np.hstack([numbers, words])
    mixed = FeatureScaling().set(ColumnSums.of_table(both, None)).transform(both)
    np.testing.assert_allclose(mixed[:, :2].std(axis=0), 1 / np.sqrt(8))
    lengths = np.linalg.norm(mixed[:, 2:], axis=1)
    np.testing.assert_allclose(lengths[words.any(axis=1)], np.sqrt(6 / 8))
    few_words = np.hstack([numbers, words[:, :1]])
    np.testing.assert_allclose(
        FeatureScaling().set(ColumnSums.of_table(few_words, None)).transform(few_words).std(axis=0),
        1 / np.sqrt(3),
    )


def test_mixed_sparse_tables_keep_words_and_scale_numbers():
    random = np.random.default_rng(0)
    words = (random.random((50, 6)) < 0.4).astype(float)
    both = np.hstack([random.normal(size=(50, 2)), words])
    scaled = (
        FeatureScaling()
        .set(ColumnSums.of_table(sparse.csr_matrix(both), None))
        .transform(sparse.csr_matrix(both))
    )
    dense = FeatureScaling().set(ColumnSums.of_table(both, None)).transform(both)
    np.testing.assert_allclose(scaled.toarray()[:, 2:], dense[:, 2:])
    np.testing.assert_allclose(np.sqrt((scaled.toarray()[:, :2] ** 2).mean(axis=0)), 1 / np.sqrt(8))


def test_columns_that_never_change_do_no_harm():
    X, y = problem()
    more = np.hstack([X, np.full((40, 2), 1e6)])
    model = LeastSquaresClassifier(kernel="linear", alpha=1.0).fit(more, y)
    assert np.isfinite(model.predict_proba(more)).all()


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("kernel", "poly", "kernel must be one of 'auto', 'linear', 'rbf', got 'poly'"),
        ("alpha", -1, "alpha must be .*a number above 0, got -1"),
        ("gamma", 0, "gamma must be .*a number above 0, got 0"),
        ("gamma", [], "gamma must be .*got \\[\\]"),
        ("n_landmarks", 0, "n_landmarks must be an integer of at least 1, got 0"),
        ("alpha", np.inf, "alpha must be a finite number above 0, got inf"),
        ("random_state", "now", "random_state must be an integer .*got 'now'"),
    ],
)
def test_senseless_parameters_are_refused(parameter, value, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        LeastSquaresClassifier(**{parameter: value}).fit(X, y)


REPEATED = "leave-one-out leaves a row out with all its weight, not one of its copies"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
}


@parametrize_with_checks(
    [LeastSquaresClassifier()], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("scale", [False, True])
def test_features_that_nearly_all_rows_share_do_no_harm(scale):
    # Of 600 columns nearly all ones the kernel is nearly constant, and centring cancels it.
    random = np.random.default_rng(0)
    X = np.ones((300, 600))
    y = random.integers(2, size=300)
    X[np.arange(300), random.integers(300, size=300) + 300 * y] = 0
    model = LeastSquaresClassifier(kernel="linear", alpha=1e-3, scale=scale).fit(X, y)
    assert model.score(X, y) == 1.0


@given(st.integers(0, 10**6), st.integers(8, 200), st.integers(2, 5), st.floats(-3, 3))
def test_a_last_step_that_is_not_small_leaves_a_small_error(seed, n, n_classes, size):
    random = np.random.default_rng(seed)
    scores = 10.0**size * random.normal(size=(n, n_classes))
    likely = random.random(n) < 0.7
    classes = np.where(likely, scores.argmax(axis=1), random.integers(n_classes, size=n))
    classes, offsets = classes[None].astype(np.int32), np.array([0, n_classes])
    weights = random.integers(1, 4, n).astype(float)
    of_classes = np.ascontiguousarray(scores.T)
    itself = np.arange(n_classes + 1), np.arange(n_classes), np.ones(n_classes), np.zeros(n_classes)
    how = itself, np.zeros(n), classes, offsets, weights[None]
    rough, exact = (
        left_out_temperatures(of_classes, *how, tolerance)[0][0] for tolerance in (FINE, 1e-10)
    )
    if not 2 * LOWEST < exact < HIGHEST / 2:
        return  # the search ends at a bound

    def loss(beta):
        of_classes = log_softmax(beta * scores, axis=1)[np.arange(n), classes[0]]
        return -np.average(of_classes, weights=weights)

    assert loss(rough) == pytest.approx(loss(exact), abs=1e-5)
