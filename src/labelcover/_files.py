"""Files that are written whole or not at all, and by one process at a time."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside `path` that takes its place if the block succeeds.

    If the block raises, the temporary file is removed and `path` stays as it was.

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
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=target.suffix, dir=target.parent
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; the result gets the rights of an ordinary new file.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


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
