"""A table as people have it, as one matrix of numbers: what was decided about each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import parameter
from labelcover._label_values import drawn_by_frequency, split_unknown
from labelcover.tables._cell_values import (
    UNNAMED,
    Features,
    pa,
    pc,
    shown,
    shown_cell,
)
from labelcover.tables._column_encoders import RARE_ROWS, CategoryColumn, DateColumn, NumberColumn
from labelcover.tables._column_kinds import AS_ID, NOT_USED, ColumnKind, column_kinds
from labelcover.tables._feature_words import FeatureWords
from labelcover.tables._table import Table, as_table, keep_names
from labelcover.tables._text_columns import WORDS, TextColumn

#: What the columns are called together that are no text.
NO_TEXT = "numbers and categories"
AS_STRINGS = ("category", "options", "text")
# What is said of a cell that cannot be read, or is new.
ODD = {
    "number": "expected a number",
    "truth value": "expected yes or no, true or false, or 0 or 1",
    "date": "expected a date",
    "category": "a category that is not in training",
}


@dataclass(frozen=True)
class TableEncoder:
    """How a table becomes features; fitted on the training rows.

    Attributes
    ----------
    kinds : list of ColumnKind
        What was decided about each column.
    encoders : list
        One for each column that is used, in their order.
    id : str or None
        The column that names the rows.
    remarks : list of str
        Sentences about what was read in an unusual way.
    shift, factor : ndarray or None
        What brings features that are numbers to the scale of text, where there is text.
    nominal : bool
        Whether a category is one feature, the number of its value, as C4.5 and SMO take it; never
        beside text.
    """

    kinds: list[ColumnKind]
    encoders: list[Any]
    id: str | None
    remarks: list[str]
    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None
    nominal: bool = False

    @classmethod
    def of_model(
        cls, owner: Any, table: Table, Y: Any, learner: Any, columns: Mapping[str, str] | None
    ) -> tuple[TableEncoder, Features]:
        """Return the encoder for the training table of an estimator, and the features."""
        keep_names(owner, table)
        found, X = table.known or cls.fitted(table, Y, {**table.choices, **(columns or {})})
        if not getattr(learner, "keeps_nominal", False) or found.has_text:
            return found, X
        found = replace(found, nominal=True)
        return found, found.encode(table)

    @classmethod
    def fitted(
        cls, table: Table, Y: Any, choices: Mapping[str, str]
    ) -> tuple[TableEncoder, Features]:
        """Return the encoder for a training table without its labels, which are `Y`; its features.

        `choices` say what columns are, by name; the others are found from their cells.

        Raises
        ------
        DataError
            If no cell can be what was said of its column, or no column can be used.
        """
        if Y.dtype.kind == "f" and Y.shape[1]:  # some labels may not be known
            Y = drawn_by_frequency(*split_unknown(Y))
        kinds = column_kinds(table, choices)
        remarks = list(two_readings(kinds))
        encoders: list[Any] = []
        told: list[ColumnKind] = []
        for kind in kinds:
            made, tell, said = fitted_column(table, kind, Y)
            encoders += [] if made is None else [made]
            told.append(tell)
            remarks += said
        for remark in remarks:
            table.warn(remark)
        if not encoders:
            why = shown([f"{kind.name} ({kind.told(parameter(kind.option))})" for kind in told])
            raise table.error(f"no column can be used as a feature, expected at least one: {why}.")
        named = [name for name, kind in choices.items() if kind == "id"]
        made = cls(told, encoders, named[0] if named else _first_id(table, kinds), remarks)
        numbers, wide = made._parts(table, made.used_columns(table))
        if made.has_text:
            spread = numbers.std(axis=0)
            factor = 1 / (np.where(spread > 0, spread, 1.0) * np.sqrt(max(numbers.shape[1], 1)))
            made = replace(made, shift=numbers.mean(axis=0), factor=factor)
        return made, made._joined(table, numbers, wide)

    def read(self, owner: Any, X: Any) -> Features:
        """Return the features of new rows, of any kind of table."""
        table = as_table(X)
        encoder, X = table.known or (None, None)
        return X if encoder is self else self.encode(table)

    def encode(self, table: Table) -> Features:
        """Return the features of new rows; what cannot be read counts as missing, with a warning.

        Raises
        ------
        DataError
            If a column that is used is missing.
        """
        kinds = self.used_columns(table)
        for text in self._odd_cells(table, kinds):
            table.warn(text, UserWarning)
        return self._joined(table, *self._parts(table, kinds))

    def _odd_cells(self, table: Table, kinds: Mapping[str, ColumnKind]) -> Iterator[str]:
        """Yield what to say of cells that cannot be read and were not missing in training, or new.

        Raises a `DataError` if what must be strings holds lists, structures or bytes.
        """
        for kind in kinds.values():
            if kind.kind in AS_STRINGS:
                table.check_plain(kind.name, kind.kind)
                continue
            cells = table.cells(kind.name)
            bad = kind.read(cells).bad
            if kind.missing and cells.is_text:
                bad = bad & ~pc.is_in(cells.column, pa.array(kind.missing)).to_numpy()
            yield from odd_cells(table, kind, bad)
        for made in self.encoders:
            if isinstance(made, CategoryColumn) and made.separators is None:
                kind, counted = kinds[made.name], "rare" if made.rare else "missing"
                yield from odd_cells(table, kind, made.new(cells_of(table, kind)), counted)

    def used_columns(self, table: Table) -> dict[str, ColumnKind]:
        """Return what the columns that are used are, as `table` writes their numbers."""
        used = {made.name for made in self.encoders}
        kinds = {kind.name: kind for kind in self.kinds if kind.name in used}
        expected = f"expected the columns of training: {shown(list(kinds))}"
        for name, kind in kinds.items():
            table.check_there(name, f"which was {kind.kind} in training, {expected}")
        if table.decimal is None:
            return kinds
        numbers = {name: kind.numbers.with_decimal(table.decimal) for name, kind in kinds.items()}
        return {name: replace(kind, numbers=numbers[name]) for name, kind in kinds.items()}

    @property
    def has_text(self) -> bool:
        """Whether a column is free text, so that features are sparse."""
        return any(isinstance(made, TextColumn) for made in self.encoders)

    @property
    def blocks(self) -> dict[str, NDArray[np.int64]]:
        """The features of each text, and of all other columns together; empty if there is one."""
        column_of = [made for made in self._in_order for _ in made.feature_names]
        names = [made.name if isinstance(made, TextColumn) else NO_TEXT for made in column_of]
        found = {name: np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)}
        return found if len(found) > 1 else {}

    @property
    def feature_names(self) -> list[str]:
        """The names of the features, in the words of the table."""
        names = (
            [made.name] if self._is_one(made) else made.feature_names for made in self._in_order
        )
        return [name for own in names for name in own]

    @property
    def categories(self) -> tuple[NDArray[Any] | None, ...]:
        """For each feature the values of its category, None if it is none."""
        found: list[Any] = []
        for made in self._in_order:
            if self._is_one(made):
                found.append(np.array(made.codes_mean, dtype=object))
            else:
                found += [None] * len(made.feature_names)
        return tuple(found)

    @property
    def n_values(self) -> NDArray[np.int32]:
        """Number of values of each nominal feature, 0 for a numeric one."""
        return np.array([0 if own is None else len(own) for own in self.categories], dtype=np.int32)

    def words(self, X: Any = None) -> Any:
        """Return what says features, by their numbers, and values in the words of the table.

        `X` has the rows that are explained, if their texts may be told. None if a category is one
        feature.
        """
        if self.nominal:
            return None
        n = self._n_numbers
        shift = np.zeros(n) if self.shift is None else self.shift
        factor = np.ones(n) if self.factor is None else self.factor
        texts = None if X is None else self.texts(as_table(X))
        return FeatureWords(self._in_order, shift, factor, texts)

    def texts(self, table: Table) -> dict[str, list[str]]:
        """Return the columns of a table that are read as free text, as they are."""
        names = [made.name for made in self.encoders if isinstance(made, TextColumn)]
        return {name: table.strings(name) for name in names}

    @property
    def _in_order(self) -> list[Any]:
        """The encoders as their features are: numbers and dates before all others."""
        return sorted(self.encoders, key=lambda made: not isinstance(made, NumberColumn))

    @property
    def _n_numbers(self) -> int:
        """How many features come from numbers and dates."""
        return sum(len(own.feature_names) for own in self.encoders if isinstance(own, NumberColumn))

    def _is_one(self, made: Any) -> bool:
        is_category = isinstance(made, CategoryColumn) and made.separators is None
        return self.nominal and is_category

    def _parts(
        self, table: Table, kinds: Mapping[str, ColumnKind]
    ) -> tuple[NDArray[np.float64], list[Any]]:
        """Return the numbers of a table, and a sparse table for each other column.

        Cells are read column by column, so that a large table is not held twice.
        """
        numbers, wide, at = np.empty((len(table), self._n_numbers)), [], 0
        for made in self._in_order:
            cells = cells_of(table, kinds[made.name])
            if isinstance(made, NumberColumn):
                for column in made.encode(cells):
                    numbers[:, at] = column
                    at += 1
            else:
                one = self._is_one(made)
                wide.append(made.codes(cells)[:, None] * 1.0 if one else made.encode(cells))
        return numbers, wide

    def _joined(self, table: Table, numbers: NDArray[np.float64], wide: list[Any]) -> Features:
        """Return all features side by side: sparse where there is text."""
        if not wide:
            return numbers
        if not self.has_text:
            total = numbers.shape[1] + sum(made.shape[1] for made in wide)
            size = f"a table of {len(table)} rows and {total} features"
            table.check_bytes(8 * len(table) * total, size)
            dense = [made.toarray() if sparse.issparse(made) else made for made in wide]
            return np.hstack([numbers, *dense])
        assert self.shift is not None
        assert self.factor is not None
        scaled = sparse.csr_array((numbers - self.shift) * self.factor)
        return sparse.hstack([scaled, *wide], format="csr")


def _first_id(table: Table, kinds: Sequence[ColumnKind]) -> str | None:
    """Return the first id that names the rows: filled and different in all of them.

    One that has a name itself comes first, if there is one.
    """
    ids = {kind.name: table.columns.column(kind.name) for kind in kinds if kind.kind == AS_ID}
    counts = {name: pc.count_distinct(own, mode="only_valid").as_py() for name, own in ids.items()}
    found = [name for name, count in counts.items() if count == len(table)]
    return next((name for name in found if name != UNNAMED), found[0] if found else None)


def fitted_column(
    table: Table, kind: ColumnKind, Y: NDArray[np.uint8]
) -> tuple[Any, ColumnKind, list[str]]:
    """Return the encoder of a column, None if it is not used, what to tell of it, and remarks."""
    name, cells = kind.name, table.cells(kind.name)
    if kind.kind == AS_ID and kind.option == "text":
        text = TextColumn.of_names(name, table.strings(name), Y, instead_of=None)
        return text, kind if text is None else text.told, []
    if kind.kind in (AS_ID, NOT_USED):
        return None, kind, []
    if kind.kind in AS_STRINGS:
        remarks = []
        if kind.kind == "text" and kind.why == "as given" and cells.numbers().share == 1:
            row = next(i for i, cell in enumerate(cells.column) if cell.is_valid)
            remarks = [
                f"column {name!r} is read as text, as asked for, but holds numbers, such as "
                f"{cells.column[row].as_py()!r} in {table.place(row)[0]}; given as number, it "
                "would be read as such."
            ]
        return *_fitted_to_strings(table, kind, Y), remarks
    read = kind.read(cells)
    remarks = list(odd_cells(table, kind, read.bad))
    words = ", ".join(map(repr, kind.missing))
    told = [kind.why, f"{words} taken for missing" if words else ""]
    made = (DateColumn if kind.kind == "date" else NumberColumn).fitted(name, read.numbers, Y)
    missing = np.isnan(read.numbers).mean()
    if kind.kind != "date" and missing:
        marked = ", marked by a feature" if made.marked else ""
        told.insert(1, f"{missing:.1%} missing{marked}")
    return made, replace(kind, why=", ".join(filter(None, told))), remarks


def _fitted_to_strings(
    table: Table, kind: ColumnKind, Y: NDArray[np.uint8]
) -> tuple[Any, ColumnKind]:
    """Return the encoder of a column of text or categories, None if not used, and what to tell."""
    name, cells = kind.name, cells_of(table, kind)
    if kind.kind == "text":
        text = TextColumn.fitted(name, cells, Y)
        if text is None:
            return None, ColumnKind(name, NOT_USED, "text in which no word recurs")
        return text, text.told
    distinct = len(cells.values) + bool((cells.codes < 0).any())
    if kind.kind == "category" and kind.why != "as given" and 2 * distinct > len(cells.codes):
        text = TextColumn.of_names(name, table.strings(name), Y, instead_of=WORDS)
        if text is not None:
            return text, text.told
    category = CategoryColumn.fitted(name, cells, kind.separators)
    if kind.kind == "options":
        return category, ColumnKind(name, "options", f"{len(category.values)}, {kind.why}")
    if kind.why != "as given" and len(category.feature_names) < 2:
        why = f"{distinct} values, each in fewer than {RARE_ROWS} rows"
        return None, ColumnKind(name, NOT_USED, why, option="text")
    return category, ColumnKind(name, "category", f"{len(category.feature_names)} values")


def cells_of(table: Table, kind: ColumnKind) -> Any:
    """Return the cells of a column as its encoder takes them."""
    if kind.kind == "text":
        return table.strings(kind.name)
    cells = table.cells(kind.name)
    return cells.coded if kind.kind in AS_STRINGS else kind.read(cells).numbers


def two_readings(kinds: Sequence[ColumnKind]) -> Iterator[str]:
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


def odd_cells(
    table: Table, kind: ColumnKind, odd: NDArray[np.bool_], counted: str = "missing"
) -> Iterator[str]:
    """Yield what to say of the cells of a column that are odd, with the first of them."""
    if odd.any():
        row, many = int(np.argmax(odd)), int(odd.sum())
        value = table.columns.column(kind.name)[row].as_py()
        cells = "this cell counts" if many == 1 else f"{many} such cells count"
        yield (
            f"column {kind.name!r} holds {shown_cell(value)} in {table.place(row)[0]}, "
            f"{ODD[kind.kind]}; {cells} as {counted}."
        )
