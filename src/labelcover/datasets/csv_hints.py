"""What may be wrong with a CSV file in which a column is not found, and what helps."""

from __future__ import annotations

import os
from collections.abc import Sequence

from labelcover._arguments import parameter
from labelcover.datasets.csv_rows import first_rows
from labelcover.datasets.dataset import DataError
from labelcover.datasets.text_format import DELIMITERS, TextFormat, is_number_like, usual_width

# What some files have between cells besides those that are found.
ODD_DELIMITERS = (*DELIMITERS, ":", "^", "~", "\x01", "\x1f", "§", "¦", " ")


def hint(path: str | os.PathLike[str], text_format: TextFormat, wanted: str = "") -> str:
    r"""Return what may be wrong if the names of the columns are not those expected; "" if nothing.

    Parameters
    ----------
    path : path-like
    text_format : TextFormat
        How the file was read.
    wanted : str
        The name that was not found.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelcover.datasets.csv_hints import hint
    >>> from labelcover.datasets.text_format import TextFormat
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "t.csv"
    >>> _ = path.write_text("size:tags\n1:a\n2:b\n")
    >>> hint(path, TextFormat(), "tags")
    "; with delimiter=':' the file has 2 columns, size and tags among them"
    """
    try:
        rows = [row for row, _ in first_rows(path, text_format)]
    except DataError:
        return ""
    names, below = rows[0], rows[1:]
    usual = usual_width(rows)
    if any(cell[:1] == " " and cell.lstrip()[:1] == '"' for row in rows for cell in row):
        return "; blanks stand before quotes, which are then part of the cells: remove these blanks"
    other = _other_delimiter(names, wanted)
    if usual > len(names):
        other = _regular_delimiter([text_format.delimiter.join(row) for row in rows])
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
    if text_format.header and looks_like_data(names, below):
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
