"""The rows of a CSV file by Python's own reader: slower than Arrow's, but it knows the lines."""

from __future__ import annotations

import csv
import os
from collections.abc import Generator
from contextlib import closing
from itertools import islice

from labelcover.datasets.dataset import DataError
from labelcover.datasets.text_format import SAMPLE_ROWS, TextFormat, long_cells, text_of

# What Python's reader says where the file ends in a cell in quotes.
UNCLOSED = "unexpected end of data"
# So much of a file is looked at for its names and the types of its columns.
SAMPLE_LINES = 100_000
SAMPLE_CHARACTERS = 1 << 24


class UnclosedQuote(DataError):
    """A CSV file that ends in a cell in quotes."""


def numbered_rows(
    path: str | os.PathLike[str],
    text_format: TextFormat,
    *,
    with_blank: bool = False,
    n_lines: int | None = None,
) -> Generator[tuple[list[str], int], None, None]:
    """Yield the rows of a CSV file, the names first if it has any, and the lines where they begin.

    Empty lines are no rows, and lines that hold only delimiters neither, except `with_blank`.

    Raises
    ------
    DataError
        If the file is no CSV.
    """
    with long_cells(), text_of(path, text_format) as text:
        reader = csv.reader(islice(text, n_lines), delimiter=text_format.delimiter, strict=True)
        before, width = 0, 0
        try:
            for row in reader:
                is_below = before >= text_format.lines_above
                if row and is_below and (with_blank or width == 1 or not is_blank(row)):
                    width = width or len(row)
                    yield row, before + 1
                before = reader.line_num
        except csv.Error as error:
            if UNCLOSED in str(error):
                said = "a quote in the row that begins here is never closed, expected CSV."
                raise UnclosedQuote(path, said, before + 1) from None
            raise DataError(path, f"{error}, expected CSV.", reader.line_num) from None


def is_blank(row: list[str]) -> bool:
    """Return whether no cell of a row holds anything."""
    return not any(cell and not cell.isspace() for cell in row)


def first_rows(
    path: str | os.PathLike[str], text_format: TextFormat
) -> list[tuple[list[str], int]]:
    """Return the first rows of a CSV file, the names first, and the lines where they begin."""
    rows, characters = [], 0
    try:
        with closing(numbered_rows(path, text_format, n_lines=SAMPLE_LINES)) as numbered:
            for row, line in islice(numbered, 1 + SAMPLE_ROWS):
                rows.append((row, line))
                characters += sum(map(len, row))
                if characters > SAMPLE_CHARACTERS:
                    break
    except UnclosedQuote:  # perhaps only as so few lines were looked at
        if len(rows) < 2:
            raise
    return rows
