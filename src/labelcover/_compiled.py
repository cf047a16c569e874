"""How loops are compiled: into Numba's cache, and to be called from Python and each other only."""

from typing import Any

import numba
from numba.core.cpu import CPUTargetOptions

OPTIONS: dict[str, Any] = {"cache": True}
# Numba also writes a function for callers in C, of which there are none: a tenth of the time to
# compile. The option is numba's own, so it is used only where this numba has it.
if hasattr(CPUTargetOptions, "no_cfunc_wrapper"):
    OPTIONS["no_cfunc_wrapper"] = True


def njit(*function, **options):
    """Compile a function as `numba.njit` does, with options that all loops share."""
    return numba.njit(*function, **(OPTIONS | options))
