"""Progress bars: seen in a terminal, silent everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Progress(Protocol):
    """What a caller may do with a progress bar."""

    def advance(self, steps: int = 1) -> None:
        """Move the bar on by `steps`."""

    def describe(self, text: str) -> None:
        """Say what is being worked on."""


class _Silent:
    def advance(self, steps: int = 1) -> None:
        pass

    def describe(self, text: str) -> None:
        pass


class _Rich:
    def __init__(self, bar, task) -> None:
        self._bar, self._task = bar, task

    def advance(self, steps: int = 1) -> None:
        self._bar.advance(self._task, steps)

    def describe(self, text: str) -> None:
        self._bar.update(self._task, description=text)


@contextmanager
def progress_bar(text: str, total: int | None = None, *, show: bool = True) -> Iterator[Progress]:
    """Yield a progress bar on standard error.

    It is silent when `show` is false, when standard error is not a terminal, and
    when ``rich`` (the ``cli`` extra) is not installed. It appears only after half a
    second, so quick work leaves no trace.
    """
    try:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import (
            Progress as RichProgress,
        )
    except ImportError:
        show = False
    if not show or not sys.stderr.isatty():
        yield _Silent()
        return
    columns = [TextColumn("{task.description}"), BarColumn()]
    if total is not None:
        columns += [MofNCompleteColumn(), TimeRemainingColumn()]
    columns.append(TimeElapsedColumn())
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Rich(bar, bar.add_task(text, total=total))
