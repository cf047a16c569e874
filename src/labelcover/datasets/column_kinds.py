"""What each column of a table is: numbers, categories, dates, text, or an id.

What was given is taken; the rest follows from the cells.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcover.datasets.cell_values import (
    CODE,
    ISO,
    Coded,
    as_numbers,
    as_seconds,
    as_truth,
    find_time_format,
    is_number,
    is_plain,
    is_text,
    is_time,
)
from labelcover.datasets.dataset import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from labelcover.datasets.raw_tables import RawTable

# A column is what this share of its cells is; the others are then mistakes.
MOST = 0.95
# Up to so many distinct values that recur are categories, even if they are several words.
FEW = 30
ID_NAME = re.compile(r"(^|.*[\W_])(id|ids|key|uuid|guid|index|nr|no)$|.*[a-z](Id|ID)$", re.I)
LONGEST = 80  # characters of a cell in a message
AS_ID = "id, not used"
NOT_USED = "not used"


@dataclass(frozen=True)
class ColumnChoices:
    """Which columns are what, as given: names of columns.

    Attributes
    ----------
    text, category, number, date : tuple of str
        Columns to be read so.
    drop : tuple of str
        Columns to leave out.
    id : str or None
        The column that names the rows: left out, and carried into predictions.
    """

    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None

    @classmethod
    def of(cls, *, id: str | None, **named: Sequence[str]) -> ColumnChoices:
        """Return the choices, each a list of names.

        Raises
        ------
        ValueError
            If a string is given for a list, or a column for two things.
        """
        seen: dict[str, str] = {} if id is None else {id: "id"}
        for what, columns in named.items():
            if isinstance(columns, str):
                raise ValueError(f"{what} must be a list of names of columns, got {columns!r}.")
            for name in columns:
                if seen.setdefault(name, what) != what:
                    raise ValueError(
                        f"{what} names column {name!r}, which is given for {seen[name]} too, "
                        "expected each column for one thing."
                    )
        return cls(id=id, **{what: tuple(columns) for what, columns in named.items()})

    def kind_of(self, name: str) -> str | None:
        """Return what a column is said to be, or None."""
        for field in fields(self):
            given = getattr(self, field.name)
            if name == given or (isinstance(given, tuple) and name in given):
                return field.name
        return None

    def check(self, path, names: Sequence[str]) -> None:
        """Raise a `DataError` if a column that is named is not there."""
        for field in fields(self):
            given = getattr(self, field.name)
            for name in given if isinstance(given, tuple) else filter(None, [given]):
                if name not in names:
                    raise DataError(
                        path,
                        f"no column {name!r}, expected {field.name} to name columns of the file: "
                        f"{shown(names)}.",
                    )


@dataclass(frozen=True)
class ColumnKind:
    """What a column is and why.

    Attributes
    ----------
    name : str
        The column.
    kind : {"number", "truth value", "category", "date", "text", "id, not used", "not used"}
        What it is read as.
    why : str
        A few words on what it holds.
    time_format : str
        How dates are written.
    """

    name: str
    kind: str
    why: str
    time_format: str = ""


def column_kind(table: RawTable, name: str, given: str | None, decimal: str | None) -> ColumnKind:
    """Return what a column is: as `given`, else what its cells are.

    - no value, or only one: not used;
    - numbers, yes and no, dates: if 95 % of the cells that are not empty can be read so;
    - whole numbers that are all different and count the rows, or are called an id: an id;
    - strings: categories if there are few that recur; text if they are two words or more on
      average; an id if more than half of them are different; else categories.

    Raises
    ------
    DataError
        If no cell can be read as what is `given`.
    """
    column = table.columns.column(name)
    if given in ("id", "text", "category"):
        check_plain(table, name, given)
    if given in ("drop", "id"):
        return ColumnKind(name, NOT_USED if given == "drop" else AS_ID, "as given")
    if given is not None:
        return _given_kind(table, name, column, given, decimal)
    return _found_kind(name, column, table.n_rows, decimal)


def _given_kind(table, name, column, given: str, decimal: str | None) -> ColumnKind:
    if given in ("text", "category"):
        if column.null_count == len(column):
            raise DataError(table.path, f"column {name!r} is empty, expected {given}.")
        return ColumnKind(name, given, "as given")
    time_format = find_time_format(column) if given == "date" else ""
    read = as_seconds(column, time_format) if given == "date" else as_numbers(column, decimal)
    if read.share == 0:
        row = int(np.argmax(read.bad)) if read.bad.any() else 0
        value = column[row].as_py()
        holds = "nothing" if value is None else shown_cell(value)
        expected = "dates such as 2024-12-31" if given == "date" else "numbers"
        raise table.error(
            f"column {name!r} in {{place}} holds {holds}, and no cell of it is readable, expected "
            f"{expected}.",
            row,
        )
    return ColumnKind(
        name, given, _dates(time_format) if given == "date" else "as given", time_format
    )


def check_plain(table: RawTable, name: str, expected: str) -> None:
    """Raise a `DataError` if a column holds lists, structures or bytes, which are no strings."""
    column = table.columns.column(name)
    if not is_plain(column):
        raise DataError(
            table.path,
            f"column {name!r} holds {column.type}, which cannot be read as {expected}, expected "
            "plain values.",
        )


def shown_cell(value: Any) -> str:
    """Return a value of a cell for people to read: strings in quotes, cut off if long."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _found_kind(name: str, column: pa.ChunkedArray, n: int, decimal: str | None) -> ColumnKind:
    import pyarrow.types as kinds

    filled = n - column.null_count
    if filled == 0:
        return ColumnKind(name, NOT_USED, "empty")
    if is_time(column):
        return ColumnKind(name, "date", _dates(ISO), ISO)
    if kinds.is_boolean(column.type):
        return ColumnKind(name, "truth value", "true or false")
    if is_number(column) or kinds.is_time(column.type) or kinds.is_duration(column.type):
        return _kind_of_numbers(name, column, n)
    if not is_text(column):
        return ColumnKind(name, NOT_USED, f"holds {column.type}, not plain values")
    coded = Coded.of(column)
    if len(coded.values) == 1 and filled == n:
        return ColumnKind(name, NOT_USED, "one value only")
    if as_truth(column).share == 1:
        return ColumnKind(name, "truth value", "yes or no")
    if as_numbers(column, decimal).share >= MOST and not _are_codes(coded.values):
        return ColumnKind(name, "number", "")
    time_format = find_time_format(column)
    if as_seconds(column, time_format).share >= MOST:
        return ColumnKind(name, "date", _dates(time_format), time_format)
    return _kind_of_strings(name, coded, filled)


def _are_codes(values: Sequence[str]) -> bool:
    """Return whether strings are digits, some with a zero in front: codes, not numbers."""
    return any(map(CODE.fullmatch, values)) and all(map(str.isdigit, values))


def _kind_of_numbers(name: str, column: pa.ChunkedArray, n: int) -> ColumnKind:
    import pyarrow.compute as pc
    import pyarrow.types as kinds

    if not kinds.is_integer(column.type):  # Arrow compares neither half floats nor durations
        numbers = as_numbers(column).numbers
        known = numbers[~np.isnan(numbers)]
        if not len(known):
            return ColumnKind(name, NOT_USED, "empty")
        one_value = len(known) == n and known.min() == known.max()
        return ColumnKind(name, *((NOT_USED, "one value only") if one_value else ("number", "")))
    low, high = (bound.as_py() for bound in pc.min_max(column).values())
    if low == high and column.null_count == 0:
        return ColumnKind(name, NOT_USED, "one value only")
    if column.null_count == 0 and n >= 10:
        counts_rows = high - low == n - 1
        if (counts_rows or ID_NAME.fullmatch(name)) and pc.count_distinct(column).as_py() == n:
            return ColumnKind(name, AS_ID, "whole numbers, all different")
    return ColumnKind(name, "number", "")


def _kind_of_strings(name: str, coded: Coded, filled: int) -> ColumnKind:
    distinct = len(coded.values)
    n_words = float(np.mean([len(value.split()) for value in coded.values]))
    recur = 2 * distinct <= filled
    if recur and (distinct <= FEW or n_words < 2):
        return ColumnKind(name, "category", f"{distinct} values")
    if n_words >= 2:
        return ColumnKind(name, "text", f"{n_words:.0f} words a cell")
    if distinct <= FEW and distinct < filled:
        return ColumnKind(name, "category", f"{distinct} values")
    return ColumnKind(name, AS_ID, f"{distinct} different values in {filled} cells")


def _dates(time_format: str) -> str:
    return f"written as {time_format}"


def shown(names: Sequence[str], most: int = 8) -> str:
    """Return some of the names, for people to read."""
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")
