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


@njit(cache=True, nogil=True, fastmath={"contract"})
def times_dense(rows, columns):
    """Return the product of a CSR table, ``(data, indices, indptr)``, and an array."""
    data, indices, indptr = rows
    product = np.zeros((len(indptr) - 1, columns.shape[1]))
    for i in range(len(product)):
        own = product[i]
        for at in range(indptr[i], indptr[i + 1]):
            value, other = data[at], columns[indices[at]]
            for j in range(len(own)):
                own[j] += value * other[j]
    return product


@njit(cache=True, nogil=True)
def centred_quadratic_forms(rows, matrix, centre):
    """Return ``(x - c)ᵀ M (x - c)`` for each row ``x`` of a CSR table and the centre ``c``.

    Of the symmetric `matrix` the upper triangle is read.
    """
    data, indices, indptr = rows
    width = len(centre)
    # M c, and cᵀ M c.
    product = np.zeros(width)
    for i in range(width):
        product[i] += matrix[i, i] * centre[i]
        for j in range(i + 1, width):
            product[i] += matrix[i, j] * centre[j]
            product[j] += matrix[i, j] * centre[i]
    of_centre = product @ centre.astype(np.float64)
    forms = np.empty(len(indptr) - 1)
    for i in range(len(forms)):
        of_row, with_centre = 0.0, 0.0
        for a in range(indptr[i], indptr[i + 1]):
            f, value = indices[a], data[a]
            inner = 0.5 * value * matrix[f, f]
            for b in range(a + 1, indptr[i + 1]):
                g = indices[b]
                inner += data[b] * (matrix[f, g] if f < g else matrix[g, f])
            of_row += 2.0 * value * inner
            with_centre += value * product[f]
        forms[i] = of_row - 2.0 * with_centre + of_centre
    return forms
