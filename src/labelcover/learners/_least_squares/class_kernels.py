"""Compiled loops of least squares on classes: scores, temperatures, softmax.

Scores have a row for each target or class, so that loops run over the rows of the table, several of
which compilers take at a time.
"""

import numpy as np

from labelcover._compiled import njit

# Steps for the temperature of one problem, the last relative one of those on some rows, and the
# bounds of its inverse.
MOST_STEPS = 60
ROUGH = 0.5
LOWEST, HIGHEST = 1e-3, 1e3
LOG2_E = 1.4426950408889634
# The logarithm of 2 in two parts; the first has zeros enough for an exact product with n.
LN2_HIGH, LN2_LOW = 6.93145751953125e-1, 1.42860682030941723212e-6
# Added to a number of less than 2⁵¹, this leaves it rounded in the lowest bits.
ROUND = 6755399441055744.0


# Compilers take several at a time of these two, which they cannot of NumPy's in a loop.
@njit(fastmath={"contract"})
def exponential(x):
    """Return ``eˣ`` for ``x`` ≤ 0, to the last bit or two; below -708 it is that of -708.

    ``eˣ = 2ⁿ eʳ`` with n the nearest integer to ``x / ln 2``, so that ``|r| ≤ ln 2 / 2`` and
    twelve terms of its series are enough.
    """
    x = x if x > -708.0 else -708.0
    shifted = x * LOG2_E + ROUND
    n = shifted - ROUND
    r = x - n * LN2_HIGH - n * LN2_LOW
    # Pairs of terms, then pairs of these, so that few wait for another.
    square = r * r
    fourth = square * square
    low = 0.5 + r * (1.0 / 6.0)
    low += square * (1.0 / 24.0 + r * (1.0 / 120.0))
    high = 1.0 / 720.0 + r * (1.0 / 5040.0)
    high += square * (1.0 / 40320.0 + r * (1.0 / 362880.0))
    top = 1.0 / 3628800.0 + r * (1.0 / 39916800.0) + square * (1.0 / 479001600.0)
    low += fourth * (high + fourth * top)
    series = 1.0 + (r + square * low)
    power = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return series * np.int64(power).view(np.float64)


@njit(error_model="numpy", fastmath={"contract"})
def logarithm_beyond_one(x):
    """Return ``log(1 + x)`` for ``x`` from 0 to 1, to the last bit or two.

    It is twice the area tangent of ``z = x / (2 + x)``, and as ``z ≤ 1/3``, sixteen terms of its
    series are enough.
    """
    z = x / (2.0 + x)
    square = z * z
    series = 1.0 / 31.0
    for odd in range(29, 2, -2):
        series = series * square + 1.0 / odd
    return 2.0 * z * (series * square + 1.0)


@njit(nogil=True)
def _fill_gaps(targets, combination, low, classes, factor, gaps):
    """Write how far the scores of one problem are below the largest of their row, a row per class.

    The first of its classes is `low`. Unless `factor`, ``1 / (1 - leverage)``, is empty, scores are
    those of models fitted without the row.
    """
    starts, columns, values, constant = combination
    top = np.full(gaps.shape[1], -np.inf)
    for c in range(len(gaps)):
        row = gaps[c]
        for i in range(len(row)):  # an assignment of arrays takes seconds to compile
            row[i] = constant[low + c]
        for at in range(starts[low + c], starts[low + c + 1]):
            value, target = values[at], targets[columns[at]]
            for i in range(len(row)):
                row[i] += value * target[i]
        for i in range(len(factor)):
            row[i] *= factor[i]
    for i in range(len(factor)):
        gaps[classes[i], i] += 1.0 - factor[i]
    for c in range(len(gaps)):
        row = gaps[c]
        for i in range(len(row)):
            top[i] = max(top[i], row[i])
    for c in range(len(gaps)):
        row = gaps[c]
        for i in range(len(row)):
            row[i] -= top[i]


# Compilers take several rows of a sum at a time only in another order, and without asking at every
# division whether it is one by 0.
@njit(nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _slopes(gaps, own, weights, beta, sums):
    """First three derivatives of the weighted log-loss of ``softmax(β · scores)``.

    They are cumulants of the gaps, which are how far scores are below the largest of their row.
    `sums`, of shape ``(4, n_rows)``, is room for sums over the classes.
    """
    sums[:] = 0.0
    total, mean, square, cube = sums[0], sums[1], sums[2], sums[3]
    for c in range(gaps.shape[0]):
        row = gaps[c]
        for i in range(len(own)):
            gap = row[i]
            weight = exponential(beta * gap)
            total[i] += weight
            mean[i] += weight * gap
            square[i] += weight * gap * gap
            cube[i] += weight * gap * gap * gap
    first, second, third = 0.0, 0.0, 0.0
    for i in range(len(own)):
        share = 1.0 / total[i]
        middle, spread = mean[i] * share, square[i] * share
        first += weights[i] * (middle - own[i])
        second += weights[i] * (spread - middle * middle)
        skew = cube[i] * share - 3.0 * middle * spread + 2.0 * middle * middle * middle
        third += weights[i] * skew
    return first, second, third


@njit(nogil=True)
def _least(gaps, own, weights, at, tolerance):
    """Logarithm of the best inverse temperature, by Halley's method from `at` in a bracket."""
    sums = np.empty((4, len(own)))
    left, right = np.log(LOWEST), np.log(HIGHEST)
    for _ in range(MOST_STEPS):
        beta = np.exp(at)
        first, second, third = _slopes(gaps, own, weights, beta, sums)
        if first > 0:
            right = at
        else:
            left = at
        # The derivatives by the logarithm.
        slope = first * beta
        curve = second * beta**2 + slope
        bend = third * beta**3 + 3.0 * second * beta**2 + slope
        step = left - 1.0
        if curve > 0:
            # Far from the minimum the third derivative may mislead: Newton's step then.
            divisor = curve - 0.5 * slope * bend / curve
            is_near = 0.5 * curve < divisor < 2.0 * curve
            step = at - slope / (divisor if is_near else curve)
        if not left < step < right:
            step = 0.5 * (left + right)
        moved = abs(step - at)
        at = step
        if moved < tolerance:
            break
    return at


@njit(nogil=True)
def left_out_temperatures(targets, combination, leverage, classes, offsets, weights, tolerance):
    """Return the best inverse temperature of each problem, from leave-one-out scores.

    It is that with the least log-loss, which is convex in it: Halley's method on its logarithm,
    first on every eighth row, then on all until it moves by less than `tolerance`; as its
    convergence is cubic, what is then left is far less. Problem by problem, in the cache. With
    them the weighted sum of the Brier scores of all problems is returned.

    Parameters
    ----------
    targets : float64 array of shape (n_targets, n)
        The fitted scores of targets.
    combination : tuple
        ``starts``, ``columns``, ``values`` and ``constant``. Scores of classes are combinations
        of those of targets: the first three are the rows of a CSR matrix, one for each class,
        which may be some of the rows of a larger one.
    leverage : float64 array of shape (n,)
    classes : int32 array of shape (n_problems, n)
    offsets : int64 array of shape (n_problems + 1,)
    weights : float64 array of shape (n_problems, n)
    tolerance : float
    """
    factor = 1.0 / np.maximum(1.0 - leverage, 1e-12)
    found, score = np.ones(len(classes)), 0.0
    for p in range(len(classes)):
        if offsets[p + 1] - offsets[p] > 1:
            gaps = np.empty((offsets[p + 1] - offsets[p], len(factor)))
            _fill_gaps(targets, combination, offsets[p], classes[p], factor, gaps)
            found[p] = _best_inverse_temperature(gaps, classes[p], weights[p], tolerance)
            score += _brier_score(gaps, classes[p], weights[p], found[p])
    return found, score


@njit(nogil=True)
def _best_inverse_temperature(gaps, classes, weights, tolerance):
    """Return that with the least log-loss: near it from every eighth row, then from all."""
    own = np.empty(len(classes))
    for i in range(len(own)):
        own[i] = gaps[classes[i], i]
    few = gaps[:, ::8].copy(), own[::8].copy(), weights[::8].copy()
    near = _least(*few, np.log(4.0), ROUGH)
    return np.exp(_least(gaps, own, weights, near, tolerance))


@njit(nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _brier_score(gaps, classes, weights, beta):
    """Weighted sum of the squared distances of ``softmax(β · scores)`` to one-hot classes."""
    total, square = np.zeros(len(classes)), np.zeros(len(classes))
    for c in range(gaps.shape[0]):
        for i in range(len(classes)):
            share = exponential(beta * gaps[c, i])
            total[i] += share
            square[i] += share * share
    score = 0.0
    for i in range(len(classes)):
        of_own = exponential(beta * gaps[classes[i], i]) / total[i]
        score += weights[i] * (square[i] / (total[i] * total[i]) - 2.0 * of_own + 1.0)
    return score


@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def class_distributions(targets, combination, offsets, beta, classes, leverage):
    """Return the class distributions of problems one below the other, ``(n_classes, n)``.

    Those of problem ``p`` are ``softmax(beta[p] · scores)`` of its classes, whose scores are
    combinations of those of targets; `beta` holds inverse temperatures.

    Parameters
    ----------
    targets : float64 array of shape (n_targets, n)
    combination : tuple
        As for `left_out_temperatures`.
    offsets : int64 array of shape (n_problems + 1,)
        The first class is ``offsets[0]``.
    classes, leverage : int32 array of shape (n_problems, n), float64 array of shape (n,)
        The classes and the leverage of training rows, to leave each of them out. For others
        `leverage` is empty, and so is the one row of `classes`.
    """
    factor = 1.0 / np.maximum(1.0 - leverage, 1e-12)
    found, total = np.empty((len(combination[3]), targets.shape[1])), np.empty(targets.shape[1])
    for p in range(len(beta)):
        low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
        shares, own = found[low:high], classes[p if len(factor) else 0]
        _fill_gaps(targets, combination, low, own, factor, shares)
        total[:] = 0.0
        for c in range(len(shares)):
            row = shares[c]
            for i in range(len(row)):
                row[i] = exponential(beta[p] * row[i])
                total[i] += row[i]
        for i in range(len(total)):
            total[i] = 1.0 / total[i]
        for c in range(len(shares)):
            row = shares[c]
            for i in range(len(row)):
                row[i] *= total[i]
    return found
