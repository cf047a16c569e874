"""What is raised: Ctrl-C in a compiled loop as itself, warnings of many members once."""

from __future__ import annotations

import threading
import warnings
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


@contextmanager
def each_warning_once() -> Iterator[None]:
    """Show warnings of the same text once, at the end; filters hold as they do outside.

    Without it, a hundred members that do not converge say so a hundred times. In a thread other
    than the main one nothing is done: Python's record of warnings is common to all threads.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as found:
            yield
    finally:
        once: dict[tuple[type[Warning], str], warnings.WarningMessage] = {}
        for each in found:
            once.setdefault((each.category, str(each.message)), each)
        for each in once.values():
            warnings.warn_explicit(
                each.message, each.category, each.filename, each.lineno, source=each.source
            )
