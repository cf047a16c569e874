"""Tables as they lie in files, before any column is read for what it means."""

from __future__ import annotations

import csv
import io
import os
import re
from collections import deque
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover._spreadsheet_cells import MAYBE_GUARDED, unguarded
from labelcover.datasets.cell_values import CODE, is_text
from labelcover.datasets.dataset import DataError
from labelcover.datasets.text_format import (
    WITH_COMMA,
    WITH_POINT,
    TextFormat,
    find_format,
    opened,
)

if TYPE_CHECKING:
    import pyarrow as pa

CSV, PARQUET, JSON_LINES = "CSV", "Parquet", "JSON lines"
KINDS = {
    ".csv": CSV,
    ".tsv": CSV,
    ".csv.gz": CSV,
    ".tsv.gz": CSV,
    ".parquet": PARQUET,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".jsonl.gz": JSON_LINES,
}
#: Cells that mean: no value.
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "#N/A", "?"]
TRUE = ["true", "True", "TRUE", "yes", "Yes", "YES", "1"]
FALSE = ["false", "False", "FALSE", "no", "No", "NO", "0"]
#: What the first column is called if it has no name: pandas writes the numbers of rows there.
UNNAMED = "column 1"
FIRST_ROWS = 20
# What Python's reader says where the file ends in a cell in quotes.
UNCLOSED = "unexpected end of data"
INTEGER = re.compile(r"-?\d{1,18}")
FORMAT_OPTIONS = ("delimiter", "encoding", "decimal")


class UnclosedQuote(DataError):
    """A CSV file that ends in a cell in quotes."""


@dataclass(frozen=True)
class RawTable:
    """The columns of a file.

    Attributes
    ----------
    path : path-like
        The file.
    columns : pyarrow.Table
        Types as the file says, or as its cells are.
    text_format : TextFormat or None
        How the file is written, if it is CSV.
    """

    path: str | os.PathLike[str]
    columns: pa.Table
    text_format: TextFormat | None = None

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns.column_names)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.columns.num_rows)

    @property
    def name(self) -> str:
        """The name of the file without its folder and suffix."""
        return Path(self.path).name.removesuffix(suffix_of(self.path))

    def place(self, row: int) -> tuple[str, int | None]:
        """Return where a row is, in words and as the line of a CSV file."""
        if self.text_format is None:
            return f"row {row + 1}", None
        # Cells may hold line breaks and lines may be empty, so the file is asked, when it matters.
        try:
            with closing(_numbered_rows(self)) as rows:
                _, line = next(islice(rows, row + 1, None))
        except DataError:  # Python's reader is stricter than Arrow's, say on very long cells
            return f"row {row + 1}", None
        return f"line {line}", line

    def error(self, text: str, row: int) -> DataError:
        """Return an error about a row; ``{place}`` in `text` is where it is."""
        words, line = self.place(row)
        if line is not None:
            return DataError(self.path, text.replace(" in {place}", ""), line)
        return DataError(self.path, text.replace("{place}", words))


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file, with what is before ``.gz``.

    Examples
    --------
    >>> from labelcover.datasets.raw_tables import suffix_of
    >>> suffix_of("tickets.2024.csv.gz"), suffix_of("tickets.CSV")
    ('.csv.gz', '.CSV')
    """
    suffixes = Path(path).suffixes
    many = 2 if suffixes and suffixes[-1].lower() == ".gz" else 1
    return "".join(suffixes[-many:])


def is_table(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is that of a table with named columns."""
    return suffix_of(path).lower() in KINDS


def read_raw(
    path: str | os.PathLike[str], *, as_text: Collection[str] = (), **written: str | None
) -> RawTable:
    """Return the columns of a CSV, Parquet or JSON lines file.

    Parameters
    ----------
    path : path-like
        The file; its suffix says what it is.
    as_text : collection of str
        Columns whose cells are strings, whatever they look like.
    **written : str, optional
        What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``.

    Raises
    ------
    DataError
        If the file cannot be read, has no rows, or has columns of one name or of none.
    """
    kind = KINDS.get(suffix_of(path).lower())
    given = [name for name in FORMAT_OPTIONS if written.get(name) is not None]
    if kind is None:
        raise DataError(path, f"unknown kind of file, expected one of {', '.join(KINDS)}.")
    if given and kind != CSV:
        raise ValueError(
            f"{given[0]} is for CSV files only, got {given[0]}={written[given[0]]!r} for {path}."
        )
    Path(path).open("rb").close()  # a file that cannot be opened is not a damaged one
    if kind == CSV:
        table = _read_csv(path, as_text, find_format(path, **written))
    else:
        read = _read_parquet if kind == PARQUET else _read_json
        table = RawTable(path, _plain(read(path), as_text))
        _check_names(path, table.names, None)
    if table.n_rows == 0:
        line = 1 if kind == CSV else None
        raise DataError(path, "no row follows the names, expected at least one.", line)
    return table


def _read_csv(path, as_text, text_format: TextFormat) -> RawTable:
    import pyarrow as pa

    table = RawTable(path, None, text_format)
    names = _check_names(path, _header(table), 1)
    text = {name: pa.string() for name in as_text if name in names}
    # Arrow is quicker, and does not keep the text, if it need not find out what columns hold.
    try:
        columns = _arrow_csv(path, text_format, names, {**_numbers(table, names), **text})
    except pa.ArrowException:
        # Some row has another number of cells, or a column that looked like numbers holds others.
        try:
            columns = _arrow_csv(path, text_format, names, text)
        except pa.ArrowException as error:
            raise _csv_error(table, len(names), error) from None
    table = RawTable(path, _unguarded(columns), text_format)
    _check_last_quote(table)
    pa.default_memory_pool().release_unused()  # as much as the table, which encoding will need
    return table


def _unguarded(columns: pa.Table) -> pa.Table:
    """Return the columns without the apostrophes before what a spreadsheet would run."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for j, column in enumerate(columns.columns):
        if is_text(column) and pc.any(pc.match_substring_regex(column, MAYBE_GUARDED)).as_py():
            cells = [cell and unguarded(cell) for cell in column.to_pylist()]
            columns = columns.set_column(j, columns.field(j), pa.array(cells, pa.string()))
    return columns


def _check_last_quote(table: RawTable) -> None:
    """Raise a `DataError` if the last cell holds all lines after a quote that is never closed.

    Arrow takes the end of the file for the end of such a cell.
    """
    last = table.columns.column(table.columns.num_columns - 1)
    cell = last[-1].as_py() if table.n_rows and is_text(last) else None
    if cell is not None and "\n" in cell.rstrip("\r\n"):
        try:
            with closing(_numbered_rows(table)) as rows:
                deque(rows, maxlen=0)
        except UnclosedQuote:
            raise
        except DataError:  # Python's reader is stricter than Arrow's
            pass


def _arrow_csv(path, text_format: TextFormat, names: list[str], types: dict[str, Any]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with opened(path) as file:
        stream: Any = file
        if text_format.encoding not in ("utf-8", "utf-8-sig"):  # Arrow passes over the mark
            stream = pa.transcoding_input_stream(
                pa.PythonFile(file, "r"), text_format.encoding, "utf-8"
            )
        return arrow_csv.read_csv(
            stream,
            arrow_csv.ReadOptions(
                column_names=names, skip_rows_after_names=1, use_threads=pa.cpu_count() > 1
            ),
            arrow_csv.ParseOptions(delimiter=text_format.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                null_values=MISSING,
                true_values=TRUE,
                false_values=FALSE,
                strings_can_be_null=True,
                decimal_point=text_format.decimal,
                column_types=types,
            ),
        )


def _numbers(table: RawTable, names: list[str]) -> dict[str, pa.DataType]:
    """Return the types of the columns whose first cells are all numbers or all codes, filled."""
    import pyarrow as pa

    assert table.text_format is not None
    fraction = WITH_COMMA if table.text_format.decimal == "," else WITH_POINT
    with closing(_numbered_rows(table)) as numbered:
        rows = [row for row, _ in islice(numbered, 1, 1 + FIRST_ROWS) if len(row) == len(names)]
    types = {}
    for name, *cells in zip(names, *rows, strict=True):
        whole = [INTEGER.fullmatch(cell) is not None for cell in cells]
        if all(whole) and any(map(CODE.fullmatch, cells)):
            types[name] = pa.string()
        elif cells and all(w or fraction.fullmatch(c) for c, w in zip(cells, whole, strict=True)):
            types[name] = pa.int64() if all(whole) else pa.float64()
    return types


def _header(table: RawTable) -> list[str]:
    with closing(_numbered_rows(table)) as rows:
        return [unguarded(name.strip()) for name in next(rows, ([], 1))[0]]


def _numbered_rows(table: RawTable) -> Generator[tuple[list[str], int], None, None]:
    """Yield the rows of a CSV file, the names first, by Python's own reader, and their lines."""
    text_format = table.text_format
    assert text_format is not None
    encoding = "utf-8-sig" if text_format.encoding == "utf-8" else text_format.encoding
    with (
        opened(table.path) as raw,
        io.TextIOWrapper(raw, encoding, errors="replace", newline="") as text,
    ):
        reader = csv.reader(text, delimiter=text_format.delimiter, strict=True)
        before = 0
        try:
            for row in reader:
                if row:
                    yield row, before + 1
                before = reader.line_num
        except csv.Error as error:
            if UNCLOSED in str(error):
                said = "a quote in the row that begins here is never closed, expected CSV."
                raise UnclosedQuote(table.path, said, before + 1) from None
            raise DataError(table.path, f"{error}, expected CSV.", reader.line_num) from None


def _csv_error(table: RawTable, width: int, error: Exception) -> DataError:
    """Return what is wrong with a CSV file, with the line where it is if Python's reader sees it.

    Arrow reads in blocks and does not know the line.
    """
    try:
        with closing(_numbered_rows(table)) as rows:
            for row, line in rows:
                if len(row) != width:
                    text = f"{len(row)} cells, expected {width} as in line 1."
                    return DataError(table.path, text, line)
    except DataError as found:
        return found
    return DataError(table.path, f"{_reason(error)}, expected CSV.")


def _read_parquet(path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        return parquet.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(path, f"{_reason(error)}, expected a Parquet file.") from None


def _read_json(path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import json

    with opened(path) as file:
        try:
            return json.read_json(pa.PythonFile(file, "r"))
        except pa.ArrowException as error:
            expected = "expected JSON lines, each an object with the same kinds of values"
            # Arrow counts rows from 0, all other messages from 1.
            reason = re.sub(
                r"in row (\d+)$", lambda row: f"in row {int(row[1]) + 1}", _reason(error)
            )
            raise DataError(path, f"{reason}, {expected}.") from None


def _plain(columns: pa.Table, as_text: Collection[str]) -> pa.Table:
    """Return the table with dictionaries decoded, one type of strings, and columns as text."""
    import pyarrow as pa

    for j, field in enumerate(columns.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if field.name in as_text and not pa.types.is_nested(kind):
            kind = pa.string()
        if kind != field.type:
            with suppress(pa.ArrowInvalid):  # bytes that are no text stay what they are
                columns = columns.set_column(j, field.name, columns.column(j).cast(kind))
    return columns


def _reason(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")


def _check_names(path, names: Sequence[str], line: int | None) -> list[str]:
    if not names:
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    names = list(names)
    if not names[0].strip():
        names[0] = UNNAMED
    places: Mapping[str, int] = {name: j for j, name in reversed(list(enumerate(names)))}
    for j, name in enumerate(names):
        if not name.strip():
            raise DataError(path, f"column {j + 1} has no name, expected one.", line)
        if places[name] != j:
            where = f"as column {places[name] + 1} and column {j + 1}"
            text = f"column {name!r} is there twice, expected once; it is there {where}."
            raise DataError(path, text, line)
    return names
