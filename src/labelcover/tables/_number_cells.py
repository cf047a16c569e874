"""Numbers as people write them: decimal and thousands signs, units, ranges; one way a column."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from labelcover._words import WORDS

# Digits with a zero in front, which a number would lose: 01234 is a code.
CODE = re.compile(r"0\d+")
LONGEST_NUMBER = 60  # characters: what is longer is text
BLANKS = dict.fromkeys(map(ord, "\t\u00a0\u2007\u2009\u202f"), " ")
SIGNS = BLANKS | {ord("\u2212"): "-", ord("\u2019"): "'", ord("\u02bc"): "'", ord("`"): "'"}
#: Signs between thousands that nobody takes for a decimal sign.
SAFE_THOUSANDS = " '_"
CURRENCY_WORDS = {word: name for name, own in WORDS["currencies"].items() for word in own.split()}
FACTORS: dict[str, float] = WORDS["factors"]
WITH_CURRENCY: dict[str, float] = WORDS["factors with a currency"]  # $5m are millions
# What may stand beside a number as its unit: min, kg, km/h, m², °C, %, Std., US$.
WORD = r"(?:[^\W\d_]|[°%‰/$£€¥₹₽₩₺₴₪฿\"'²³.])+"
TOKEN = re.compile(r"((?:\d[\d.,' _]*|[.,]\d[\d ]*)(?:(?<=[\d.,])[eE][-+]?\d{1,3}(?!\d))?)")
BEFORE = re.compile(rf"(?P<sign>[-+]?)\s*(?P<unit>{WORD})?\s*(?P<inner>[-+]?)\s*")
BETWEEN = re.compile(rf"\s*(?P<unit>{WORD})?\s*(?:[-–—]|\bto\b|\bbis\b|…)\s*(?P<again>{WORD})?\s*")
AFTER = re.compile(rf"\s*(?P<end>[-–—]+|\+)?\s*(?P<unit>{WORD})?(?:\s+(?P<more>{WORD}))?")
LONGEST_UNIT = 12
# What stands before a number that is a bound or a guess: <5, ~40, ca. 30.
ABOUT = re.compile(
    r"(?:[<>≤≥~≈]\s*=?|\b(?:ca|c|circa|approx|about|etwa|env|environ)\b\.?)\s*", re.I
)
OUT_OF = re.compile(r"(?<=\d)\s*(?:/|\bout of\b)\s*(\d{1,3})$")  # 7/10, 4 out of 5
# Times of day and durations: 14:35, 2:30 PM, 1:02:03, 1h 45min.
CLOCK = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?(?:\s?([ap])\.?m\.?)?", re.I)
HOURS: list[str] = WORDS["hours"]
HOURS_AND_MINUTES = re.compile(
    rf"(\d+)\s?(?:{'|'.join(HOURS)})\.?\s?(\d\d?)\s?(?:m|min|mins|minutes?)?\.?", re.I
)
SHARES = ("%", "‰")
GROUPS = r"(?!0)\d{{1,3}}(?:[{0}]\d{{3}})+|(?!0)\d{{1,2}}(?:[{0}]\d{{2}})+[{0}]\d{{3}}"
ADDRESS = re.compile(r"(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)")


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of one column are written.

    Attributes
    ----------
    decimal : str
        The decimal sign; ``".,"`` if it is either of both.
    thousands : str
        The signs that may stand between groups of three digits; none if empty.
    unit : str
        What stands before or after the numbers: ``min``, ``%``, ``$``; none if empty.
    """

    decimal: str = "."
    thousands: str = ""
    unit: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether Arrow reads such numbers."""
        return self == NumberFormat()

    def with_decimal(self, decimal: str) -> "NumberFormat":
        """Return the format with a decimal sign; the other sign is then one of thousands."""
        if decimal == self.decimal:
            return self
        return replace(
            self, decimal=decimal, thousands=other_sign(decimal) + self.thousands.strip(".,")
        )

    def read(self, text: str) -> float | None:
        """Return the number that a cell holds, None if it is not written like this."""
        cell = number_parts(text)
        return None if cell is None else self._value(cell)

    def _value(self, cell: "_Written") -> float | None:
        factor = _factor_between(cell.unit, self.unit) if cell.unit else 1
        if not factor:
            return None
        if not cell.unit and self.unit in SHARES:
            return None  # beside 45% a mere 0.45 may be as much or less than one
        numbers = [n for part in cell.parts if (n := self._number(part)) is not None]
        if len(numbers) < len(cell.parts):
            return None
        if len(numbers) == 2 and numbers[0] > numbers[1]:
            return None  # 3-1 is a result, not a range
        number = factor * cell.factor * sum(numbers) / len(numbers)
        return number if np.isfinite(number) else None

    def _number(self, digits: str) -> float | None:
        whole, point, rest = digits.partition("e")
        if not _shape(self.decimal, self.thousands).fullmatch(whole) or ADDRESS.fullmatch(whole):
            return None
        for sign in self.thousands:
            whole = whole.replace(sign, "")
        return float(re.sub(f"[{self.decimal}]", ".", whole) + point + rest)

    @property
    def words(self) -> str:
        """What is unusual about the format, for people to read; empty if nothing is."""
        said = [f"in {self.unit}"] if self.unit else []
        if self.decimal != ".":
            said.append("decimal sign " + " or ".join(map(repr, self.decimal)))
        if self.thousands:
            said.append("thousands sign " + " or ".join(map(repr, self.thousands)))
        return ", ".join(said)


@dataclass(frozen=True)
class Found:
    """The format of the numbers, or the dates, of a column and what is known of it.

    Attributes
    ----------
    format : NumberFormat or DateFormat
        The format.
    decided : bool
        Whether some cell shows what the decimal sign, or the order of day and month, is.
    both : str
        Two readings of a cell, if it is unknown which one is right.
    about : str
        A cell that is a bound or a guess, such as ``<5``, read as the number.
    """

    format: Any
    decided: bool
    both: str = ""
    about: str = ""

    @property
    def words(self) -> str:
        """What is unusual about the numbers, for people to read; empty if nothing is."""
        about = f"{self.about!r} is read as the number alone" if self.about else ""
        return ", ".join(filter(None, [self.format.words, about, self.both]))


@dataclass(frozen=True)
class _Written:
    """A cell that looks like a number or a range, whatever its signs mean."""

    text: str
    parts: tuple[str, ...]
    unit: str
    factor: float


def find_numbers(
    values: list[str],
    counts: Iterable[int],
    *,
    decimal: str | None = None,
    likely: str | None = None,
) -> Found:
    """Return how the numbers among the values of a column are written.

    The decimal sign is the one with which more cells are numbers: in ``0,5`` the comma, in
    ``1.234.567`` too, in ``1,234.5`` the point. Where all cells are numbers with both, as
    ``1,234`` is, it is `likely`, that of other columns, else the point. It is both where ``3,4``
    and ``3.4`` are in one column, and no thousands are grouped with either. `counts` are the cells
    that hold each value, `decimal` is the sign if it is known.
    """
    cells = [
        (cell, count)
        for value, count in zip(values, counts, strict=True)
        if (cell := number_parts(value)) is not None
    ]
    unit = _main_unit(cells)
    cells = [each for each in cells if not each[0].unit or _factor_between(each[0].unit, unit)]
    safe = "".join(s for s in SAFE_THOUSANDS if any(s in p for c, _ in cells for p in c.parts))
    formats = {sign: NumberFormat(sign, other_sign(sign) + safe, unit) for sign in ".,"}
    signed = [each for each in cells if any({".", ","} & set(part) for part in each[0].parts)]
    score = {
        sign: sum(count for cell, count in signed if form._value(cell) is not None)
        for sign, form in formats.items()
    }
    decided = decimal is not None or score["."] != score[","]
    best = formats[decimal or (max(score, key=score.__getitem__) if decided else likely or ".")]
    other = formats[other_sign(best.decimal)]
    unclear = [] if decided else [cell.text for cell, _ in signed]
    both = both_readings(unclear, best, other, lambda _, number: f"{number:.10g}")
    about = next((cell.text for cell, _ in cells if ABOUT.match(cell.text)), "")
    # Without the point or comma between thousands, if no cell needs it.
    without = replace(best, thousands=best.thousands.strip(".,"))
    read = [cell for cell, _ in signed if best._value(cell) is not None]
    best = without if all(without._value(cell) is not None for cell in read) else best
    either = replace(best, decimal=".,")
    if decimal is None and not {".", ","} & set(best.thousands):
        is_read = [[form._value(cell) is not None for cell, _ in signed] for form in (best, either)]
        best = either if sum(is_read[1]) > sum(is_read[0]) else best
    return Found(best, decided, both, about)


def both_readings(
    values: list[str], best: Any, other: Any, told: Callable[[Any, float], str]
) -> str:
    """Return two readings of a value, by `told` of format and number; empty if no value has two."""
    for value in values:
        one, two = best.read(value), other.read(value)
        if one is not None and two is not None and one != two:
            return f"{value!r} is read as {told(best, one)}, and may be {told(other, two)}"
    return ""


def is_range(text: str) -> bool:
    """Return whether a cell may be two numbers with a dash between them and no unit."""
    cell = number_parts(text)
    return cell is not None and len(cell.parts) == 2 and not cell.unit


def other_sign(sign: str) -> str:
    """Return the decimal sign that another one is not."""
    return "," if sign == "." else "."


def _main_unit(cells: list[tuple[_Written, int]]) -> str:
    """Return the unit of most cells, empty if more have none; ``mins`` is ``min``."""
    counts: Counter[str] = Counter()
    for cell, count in cells:
        known = next((unit for unit in counts if same_unit(unit, cell.unit)), cell.unit)
        counts[known] += count
    units = [unit for unit, _ in counts.most_common() if unit]
    return units[0] if units and 2 * sum(counts[u] for u in units) >= counts.total() else ""


def _factor_between(one: str, other: str) -> float:
    """Return what a number in one unit is multiplied with to be in another; 0 if it cannot be."""
    if same_unit(one, other):
        return 1
    return 60 if same_unit(other, "min") and one.rstrip(".").lower() in HOURS else 0


def same_unit(one: str, other: str) -> bool:
    """Return whether two units are the same, but for an ending such as the plural's."""
    if one == other:
        return True
    a, b = sorted((one.rstrip("."), other.rstrip(".")), key=len)
    if len(a) < 2:
        return a == b or (len(a) == 1 and a + "s" == b)
    a, b = a.casefold(), b.casefold()
    return b.startswith(a) and b[len(a) :] in ("", "s", "es", "e", "n", "en")


@cache
def _shape(decimal: str, thousands: str) -> re.Pattern[str]:
    point = f"[{decimal}]"
    groups = "|".join(GROUPS.format(re.escape(sign)) for sign in thousands)
    whole = rf"\d+|{groups}" if groups else r"\d+"
    return re.compile(rf"(?:{whole})(?:{point}\d*)?|{point}\d+")


def number_parts(text: str) -> _Written | None:
    """Return the parts of a cell that looks like a number, whatever its signs mean."""
    if len(text) > LONGEST_NUMBER or not any(map(str.isdigit, text)):
        return None
    text = text.translate(SIGNS).strip()
    if clock := CLOCK.fullmatch(text):
        return _clock(text, *clock.groups())
    if time := HOURS_AND_MINUTES.fullmatch(text):
        return _Written(text, (str(60 * int(time[1]) + int(time[2])),), "min", 1.0)
    bare = ABOUT.sub("", text, count=1) if ABOUT.match(text) else text
    inner = re.fullmatch(r"(\D*)\(([^()]*)\)(\D*)", bare)
    bare = "".join(inner.groups()) if inner else bare
    of = OUT_OF.search(bare)
    pieces = TOKEN.split(bare[: of.start()] if of else bare)
    if len(pieces) not in (3, 5):
        return None
    before, after = BEFORE.fullmatch(pieces[0]), AFTER.fullmatch(pieces[-1])
    if before is None or after is None:
        return None
    numbers = [piece.strip() for piece in pieces[1::2]]
    in_front, units = [before["unit"]], _one_unit(after["unit"], after["more"])
    if len(numbers) == 2:
        between = BETWEEN.fullmatch(pieces[2])
        if between is None or before["sign"] or before["inner"] or after["end"] or inner:
            return None
        in_front, units = [*in_front, between["again"]], [between["unit"], *units]
    if any(word and _currency(word) is None for word in in_front):  # A4 is no number
        return None
    units += in_front
    name_and_factor = _unit_and_factor([unit for unit in units if unit])
    if name_and_factor is None:
        return None
    unit, factor = name_and_factor
    if of is not None:
        if unit or len(numbers) == 2:
            return None
        unit = f"/{of[1]}"
    if len(numbers) == 2 and not _may_be_range(numbers[0], numbers[1], unit):
        return None
    minus = "-" in before["sign"] + before["inner"] or inner is not None
    if after["end"] in ("-", "–", "—") and numbers[0][-1] not in ".,":  # bookkeepers write 5-
        minus = True
    parts = tuple(number.lower() for number in numbers)
    return _Written(text, parts, unit, -factor if minus else factor)


def _clock(text: str, first: str, second: str, third: str | None, half: str | None) -> _Written:
    """Return a time of day in minutes, or in seconds if it has them."""
    hour = int(first)
    if half is not None:
        hour = hour % 12 + 12 * (half.lower() == "p")
    minutes = 60 * hour + int(second)
    if third is None:
        return _Written(text, (str(minutes),), "h:min", 1.0)
    return _Written(text, (str(60 * minutes + int(third)),), "h:min:s", 1.0)


def _one_unit(word: str | None, more: str | None) -> list[str | None]:
    """Return two words after a number as one unit (``sq ft``, ``% vol``) if both are a unit."""
    if word and more and all(_currency(w) is None and not _factor(w, False) for w in (word, more)):
        return [f"{word} {more}"]
    return [word, more]


def _may_be_range(low: str, high: str, unit: str) -> bool:
    """Return whether two numbers are a range: not 555-1234, a telephone number, nor 5-2010."""
    if not unit and re.fullmatch(r"1?\d-(19|20)\d\d", f"{low}-{high}"):
        return False
    if not unit and re.fullmatch(r"\d{3}-\d{4}", f"{low}-{high}"):
        return high[-1] in "059"
    return not any(CODE.match(part) for part in (low, high))


def _unit_and_factor(words: list[str]) -> tuple[str, float] | None:
    """Return the one unit that words around a number are, and its factor; None if they are more."""
    currencies = {name for word in words if (name := _currency(word)) is not None}
    rest = dict.fromkeys(word.rstrip(".") for word in words if _currency(word) is None)
    factor = 1.0
    for word in list(rest):
        if by := _factor(word, bool(currencies)):
            factor *= by
            del rest[word]
    units = [*currencies, *rest]
    if len(units) > 1 or any(len(word) > LONGEST_UNIT for unit in units for word in unit.split()):
        return None
    return (units[0] if units else ""), factor


def _factor(word: str, with_currency: bool) -> float:
    """Return what a word such as million multiplies a number with; 0 if it does not."""
    word = word.rstrip(".")
    by = FACTORS.get(word) or FACTORS.get(word.lower() if len(word) > 1 else "", 0.0)
    return by or (WITH_CURRENCY.get(word, 0.0) if with_currency else 0.0)


def _currency(word: str) -> str | None:
    """Return the name of a currency, None if a word is none."""
    known = CURRENCY_WORDS.get(word.rstrip(".").lower())
    signs = sum(unicodedata.category(letter) == "Sc" for letter in word)
    return known or (word if signs == 1 and len(word) <= 3 else None)
