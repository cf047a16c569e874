"""The labels of a table: a column of tags, or a column of zeros and ones for each label."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover._tags import UnreadableTags, free_separator, separated_tags, tag_table
from labelcover.datasets.cell_values import as_strings, as_truth, is_plain
from labelcover.datasets.column_kinds import shown
from labelcover.datasets.dataset import DataError, MissingColumn, ReadingWarning, choose_labels

if TYPE_CHECKING:
    from labelcover.datasets.raw_tables import RawTable

FEWEST_ROWS = 2  # a tag of one row cannot be learned: without that row there is nothing to see


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
        What separates the tags.
    left_out : tuple of str
        Tags of one row only.
    n_empty : int
        Rows of the training table whose cell of tags is empty.
    """

    names: list[str]
    tags: str | None = None
    separator: str = ";"
    left_out: tuple[str, ...] = ()
    n_empty: int = 0

    @classmethod
    def found(
        cls,
        table: RawTable,
        tags: str | None,
        separator: str | None,
        labels: Sequence[str] | None,
        prefix: str | None,
    ) -> LabelColumns:
        """Return where the labels of a training table are.

        Tags of one row only are left out, with a warning.

        Raises
        ------
        DataError
            If there is no such column, it has no tags, or only tags of one row.
        """
        if tags is None:
            at = choose_labels(table.path, table.names, labels, prefix)
            return cls([table.names[j] for j in at])
        if tags not in table.names:
            text = f"no column {tags!r}, expected tags to name one of {shown(table.names)}."
            raise MissingColumn(table.path, text, name=tags)
        if separator is not None and not separator:
            raise ValueError("separator must be one or more characters, got ''.")
        rows, separator = _tag_rows(table, tags, separator)
        counts = Counter(tag for row in rows for tag in row)
        _check_counts(table, tags, separator, rows, counts)
        names = sorted(tag for tag in counts if counts[tag] >= FEWEST_ROWS)
        left_out = tuple(sorted(counts.keys() - set(names)))
        return cls(names, tags, separator, left_out, sum(not row for row in rows))

    @property
    def told(self) -> str:
        """How tags were read, for people to read."""
        return f"{len(self.names)}, separated by {self.separator!r}"

    @property
    def columns(self) -> list[str]:
        """The columns of the table that hold labels."""
        return self.names if self.tags is None else [self.tags]

    def read(self, table: RawTable, *, warn: bool) -> NDArray[np.uint8]:
        """Return the labels of a table as zeros and ones.

        Parameters
        ----------
        table : RawTable
        warn : bool
            Whether to warn of tags that are not among the labels.

        Raises
        ------
        DataError
            If a column is missing, or a label is neither 0 nor 1.
        """
        for name in self.columns:
            if name not in table.names:
                text = f"no column {name!r}, expected the labels to be there."
                raise MissingColumn(table.path, text, name=name)
        if self.tags is None:
            return np.column_stack([_zeros_and_ones(table, name) for name in self.names])
        rows, _ = _tag_rows(table, self.tags, self.separator)
        known = set(self.names)
        strange = sorted({tag for row in rows for tag in row} - known)
        if warn and not any(rows):
            _warn(
                table,
                f"column {self.tags!r} has no tags in {len(rows)} rows, expected some to compare "
                "predictions with.",
            )
        if strange and warn:
            _warn(
                table,
                f"column {self.tags!r} has {_tags(len(strange))} that the model does not know and "
                f"that {_are(len(strange))} not counted: {shown(strange)}.",
            )
        return tag_table(rows, self.names)[0]


def _tag_rows(table: RawTable, name: str, separator: str | None) -> tuple[list[list[str]], str]:
    """Return the tags of each row, from lists or from separated strings, and the separator."""
    import pyarrow as pa

    column = table.columns.column(name)
    kind = column.type
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if is_list or pa.types.is_fixed_size_list(kind):
        if pa.types.is_nested(kind.value_type):
            raise _no_tags(table, name, kind)
        rows = [
            list(dict.fromkeys(str(tag).strip() for tag in row or () if tag is not None))
            for row in column.to_pylist()
        ]
        rows = [[tag for tag in row if tag] for row in rows]
        return rows, separator or free_separator(rows)
    if not is_plain(column):
        raise _no_tags(table, name, kind)
    try:
        return separated_tags(as_strings(column), separator)
    except UnreadableTags as error:
        raise table.error(
            f"column {name!r} in {{place}} holds {error.text}, expected all in quotes, or none.",
            error.row,
        ) from None


def _no_tags(table: RawTable, name: str, kind: Any) -> DataError:
    return DataError(
        table.path,
        f"column {name!r} holds {kind}, expected tags: lists of strings, or strings with "
        "separated tags.",
    )


def _check_counts(table, name, separator, rows, counts) -> None:
    if not counts:
        raise DataError(
            table.path,
            f"column {name!r} has no tags in {len(rows)} rows, expected some, separated by "
            f"{separator!r}.",
        )
    rare = sorted(tag for tag in counts if counts[tag] < FEWEST_ROWS)
    everywhere = sorted(tag for tag in counts if counts[tag] == len(rows) > 1)
    if len(rare) == len(counts):
        raise DataError(
            table.path,
            f"column {name!r} has {_tags(len(rare))}, each in one row only ({shown(rare)}), "
            f"expected tags that recur; they were separated by {separator!r}.",
        )
    if rare:
        row = next(i for i, tags in enumerate(rows) if rare[0] in tags)
        _warn_of_training(
            table,
            f"column {name!r} has {_tags(len(rare))} in one row only, which "
            f"{_are(len(rare))} left out, as a tag is learned from {FEWEST_ROWS} rows or more: "
            f"{shown(rare)} (the first in {table.place(row)[0]}).",
        )
    if len(counts) - len(rare) == 1:
        only = next(tag for tag in counts if tag not in rare)
        _warn_of_training(
            table,
            f"column {name!r} has one tag only, {only!r}, expected several, separated by "
            f"{separator!r}; whether a row has it is all that is learned.",
        )
    if everywhere:
        _warn_of_training(
            table,
            f"column {name!r} has {_tags(len(everywhere))} in all {len(rows)} rows, of which "
            f"nothing can be learned: {shown(everywhere)}.",
        )


def _warn_of_training(table: RawTable, text: str) -> None:
    warnings.warn(f"{table.path}: {text}", ReadingWarning, stacklevel=2)


def _warn(table: RawTable, text: str) -> None:
    warnings.warn(f"{table.path}: {text}", UserWarning, stacklevel=2)


def _tags(count: int) -> str:
    return f"{count} tag" if count == 1 else f"{count} tags"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _zeros_and_ones(table: RawTable, name: str) -> NDArray[np.uint8]:
    column = table.columns.column(name)
    read = as_truth(column)
    wrong = np.isnan(read.numbers)
    if wrong.any():
        row = int(np.argmax(wrong))
        value = column[row].as_py()
        holds = f"{value:g}" if isinstance(value, float) else "empty" if value is None else value
        raise table.error(
            f"label {name!r} in {{place}} is {holds}, expected 0 or 1 (or yes and no, true and "
            "false).",
            row,
        )
    return read.numbers.astype(np.uint8)
