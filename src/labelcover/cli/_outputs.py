"""What a command prints and writes, also of errors: files are checked before the work.

Under a low limit on virtual memory (``ulimit -v``) libraries wait for threads that cannot start,
and the compiler ends the process without a word; neither can be caught, so the limit is checked.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from labelcover._imports import how_to_install
from labelcover._safe_text import visible

if TYPE_CHECKING:
    from labelcover.datasets import Dataset

# The word that asks for a traceback, wherever it stands.
DEBUG = "--debug"
HTML = (".html", ".htm")
# In a file or a pipe nothing ends a line but its content: a row of a table is one line.
WIDTH_WITHOUT_TERMINAL = 10_000


#: What typer raises for a wrong command line, wherever this version keeps it.
UsageError: Any = typer.BadParameter.__mro__[1]

INTERRUPTED = 130  # the exit code of a program that was stopped by Ctrl-C
STOPPED = "stopped; nothing was written"
# What a small table takes, most of it reserved for libraries, compiled code and threads.
LEAST_BYTES = 3_000_000_000
# These only print.
UNBOUNDED = {"--help", "--version"}


class Interrupted(Exception):
    """The user stopped a command; the message says what was kept."""


def check_output(
    path: Path, *inputs: str | Path, option: str = "--output", suffixes: Sequence[str] = ()
) -> None:
    """Complain before the work starts that its outcome could not, or must not, be written.

    A name may have one of the `suffixes`, if these are given, or none.
    """

    def refuse(expected: str) -> NoReturn:
        raise ValueError(f"{option} must {expected}.") from None

    if not path.parent.is_dir():
        refuse(f"lie in a folder that exists, got {path}")
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        refuse(f"have a name that can be written, got {path} ({reason})")
    if path.is_dir():
        refuse(f"be a file, got the folder {path}")
    if path.exists() and not path.is_file():
        refuse(f"be an ordinary file, got the device or pipe {path}")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            refuse(f"be another file than what is read, got {path}, which would be replaced")
    if suffixes and path.suffix and path.suffix.lower() not in suffixes:
        refuse(f"end in {' or '.join(suffixes)}, got {path}")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        refuse(f"lie in a folder that can be written to, got {path} ({error.strerror})")


def output_suffix(output: Path, data: str) -> str:
    """Return the suffix by which a table is written: that of the output, else of the data."""
    from labelcover.datasets import table_suffix

    try:
        return table_suffix(output, like=data)
    except ValueError as error:
        raise ValueError(f"--output {error}") from None


@contextmanager
def resumable(results: Path) -> Iterator[None]:
    """Say what an interrupted run has kept."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(
            f"stopped; fits that were finished are in {results}, and the same command resumes"
        ) from None


def command_line() -> str:
    """Return what the user typed, for pages that say how they were made."""
    return shlex.join(["labelcover", *sys.argv[1:]])


def let_streams_encode_all() -> None:
    """Let what is printed never fail for a character that a terminal or a pipe cannot encode."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _VisibleConsole(Console):
    """A console that shows control characters of strings instead of obeying them."""

    def render_str(self, text: str, **how: Any) -> Text:
        return super().render_str(visible(text), **how)


def console() -> Console:
    """Return what prints tables: names as they are, whatever brackets and colons they hold."""
    printer = _VisibleConsole(soft_wrap=True, markup=False, emoji=False, highlight=False)
    if not printer.is_terminal:
        printer.width = WIDTH_WITHOUT_TERMINAL
    return printer


def plain_table(*titles: str, left: Sequence[int] = (0,)) -> Table:
    """Return a table without lines, numbers on the right except in the columns that are `left`."""
    table = Table(box=None, pad_edge=False)
    for j, title in enumerate(titles):
        table.add_column(title, justify="left" if j in left else "right")
    return table


def print_reading(datasets: Sequence[Dataset], as_json: bool) -> None:
    """Print what was read from tables, and how; JSON has it at the end, see `print_facts`."""
    for dataset in datasets:
        if dataset.report is not None and not as_json:
            console().print(f"{dataset.report}\n")


def print_facts(facts: dict, as_json: bool, datasets: Sequence[Dataset] = ()) -> None:
    """Print names and values, in two columns or as JSON, which has also what was read, and how."""
    if as_json:
        read = [each.report.as_dict() for each in datasets if each.report is not None]
        print(json.dumps(facts | ({"reading": read} if read else {})))
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        shown = " to ".join(map(str, value)) if isinstance(value, list) else str(value)
        if name == "coverage":
            shown = f"{value:.2%}"
        print(visible(f"{name:<{width}}  {shown}"))  # in one line, so that a path can be copied


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


def check_address_space(words: Sequence[str]) -> None:
    """Raise a ``ValueError`` if a command would not have the virtual memory that it needs."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= LEAST_BYTES or UNBOUNDED.intersection(words):
        return
    raise ValueError(
        f"virtual memory is limited to {limit / 1e9:.2f} GB (ulimit -v), expected at least "
        f"{LEAST_BYTES / 1e9:.0f} GB, most of which is address space for libraries and threads."
    )
