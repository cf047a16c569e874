"""Compiled loops over confidences: of members, of labels by weights, and of labelsets."""

import numpy as np

from labelcover._compiled import njit
from labelcover.covers._labelset_kernels import row_length
from labelcover.learners._least_squares.class_kernels import (
    exponential,
    logarithm_beyond_one,
)

# Rows that are taken at a time, in the cache.
BLOCK = 256
# MULAN's three readings of a member's class distribution.
VOTES, WINNER, MARGINAL = 0, 1, 2


@njit(fastmath={"contract", "reassoc"})
def _sum_of_products(a, b, n):
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


# With Python's errors for divisions by 0, loops would not be taken several rows at a time.
@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def pool_derivatives(inputs, base, Y, weights, which, theta):
    """Return the log-loss of some labels and its first and second derivatives by the weights.

    Parameters
    ----------
    inputs : ndarray of shape (d, n_labels, n)
        What the weights are multiplied by.
    base : ndarray of shape (n_labels, n)
        What is added.
    Y : uint8 array of shape (n_labels, n)
    weights : ndarray of shape (n_labels, n)
    which : int64 array of shape (m,)
        The labels.
    theta : ndarray of shape (d, m)

    Returns
    -------
    losses, slopes, curves : ndarrays of shape (m,), (d, m) and (m, d, d)
    """
    d, _, n = inputs.shape
    m = len(which)
    losses, slopes, curves = np.zeros(m), np.zeros((d, m)), np.zeros((m, d, d))
    odds, shrunk, slope = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    curve, product = np.empty(BLOCK), np.empty(BLOCK)
    for k in range(m):
        j = which[k]
        for first in range(0, n, BLOCK):
            size = min(BLOCK, n - first)
            y, w = Y[j, first : first + size], weights[j, first : first + size]
            for i in range(size):
                odds[i] = base[j, first + i]
            for v in range(d):
                own, weight = inputs[v, j, first : first + size], theta[v, k]
                for i in range(size):
                    odds[i] += weight * own[i]
            for i in range(size):
                shrunk[i] = exponential(-abs(odds[i]))
                rest = 1.0 / (1.0 + shrunk[i])
                p = rest if odds[i] > 0 else shrunk[i] * rest
                slope[i] = w[i] * (p - y[i])
                curve[i] = w[i] * shrunk[i] * rest * rest
            for i in range(size):
                beyond = logarithm_beyond_one(shrunk[i])
                product[i] = max(odds[i], 0.0) - y[i] * odds[i] + beyond
            losses[k] += _sum_of_products(w, product, size)
            for a in range(d):
                own = inputs[a, j, first : first + size]
                slopes[a, k] += _sum_of_products(own, slope, size)
                for i in range(size):
                    product[i] = own[i] * curve[i]
                for b in range(a + 1):
                    other = inputs[b, j, first : first + size]
                    curves[k, a, b] += _sum_of_products(other, product, size)
        for a in range(d):
            for b in range(a):
                curves[k, b, a] = curves[k, a, b]
    return losses, slopes, curves


@njit(fastmath={"contract"})
def exponentials_below(scores, shift, below):
    """Turn scores into ``exp(score + shift − top)`` in place; return what these sum to.

    `shift` is added to each row. The top of a row is its largest score, which is not subtracted
    from a row of which it is −∞; without `below`, it is taken as 0: scores must then be at most 0.
    """
    totals = np.zeros(len(scores))
    for i in range(len(scores)):
        row = scores[i]
        row += shift
        top = row.max()
        if top == -np.inf:
            row[:] = 0.0
            continue
        top = top if below else 0.0
        for c in range(len(row)):
            row[c] = exponential(row[c] - top) if row[c] > -np.inf else 0.0
        totals[i] = row.sum()
    return totals


@njit(nogil=True)
def add_members(probabilities, starts, lows, highs, patterns, labelsets, reading, sums):
    """Add what members say of their labels to `sums` (Algorithm 2, lines 7 to 10).

    Parameters
    ----------
    probabilities : float array of shape (classes, n)
        Class distributions; that of member ``j`` begins in row ``starts[j]`` (members that
        pose the same problem share their rows).
    patterns : array of shape (n_classes, k)
        The 0/1 values of the member's labels in each class, for ``j`` the rows
        ``lows[j]:highs[j]``; with weights in place of ones, `MARGINAL` is multiplied by them.
    labelsets : int32 array of shape (members, k)
        Which labels those are; rows with fewer than k end in −1.
    reading : int
        What a member says of a label, by MULAN's numbers: `VOTES`, the 0 or 1 of its most probable
        class (the first on ties); `WINNER`, the probability of that class where it has the label,
        else one minus it; `MARGINAL`, the probability of all classes that have the label.
    sums : float64 array of shape (n, n_labels)
        Changed in place.
    """
    n = probabilities.shape[1]
    totals = np.empty((sums.shape[1], BLOCK))
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        totals[:] = 0.0
        for j in range(len(starts)):
            length = row_length(labelsets, j)
            if reading != MARGINAL:
                for i in range(first, last):
                    of_row = probabilities[starts[j] : starts[j] + highs[j] - lows[j], i]
                    best = of_row.argmax()
                    sure = 1.0 if reading == VOTES else of_row[best]
                    for position in range(length):
                        has = patterns[lows[j] + best, position]
                        totals[labelsets[j, position], i - first] += sure if has else 1.0 - sure
                continue
            for c in range(highs[j] - lows[j]):
                of_class = probabilities[starts[j] + c, first:last]
                for position in range(length):
                    weight = patterns[lows[j] + c, position]
                    if weight:
                        total = totals[labelsets[j, position]]
                        for i in range(len(of_class)):
                            total[i] += weight * of_class[i]
        for i in range(last - first):
            for label in range(sums.shape[1]):
                sums[first + i, label] += totals[label, i]
