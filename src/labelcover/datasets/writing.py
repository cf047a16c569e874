"""Tables out: CSV, Parquet and JSON lines, by the suffix of the file."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

from labelcover._files import replacing
from labelcover._safe_text import write_rows
from labelcover.datasets.raw_tables import CSV, KINDS, PARQUET, suffix_of


def table_suffix(path: str | os.PathLike[str], like: str | os.PathLike[str] = "") -> str:
    """Return the suffix by which a table is written: that of `path`, else of `like`, else ``.csv``.

    Raises
    ------
    ValueError
        If `path` has a suffix that no table has.

    Examples
    --------
    >>> from labelcover.datasets.writing import table_suffix
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
