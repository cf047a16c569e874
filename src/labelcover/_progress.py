"""Progress bars: seen in a terminal, silent everywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol


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


class _Delayed:
    """A rich bar that starts at the first news after `DELAY` seconds."""

    DELAY = 0.5

    def __init__(self, text: str, total: int | None) -> None:
        self.text, self.total, self.done = text, total, 0
        self.due = time.monotonic() + self.DELAY
        self.bar: Any = None

    def advance(self, steps: int = 1) -> None:
        self.done += steps
        self._show()

    def describe(self, text: str) -> None:
        self.text = text
        self._show()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()

    def _show(self) -> None:
        if self.bar is None:
            if time.monotonic() < self.due:
                return
            self.bar = _rich_bar(self.total)
            self.task = self.bar.add_task(self.text, total=self.total)
            self.bar.start()
        self.bar.update(self.task, completed=self.done, description=self.text)


def _rich_bar(total: int | None):
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}"), BarColumn()]
    if total is not None:
        columns += [MofNCompleteColumn(), TimeRemainingColumn()]
    columns.append(TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(text: str, total: int | None = None, *, show: bool = True) -> Iterator[Progress]:
    """Yield a progress bar on standard error.

    It is silent when `show` is false, when standard error is not a terminal, and when ``rich``
    (the ``cli`` extra) is not installed. It appears only after half a second, so quick work
    leaves no trace.
    """
    if not show or not sys.stderr.isatty() or find_spec("rich") is None:
        yield _Silent()
        return
    bar = _Delayed(text, total)
    try:
        yield bar
    finally:
        bar.close()
