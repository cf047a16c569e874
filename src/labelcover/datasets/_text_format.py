"""How a text file writes a table: encodings, delimiter and header, given or found out."""

import codecs
import csv
import io
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO

from labelcover._arguments import check_choice, parameter
from labelcover.datasets._file_limits import BLOCK, check_not_blank, opened
from labelcover.tables import DataError, shown

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
SAMPLE = 1 << 18  # characters from which the delimiter is found
SAMPLE_ROWS = 1000
MOST_TITLES = 5
NUMBER_LIKE = re.compile(r"\s*[-+(]?[\d.,]*\d")
SHOWN_LINES = 5
MOST_IN_MEMORY = 1 << 26  # bytes of a file of lines in several encodings
OTHERS = ("cp1252", "latin-1")  # the second takes every byte


@dataclass(frozen=True)
class CsvFile:
    """A CSV file, and how it is written.

    Attributes
    ----------
    path : path-like
        The file.
    delimiter : str
        What separates cells.
    encoding : str
        How characters are written.
    decimal : str or None
        The decimal sign that was given; None if each column is to be looked at.
    header : bool
        Whether the first row has the names of the columns.
    lines_above : int
        Number of lines above the names: a title.
    mixed : bool
        Whether some lines are UTF-8 and some are not.
    notes : tuple of str
        Sentences about what is unusual.
    """

    path: str | os.PathLike[str]
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str | None = None
    header: bool = True
    lines_above: int = 0
    mixed: bool = False
    notes: tuple[str, ...] = ()


def find_format(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> CsvFile:
    """Return how a CSV file is written; what is not given is found out.

    The encoding is what a byte order mark says, else UTF-8 if the whole file is that, else
    Windows-1252 (or Latin-1, where a byte has no meaning in it); if some lines are UTF-8 and some
    are not, each is read as what it is. The delimiter is the one of ``,``, ``;``, tab and ``|`` by
    which most of the first rows have the same number of cells, as many as possible. Lines above
    the names that hold one cell only, where all other rows hold more, are a title.

    Raises
    ------
    DataError
        If the file is empty, no text, or not in `encoding`.
    """
    if decimal is not None:
        check_choice("decimal", decimal, DECIMALS)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"delimiter must be one character, such as ',' or ';', got {delimiter!r}.")
    found = CsvFile(path, decimal=decimal, header=header is not False)
    if encoding is None:
        found = replace(found, **_encoding(path))
    else:
        found = replace(found, encoding=_known_encoding(path, encoding))
    with text_of(found) as stream:
        text = stream.read(SAMPLE)
    if not text.strip():
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    if delimiter is None:
        delimiter = "\t" if ".tsv" in Path(path).suffixes else _delimiter(text)
    found = replace(found, delimiter=delimiter)
    if not found.header:
        return found
    lines_above, title = title_above(sample_rows(text, delimiter))
    note = f"The title {' / '.join(title)!r} above the names of the columns was left out."
    notes = (*found.notes, note) if title else found.notes
    return replace(found, lines_above=lines_above, notes=notes)


@contextmanager
def encoded(source: CsvFile) -> Iterator[tuple[Any, str]]:
    """Open a text file for reading bytes; yield the stream and the encoding of what it gives."""
    with opened(source.path) as file:
        if not source.mixed:
            yield file, source.encoding
            return
        with SpooledTemporaryFile(MOST_IN_MEMORY) as in_utf8:
            for block in whole_lines(file):
                in_utf8.write(_in_utf8(block))
            in_utf8.seek(0)
            yield in_utf8, "utf-8"


@contextmanager
def text_of(source: CsvFile) -> Iterator[io.TextIOWrapper]:
    """Open a text file for reading, with its line ends as they are."""
    with encoded(source) as (stream, encoding):
        encoding = "utf-8-sig" if encoding == "utf-8" else encoding
        with io.TextIOWrapper(stream, encoding, errors="replace", newline="") as text:
            yield text


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's reader take cells of any length: long documents are ordinary."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the encoding of a file, as attributes of a `CsvFile`."""
    with opened(path) as file:
        start = file.read(4)
    marked = next((name for mark, name in MARKS if start.startswith(mark)), "utf-8")
    if marked not in ("utf-8", "utf-8-sig"):
        return {"encoding": _known_encoding(path, marked)}
    decoder, n_lines, is_utf8 = codecs.getincrementaldecoder("utf-8")(), 0, True
    with opened(path) as file:
        while block := file.read(BLOCK):
            if (at := block.find(b"\0")) >= 0:
                remedy = parameter("encoding", "utf-16-le")
                said = f"not a text file, expected CSV; if it is UTF-16, give {remedy}."
                raise DataError(path, said, n_lines + block.count(b"\n", 0, at) + 1)
            check_not_blank(path, block)
            is_utf8 = is_utf8 and _decodes(decoder, block)
            n_lines += block.count(b"\n")
    # UTF-8 may end in the middle of a character.
    if is_utf8 and _decodes(decoder, b"", final=True):
        return {"encoding": marked}
    return _by_lines(path)


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
    if not _decodes(decoder, b"", final=True):
        raise DataError(path, f"ends in the middle of a character of {name}, expected CSV.")
    return name


def _delimiter(text: str) -> str:
    def regularity(delimiter: str) -> tuple[float, int]:
        rows = [row for row, _ in sample_rows(text, delimiter)]
        width = usual_width(rows)
        return (sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0, width)

    return max(DELIMITERS, key=regularity)  # the first of equals


def usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of cells that most rows have."""
    return Counter(map(len, rows)).most_common(1)[0][0]


def sample_rows(text: str, delimiter: str) -> list[tuple[list[str], int]]:
    """Return the first rows of a text, and the lines where they begin.

    Empty lines are left out, and the last row of a long text, which may be cut off.
    """
    rows, before = [], 0
    with long_cells(), suppress(csv.Error):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        for row in reader:
            if row:
                rows.append((row, before + 1))
            before = reader.line_num
            if len(rows) == SAMPLE_ROWS:
                return rows
    return rows[:-1] if len(text) == SAMPLE and len(rows) > 1 else rows or [([text], 1)]


def title_above(rows: list[tuple[list[str], int]]) -> tuple[int, list[str]]:
    """Return the number of lines above the names of the columns, and the title in them.

    A title is lines of one cell above a row of names, where rows have more. If they have only two,
    a row is one of names beyond doubt where it has a word above numbers.
    """
    rows = [(row, line) for row, line in rows if any(map(str.strip, row))]
    width = usual_width([row for row, _ in rows]) if rows else 1
    n = next((i for i, (row, _) in enumerate(rows) if _filled(row) != 1), 0)
    if not 0 < n <= MOST_TITLES or width < 2 or len(rows) < n + 2:
        return 0, []
    names, line = rows[n]
    below = [row for row, _ in rows[n + 1 :] if len(row) == width]
    is_named = len(names) == width == len({name.strip() for name in names}) == _filled(names)
    if not is_named or any(map(is_number_like, names)) or not below:
        return 0, []
    columns = zip(*below, strict=True)
    has_numbers = any(all(is_number_like(cell) for cell in cells if cell) for cells in columns)
    if width == 2 and not (has_numbers and all(len(row) == 1 for row, _ in rows[:n])):
        return 0, []
    return line - 1, [next(filter(None, map(str.strip, row))) for row, _ in rows[:n]]


def is_number_like(cell: str) -> bool:
    """Return whether a cell begins as a number does: digits, perhaps after a sign."""
    return NUMBER_LIKE.match(cell) is not None


def _filled(row: list[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _by_lines(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the encoding of most lines that are not ASCII; and a note, if others are UTF-8."""
    counts: Counter[str] = Counter()
    first: defaultdict[str, list[int]] = defaultdict(list)
    number = 0
    with opened(path) as file:
        for block in whole_lines(file):
            if block.isascii():
                number += block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")
                continue
            for line in block.splitlines():
                number += 1
                if not line.isascii():
                    name = _encoding_of(line)
                    counts[name] += 1
                    if len(first[name]) <= SHOWN_LINES:
                        first[name].append(number)
    others = [name for name in OTHERS if name in counts]
    is_utf8 = sum(counts[name] for name in others) <= counts["utf-8"]
    encoding = "utf-8" if is_utf8 else others[-1]
    if "utf-8" not in counts or len(counts) == 1:
        return {"encoding": encoding}
    told = []
    for name in counts:
        if name not in ({"utf-8"} if is_utf8 else OTHERS):
            named = shown([str(line) for line in first[name]], SHOWN_LINES)
            told.append(f"{'line' if counts[name] == 1 else 'lines'} {named} in {name}")
    note = f"Most lines are in {encoding}, {' and '.join(told)}; each was read so."
    return {"encoding": encoding, "mixed": True, "notes": (note,)}


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
    if _encoding_of(block) == "utf-8":
        return block
    lines = block.splitlines(keepends=True)
    return b"".join(line.decode(_encoding_of(line)).encode() for line in lines)


def _encoding_of(text: bytes) -> str:
    for name in ("utf-8", *OTHERS[:-1]):
        with suppress(UnicodeDecodeError):
            text.decode(name)
            return name
    return OTHERS[-1]
