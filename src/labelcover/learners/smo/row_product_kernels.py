"""Products of the rows of a table, each summed from left to right as in WEKA.

The table is `data`, `indices` and `indptr` as in a CSR array with sorted indices, where a row with
a value in every column needs no indices.
"""

from __future__ import annotations

from typing import Any

from numba import njit
from numba.core.cpu import CPUTargetOptions

# What allocates nothing need not count references to arrays; a fit then takes a tenth to a
# quarter less time. The option is numba's own, so it is used only where this numba has it.
KERNEL: dict[str, Any] = {"cache": True}
if hasattr(CPUTargetOptions, "_nrt"):
    KERNEL["_nrt"] = False

GRAM_BLOCK = 128


@njit(cache=True, nogil=True)
def dense_gram(x, transposed, gram):
    """Fill in the products of all pairs of rows of `x`, each summed from left to right."""
    n = len(x)
    for start in range(0, n, GRAM_BLOCK):  # columns by columns, so that they stay in the cache
        for i in range(start, n):
            end = min(start + GRAM_BLOCK, i + 1)
            _row_products(x[i], transposed, start, end, gram[i, start:end])
            for j in range(start, end):
                gram[j, i] = gram[i, j]


@njit(**KERNEL)
def _row_products(x, transposed, start, end, sums):
    for j in range(len(sums)):
        sums[j] = 0.0
    whole = len(x) - len(x) % 4
    for k in range(0, whole, 4):  # four at a time, to load and store the sums less often
        _add_four(
            x[k : k + 4],
            transposed[k, start:end],
            transposed[k + 1, start:end],
            transposed[k + 2, start:end],
            transposed[k + 3, start:end],
            sums,
        )
    for k in range(whole, len(x)):
        for j in range(len(sums)):
            sums[j] += x[k] * transposed[k, start + j]


@njit(**KERNEL)
def _add_four(x, p, q, r, s, sums):
    a, b, c, d = x[0], x[1], x[2], x[3]
    for j in range(len(sums)):
        sums[j] = (((sums[j] + a * p[j]) + b * q[j]) + c * r[j]) + d * s[j]


@njit(**KERNEL)
def squared_norm(data, indptr, row):
    """Return the product of a row of the table with itself."""
    total = 0.0
    for k in range(indptr[row], indptr[row + 1]):
        total += data[k] * data[k]
    return total


@njit(**KERNEL)
def row_product(data, indices, indptr, row, w):
    """Return the product of a row of the table with `w`, summed from left to right."""
    start, end = indptr[row], indptr[row + 1]
    x = data[start:end]
    total = 0.0
    if len(x) == len(w):
        for k in range(len(x)):
            total += w[k] * x[k]
    else:
        column = indices[start:end]
        for k in range(len(x)):
            total += w[column[k]] * x[k]
    return total


@njit(**KERNEL)
def four_products(w, a, b, c, d, answer):
    """Put the products of `w` with four rows that have a value in every column in `answer`."""
    s = t = u = v = 0.0
    for k in range(len(w)):
        s += w[k] * a[k]
        t += w[k] * b[k]
        u += w[k] * c[k]
        v += w[k] * d[k]
    answer[0], answer[1], answer[2], answer[3] = s, t, u, v


@njit(**KERNEL)
def add_row(data, indices, indptr, row, factor, w):
    """Add a multiple of a row of the table to `w`."""
    start, end = indptr[row], indptr[row + 1]
    x = data[start:end]
    if len(x) == len(w):
        for k in range(len(x)):
            w[k] += factor * x[k]
    else:
        column = indices[start:end]
        for k in range(len(x)):
            w[column[k]] += factor * x[k]


@njit(**KERNEL)
def fill_row(data, indices, indptr, row, x):
    """Make `x` a row of the table."""
    for k in range(len(x)):
        x[k] = 0.0
    add_row(data, indices, indptr, row, 1.0, x)
