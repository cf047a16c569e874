"""Cholesky factors and what is solved with them, without Python's lock: other threads go on.

SciPy's own functions for these routines hold the lock while they compute. Arrays are of single or
double precision, in the order of columns, as LAPACK takes them.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numba.extending import get_cython_function_address
from numpy.typing import NDArray


def cholesky_factor(matrix: NDArray) -> bool:
    """Overwrite the lower triangle of a symmetric matrix with its factor ``L``.

    Returns False if the matrix is not positive definite.
    """
    return _lapack("potrf", matrix, b"L", len(matrix), matrix, len(matrix)) == 0


def solve_both(factor: NDArray, columns: NDArray) -> None:
    """Overwrite columns with ``(L Lᵀ)⁻¹`` times them."""
    n, n_columns = columns.shape
    _lapack("potrs", factor, b"L", n, n_columns, factor, n, columns, n)


def solve_lower(factor: NDArray, columns: NDArray) -> None:
    """Overwrite columns with ``L⁻¹`` times them."""
    n, n_columns = columns.shape
    one = factor.dtype.type(1)
    _call("blas", "trsm", factor, b"L", b"L", b"N", b"N", n, n_columns, one, factor, n, columns, n)


def invert_both(factor: NDArray) -> None:
    """Overwrite the lower triangle of a factor with that of ``(L Lᵀ)⁻¹``."""
    _lapack("potri", factor, b"L", len(factor), factor, len(factor))


def invert_lower(factor: NDArray) -> None:
    """Overwrite a factor, the lower triangle, with ``L⁻¹``."""
    _lapack("trtri", factor, b"L", b"N", len(factor), factor, len(factor))


def _lapack(name: str, like: NDArray, *arguments: Any) -> int:
    """Call a routine for the precision of an array; return its code of success."""
    info = ctypes.c_int(0)
    _call("lapack", name, like, *arguments, info)
    return info.value


def _call(library: str, name: str, like: NDArray, *arguments: Any) -> None:
    prefix = "s" if like.dtype == np.float32 else "d"
    routine = _routine(f"scipy.linalg.cython_{library}", prefix + name, len(arguments))
    held = [_held(argument) for argument in arguments]
    routine(*(one if isinstance(one, int) else ctypes.addressof(one) for one in held))


def _held(argument: Any) -> Any:
    """Return an argument as something with an address: arrays have one, the rest is copied."""
    if isinstance(argument, np.ndarray):
        assert argument.flags.f_contiguous
        return argument.ctypes.data
    if isinstance(argument, bytes):
        return ctypes.c_char(argument)
    if isinstance(argument, np.floating):
        return (ctypes.c_float if argument.dtype == np.float32 else ctypes.c_double)(
            float(argument)
        )
    return argument if isinstance(argument, ctypes.c_int) else ctypes.c_int(argument)


@cache
def _routine(module: str, name: str, n_arguments: int) -> Any:
    address = get_cython_function_address(module, name)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * n_arguments)(address)
