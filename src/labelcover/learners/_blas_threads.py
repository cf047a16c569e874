"""How many threads a matrix product may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Below so many rows threads of BLAS are hardly used, and limiting them takes longer than the
# products.
LEAST_ROWS = 64
# Up to so many products the threads of BLAS, of which NumPy and SciPy have some each, wait for each
# other longer than they work: with two free cores, least squares on 2,500 to 16,000 rows takes up
# to twice as long with them.
MOST_PRODUCTS = 10**10


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def are_worth_threads(n_rows: int, width: int, n_classes: int) -> bool:
    """Return whether products of tables of rows by `width` and `width` by classes are large."""
    return n_rows * width * n_classes > MOST_PRODUCTS


def blas_threads(n_rows: int, width: int, n_classes: int) -> AbstractContextManager:
    """Return a context in which products that are not large run in one thread."""
    if n_rows < LEAST_ROWS or are_worth_threads(n_rows, width, n_classes):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
