"""Compiled loops of least squares on classes: scores, temperatures, softmax."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners.least_squares.exponential_kernels import exponential

# Rows that are taken through all problems at a time.
LANES = 16
# Steps for the temperature of one problem, the last relative one of those on some rows, and the
# bounds of its inverse.
MOST_STEPS = 60
ROUGH = 0.5
LOWEST, HIGHEST = 1e-3, 1e3


@njit(cache=True, nogil=True)
def combine_targets(targets, starts, columns, values, constant):
    """Return the scores of classes, ``(n, n_classes)``, from those of targets, ``(n, n_targets)``.

    ``starts``, ``columns`` and ``values`` are the rows of a CSR matrix, one for each class, which
    may be some of the rows of a larger one.
    """
    scores = np.empty((targets.shape[0], len(constant)))
    for i in range(targets.shape[0]):
        row = targets[i]
        for c in range(len(constant)):
            total = constant[c]
            for at in range(starts[c], starts[c + 1]):
                total += values[at] * row[columns[at]]
            scores[i, c] = total
    return scores


@njit(cache=True, nogil=True)
def _gaps(scores, classes, low, high):
    """How far the scores of one problem are below the largest of their row, a row per class.

    And the own class's.
    """
    n = scores.shape[0]
    gaps, own = np.empty((high - low, n)), np.empty(n)
    for i in range(n):
        top = scores[i, low]
        for c in range(low + 1, high):
            top = max(top, scores[i, c])
        for c in range(low, high):
            gaps[c - low, i] = scores[i, c] - top
        own[i] = gaps[classes[i], i]
    return gaps, own


# Compilers take several rows of a sum at a time only in another order, and without asking at every
# division whether it is one by 0.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _slopes(gaps, own, weights, beta, sums):
    """First three derivatives of the weighted log-loss of ``softmax(β · scores)``.

    They are cumulants of the gaps. `sums`, of shape ``(4, n_rows)``, is room for sums over the
    classes.
    """
    sums[:] = 0.0
    total, mean, square, cube = sums[0], sums[1], sums[2], sums[3]
    for c in range(gaps.shape[0]):
        for i in range(len(own)):
            gap = gaps[c, i]
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
    is cubic, what is then left is far less.
    """
    found = np.ones(classes.shape[0])
    for p in range(classes.shape[0]):
        low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
        if high - low > 1:
            gaps, own = _gaps(scores, classes[p], low, high)
            found[p] = _best_inverse_temperature(gaps, own, weights, tolerance)
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
    factor = 1.0 / np.maximum(1.0 - leverage, 1e-12)
    found = np.ones(len(classes))
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
    factor = 1.0 / np.maximum(1.0 - leverage, 1e-12)
    score = 0.0
    for p in range(len(classes)):
        if offsets[p + 1] - offsets[p] > 1:
            low, high = offsets[p], offsets[p + 1]
            gaps, own = _left_out_gaps(targets, combination, low, high, classes[p], factor)
            beta = _best_inverse_temperature(gaps, own, weights, tolerance)
            score += _brier_score(gaps, own, weights, beta)
    return score / weights.sum()


@njit(cache=True, nogil=True)
def _left_out_gaps(targets, combination, low, high, classes, factor):
    """Return what `_gaps` returns, from the fitted scores of targets."""
    starts, columns, values, constant = combination
    gaps = np.empty((high - low, len(factor)))
    for c in range(low, high):
        row = gaps[c - low]
        row[:] = constant[c]
        for at in range(starts[c], starts[c + 1]):
            value, target = values[at], targets[columns[at]]
            for i in range(len(row)):
                row[i] += value * target[i]
        for i in range(len(row)):
            row[i] *= factor[i]
    for i in range(len(factor)):
        gaps[classes[i], i] += 1.0 - factor[i]
    top, own = gaps[0].copy(), np.empty(len(factor))
    for c in range(1, high - low):
        for i in range(len(factor)):
            top[i] = max(top[i], gaps[c, i])
    for c in range(high - low):
        for i in range(len(factor)):
            gaps[c, i] -= top[i]
    for i in range(len(factor)):
        own[i] = gaps[classes[i], i]
    return gaps, own


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


@njit(cache=True, nogil=True, fastmath={"contract"})
def class_distributions(targets, combination, offsets, beta, classes, leverage):
    """Return the class distributions of problems side by side, ``(n, n_classes)``.

    Those of problem ``p`` are ``softmax(beta[p] · scores)`` of its classes, whose scores are
    combinations of those of targets; `beta` holds inverse temperatures. Some rows at a time are
    taken through all problems, side by side, so that compilers can take several at a time.

    Parameters
    ----------
    targets : float64 array of shape (n, n_targets)
    combination : tuple
        ``starts``, ``columns``, ``values`` and ``constant`` of `combine_targets`.
    offsets : int64 array of shape (n_problems + 1,)
        The first class is ``offsets[0]``.
    classes, leverage : int32 array of shape (n_problems, n), float64 array of shape (n,)
        The classes and the leverage of training rows, to leave each of them out; empty for others.
    """
    starts, columns, values, constant = combination
    n, most = targets.shape[0], 0
    for p in range(len(beta)):
        most = max(most, offsets[p + 1] - offsets[p])
    found = np.empty((n, len(constant)))
    tile, scores = np.zeros((targets.shape[1], LANES)), np.empty((most, LANES))
    factor, top, total = np.ones(LANES), np.empty(LANES), np.empty(LANES)
    for first in range(0, n, LANES):
        lanes = min(LANES, n - first)
        for lane in range(lanes):
            for t in range(targets.shape[1]):
                tile[t, lane] = targets[first + lane, t]
            if len(leverage):
                factor[lane] = 1.0 / max(1.0 - leverage[first + lane], 1e-12)
        for p in range(len(beta)):
            low, width = offsets[p] - offsets[0], offsets[p + 1] - offsets[p]
            for c in range(width):
                for lane in range(LANES):
                    scores[c, lane] = constant[low + c]
                for at in range(starts[low + c], starts[low + c + 1]):
                    value, column = values[at], columns[at]
                    for lane in range(LANES):
                        scores[c, lane] += value * tile[column, lane]
            if len(leverage):
                for c in range(width):
                    for lane in range(LANES):
                        scores[c, lane] *= factor[lane]
                for lane in range(lanes):
                    scores[classes[p, first + lane], lane] += 1.0 - factor[lane]
            for lane in range(LANES):  # an assignment of arrays takes seconds to compile
                top[lane] = scores[0, lane]
            for c in range(1, width):
                for lane in range(LANES):
                    top[lane] = max(top[lane], scores[c, lane])
            total[:] = 0.0
            for c in range(width):
                for lane in range(LANES):
                    share = exponential(beta[p] * (scores[c, lane] - top[lane]))
                    scores[c, lane] = share
                    total[lane] += share
            for lane in range(lanes):
                scale = 1.0 / total[lane]
                for c in range(width):
                    found[first + lane, low + c] = scores[c, lane] * scale
    return found
