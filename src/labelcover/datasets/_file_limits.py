"""How much of a file is read, and in what blocks: what a small file can unpack to is bounded.

The bound is 128 MB, or fifty times the size of the file on disk if that is more. The environment
variable ``LABELCOVER_MAX_BYTES`` sets another one. Of archives with models
the sizes that they declare are added.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from labelcover.tables import AnyPath, DataError, pa

VARIABLE = "LABELCOVER_MAX_BYTES"
LEAST_BYTES, TIMES = 128_000_000, 50
BLOCK = 1 << 20
SCHEMA = "schema.json"  # of skops: what the objects are, and which arrays they hold
BLOCK_SIZES = (1 << 20, 1 << 24, 1 << 28, (1 << 31) - 1)
# What Arrow says of a row, or of names, that are longer than a block.
TOO_LONG = ("straddling", "larger than block size")


def allowed_bytes(path: AnyPath) -> int:
    """Return how many bytes a file may unpack to.

    Raises
    ------
    ValueError
        If the environment variable is not a positive number.
    """
    given = os.environ.get(VARIABLE, "")
    if not given and not os.path.exists(path):
        return sys.maxsize  # what a database gives is no packed file
    if not given:
        return max(LEAST_BYTES, TIMES * os.stat(path).st_size)
    if not given.isdecimal() or int(given) == 0:
        raise ValueError(f"{VARIABLE} must be a positive number of bytes, got {given!r}.")
    return int(given)


def check_bytes(path: AnyPath, needed: int, what: str) -> None:
    """Raise a `DataError` if `what` a file holds would take more bytes than it may."""
    allowed = allowed_bytes(path)
    if needed > allowed:
        raise DataError(
            path,
            f"{what} would take {_shown(needed)}, expected at most {_shown(allowed)} for a file of "
            f"this size; set the environment variable {VARIABLE} to a number of bytes to allow "
            "more.",
        )


def check_ordinary(path: AnyPath) -> None:
    """Raise a `DataError` for a pipe or a device, which may never end and is read only once."""
    mode = os.stat(path).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # a folder has an error of its own
        kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise DataError(path, f"{kind}, expected an ordinary file; write it to one first.")


@contextmanager
def opened(path: AnyPath) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if its name ends in ``.gz``.

    Raises
    ------
    DataError
        If the file is not an ordinary one, is not gzip although its name says so, or unpacks to
        more than it may.
    """
    check_ordinary(path)
    if Path(path).suffix.lower() != ".gz":
        with open(path, "rb") as file:
            yield file
        return
    try:
        with gzip.open(path, "rb") as file:
            yield cast(BinaryIO, io.BufferedReader(_Bounded(path, cast(BinaryIO, file)), BLOCK))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(path, f"{error}, expected a gzip file.") from None


class _Bounded(io.RawIOBase):
    """A stream that refuses to be read further than allowed."""

    def __init__(self, path: AnyPath, file: BinaryIO) -> None:
        self.path, self.file, self.n_read = path, file, 0
        self.allowed = allowed_bytes(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        n = cast(io.BufferedIOBase, self.file).readinto(buffer)
        self.n_read += n
        if self.n_read > self.allowed:
            check_bytes(self.path, self.n_read, "what it unpacks to")
        return n


def read_bytes(path: AnyPath) -> bytes:
    """Return the bytes of an ordinary text file.

    Raises
    ------
    DataError
        If it is no ordinary file, or has a megabyte of line breaks in a row.
    """
    with opened(path) as file:
        blocks = []
        while block := file.read(BLOCK):
            check_not_blank(path, block)
            blocks.append(block)
    return b"".join(blocks)


def check_not_blank(path: AnyPath, block: bytes) -> None:
    """Raise a `DataError` for a megabyte of line breaks and blanks, which would take minutes."""
    if len(block) == BLOCK and not block.strip():
        raise DataError(path, "holds a megabyte of blank lines in a row, expected rows.")


def whole_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield a file in blocks that end where a line does."""
    parts: list[bytes] = []
    while block := file.read(BLOCK):
        # A carriage return at the end of a block may be the first half of a line end.
        end = max(block.rfind(b"\n"), block.rfind(b"\r", 0, -1)) + 1
        if end:
            yield b"".join([*parts, block[:end]])
            parts = [block[end:]]
        else:
            parts.append(block)
    if last := b"".join(parts):
        yield last


def _shown(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def check_archive(path: AnyPath) -> None:
    """Raise a `DataError` if the arrays of a model would take more memory than they may.

    An array counts as often as an object holds it, and with what an archive within the archive
    (a sparse table) unpacks to.

    Raises
    ------
    DataError
        If the archive is too large, or no ordinary file.
    """
    check_ordinary(path)
    with zipfile.ZipFile(path) as archive:
        sizes = {info.filename: info.file_size for info in archive.infolist()}
        check_bytes(path, sum(sizes.values()), "what the archive unpacks to")
        for name in sizes:
            if name.endswith(".npz"):
                with zipfile.ZipFile(io.BytesIO(archive.read(name))) as inner:
                    sizes[name] += sum(info.file_size for info in inner.infolist())
        held: list[Any] = []  # the files that objects hold, each as often as one does
        if SCHEMA in sizes:
            json.loads(archive.read(SCHEMA), object_hook=lambda node: held.append(node.get("file")))
    needed = sum(sizes.get(name, 0) for name in held if isinstance(name, str))
    check_bytes(path, needed, "what the objects of it hold")


def in_growing_blocks(read: Callable[[int], pa.Table]) -> pa.Table:
    """Return what `read` gives with the first size of blocks in which every row fits."""
    for size in BLOCK_SIZES[:-1]:
        try:
            return read(size)
        except pa.ArrowInvalid as error:
            if not any(said in str(error) for said in TOO_LONG):
                raise
    return read(BLOCK_SIZES[-1])


def reason(error: Exception) -> str:
    """Return the first line of what Arrow says of a file."""
    return str(error).split("\n")[0].rstrip(".")
