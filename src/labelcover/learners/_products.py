"""Products of tables: how many threads they may use, and rows rounded the same in any number."""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

from labelcover._table_numbers import rows_of

# Below so many rows threads of BLAS are hardly used, and limiting them takes longer than the
# products.
LEAST_ROWS = 64
# Up to so many products the threads of BLAS, of which NumPy and SciPy have some each, wait for each
# other longer than they work: with two free cores, least squares on 2,500 to 16,000 rows takes up
# to twice as long with them.
MOST_PRODUCTS = 10**10
# BLAS takes other ways for one row, a few and many, and rounds differently on each. It is always
# given so many: of 4 to 64 rows, 8 take the least time, about that of one product.
ROWS_AT_ONCE = 8


def row_products(rows: NDArray, matrix: NDArray) -> NDArray:
    """Return ``rows @ matrix``, each row as it would be alone, to the last bit.

    A steep model (a tiny ridge, a kernel of kernel values) turns the last bits of a product into
    visible differences between a row alone and the same row in a batch.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
    matrix : ndarray of shape (d, k)

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.learners._products import row_products
    >>> random = np.random.default_rng(0)
    >>> rows, matrix = random.normal(size=(100, 30)), random.normal(size=(30, 5))
    >>> alone = [row_products(row[None], matrix)[0] for row in rows]
    >>> np.array_equal(alone, row_products(rows, matrix))
    True
    """
    n, d = rows.shape
    n_blocks = -(-n // ROWS_AT_ONCE)
    if n == n_blocks * ROWS_AT_ONCE:
        filled = np.ascontiguousarray(rows)
    else:
        filled = np.zeros((n_blocks * ROWS_AT_ONCE, d), rows.dtype)
        filled[:n] = rows
    products = filled.reshape(n_blocks, ROWS_AT_ONCE, d) @ matrix
    return products.reshape(len(filled), matrix.shape[1])[:n]


def filled_up(table: Any) -> Any:
    """Return a table with its last row repeated, to a multiple of the rows taken at once.

    What other libraries multiply is then rounded for one row as for a few; for many, it may still
    differ in the last bits.

    Parameters
    ----------
    table : ndarray, CSR matrix or data frame
    """
    n = table.shape[0]
    missing = -n % ROWS_AT_ONCE
    return rows_of(table, np.minimum(np.arange(n + missing), n - 1)) if missing else table


def inner_products(X: Any, Z: Any) -> NDArray[np.float64]:
    """Return the inner products of all rows of `X` with all rows of `Z`, dense."""
    if sparse.issparse(X) and sparse.issparse(Z):
        return np.asarray((X @ Z.T).toarray(), dtype=np.float64)
    return np.asarray(X @ Z.T, dtype=np.float64)


def squared_lengths(X: Any) -> NDArray[np.float64]:
    """Return the squared length of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n_rows: int, width: int, n_classes: int) -> AbstractContextManager:
    """Return a context in which products that are not large run in one thread."""
    if n_rows < LEAST_ROWS or n_rows * width * n_classes > MOST_PRODUCTS:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
