"""From the outputs of one-against-one SVMs to class distributions that couple them."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

COUPLING_TOLERANCE = 1e-3
MOST_COUPLING_STEPS = 1000


@njit(cache=True, nogil=True)
def coupled_distributions(outputs, first, second, logistic, size, starts, offsets):
    """Return class distributions from the pairs' probabilities (Hastie and Tibshirani, 1998).

    The probability of the second class of pair ``p`` is the logistic function of
    ``logistic[p, 0] * output + logistic[p, 1]``.

    Parameters
    ----------
    outputs : ndarray of shape (n, pairs)
    first, second : ndarray of shape (pairs,)
        The classes of each pair.
    logistic : ndarray of shape (pairs, 2)
    size : ndarray of shape (pairs,)
        Training weight of the pair.
    starts : ndarray of shape (problems + 1,)
        The pairs of problem ``j`` are ``starts[j]:starts[j + 1]``.
    offsets : ndarray of shape (problems + 1,)
        Its classes are the columns ``offsets[j]:offsets[j + 1]`` of the answer.
    """
    answers = np.zeros((len(outputs), offsets[-1]))
    for j in range(len(starts) - 1):
        n_classes = offsets[j + 1] - offsets[j]
        for i in range(len(outputs)):
            r = np.zeros((n_classes, n_classes))
            n = np.zeros((n_classes, n_classes))
            for p in range(starts[j], starts[j + 1]):
                a, b = first[p], second[p]
                z = logistic[p, 0] * outputs[i, p] + logistic[p, 1]
                r[b, a] = 1.0 / (1.0 + math.exp(-z)) if z > -700.0 else 0.0
                r[a, b] = 1.0 - r[b, a]
                n[a, b] = n[b, a] = size[p]
            coupled = _couple(r, n)
            for c in range(n_classes):
                answers[i, offsets[j] + c] = coupled[c]
    return answers


@njit(cache=True)
def _couple(r, n):
    """Return p such that p[a] / (p[a] + p[b]) fits r[a, b], weighted by n[a, b].

    Where there are no pairs, nothing moves: a single class has all.
    """
    k = len(r)
    p = np.full(k, 1.0 / k)
    if n.sum() == 0.0:
        return p
    for _ in range(MOST_COUPLING_STEPS):
        moved = 0.0
        for a in range(k):
            wanted, has = 0.0, 0.0
            for b in range(k):
                if b != a and n[a, b] > 0.0:
                    wanted += n[a, b] * r[a, b]
                    both = p[a] + p[b]
                    has += n[a, b] * (p[a] / both if both > 0.0 else 0.5)
            factor = wanted / has if has > 0.0 else 0.0 if wanted == 0.0 else 1.0
            moved = max(moved, abs(factor - 1.0) if p[a] > 1e-12 else 0.0)
            rest = p.sum() - p[a]
            if rest + p[a] * factor == 0.0:
                continue
            p[a] *= factor
            p /= p.sum()
        if moved < COUPLING_TOLERANCE:
            break
    return p
