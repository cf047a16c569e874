"""The cells of a column as numbers, truth values, times or strings; which are missing or wrong.

Arrow, which holds them, is imported when it is first used: it is slow to import, and of an extra.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._words import WORDS
from labelcover.tables._date_cells import DateFormat
from labelcover.tables._number_cells import Found, NumberFormat, find_numbers, other_sign


class LazyModule:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by what looks at modules
            raise AttributeError(name)
        return getattr(import_module(self.name), name)


if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
else:
    pa, pc = LazyModule("pyarrow"), LazyModule("pyarrow.compute")

AnyPath: TypeAlias = str | os.PathLike[str]
Features: TypeAlias = "NDArray[np.float64] | sparse.csr_array"
#: What the first column is called if it has no name: pandas writes the numbers of rows there.
UNNAMED = "column 1"
PLAIN = NumberFormat()
DAY_FIRST = DateFormat()
DECIMALS = (".", ",")
# Numbers that Arrow can read once the decimal sign is a point, with the other sign between
# thousands or without.
UNGROUPED = {".": r"\d+\.?\d*|\.\d+", ",": r"\d+,?\d*|,\d+"}
GROUPED = {".": r"[1-9]\d{0,2}(,\d{3})+(\.\d*)?", ",": r"[1-9]\d{0,2}(\.\d{3})+(,\d*)?"}
ADDRESSES = r"^\s*\d{1,3}(\.\d{3}){3}\s*$"  # or large numbers
LONGEST = 80  # characters of a cell in a message
# 05.2021 is May 2021, not a number.
MONTHS = r"^\s*(0[1-9]|1[0-2])\.(19|20)\d\d\s*$"
ISO_DATES = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?)?$"
TRUTH = dict.fromkeys(WORDS["true"].split(), 1.0) | dict.fromkeys(WORDS["false"].split(), 0.0)
#: What programs and people write into a cell for "no value"; in upper or lower case.
MISSING: tuple[str, ...] = tuple(WORDS["missing"])
# Sodium, not a missing value.
VALUES = ("Na",)
_LOWER = {marker.lower() for marker in MISSING}
_LONGEST = max(map(len, MISSING))


class DataError(ValueError):
    """A file that cannot be read: says which file, which line and what was expected.

    Parameters
    ----------
    path : path-like
        The file.
    text : str
        What is wrong, and what was expected.
    line : int, optional
        The line, from 1, where there is one.
    name : str, optional
        The column that was asked for and is not there.
    """

    def __init__(
        self,
        path: AnyPath,
        text: str,
        line: int | None = None,
        name: str | None = None,
    ) -> None:
        where = os.fspath(path) if line is None else f"{os.fspath(path)}:{line}"
        super().__init__(f"{where}: {text}")
        self.path, self.text, self.line, self.name = path, text, line, name

    def __reduce__(self):
        return type(self), (self.path, self.text, self.line, self.name)


class ReadingWarning(UserWarning):
    """Something about a training table that its `ReadingReport` says too."""


@dataclass(frozen=True)
class Readable:
    """Cells as numbers: NaN where a cell is empty, or `bad`: it cannot be read."""

    numbers: NDArray[np.float64]
    bad: NDArray[np.bool_]

    @property
    def share(self) -> float:
        """The share of the cells that are not empty that can be read; 0 if all are empty."""
        read = np.count_nonzero(~np.isnan(self.numbers))
        filled = read + np.count_nonzero(self.bad)
        return read / filled if filled else 0.0


@dataclass(frozen=True)
class Coded:
    """A column as positions among its distinct values: -1 where a cell is empty."""

    codes: NDArray[np.int64]
    values: list[Any]

    @property
    def counts(self) -> NDArray[np.int64]:
        """In how many cells each value is."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def numbers(self, of_value: Callable[[Any], float | None]) -> Readable:
        """Return what `of_value` makes of each cell; None is what cannot be read."""
        made = [of_value(value) for value in self.values]
        known = np.array([np.nan if number is None else number for number in made] + [np.nan])
        bad = np.array([number is None for number in made] + [False])
        return Readable(known[self.codes], bad[self.codes])


@dataclass(frozen=True)
class Cells:
    """The cells of a column of Arrow: of which type they are, and what they can be read as."""

    column: pa.ChunkedArray

    @property
    def is_text(self) -> bool:
        """Whether the cells are strings."""
        return pa.types.is_string(self.column.type)

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers."""
        kind = self.column.type
        return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)

    @property
    def is_time(self) -> bool:
        """Whether the cells are dates, with or without the time of day."""
        return pa.types.is_date(self.column.type) or pa.types.is_timestamp(self.column.type)

    @property
    def is_plain(self) -> bool:
        """Whether a cell is one value that can be written: no list, no bytes."""
        is_bytes = pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view
        no_value = (*is_bytes, pa.types.is_fixed_size_binary, pa.types.is_nested)
        return not any(is_one(self.column.type) for is_one in no_value)

    @property
    def are_iso_dates(self) -> bool:
        """Whether the cells are strings such as 2024-12-31, or 2024-12-31 23:59."""
        return self.is_text and self.all_match(ISO_DATES)

    @property
    def are_months(self) -> bool:
        """Whether the cells are strings such as 05.2021, some with a zero."""
        return self.is_text and self.all_match(MONTHS) and self.any_match(r"^\s*0")

    @property
    def strings(self) -> list[str | None]:
        """The cells as strings, None where they are empty."""
        return (self.column if self.is_text else self.column.cast(pa.string())).to_pylist()

    @cached_property
    def coded(self) -> Coded:
        """The cells of any plain type as positions among the values that they are as strings."""
        text = self.column if self.is_text else self.column.cast(pa.string())
        coded = text.dictionary_encode().combine_chunks()
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return Coded(codes, coded.dictionary.to_pylist())

    def numbers(self, written: NumberFormat = PLAIN) -> Readable:
        """Return the cells as numbers; truth values are 0 and 1, infinity cannot be read.

        Strings are numbers if they are written like this. Of dates, lists and bytes no cell can be
        read.
        """
        column = self.column
        if self.is_text:
            quick = self._quick_numbers(written)
            return self.coded.numbers(written.read) if quick is None else quick
        if self.is_time or not self.is_plain:
            return self._unreadable()
        if pa.types.is_time(column.type):
            column = column.cast(pa.time64("us")).cast(pa.int64())
        elif pa.types.is_duration(column.type):
            column = column.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return _finite(column.cast(pa.float64(), safe=False).to_numpy())

    def found_numbers(self, *, decimal: str | None = None, likely: str | None = None) -> Found:
        """Return how the numbers of a column are written; see `find_numbers`."""
        if not self.is_text:
            return Found(PLAIN, decided=False)
        quick = self.quick_format(decimal)
        if quick is not None:
            return Found(quick, decided=True)
        values, counts = self.coded.values, self.coded.counts.tolist()
        return find_numbers(values, counts, decimal=decimal, likely=likely)

    def quick_format(self, decimal: str | None = None) -> NumberFormat | None:
        """Return how numbers are written that Arrow can read and that show it; else None."""
        signs = [sign for sign in DECIMALS if self.all_match(_numbers_with(sign, grouped=True))]
        if len(signs) != 1 or decimal not in (None, *signs) or self.any_match(ADDRESSES):
            return None
        grouped = not self.all_match(_numbers_with(signs[0], grouped=False))
        return NumberFormat(signs[0], other_sign(signs[0]) if grouped else "")

    def _quick_numbers(self, written: NumberFormat) -> Readable | None:
        """Return the numbers of a column that Arrow can read; None if it cannot."""
        if written.decimal not in DECIMALS or written.unit:
            return None
        other = other_sign(written.decimal)
        pattern = _numbers_with(written.decimal, grouped=other in written.thousands)
        if not self.all_match(pattern) or self.any_match(ADDRESSES):
            return None
        plain = pc.replace_substring(pc.utf8_trim_whitespace(self.column), other, "")
        plain = pc.replace_substring(pc.utf8_ltrim(plain, "+"), written.decimal, ".")
        return _finite(plain.cast(pa.float64()).to_numpy())

    def truth(self) -> Readable:
        """Return the cells as 0 and 1: yes and no, true and false in three languages, y and n."""
        if self.is_text:
            return self.coded.numbers(lambda text: TRUTH.get(text.strip().lower()))
        read = self.numbers()
        bad = read.bad | ((read.numbers != 0) & (read.numbers != 1) & ~np.isnan(read.numbers))
        return Readable(np.where(bad, np.nan, read.numbers), bad)

    def seconds(self, written: DateFormat) -> Readable:
        """Return the cells as seconds since 1970; see `DateFormat` for strings."""
        cells = self
        if self.are_iso_dates:
            with suppress(pa.ArrowInvalid):  # some day is in no calendar
                cells = Cells(self.column.cast(pa.timestamp("s")))
        if cells.is_time:
            days = cells.column.cast(pa.timestamp("s"), safe=False)
            seconds = days.cast(pa.int64()).cast(pa.float64()).to_numpy()
            return Readable(seconds, np.zeros(len(seconds), dtype=bool))
        return self.coded.numbers(written.read) if self.is_plain else self._unreadable()

    def _unreadable(self) -> Readable:
        """Return a column of which no cell can be read."""
        filled = self.column.is_valid().to_numpy()
        return Readable(np.full(len(filled), np.nan), filled)

    def all_match(self, pattern: str) -> bool:
        """Return whether all strings that are not empty match; False if there are none."""
        return bool(pc.all(pc.match_substring_regex(self.column, pattern)).as_py())

    def any_match(self, pattern: str) -> bool:
        """Return whether some string matches."""
        return bool(pc.any(pc.match_substring_regex(self.column, pattern)).as_py())


def _numbers_with(decimal: str, *, grouped: bool) -> str:
    digits = f"{UNGROUPED[decimal]}|{GROUPED[decimal]}" if grouped else UNGROUPED[decimal]
    return rf"^\s*[-+]?({digits})([eE][-+]?\d{{1,3}})?\s*$"


def _finite(numbers: NDArray[np.float64]) -> Readable:
    bad = np.isinf(numbers)
    return Readable(np.where(bad, np.nan, numbers) if bad.any() else numbers, bad)


def shown_cell(value: Any) -> str:
    """Return a value of a cell for people to read: strings in quotes, cut off if long."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def shown(names: Sequence[str], most: int = 8) -> str:
    """Return some of the names, for people to read."""
    return ", ".join(map(str, names[:most])) + (", …" if len(names) > most else "")


def is_missing(cell: str) -> bool:
    """Return whether a cell means: no value.

    Examples
    --------
    >>> from labelcover.tables._cell_values import is_missing
    >>> [is_missing(cell) for cell in (" ", "n/a", "k. A.", "Na", "0")]
    [True, True, True, False, False]
    """
    cell = cell.strip()
    return len(cell) <= _LONGEST and cell.lower() in _LOWER and cell not in VALUES


def without_markers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of strings with null where a cell means: no value."""
    # Long cells are documents: only those that may be markers are looked at.
    short = pc.filter(column, pc.less_equal(pc.binary_length(column), 2 * _LONGEST))
    markers = [
        cell for cell in pc.unique(short).to_pylist() if cell is not None and is_missing(cell)
    ]
    if not markers:
        return column
    found = pc.is_in(column, value_set=pa.array(markers, column.type))
    return pc.if_else(found, pa.scalar(None, column.type), column)
