"""Columns as features: an encoder is fitted on the cells of one column and names its features."""

import calendar
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from labelcover._tag_separators import MARKS, PART_OF_NAMES, Separators, UnclearSeparators
from labelcover._tags import UnreadableTags, separated_tags, tag_table
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


class NumberColumn:
    """A number; a missing one is the median, marked by a feature of its own if that says something.

    Parameters
    ----------
    name : str
        The column, and its feature.
    fill : float
        What stands for a missing value.
    marked : bool
        Whether there is a feature ``name (missing)``.
    """

    def __init__(self, name: str, fill: float, marked: bool) -> None:
        self.name, self.fill, self.marked = name, fill, marked

    @classmethod
    def fitted(
        cls, name: str, numbers: NDArray[np.float64], Y: NDArray[np.uint8]
    ) -> "NumberColumn":
        """Return the encoder for the numbers of the training rows, NaN where missing."""
        missing = np.isnan(numbers)
        return cls(name, _median(numbers, missing), says_something(missing, Y))

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [self.name, f"{self.name} {MISSING}"] if self.marked else [self.name]

    @property
    def is_number(self) -> list[bool]:
        """Which features are numbers; the others say whether something is so."""
        return [True, False] if self.marked else [True]

    def encode(self, numbers: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the features, each an array."""
        missing = np.isnan(numbers)
        filled = np.where(missing, self.fill, numbers) if missing.any() else numbers
        return [filled, missing.astype(np.float64)] if self.marked else [filled]


class DateColumn:
    """A date: its year, month, weekday and hour, where these differ, and its age.

    Parameters
    ----------
    name : str
        The column; features are ``name (year)``, ``name (month = May)`` and so on.
    newest : float
        The newest date in training, from which ages count, in seconds since 1970.
    fill : float
        What stands for a missing date.
    marked : bool
        Whether there is a feature ``name (missing)``.
    parts : list of str
        Which features there are.
    """

    def __init__(
        self, name: str, newest: float, fill: float, marked: bool, parts: list[str]
    ) -> None:
        self.name, self.newest, self.fill = name, newest, fill
        self.marked, self.parts = marked, parts

    @classmethod
    def fitted(cls, name: str, seconds: NDArray[np.float64], Y: NDArray[np.uint8]) -> "DateColumn":
        """Return the encoder for the dates of the training rows, in seconds since 1970."""
        missing = np.isnan(seconds)
        known = seconds[~missing]
        fill = _median(seconds, missing)
        made = cls(name, known.max(), fill, says_something(missing, Y), [])
        made.parts = [part for part, values in made._parts(known).items() if np.ptp(values) > 0]
        return made

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        parts = [*self.parts, "missing"] if self.marked else self.parts
        return [f"{self.name} ({part})" for part in parts]

    @property
    def is_number(self) -> list[bool]:
        """Which features are numbers; the others say whether something is so."""
        return [part in NUMBERS for part in self.parts] + [False] * self.marked

    def encode(self, seconds: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the features, each an array."""
        missing = np.isnan(seconds)
        parts = self._parts(np.where(missing, self.fill, seconds))
        features = [parts[part] for part in self.parts]
        return [*features, missing.astype(np.float64)] if self.marked else features

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


class CategoryColumn:
    """A category: a feature of zeros and ones for each value, one for all rare or new ones.

    Parameters
    ----------
    name : str
        The column; features are ``name = value``.
    values : list of str
        The values that are a feature, in order.
    rare : list of str
        The values of training that share a feature with all that are new.
    """

    def __init__(self, name: str, values: list[str], rare: list[str]) -> None:
        self.name, self.values, self.rare = name, values, rare

    @classmethod
    def fitted(cls, name: str, cells: Coded) -> "CategoryColumn":
        """Return the encoder for the values of the training rows."""
        often = max(RARE_ROWS, int(RARE_SHARE * len(cells.codes)))
        counts = Counter({MISSING: int(np.count_nonzero(cells.codes < 0))})
        for value, n in zip(cells.values, cells.counts.tolist(), strict=True):
            counts[value.strip()] += n
        values = sorted(value for value, n in counts.items() if n >= often)
        return cls(name, values, sorted(value for value, n in counts.items() if 0 < n < often))

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [f"{self.name} = {value}" for value in self.codes_mean]

    @property
    def codes_mean(self) -> list[str]:
        """What the codes stand for, in order."""
        return [*self.values, *([RARE] if self.rare else [])]

    def codes(self, cells: Coded) -> NDArray[np.int64]:
        """Return the place of each cell among `codes_mean`; -1 for a value that is none of them."""
        other = len(self.values) if self.rare else -1
        place = {value: j for j, value in enumerate(self.values)}
        values = [*(value.strip() for value in cells.values), MISSING]
        return np.array([place.get(value, other) for value in values])[cells.codes]

    def new(self, cells: Coded) -> NDArray[np.bool_]:
        """Return which cells hold a value that is not in training."""
        known = {*self.values, *self.rare}
        return np.array([value.strip() not in known for value in cells.values] + [False])[
            cells.codes
        ]

    def encode(self, cells: Coded) -> sparse.csr_array:
        """Return the features as a sparse table."""
        codes = self.codes(cells).astype(np.int32)  # as scikit-learn's trees take indices
        starts = np.concatenate([[0], np.cumsum(codes >= 0)]).astype(np.int32)
        shape = len(codes), len(self.codes_mean)
        return sparse.csr_array((np.ones(starts[-1]), codes[codes >= 0], starts), shape=shape)

    def __getstate__(self) -> dict[str, Any]:
        # A model file would hold an entry for each value.
        return {**self.__dict__, "values": json.dumps(self.values), "rare": json.dumps(self.rare)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, rare = json.loads(state["values"]), json.loads(state["rare"])
        self.__dict__.update(state, values=values, rare=rare)


def _median(numbers: NDArray[np.float64], missing: NDArray[np.bool_]) -> float:
    """Return the median of what is known, of at most some 10,000 rows evenly spread."""
    known = numbers[~missing] if missing.any() else numbers
    return float(np.median(known[:: 1 + len(known) // MEDIAN_ROWS])) if len(known) else 0.0


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


class OptionsColumn:
    """Options: a feature of zeros and ones for each, one for all rare or new ones.

    Parameters
    ----------
    name : str
        The column; features are ``name: option``.
    separators : Separators
        What separates the options of a cell.
    options : list of str
        The options that are a feature.
    rare : bool
        Whether there is a feature for all others.
    """

    def __init__(self, name: str, separators: Separators, options: list[str], rare: bool) -> None:
        self.name, self.separators = name, separators
        self.options, self.rare = options, rare

    @classmethod
    def fitted(cls, name: str, cells: Sequence[str | None]) -> "OptionsColumn":
        """Return the encoder for the options of the training rows, None where missing."""
        separators = found_options(cells)
        assert separators is not None  # what makes the column one of options
        rows, separators = separated_tags(cells, separators)
        table, options = tag_table(rows, as_sparse=True)
        often = max(RARE_ROWS, int(RARE_SHARE * len(cells)))
        counts = np.asarray(table.sum(axis=0)).ravel()
        kept = [option for option, n in zip(options, counts, strict=True) if n >= often]
        return cls(name, separators, kept, rare=len(kept) < len(options))

    @property
    def feature_names(self) -> list[str]:
        """The names of the features."""
        return [f"{self.name}: {option}" for option in [*self.options, *[RARE] * self.rare]]

    def encode(self, cells: Sequence[str | None]) -> sparse.csr_array:
        """Return the features as a sparse table."""
        rows = separated_tags(cells, self.separators)[0]
        if self.rare:
            known = set(self.options)
            rows = [[option if option in known else RARE for option in row] for row in rows]
        columns = [*self.options, *[RARE] * self.rare]
        return sparse.csr_array(tag_table(rows, columns, as_sparse=True)[0], dtype=np.float64)
