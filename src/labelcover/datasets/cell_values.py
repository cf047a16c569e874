"""The cells of a column as numbers, truth values, times or strings, and which cannot be read so."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# Digits with a zero in front, which a number would lose: 01234 is a code.
CODE = re.compile(r"0\d+")
# 1.234.567,8 where the decimal sign is a comma, and 1,234,567.8 where it is a point.
GROUPED = {
    ",": re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d+)?"),
    ".": re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?"),
}
TRUTH = {"true": 1.0, "yes": 1.0, "y": 1.0, "t": 1.0, "1": 1.0}
TRUTH |= {"false": 0.0, "no": 0.0, "n": 0.0, "f": 0.0, "0": 0.0}
DAYS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
CLOCKS = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")
#: Ways to write a time; where the day and the month could be either, the day comes first.
TIME_FORMATS = tuple(day + clock for day in DAYS for clock in CLOCKS)
ISO = "ISO 8601"
# What programs write into JSON: 2024-12-31T23:59:59.123Z.
PRECISE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?\s?(Z|[-+]\d\d(:?\d\d)?)?")


@dataclass(frozen=True)
class Coded:
    """A column as positions among its distinct values: -1 where a cell is empty."""

    codes: NDArray[np.int64]
    values: list[Any]

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Coded:
        """Return the coding of a column of any plain type."""
        import pyarrow as pa

        coded = column.combine_chunks().dictionary_encode()
        coded = coded.combine_chunks() if isinstance(coded, pa.ChunkedArray) else coded
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return cls(codes, coded.dictionary.to_pylist())

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


def is_text(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds strings."""
    import pyarrow.types as kinds

    return kinds.is_string(column.type)


def is_number(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds numbers."""
    import pyarrow.types as kinds

    kind = column.type
    return kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind)


def is_time(column: pa.ChunkedArray) -> bool:
    """Return whether a column holds dates, with or without the time of day."""
    import pyarrow.types as kinds

    return kinds.is_date(column.type) or kinds.is_timestamp(column.type)


def is_plain(column: pa.ChunkedArray) -> bool:
    """Return whether a cell of a column is one value that can be written: no list, no bytes."""
    import pyarrow.types as kinds

    kind = column.type
    is_bytes = kinds.is_binary(kind) or kinds.is_large_binary(kind) or kinds.is_binary_view(kind)
    return not (kinds.is_nested(kind) or is_bytes or kinds.is_fixed_size_binary(kind))


def as_strings(column: pa.ChunkedArray) -> list[str | None]:
    """Return the cells as strings, None where they are empty."""
    import pyarrow as pa

    return (column if is_text(column) else column.cast(pa.string())).to_pylist()


def as_numbers(column: pa.ChunkedArray, decimal: str | None = None) -> Readable:
    """Return the cells as numbers; truth values are 0 and 1, infinity cannot be read.

    Strings are numbers with `decimal` as the decimal sign; by default with the one, a point or a
    comma, by which more of them can be read. The thousands may be grouped. Of dates, lists and
    bytes no cell can be read.
    """
    import pyarrow as pa
    import pyarrow.types as kinds

    if is_text(column):
        coded = Coded.of(column)
        signs = (".", ",") if decimal is None else (decimal,)
        read = [coded.numbers(partial(_number, decimal=sign)) for sign in signs]
        return max(read, key=lambda numbers: numbers.share)  # the first of equals
    if is_time(column) or not is_plain(column):
        return _unreadable(column)
    if kinds.is_time(column.type):
        column = column.cast(pa.time64("us")).cast(pa.int64())
    elif kinds.is_duration(column.type):
        column = column.cast(pa.duration("us"), safe=False).cast(pa.int64())
    numbers = column.cast(pa.float64(), safe=False).to_numpy()
    bad = np.isinf(numbers)
    return Readable(np.where(bad, np.nan, numbers) if bad.any() else numbers, bad)


def _unreadable(column: pa.ChunkedArray) -> Readable:
    """Return a column of which no cell can be read."""
    filled = column.is_valid().to_numpy()
    return Readable(np.full(len(filled), np.nan), filled)


def as_truth(column: pa.ChunkedArray) -> Readable:
    """Return the cells as 0 and 1: yes and no, true and false, or their first letters."""
    if not is_text(column):
        read = as_numbers(column)
        bad = read.bad | ((read.numbers != 0) & (read.numbers != 1) & ~np.isnan(read.numbers))
        return Readable(np.where(bad, np.nan, read.numbers), bad)
    return Coded.of(column).numbers(lambda text: TRUTH.get(text.strip().lower()))


def as_seconds(column: pa.ChunkedArray, time_format: str) -> Readable:
    """Return the cells as seconds since 1970, written as `time_format` or in ISO 8601."""
    import pyarrow as pa

    if is_time(column):
        seconds = _seconds(column.cast(pa.timestamp("s"), safe=False))
        return Readable(seconds, np.zeros(len(seconds), dtype=bool))
    if not is_plain(column):
        return _unreadable(column)
    coded = Coded.of(column if is_text(column) else column.cast(pa.string()))
    cells = np.append(_read_times(coded.values, time_format), np.nan)[coded.codes]
    return Readable(cells, np.isnan(cells) & (coded.codes >= 0))


def _read_times(texts: list[str], time_format: str) -> NDArray[np.float64]:
    """Return the seconds of times written as `time_format` or in ISO 8601, NaN for other texts."""
    texts = [text.strip() for text in texts]
    known = np.full(len(texts), np.nan)
    for written in dict.fromkeys([time_format, *TIME_FORMATS[: len(CLOCKS)]]):
        if written != ISO and np.isnan(known).any():
            known = np.where(np.isnan(known), _written_times(texts, written), known)
    for at in np.flatnonzero(np.isnan(known)).tolist():
        known[at] = _precise_seconds(texts[at])
    return known


def _written_times(texts: list[str], written: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    array = pa.array(texts, pa.string())
    read = pc.strptime(array, format=written, unit="s", error_is_null=True)
    return np.where(_impossible(read, array, written), np.nan, _seconds(read))


def _precise_seconds(text: str) -> float:
    """Return a time of ISO 8601 with fractions of a second or a time zone, NaN if it is none."""
    if not PRECISE.fullmatch(text):
        return np.nan
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return np.nan
    return float(np.floor(time.replace(tzinfo=time.tzinfo or UTC).timestamp()))


def _impossible(read: pa.Array, texts: pa.Array, written: str) -> NDArray[np.bool_]:
    """Return which days no calendar has: Arrow reads February 31 as March 2 or 3."""
    import pyarrow.compute as pc

    moved = pc.and_(pc.less_equal(pc.day(read), 3), pc.match_substring_regex(texts, "29|30|31"))
    found = np.array(moved.fill_null(False).to_numpy(zero_copy_only=False))
    for at in np.flatnonzero(found).tolist():
        try:
            datetime.strptime(texts[at].as_py(), written)
            found[at] = False
        except ValueError:
            continue
    return found


def find_time_format(column: pa.ChunkedArray) -> str:
    """Return the way to write a time in which most cells of a column can be read."""
    if is_time(column) or not is_text(column):
        return ISO
    sample = Coded.of(column.drop_null().slice(0, 1000))
    may_be = np.array([any(map(str.isdigit, text)) for text in sample.values], dtype=bool)
    unread = np.isnan(_read_times(sample.values, ISO)) & may_be
    texts = [sample.values[at].strip() for at in np.flatnonzero(unread)]
    counts = sample.counts[unread]
    more = {ISO: 0}  # cells that can be read besides those in ISO 8601
    for written in TIME_FORMATS if texts else ():
        more[written] = counts[~np.isnan(_written_times(texts, written))].sum()
    return max(more, key=lambda written: more[written])  # the first of equals


def _seconds(times: Any) -> NDArray[np.float64]:
    import pyarrow as pa

    return times.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)


def _number(text: str, decimal: str) -> float | None:
    text = text.strip().replace("\u00a0", "")
    if GROUPED[decimal].fullmatch(text):
        text = text.replace("." if decimal == "," else ",", "")
    text = text.replace(",", ".") if decimal == "," else text
    if not NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if np.isfinite(number) else None
