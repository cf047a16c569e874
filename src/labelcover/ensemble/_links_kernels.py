"""Compiled loops over the labelsets that occur."""

from __future__ import annotations

import numpy as np
from numba import njit

from labelcover.learners._least_squares.class_kernels import exponential


@njit(cache=True, fastmath={"contract"})
def exponentials_below(scores, shift, below):
    """Turn scores into ``exp(score + shift − top)`` in place; return what these sum to.

    `shift` is added to each row. The top of a row is its largest score, which is not subtracted
    from a row of which it is −∞; without `below`, it is taken as 0: scores must then be at most 0.
    """
    totals = np.zeros(len(scores))
    for i in range(len(scores)):
        row = scores[i]
        top = -np.inf
        for c in range(len(row)):
            row[c] += shift[c]
            top = max(top, row[c])
        if top == -np.inf:
            row[:] = 0.0
            continue
        top = top if below else 0.0
        for c in range(len(row)):
            row[c] = exponential(row[c] - top) if row[c] > -np.inf else 0.0
        total = 0.0
        for c in range(len(row)):
            total += row[c]
        totals[i] = total
    return totals
