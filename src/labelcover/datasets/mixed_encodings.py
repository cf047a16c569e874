"""Text files whose lines are not all in one encoding: UTF-8, and some in Windows-1252.

Two programs wrote them, or two people. Each line is decoded for itself, so that one line in the
other encoding does not turn the umlauts of all others wrong.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from labelcover.datasets.file_limits import BLOCK

SHOWN_LINES = 5
OTHERS = ("cp1252", "latin-1")  # the second takes every byte


@dataclass
class MixedLines:
    """How many lines of a file are in which encoding.

    Attributes
    ----------
    counts : dict of str to int
        Lines that are not plain ASCII, by encoding.
    first : dict of str to list of int
        The first of them, from 1.
    """

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, file: BinaryIO) -> MixedLines:
        """Return the encodings of the lines of a file."""
        found, number = cls(), 0
        for block in whole_lines(file):
            if block.isascii():
                number += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
                continue
            for line in block.splitlines():
                number += 1
                if not line.isascii():
                    found._count(_encoding_of(line), number)
        return found

    def _count(self, encoding: str, number: int) -> None:
        self.counts[encoding] = self.counts.get(encoding, 0) + 1
        if len(named := self.first.setdefault(encoding, [])) <= SHOWN_LINES:
            named.append(number)

    @property
    def encoding(self) -> str:
        """The encoding of most lines."""
        others = [name for name in OTHERS if name in self.counts]
        if sum(self.counts[name] for name in others) <= self.counts.get("utf-8", 0):
            return "utf-8"
        return others[-1]

    @property
    def is_mixed(self) -> bool:
        """Whether some lines are UTF-8 and some are not."""
        return "utf-8" in self.counts and len(self.counts) > 1

    @property
    def note(self) -> str:
        """A sentence that names the lines that are not in the encoding of most."""
        usual = {self.encoding} if self.encoding == "utf-8" else {*OTHERS}
        told = []
        for name in self.counts:
            if name not in usual:
                many, lines = self.counts[name], self.first[name]
                shown = ", ".join(map(str, lines[:SHOWN_LINES]))
                shown += ", …" if many > SHOWN_LINES else ""
                told.append(f"line {shown} in {name}" if many == 1 else f"lines {shown} in {name}")
        return f"Most lines are in {self.encoding}, {' and '.join(told)}; each was read so."


class Utf8Lines(io.RawIOBase):
    """A file of lines in UTF-8 or Windows-1252 as a stream in UTF-8."""

    def __init__(self, file: BinaryIO) -> None:
        self._blocks = whole_lines(file)
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        """Return that the stream can be read."""
        return True

    def readinto(self, buffer) -> int:
        """Fill `buffer` with the next bytes; return how many there were."""
        while not self._ready:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._ready = memoryview(_in_utf8(block))
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        return n


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


def _in_utf8(block: bytes) -> bytes:
    if is_utf8(block):
        return block
    lines = block.splitlines(keepends=True)
    return b"".join(line.decode(_encoding_of(line)).encode() for line in lines)


def _encoding_of(line: bytes) -> str:
    if is_utf8(line):
        return "utf-8"
    try:
        line.decode(OTHERS[0])
    except UnicodeDecodeError:
        return OTHERS[1]
    return OTHERS[0]


def is_utf8(text: bytes) -> bool:
    """Return whether a text is UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
