"""The encoder of a column, fitted on its training cells, and what is said of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import parameter
from labelcover.tables._arrow import pa, pc
from labelcover.tables._cell_values import (
    Coded,
    Readable,
    as_numbers,
    as_seconds,
    as_strings,
    as_truth,
    is_text,
    shown,
    shown_cell,
)
from labelcover.tables._column_encoders import (
    RARE_ROWS,
    CategoryColumn,
    DateColumn,
    NumberColumn,
    OptionsColumn,
)
from labelcover.tables._column_kinds import AS_ID, NOT_USED, ColumnKind
from labelcover.tables._text_columns import COUNTED, WORDS, TextColumn

if TYPE_CHECKING:
    from labelcover.tables._table import Table

ENCODED = ("number", "truth value", "date", "category", "options", "text")
AS_STRINGS = ("category", "options", "text")
EXPECTED = {
    "number": "a number",
    "truth value": "yes or no, true or false, or 0 or 1",
    "date": "a date",
}


def fitted_column(
    table: Table, kind: ColumnKind, Y: NDArray[np.uint8]
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
    read = readable(table, kind)
    remarks = list(bad_cells(table, kind, read.bad))
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
    table: Table, kind: ColumnKind, Y: NDArray[np.uint8]
) -> tuple[Any, ColumnKind]:
    """Return the encoder of a column of text or categories, None if not used, and what to tell."""
    name, cells = kind.name, cells_of(table, kind)
    if kind.kind == "text":
        text = TextColumn.fitted(name, cells, Y)
        if text is None:
            return None, ColumnKind(name, NOT_USED, "text in which no word recurs")
        return text, _told_of(text)
    if kind.kind == "options":
        options = OptionsColumn.fitted(name, cells)
        return options, ColumnKind(name, "options", f"{len(options.options)}, {kind.why}")
    distinct = len(cells.values) + bool((cells.codes < 0).any())
    if kind.why != "as given" and 2 * distinct > len(cells.codes):
        text, told = _fitted_to_names(table, kind, Y, instead_of=WORDS)
        if text is not None:
            return text, told
    category = CategoryColumn.fitted(name, cells)
    if kind.why != "as given" and len(category.feature_names) < 2:
        why = f"{distinct} values, each in fewer than {RARE_ROWS} rows"
        return None, ColumnKind(name, NOT_USED, why, option="text")
    return category, ColumnKind(name, "category", f"{len(category.feature_names)} values")


def _fitted_to_names(
    table: Table, kind: ColumnKind, Y: NDArray[np.uint8], *, instead_of: str | None
) -> tuple[Any, ColumnKind]:
    """Return the encoder of names that are mostly different, if their characters say something."""
    cells = as_strings(table.columns.column(kind.name))
    text = TextColumn.of_names(kind.name, cells, Y, instead_of=instead_of)
    return text, kind if text is None else _told_of(text)


def _told_of(text: TextColumn) -> ColumnKind:
    return ColumnKind(text.name, "text", f"{len(text.terms)} {COUNTED[text.kind]}")


def _text_of_numbers(table: Table, name: str) -> Iterator[str]:
    column = table.columns.column(name)
    if as_numbers(column).share == 1:
        row = next(i for i, cell in enumerate(column) if cell.is_valid)
        yield (
            f"column {name!r} is read as text, as asked for, but holds numbers, such as "
            f"{column[row].as_py()!r} in {table.place(row)[0]}; given as number, it would be read "
            "as such."
        )


def cells_of(table: Table, kind: ColumnKind) -> Any:
    """Return the cells of a column as its encoder takes them."""
    column = table.columns.column(kind.name)
    if kind.kind == "category":
        return Coded.of(column if is_text(column) else column.cast("string"))
    return as_strings(column) if kind.kind in AS_STRINGS else readable(table, kind).numbers


def readable(table: Table, kind: ColumnKind) -> Readable:
    """Return the cells of a column of numbers, truth values or dates, as numbers."""
    column = table.columns.column(kind.name)
    if kind.kind == "date":
        return as_seconds(column, kind.dates)
    return as_truth(column) if kind.kind == "truth value" else as_numbers(column, kind.numbers)


def strange(table: Table, kind: ColumnKind) -> NDArray[np.bool_]:
    """Return the cells that cannot be read and were not missing values in training either."""
    bad = readable(table, kind).bad
    column = table.columns.column(kind.name)
    if not kind.missing or not is_text(column):
        return bad
    return bad & ~pc.is_in(column, pa.array(kind.missing)).to_numpy()


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


def bad_cells(table: Table, kind: ColumnKind, bad: NDArray[np.bool_]) -> Iterator[str]:
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


def new_cells(table: Table, category: CategoryColumn) -> Iterator[str]:
    """Yield what to say of values of a category that training has not."""
    new = category.new(cells_of(table, ColumnKind(category.name, "category", "")))
    if new.any():
        row = int(np.argmax(new))
        value = table.columns.column(category.name)[row].as_py()
        counted = "as rare" if category.rare else "as missing"
        yield (
            f"column {category.name!r} holds {shown_cell(value)} in {table.place(row)[0]}, a "
            f"category that is not in training; {_cells_count(int(new.sum()))} {counted}."
        )
