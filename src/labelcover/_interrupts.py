"""Ctrl-C while a compiled loop runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def raising_interrupts() -> Iterator[None]:
    """Raise a ``KeyboardInterrupt`` as itself.

    One that comes while a compiled function runs is noticed when its result becomes a Python
    object, and then raised as a ``SystemError`` that was caused by it.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            cause = cause.__cause__ or cause.__context__
        raise
