"""Parts of a computation at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from numba import get_num_threads


def at_once(*functions: Callable[[], Any]) -> list[Any]:
    """Return what some functions return, called in threads; in turn if there is but one thread.

    It helps where they spend their time without Python's lock: in compiled loops and in products.
    """
    if get_num_threads() == 1:
        return [function() for function in functions]
    with ThreadPoolExecutor(len(functions) - 1) as threads:
        others = [threads.submit(function) for function in functions[1:]]
        return [functions[0](), *(other.result() for other in others)]
