"""Compiled loops of least squares on classes: scores, temperatures, softmax.

Scores have a row for each target or class, so that loops run over the rows of the table, several of
which compilers take at a time.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.least_squares.exponential_kernels import exponential

# Rows that are taken through all problems at a time.
LANES = 256
# Steps for the temperature of one problem, the last relative one of those on some rows, and the
# bounds of its inverse.
MOST_STEPS = 60
ROUGH = 0.5
LOWEST, HIGHEST = 1e-3, 1e3


@njit(cache=True, nogil=True)
def combine_targets(targets, starts, columns, values, constant):
    """Return the scores of classes, ``(n_classes, n)``, from those of targets, ``(n_targets, n)``.

    ``starts``, ``columns`` and ``values`` are the rows of a CSR matrix, one for each class, which
    may be some of the rows of a larger one.
    """
    scores = np.empty((len(constant), targets.shape[1]))
    for c in range(len(constant)):
        own = slice(starts[c], starts[c + 1])
        _combine(targets, columns[own], values[own], constant[c], 0, scores[c])
    return scores


@njit(cache=True, nogil=True)
def _combine(targets, columns, values, constant, first, row):
    """Write the scores of one class, for as many rows as there is room from the first on."""
    for i in range(len(row)):  # an assignment of arrays takes seconds to compile
        row[i] = constant
    for at in range(len(columns)):
        value, target = values[at], targets[columns[at], first : first + len(row)]
        for i in range(len(row)):
            row[i] += value * target[i]


@njit(cache=True, nogil=True)
def _leave_out(scores, low, high, classes, factor, first, last):
    """Change fitted scores of one problem to those of models fitted without each row.

    `factor` is ``1 / (1 - leverage)``.
    """
    own = factor[first:last]
    for c in range(low, high):
        row = scores[c, first:last]
        for i in range(len(row)):
            row[i] *= own[i]
    for i in range(first, last):
        scores[low + classes[i], i] += 1.0 - factor[i]


@njit(cache=True, nogil=True)
def _factors(leverage):
    return 1.0 / np.maximum(1.0 - leverage, 1e-12)


@njit(cache=True, nogil=True)
def _below_top(scores, low, high, first, last, top):
    """Subtract from the scores of one problem the largest of each row; `top` is room for these."""
    for c in range(low, high):
        row = scores[c, first:last]
        for i in range(len(row)):
            top[i] = row[i] if c == low else max(top[i], row[i])
    for c in range(low, high):
        row = scores[c, first:last]
        for i in range(len(row)):
            row[i] -= top[i]


@njit(cache=True, nogil=True)
def _own(gaps, classes):
    own = np.empty(len(classes))
    for i in range(len(own)):
        own[i] = gaps[classes[i], i]
    return own


# Compilers take several rows of a sum at a time only in another order, and without asking at every
# division whether it is one by 0.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def best_inverse_temperatures(scores, classes, offsets, weights, tolerance):
    """For each problem the inverse temperature with the least log-loss, ``(n_problems,)``.

    The log-loss is convex in the inverse temperature: Halley's method on its logarithm, first
    on every eighth row, then on all until it moves by less than `tolerance`; as its convergence
    is cubic, what is then left is far less. `scores` are of shape ``(n_classes, n)``.
    """
    n, found = scores.shape[1], np.ones(classes.shape[0])
    top = np.empty(n)
    for p in range(classes.shape[0]):
        low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
        if high - low > 1:
            gaps = scores[low:high].copy()
            _below_top(gaps, 0, high - low, 0, n, top)
            found[p] = _best_inverse_temperature(gaps, _own(gaps, classes[p]), weights, tolerance)
    return found


@njit(cache=True, nogil=True)
def left_out_temperatures(targets, combination, leverage, classes, offsets, weights, tolerance):
    """Return the best inverse temperature of each problem, from leave-one-out scores.

    The same as `combine_targets`, leave-one-out and `best_inverse_temperatures`, but problem by
    problem, in the cache.

    Parameters
    ----------
    targets : float64 array of shape (n_targets, n)
        The fitted scores of targets.
    combination : tuple
        ``starts``, ``columns``, ``values`` and ``constant`` of `combine_targets`.
    leverage : float64 array of shape (n,)
    classes : int32 array of shape (n_problems, n)
    offsets : int64 array of shape (n_problems + 1,)
    weights : float64 array of shape (n,)
    tolerance : float
        That of `best_inverse_temperatures`.
    """
    found, factor = np.ones(len(classes)), _factors(leverage)
    for p in range(len(classes)):
        if offsets[p + 1] - offsets[p] > 1:
            low, high = offsets[p], offsets[p + 1]
            gaps, own = _left_out_gaps(targets, combination, low, high, classes[p], factor)
            found[p] = _best_inverse_temperature(gaps, own, weights, tolerance)
    return found


@njit(cache=True, nogil=True)
def left_out_brier_score(targets, combination, leverage, classes, offsets, weights, tolerance):
    """Return the weighted mean Brier score of all problems, each at its best temperature.

    Parameters are those of `left_out_temperatures`.
    """
    score, factor = 0.0, _factors(leverage)
    for p in range(len(classes)):
        if offsets[p + 1] - offsets[p] > 1:
            low, high = offsets[p], offsets[p + 1]
            gaps, own = _left_out_gaps(targets, combination, low, high, classes[p], factor)
            beta = _best_inverse_temperature(gaps, own, weights, tolerance)
            score += _brier_score(gaps, own, weights, beta)
    return score / weights.sum()


@njit(cache=True, nogil=True)
def _left_out_gaps(targets, combination, low, high, classes, factor):
    """Return the gaps of one problem, ``(n_classes, n)``, and those of the own classes."""
    starts, columns, values, constant = combination
    n = len(factor)
    gaps = combine_targets(targets, starts[low : high + 1], columns, values, constant[low:high])
    _leave_out(gaps, 0, high - low, classes, factor, 0, n)
    _below_top(gaps, 0, high - low, 0, n, np.empty(n))
    return gaps, _own(gaps, classes)


@njit(cache=True, nogil=True)
def _best_inverse_temperature(gaps, own, weights, tolerance):
    """Return that with the least log-loss: near it from every eighth row, then from all."""
    few = gaps[:, ::8].copy(), own[::8].copy(), weights[::8].copy()
    near = _least(*few, np.log(4.0), ROUGH)
    return np.exp(_least(gaps, own, weights, near, tolerance))


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _brier_score(gaps, own, weights, beta):
    """Weighted sum of the squared distances of ``softmax(β · scores)`` to one-hot classes."""
    total, square = np.zeros(len(own)), np.zeros(len(own))
    for c in range(gaps.shape[0]):
        for i in range(len(own)):
            share = exponential(beta * gaps[c, i])
            total[i] += share
            square[i] += share * share
    score = 0.0
    for i in range(len(own)):
        of_own = exponential(beta * own[i]) / total[i]
        score += weights[i] * (square[i] / (total[i] * total[i]) - 2.0 * of_own + 1.0)
    return score


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def class_distributions(targets, combination, offsets, beta, classes, leverage):
    """Return the class distributions of problems one below the other, ``(n_classes, n)``.

    Those of problem ``p`` are ``softmax(beta[p] · scores)`` of its classes, whose scores are
    combinations of those of targets; `beta` holds inverse temperatures.

    Parameters
    ----------
    targets : float64 array of shape (n_targets, n)
    combination : tuple
        ``starts``, ``columns``, ``values`` and ``constant`` of `combine_targets`.
    offsets : int64 array of shape (n_problems + 1,)
        The first class is ``offsets[0]``.
    classes, leverage : int32 array of shape (n_problems, n), float64 array of shape (n,)
        The classes and the leverage of training rows, to leave each of them out; empty for others.
    """
    starts, columns, values, constant = combination
    n = targets.shape[1]
    found = np.empty((len(constant), n))
    top, total, factor = np.empty(LANES), np.empty(LANES), _factors(leverage)
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        for p in range(len(beta)):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            for c in range(low, high):
                own = slice(starts[c], starts[c + 1])
                row = found[c, first:last]
                _combine(targets, columns[own], values[own], constant[c], first, row)
            if len(leverage):
                _leave_out(found, low, high, classes[p], factor, first, last)
            _below_top(found, low, high, first, last, top)
            total[:] = 0.0
            for c in range(low, high):
                row = found[c, first:last]
                for i in range(len(row)):
                    row[i] = exponential(beta[p] * row[i])
                    total[i] += row[i]
            for i in range(last - first):
                total[i] = 1.0 / total[i]
            for c in range(low, high):
                row = found[c, first:last]
                for i in range(len(row)):
                    row[i] *= total[i]
    return found
