"""The labels of a table: a column of tags, or a column of zeros and ones for each label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, parameter
from labelcover._tag_separators import Separators, UnclearSeparators
from labelcover._tags import (
    UnreadableTags,
    as_marks,
    distinct_tags,
    free_separator,
    in_order,
    separated_tags,
    tag_table,
)
from labelcover.datasets._dataset import EMPTY, choose_labels, settled_labels
from labelcover.datasets._file_limits import check_bytes
from labelcover.tables import DataError, is_missing, pa, pc, shown

if TYPE_CHECKING:
    from labelcover.datasets._raw_tables import RawTable

FEWEST_ROWS = 2  # a tag of one row cannot be learned: without that row there is nothing to see
TAG_BYTES = 64  # of a tag, or of a row of them, as an object of Python
CROSSES = {"x", "X", "✓", "✔"}  # in a column of these alone, an empty cell is 0


@dataclass(frozen=True)
class LabelColumns:
    """Where the labels of a table are.

    Attributes
    ----------
    names : list of str
        The labels, columns of Y.
    tags : str or None
        The column of tags; None if each label is a column.
    separator : str
        What is written between predicted tags.
    separators : Separators or None
        What separates the tags of a cell.
    empty : str or None
        What an empty cell means, "none", "skip" or "unknown"; None is not said.
    left_out : tuple of str
        Tags of one row only.
    n_empty : int
        Rows of the training table without tags, or left out for an empty cell, or whose tags are
        not known.
    no_value : tuple of str
        What looks like a mark for a missing value, and is no tag.
    """

    names: list[str]
    tags: str | None = None
    separator: str = ";"
    separators: Separators | None = None
    empty: str | None = None
    left_out: tuple[str, ...] = ()
    n_empty: int = 0
    no_value: tuple[str, ...] = ()

    @classmethod
    def found(
        cls,
        table: RawTable,
        labels: Sequence[str] | None,
        prefix: str | Sequence[str] | None,
        empty: str | None,
        *,
        span: str | None = None,
        tags: str | None = None,
        separator: str | Sequence[str] | None = None,
    ) -> tuple[LabelColumns, RawTable]:
        """Return where the labels of a training table are, and its rows without those to skip.

        They are given as to `read_table`. Tags of one row only are left out, with a warning.

        Raises
        ------
        DataError
            If there is no such column, it has no tags, or only tags of one row, or it can be read
            in two ways.
        """
        if empty is not None:
            check_choice(parameter("empty"), empty, EMPTY)
        if tags is not None:
            return _found_tags(table, tags, separator, empty)
        at = choose_labels(table.path, table.names, labels, prefix, span)
        names = [table.names[j] for j in at]
        if not names:
            return cls(names), table
        where = cls(names, empty=empty)
        kept = where.without_skipped(table)
        return replace(where, n_empty=len(table) - len(kept)), kept

    @property
    def told(self) -> str:
        """How tags were read, for people to read."""
        assert self.separators is not None
        phrases = f"; {self.separators.told_phrases()}" if self.separators.phrases else ""
        return f"{len(self.names)}, {self.separators.told()}{phrases}"

    @property
    def columns(self) -> list[str]:
        """The columns of the table that hold labels."""
        return self.names if self.tags is None else [self.tags]

    def without_skipped(self, table: RawTable) -> RawTable:
        """Return the table without the rows that an empty cell of the labels leaves out."""
        if self.empty != "skip":
            return table
        self._check(table)
        empty = self._is_empty(table)
        if empty.all():
            raise table.error(
                f"the labels are empty in all {len(table)} rows, expected some to be filled with "
                f"{parameter('empty', 'skip')}.",
            )
        return table[np.flatnonzero(~empty)] if empty.any() else table

    def read(self, table: RawTable, *, warn: bool) -> tuple[NDArray[Any], int]:
        """Return the labels of a table as zeros and ones; floats with NaN where some are unknown.

        Behind them is how many tags the rows have that are not among the labels, of which is warned
        if asked for.

        Raises
        ------
        DataError
            If a column is missing, a label is neither 0 nor 1, or is empty and nobody said what
            that means.
        """
        self._check(table)
        if self.tags is None:
            columns = [self._zeros_and_ones(table, name) for name in self.names]
            Y = np.column_stack(columns)
            return settled_labels(table.path, Y, self.names, self.empty), 0
        rows = _tag_rows(table, self.tags, self.separators)[0]
        known = set(self.names)
        others = [tag for row in rows for tag in row if tag not in known]
        if warn and not any(rows):
            text = f"has no tags in {len(rows)} rows, expected some to compare predictions with."
            table.warn(f"column {self.tags!r} {text}", UserWarning)
        if others and warn:
            strange = sorted(set(others))
            table.warn(
                f"column {self.tags!r} has {_tags(len(strange))} that the model does not know and "
                f"that {_are(len(strange))} not counted: {shown(strange)}.",
                UserWarning,
            )
        size = f"a table of {len(rows)} rows and {len(self.names)} tags"
        check_bytes(table.path, len(rows) * len(self.names), size)
        Y = tag_table(rows, self.names)[0]
        if self.empty == "unknown":
            Y = np.where(self._is_empty(table)[:, None], np.float32(np.nan), Y)
        return settled_labels(table.path, Y, self.names, self.empty), len(others)

    def known(self, table: RawTable) -> NDArray[np.float64]:
        """Return what a table says of the labels: 0, 1, and NaN where it says nothing.

        Tags that are there are ones, and all others are not known. Columns of labels may be
        missing, and so may cells.
        """
        found = np.full((len(table), len(self.names)), np.nan)
        if self.tags is not None:
            self._check(table)
            rows = _tag_rows(table, self.tags, self.separators)[0]
            found[tag_table(rows, self.names)[0] == 1] = 1
            return found
        given = [name for name in self.names if name in table.names]
        if not given:
            text = f"no column is a label of the model, expected some of {shown(self.names)}."
            raise table.error(text)
        for name in given:
            cells = table.cells(name)
            read = cells.truth()
            if read.bad.any():
                row = int(np.argmax(read.bad))
                where, line = table.place(row)
                value = cells.column[row].as_py()
                text = f"label {name!r} must be 0, 1 or empty, got {value!r} in {where}."
                raise DataError(table.path, text, line)
            found[:, self.names.index(name)] = read.numbers
        return found

    def _check(self, table: RawTable) -> None:
        for name in self.columns:
            table.check_there(name, "expected the labels to be there")

    def _is_empty(self, table: RawTable) -> NDArray[np.bool_]:
        """Return which rows have an empty cell among the labels."""
        columns = [table.columns.column(name) for name in self.columns]
        return np.any([column.is_null(nan_is_null=True).to_numpy() for column in columns], axis=0)

    def _zeros_and_ones(self, table: RawTable, name: str) -> NDArray[np.float32]:
        """Return a label as zeros and ones, NaN where its cell is empty."""
        cells = table.cells(name)
        filled = cells.column.drop_null()
        if cells.is_text and filled and CROSSES.issuperset(filled.unique().to_pylist()):
            return cells.column.is_valid().to_numpy().astype(np.float32)
        read = cells.truth()
        if read.bad.any():
            row = int(np.argmax(read.bad))
            value = cells.column[row].as_py()
            holds = f"{value:g}" if isinstance(value, float) else value
            raise table.error(
                f"label {name!r} in {{place}} is {holds}, expected 0 or 1 (or yes and no, true and "
                "false, x and empty).",
                row,
            )
        return read.numbers.astype(np.float32)


def _found_tags(
    table: RawTable, name: str, separator: str | Sequence[str] | None, empty: str | None
) -> tuple[LabelColumns, RawTable]:
    expected = f"expected {parameter('tags')} to name one of {shown(table.names)}"
    table.check_there(name, expected)
    if separator is not None:
        as_marks(separator)
    kept = LabelColumns([], name, empty=empty).without_skipped(table)
    rows, separators, no_value = _tag_rows(kept, name, separator)
    n, counts = len(rows), Counter(tag for row in rows for tag in row)
    if not counts:
        raise table.error(f"column {name!r} has no tags in {n} rows, expected some.")
    names = in_order(tag for tag in counts if counts[tag] >= FEWEST_ROWS)
    rare = in_order(counts.keys() - set(names))
    if not names:
        raise table.error(
            f"column {name!r} has {_tags(len(rare))}, each in one row only ({shown(rare)}), "
            f"expected tags that recur; they were {separators.told()}; "
            f"{parameter('separator')} sets what separates them.",
        )
    if rare:
        row = next(i for i, tags in enumerate(rows) if rare[0] in tags)
        table.warn(
            f"column {name!r} has {_tags(len(rare))} in one row only, which "
            f"{_are(len(rare))} left out, as a tag is learned from {FEWEST_ROWS} rows or more: "
            f"{shown(rare)} (the first in {kept.place(row)[0]}).",
        )
    if len(names) == 1:
        table.warn(
            f"column {name!r} has one tag only, {names[0]!r}, expected several (tags are "
            f"{separators.told()}); whether a row has it is all that is learned.",
        )
    if everywhere := sorted(tag for tag in counts if counts[tag] == n > 1):
        table.warn(
            f"column {name!r} has {_tags(len(everywhere))} in all {n} rows, of which nothing can "
            f"be learned: {shown(everywhere)}.",
        )
    n_empty = sum(not row for row in rows)
    if empty is None and 2 * n_empty > n:
        table.warn(
            f"column {name!r} has no tags in {n_empty} of {n} rows ({n_empty / n:.0%}), which are "
            f"learned from as rows without tags; {parameter('empty', 'skip')} leaves rows with an "
            f"empty cell out, {parameter('empty', 'unknown')} takes their tags as not known, "
            f"{parameter('empty', 'none')} keeps them.",
        )
    if empty in ("skip", "unknown"):
        n_empty = table.columns.column(name).null_count
    between = separators.marks[0].strip() or " " if separators.marks else ";"
    where = LabelColumns(
        names,
        name,
        free_separator(names, between),
        separators,
        empty,
        left_out=tuple(rare),
        n_empty=n_empty,
        no_value=tuple(sorted(no_value)),
    )
    return where, kept


def _tag_rows(
    table: RawTable, name: str, separator: str | Sequence[str] | Separators | None
) -> tuple[list[list[str]], Separators, set[str]]:
    """Return the tags of each row, what separates them, and what means no value."""
    cells = table.cells(name)
    column, kind = cells.column, cells.column.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    is_list = is_list or pa.types.is_fixed_size_list(kind)
    n_tags = (pc.sum(pc.list_value_length(column)).as_py() or 0) if is_list else 0
    check_bytes(table.path, TAG_BYTES * (len(column) + n_tags), f"the tags of {len(column)} rows")
    if not cells.is_plain and (not is_list or pa.types.is_nested(kind.value_type)):
        raise table.error(
            f"column {name!r} holds {kind}, expected tags: lists of strings, or strings with "
            "separated tags.",
        )
    try:
        if is_list:
            held = ((tag for tag in row or () if tag is not None) for row in column.to_pylist())
            rows = [distinct_tags(map(str, row)) for row in held]
            found = Separators((), listed=True)
        else:
            rows, found = separated_tags(cells.strings, separator)
    except UnreadableTags as error:
        text = f"column {name!r} in {{place}} holds {error.text}, expected all in quotes, or none."
        raise table.error(text, error.row) from None
    except UnclearSeparators as error:
        marks = [each.marks for each, _ in error.readings]
        ways = [parameter("separator", own[0] if len(own) == 1 else list(own)) for own in marks]
        said = f"column {name!r}: {error}; say which: {' or '.join(ways)}."
        raise table.error(said) from None
    markers = {tag for row in rows for tag in row if is_missing(tag)}
    if markers:
        rows = [[tag for tag in row if tag not in markers] for row in rows]
    return rows, found, markers


def _tags(count: int) -> str:
    return f"{count} tag" if count == 1 else f"{count} tags"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
