"""What the command says of errors and warnings, one line each, and of too little memory at once.

Under a low limit on virtual memory (``ulimit -v``) libraries wait for threads that cannot start,
and the compiler ends the process without a word; neither can be caught, so the limit is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import typer

from labelcover._imports import how_to_install
from labelcover._safe_text import visible
from labelcover.cli._options import DEBUG
from labelcover.cli._outputs import Interrupted

#: What typer raises for a wrong command line, wherever this version keeps it.
UsageError: Any = typer.BadParameter.__mro__[1]

INTERRUPTED = 130  # the exit code of a program that was stopped by Ctrl-C
STOPPED = "stopped; nothing was written"
# What a small table takes, most of it reserved for libraries, compiled code and threads.
LEAST_BYTES = 3_000_000_000
# These only print.
UNBOUNDED = {"--help", "--version"}


def message_and_code(error: Exception) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    if isinstance(error, Interrupted):
        return str(error), INTERRUPTED
    if isinstance(error, typer.Abort):
        return STOPPED, INTERRUPTED
    if isinstance(error, UsageError):
        return error.format_message(), 2
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        return how_to_install(error.name), 2
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror, 2
    if isinstance(error, ValueError | OSError | ImportError):
        return str(error), 2
    if isinstance(error, RuntimeError) and str(error).startswith("cannot cache function"):
        return "NUMBA_CACHE_DIR must name a folder that can be written to, for compiled code", 2
    if isinstance(error, TooLittleMemory):
        return str(error), 2
    if isinstance(error, MemoryError):
        reason = f" ({error})" if str(error) else ""
        return f"out of memory{reason}; fewer rows, labels or columns need less", 1
    return f"unexpected {type(error).__name__}: {error} ({DEBUG} shows where)", 1


def complain(message: str, code: int) -> NoReturn:
    """Print a message and end with an exit code."""
    _print_error(message)
    sys.exit(code)


def show_warning(message: Warning | str, *place: Any, **more: Any) -> None:
    """Print a warning in one line, without the line of code that it comes from."""
    _print_error(f"warning: {message}")


def _print_error(message: str) -> None:
    print(f"labelcover: {visible(' '.join(message.split()))}", file=sys.stderr)


class TooLittleMemory(MemoryError):
    """A limit that no command can work with."""


def check_address_space(words: Sequence[str]) -> None:
    """Raise a `TooLittleMemory` if a command would not have the virtual memory that it needs."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_BYTES or UNBOUNDED.intersection(words):
        return
    raise TooLittleMemory(
        f"virtual memory is limited to {limit / 1e9:.2f} GB (ulimit -v), expected at least "
        f"{LEAST_BYTES / 1e9:.0f} GB, most of which is address space for libraries and threads."
    )
