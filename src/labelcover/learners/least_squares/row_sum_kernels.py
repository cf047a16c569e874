"""Compiled loops of sums over rows."""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def add_rows(rows, group, weights, sums):
    """Add each row, times its weight, to the row of `sums` that is its group's."""
    for i in range(rows.shape[0]):
        row, total, weight = rows[i], sums[group[i]], weights[i]
        for j in range(len(row)):
            total[j] += weight * row[j]
