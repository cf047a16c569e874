"""Columns as features: an encoder is fitted on the cells of one column and names its features."""

import calendar
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from labelcover._tag_separators import MARKS, PART_OF_NAMES, Separators, UnclearSeparators
from labelcover._tags import UnreadableTags, in_order, separated_tags
from labelcover.tables._cell_values import Coded

MISSING = "(missing)"
RARE = "(rare)"
# A value of a category stands alone if it is in so many rows, or in this share of them.
RARE_ROWS = 3
RARE_SHARE = 0.001
DAY = 86400.0
# The parts of a date that are numbers.
NUMBERS = ("age in days", "year", "hour")
MEDIAN_ROWS = 10_000
# Blanks and hyphens join the words of a text.
OPTION_MARKS = tuple(mark for mark in MARKS if mark not in PART_OF_NAMES)
# Options recur, pieces of prose do not: this share of the pieces is in several rows,
RECURRING = 0.9
# there are at most so many of them, or one for so many rows,
MOST_OPTIONS, ROWS_OF_AN_OPTION = 30, 10
# and this share of the cells holds several.
WITH_SEVERAL = 0.05
FIRST_LOOK = 300  # distinct cells in which pieces must recur, before all are looked at


@dataclass
class NumberColumn:
    """A number; a missing one is the median, marked by a feature of its own if that says something.

    Attributes
    ----------
    name : str
        The column, and its feature.
    fill : float
        What stands for a missing value.
    marked : bool
        Whether there is a feature ``name (missing)``.
    """

    name: str
    fill: float
    marked: bool

    @classmethod
    def fitted(cls, name: str, numbers: NDArray[np.float64], Y: NDArray[np.uint8]) -> Self:
        """Return the encoder for the numbers of the training rows, NaN where missing."""
        missing = np.isnan(numbers)
        # The median of what is known, of at most some 10,000 rows evenly spread.
        known = numbers[~missing] if missing.any() else numbers
        some = known[:: 1 + len(known) // MEDIAN_ROWS]
        return cls(name, float(np.median(some)) if len(some) else 0.0, says_something(missing, Y))

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [*self._names, *[f"{self.name} {MISSING}"] * self.marked]

    @property
    def is_number(self) -> list[bool]:
        """Which features are numbers; the others say whether something is so."""
        return [True, False] if self.marked else [True]

    @property
    def _names(self) -> list[str]:
        return [self.name]

    def encode(self, numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the features, each an array."""
        missing = np.isnan(numbers)
        filled = np.where(missing, self.fill, numbers) if missing.any() else numbers
        return [*self._features(filled), *[missing.astype(np.float64)] * self.marked]

    def _features(self, numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [numbers]


@dataclass
class DateColumn(NumberColumn):
    """A date: its year, month, weekday and hour, where these differ, and its age.

    Attributes
    ----------
    newest : float
        The newest date in training, from which ages count, in seconds since 1970.
    parts : list of str
        Which features ``name (year)``, ``name (month = May)`` and so on there are.
    """

    newest: float = 0.0
    parts: list[str] = field(default_factory=list)

    @classmethod
    def fitted(cls, name: str, seconds: NDArray[np.float64], Y: NDArray[np.uint8]) -> Self:
        """Return the encoder for the dates of the training rows, in seconds since 1970."""
        made, known = super().fitted(name, seconds, Y), seconds[~np.isnan(seconds)]
        made.newest = known.max()
        made.parts = [part for part, values in made._parts(known).items() if np.ptp(values) > 0]
        return made

    @property
    def is_number(self) -> list[bool]:
        """Which features are numbers; the others say whether something is so."""
        return [part in NUMBERS for part in self.parts] + [False] * self.marked

    @property
    def _names(self) -> list[str]:
        return [f"{self.name} ({part})" for part in self.parts]

    def _features(self, seconds: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        parts = self._parts(seconds)
        return [parts[part] for part in self.parts]

    def _parts(self, seconds: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        days = np.floor(seconds / DAY)
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        numbers = (
            (self.newest - seconds) / DAY,
            1970.0 + months // 12,
            np.floor((seconds - days * DAY) / 3600),
        )
        parts = dict(zip(NUMBERS, numbers, strict=True))
        for month in range(12):
            parts[f"month = {calendar.month_abbr[month + 1]}"] = (months % 12 == month) * 1.0
        for day in range(7):  # the first of January 1970 was a Thursday
            parts[f"weekday = {calendar.day_abbr[day]}"] = ((days + 3) % 7 == day) * 1.0
        return parts


@dataclass
class CategoryColumn:
    """Categories: a feature of zeros and ones for each value, one for all rare or new ones.

    Attributes
    ----------
    name : str
        The column; features are ``name = value``, of options ``name: value``.
    separators : Separators or None
        What separates the options of a cell, of which a missing one has none; None if a cell is
        one category, a missing one too.
    values : list of str
        The values that are a feature, in order.
    rare : list of str
        The values of training that share a feature with all that are new.
    """

    name: str
    separators: Separators | None
    values: list[str] = field(default_factory=list)
    rare: list[str] = field(default_factory=list)

    @classmethod
    def fitted(cls, name: str, cells: Coded, separators: Separators | None = None) -> Self:
        """Return the encoder for the values of the training rows."""
        made, counts = cls(name, separators), Counter[str]()
        n_missing = int(np.count_nonzero(cells.codes < 0))
        for held, n in zip(made._held(cells), [*cells.counts.tolist(), n_missing], strict=True):
            counts.update(dict.fromkeys(held, n))
        often = max(RARE_ROWS, int(RARE_SHARE * len(cells.codes)))
        ordered = sorted(counts) if separators is None else in_order(counts)
        made.values = [value for value in ordered if counts[value] >= often]
        made.rare = [value for value in ordered if 0 < counts[value] < often]
        return made

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        between = " = " if self.separators is None else ": "
        return [f"{self.name}{between}{value}" for value in self.codes_mean]

    @property
    def codes_mean(self) -> list[str]:
        """What the codes stand for, in order."""
        return [*self.values, *([RARE] if self.rare else [])]

    def _held(self, cells: Coded) -> list[list[str]]:
        """Return what each distinct value holds, and behind them what a missing cell does."""
        if self.separators is None:
            return [*([value.strip()] for value in cells.values), [MISSING]]
        try:
            return [*separated_tags(cells.values, self.separators)[0], []]
        except UnreadableTags as error:
            row = int(np.argmax(cells.codes == error.row))
            raise UnreadableTags(row, error.text) from None

    def codes(self, cells: Coded) -> NDArray[np.int64]:
        """Return the place of each category among `codes_mean`; -1 if it is none of them."""
        return np.array([own[0] if own else -1 for own in self._places(cells)])[cells.codes]

    def _places(self, cells: Coded) -> list[list[int]]:
        """Return where what each distinct value holds, and a missing cell, is in `codes_mean`."""
        place, other = {value: j for j, value in enumerate(self.values)}, len(self.values)
        other = other if self.rare else -1
        held = ({place.get(value, other) for value in own} for own in self._held(cells))
        return [sorted(own - {-1}) for own in held]

    def new(self, cells: Coded) -> NDArray[np.bool_]:
        """Return which cells hold a category that is not in training."""
        known = {*self.values, *self.rare}
        is_new = [value.strip() not in known for value in cells.values]
        return np.array([*is_new, False])[cells.codes]

    def encode(self, cells: Coded) -> sparse.csr_array:
        """Return the features as a sparse table."""
        places = self._places(cells)
        starts = np.cumsum([0, *map(len, places)], dtype=np.int32)
        columns = np.array([j for own in places for j in own], dtype=np.int32)
        shape = len(places), len(self.codes_mean)
        table = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=shape)
        return table[cells.codes.astype(np.int32)]  # as scikit-learn's trees take indices

    def __getstate__(self) -> dict[str, Any]:
        # A model file would hold an entry for each value.
        return {**self.__dict__, "values": json.dumps(self.values), "rare": json.dumps(self.rare)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, rare = json.loads(state["values"]), json.loads(state["rare"])
        self.__dict__.update(state, values=values, rare=rare)


def says_something(marks: NDArray[np.bool_], Y: NDArray[np.uint8]) -> bool:
    """Return whether marked rows have another share of some label: a χ² test at 5 %.

    The level is divided by the number of labels (Bonferroni).
    """
    n, marked = len(marks), int(marks.sum())
    if not 0 < marked < n or not Y.shape[1]:
        return False
    ones, both = (np.asarray(some.sum(axis=0), dtype=np.float64).ravel() for some in (Y, Y[marks]))
    spread: Any = ones * (n - ones) * marked * (n - marked)
    with np.errstate(divide="ignore", invalid="ignore"):
        chi_square = np.where(spread > 0, n * (n * both - ones * marked) ** 2 / spread, 0.0)
    return bool(special.chdtrc(1, chi_square.max()) * Y.shape[1] < 0.05)


def found_options(cells: Sequence[str | None]) -> Separators | None:
    """Return what separates the options of a column, None if its cells do not hold several.

    Where two readings are about as likely, a cell is taken as one value.

    Examples
    --------
    >>> from labelcover.tables._column_encoders import found_options
    >>> found_options(["At home", "At home, At work", "On the way, At home", "At work"] * 3).marks
    (',',)
    >>> found_options(["It broke, sadly.", "Good, but loud.", "No sound, no light."]) is None
    True
    """
    filled = [cell for cell in cells if cell]
    if not _may_hold_options(list(dict.fromkeys(filled))[:FIRST_LOOK]):
        return None
    try:
        rows, separators = separated_tags(filled, marks=OPTION_MARKS)
    except (UnclearSeparators, UnreadableTags):
        return None
    several = sum(len(row) > 1 for row in rows)
    counts = Counter(option for row in rows for option in row)
    recurring = sum(count for count in counts.values() if count >= RARE_ROWS)
    are_options = (
        several >= max(RARE_ROWS, WITH_SEVERAL * len(rows))
        and recurring >= RECURRING * counts.total()
        and len(counts) <= max(MOST_OPTIONS, len(rows) / ROWS_OF_AN_OPTION)
    )
    return separators if are_options else None


def _may_hold_options(distinct: Sequence[str]) -> bool:
    """Tell whether some mark leaves pieces that mostly recur: quick, as texts are long."""
    if not distinct:
        return False
    if all(cell.lstrip()[:1] in "[({<" for cell in distinct):
        return True
    for mark in OPTION_MARKS:
        separators = Separators((mark,))
        if any(mark.strip() in cell for cell in distinct):
            counts = Counter(piece for cell in distinct for piece in separators.split(cell))
            if 2 * sum(count for count in counts.values() if count > 1) > counts.total():
                return True
    return False
