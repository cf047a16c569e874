"""Tables as they lie in files, before any column is read for what it means; read and written."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from labelcover._files import replacing
from labelcover._safe_text import write_rows
from labelcover.datasets._csv_columns import check_names, read_columns
from labelcover.datasets._csv_lines import hint, numbered_rows
from labelcover.datasets._file_limits import (
    check_bytes,
    check_not_blank,
    check_ordinary,
    in_growing_blocks,
    opened,
    reason,
)
from labelcover.datasets._text_format import CsvFile, find_format, whole_lines
from labelcover.tables import (
    DataError,
    MissingColumn,
    Table,
    declared_categories,
    is_number,
    plain_columns,
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
    def decimal(self) -> str | None:  # type: ignore[override]
        """The decimal sign that was given, if any."""
        return None if self.source is None else self.source.decimal

    @property
    def name(self) -> str:
        """The name of the file without its folder and suffix."""
        return Path(self.path).name.removesuffix(suffix_of(self.path))

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
        except MissingColumn as error:
            if self.source is None:
                raise
            more = hint(self.source, error.name)
            text = f"{error.text.removesuffix('.')}{more}."
            raise MissingColumn(error.path, text, error.line, error.name) from None


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file, with what is before ``.gz``.

    Examples
    --------
    >>> from labelcover.datasets._raw_tables import suffix_of
    >>> suffix_of("tickets.2024.csv.gz"), suffix_of("tickets.CSV")
    ('.csv.gz', '.CSV')
    """
    suffixes = Path(path).suffixes
    many = 2 if suffixes and suffixes[-1].lower() == ".gz" else 1
    return "".join(suffixes[-many:])


def is_table(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is that of a table with named columns."""
    return suffix_of(path).lower() in KINDS


def is_csv(path: str | os.PathLike[str]) -> bool:
    """Return whether the suffix of a file is that of text with delimiters."""
    return KINDS.get(suffix_of(path).lower()) == CSV


def read_raw(
    path: str | os.PathLike[str], *, as_text: Collection[str] = (), **written: Any
) -> RawTable:
    """Return the columns of a CSV, Parquet or JSON lines file.

    Parameters
    ----------
    path : path-like
        The file; its suffix says what it is.
    as_text : collection of str
        Columns whose cells are strings, whatever they look like.
    **written : optional
        What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

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
    check_ordinary(path)
    Path(path).open("rb").close()  # a file that cannot be opened is not a damaged one
    if kind == CSV:
        source = find_format(path, **written)
        columns, notes = read_columns(source, as_text)
        table = RawTable(columns, path, source=source, notes=(*source.notes, *notes))
    else:
        read = _read_parquet if kind == PARQUET else read_json
        columns = read(path)
        check_names(path, columns.column_names)
        declared = tuple(set(declared_categories(columns)).difference(as_text))
        table = RawTable(plain_columns(columns, as_text), path, declared)
    if table.n_rows == 0:
        line = 1 if kind == CSV else None
        raise DataError(path, "no row follows the names, expected at least one.", line)
    return table


def _read_parquet(path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            found = file.metadata
            groups = (found.row_group(i) for i in range(found.num_row_groups))
            # Whatever is written once for many rows is a cell in each of them.
            row = sum(8 if is_number(field) else STRING_BYTES for field in file.schema_arrow)
            unpacked = max(row * found.num_rows, sum(group.total_byte_size for group in groups))
            size = f"a table of {found.num_rows} rows and {found.num_columns} columns"
            check_bytes(path, unpacked, size)
            return file.read()
    except (pa.ArrowException, OSError) as error:
        raise DataError(path, f"{reason(error)}, expected a Parquet file.") from None


def table_suffix(path: str | os.PathLike[str], like: str | os.PathLike[str] = "") -> str:
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
        return kept if kept in KINDS else ".csv"
    if suffix not in KINDS:
        raise ValueError(f"must end in one of {', '.join(KINDS)}, got {os.fspath(path)}.")
    return suffix


def write_table(
    path: str | os.PathLike[str],
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
            import pyarrow as pa
            from pyarrow import parquet

            parquet.write_table(pa.table(dict(columns)), temporary)
            return
        with _text_file(temporary, packed=suffix.endswith(".gz")) as file:
            if KINDS[suffix] == CSV:
                delimiter = "\t" if suffix.startswith(".tsv") else ","
                # A float is written with all the digits that tell it from its neighbours.
                rows = zip(*columns.values(), strict=True)
                write_rows(file, [columns, *rows], delimiter=delimiter, raw=raw)
            else:
                for row in zip(*columns.values(), strict=True):
                    line = dict(zip(columns, row, strict=True))
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")


@contextmanager
def _text_file(path: Path, *, packed: bool) -> Iterator[TextIO]:
    with ExitStack() as opened:
        file: Any = opened.enter_context(path.open("wb"))
        if packed:  # without name and time, so that equal tables are equal files
            file = opened.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        yield opened.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))


# Arrow needs ever longer for nested values, and crashes on some ten thousand levels.
DEEPEST = 100
# Arrow's bytes for each key in each line, whether the line has it or not.
CELL_BYTES = 16
STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.S)
KEY = re.compile(rb"(%b)\s*:" % STRING.pattern, re.S)
# A part of a line that does not end within a string, as a line may be very long.
PART = re.compile(rb'(?:[^"]{1,1000}+|%b){1,1000}+' % STRING.pattern, re.S)
OPENING = b"[{"
BRACKETS = OPENING + b"]}"
EXPECTED = "expected JSON lines, each an object with the same kinds of values"


def read_json(path: str | os.PathLike[str]) -> pa.Table:
    """Return the columns of a JSON lines file.

    Raises
    ------
    DataError
        If the file is no JSON lines, is nested too deeply, or has so many keys that a table of all
        lines and keys would take more memory than it may.
    """
    import pyarrow as pa
    from pyarrow import json

    _check(path)

    def read(block_size: int) -> pa.Table:
        with opened(path) as file:
            options = json.ReadOptions(block_size=block_size)
            return json.read_json(pa.PythonFile(file, "r"), options)

    try:
        return in_growing_blocks(read)
    except pa.ArrowException as error:
        # Arrow counts rows from 0, all other messages from 1.
        said = re.sub(r"in row (\d+)$", lambda row: f"in row {int(row[1]) + 1}", reason(error))
        raise DataError(path, f"{said}, {EXPECTED}.") from None


def _check(path: str | os.PathLike[str]) -> None:
    n_lines, keys = 0, set[bytes]()
    with opened(path) as file:
        for block in whole_lines(file):
            check_not_blank(path, block)
            _check_depth(path, block, n_lines)
            n_lines += block.count(b"\n")
            keys.update(found[1] for found in KEY.finditer(block))
            what = f"a table of {n_lines} lines and {len(keys)} keys"
            check_bytes(path, CELL_BYTES * max(1, n_lines) * len(keys), what)


def _check_depth(path: str | os.PathLike[str], block: bytes, n_lines: int) -> None:
    signs = _only(OPENING + b"\n", block)
    ends = np.append(np.flatnonzero(signs == ord("\n")), len(signs))
    n_opened = np.diff(ends, prepend=-1) - 1
    if n_opened.max() <= DEEPEST:
        return
    for number, (line, n) in enumerate(zip(block.split(b"\n"), n_opened, strict=True)):
        if n > DEEPEST and (depth := _depth(line)) > DEEPEST:
            said = f"values nested {depth} deep, expected at most {DEEPEST}."
            raise DataError(path, said, n_lines + number + 1)


def _depth(line: bytes) -> int:
    """Return how deep values are nested; brackets in strings do not count."""
    depth = deepest = 0
    for part in PART.finditer(line):
        signs = _only(BRACKETS, STRING.sub(b"", part[0]))
        if len(signs):
            depths = depth + np.cumsum(np.where(np.isin(signs, list(OPENING)), 1, -1))
            depth, deepest = int(depths[-1]), max(deepest, int(depths.max()))
    return deepest


def _only(signs: bytes, text: bytes) -> NDArray[np.uint8]:
    """Return the bytes of a text that are among some signs."""
    return np.frombuffer(text.translate(None, bytes(set(range(256)).difference(signs))), np.uint8)
