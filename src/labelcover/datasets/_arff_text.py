"""The text of an ARFF file: header and rows to numbers.

The header is read by liac-arff. Plain rows (numbers, declared values, ``?``) are read here, so that
a mistake is told with its line, attribute and value, straight into the arrays (one to three times
as fast, ``benchmarks/bench_arff.py``); rows with quotes or escapes are left to liac-arff.
"""

import os
import re
from array import array
from collections.abc import Callable
from dataclasses import dataclass

import arff
import numpy as np
from scipy import sparse

from labelcover.datasets._file_limits import read_bytes
from labelcover.tables import DataError, Features

MISSING = float("nan")
# MEKA writes remarks behind the relation's name, which liac-arff does not accept.
RELATION = re.compile(
    r"""^(@relation\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s%]+))\s*(%.*)?$""", re.I
)


@dataclass(frozen=True)
class Attribute:
    """A column: nominal if it has `values`, text (never read), else numeric."""

    name: str
    values: tuple[str, ...] | None
    line: int
    is_text: bool = False


@dataclass(frozen=True)
class ArffTable:
    """All columns of an ARFF file, nominal values as positions among the declared ones."""

    relation: str
    attributes: list[Attribute]
    cells: Features
    lines: list[int]  # of each row


def read_arff_table(path: str | os.PathLike[str]) -> ArffTable:
    """Return every column of an ARFF file, dense or sparse."""
    lines = _text(path).splitlines()
    at = next((i for i, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    if at is None:
        raise DataError(path, "the file ends before @data, expected a header and rows.", len(lines))
    relation, attributes = _header(path, lines[:at])
    rows = [
        (number, line)
        for number, line in enumerate(map(str.strip, lines[at + 1 :]), start=at + 2)
        if line and line[0] != "%"
    ]
    if not rows:
        raise DataError(path, "no row follows @data, expected at least one.", at + 1)
    is_sparse = rows[0][1][0] == "{"
    for number, line in rows:
        if (line[0] == "{") != is_sparse:
            raise DataError(path, "dense and sparse rows are mixed, expected one kind.", number)
    read = _sparse_cells if is_sparse else _dense_cells
    header = lines[: at + 1]
    return ArffTable(
        relation, attributes, read(path, header, attributes, rows), [n for n, _ in rows]
    )


def _text(path):
    raw = read_bytes(path)
    if b"\0" in raw:
        raise DataError(
            path, "not a text file, expected ARFF.", raw[: raw.index(b"\0")].count(b"\n") + 1
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _header(path, lines):
    numbered = [(i, _plain(line)) for i, line in enumerate(lines, start=1) if line.strip()]
    declared = [(i, line) for i, line in numbered if not line.startswith("%")]
    if not declared or not declared[0][1].lower().startswith("@relation"):
        line = declared[0][0] if declared else 1
        raise DataError(path, "no @relation, expected an ARFF header.", line)
    for number, text in declared[1:]:
        if not text.lower().startswith("@attribute"):
            raise DataError(path, f"{_short(text)} is neither @attribute nor @data.", number)
    try:
        document = arff.loads("\n".join([line for _, line in declared] + ["@data"]))
    except arff.ArffException as error:
        number = declared[min(error.line, len(declared)) - 1][0]
        raise DataError(path, _reason(error), number) from None
    attributes = []
    for (name, kind), (number, _) in zip(document["attributes"], declared[1:], strict=True):
        values = tuple(kind) if isinstance(kind, list) else None
        attributes.append(Attribute(name, values, number, is_text=kind == "STRING"))
    return document["relation"], attributes


def _plain(line: str) -> str:
    return RELATION.sub(r"\1", line.strip().replace("\t", " "))


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        if cell.strip() == "?":
            return MISSING
        raise


def _reader_of(attribute: Attribute) -> Callable[[str], float]:
    if attribute.is_text:
        return lambda cell: MISSING
    if attribute.values is None:
        return _number
    codes = {value: float(code) for code, value in enumerate(attribute.values)} | {"?": MISSING}
    return lambda cell: codes[cell.strip()]


def _dense_cells(path, header, attributes, rows):
    readers = [_reader_of(attribute) for attribute in attributes]
    cells, unusual = np.empty((len(rows), len(attributes))), []
    for i, (number, line) in enumerate(rows):
        try:
            row = line.split(",")
            cells[i] = [read(cell) for read, cell in zip(readers, row, strict=True)]
        except (ValueError, KeyError):
            _refuse_if_plain(path, number, line, attributes)
            unusual.append(i)
    if unusual:
        decoded = _decode(path, header, [rows[i] for i in unusual], arff.DENSE)
        cells[unusual] = [[_cell(value) for value in row] for row in decoded]
    return cells


def _sparse_cells(path, header, attributes, rows):
    readers = [_reader_of(attribute) for attribute in attributes]
    # 32-bit indices: some of scikit-learn's solvers accept no others.
    columns, values, ends, unusual = array("i"), array("d"), array("i", [0]), []
    for i, (number, line) in enumerate(rows):
        if line[-1] != "}":
            raise DataError(path, "the row does not end, expected '}'.", number)
        start = len(columns)
        try:
            for item in line[1:-1].split(",") if line[1:-1].strip() else ():
                column, value = item.split()
                j = int(column)
                if not 0 <= j < len(readers):
                    raise DataError(
                        path,
                        f"index {j} is out of range, expected 0 to {len(readers) - 1}.",
                        number,
                    )
                values.append(readers[j](value))
                columns.append(j)
        except DataError:
            raise
        except (ValueError, KeyError):
            _refuse_if_plain(path, number, line, attributes)
            del columns[start:], values[start:]
            unusual.append(i)
        if len(set(columns[start:])) < len(columns) - start:
            raise DataError(path, "an index is repeated, expected each once.", number)
        ends.append(len(columns))
    shape = (len(rows), len(attributes))
    table = sparse.csr_array((np.array(values), np.array(columns), np.array(ends)), shape=shape)
    if unusual:
        table = table.tolil()
        decoded = _decode(path, header, [rows[i] for i in unusual], arff.LOD)
        for i, row in zip(unusual, decoded, strict=True):
            for j, value in row.items():
                table[i, j] = _cell(value)
    table = sparse.csr_array(table)
    table.sort_indices()
    table.eliminate_zeros()
    return table


def _cell(value):
    """Return a value as liac-arff decodes it; what is missing or text is NaN."""
    return MISSING if value is None or isinstance(value, str) else float(value)


def _refuse_if_plain(path, number, line, attributes):
    """Say what is wrong with a row, unless it has quotes or escapes and may be right after all."""
    if any(mark in line for mark in "'\"\\"):
        return
    if line[0] == "{":
        pairs = [item.split() for item in line[1:-1].split(",")]
        if any(len(pair) != 2 or not pair[0].isdigit() for pair in pairs):
            raise DataError(path, "not a sparse row, expected {index value, …}.", number)
        cells = [(attributes[int(index)], value) for index, value in pairs]
    else:
        values = line.split(",")
        if len(values) != len(attributes):
            raise DataError(path, f"{len(values)} values, expected {len(attributes)}.", number)
        cells = list(zip(attributes, values, strict=True))
    for attribute, cell in cells:
        try:
            _reader_of(attribute)(cell)
        except (ValueError, KeyError):
            known = attribute.values
            expected = "a number" if known is None else _short("one of " + ", ".join(known))
            text = f"attribute {attribute.name!r} holds {cell.strip()!r}, expected {expected}."
            raise DataError(path, text, number) from None


def _decode(path, header, rows, kind):
    """Rows that are not plain, by liac-arff."""
    plain = [_plain(line) for line in header]
    try:
        text = "\n".join(plain + [line for _, line in rows])
        return arff.loads(text, encode_nominal=True, return_type=kind)["data"]
    except arff.ArffException as error:
        at = error.line - len(plain) - 1
        number = rows[at][0] if 0 <= at < len(rows) else None
        raise DataError(path, _reason(error), number) from None


def _reason(error: arff.ArffException) -> str:
    """Return the first sentence of liac-arff's message, without its own line number."""
    text = re.sub(r",?\s*(at|in) line -?\d+", "", str(error)).split("\n")[0]
    return _short(text.rstrip(". ")) + ", expected ARFF as WEKA writes it."


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
