"""The lines of a CSV file by Python's own reader, and what may be wrong with its names.

It is slower than Arrow's, but knows the lines.
"""

import csv
from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import islice

from labelcover._arguments import parameter
from labelcover.datasets._text_format import (
    DELIMITERS,
    SAMPLE_ROWS,
    CsvFile,
    is_number_like,
    long_cells,
    text_of,
    usual_width,
)
from labelcover.tables import DataError

# What some files have between cells besides those that are found.
ODD_DELIMITERS = (*DELIMITERS, ":", "^", "~", "\x01", "\x1f", "§", "¦", " ")
# What Python's reader says where the file ends in a cell in quotes.
UNCLOSED = "unexpected end of data"
# So much of a file is looked at for its names and the types of its columns.
SAMPLE_LINES = 100_000
SAMPLE_CHARACTERS = 1 << 24


def hint(source: CsvFile, wanted: str = "") -> str:
    r"""Return what may be wrong if the names of the columns are not those expected; "" if nothing.

    Parameters
    ----------
    source : CsvFile
        The file, and how it was read.
    wanted : str
        The name that was not found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelcover.datasets._csv_lines import hint
    >>> from labelcover.datasets._text_format import CsvFile
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
    other = _other_delimiter(names, wanted)
    if usual > len(names):
        other = _regular_delimiter([source.delimiter.join(row) for row in rows])
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


def _regular_delimiter(lines: Sequence[str]) -> str | None:
    """Return what cuts the first line and most others into as many cells, None if nothing does."""
    for delimiter in ODD_DELIMITERS:
        widths = [line.count(delimiter) + 1 for line in lines]
        if widths[0] > 1 and 2 * widths.count(widths[0]) > len(lines):
            return delimiter
    return None


def _other_delimiter(names: Sequence[str], wanted: str) -> str | None:
    """Return by what else the names seem to be separated, None if by nothing."""
    for delimiter in ODD_DELIMITERS:
        for name in names:
            parts = [part.strip(' "') for part in name.split(delimiter)]
            if len(parts) > 1 and (wanted in parts or (len(names) == 1 and all(parts))):
                return delimiter
    return None


def looks_like_data(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a row of names has a number above numbers, or a value that recurs below."""
    rows = [row for row in below if len(row) == len(names)]
    for name, *cells in zip(names, *rows, strict=True):
        filled = [cell for cell in cells if cell.strip()]
        if filled and is_number_like(name) and all(map(is_number_like, filled)):
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
                if row and is_below and (with_blank or width == 1 or not is_blank(row)):
                    width = width or len(row)
                    yield row, before + 1
                before = reader.line_num
        except csv.Error as error:
            if UNCLOSED in str(error):
                said = "a quote in the row that begins here is never closed, expected CSV."
                raise UnclosedQuote(source.path, said, before + 1) from None
            raise DataError(source.path, f"{error}, expected CSV.", reader.line_num) from None


def is_blank(row: list[str]) -> bool:
    """Return whether no cell of a row holds anything."""
    return not any(cell and not cell.isspace() for cell in row)


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
