"""ARFF files of MULAN (labels in an XML file, read here too) and of MEKA (labels first or last).

The header is read by liac-arff. Plain rows (numbers, declared values, ``?``) are read here, so that
a mistake is told with its line, attribute and value, straight into the arrays (one to three times
as fast, ``benchmarks/bench_arff.py``); rows with quotes or escapes are left to liac-arff.
"""

import os
import re
import xml.sax
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import arff
import defusedxml
import defusedxml.sax
import numpy as np
from scipy import sparse

from labelcover._arguments import check_choice, parameter
from labelcover._table_numbers import canonical_rows
from labelcover.datasets._dataset import (
    Dataset,
    choose_features,
    choose_labels,
    settled_labels,
)
from labelcover.datasets._file_limits import read_bytes
from labelcover.tables import AnyPath, DataError, Features

# Sparse features are kept sparse up to this share of non-zero cells.
DENSEST = 0.25
MISSING = float("nan")
# MEKA writes remarks behind the relation's name, which liac-arff does not accept.
RELATION = re.compile(
    r"""^(@relation\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s%]+))\s*(%.*)?$""", re.I
)


class Attribute(NamedTuple):
    """A column: nominal if it has `values`, text (never read), else numeric."""

    name: str
    values: tuple[str, ...] | None
    line: int
    is_text: bool = False


class ArffTable(NamedTuple):
    """All columns of an ARFF file, nominal values as positions among the declared ones."""

    relation: str
    attributes: list[Attribute]
    cells: Features
    lines: list[int]  # of each row


def read_arff(
    path: AnyPath,
    labels: AnyPath | int | Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    empty: str | None = None,
) -> Dataset:
    """Return the data set in an ARFF file.

    Parameters
    ----------
    path : path-like
        The file, dense or sparse.
    labels : path-like, int, list of str, optional
        Which attributes are labels: a MULAN label file, a number of leading (negative: trailing)
        attributes as in MEKA, or names. By default the MULAN label file of the same name beside
        `path` (also ``x.xml`` for ``x-train.arff`` and ``x-test.arff``), else the option ``-C`` in
        the relation's name.
    label_prefix : str, optional
        Labels are the attributes whose names start with this.
    drop : list of str
        Attributes to leave out, such as row identifiers.
    features : list of str, optional
        Take just these attributes as features, in this order; with ``labels=[]`` the file need
        not hold labels.
    empty : {"none", "unknown"}, optional
        What ``?`` of a label means: 0, or that nobody looked (NaN in Y). By default it is an error.

    Returns
    -------
    Dataset
        Labels are in the order of the label file, or of the attributes. Nominal features are
        coded 0, 1, … in the order of their declaration, so that a cell that a sparse file leaves
        out is 0. ``-split-number`` of MEKA becomes the set's own split.

    Raises
    ------
    DataError
        With file, line and what was expected.
    """
    if empty is not None:
        check_choice(parameter("empty"), empty, ("none", "unknown"))
    table = read_arff_table(path)
    names = [attribute.name for attribute in table.attributes]
    label_names, at = _labels(path, table, labels, label_prefix)
    chosen = choose_features(path, names, at, drop, features)
    kept = [table.attributes[j] for j in chosen]
    for attribute in kept:
        if attribute.is_text:
            raise DataError(
                path,
                f"attribute {attribute.name!r} is text, expected it dropped or numeric or nominal.",
                attribute.line,
            )
    n, number = len(table.lines), _meka_option(table.relation, r"-split(?:-number)?\s+(\d+)") or 0
    is_split = 0 < number < n  # else it is that of a larger file, of which this one is a part
    X: Any = table.cells[:, chosen]
    if sparse.issparse(X):
        X = X.toarray() if X.nnz > DENSEST * np.prod(X.shape) else sparse.csr_array(X)
    return Dataset(
        Path(path).stem,
        X,
        settled_labels(path, _label_bits(path, table, at), label_names, empty),
        [attribute.name for attribute in kept],
        label_names,
        categorical=np.array([attribute.values is not None for attribute in kept], dtype=bool),
        train_rows=np.arange(number) if is_split else None,
        test_rows=np.arange(number, n) if is_split else None,
        description=table.relation,
        categories={a.name: a.values for a in kept if a.values is not None},
    )


def _labels(path, table, labels, prefix):
    """Names and positions of the labels, by whatever says which they are."""
    names = [attribute.name for attribute in table.attributes]
    if labels is None and prefix is None:
        stem = Path(path).stem
        stems = stem, re.sub(r"-(train|test)$", "", stem)
        beside = (Path(path).with_name(f"{name}.xml") for name in stems)
        labels = next(filter(Path.exists, beside), None)
        labels = labels or _meka_option(table.relation, r"-C\s+(-?\d+)")
        if labels is None:
            raise DataError(
                path,
                "does not say which attributes are labels, expected a MULAN label file beside it, "
                "-C in the relation's name, or labels=….",
            )
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            text = f"{labels} labels, expected 1 to {len(names) - 1} of {len(names)} attributes."
            raise DataError(path, text)
        at = list(range(labels) if labels > 0 else range(len(names) + labels, len(names)))
    elif not isinstance(labels, str | os.PathLike):
        at = choose_labels(path, names, labels, prefix)
    else:
        positions = {_unescaped(name): j for j, name in enumerate(names)}
        positions |= {name: j for j, name in enumerate(names)}
        found, at = read_label_file(labels), []
        for name, line in found.items():
            j = positions.get(name, positions.get(_unescaped(name)))
            if j is None:
                text = f"label {name!r} is not in {path}, expected an attribute of that name."
                raise DataError(labels, text, line)
            at.append(j)
        return list(found), at
    return [names[j] for j in at], at


def _unescaped(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _meka_option(relation: str, pattern: str) -> int | None:
    found = re.search(pattern, relation)
    return int(found[1]) if found else None


def _label_bits(path, table, at):
    """Return the label columns as zeros, ones and NaN, in whatever order 0 and 1 are declared."""
    cells = table.cells[:, at]
    cells = cells.toarray() if sparse.issparse(cells) else cells
    for column, j in enumerate(at):
        attribute = table.attributes[j]
        if attribute.values == ("1", "0"):
            cells[:, column] = 1 - cells[:, column]
        elif attribute.values is not None and not {"0", "1"}.issuperset(attribute.values):
            listed = ",".join(attribute.values[:4]) + ",…" * (len(attribute.values) > 4)
            text = f"label {attribute.name!r} has the values {{{listed}}}, expected {{0,1}}."
            raise DataError(path, text, attribute.line)
        elif attribute.values == ("1",):
            cells[:, column] += 1
    wrong = ~((cells == 0) | (cells == 1) | np.isnan(cells))
    if wrong.any():
        i, column = np.argwhere(wrong)[0]
        name, value = table.attributes[at[column]].name, f"{cells[i, column]:g}"
        raise DataError(path, f"label {name!r} is {value}, expected 0 or 1.", table.lines[i])
    return cells.astype(np.float32)


class _Labels(xml.sax.ContentHandler):
    """Collects name and line of every ``label`` element, nested ones after their parent."""

    _locator: Any

    def __init__(self, path: AnyPath) -> None:
        super().__init__()
        self.path, self.found = path, dict[str, int]()

    def startElement(self, tag, attributes):
        if tag.rpartition(":")[2] != "label":
            return
        line = self._locator.getLineNumber()
        if "name" not in attributes:
            raise DataError(self.path, "a label without a name, expected name=…", line)
        if (name := attributes["name"]) in self.found:
            text = f"label {name!r} is already on line {self.found[name]}."
            raise DataError(self.path, text, line)
        self.found[name] = line


def read_label_file(path: AnyPath) -> dict[str, int]:
    """Return the labels of a MULAN label file in its order, each with its line.

    Raises
    ------
    DataError
        If the file is not XML, declares entities (which can be made to fill the memory), or does
        not list at least one label, each once.
    """
    handler = _Labels(path)
    try:
        defusedxml.sax.parseString(read_bytes(path), handler)
    except defusedxml.DefusedXmlException as error:
        text = f"declares an XML entity ({type(error).__name__}), expected a plain list of labels."
        raise DataError(path, text) from None
    except xml.sax.SAXParseException as error:
        text = f"not XML ({error.getMessage()}), expected a MULAN label file."
        raise DataError(path, text, error.getLineNumber()) from None
    if not handler.found:
        raise DataError(path, "lists no label, expected <label name=…> elements.")
    return handler.found


def read_arff_table(path: AnyPath) -> ArffTable:
    """Return every column of an ARFF file, dense or sparse."""
    raw = read_bytes(path)
    if b"\0" in raw:
        number = raw[: raw.index(b"\0")].count(b"\n") + 1
        raise DataError(path, "not a text file, expected ARFF.", number)
    try:
        lines = raw.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        lines = raw.decode("latin-1").splitlines()
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
    cells = _cells(path, lines[: at + 1], attributes, rows)
    return ArffTable(relation, attributes, cells, [number for number, _ in rows])


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


def _number(cell: str) -> float:  # one function for all attributes is called sooner
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


def _cells(path, header, attributes, rows):
    """Return the cells of dense or sparse rows, which are told apart by how the first begins."""
    is_sparse, readers = rows[0][1][0] == "{", [_reader_of(attribute) for attribute in attributes]
    for number, line in rows:
        if (line[0] == "{") != is_sparse:
            raise DataError(path, "dense and sparse rows are mixed, expected one kind.", number)
    # 32-bit indices: some of scikit-learn's solvers accept no others.
    columns, values, ends, unusual = array("i"), array("d"), array("i", [0]), []
    shape = (len(rows), len(readers))
    dense = np.empty((0, 0) if is_sparse else shape)
    for i, (number, line) in enumerate(rows):
        if is_sparse and line[-1] != "}":
            raise DataError(path, "the row does not end, expected '}'.", number)
        start = len(values)
        try:
            if not is_sparse:
                own = zip(readers, line.split(","), strict=True)
                dense[i] = [read(cell) for read, cell in own]
                continue
            for item in line[1:-1].split(",") if line[1:-1].strip() else ():
                column, value = item.split()
                j = int(column)
                if not 0 <= j < len(readers):
                    text = f"index {j} is out of range, expected 0 to {len(readers) - 1}."
                    raise DataError(path, text, number)
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
    kind, odd = arff.LOD if is_sparse else arff.DENSE, [rows[i] for i in unusual]
    decoded = _decode(path, header, odd, kind) if unusual else []
    if not is_sparse:
        if unusual:
            dense[unusual] = decoded
        return dense
    table = sparse.csr_array((np.array(values), np.array(columns), np.array(ends)), shape=shape)
    if unusual:
        table = table.tolil()
        for i, row in zip(unusual, decoded, strict=True):
            for j, value in row.items():
                table[i, j] = value
    return canonical_rows(table)


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
    """Rows that are not plain, by liac-arff; what is missing or text is NaN."""

    def as_number(value):
        return MISSING if value is None or isinstance(value, str) else float(value)

    plain = [_plain(line) for line in header]
    try:
        text = "\n".join(plain + [line for _, line in rows])
        data = arff.loads(text, encode_nominal=True, return_type=kind)["data"]
    except arff.ArffException as error:
        at = error.line - len(plain) - 1
        number = rows[at][0] if 0 <= at < len(rows) else None
        raise DataError(path, _reason(error), number) from None
    if kind == arff.DENSE:
        return [list(map(as_number, row)) for row in data]
    return [{j: as_number(value) for j, value in row.items()} for row in data]


def _reason(error: arff.ArffException) -> str:
    """Return the first sentence of liac-arff's message, without its own line number."""
    text = re.sub(r",?\s*(at|in) line -?\d+", "", str(error)).split("\n")[0]
    return _short(text.rstrip(". ")) + ", expected ARFF as WEKA writes it."


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "…"
