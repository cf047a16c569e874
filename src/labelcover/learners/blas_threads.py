"""How many threads a matrix product may use."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

# Up to so many rows, threads of BLAS gain little and wait for each other on busy cores; below
# so many they are hardly used, and limiting them takes longer than the products.
MOST_ROWS, LEAST_ROWS = 2_500, 64


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def blas_threads(n_rows: int) -> AbstractContextManager:
    """Return a context in which products of matrices of few rows run in one thread."""
    if not LEAST_ROWS <= n_rows <= MOST_ROWS:
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")
