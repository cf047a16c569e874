"""Compiled loops of least squares on classes: sums by class, leave-one-out, temperature."""

from __future__ import annotations

import numpy as np
from numba import njit

# Newton steps for the temperature of one problem, and the bounds of its inverse.
MOST_STEPS = 60
LOWEST, HIGHEST = 1e-3, 1e3


@njit(cache=True)
def class_counts(codes, offsets):
    """How many rows each class of each problem has, int64 ``(n_classes,)``."""
    counts = np.zeros(offsets[-1] - offsets[0], dtype=np.int64)
    for p in range(codes.shape[0]):
        for i in range(codes.shape[1]):
            counts[offsets[p] - offsets[0] + codes[p, i]] += 1
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
def class_sums_dense(rows, centre, codes, offsets, counts):
    """Return the sums of centred rows by class, ``(n_classes, width)``: one-hot classes times rows.

    Rare labels leave most rows in one class, so the largest class of each problem is not summed:
    it is what the others leave. `centre` must be the mean of all rows.
    """
    sums = np.empty((len(counts), rows.shape[1]))
    for p in range(codes.shape[0]):
        low = offsets[p] - offsets[0]
        largest = _start_sums(centre, offsets, counts, p, sums)
        for i in range(codes.shape[1]):
            c = low + codes[p, i]
            if c != largest:
                into, row = sums[c], rows[i]
                for f in range(len(row)):
                    into[f] += row[f]
        _finish_sums(offsets, p, largest, sums)
    return sums


@njit(cache=True)
def class_sums_sparse(values, columns, starts, centre, codes, offsets, counts):
    """Return the sums of the centred rows of a CSR matrix by class; see `class_sums_dense`."""
    sums = np.empty((len(counts), len(centre)))
    for p in range(codes.shape[0]):
        low = offsets[p] - offsets[0]
        largest = _start_sums(centre, offsets, counts, p, sums)
        for i in range(codes.shape[1]):
            c = low + codes[p, i]
            if c != largest:
                for at in range(starts[i], starts[i + 1]):
                    sums[c, columns[at]] += values[at]
        _finish_sums(offsets, p, largest, sums)
    return sums


@njit(cache=True)
def leave_one_out(scores, leverage, codes, offsets):
    """Turn fitted scores into leave-one-out scores in place.

    With a linear smoother of leverage ``h`` the residual without the row is the residual divided
    by ``1 - h``; the target of the row's own class is 1, of the others 0.
    """
    for i in range(scores.shape[0]):
        factor = 1.0 / max(1.0 - leverage[i], 1e-12)
        for p in range(codes.shape[0]):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            own = low + codes[p, i]
            for c in range(low, high):
                target = 1.0 if c == own else 0.0
                scores[i, c] = target - (target - scores[i, c]) * factor


@njit(cache=True)
def _gaps(scores, codes, low, high):
    """How far the scores of one problem are below the largest of their row; and the own class's."""
    gaps = np.empty((scores.shape[0], high - low))
    own = np.empty(scores.shape[0])
    for i in range(scores.shape[0]):
        top = scores[i, low]
        for c in range(low + 1, high):
            top = max(top, scores[i, c])
        for c in range(low, high):
            gaps[i, c - low] = scores[i, c] - top
        own[i] = gaps[i, codes[i]]
    return gaps, own


@njit(cache=True)
def _slopes(gaps, own, sharpness, stride):
    """First and second derivative of the log-loss of ``softmax(sharpness · scores)``.

    Every `stride`-th row counts.
    """
    first, second = 0.0, 0.0
    for i in range(0, gaps.shape[0], stride):
        total, mean, square = 0.0, 0.0, 0.0
        for gap in gaps[i]:
            weight = np.exp(sharpness * gap)
            total += weight
            mean += weight * gap
            square += weight * gap * gap
        mean /= total
        first += mean - own[i]
        second += square / total - mean * mean
    return first, second


@njit(cache=True)
def _newton(gaps, own, at, stride, tolerance):
    """Logarithm of the best inverse temperature, by Newton's method from `at` in a bracket."""
    left, right = np.log(LOWEST), np.log(HIGHEST)
    for _ in range(MOST_STEPS):
        sharpness = np.exp(at)
        first, second = _slopes(gaps, own, sharpness, stride)
        if first > 0:
            right = at
        else:
            left = at
        slope, curve = first * sharpness, second * sharpness**2 + first * sharpness
        step = at - slope / curve if curve > 0 else left - 1.0
        if not left < step < right:
            step = 0.5 * (left + right)
        moved = abs(step - at)
        at = step
        if moved < tolerance:
            break
    return at


@njit(cache=True)
def best_sharpness(scores, codes, offsets, tolerance):
    """For each problem the inverse temperature with the least log-loss, ``(n_problems,)``.

    The log-loss is convex in the inverse temperature: Newton's method on its logarithm, first
    on every eighth row, then on all until it moves by less than `tolerance`; as its convergence
    is quadratic, what is then left is far less.
    """
    found = np.ones(codes.shape[0])
    for p in range(codes.shape[0]):
        low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
        if high - low > 1:
            gaps, own = _gaps(scores, codes[p], low, high)
            near = _newton(gaps, own, np.log(4.0), 8, 0.05)
            found[p] = np.exp(_newton(gaps, own, near, 1, tolerance))
    return found


@njit(cache=True)
def brier_score(probabilities, codes, offsets):
    """Sum over problems, mean over rows, of the squared distance to the one-hot class."""
    total = 0.0
    for i in range(probabilities.shape[0]):
        for p in range(codes.shape[0]):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            for c in range(low, high):
                target = 1.0 if c == low + codes[p, i] else 0.0
                total += (probabilities[i, c] - target) ** 2
    return total / probabilities.shape[0]


@njit(cache=True)
def softmax_columns(scores, offsets, sharpness):
    """Turn scores into class distributions in place: a softmax over each group of columns.

    Columns ``offsets[p]:offsets[p + 1]`` become ``softmax(sharpness[p] · scores)``; the first
    column of `scores` is that of ``offsets[0]``.
    """
    for i in range(scores.shape[0]):
        for p in range(len(offsets) - 1):
            low, high = offsets[p] - offsets[0], offsets[p + 1] - offsets[0]
            top = scores[i, low]
            for c in range(low + 1, high):
                top = max(top, scores[i, c])
            total = 0.0
            for c in range(low, high):
                scores[i, c] = np.exp(sharpness[p] * (scores[i, c] - top))
                total += scores[i, c]
            for c in range(low, high):
                scores[i, c] /= total
