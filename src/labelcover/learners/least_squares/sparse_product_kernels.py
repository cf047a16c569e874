"""Compiled loops of products of sparse tables.

Indices of innermost loops are read without signs: one that may be negative would be compared with 0
each time.
"""

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
                own[np.uintp(other_indices[t])] += value * other_data[t]
    return product


@njit(cache=True, nogil=True)
def sparse_gram(columns, rows, weights):
    """Return the weighted sums of products of the columns of a sparse table, as an array.

    Parameters
    ----------
    columns, rows : (data, indices, indptr)
        The table as CSC and as CSR, both with sorted indices and no cell twice.
    weights : float64 array of shape (n,)
    """
    data, indices, indptr = columns
    row_data, row_indices, row_indptr = rows
    gram = np.zeros((len(indptr) - 1, len(indptr) - 1))
    # Where column i is in each row, once those before it have been passed.
    place = row_indptr[:-1].copy()
    for i in range(len(gram)):
        own = gram[i]
        for at in range(indptr[i], indptr[i + 1]):
            k = indices[at]
            value = weights[k] * data[at]
            for t in range(place[k], row_indptr[k + 1]):
                own[np.uintp(row_indices[t])] += value * row_data[t]
            place[k] += 1
    for i in range(len(gram)):
        for j in range(i):
            gram[i, j] = gram[j, i]
    return gram


@njit(cache=True, nogil=True, fastmath={"contract"})
def times_dense(rows, columns, constant):
    """Return the product of a CSR table, ``(data, indices, indptr)``, and an array.

    To each row of it the constants are added.
    """
    data, indices, indptr = rows
    product = np.empty((len(indptr) - 1, columns.shape[1]))
    for i in range(len(product)):
        own = product[i]
        for j in range(len(own)):
            own[j] = constant[j]
        for at in range(indptr[i], indptr[i + 1]):
            value, other = data[at], columns[indices[at]]
            for j in range(len(own)):
                own[j] += value * other[j]
    return product


@njit(cache=True, nogil=True)
def centred_quadratic_forms(columns, rows, matrix, centre):
    """Return ``(x - c)ᵀ M (x - c)`` for each row ``x`` of a sparse table and the centre ``c``.

    Parameters
    ----------
    columns, rows
        As in `sparse_gram`.
    matrix : ndarray of shape (n_columns, n_columns)
        Symmetric; the upper triangle is read.
    centre : ndarray of shape (n_columns,)
    """
    data, indices, indptr = columns
    row_data, row_indices, row_indptr = rows
    width = len(centre)
    # M c, and cᵀ M c.
    product = np.zeros(width)
    for i in range(width):
        product[i] += matrix[i, i] * centre[i]
        for j in range(i + 1, width):
            product[i] += matrix[i, j] * centre[j]
            product[j] += matrix[i, j] * centre[i]
    forms = np.full(len(row_indptr) - 1, product @ centre.astype(np.float64))
    place = row_indptr[:-1].copy()
    for f in range(width):
        own = matrix[f]
        for at in range(indptr[f], indptr[f + 1]):
            k, value = indices[at], data[at]
            inner = 0.5 * value * own[f] - product[f]
            for t in range(place[k] + 1, row_indptr[k + 1]):
                inner += row_data[t] * own[np.uintp(row_indices[t])]
            forms[k] += 2.0 * value * inner
            place[k] += 1
    return forms
