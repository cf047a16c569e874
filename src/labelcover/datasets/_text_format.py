"""How a text file writes a table: encodings, delimiter and header, given or found out; its lines.

Lines are read by Python's own reader: it is slower than Arrow's, but knows them.
"""

import codecs
import csv
import io
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from labelcover._arguments import check_choice, parameter
from labelcover.datasets._file_limits import BLOCK, check_not_blank, opened, whole_lines
from labelcover.tables import AnyPath, DataError, shown

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
# How a cell begins that may be a number: with digits, perhaps after a sign.
NUMBER_LIKE = re.compile(r"\s*[-+(]?[\d.,]*\d")
SHOWN_LINES = 5
MOST_IN_MEMORY = 1 << 26  # bytes of a file of lines in several encodings
OTHERS = ("cp1252", "latin-1")  # the second takes every byte
# What some files have between cells besides those that are found.
ODD_DELIMITERS = (*DELIMITERS, ":", "^", "~", "\x01", "\x1f", "§", "¦", " ")
# What Python's reader says where the file ends in a cell in quotes.
UNCLOSED = "unexpected end of data"
# So much of a file is looked at for its names and the types of its columns.
SAMPLE_LINES = 100_000
SAMPLE_CHARACTERS = 1 << 24


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

    path: AnyPath
    delimiter: str = ","
    encoding: str = "utf-8"
    decimal: str | None = None
    header: bool = True
    lines_above: int = 0
    mixed: bool = False
    notes: tuple[str, ...] = ()


def find_format(
    path: AnyPath,
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
    how = _encoding(path, encoding)
    found = CsvFile(path, decimal=decimal, header=header is not False, **how)
    with text_of(found) as stream:
        text = stream.read(SAMPLE)
    if not text.strip():
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    if delimiter is None:
        are_tabs = ".tsv" in Path(path).suffixes
        # By which rows are the most regular; the first of equals.
        delimiter = "\t" if are_tabs else max(DELIMITERS, key=partial(_regularity, text))
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
                is_utf8 = _encoding_of(block) == "utf-8"
                lines = [block] if is_utf8 else block.splitlines(keepends=True)
                in_utf8.writelines(line.decode(_encoding_of(line)).encode() for line in lines)
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


def _encoding(path: AnyPath, given: str | None) -> dict[str, Any]:
    """Return the encoding of a file, as attributes of a `CsvFile`."""
    with opened(path) as file:
        start = file.read(4)
    marked = next((name for mark, name in MARKS if start.startswith(mark)), "utf-8")
    name = marked if given is None else given
    may_be_others = given is None and name in ("utf-8", "utf-8-sig")
    try:
        "".encode(name)  # base64 and the like are no encodings of text
        decoder = codecs.getincrementaldecoder("utf-8" if may_be_others else name)()
    except LookupError:
        text = f"encoding must be one that Python knows, such as 'utf-8' or 'cp1252', got {name!r}."
        raise ValueError(text) from None
    n_lines, is_text, block = 0, True, b"-"
    with opened(path) as file:
        while block:
            block = file.read(BLOCK)
            if may_be_others and (at := block.find(b"\0")) >= 0:
                remedy = parameter("encoding", "utf-16-le")
                said = f"not a text file, expected CSV; if it is UTF-16, give {remedy}."
                raise DataError(path, said, n_lines + block.count(b"\n", 0, at) + 1)
            if may_be_others:
                check_not_blank(path, block)
            try:
                decoder.decode(block if is_text else b"", not block)
            except UnicodeError:  # a mark that is missing is one too
                is_text = False
            if not is_text and not may_be_others:
                if block:
                    raise DataError(path, f"not a text file in {name}, expected CSV.", n_lines + 1)
                said = f"ends in the middle of a character of {name}, expected CSV."
                raise DataError(path, said)
            n_lines += block.count(b"\n")
    return {"encoding": name} if is_text else _by_lines(path)


def _regularity(text: str, delimiter: str) -> tuple[float, int]:
    """Return the share of the first rows that have the usual number of cells, and this number."""
    rows = [row for row, _ in sample_rows(text, delimiter)]
    width = usual_width(rows)
    return (sum(len(row) == width for row in rows) / len(rows) if width > 1 else 0.0, width)


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
    filled = [sum(bool(cell.strip()) for cell in row) for row, _ in rows]
    n = next((i for i, n_filled in enumerate(filled) if n_filled != 1), 0)
    if not 0 < n <= MOST_TITLES or width < 2 or len(rows) < n + 2:
        return 0, []
    names, line = rows[n]
    below = [row for row, _ in rows[n + 1 :] if len(row) == width]
    is_named = len(names) == width == len({name.strip() for name in names}) == filled[n]
    if not is_named or any(map(NUMBER_LIKE.match, names)) or not below:
        return 0, []
    columns = zip(*below, strict=True)
    has_numbers = any(all(map(NUMBER_LIKE.match, filter(None, cells))) for cells in columns)
    if width == 2 and not (has_numbers and all(len(row) == 1 for row, _ in rows[:n])):
        return 0, []
    return line - 1, [next(filter(None, map(str.strip, row))) for row, _ in rows[:n]]


def _by_lines(path: AnyPath) -> dict[str, Any]:
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


def _encoding_of(text: bytes) -> str:
    for name in ("utf-8", *OTHERS[:-1]):
        with suppress(UnicodeDecodeError):
            text.decode(name)
            return name
    return OTHERS[-1]


def hint(source: CsvFile, wanted: str = "") -> str:
    r"""Return what may be wrong if the names of the columns are not those expected; "" if nothing.

    `wanted` is the name that was not found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelcover.datasets._text_format import CsvFile, hint
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("size:tags\n1:a\n2:b\n")
    >>> hint(CsvFile(path), "tags")
    "; with delimiter=':' the file has 2 columns, size and tags among them"
    """
    try:
        rows = [row for row, _ in first_rows(source)]
    except DataError:
        return ""
    names, below = rows[0], rows[1:]
    usual = usual_width(rows)
    if any(cell[:1] == " " and cell.lstrip()[:1] == '"' for row in rows for cell in row):
        return "; blanks stand before quotes, which are then part of the cells: remove these blanks"
    other = None
    for delimiter in ODD_DELIMITERS:
        for name in names:
            parts = [part.strip(' "') for part in name.split(delimiter)]
            if len(parts) > 1 and (wanted in parts or (len(names) == 1 and all(parts))):
                other = other or delimiter
    if usual > len(names):
        lines = [source.delimiter.join(row) for row in rows]
        other = next(filter(partial(_is_regular, lines), ODD_DELIMITERS), None)
        if other is None:
            return (
                f"; most rows have {usual} cells, and the first has {len(names)}: if it is a "
                "title, remove the lines above the names of the columns; if the first column has "
                "no name, give it one"
            )
    if other is not None:
        parts = [part.strip(' "') for part in other.join(names).split(other)]
        return (
            f"; with {parameter('delimiter', other)} the file has {len(parts)} columns, "
            f"{parts[0]} and {parts[-1]} among them"
        )
    if source.header and looks_like_data(names, below):
        return (
            "; the first row looks like data: if the file has no names of columns, give "
            f"{parameter('header', False)}, and they are called 'column 1', 'column 2', …"
        )
    return ""


def _is_regular(lines: Sequence[str], delimiter: str) -> bool:
    """Return whether a delimiter cuts the first line and most others into as many cells."""
    widths = [line.count(delimiter) + 1 for line in lines]
    return widths[0] > 1 and 2 * widths.count(widths[0]) > len(lines)


def looks_like_data(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row of names has a number above numbers, or a value that recurs below."""
    rows = [row for row in below if len(row) == len(names)]
    for name, *cells in zip(names, *rows, strict=True):
        filled = [cell for cell in cells if cell.strip()]
        if filled and all(map(NUMBER_LIKE.match, [name, *filled])):
            return True
        if name.strip() and name in filled:
            return True
    return False


class UnclosedQuote(DataError):
    """A CSV file that ends in a cell in quotes."""


def numbered_rows(
    source: CsvFile, *, with_blank: bool = False, n_lines: int | None = None
) -> Generator[tuple[list[str], int], None, None]:
    """Yield the rows of a CSV file, the names first if it has any, and the lines where they begin.

    Empty lines are no rows, and lines that hold only delimiters neither, except `with_blank`.

    Raises
    ------
    DataError
        If the file is no CSV.
    """
    with long_cells(), text_of(source) as text:
        reader = csv.reader(islice(text, n_lines), delimiter=source.delimiter, strict=True)
        before, width = 0, 0
        try:
            for row in reader:
                is_below = before >= source.lines_above
                if row and is_below and (with_blank or width == 1 or any(map(str.strip, row))):
                    width = width or len(row)
                    yield row, before + 1
                before = reader.line_num
        except csv.Error as error:
            if UNCLOSED in str(error):
                said = "a quote in the row that begins here is never closed, expected CSV."
                raise UnclosedQuote(source.path, said, before + 1) from None
            raise DataError(source.path, f"{error}, expected CSV.", reader.line_num) from None


def first_rows(source: CsvFile) -> list[tuple[list[str], int]]:
    """Return the first rows of a CSV file, the names first, and the lines where they begin."""
    rows, characters = [], 0
    try:
        with closing(numbered_rows(source, n_lines=SAMPLE_LINES)) as numbered:
            for row, line in islice(numbered, 1 + SAMPLE_ROWS):
                rows.append((row, line))
                characters += sum(map(len, row))
                if characters > SAMPLE_CHARACTERS:
                    break
    except UnclosedQuote:  # perhaps only as so few lines were looked at
        if len(rows) < 2:
            raise
    return rows
