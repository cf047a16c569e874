"""A limit on virtual memory that is too low to work with is said at once.

Under such a limit (``ulimit -v``) libraries wait for threads that cannot start, and the compiler
ends the process without a word; neither can be caught.
"""

from __future__ import annotations

from collections.abc import Sequence

# What a small table takes, most of it reserved for libraries, compiled code and threads.
LEAST_BYTES = 3_000_000_000
# These only print.
UNBOUNDED = {"--help", "--version"}


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
