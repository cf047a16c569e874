"""Weights of views: the best for log-loss, never negative, close to the common ones if rare."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from labelcover.ensemble._confidence_kernels import pool_derivatives
from labelcover.ensemble._log_linear_pool import VARIANCE, VARIANCE_LABELS, fit_pool


def simulated(n=400, m=3, seed=0):
    """A timid view, a useless one, and labels of known probabilities."""
    random = np.random.default_rng(seed)
    truth = random.uniform(0.05, 0.95, (n, m))
    Y = (random.random((n, m)) < truth).astype(np.uint8)
    return [0.25 + 0.5 * truth, random.uniform(0.1, 0.9, (n, m))], Y


def frequencies(Y):
    return (Y.sum(axis=0) + 0.5) / (len(Y) + 1)


def best_by_scipy(inputs, base, y, centre, penalty):
    def loss(theta):
        odds = base + inputs @ theta
        distance = ((theta - centre) ** 2).sum()
        return (np.logaddexp(0, odds) - y * odds).sum() + penalty / 2 * distance

    bounds = [(0, None)] * (len(centre) - 1) + [(None, None)]
    return minimize(loss, centre, method="L-BFGS-B", bounds=bounds, tol=1e-14).x


@pytest.mark.parametrize("seed", range(4))
def test_the_weights_of_one_label_are_those_of_scipy(seed):
    views, Y = simulated(200, 1, seed)
    frequency = frequencies(Y)
    pool = fit_pool(views, Y, frequency)
    base = logit(frequency)
    inputs = np.column_stack([*(logit(view[:, 0]) - base for view in views), np.ones(200)])
    y = Y[:, 0].astype(float)
    common = best_by_scipy(inputs, base, y, np.array([0.5, 0.5, 0.0]), 1.0)
    # One label says nothing of how much labels differ.
    penalty = (1 + VARIANCE_LABELS) / (VARIANCE_LABELS * VARIANCE)
    own = best_by_scipy(inputs, base, y, common, penalty)
    np.testing.assert_allclose(pool.common, common, atol=1e-3)
    np.testing.assert_allclose([*pool.weights[0], pool.intercept[0]], own, atol=1e-3)


def test_the_pool_is_the_formula_of_its_weights():
    views, Y = simulated()
    frequency = frequencies(Y)
    pool = fit_pool(views, Y, frequency)
    base = logit(frequency)
    odds = base + pool.intercept
    odds = odds + sum(w * (logit(p) - base) for w, p in zip(pool.weights.T, views, strict=True))
    np.testing.assert_allclose(pool.pool(views), expit(odds))


def test_no_view_has_a_negative_weight():
    views, Y = simulated()
    lying = 1 - views[0]
    pool = fit_pool([views[0], lying], Y, frequencies(Y))
    assert (pool.weights >= 0).all()
    alone = fit_pool([lying], Y, frequencies(Y))
    np.testing.assert_array_equal(alone.weights, 0)
    np.testing.assert_allclose(alone.pool([lying]).mean(axis=0), Y.mean(axis=0), atol=0.01)


def test_the_pool_calibrates_a_timid_view_and_ignores_a_useless_one():
    views, Y = simulated(3000)
    pool = fit_pool(views, Y, frequencies(Y))
    assert (pool.weights[:, 0] > 1.2).all()
    assert (pool.weights[:, 1] < 0.2).all()


def test_a_label_with_one_positive_row_stays_near_the_common_weights():
    views, Y = simulated(1000, 4)
    Y[:, 3] = 0
    Y[7, 3] = 1
    random = np.random.default_rng(1)
    # For the last two labels the views change places, which only a frequent label can tell.
    views = [
        np.column_stack([views[0][:, :2], views[1][:, 2:]]),
        np.column_stack([views[1][:, :2], views[0][:, 2:]]),
    ]
    rare = random.uniform(0.001, 0.01, (2, 1000))
    views[0][:, 3], views[1][:, 3] = rare
    pool = fit_pool(views, Y, frequencies(Y))
    away = np.abs(pool.weights - pool.common[:-1]).max(axis=1)
    assert away[3] < 0.4
    assert away[2] > 2 * away[3]


def many_labels(spread, n=300, m=600, seed=0):
    """Labels whose log-odds are a view's, times a weight of their own of that spread."""
    random = np.random.default_rng(seed)
    odds = random.normal(size=(n, m))
    weights = 1 + spread * random.normal(size=m)
    return [expit(odds)], (random.random((n, m)) < expit(odds * weights)).astype(np.uint8), weights


def test_weights_of_many_labels_that_do_not_differ_are_nearly_the_same():
    views, Y, _ = many_labels(0.0)
    pool = fit_pool(views, Y, np.full(Y.shape[1], 0.5))
    # With the penalty that few labels get, 4, their standard deviation is 0.14.
    assert pool.weights.std() < 0.1


def test_weights_of_many_labels_that_differ_are_found():
    views, Y, weights = many_labels(0.4)
    pool = fit_pool(views, Y, np.full(Y.shape[1], 0.5))
    assert np.corrcoef(pool.weights[:, 0], weights)[0, 1] > 0.9
    assert pool.weights.std() > 0.3


def test_weights_of_rows_are_repeated_rows():
    views, Y = simulated()
    # The mean of the weights is 1, so that the penalty counts the same.
    weights = np.tile([0.0, 1.0, 2.0, 1.0], 100)
    repeats = weights.astype(int)
    frequency = np.full(3, 0.4)
    weighted = fit_pool(views, Y, frequency, weights)
    repeated = fit_pool(
        [np.repeat(view, repeats, axis=0) for view in views],
        np.repeat(Y, repeats, axis=0),
        frequency,
    )
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-6)
    np.testing.assert_allclose(weighted.intercept, repeated.intercept, atol=1e-6)
    scaled = fit_pool(views, Y, frequency, 10 * weights)
    np.testing.assert_allclose(scaled.weights, weighted.weights, atol=1e-6)


@pytest.mark.parametrize("n", [1, 2, 10, 100])
@pytest.mark.parametrize("sure", [1e-9, 5e-4, 0.3])
def test_no_labels_and_no_views_make_the_pool_fail(n, sure):
    random = np.random.default_rng(n)
    Y = random.integers(0, 2, (n, 6)).astype(np.uint8)
    Y[:, 0], Y[:, 1], Y[:, 2] = 0, 1, np.arange(n) == 0
    views = [
        np.where(random.random((n, 6)) < 0.5, sure, 1 - sure),
        np.full((n, 6), 0.5),
        np.where(Y == 1, 1 - sure, sure),
        np.where(Y == 1, sure, 1 - sure),
    ]
    pool = fit_pool(views, Y, frequencies(Y))
    for found in (pool.weights, pool.intercept, pool.common, pool.pool(views)):
        assert np.isfinite(found).all()
    assert (pool.weights >= 0).all()


def test_the_pool_loses_little_to_any_view_on_rows_it_was_fitted_on():
    views, Y = simulated()
    pooled = fit_pool(views, Y, frequencies(Y)).pool(views)

    def log_loss(P):
        return -np.log(np.where(Y == 1, P, 1 - P)).mean()

    assert log_loss(pooled) < min(map(log_loss, views))


def test_compiled_derivatives_are_those_of_plain_sums():
    random = np.random.default_rng(3)
    d, m, n = 3, 4, 300
    inputs, base = random.normal(size=(d, m, n)), random.normal(size=(m, n))
    Y = random.integers(0, 2, (m, n)).astype(np.uint8)
    weights, theta = random.random((m, n)), 3 * random.normal(size=(d, m))
    odds = base + np.einsum("vji,vj->ji", inputs, theta)
    p = 1 / (1 + np.exp(-odds))
    which = np.array([3, 0, 2])
    found = pool_derivatives(inputs, base, Y, weights, which, theta[:, which].copy())
    losses, slopes, curves = found
    np.testing.assert_allclose(
        losses, ((np.logaddexp(0, odds) - Y * odds) * weights).sum(axis=1)[which]
    )
    all_slopes = np.einsum("vji,ji->vj", inputs, weights * (p - Y))
    np.testing.assert_allclose(slopes, all_slopes[:, which])
    bend = weights * p * (1 - p)
    all_curves = np.einsum("aji,bji,ji->jab", inputs, inputs, bend)
    np.testing.assert_allclose(curves, all_curves[which])
