"""Compiled loops of products of sparse tables."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def dense_product(rows, others, n_columns):
    """Return the product of two CSR tables, each ``(data, indices, indptr)``, as an array.

    A sparse result, as SciPy makes it, would have to be sized and sorted first, and is hardly
    sparse where many rows share some feature.
    """
    data, indices, indptr = rows
    other_data, other_indices, other_indptr = others
    product = np.zeros((len(indptr) - 1, n_columns))
    for i in range(len(product)):
        own = product[i]
        for at in range(indptr[i], indptr[i + 1]):
            value, k = data[at], indices[at]
            for t in range(other_indptr[k], other_indptr[k + 1]):
                own[other_indices[t]] += value * other_data[t]
    return product
