"""What a command writes: checked before the work, kept when it is interrupted."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Interrupted(Exception):
    """The user stopped a command; the message says what was kept."""


def check_output(path: Path, *inputs: str | Path, option: str = "--output") -> None:
    """Complain before the work starts that its outcome could not, or must not, be written."""
    if not path.parent.is_dir():
        raise ValueError(f"{option} must lie in a folder that exists, got {path}.")
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
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise ValueError(
            f"{option} must lie in a folder that can be written to, got {path} ({error.strerror})."
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
