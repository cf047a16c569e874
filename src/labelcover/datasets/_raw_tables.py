"""Tables as they lie in files, before any column is read for what it means; read and written."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from labelcover._files import replacing
from labelcover._safe_text import write_rows
from labelcover.datasets._arrow_columns import (
    arrow_table,
    check_names,
    read_columns,
    read_json,
    read_json_array,
)
from labelcover.datasets._file_limits import (
    check_archive,
    check_bytes,
    check_ordinary,
    reason,
)
from labelcover.datasets._text_format import CsvFile, find_format, hint, numbered_rows
from labelcover.tables import AnyPath, Cells, DataError, Table, pa, plain_columns

CSV, PARQUET, JSON_LINES, JSON, EXCEL = "CSV", "Parquet", "JSON lines", "JSON", "Excel"
KINDS = {
    ".csv": CSV,
    ".tsv": CSV,
    ".csv.gz": CSV,
    ".tsv.gz": CSV,
    ".parquet": PARQUET,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".jsonl.gz": JSON_LINES,
    ".json": JSON,
    ".xlsx": EXCEL,
}
# What a prediction can be written as.
WRITTEN = {suffix: kind for suffix, kind in KINDS.items() if kind not in (JSON, EXCEL)}
SQL = "://"  # in the address of a database
STANDARD_INPUT = "-"
STRING_BYTES = 64  # of a cell that is no number, as an object of Python
FORMAT_OPTIONS = ("delimiter", "encoding", "decimal", "header")


@dataclass(frozen=True)
class RawTable(Table):
    """The columns of a file.

    Attributes
    ----------
    source : CsvFile or None
        How the file is written, if it is CSV.
    notes : tuple of str
        Sentences about what was read in an unusual way.
    """

    source: CsvFile | None = None
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the file without its folder and suffix."""
        file, sheet = of_sheet(self.path)
        return sheet or Path(file).name.removesuffix(suffix_of(file))

    def place(self, row: int) -> tuple[str, int | None]:
        """Return where a row is, in words and as the line of a CSV file."""
        if self.source is None:
            return super().place(row)
        row = row if self.rows is None else int(self.rows[row])
        # Cells may hold line breaks and lines may be empty, so the file is asked, when it matters.
        try:
            with closing(numbered_rows(self.source)) as rows:
                _, line = next(islice(rows, row + self.source.header, None))
        except DataError:  # Python's reader is stricter than Arrow's
            return f"row {row + 1}", None
        return f"line {line}", line

    def check_bytes(self, needed: int, what: str) -> None:
        """Raise a `DataError` if features would take more memory than the file may."""
        check_bytes(self.path, needed, what)

    @contextmanager
    def hinting(self) -> Iterator[None]:
        """Let the error of a column that is not there say what may be wrong with the file."""
        try:
            yield
        except DataError as error:
            if self.source is None or error.name is None:
                raise
            more = hint(self.source, error.name)
            text = f"{error.text.removesuffix('.')}{more}."
            raise DataError(error.path, text, error.line, error.name) from None


def suffix_of(path: AnyPath) -> str:
    """Return the suffix of a file, with what is before ``.gz``.

    Examples
    --------
    >>> from labelcover.datasets._raw_tables import suffix_of
    >>> suffix_of("tickets.2024.csv.gz"), suffix_of("tickets.CSV")
    ('.csv.gz', '.CSV')
    """
    suffixes = Path(of_sheet(path)[0]).suffixes
    many = 2 if suffixes and suffixes[-1].lower() == ".gz" else 1
    return "".join(suffixes[-many:])


def of_sheet(path: AnyPath) -> tuple[str, str | None]:
    """Return a file without, and with, what follows ``#``: a sheet of it, or a table.

    Examples
    --------
    >>> from labelcover.datasets._raw_tables import of_sheet
    >>> of_sheet("book.xlsx#May"), of_sheet("sqlite:///a.db#tickets"), of_sheet("no#1.csv")
    (('book.xlsx', 'May'), ('sqlite:///a.db', 'tickets'), ('no#1.csv', None))
    """
    text = os.fspath(path)
    found = re.fullmatch(r"(.*\.xlsx|[^#]*://[^#]*)#(.+)", text, re.I | re.S)
    return (found[1], found[2]) if found else (text, None)


def is_table(path: AnyPath) -> bool:
    """Return whether a name is that of a table with named columns: a file, or in a database."""
    return SQL in os.fspath(path) or suffix_of(path).lower() in KINDS


@cache
def local_file(source: str) -> str:
    """Return a file to read: ``-`` is standard input, kept as what it looks like.

    Raises
    ------
    DataError
        If nothing comes in.
    """
    if source != STANDARD_INPUT:
        return source
    import atexit
    import shutil
    import sys
    import tempfile

    content = sys.stdin.buffer.read()
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    kinds = {b"[": ".json", b"{": ".jsonl"}
    suffix = ".parquet" if content.startswith(b"PAR1") else kinds.get(start, ".csv")
    if not start:
        raise DataError(STANDARD_INPUT, "nothing came in, expected a table.")
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / f"standard-input{suffix}"
    path.write_bytes(content)
    return str(path)


def read_raw(path: AnyPath, *, as_text: Collection[str] = (), **written: Any) -> RawTable:
    """Return the columns of a CSV, Parquet, JSON or Excel file, or of a database.

    Parameters
    ----------
    path : path-like
        The file; its suffix says what it is. ``book.xlsx#name`` is a sheet, by default the first;
        ``sqlite:///file.db#table``, or a query after ``#``, and other addresses that SQLAlchemy
        knows are of databases.
    as_text : collection of str
        Columns whose cells are strings, whatever they look like.
    **written : optional
        What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

    Raises
    ------
    DataError
        If the file cannot be read, has no rows, or has columns of one name or of none.
    """
    kind = SQL if SQL in os.fspath(path) else KINDS.get(suffix_of(path).lower())
    given = [name for name in FORMAT_OPTIONS if written.get(name) is not None]
    if kind is None:
        raise DataError(path, f"unknown kind of file, expected one of {', '.join(KINDS)}.")
    if given and kind != CSV:
        text = f"{given[0]} is for CSV files only, got {given[0]}={written[given[0]]!r} for {path}."
        raise ValueError(text)
    if kind != SQL:
        check_ordinary(of_sheet(path)[0])
        open(of_sheet(path)[0], "rb").close()  # one that cannot be opened is not a damaged one
    if kind == CSV:
        source = find_format(path, **written)
        columns, notes = read_columns(source, as_text)
        notes = [*source.notes, *notes]
        table = RawTable(columns, path, decimal=source.decimal, source=source, notes=tuple(notes))
    else:
        try:
            columns = READERS[kind](path)
            check_names(_without_password(path), columns.column_names)
        except UnicodeDecodeError:  # by Arrow, which decodes names when they are asked for
            said = "the name of a column is not in UTF-8, expected text."
            raise DataError(_without_password(path), said) from None
        path = _without_password(path)
        columns, declared = plain_columns(columns, as_text)
        table = RawTable(columns, path, declared)
    if len(table) == 0:
        line = 1 if kind == CSV else None
        raise DataError(path, "no row follows the names, expected at least one.", line)
    return table


def _read_excel(path: AnyPath) -> pa.Table:
    file, sheet = of_sheet(path)
    import pandas as pd

    try:
        check_archive(file)
        return arrow_table(path, pd.read_excel(file, sheet_name=sheet or 0, engine="openpyxl"))
    except DataError:
        raise
    except (ValueError, KeyError, zipfile.BadZipFile) as error:
        raise DataError(path, f"{reason(error)}, expected a sheet of an Excel file.") from None


def _read_sql(path: AnyPath) -> pa.Table:
    url, what = of_sheet(path)
    path = _without_password(path)
    if what is None:
        raise DataError(path, "no table, expected its name, or a query, after a #.")
    import pandas as pd
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
        file = engine.url.database if engine.dialect.name == "sqlite" else None
        if file and not (file.startswith(("file:", ":memory:")) or os.path.exists(file)):
            raise ValueError("no such file")  # SQLite would make an empty one
        with engine.connect() as connection:
            if " " in what:
                if not re.match(r"\s*(select|with|values)\b", what, re.I):
                    raise ValueError("the query may change the database")
                if file:
                    connection.exec_driver_sql("PRAGMA query_only = ON")
                rows = pd.read_sql(sqlalchemy.text(what), connection)
            else:
                found = sqlalchemy.inspect(connection)
                names = [*found.get_table_names(), *found.get_view_names()]
                if what not in names:
                    raise ValueError(f"no {what!r} among {', '.join(names) or 'no tables'}")
                rows = pd.read_sql_table(what, connection)
    except (sqlalchemy.exc.SQLAlchemyError, pd.errors.DatabaseError, ValueError) as error:
        raise DataError(path, f"{reason(error)}, expected a table or a query.") from None
    return arrow_table(path, rows)


def _without_password(path: AnyPath) -> str:
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:***@", os.fspath(path))


def _read_parquet(path) -> pa.Table:
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            found = file.metadata
            groups = (found.row_group(i) for i in range(found.num_row_groups))
            # Whatever is written once for many rows is a cell in each of them.
            are_numbers = [Cells(field).is_number for field in file.schema_arrow]
            row = sum(8 if is_number else STRING_BYTES for is_number in are_numbers)
            unpacked = max(row * found.num_rows, sum(group.total_byte_size for group in groups))
            size = f"a table of {found.num_rows} rows and {found.num_columns} columns"
            check_bytes(path, unpacked, size)
            return file.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(path, f"{reason(error)}, expected a Parquet file.") from None


def table_suffix(path: AnyPath, like: AnyPath = "") -> str:
    """Return the suffix by which a table is written: that of `path`, else of `like`, else ``.csv``.

    Raises
    ------
    ValueError
        If `path` has a suffix that no table has.

    Examples
    --------
    >>> from labelcover.datasets._raw_tables import table_suffix
    >>> table_suffix("p.jsonl.gz"), table_suffix("p", like="rows.parquet"), table_suffix("p")
    ('.jsonl.gz', '.parquet', '.csv')
    """
    suffix = suffix_of(path).lower()
    if not suffix:
        kept = suffix_of(like).lower()
        return kept if kept in WRITTEN else ".csv"
    if suffix not in WRITTEN:
        raise ValueError(f"must end in one of {', '.join(WRITTEN)}, got {os.fspath(path)}.")
    return suffix


def write_table(
    path: AnyPath,
    columns: Mapping[str, Sequence[Any]],
    *,
    suffix: str = "",
    raw: bool = False,
) -> None:
    """Write columns of equal length to a file, which is replaced as a whole.

    Parameters
    ----------
    path : path-like
        The file.
    columns : mapping of str to sequence
        Strings and numbers; all columns of the same length.
    suffix : str
        What to write, as if `path` ended so. By default its own suffix says it.
    raw : bool
        Leave cells of CSV files that a spreadsheet would run as they are. By default these
        (``=1+1``) get an apostrophe, which `read_table` takes off again.
    """
    suffix = suffix or table_suffix(path)
    with replacing(path) as temporary:
        if KINDS[suffix] == PARQUET:
            from pyarrow import parquet

            parquet.write_table(pa.table(dict(columns)), temporary)
            return
        with ExitStack() as opened:
            binary: Any = opened.enter_context(temporary.open("wb"))
            if suffix.endswith(
                ".gz"
            ):  # without name and time, so that equal tables are equal files
                binary = opened.enter_context(gzip.GzipFile("", "wb", fileobj=binary, mtime=0))
            file = opened.enter_context(io.TextIOWrapper(binary, encoding="utf-8", newline=""))
            if KINDS[suffix] == CSV:
                delimiter = "\t" if suffix.startswith(".tsv") else ","
                # A float is written with all the digits that tell it from its neighbours.
                rows = zip(*columns.values(), strict=True)
                write_rows(file, [columns, *rows], delimiter=delimiter, raw=raw)
            else:
                for row in zip(*columns.values(), strict=True):
                    line = dict(zip(columns, row, strict=True))
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


READERS = {
    PARQUET: _read_parquet,
    JSON_LINES: read_json,
    JSON: read_json_array,
    EXCEL: _read_excel,
    SQL: _read_sql,
}
