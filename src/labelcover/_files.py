"""Files that are written whole or not at all, and by one process at a time."""

import errno
import glob
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# What a file is called while it is written, after the name it will have.
PART = ".part-"
LONGEST = 200  # bytes of a name that leave room for more, of the 255 that file systems take


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place if the block succeeds.

    If the block raises, the temporary file is removed and `path` stays as it was. What a killed
    process left of earlier attempts to write `path` is removed first.

    Raises
    ------
    OSError
        If the file cannot be written; it names `path`, also if the disk is full.

    Examples
    --------
    >>> from labelcover._files import replacing
    >>> import pathlib, tempfile
    >>> target = pathlib.Path(tempfile.mkdtemp()) / "out.txt"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("done")
    >>> target.read_text()
    'done'
    """
    target = _in_a_folder(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "not an ordinary file, which could be replaced", str(target))
    with naming(target):
        _remove_leftovers(target)
        # Some writers go by the suffix; one so long says nothing to them.
        suffix = target.suffix if len(target.suffix) < 32 else ""
        handle, name = tempfile.mkstemp(prefix=_part(target), suffix=suffix, dir=target.parent)
    temporary = Path(name)
    try:
        if sys.platform == "win32":
            os.close(handle)  # or it could not be renamed
        else:
            with suppress(OSError):  # not every file system has locks
                _lock(handle)
        with naming(target, temporary):
            yield temporary
            # mkstemp makes private files; the result gets the rights of an ordinary new file.
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, target)
    finally:
        if sys.platform != "win32":
            os.close(handle)
        with suppress(FileNotFoundError):
            temporary.unlink()


@contextmanager
def naming(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Let an `OSError` that names no file, or `temporary`, name `path`: the one a person knows."""
    try:
        yield
    except OSError as error:
        ours = error.filename is None or Path(os.fsdecode(error.filename)) == temporary
        # mkstemp names a file that never was.
        if error.errno is None or not (ours or PART in os.fsdecode(error.filename)):
            raise
        raise type(error)(error.errno, error.strerror, str(path)) from error


def _part(target: Path) -> str:
    """Return how a file is called while it is written: as it will be, or by a hash of that."""
    name = target.name
    if len(os.fsencode(name)) > LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}{PART}"


def _remove_leftovers(target: Path) -> None:
    """Remove files that a killed process was writing: those whose lock ended with it."""
    if sys.platform == "win32":
        return  # there the lock cannot be held while the file is renamed
    for left in target.parent.glob(f"{glob.escape(_part(target))}*"):
        # It may vanish at any moment, or belong to a process that is still writing.
        with suppress(OSError), open(left, "rb") as file:
            _lock(file.fileno())
            left.unlink()


@contextmanager
def locked(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from entering such a block for the same `path`.

    The lock is the operating system's, on a hidden file beside `path` that stays there. It ends
    with the process, however that ends, so a killed process never blocks the next one.

    Raises
    ------
    BlockingIOError
        If another process holds the lock; it names the folder.
    """
    target = _in_a_folder(path)
    with open(target.with_name(f".{target.name}.lock"), "a") as file:
        try:
            _lock(file.fileno())
        except OSError:
            raise BlockingIOError(
                errno.EWOULDBLOCK,
                f"another process is writing {target.name} in this folder; wait until it has "
                "finished, or choose another folder",
                str(target.parent),
            ) from None
        yield


def _in_a_folder(path: str | os.PathLike[str]) -> Path:
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}.")
    return target


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
