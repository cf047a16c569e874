"""Newton's method finds what SciPy finds, for many functions at once."""

import numpy as np
import pytest
from scipy.optimize import minimize

from labelcover.ensemble._log_linear_pool import newton_minima


@pytest.mark.parametrize("low", [-np.inf, 0.0])
def test_minima_are_those_of_scipy(low):
    random = np.random.default_rng(0)
    inputs, y = random.normal(size=(5, 60, 3)), random.integers(0, 2, (5, 60)) * 2 - 1

    def loss(j, x):
        return np.logaddexp(0, -y[j] * (inputs[j] @ x)).sum() + x @ x / 2

    def derivatives(which, x):
        margins = y[which] * np.einsum("fij,jf->fi", inputs[which], x)
        p = 1 / (1 + np.exp(margins))
        slope = x - np.einsum("fi,fij->jf", p * y[which], inputs[which])
        curve = np.einsum("fi,fij,fik->fjk", p * (1 - p), inputs[which], inputs[which]) + np.eye(3)
        values = np.array([loss(j, own) for j, own in zip(which, x.T, strict=True)])
        return values, slope, curve

    found = newton_minima(derivatives, np.full((3, 5), 2.0), low=low, tolerance=1e-8, most_steps=50)
    for j in range(5):
        bounds = [(low, None)] * 3
        expected = minimize(lambda x, j=j: loss(j, x), np.ones(3), bounds=bounds, tol=1e-12).x
        np.testing.assert_allclose(found[:, j], expected, atol=1e-4)
    assert (found >= low).all()


def test_steps_to_where_a_function_is_infinite_are_halved():
    """x − log x from 0.1 overshoots nothing, but from 3 a full step would lead below 0."""

    def derivatives(which, x):
        inside = np.where(x > 0, x, 1.0)
        value = np.where(x > 0, x - np.log(inside), np.inf)[0]
        return value, 1 - 1 / inside, (1 / inside**2).T[:, :, None]

    start = np.array([[0.1, 3.0]])
    found = newton_minima(derivatives, start, tolerance=1e-9, most_steps=50)
    np.testing.assert_allclose(found, 1)
