"""The columns of CSV and JSON files, read by Arrow.

Only numbers of CSV that are beyond doubt are read as such: plain integers, and numbers with a
decimal point of which one cannot be a number with grouped thousands. All other cells stay strings.
Of JSON, lines or an array, what would take Arrow too far is looked for first.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from labelcover._safe_text import MAYBE_GUARDED, unguarded
from labelcover.datasets._file_limits import (
    BLOCK,
    check_bytes,
    check_not_blank,
    in_growing_blocks,
    opened,
    reason,
    whole_lines,
)
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
    AnyPath,
    Cells,
    DataError,
    as_table,
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
# Arrow needs ever longer for nested values, and crashes on some ten thousand levels.
DEEPEST = 100
# Arrow's bytes for each key in each line, whether the line has it or not.
CELL_BYTES = 16
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.S)
KEY = re.compile(rb"(%b)\s*:" % STRING.pattern, re.S)
# A part of a line that does not end within a string, as a line may be very long.
PART = re.compile(rb'(?:[^"]{1,1000}+|%b){1,1000}+' % STRING.pattern, re.S)
NO_BRACKETS = bytes(set(range(256)).difference(b"[{]}"))
EXPECTED = "expected JSON lines, each an object with the same kinds of values"
VALUE_BYTES = 8  # of Python, for each byte of an array


def read_columns(source: CsvFile, as_text: Collection[str] = ()) -> tuple[pa.Table, list[str]]:
    """Return the columns of a CSV file, and sentences on what was unusual about it.

    Cells of the columns `as_text` are strings, whatever they look like.

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
    notes = []
    for name in unnamed:  # empty columns, which spreadsheets leave behind
        if made.pop(name).drop_null():
            raise DataError(source.path, f"{name} has no name, expected one.", skipped)
    if unnamed:
        one = len(unnamed) == 1
        are = "has no name, is empty and was" if one else "have no name, are empty, were"
        notes = [f"{', '.join(unnamed).capitalize()} {are} left out."]
    for name, column in made.items():
        if Cells(column).is_text:
            made[name] = _settled(column, source.decimal, name in numbers)
    columns = pa.table(made)
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


def check_names(path: AnyPath, names: Sequence[str], line: int | None = None) -> list[str]:
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
    cells = Cells(column)
    if cells.all_match(rf"\A(?:{INTEGER})\z"):
        return pa.int64()
    if not cells.all_match(rf"\A(?:{NUMBER[decimal or '.']})\z"):
        return None
    may_be_grouped = not decimal and cells.all_match(rf"\A(?:{INTEGER}|{GROUPED})\z")
    return None if may_be_grouped else pa.float64()


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


def _settled(column: pa.ChunkedArray, decimal: str | None, may_be_numbers: bool) -> pa.ChunkedArray:
    """Return a column of strings as numbers if it may be and all its cells are that beyond doubt.

    Else without the apostrophes before what a spreadsheet would run; null for all that means no
    value.
    """
    column = without_markers(column)
    kind = _type_of(column, decimal) if may_be_numbers else None
    if kind is not None:
        return (pc.replace_substring(column, ",", ".") if decimal == "," else column).cast(kind)
    if not Cells(column).any_match(MAYBE_GUARDED):
        return column
    cells = [cell and unguarded(cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(cells, pa.string())])


def _arrow_csv(source: CsvFile, skipped: int, types: dict[str, Any], blank: list[int]) -> pa.Table:
    import pyarrow.csv as arrow_csv

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


def _without_blank_rows(
    source: CsvFile, skipped: int, columns: pa.Table, some_skipped: bool
) -> tuple[pa.Table, list[str]]:
    """Return the rows that are not made of delimiters only, and a sentence on those that are.

    Raises a `DataError` if the last cell holds all lines after a quote that is never closed: Arrow
    takes the end of the file for the end of such a cell.
    """
    width, last = columns.num_columns, Cells(columns.column(columns.num_columns - 1))
    cell = last.column[-1].as_py() if columns.num_rows and last.is_text else None
    may_be_open = cell is not None and "\n" in cell.rstrip("\r\n")
    empty = np.ones(columns.num_rows, dtype=bool)
    for column in columns.columns:
        empty &= column.is_null().to_numpy() if column.null_count else False
        if not empty.any():
            break
    may_be_blank = (empty.any() or some_skipped) and width > 1
    if not (may_be_blank or may_be_open):
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
    except DataError as error:  # Python's reader is stricter than Arrow's
        if may_be_open and isinstance(error, UnclosedQuote):
            raise
    if not lines or not may_be_blank:
        return columns, []
    named = shown([str(line) for line in lines], SHOWN_LINES)
    said = f"{len(lines)} lines hold delimiters only and are no rows: {named}."
    if len(lines) == 1:
        said = f"Line {lines[0]} holds delimiters only and is no row."
    return columns.filter(pa.array(~blank)), [said]


def read_json(path: AnyPath) -> pa.Table:
    """Return the columns of a JSON lines file.

    Raises
    ------
    DataError
        If the file is no JSON lines, is nested too deeply, or has so many keys that a table of all
        lines and keys would take more memory than it may.
    """
    import pyarrow.json as arrow_json

    _check_keys(path)

    def read(block_size: int) -> pa.Table:
        with opened(path) as file:
            options = arrow_json.ReadOptions(block_size=block_size)
            return arrow_json.read_json(pa.PythonFile(file, "r"), options)

    try:
        return in_growing_blocks(read)
    except pa.ArrowException as error:
        # Arrow counts rows from 0, all other messages from 1.
        said = re.sub(r"in row (\d+)$", lambda row: f"in row {int(row[1]) + 1}", reason(error))
        raise DataError(path, f"{said}, {EXPECTED}.") from None


def _check_keys(path: AnyPath) -> None:
    n_lines, keys = 0, set[bytes]()
    with opened(path) as file:
        for block in whole_lines(file):
            check_not_blank(path, block)
            for number, line in enumerate(block.split(b"\n"), start=n_lines + 1):
                may_be_deep = line.count(b"[") + line.count(b"{") > DEEPEST
                if may_be_deep and (depth := _depth(line)) > DEEPEST:
                    said = f"values nested {depth} deep, expected at most {DEEPEST}."
                    raise DataError(path, said, number)
            n_lines += block.count(b"\n")
            keys.update(found[1] for found in KEY.finditer(block))
            what = f"a table of {n_lines} lines and {len(keys)} keys"
            check_bytes(path, CELL_BYTES * max(1, n_lines) * len(keys), what)


def _depth(line: bytes) -> int:
    """Return how deep values are nested; brackets in strings do not count."""
    depth = deepest = 0
    for part in PART.finditer(line):
        signs = np.frombuffer(STRING.sub(b"", part[0]).translate(None, NO_BRACKETS), np.uint8)
        if len(signs):
            depths = depth + np.cumsum(np.where(np.isin(signs, list(b"[{")), 1, -1))
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest


def read_json_array(path: AnyPath) -> pa.Table:
    """Return the columns of a JSON file that holds a list of objects."""
    check_bytes(path, VALUE_BYTES * os.stat(path).st_size, "its values")
    try:
        rows = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataError(path, f"{reason(error)}, expected a JSON array of objects.") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(path, "no list of objects, expected a JSON array of objects.")
    return arrow_table(path, rows)


def arrow_table(path: AnyPath, rows: Any) -> pa.Table:
    """Return rows of a file, a frame or a list of objects, as columns."""
    if not len(rows):
        raise DataError(path, "no row follows the names, expected at least one.")
    try:
        return as_table(rows).columns
    except DataError as error:
        raise DataError(path, error.text) from None
