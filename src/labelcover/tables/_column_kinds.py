"""What each column of a table is: numbers, categories, dates, text, or an id.

What was given is taken; the rest follows from the cells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from labelcover._arguments import parameter
from labelcover._tag_separators import Separators
from labelcover.tables._cell_values import (
    DAY_FIRST,
    DECIMALS,
    PLAIN,
    Cells,
    Coded,
    Readable,
    pa,
    pc,
    shown_cell,
)
from labelcover.tables._column_encoders import found_options
from labelcover.tables._date_cells import DateFormat, date_parts, find_dates
from labelcover.tables._number_cells import CODE, Found, NumberFormat, is_range, number_parts

if TYPE_CHECKING:
    from labelcover.tables._table import Table

# A column is what this share of its cells is; the others are then mistakes.
MOST = 0.95
# Up to so many words that recur, in this share of the cells, are missing values among numbers.
MOST_WORDS, MOST_MISSING = 5, 0.2
MANY = 1000
# Strings are an id if this share of them differs; whole numbers only if there are so many.
ALMOST_ALL = 0.95
FEWEST_IDS = 10
FIRST_DAY, LAST_DAY = 1900_01_01, 2099_12_31  # what eight digits may be
# Up to so many distinct values that recur are categories, even if they are several words.
FEW = 30
ID_NAME = re.compile(r"(^|.*[\W_])(id|ids|key|uuid|guid|index|nr|no)$|.*[a-z](Id|ID)$", re.I)
AS_ID = "id, not used"
NOT_USED = "not used"
# More columns than this that are alike are told in one line.
MANY_COLUMNS = 12


@dataclass(frozen=True)
class ColumnKind:
    """What a column is and why.

    Attributes
    ----------
    name : str
        The column.
    kind : str
        What it is read as: number, truth value, category, options, date, text; or "id, not used",
        "not used".
    why : str
        A few words on what it holds.
    numbers : NumberFormat
        How numbers are written.
    dates : DateFormat
        How dates are written.
    missing : tuple of str
        Words among numbers or dates that stand for a missing value.
    decided : bool
        Whether some cell shows how numbers or dates are written.
    both : str
        Two readings of a cell, if it is unknown which one is right; else empty.
    option : str
        The parameter that takes in a column that is not used; empty if none does.
    separators : Separators or None
        What separates the options of a cell.
    """

    name: str
    kind: str
    why: str
    numbers: NumberFormat = PLAIN
    dates: DateFormat = DAY_FIRST
    missing: tuple[str, ...] = ()
    decided: bool = False
    both: str = ""
    option: str = ""
    separators: Separators | None = None

    def told(self, taken_in: str) -> str:
        """Return what the column holds and, if it is not used, what takes it in."""
        return f"{self.why}; {taken_in} takes it in" if self.option else self.why

    def read(self, cells: Cells) -> Readable:
        """Return the cells of a column of numbers, truth values or dates, as numbers."""
        if self.kind == "date":
            return cells.seconds(self.dates)
        return cells.truth() if self.kind == "truth value" else cells.numbers(self.numbers)


class ColumnKinds(Sequence[ColumnKind]):
    """What the columns of a table are: a small table itself, in a notebook too.

    Parameters
    ----------
    kinds : iterable of ColumnKind
    by_columns : bool
        Whether columns are named by the parameter ``columns`` of an estimator.

    Examples
    --------
    >>> kinds = ColumnKinds([ColumnKind("sky", "category", "3 values")])
    >>> kinds
    column  read as
    sky     category  3 values
    >>> kinds["sky"].kind
    'category'
    """

    def __init__(self, kinds: Iterable[ColumnKind], *, by_columns: bool = False) -> None:
        self.kinds, self.by_columns = list(kinds), by_columns

    def __len__(self) -> int:
        return len(self.kinds)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, str):
            at = [kind.name for kind in self.kinds].index(at)
        return self.kinds[at]

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, kind and reason of each column; many plain ones of a kind in one line."""
        kinds = self.kinds
        for alike in ("number", "truth value"):
            plain = [kind for kind in kinds if kind.kind == alike and not kind.why]
            if len(plain) > MANY_COLUMNS:
                kinds = [kind for kind in kinds if kind not in plain]
                yield f"{plain[0].name} … {plain[-1].name}", alike, f"{len(plain)} columns"
        for kind in kinds:
            by_columns = f"columns={ {kind.name: kind.option}!r}" if self.by_columns else ""
            yield kind.name, kind.kind, kind.told(by_columns or parameter(kind.option, [kind.name]))

    def __repr__(self) -> str:
        table = [("column", "read as", ""), *self.lines()]
        widths = [max(len(row[j]) for row in table) for j in range(2)]
        cells = ([row[0].ljust(widths[0]), row[1].ljust(widths[1]), row[2]] for row in table)
        return "\n".join("  ".join(row).rstrip() for row in cells)

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>"
            + "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for row in self.lines()
        )
        return f"<table><tr><th>column</th><th>read as</th><th></th></tr>{rows}</table>"


def column_kinds(table: Table, choices: Mapping[str, str]) -> list[ColumnKind]:
    """Return what the columns of a training table are: as chosen, else what their cells are.

    A column whose cells do not show the decimal sign, or the order of day and month, is read like
    the others.

    Raises
    ------
    DataError
        If no cell of a column can be read as what was given for it.
    """
    declared = [name for name in table.declared if table.columns.column(name).drop_null()]
    chosen = {**dict.fromkeys(declared, "category"), **choices}
    kinds = [_column_kind(table, name, chosen.get(name), {}) for name in table.names]
    decided = [kind for kind in kinds if kind.decided]
    signs = [kind.numbers.decimal for kind in decided if kind.kind == "number"]
    shown = {
        "decimal": [sign for sign in signs if sign in DECIMALS],
        "order": [kind.dates.order for kind in decided if kind.kind == "date"],
    }
    likely = {what: Counter(ways).most_common(1)[0][0] for what, ways in shown.items() if ways}
    for j, kind in enumerate(kinds):
        if kind.both:
            kinds[j] = _column_kind(table, kind.name, chosen.get(kind.name), likely)
        elif kind.kind == "number" and not kind.decided:
            sign = table.decimal or likely.get("decimal") or kind.numbers.decimal
            kinds[j] = replace(kind, numbers=replace(kind.numbers, decimal=sign))
    return kinds


def _column_kind(
    table: Table, name: str, given: str | None, likely: Mapping[str, str]
) -> ColumnKind:
    """Return what a column is: as `given`, else what its cells are.

    - no value, or only one: not used;
    - numbers, yes and no, dates: if 95 % of the cells that are not empty can be read so, but for
      a few words that recur and stand for missing values;
    - whole numbers that are all different and count the rows, or are called an id: an id;
    - strings: categories if there are few that recur; text if they are two words or more on
      average; an id if almost all of them are different; else categories.

    `likely` are the decimal sign and the order of dates of other columns, if they show it.
    """
    if given is None:
        return _found_kind(table, name, likely)
    if given in ("id", "text", "category"):
        table.check_plain(name, given)
    if given in ("drop", "id"):
        return ColumnKind(name, NOT_USED if given == "drop" else AS_ID, "as given")
    cells = table.cells(name)
    if given in ("text", "category"):
        if not cells.column.drop_null():
            raise table.error(f"column {name!r} is empty, expected {given}.")
        return ColumnKind(name, given, "as given")
    kind = (_as_numbers if given == "number" else _as_dates)(table, name, likely)
    read = kind.read(cells)
    if read.share == 0:
        row = int(np.argmax(read.bad)) if read.bad.any() else 0
        value = cells.column[row].as_py()
        holds = "nothing" if value is None else shown_cell(value)
        expected = "dates such as 2024-12-31" if given == "date" else "numbers"
        raise table.error(
            f"column {name!r} in {{place}} holds {holds}, and no cell of it is readable, expected "
            f"{expected}.",
            row,
        )
    why = kind.why if given == "date" else ", ".join(filter(None, ["as given", kind.why]))
    return replace(kind, why=why)


def _as_numbers(table: Table, name: str, likely: Mapping[str, str]) -> ColumnKind:
    """Return how a column is read as numbers."""
    cells = table.cells(name)
    found = cells.found_numbers(decimal=table.decimal, likely=likely.get("decimal"))
    # Arrow reads numbers with a point only, if nothing else was given.
    decided = found.decided or pa.types.is_floating(cells.column.type)
    known = {"numbers": found.format, "decided": decided, "both": found.both}
    return ColumnKind(name, "number", found.words, **known)


def _as_dates(table: Table, name: str, likely: Mapping[str, str]) -> ColumnKind:
    """Return how a column is read as dates."""
    cells = table.cells(name)
    cells = Cells(cells.column.cast("string")) if cells.is_number else cells
    found, why = Found(DAY_FIRST, decided=False), "written as ISO 8601"
    if cells.is_text and not cells.are_iso_dates:
        values = cells.coded.values
        found = find_dates(values, cells.coded.counts.tolist(), likely=likely.get("order"))
        order = found.format.words if found.decided else ""
        first = next(filter(date_parts, values), "")
        why = ", ".join(filter(None, [f"such as {first!r}", found.both or order]))
    known = {"dates": found.format, "decided": found.decided, "both": found.both}
    return ColumnKind(name, "date", why, **known)


def _found_kind(table: Table, name: str, likely: Mapping[str, str]) -> ColumnKind:
    cells, n = table.cells(name), len(table)
    column, kind_of_cells = cells.column, cells.column.type
    filled = n - column.null_count
    if filled == 0:
        return ColumnKind(name, NOT_USED, "empty")
    is_day = pa.types.is_integer(kind_of_cells) and _are_compact_dates(cells)
    if cells.is_time or is_day or cells.are_months:
        return _as_dates(table, name, likely)
    if pa.types.is_boolean(kind_of_cells):
        return ColumnKind(name, "truth value", "true or false")
    is_count = pa.types.is_time(kind_of_cells) or pa.types.is_duration(kind_of_cells)
    is_count = is_count or cells.is_number
    if is_count or (cells.is_text and cells.quick_format(table.decimal) is not None):
        kind = _as_numbers(table, name, likely)
        return _kind_of_numbers(cells, kind, kind.read(cells))
    if not cells.is_text:
        return ColumnKind(name, NOT_USED, f"holds {kind_of_cells}, not plain values")
    coded = cells.coded
    distinct = len(coded.values)
    if distinct == 1 and filled == n:
        return ColumnKind(name, NOT_USED, "one value only")
    if cells.truth().share == 1:
        return ColumnKind(name, "truth value", "yes or no")
    if _most(coded.values, number_parts):
        kind = _as_numbers(table, name, likely)
        read = kind.read(cells)
        missing = _missing_words(coded, read)
        if missing is not None and not _are_codes(coded, read) and not _are_bands(coded):
            return _kind_of_numbers(cells, replace(kind, missing=missing), read)
    if _most(coded.values, date_parts):
        kind = _as_dates(table, name, likely)
        missing = _missing_words(coded, kind.read(cells))
        if missing is not None:
            return replace(kind, missing=missing)
    separators = found_options([coded.values[code] for code in coded.codes if code >= 0])
    if separators is not None:
        return ColumnKind(name, "options", separators.told(), separators=separators)
    n_words = float(np.mean([len(value.split()) for value in coded.values]))
    if n_words >= 2 and not (2 * distinct <= filled and distinct <= FEW):
        return ColumnKind(name, "text", f"{n_words:.0f} words a cell")
    if distinct < ALMOST_ALL * filled:
        return ColumnKind(name, "category", f"{distinct} values")
    why = f"{distinct} different values in {filled} cells"
    return ColumnKind(name, AS_ID, why, option="text")


def _are_compact_dates(cells: Cells) -> bool:
    """Return whether all whole numbers of a column are days such as 20241231."""
    low, high = (bound.as_py() for bound in pc.min_max(cells.column).values())
    return low >= FIRST_DAY and high <= LAST_DAY and cells.seconds(DAY_FIRST).share == 1


def _most(values: Sequence[str], parts_of: Callable[[str], Any]) -> bool:
    """Return whether a column may be numbers or dates: of many values, half of the first are."""
    first = values[:MANY]
    return len(first) < MANY or 2 * sum(map(bool, map(parts_of, first))) >= MANY


def _missing_words(coded: Coded, read: Readable) -> tuple[str, ...] | None:
    """Return the words that recur among numbers or dates, None if there is too much else.

    At most five words without digits, in up to a fifth of the cells, stand for missing values; of
    the other cells 95 % must be readable.
    """
    counts = coded.counts
    bad = np.zeros(len(coded.values), dtype=bool)
    bad[coded.codes[read.bad]] = True
    words = [
        j
        for j in np.flatnonzero(bad).tolist()
        if counts[j] > 1 and not any(map(str.isdigit, coded.values[j]))
    ]
    filled = int(counts.sum())
    if len(words) > MOST_WORDS or counts[words].sum() > MOST_MISSING * filled:
        words = []
    readable = counts[~bad].sum()
    if not readable or readable < MOST * (filled - counts[words].sum()):
        return None
    return tuple(coded.values[j] for j in words)


def _are_codes(coded: Coded, read: Readable) -> bool:
    """Return whether all that is readable is digits, some with a zero in front: no numbers."""
    readable = np.unique(coded.codes[~np.isnan(read.numbers)]).tolist()
    values = [coded.values[j].strip() for j in readable]
    return any(map(CODE.fullmatch, values)) and all(map(str.isdigit, values))


def _are_bands(coded: Coded) -> bool:
    """Return whether few ranges recur, such as 18-24 and 25-34: groups of numbers."""
    ranges = sum(map(is_range, coded.values))
    recur = 2 * len(coded.values) <= coded.counts.sum()
    return recur and len(coded.values) <= FEW and 2 * ranges > len(coded.values)


def _kind_of_numbers(cells: Cells, kind: ColumnKind, read: Readable) -> ColumnKind:
    numbers, is_integer = read.numbers, pa.types.is_integer(cells.column.type)
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return ColumnKind(kind.name, NOT_USED, "empty")
    if len(known) < len(numbers):
        return kind
    low, high = known.min(), known.max()
    if is_integer:  # which may be too large to be exact as floats
        low, high = (bound.as_py() for bound in pc.min_max(cells.column).values())
    if low == high:
        return ColumnKind(kind.name, NOT_USED, "one value only")
    n = len(numbers)
    if n >= FEWEST_IDS and (high - low == n - 1 or ID_NAME.fullmatch(kind.name)):
        whole = kind.numbers.is_plain and bool((numbers == np.floor(numbers)).all())
        counts = is_integer or cells.is_text
        if whole and counts and pc.count_distinct(cells.column).as_py() == n:
            why = "whole numbers, all different"
            return ColumnKind(kind.name, AS_ID, why, option="number")
    return kind
