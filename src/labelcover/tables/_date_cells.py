"""Dates as people write them: names of months in three languages, day or month first."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import TypeAlias

from labelcover._words import WORDS
from labelcover.tables._number_cells import Found, both_readings

#: Which part of a date comes first, in the words of a message.
ORDERS = {"dmy": "day first", "mdy": "month first", "ymd": "year first"}
# Years of two digits: 50 is 1950, 49 is 2049.
FIRST_SHORT_YEAR = 50
LONGEST_DATE = 60  # characters: what is longer is text


def _plain(word: str) -> str:
    """Return a word without accents, in small letters."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if c.isalpha())


MONTH = {
    _plain(name): month
    for month, names in enumerate(WORDS["months"], start=1)
    for name in names.split()
}
WEEKDAY = frozenset(map(_plain, WORDS["weekdays"].split()))
NAME = r"[^\W\d_]{2,12}"
CLOCK = re.compile(
    r"(?:^|[T\s,]\s*(?:at|um|à)?\s*)(?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::(?P<second>\d\d)"
    r"(?:[.,]\d+)?)?)?\s*(?P<half>[AaPp]\.?\s?[Mm]\.?)?(?:\s?(?:Uhr|h))?"
    r"\s?(?P<zone>Z|UTC|GMT|[-+]\d\d(?::?\d\d)?)?$"
)
IN_FRONT = re.compile(rf"({NAME})\.?,?\s+(?=\S)")
NUMERIC = re.compile(r"(\d{1,4})([-./\s])\s?(\d{1,2})\2\s?(\d{1,4})\.?")
NAMED = re.compile(
    rf"(\d{{1,4}})(?:st|nd|rd|th|er|\.)?[-./\s]*(?:of\s|de\s)?\s*({NAME})\.?,?[-./\s]*(\d{{1,4}})"
)
LIKELY = r"(?P<year>(?!0|2[2-9]|[3-9])\d{4})"  # 1000 to 2199: what four digits alone may be
# Dates whose parts have one order only.
ORDERED = [
    re.compile(written)
    for written in (
        rf"(?P<name>{NAME})\.?[-./\s]*(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?"
        r"(?:,\s*|[-./\s]\s*)(?P<year>\d{4}|\d\d)",
        rf"(?P<name>{NAME})\.?[-./,\s]*(?P<year>\d{{4}})",
        # Oct-12 and Oct '12, as spreadsheets write a month; Oct 12 may be a day.
        rf"(?P<name>{NAME})\.?(?:-|\s?['’])(?P<year>\d\d)",
        r"(?P<year>\d{4})-(?P<month>\d\d)",
        rf"(?P<month>\d{{1,2}})[-./]{LIKELY}",
        rf"{LIKELY}(?:(?P<month>\d\d)(?P<day>\d\d))?",
    )
]
# Wed Oct 10 20:19:24 +0000 2018, as programs print it: the year is last.
YEAR_LAST = re.compile(rf"({NAME} +\d\d?) (\d\d:\d\d:\d\d(?: [-+]\d{{4}}| UTC| GMT)?) (\d{{4}})")
# Year, month and day for each possible order, or for "" if there is one; and the time of day.
_Split: TypeAlias = tuple[dict[str, tuple[int, int, int]], re.Match[str] | None]
POINTS = re.compile(r"\d\.\s?\d")


@dataclass(frozen=True)
class DateFormat:
    """How the dates of one column are written.

    Attributes
    ----------
    order : {"dmy", "mdy", "ymd"}
        Which part comes first where only the place of a part says what it is. Names of months and
        years of four digits say it themselves.
    """

    order: str = "dmy"

    @property
    def words(self) -> str:
        """The order of day, month and year, for people to read."""
        return ORDERS[self.order]

    def read(self, text: str) -> float | None:
        """Return the seconds since 1970 of a date, None if a cell is none."""
        found = date_parts(text)
        return None if found is None else self._value(found)

    def _value(self, found: _Split) -> float | None:
        parts, clock = found
        day = parts.get(self.order) or parts.get("")
        if day is None:
            return None
        try:
            return _seconds(*day, clock)
        except (ValueError, OverflowError):
            return None


def find_dates(values: list[str], counts: Iterable[int], *, likely: str | None = None) -> Found:
    """Return how the dates among the values of a column are written.

    The order of day, month and year is the one with which more cells are dates: a part above 12 is
    no month, one above 31 no day. Where two orders read as many, it is `likely`, that of other
    columns, else the day comes first. `counts` are the cells that hold each value.
    """
    open_cells = [
        (value, found, count)
        for value, count in zip(values, counts, strict=True)
        if (found := date_parts(value)) is not None and "" not in found[0]
    ]
    score = {
        order: sum(count for _, found, count in open_cells if form._value(found) is not None)
        for order, form in ((order, DateFormat(order)) for order in ORDERS)
    }
    most = max(score.values())
    equal = [order for order in ORDERS if score[order] == most]
    if not most or len(equal) == 1 or equal[0] == "ymd":
        return Found(DateFormat(equal[0]), decided=most > 0)
    # With points between them the day comes first in all countries, and a year of two digits is
    # last unless it cannot be.
    open_values = [value for value, *_ in open_cells if not POINTS.search(value)]
    best = likely if likely in equal and likely != "ymd" and open_values else equal[0]
    form, other = DateFormat(best), DateFormat("dmy" if best == "mdy" else "mdy")
    both = both_readings(
        open_values if "mdy" in equal else [],
        form,
        other,
        lambda form, day: f"{datetime.fromtimestamp(day, UTC):%Y-%m-%d}, {form.words}",
    )
    return Found(form, decided=not open_values, both=both)


def date_parts(text: str) -> _Split | None:
    """Return the parts of a cell that looks like a date, whatever their order."""
    if len(text) > LONGEST_DATE or not any(map(str.isdigit, text)):
        return None
    text = text.strip().replace("\u00a0", " ").replace("\u202f", " ")
    while (front := IN_FRONT.match(text)) and _plain(front[1]) in WEEKDAY:
        rest = text[front.end() :]
        months = {_plain(word) for word in re.findall(NAME, rest)} & MONTH.keys()
        if _plain(front[1]) in MONTH and not months:  # Mar 5, 2012, but mar. 5 mars 2012
            break
        text = rest
    if last := YEAR_LAST.fullmatch(text):
        text = f"{last[1]}, {last[3]} {last[2]}"
    clock = (
        CLOCK.search(text) if ":" in text or re.search(r"\d\s?[ap]\.?m\.?$", text, re.I) else None
    )
    parts = _parts((text[: clock.start()] if clock else text).strip(" ,"))
    return None if parts is None else (parts, clock)


def _parts(day: str) -> dict[str, tuple[int, int, int]] | None:
    if found := NUMERIC.fullmatch(day):
        return _numeric(found[1], found[3], found[4])
    if found := NAMED.fullmatch(day):
        return _named(found[1], MONTH.get(_plain(found[2])), found[3])
    for written in ORDERED:
        if found := written.fullmatch(day):
            part = found.groupdict()
            month = MONTH.get(_plain(part["name"])) if "name" in part else int(part["month"] or 1)
            year, first = _year(part["year"]), int(part.get("day") or 1)
            return None if month is None else {"": (year, month, first)}
    return None


def _numeric(first: str, second: str, third: str) -> dict[str, tuple[int, int, int]] | None:
    lengths = len(first), len(third)
    a, b, c = int(first), int(second), int(third)
    if lengths[0] == 4 and lengths[1] <= 2:
        return {"": (a, b, c)}
    if lengths[0] > 2 or lengths[1] in (1, 3):
        return None
    orders = {"dmy": (_year(third), b, a), "mdy": (_year(third), a, b)}
    return orders if lengths[1] == 4 else orders | {"ymd": (_year(first), b, c)}


def _named(first: str, month: int | None, third: str) -> dict[str, tuple[int, int, int]] | None:
    if month is None or 3 in (len(first), len(third)):
        return None
    if len(first) == 4 and len(third) <= 2:
        return {"": (int(first), month, int(third))}
    if len(first) > 2 or len(third) == 1:
        return None
    if len(third) == 4 or int(third) > 31 or int(third) == 0:
        return {"": (_year(third), month, int(first))}
    if int(first) > 31 or int(first) == 0:
        return {"": (_year(first), month, int(third))}
    # 26-Oct-12: nobody writes the year first but with four digits, or where others cannot be days.
    return {
        "dmy": (_year(third), month, int(first)),
        "mdy": (_year(third), month, int(first)),
        "ymd": (_year(first), month, int(third)),
    }


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (1900 if year >= FIRST_SHORT_YEAR else 2000)


def _seconds(year: int, month: int, day: int, clock: re.Match[str] | None) -> float:
    """Return the seconds since 1970 of a day and the time of it; without a zone it is UTC."""
    if clock is None:
        return datetime(year, month, day, tzinfo=UTC).timestamp()
    hour, half = int(clock["hour"]), (clock["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    minute, second = int(clock["minute"] or 0), int(clock["second"] or 0)
    time = datetime(year, month, day, hour, minute, second, tzinfo=_zone(clock["zone"]))
    return time.timestamp()


def _zone(written: str | None) -> timezone:
    if written is None or written[0] not in "+-":
        return UTC
    digits = written[1:].replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-ahead if written[0] == "-" else ahead)
