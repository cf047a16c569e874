"""Compiled loops of least squares on classes: sums by class, temperatures, softmax."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover._hash_kernels import alike_columns
from labelcover.learners.least_squares.exponential_kernels import exponential

# Newton steps for the temperature of one problem, and the bounds of its inverse.
MOST_STEPS = 60
LOWEST, HIGHEST = 1e-3, 1e3


@njit(cache=True)
def class_counts(classes, offsets, weights):
    """How much the rows of each class of each problem weigh, ``(n_classes,)``."""
    counts = np.zeros(offsets[-1] - offsets[0])
    for p in range(classes.shape[0]):
        for i in range(classes.shape[1]):
            counts[offsets[p] - offsets[0] + classes[p, i]] += weights[i]
    return counts


@njit(cache=True)
def _largest_class(counts, low, high):
    best = low
    for c in range(low + 1, high):
        if counts[c] > counts[best]:
            best = c
    return best


@njit(cache=True)
def _start_sums(centre, offsets, counts, p, sums):
    """Take the centre from every row to be summed; return the largest class of problem `p`."""
    low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
    for c in range(low, high):
        for f in range(len(centre)):
            sums[c, f] = -counts[c] * centre[f]
    return _largest_class(counts, low, high)


@njit(cache=True)
def _finish_sums(offsets, p, largest, sums):
    """Give the largest class what the others leave of all rows, whose centred sum is zero."""
    low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
    sums[largest] = 0.0
    for c in range(low, high):
        if c != largest:
            for f in range(sums.shape[1]):
                sums[largest, f] -= sums[c, f]


@njit(cache=True)
def _sums_of_groups(rows, group, n_groups):
    sums = np.zeros((n_groups, rows.shape[1]))
    for i in range(len(group)):
        into, row = sums[group[i]], rows[i]
        for f in range(len(row)):
            into[f] += row[f]
    return sums


@njit(cache=True)
def class_sums_dense(rows, centre, classes, offsets, counts):
    """Return the sums of centred rows by class, ``(n_classes, width)``: one-hot classes times rows.

    Rare labels leave most rows in one class, so the largest class of each problem is not summed:
    it is what the others leave. `centre` must be the mean of all rows. Rows that are alike in
    all problems, as most are where labels are few, are added up once for all.
    """
    group, first = alike_columns(classes)
    if 2 * len(first) <= classes.shape[1]:
        rows = _sums_of_groups(rows, group, len(first))
        classes = classes[:, first]
    sums = np.empty((len(counts), rows.shape[1]))
    for p in range(classes.shape[0]):
        low = offsets[p] - offsets[0]
        largest = _start_sums(centre, offsets, counts, p, sums)
        for i in np.flatnonzero(low + classes[p] != largest):
            into, row = sums[low + classes[p, i]], rows[i]
            for f in range(len(row)):
                into[f] += row[f]
        _finish_sums(offsets, p, largest, sums)
    return sums


@njit(cache=True)
def class_sums_sparse(values, columns, starts, centre, classes, offsets, counts):
    """Return the sums of the centred rows of a CSR matrix by class; see `class_sums_dense`."""
    sums = np.empty((len(counts), len(centre)))
    for p in range(classes.shape[0]):
        low = offsets[p] - offsets[0]
        largest = _start_sums(centre, offsets, counts, p, sums)
        for i in np.flatnonzero(low + classes[p] != largest):
            into = sums[low + classes[p, i]]
            for at in range(starts[i], starts[i + 1]):
                into[columns[at]] += values[at]
        _finish_sums(offsets, p, largest, sums)
    return sums


@njit(cache=True)
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


@njit(cache=True, fastmath={"contract"})
def _slopes(gaps, own, weights, beta, sums):
    """First and second derivative of the weighted log-loss of ``softmax(β · scores)``.

    `sums`, of shape ``(3, n_rows)``, is room for sums over the classes.
    """
    sums[:] = 0.0
    total, mean, square = sums[0], sums[1], sums[2]
    for c in range(gaps.shape[0]):
        for i in range(len(own)):
            gap = gaps[c, i]
            weight = exponential(beta * gap)
            total[i] += weight
            mean[i] += weight * gap
            square[i] += weight * gap * gap
    first, second = 0.0, 0.0
    for i in range(len(own)):
        middle = mean[i] / total[i]
        first += weights[i] * (middle - own[i])
        second += weights[i] * (square[i] / total[i] - middle * middle)
    return first, second


@njit(cache=True)
def _newton(gaps, own, weights, at, tolerance):
    """Logarithm of the best inverse temperature, by Newton's method from `at` in a bracket."""
    sums = np.empty((3, len(own)))
    left, right = np.log(LOWEST), np.log(HIGHEST)
    for _ in range(MOST_STEPS):
        beta = np.exp(at)
        first, second = _slopes(gaps, own, weights, beta, sums)
        if first > 0:
            right = at
        else:
            left = at
        slope, curve = (
            first * beta,
            second * beta**2 + first * beta,
        )
        step = at - slope / curve if curve > 0 else left - 1.0
        if not left < step < right:
            step = 0.5 * (left + right)
        moved = abs(step - at)
        at = step
        if moved < tolerance:
            break
    return at


@njit(cache=True)
def best_inverse_temperatures(scores, classes, offsets, weights, tolerance):
    """For each problem the inverse temperature with the least log-loss, ``(n_problems,)``.

    The log-loss is convex in the inverse temperature: Newton's method on its logarithm, first
    on every eighth row, then on all until it moves by less than `tolerance`; as its convergence
    is quadratic, what is then left is far less.
    """
    found = np.ones(classes.shape[0])
    for p in range(classes.shape[0]):
        low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
        if high - low > 1:
            gaps, own = _gaps(scores, classes[p], low, high)
            few = gaps[:, ::8].copy(), own[::8].copy(), weights[::8].copy()
            near = _newton(*few, np.log(4.0), 0.05)
            found[p] = np.exp(_newton(gaps, own, weights, near, tolerance))
    return found


@njit(cache=True)
def softmax_columns(scores, offsets, beta):
    """Turn scores into class distributions in place: a softmax over each group of columns.

    Columns ``offsets[p]:offsets[p + 1]`` become ``softmax(beta[p] · scores)``, `beta` being inverse
    temperatures; the first
    column of `scores` is that of ``offsets[0]``.
    """
    for i in range(scores.shape[0]):
        row = scores[i]
        for p in range(len(offsets) - 1):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            top = row[low]
            for c in range(low + 1, high):
                top = max(top, row[c])
            for c in range(low, high):
                row[c] = beta[p] * (row[c] - top)
        _exponentials(row)
        for p in range(len(offsets) - 1):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            total = 0.0
            for c in range(low, high):
                total += row[c]
            for c in range(low, high):
                row[c] /= total


@njit(cache=True, fastmath={"contract"})
def _exponentials(numbers):
    for c in range(len(numbers)):
        numbers[c] = exponential(numbers[c])
