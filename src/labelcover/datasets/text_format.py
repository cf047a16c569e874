"""How a text file writes a table: encoding and delimiter, given or found out."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from labelcover._arguments import check_choice
from labelcover.datasets.dataset import DataError

DELIMITERS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
# Byte order marks, the longer ones first as one starts like another.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
BLOCK = 1 << 20
SAMPLE = 1 << 18  # characters from which the delimiter is found
SAMPLE_ROWS = 1000


@dataclass(frozen=True)
class TextFormat:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter : str
        What separates cells.
    encoding : str
        How characters are written.
    decimal : str or None
        The decimal sign that was given; None if each column is to be looked at.
    """

    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str | None = None


def find_format(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> TextFormat:
    """Return how a CSV file is written; what is not given is found out.

    The encoding is what a byte order mark says, else UTF-8 if the whole file is that, else
    Windows-1252 (or Latin-1, where a byte has no meaning in it). The delimiter is the one of ``,``,
    ``;``, tab and ``|`` by which the first rows have the same number of cells, as many as possible.

    Raises
    ------
    DataError
        If the file is empty, no text, or not in `encoding`.
    """
    if decimal is not None:
        check_choice("decimal", decimal, DECIMALS)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"delimiter must be one character, such as ',' or ';', got {delimiter!r}.")
    encoding = _encoding(path) if encoding is None else _known_encoding(path, encoding)
    with (
        opened(path) as raw,
        io.TextIOWrapper(raw, encoding, errors="replace", newline="") as wrapped,
    ):
        text = wrapped.read(SAMPLE)
    if not text.strip():
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    if delimiter is None:
        delimiter = "\t" if ".tsv" in Path(path).suffixes else _delimiter(text)
    return TextFormat(delimiter, encoding, decimal)


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, unpacked if its name ends in ``.gz``.

    Raises
    ------
    DataError
        If what is read is not gzip although the name says so.
    """
    if Path(path).suffix.lower() != ".gz":
        with open(path, "rb") as file:
            yield file
        return
    try:
        with gzip.open(path, "rb") as file:
            yield cast(BinaryIO, file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(path, f"{error}, expected a gzip file.") from None


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's reader take cells of any length: long documents are ordinary."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: str | os.PathLike[str]) -> str:
    with opened(path) as file:
        start = file.read(4)
    for mark, name in MARKS:
        if start.startswith(mark):
            return name
    kinds = ["utf-8", "cp1252", "latin-1"]
    decoders = {name: codecs.getincrementaldecoder(name)() for name in kinds}
    with opened(path) as file:
        while block := file.read(BLOCK):
            if b"\0" in block:
                raise DataError(path, "not a text file, expected CSV.", _line_of_nul(path))
            while not _decodes(decoders[kinds[0]], block):
                kinds.pop(0)
    # UTF-8 may end in the middle of a character.
    return kinds[0] if _decodes(decoders[kinds[0]], b"", final=True) else kinds[1]


def _line_of_nul(path: str | os.PathLike[str]) -> int:
    with opened(path) as file:
        return next(number for number, line in enumerate(file, start=1) if b"\0" in line)


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _known_encoding(path: str | os.PathLike[str], name: str) -> str:
    try:
        "".encode(name)  # base64 and the like are no encodings of text
        decoder = codecs.getincrementaldecoder(name)()
    except LookupError:
        raise ValueError(
            f"encoding must be one that Python knows, such as 'utf-8' or 'cp1252', got {name!r}."
        ) from None
    lines = 0
    with opened(path) as file:
        while block := file.read(BLOCK):
            if not _decodes(decoder, block):
                raise DataError(path, f"not a text file in {name}, expected CSV.", lines + 1)
            lines += block.count(b"\n")
    return name


def _delimiter(text: str) -> str:
    def regularity(delimiter: str) -> tuple[float, int]:
        rows = sample_rows(text, delimiter)
        width = len(rows[0])
        return (sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0, width)

    return max(DELIMITERS, key=regularity)  # the first of equals


def sample_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows of a text with a delimiter; the last may be cut off and is left out."""
    rows = []
    with long_cells(), suppress(csv.Error):
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == SAMPLE_ROWS:
                return rows
    return rows[:-1] if len(text) == SAMPLE and len(rows) > 1 else rows or [[text]]
