"""How many threads a matrix product may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Up to so many rows, threads of BLAS gain little and wait for each other on busy cores; below
# so many they are hardly used, and limiting them takes longer than the products.
MOST_ROWS, LEAST_ROWS = 2_500, 64
# Larger products than this are worth the threads all the same. (With two free cores, fits of
# medical and enron, 2 and 4 · 10⁹, take 10 to 40 % less time in one thread.)
MOST_PRODUCTS = 10**10


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n_rows: int, width: int, n_classes: int) -> AbstractContextManager:
    """Return a context in which small products run in one thread.

    The products are of tables of rows by `width` and `width` by classes.
    """
    small = n_rows * width * n_classes <= MOST_PRODUCTS
    if not (small and LEAST_ROWS <= n_rows <= MOST_ROWS):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
