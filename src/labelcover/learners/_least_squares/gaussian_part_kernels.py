"""Compiled loops over what columns add to Gaussian kernels."""

import numpy as np

from labelcover._compiled import njit

# Columns pass from the origin to the row with a probability that grows in so many steps.
N_STEPS = 6
# Where no column changes the logarithm of a kernel by more than this, three terms of a series are
# enough for all.
SMALL = 0.5
# No column changes it by more than this: infinite numbers have a place.
MOST_CHANGE = 1e6


@njit(nogil=True, fastmath={"contract", "reassoc"})
def add_gaussian_parts(moved, centres, squares, gammas, weights, parts):
    """Add what columns add to sums of Gaussians between an origin and rows: Shapley values.

    If each column has its value of the row with probability t, else that of the origin, the
    expected kernel is a product over columns, ``K(t) = K(0) Π_i (1 − t + t r_i)`` with
    ``r_i = exp(−γ ((x_i − z_i)² − z_i²))``, and what column i adds is the integral over t of K
    times the slope of the logarithm of its factor. In each step of t, K is its logarithmic mean,
    so that parts add up to the change of K, whatever the steps.

    Parameters
    ----------
    moved : ndarray of shape (n, n_columns)
        How far rows are from the origin.
    centres : ndarray of shape (n_centres, n_columns)
        How far the centres of the kernels are.
    squares : ndarray of shape (n_centres,)
        How far, squared, in all columns, also others than these.
    gammas : ndarray
    weights : ndarray of shape (n, n_centres)
        What the sum of the kernels of all `gammas` is multiplied by.
    parts : ndarray of shape (n, n_columns)
        Added to.
    """
    n_columns = moved.shape[1]
    change, steps = np.empty(n_columns), np.empty((N_STEPS, n_columns))
    t = np.arange(N_STEPS + 1) / N_STEPS
    # The logarithm of 1 − t + t exp(u) is t u + (t (1 − t) / 2) u² + …
    second, third = t * (1 - t) / 2, t * (1 - t) * (1 - 2 * t) / 6
    logs = np.empty(N_STEPS + 1)
    for i in range(len(moved)):
        for z in range(len(centres)):
            if weights[i, z] == 0.0:
                continue
            largest, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
            for f in range(n_columns):
                v = moved[i, f] * (2.0 * centres[z, f] - moved[i, f])
                change[f] = v
                largest = max(largest, abs(v))
                sum1 += v
                sum2 += v * v
                sum3 += v * v * v
            first1, first2, first3 = 0.0, 0.0, 0.0
            for g in gammas:
                logs[:] = -g * squares[z]
                if g * largest <= SMALL:
                    for s in range(1, N_STEPS + 1):
                        logs[s] += g * (t[s] * sum1 + g * (second[s] * sum2 + g * third[s] * sum3))
                    for s in range(N_STEPS):
                        by = weights[i, z] * g * _mean_exponential(logs[s], logs[s + 1])
                        first1 += by * (t[s + 1] - t[s])
                        first2 += by * g * (second[s + 1] - second[s])
                        first3 += by * g * g * (third[s + 1] - third[s])
                    continue
                for f in range(n_columns):
                    u, before = max(g * change[f], -MOST_CHANGE), 0.0
                    for s in range(N_STEPS):
                        own = t[s + 1] * u
                        if abs(u) <= SMALL:
                            own += u * u * (second[s + 1] + u * third[s + 1])
                        elif s < N_STEPS - 1:
                            own = _log_mixed(t[s + 1], u)
                        steps[s, f] = own - before
                        logs[s + 1] += own
                        before = own
                for s in range(N_STEPS):
                    by = weights[i, z] * _mean_exponential(logs[s], logs[s + 1])
                    for f in range(n_columns):
                        parts[i, f] += by * steps[s, f]
            for f in range(n_columns):
                v = change[f]
                parts[i, f] += v * (first1 + v * (first2 + v * first3))


@njit(nogil=True)
def _log_mixed(t, u):
    """Return the logarithm of ``1 − t + t exp(u)``."""
    if u > 0.0:
        return u + np.log(t + (1.0 - t) * np.exp(-u))
    return np.log1p(t * np.expm1(u))


@njit(nogil=True)
def _mean_exponential(a, b):
    """Return the mean of the exponential between two numbers: the logarithmic mean of its ends."""
    gap = abs(a - b)
    return np.exp(max(a, b)) * (-np.expm1(-gap) / gap if gap > 0.0 else 1.0)
