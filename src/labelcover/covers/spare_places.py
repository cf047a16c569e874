"""Fewer and better balanced rows that cover what the given rows cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover.covers.spare_places_kernels import (
    exchange_spare,
    fill_places,
    free_places,
    pack_rows,
)

# Rounds over all rows in which spare labels are exchanged for rarer ones.
BALANCE_ROUNDS = 60


def without_spare_rows(rows: ArrayLike, n_labels: int, r: int) -> NDArray[np.int32]:
    """Return fewer rows that still cover every r-labelset that `rows` cover.

    Labels that cover nothing alone are taken out of their rows, the short rows first, and the
    remnants are packed together. Free places are −1.
    """
    table = np.ascontiguousarray(rows, dtype=np.int32)
    while True:
        # The shortest rows first: they are the likeliest to vanish.
        order = np.argsort((table >= 0).sum(axis=1), kind="stable")
        packed = pack_rows(free_places(table, n_labels, r, order))
        if len(packed) == len(table):
            return packed
        table = packed


def filled(rows: ArrayLike, n_labels: int, seed: int = 0) -> NDArray[np.int32]:
    """Return the rows with each free place (−1) given to the rarest label it can hold."""
    return fill_places(np.ascontiguousarray(rows, dtype=np.int32), n_labels, seed)


def balanced(rows: ArrayLike, n_labels: int, r: int, seed: int = 0) -> NDArray[np.int32]:
    """Return as many rows that cover the same, their labels' counts as equal as was found."""
    table = np.ascontiguousarray(rows, dtype=np.int32)
    return exchange_spare(table, n_labels, r, BALANCE_ROUNDS, seed)
