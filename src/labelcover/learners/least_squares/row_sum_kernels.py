"""Compiled loops over the rows of a table, each of which is read once."""

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


@njit(cache=True, nogil=True)
def shifted_and_scaled(rows, shift, factor):
    """Return the rows, less the shift of each column and times its factor."""
    found = np.empty_like(rows)
    for i in range(rows.shape[0]):
        row, into = rows[i], found[i]
        for j in range(len(row)):
            into[j] = (row[j] - shift[j]) * factor[j]
    return found


@njit(cache=True, nogil=True)
def is_mostly_zero(rows):
    """Tell whether fewer than half of the numbers are not 0, as soon as that is known."""
    n_filled = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        for j in range(len(row)):
            n_filled += row[j] != 0.0
        if 2 * n_filled >= rows.size:
            return False
    return 2 * n_filled < rows.size
