"""Columns whose cells hold several options each: a feature of zeros and ones for each option."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from scipy import sparse

from labelcover._separator_search import MARKS, PART_OF_NAMES, UnclearSeparators, found_separators
from labelcover._tag_lists import UnreadableTags, listed_tags
from labelcover._tag_separators import Separators
from labelcover._tags import separated_tags, split_tags, tag_table
from labelcover.datasets.column_encoders import RARE, RARE_ROWS, RARE_SHARE

# Blanks and hyphens join the words of a text.
OPTION_MARKS = tuple(mark for mark in MARKS if mark not in PART_OF_NAMES)
# Options recur, pieces of prose do not: this share of the pieces is in several rows,
RECURRING = 0.9
# there are at most so many of them, or one for so many rows,
MOST_OPTIONS, ROWS_OF_AN_OPTION = 30, 10
# and this share of the cells holds several.
WITH_SEVERAL = 0.05
FIRST_LOOK = 300  # distinct cells in which pieces must recur, before all are looked at


def found_options(cells: Sequence[str | None]) -> Separators | None:
    """Return what separates the options of a column, None if its cells do not hold several.

    Where two readings are about as likely, a cell is taken as one value.

    Examples
    --------
    >>> from labelcover.datasets.option_columns import found_options
    >>> found_options(["At home", "At home, At work", "On the way, At home", "At work"] * 3).marks
    (',',)
    >>> found_options(["It broke, sadly.", "Good, but loud.", "No sound, no light."]) is None
    True
    """
    filled = [cell for cell in cells if cell]
    if not _may_hold_options(list(dict.fromkeys(filled))[:FIRST_LOOK]):
        return None
    try:
        listed = listed_tags(filled)
        separators = (
            found_separators(filled, OPTION_MARKS)
            if listed is None
            else Separators((), listed=True)
        )
    except (UnclearSeparators, UnreadableTags):
        return None
    rows = split_tags(filled, separators) if listed is None else listed
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
    def fitted(cls, name: str, cells: Sequence[str | None]) -> OptionsColumn:
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
