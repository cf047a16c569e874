"""What is seen while something runs: progress, what was chosen, warnings once, Ctrl-C as itself."""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from labelcover._safe_text import visible

COMPILING = "compiling, first use"
COMPILING_ONCE = "compiling for this machine; this happens once and may take a minute"
_told_of_compilation = threading.Event()


class Progress:
    """What a caller may do with a progress bar; this one is silent."""

    def advance(self, steps: int = 1) -> None:
        """Move the bar on by `steps`."""

    def describe(self, text: str) -> None:
        """Say what is being worked on."""


class _Delayed(Progress):
    """A rich bar that appears after `DELAY` seconds, if the work is not done by then."""

    DELAY = 0.5

    def __init__(self, text: str, total: int | None) -> None:
        self.text, self.total, self.done, self.compiling = text, total, 0, 0
        self.bar: Any = None
        self.closed = False
        # News may come from several threads: the timer's, and those in which numba compiles.
        self.lock = threading.RLock()
        self.timer = threading.Timer(self.DELAY, self._appear)
        self.timer.daemon = True
        self.timer.start()

    def advance(self, steps: int = 1) -> None:
        self._change(steps=steps)

    def describe(self, text: str) -> None:
        self._change(text=text)

    def compiles(self, change: int) -> None:
        """Count a function that numba begins (1) or has ended (−1) to compile."""
        self._change(compiling=change)

    def _change(self, *, steps: int = 0, text: str | None = None, compiling: int = 0) -> None:
        with self.lock:
            self.done += steps
            self.text = self.text if text is None else text
            self.compiling += compiling
            if self.bar is not None:
                shown = COMPILING if self.compiling else visible(self.text)
                self.bar.update(self.task, completed=self.done, description=shown)

    def close(self) -> None:
        self.timer.cancel()
        with self.lock:
            self.closed = True
            if self.bar is not None:
                self.bar.stop()

    def _appear(self) -> None:
        with self.lock:
            if not self.closed:
                self.bar = _rich_bar(self.total)
                self.task = self.bar.add_task(visible(self.text), total=self.total)
                self._change()
                self.bar.start()


@contextmanager
def telling_of_compilation(*, show: bool = True) -> Iterator[None]:
    """Print a line on standard error if numba compiles in the block, once in a process.

    What is loaded from numba's cache does not count.
    """
    if not show:
        yield
        return

    def told() -> None:
        if not _told_of_compilation.is_set():
            _told_of_compilation.set()
            tell(COMPILING_ONCE, show=True)

    with _listening(told, lambda: None):
        yield


@contextmanager
def _listening(begun: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call `begun` and `ended` around each function that numba compiles, if it tells of them."""
    try:
        from numba.core import event as numba_event  # here, because importing numba is slow
    except ImportError:
        yield
        return

    class Listener(numba_event.Listener):
        def on_start(self, event: Any) -> None:
            begun()

        def on_end(self, event: Any) -> None:
            ended()

    listener = Listener()
    numba_event.register("numba:compile", listener)
    try:
        yield
    finally:
        numba_event.unregister("numba:compile", listener)


def _rich_bar(total: int | None):
    from rich import progress
    from rich.console import Console

    columns = [progress.TextColumn("{task.description}", markup=False), progress.BarColumn()]
    if total is not None:
        columns += [progress.MofNCompleteColumn(), progress.TimeRemainingColumn()]
    columns.append(progress.TimeElapsedColumn())
    return progress.Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def progress_bar(text: str, total: int | None = None, *, show: bool = True) -> Iterator[Progress]:
    """Yield a progress bar on standard error.

    It is silent when `show` is false, when standard error is not a terminal, and when ``rich``
    (the ``cli`` extra) is not installed. It appears only after half a second, so quick work
    leaves no trace. While numba compiles, the text is "compiling, first use".
    """
    if not show or not sys.stderr.isatty() or find_spec("rich") is None:
        yield Progress()
        return
    bar = _Delayed(text, total)
    try:
        with _listening(lambda: bar.compiles(1), lambda: bar.compiles(-1)):
            yield bar
    finally:
        bar.close()


def tell(text: str, *, show: bool) -> None:
    """Print a line on standard error, terminal or not, if `show` is true."""
    if show:
        print(visible(text), file=sys.stderr)


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
