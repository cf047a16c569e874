"""The columns of a CSV file, read by Arrow.

Only numbers that are beyond doubt are read as such: plain integers, and numbers with a decimal
point of which one cannot be a number with grouped thousands. All other cells stay strings.
"""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from labelcover._safe_text import MAYBE_GUARDED, unguarded
from labelcover.datasets._file_limits import BLOCK, in_growing_blocks, opened, reason
from labelcover.datasets._text_format import (
    CsvFile,
    UnclosedQuote,
    encoded,
    first_rows,
    hint,
    numbered_rows,
)
from labelcover.tables import (
    MISSING,
    UNNAMED,
    DataError,
    arrow_csv,
    is_text,
    pa,
    pc,
    shown,
    without_markers,
)

# No zero in front, which a number would lose: 01234 is a code.
INTEGER = r"-?(?:0|[1-9]\d{0,17})"
# Numbers by the decimal sign that was given; a point if none was.
NUMBER = {
    ".": r"-?(?:0|[1-9]\d*|(?:0|[1-9]\d*)?\.\d+)(?:[eE][-+]?\d{1,2})?",
    ",": r"-?(?:0|[1-9]\d*|(?:0|[1-9]\d*)?,\d+)(?:[eE][-+]?\d{1,2})?",
}
# What may be a whole number with a point between its thousands.
GROUPED = r"-?[1-9]\d{0,2}(?:\.\d{3})+"
NULLS = frozenset(form for marker in MISSING for form in (marker, marker.lower(), marker.upper()))
# Numbers are compared with all of these, which takes longer if some begin as numbers do.
QUICK_NULLS = sorted(marker for marker in NULLS if not marker.startswith(("-", ".", "1")))
LINE_BREAK = re.compile(r"\r\n|\r|\n")
SHOWN_LINES = 5


def read_columns(source: CsvFile, as_text: Collection[str] = ()) -> tuple[pa.Table, list[str]]:
    """Return the columns of a CSV file, and sentences on what was unusual about it.

    Parameters
    ----------
    source : CsvFile
        The file, and how it is written.
    as_text : collection of str
        Columns whose cells are strings, whatever they look like.

    Raises
    ------
    DataError
        If the file cannot be read, with the line.
    """
    names, unnamed, skipped, rows = _head(source)
    types = {name: pa.string() for name in names}
    cells_of = {name: cells for name, *cells in zip(names, *rows, strict=True)}
    numbers = {}
    for name in set(names).difference(as_text):
        filled = pa.array([None if cell in NULLS else cell for cell in cells_of[name]], pa.string())
        if (kind := _type_of(filled, source.decimal)) is not None:
            numbers[name] = kind
    slow = NULLS.difference(QUICK_NULLS)
    typed = {name: kind for name, kind in numbers.items() if slow.isdisjoint(cells_of[name])}
    if pa.int64() in typed.values() and _may_hold_codes(source):
        typed = {name: kind for name, kind in typed.items() if kind != pa.int64()}
    blank = [0]
    # Arrow is quicker, and does not keep the text, if it need not find out what columns hold.
    try:
        columns = _arrow_csv(source, skipped, types | typed, blank)
    except pa.ArrowException:
        # Some row has another number of cells, or a column that looked like numbers holds others.
        try:
            columns = _arrow_csv(source, skipped, types, blank)
        except pa.ArrowException as error:
            raise _csv_error(source, len(names), error) from None
    made = {name: columns.column(j) for j, name in enumerate(names)}
    notes = _drop_unnamed(source.path, made, unnamed, skipped)
    for name, column in made.items():
        if is_text(column):
            column = without_markers(column)
            column = _as_numbers(column, source.decimal) if name in numbers else column
            made[name] = _unguarded(column)
    columns = pa.table(made)
    _check_last_quote(source, columns)
    columns, said = _without_blank_rows(source, skipped, columns, blank[0] > 0)
    pa.default_memory_pool().release_unused()  # as much as the table, which encoding will need
    return columns, [*notes, *said]


def _head(source: CsvFile) -> tuple[list[str], list[str], int, list[list[str]]]:
    """Return the names of the columns, which of them were made up, and the first rows.

    Before the rows is the number of lines above them.
    """
    first = first_rows(source)
    if not first:
        raise DataError(source.path, "the file is empty, expected a line of column names.", 1)
    (names, line), rows = first[0], [row for row, _ in first[1:]]
    if not source.header:
        names = [f"column {j + 1}" for j in range(len(names))]
        return names, [], line - 1, [row for row, _ in first if len(row) == len(names)]
    names = [unguarded(name.strip()) for name in names]
    unnamed = [f"column {j + 1}" for j, name in enumerate(names) if j and not name]
    names = [name or f"column {j + 1}" for j, name in enumerate(names)]
    try:
        names = check_names(source.path, names, line)
    except DataError as error:
        text = error.text.removesuffix(".") + hint(source)
        raise DataError(source.path, f"{text}.", line) from None
    if len(first) == 1:
        raise DataError(source.path, "no row follows the names, expected at least one.", line)
    breaks = sum(len(LINE_BREAK.findall(name)) for name in first[0][0])
    return names, unnamed, line + breaks, [row for row in rows if len(row) == len(names)]


def _drop_unnamed(
    path: str | os.PathLike[str], columns: dict[str, Any], unnamed: Sequence[str], line: int
) -> list[str]:
    """Remove empty columns without a name, which spreadsheets leave behind, and say so.

    Raises
    ------
    DataError
        If such a column is not empty.
    """
    for name in unnamed:
        if columns.pop(name).drop_null():
            raise DataError(path, f"{name} has no name, expected one.", line)
    if not unnamed:
        return []
    one = "has no name, is empty and was" if len(unnamed) == 1 else "have no name, are empty, were"
    return [f"{', '.join(unnamed).capitalize()} {one} left out."]


def check_names(
    path: str | os.PathLike[str], names: Sequence[str], line: int | None = None
) -> list[str]:
    """Return the names of the columns; the first is `UNNAMED` if it has none.

    Raises
    ------
    DataError
        If another column has no name, or two have the same.
    """
    if not names:
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    names = list(names)
    if not names[0].strip():
        names[0] = UNNAMED
    places = {name: j for j, name in reversed(list(enumerate(names)))}
    for j, name in enumerate(names):
        if not name.strip():
            raise DataError(path, f"column {j + 1} has no name, expected one.", line)
        if places[name] != j:
            where = f"as column {places[name] + 1} and column {j + 1}"
            text = f"column {name!r} is there twice, expected once; it is there {where}."
            raise DataError(path, text, line)
    return names


def _type_of(column: pa.ChunkedArray, decimal: str | None) -> pa.DataType | None:
    """Return the type of a column of strings that are all numbers beyond doubt, else None."""
    if column.null_count == len(column):
        return None
    if _every(column, INTEGER):
        return pa.int64()
    if not _every(column, NUMBER[decimal or "."]):
        return None
    return pa.float64() if decimal or not _every(column, f"{INTEGER}|{GROUPED}") else None


def _every(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(column, rf"\A(?:{pattern})\z")).as_py())


def _may_hold_codes(source: CsvFile) -> bool:
    """Return whether some cell of a file begins with a zero before another digit.

    Arrow would read such a cell of a column of integers without a word.
    """
    if "0,\n".encode(source.encoding) != b"0,\n":
        return True  # which is slower, but right
    starts = np.frombuffer(source.delimiter.encode(source.encoding) + b'\r\n" ', np.uint8)
    with opened(source.path) as file:
        last = b""
        while block := file.read(BLOCK):
            signs = np.frombuffer(last + block, np.uint8)
            digits = signs - np.uint8(ord("0")) < 10
            zero = (signs[1:-1] == ord("0")) & digits[2:] & ~digits[:-2]
            if np.isin(signs[:-2][zero], starts).any():
                return True
            last = block[-2:]
    return False


def _as_numbers(column: pa.ChunkedArray, decimal: str | None) -> pa.ChunkedArray:
    """Return a column of strings as numbers if all its cells are that beyond doubt."""
    kind = _type_of(column, decimal)
    if kind is None:
        return column
    return (pc.replace_substring(column, ",", ".") if decimal == "," else column).cast(kind)


def _unguarded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column without the apostrophes before what a spreadsheet would run."""
    if not is_text(column) or not pc.any(pc.match_substring_regex(column, MAYBE_GUARDED)).as_py():
        return column
    cells = [cell and unguarded(cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(cells, pa.string())])


def _arrow_csv(source: CsvFile, skipped: int, types: dict[str, Any], blank: list[int]) -> pa.Table:
    def of_another_width(row: Any) -> str:
        is_row = row.text.replace(source.delimiter, "").strip()
        blank[0] += not is_row
        return "error" if is_row else "skip"

    parsing = arrow_csv.ParseOptions(
        delimiter=source.delimiter,
        newlines_in_values=True,
        invalid_row_handler=of_another_width,
    )
    converting = arrow_csv.ConvertOptions(
        null_values=QUICK_NULLS,
        strings_can_be_null=True,
        decimal_point=source.decimal or ".",
        column_types=types,
    )

    def read(block_size: int) -> pa.Table:
        reading = arrow_csv.ReadOptions(
            column_names=list(types),
            skip_rows=skipped,
            use_threads=pa.cpu_count() > 1,
            block_size=block_size,
        )
        with encoded(source) as (stream, encoding):
            if encoding not in ("utf-8", "utf-8-sig"):  # Arrow passes over the mark
                stream = pa.transcoding_input_stream(pa.PythonFile(stream, "r"), encoding, "utf-8")
            return arrow_csv.read_csv(stream, reading, parsing, converting)

    return in_growing_blocks(read)


def _csv_error(source: CsvFile, width: int, error: Exception) -> DataError:
    """Return what is wrong with a CSV file, with the line where it is if Python's reader sees it.

    Arrow reads in blocks and does not know the line.
    """
    try:
        with closing(numbered_rows(source)) as rows:
            _, first = next(rows)
            for row, line in rows:
                if len(row) != width:
                    cells = "1 cell" if len(row) == 1 else f"{len(row)} cells"
                    text = f"{cells}, expected {width} as in line {first}"
                    is_last = len(row) < width and next(rows, None) is None
                    below = "; if this is a note below the table, remove it" if is_last else ""
                    return DataError(source.path, f"{text}{below or hint(source)}.", line)
    except DataError as found:
        return found
    return DataError(source.path, f"{reason(error)}, expected CSV.")


def _check_last_quote(source: CsvFile, columns: pa.Table) -> None:
    """Raise a `DataError` if the last cell holds all lines after a quote that is never closed.

    Arrow takes the end of the file for the end of such a cell.
    """
    last = columns.column(columns.num_columns - 1)
    cell = last[-1].as_py() if columns.num_rows and is_text(last) else None
    if cell is not None and "\n" in cell.rstrip("\r\n"):
        try:
            with closing(numbered_rows(source)) as rows:
                deque(rows, maxlen=0)
        except UnclosedQuote:
            raise
        except DataError:  # Python's reader is stricter than Arrow's
            pass


def _without_blank_rows(
    source: CsvFile, skipped: int, columns: pa.Table, some_skipped: bool
) -> tuple[pa.Table, list[str]]:
    """Return the rows that are not made of delimiters only, and a sentence on those that are."""
    empty = np.ones(columns.num_rows, dtype=bool)
    for column in columns.columns:
        empty &= column.is_null().to_numpy() if column.null_count else False
        if not empty.any():
            break
    width = columns.num_columns
    if not (empty.any() or some_skipped) or width == 1:
        return columns, []
    blank, lines, at = empty.copy(), [], 0
    try:
        with closing(numbered_rows(source, with_blank=True)) as rows:
            for row, line in rows:
                if line <= skipped:
                    continue
                if not any(map(str.strip, row)):
                    lines.append(line)
                elif at < len(empty):  # of missing values, but a row
                    blank[at] = False
                at += len(row) == width
    except DataError:  # Python's reader is stricter than Arrow's
        pass
    if not lines:
        return columns, []
    named = shown([str(line) for line in lines], SHOWN_LINES)
    said = f"{len(lines)} lines hold delimiters only and are no rows: {named}."
    if len(lines) == 1:
        said = f"Line {lines[0]} holds delimiters only and is no row."
    return columns.filter(pa.array(~blank)), [said]
