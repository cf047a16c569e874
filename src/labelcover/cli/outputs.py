"""What a command writes: checked before the work, kept when it is interrupted."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

HTML = (".html", ".htm")


class Interrupted(Exception):
    """The user stopped a command; the message says what was kept."""


def check_output(
    path: Path, *inputs: str | Path, option: str = "--output", suffixes: Sequence[str] = ()
) -> None:
    """Complain before the work starts that its outcome could not, or must not, be written.

    A name may have one of the `suffixes`, if these are given, or none.
    """
    if not path.parent.is_dir():
        raise ValueError(f"{option} must lie in a folder that exists, got {path}.")
    _check_name(path, option)
    if path.is_dir():
        raise ValueError(f"{option} must be a file, got the folder {path}.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} must be an ordinary file, got the device or pipe {path}.")
    for source in inputs:
        if path.exists() and Path(source).exists() and path.samefile(source):
            raise ValueError(
                f"{option} must be another file than what is read, got {path}, which would be "
                "replaced."
            )
    if suffixes and path.suffix and path.suffix.lower() not in suffixes:
        raise ValueError(f"{option} must end in {' or '.join(suffixes)}, got {path}.")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{option} must lie in a folder that can be written to, got {path} ({error.strerror})."
        ) from None


def _check_name(path: Path, option: str) -> None:
    """Complain of a name that the file system does not take."""
    try:
        path.lstat()
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(
            f"{option} must have a name that can be written, got {path} ({reason})."
        ) from None


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
