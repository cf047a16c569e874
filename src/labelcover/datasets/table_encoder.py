"""A table as people have it, as one matrix of numbers: what was decided about each column."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import parameter
from labelcover.datasets.cell_values import (
    Readable,
    as_numbers,
    as_seconds,
    as_strings,
    as_truth,
    is_text,
)
from labelcover.datasets.column_encoders import CategoryColumn, DateColumn, NumberColumn
from labelcover.datasets.column_kinds import (
    AS_ID,
    ColumnChoices,
    ColumnKind,
    check_plain,
    column_kinds,
    shown,
    shown_cell,
)
from labelcover.datasets.csv_columns import UNNAMED
from labelcover.datasets.dataset import DataError, Dataset, Features, MissingColumn, ReadingWarning
from labelcover.datasets.label_columns import LabelColumns
from labelcover.datasets.option_columns import OptionsColumn
from labelcover.datasets.raw_tables import RawTable, read_raw
from labelcover.datasets.reading_report import ReadingReport
from labelcover.datasets.text_columns import COUNTED, WORDS, TextColumn

ENCODED = ("number", "truth value", "date", "category", "options", "text")
AS_STRINGS = ("category", "options", "text")
# Rows of a table are written to memory so many columns at a time, and so many rows.
COLUMNS_TOGETHER, ROWS_TOGETHER = 16, 2048
EXPECTED = {
    "number": "a number",
    "truth value": "yes or no, true or false, or 0 or 1",
    "date": "a date",
}


@dataclass(frozen=True)
class TableEncoder:
    """How a table becomes features and labels; fitted on the training rows.

    Attributes
    ----------
    kinds : list of ColumnKind
        What was decided about each column that holds no label.
    encoders : list
        One for each column that is used, in their order.
    labels : LabelColumns
        Where the labels are.
    id : str or None
        The column that names the rows.
    report : ReadingReport
        What was read from the training table, and how.
    shift, factor : ndarray or None
        What brings features that are numbers to the scale of text, where there is text.
    """

    kinds: list[ColumnKind]
    encoders: list[Any]
    labels: LabelColumns
    id: str | None
    report: ReadingReport
    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None

    @classmethod
    def fitted(
        cls, table: RawTable, labels: LabelColumns, choices: ColumnChoices
    ) -> tuple[TableEncoder, Dataset]:
        """Return the encoder for a training table, and the table as a data set.

        Raises
        ------
        DataError
            If a column that is named is not there, or no column can be used.
        """
        choices.check(table.path, table.names)
        features = [name for name in table.names if name not in labels.columns]
        kinds = column_kinds(table, features, choices, _decimal(table))
        remarks = list(_two_readings(kinds))
        Y = labels.read(table, warn=False)
        encoders, told = [], []
        for kind in kinds:
            made, tell, said = _fitted(table, kind, Y)
            encoders += [] if made is None else [made]
            told.append(tell)
            remarks += said
        for remark in remarks:
            warnings.warn(f"{table.path}: {remark}", ReadingWarning, stacklevel=2)
        if not encoders:
            raise DataError(
                table.path,
                "no column can be used as a feature, expected at least one: "
                + shown([f"{kind.name} ({_unused(kind)})" for kind in told])
                + ".",
            )
        facts = labels.facts(Y)
        report = ReadingReport.of(table, told, labels, facts, remarks)
        encoder = cls(told, encoders, labels, choices.id or _first_id(table, kinds), report)
        X, *scale = encoder._table(table, told)
        encoder = cls(told, encoders, labels, encoder.id, report, *scale)
        return encoder, encoder._dataset(table, X, Y)

    def read(self, path: str | os.PathLike[str], *, with_labels: bool, **written: Any) -> Dataset:
        """Return the rows of a file, encoded as in training.

        Parameters
        ----------
        path : path-like
            A file with the columns that are used, in any order.
        with_labels : bool
            Whether the labels must be there too.
        **written : optional
            What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

        Raises
        ------
        DataError
            If a column is missing.
        """
        strings = [kind.name for kind in self.kinds if _needs_strings(kind, written.get("decimal"))]
        strings += [] if self.labels.tags is None else [self.labels.tags]
        strings += [] if self.id is None else [self.id]
        table = read_raw(path, as_text=strings, **written)
        with table.hinting():
            table = self.labels.without_skipped(table) if with_labels else table
            return self._read(table, with_labels)

    def _read(self, table: RawTable, with_labels: bool) -> Dataset:
        used = {encoder.name for encoder in self.encoders}
        kinds = {
            kind.name: _with_decimal(kind, _decimal(table))
            for kind in self.kinds
            if kind.name in used
        }
        for kind in kinds.values():
            if kind.name not in table.names:
                raise MissingColumn(
                    table.path,
                    f"no column {kind.name!r}, expected the columns of training: "
                    f"{shown(list(kinds))}.",
                    name=kind.name,
                )
        for kind in kinds.values():
            if kind.kind in AS_STRINGS:
                check_plain(table, kind.name, kind.kind)
            else:
                for text in _bad_cells(table, kind, _strange(table, kind)):
                    warnings.warn(f"{table.path}: {text}", UserWarning, stacklevel=2)
        if self.id in table.names:
            check_plain(table, self.id, "id")
        nothing = np.zeros((table.n_rows, 0), dtype=np.uint8)
        Y = self.labels.read(table, warn=True) if with_labels else nothing
        X, *_ = self._table(table, kinds.values(), self.shift, self.factor)
        return self._dataset(table, X, Y)

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the words of the table."""
        plain = [name for made in self._plain for name in made.feature_names]
        return plain + [name for made in self._wide for name in made.feature_names]

    def feature_words(self) -> Callable[[int, float], str]:
        """Return what says a feature, by its number, and its value in the words of the table.

        Numbers are those of the table, whatever their scale in X. Of what is or is not there (a
        word, a value of a category, a month) the value is not told: ``subject: invoice``,
        ``not colour = red``.
        """
        names = self.feature_names
        is_number = [each for made in self._plain for each in made.is_number]
        n = len(is_number)
        shift = np.zeros(n) if self.shift is None else self.shift
        factor = np.ones(n) if self.factor is None else self.factor

        def told(f: int, value: float) -> str:
            value = value / factor[f] + shift[f] if f < n else value
            if f < n and is_number[f]:
                return f"{names[f]} = {value:.6g}"
            # Zeros and ones, to rounding if they were scaled; a word has any weight above 0.
            return names[f] if value > (0.5 if f < n else 0) else f"not {names[f]}"

        return told

    @property
    def _plain(self) -> list[Any]:
        return [made for made in self.encoders if isinstance(made, NumberColumn | DateColumn)]

    @property
    def _wide(self) -> list[Any]:
        return [made for made in self.encoders if not isinstance(made, NumberColumn | DateColumn)]

    def _table(
        self, table: RawTable, kinds: Iterable[ColumnKind], shift: Any = None, factor: Any = None
    ) -> tuple[Features, Any, Any]:
        """Return the features of a table, and how numbers were scaled.

        Cells are read column by column, so that a large table is not held twice.
        """
        of = {kind.name: kind for kind in kinds}
        width = sum(len(made.feature_names) for made in self._plain)
        columns = (
            column for made in self._plain for column in made.encode(_cells(table, of[made.name]))
        )
        numbers = _side_by_side(columns, np.empty((table.n_rows, width)))
        if not self._wide:
            return numbers, None, None
        tables = [made.encode(_cells(table, of[made.name])) for made in self._wide]
        if not any(isinstance(made, TextColumn) for made in self._wide):
            return np.hstack([numbers, *(table.toarray() for table in tables)]), None, None
        if shift is None:
            shift, spread = numbers.mean(axis=0), numbers.std(axis=0)
            factor = 1 / (np.where(spread > 0, spread, 1.0) * np.sqrt(max(width, 1)))
        scaled = sparse.csr_array((numbers - shift) * factor)
        return sparse.hstack([scaled, *tables], format="csr"), shift, factor

    def _dataset(self, table: RawTable, X: Features, Y: NDArray[np.uint8]) -> Dataset:
        def plain(name: str) -> list[str]:
            return [cell or "" for cell in as_strings(table.columns.column(name))]

        ids = plain(self.id) if self.id in table.names else None
        if ids is None and table.rows is not None:  # some rows are left out
            ids = [str(row + 1) for row in table.rows]
        texts = [made.name for made in self._wide if isinstance(made, TextColumn)]
        names = self.feature_names
        return Dataset(
            name=table.name,
            X=X,
            Y=Y,
            feature_names=names,
            label_names=list(self.labels.names) if Y.shape[1] else [],
            categorical=np.zeros(len(names), dtype=bool),
            ids=ids,
            texts={name: plain(name) for name in texts},
            encoder=self,
            n_other_tags=self.labels.count_others(table) if Y.shape[1] else 0,
        )


def _side_by_side(
    columns: Iterator[NDArray[np.float64]], table: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return `table` filled with columns: a few at a time, in blocks of rows that fit a cache."""
    at = 0
    while group := list(islice(columns, COLUMNS_TOGETHER)):
        for first in range(0, len(table), ROWS_TOGETHER):
            rows = slice(first, first + ROWS_TOGETHER)
            for j, column in enumerate(group, start=at):
                table[rows, j] = column[rows]
        at += len(group)
    return table


def _unused(kind: ColumnKind) -> str:
    return f"{kind.why}; given as {kind.option}, it is used" if kind.option else kind.why


def _first_id(table: RawTable, kinds: Sequence[ColumnKind]) -> str | None:
    """Return the first id that names the rows: filled and different in all of them.

    One that has a name itself comes first, if there is one.
    """
    found = [kind.name for kind in kinds if kind.kind == AS_ID and _is_unique(table, kind.name)]
    return next((name for name in found if name != UNNAMED), found[0] if found else None)


def _is_unique(table: RawTable, name: str) -> bool:
    import pyarrow.compute as pc

    return pc.count_distinct(table.columns.column(name), mode="only_valid").as_py() == table.n_rows


def _decimal(table: RawTable) -> str | None:
    """Return the decimal sign that was given, if any."""
    return None if table.text_format is None else table.text_format.decimal


def _needs_strings(kind: ColumnKind, decimal: str | None) -> bool:
    """Return whether the cells of a further file must come as they are written.

    Arrow reads numbers with a decimal point and no more; what it makes of other cells would depend
    on the file.
    """
    if kind.kind == "number":
        return decimal is not None or not kind.numbers.is_plain
    return kind.kind in AS_STRINGS


def _with_decimal(kind: ColumnKind, decimal: str | None) -> ColumnKind:
    return kind if decimal is None else replace(kind, numbers=kind.numbers.with_decimal(decimal))


def _cells(table: RawTable, kind: ColumnKind) -> Any:
    """Return the cells of a column as its encoder takes them."""
    column = table.columns.column(kind.name)
    return as_strings(column) if kind.kind in AS_STRINGS else _readable(table, kind).numbers


def _readable(table: RawTable, kind: ColumnKind) -> Readable:
    column = table.columns.column(kind.name)
    if kind.kind == "date":
        return as_seconds(column, kind.dates)
    return as_truth(column) if kind.kind == "truth value" else as_numbers(column, kind.numbers)


def _strange(table: RawTable, kind: ColumnKind) -> NDArray[np.bool_]:
    """Return the cells that cannot be read and were not missing values in training either."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bad = _readable(table, kind).bad
    column = table.columns.column(kind.name)
    if not kind.missing or not is_text(column):
        return bad
    return bad & ~pc.is_in(column, pa.array(kind.missing)).to_numpy()


def _two_readings(kinds: Sequence[ColumnKind]) -> Iterator[str]:
    """Yield what to say of columns of which it is unknown how numbers or dates are meant."""
    for what, decides in (
        ("number", f"{parameter('decimal')} (. or ,) decides"),
        ("date", "dates such as 2024-12-31 have one reading only"),
    ):
        found = [kind for kind in kinds if kind.both and kind.kind == what]
        if found:
            names = shown([repr(kind.name) for kind in found])
            columns = "column" if len(found) == 1 else "columns"
            yield f"{columns} {names}: {found[0].both}; no cell shows which, {decides}."


def _bad_cells(table: RawTable, kind: ColumnKind, bad: NDArray[np.bool_]) -> Iterator[str]:
    """Yield what to say of the cells of a column that cannot be read, with the first of them."""
    if bad.any():
        row = int(np.argmax(bad))
        value = table.columns.column(kind.name)[row].as_py()
        yield (
            f"column {kind.name!r} holds {shown_cell(value)} in {table.place(row)[0]}, expected "
            f"{EXPECTED[kind.kind]}; {_cells_count(int(bad.sum()))} as missing."
        )


def _cells_count(many: int) -> str:
    return "this cell counts" if many == 1 else f"{many} such cells count"


def _fitted(
    table: RawTable, kind: ColumnKind, Y: NDArray[np.uint8]
) -> tuple[Any, ColumnKind, list[str]]:
    """Return the encoder of a column, None if it is not used, what to tell of it, and remarks."""
    name = kind.name
    if kind.kind == AS_ID and kind.option == "text":
        return *_fitted_to_names(table, kind, Y, instead_of=None), []
    if kind.kind not in ENCODED:
        return None, kind, []
    if kind.kind in AS_STRINGS:
        asked_for = kind.kind == "text" and kind.why == "as given"
        remarks = list(_text_of_numbers(table, name)) if asked_for else []
        return *_fitted_to_strings(table, kind, Y), remarks
    read = _readable(table, kind)
    remarks = list(_bad_cells(table, kind, read.bad))
    if kind.kind == "date":
        why = ", ".join(filter(None, [kind.why, _missing(kind)]))
        return DateColumn.fitted(name, read.numbers, Y), replace(kind, why=why), remarks
    number = NumberColumn.fitted(name, read.numbers, Y)
    missing = np.isnan(read.numbers).mean()
    marked = ", marked by a feature" if number.marked else ""
    told = [kind.why, f"{missing:.1%} missing{marked}" if missing else "", _missing(kind)]
    return number, replace(kind, why=", ".join(filter(None, told))), remarks


def _missing(kind: ColumnKind) -> str:
    words = ", ".join(map(repr, kind.missing))
    return f"{words} taken for missing" if words else ""


def _fitted_to_strings(
    table: RawTable, kind: ColumnKind, Y: NDArray[np.uint8]
) -> tuple[Any, ColumnKind]:
    """Return the encoder of a column of text or categories, None if not used, and what to tell."""
    name = kind.name
    cells = as_strings(table.columns.column(name))
    if kind.kind == "text":
        text = TextColumn.fitted(name, cells, Y)
        if text is None:
            return None, ColumnKind(name, "not used", "text in which no word recurs")
        return text, _told_of(text)
    if kind.kind == "options":
        options = OptionsColumn.fitted(name, cells)
        return options, ColumnKind(name, "options", f"{len(options.options)}, {kind.why}")
    if kind.why != "as given" and 2 * len(set(cells)) > len(cells):
        text, told = _fitted_to_names(table, kind, Y, instead_of=WORDS)
        if text is not None:
            return text, told
    category = CategoryColumn.fitted(name, cells)
    return category, ColumnKind(name, "category", f"{len(category.feature_names)} values")


def _fitted_to_names(
    table: RawTable, kind: ColumnKind, Y: NDArray[np.uint8], *, instead_of: str | None
) -> tuple[Any, ColumnKind]:
    """Return the encoder of names that are mostly different, if their characters say something."""
    cells = as_strings(table.columns.column(kind.name))
    text = TextColumn.of_names(kind.name, cells, Y, instead_of=instead_of)
    return text, kind if text is None else _told_of(text)


def _told_of(text: TextColumn) -> ColumnKind:
    return ColumnKind(text.name, "text", f"{len(text.terms)} {COUNTED[text.kind]}")


def _text_of_numbers(table: RawTable, name: str) -> Iterator[str]:
    column = table.columns.column(name)
    if as_numbers(column).share == 1:
        row = next(i for i, cell in enumerate(column) if cell.is_valid)
        yield (
            f"column {name!r} is read as text, as asked for, but holds numbers, such as "
            f"{column[row].as_py()!r} in {table.place(row)[0]}; given as number, it would be read "
            "as such."
        )
