"""Compiled loops of sums over rows."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_rows(rows, group, weights, sums):
    """Add each row, times its weight, to the row of `sums` that is its group's."""
    for i in range(rows.shape[0]):
        row, total, weight = rows[i], sums[group[i]], weights[i]
        for j in range(len(row)):
            total[j] += weight * row[j]


@njit(cache=True, nogil=True, fastmath={"contract"})
def squared_deviations(rows, mean, weights):
    """Return the weighted sums of the squared deviations of columns from their means."""
    sums = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        for j in range(len(row)):
            deviation = row[j] - mean[j]
            sums[j] += weight * (deviation * deviation)
    return sums
