"""A table as people have it, whatever library holds it."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags

from labelcover._imports import naming_extra
from labelcover._table_numbers import is_categorical, is_frame
from labelcover.tables._cell_values import (
    AnyPath,
    Cells,
    DataError,
    Features,
    ReadingWarning,
    pa,
    shown,
    without_markers,
)

if TYPE_CHECKING:
    from labelcover.tables._table_encoder import TableEncoder

#: What a list of strings is called as a column.
TEXT = "text"


@dataclass(frozen=True)
class Table:
    """The columns of a table in memory.

    Attributes
    ----------
    columns : pyarrow.Table
        Types as the table says, strings of one type, null for all that means no value.
    path : path-like
        What the table is called in messages.
    declared : tuple of str
        Columns that are categories, as their type says.
    rows : ndarray of int or None
        Which rows of the whole table these are; None are all.
    known : tuple of TableEncoder and features, or None
        What the table was encoded by and as, if that is known.
    choices : mapping of str to str
        What columns were said to be when the table was read.
    decimal : str or None
        The decimal sign that was given: only for text with delimiters.
    """

    columns: pa.Table
    path: AnyPath = "X"
    declared: tuple[str, ...] = ()
    rows: NDArray[np.intp] | None = None
    known: tuple[TableEncoder, Features] | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    decimal: str | None = None

    @cached_property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns.column_names)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return self.columns.shape

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def __getitem__(self, rows: Any) -> Self:
        """Return a table of some of the rows, which knows where they are in the whole one."""
        whole = rows if self.rows is None else self.rows[rows]
        return replace(self, columns=self.columns.take(rows), rows=whole, known=None)

    def cells(self, name: str) -> Cells:
        """Return the cells of a column."""
        return Cells(self.columns.column(name))

    def strings(self, name: str) -> list[str]:
        """Return the cells of a column as strings, empty where they are missing."""
        return [cell or "" for cell in self.cells(name).strings]

    def check_plain(self, name: str, expected: str) -> None:
        """Raise a `DataError` if a column holds lists, structures or bytes: they are no strings."""
        if not self.cells(name).is_plain:
            kind = self.columns.column(name).type
            text = f"column {name!r} holds {kind}, which cannot be read as {expected}, expected "
            raise DataError(self.path, f"{text}plain values.")

    def place(self, row: int) -> tuple[str, int | None]:
        """Return where a row is, in words and, in a file of lines, as the line."""
        return f"row {row + 1 if self.rows is None else int(self.rows[row]) + 1}", None

    def check_there(self, name: str, expected: str) -> None:
        """Raise a `DataError` if there is no column of a name."""
        # Arrow asks for bytes if a name is no string.
        if not isinstance(name, str) or self.columns.schema.get_field_index(name) < 0:
            raise DataError(self.path, f"no column {name!r}, {expected}.", name=name)

    def warn(self, text: str, category: type[Warning] = ReadingWarning) -> None:
        """Warn of something in the table."""
        warnings.warn(f"{self.path}: {text}", category, stacklevel=3)

    def error(self, text: str, row: int | None = None) -> DataError:
        """Return an error, about a row if one is given; ``{place}`` in `text` is where it is."""
        if row is None:
            return DataError(self.path, text)
        words, line = self.place(row)
        if line is not None:
            return DataError(self.path, text.replace(" in {place}", ""), line)
        return DataError(self.path, text.replace("{place}", words))

    def check_bytes(self, needed: int, what: str) -> None:
        """Raise a `DataError` if features would take more memory than the table may."""


def is_table(X: Any) -> bool:
    """Tell whether `X` has cells that are no numbers by what it is: Arrow, records, or texts."""
    if isinstance(X, Table) or hasattr(X, "column_names"):
        return True
    if isinstance(X, list | tuple):
        return len(X) > 0 and all(isinstance(row, dict | str) for row in X[:1])
    if getattr(X, "ndim", 0) != 1 or not len(X):
        return False
    return isinstance(np.asarray(X[:1])[0], str)


@naming_extra()
def as_table(X: Any) -> Table:
    """Return a data frame, an Arrow table, a list of records, or of texts, as a table.

    Raises
    ------
    DataError
        If two columns have one name, or `X` has no named columns.
    """
    if isinstance(X, Table):
        return X
    found = list(_named_columns(X))
    for name, count in Counter(name for name, _ in found).items():
        if count > 1:
            raise DataError("X", f"column {name!r} is there twice, expected once.")
    made = pa.table({name: _arrow(column) for name, column in found})
    columns, declared = plain_columns(made)
    return Table(columns, declared=declared)


def _named_columns(X: Any) -> Iterable[tuple[str, Any]]:
    """Yield the name and the cells of each column."""
    if is_frame(X):
        for j, name in enumerate(X.columns):
            told = " / ".join(map(str, name)) if isinstance(name, tuple) else str(name)
            yield told, X.iloc[:, j] if hasattr(X, "iloc") else X[name]
    elif hasattr(X, "column_names"):
        yield from zip(X.column_names, X.columns, strict=True)
    elif isinstance(X, list | tuple) and all(isinstance(row, Mapping) for row in X):
        for name in dict.fromkeys(key for row in X for key in row):
            yield str(name), [row.get(name) for row in X]
    elif is_table(X):
        yield TEXT, list(X)
    else:
        raise DataError(
            "X",
            "the model was trained on a table, expected its columns by name: a data frame, an "
            f"Arrow table or a list of dicts, got {type(X).__name__}.",
        )


def _arrow(column: Any) -> Any:
    """Return a column as Arrow holds it; cells of several kinds as the strings they print as."""
    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        cells = list(column)
        return pa.array([None if cell is None or cell != cell else str(cell) for cell in cells])


def plain_columns(
    columns: pa.Table, as_text: Collection[str] = ()
) -> tuple[pa.Table, tuple[str, ...]]:
    """Return the table with dictionaries decoded, one type of strings, and columns as text.

    Behind it are the columns, none of these, of a type that lists its values.
    """
    made, listed = {}, []
    for own, column in zip(columns.schema, columns.columns, strict=True):
        kind = own.type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
            listed += [own.name] if own.name not in as_text else []
        if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            kind = pa.string()
        if own.name in as_text and not pa.types.is_nested(kind):
            kind = pa.string()
        if kind != own.type:
            with suppress(pa.ArrowInvalid):  # bytes that are no text stay what they are
                column = column.cast(kind)
        made[own.name] = without_markers(column) if Cells(column).is_text else column
    return pa.table(made), tuple(listed)


#: What a column may be said to be.
GIVEN = ("text", "category", "number", "date", "id", "drop")


def training_table(X: Any, columns: Mapping[str, str] | None, learner: Any) -> Table | None:
    """Return the table that `fit` is to encode; None if the learner takes `X` as it is.

    Numbers are taken as they are, and data frames of numbers and categorical dtypes. Members that
    read data frames themselves, such as a ``Pipeline``, are given what they can do with. `columns`
    say what columns are.
    """
    if getattr(learner, "reads_frames", False):
        return None
    if is_table(X) or (is_frame(X) and (columns or not _is_plain(X, learner))):
        table = as_table(X)
        for name, kind in (columns or {}).items():
            if kind not in GIVEN:
                accepted = ", ".join(GIVEN)
                raise ValueError(f"columns[{name!r}] must be one of {accepted}, got {kind!r}.")
            if name not in table.names:
                there = shown(table.names)
                raise ValueError(f"columns names {name!r}, expected columns of X: {there}.")
        return table
    if columns and not is_frame(X):
        raise ValueError(f"columns is for tables with names, got it for {type(X).__name__}.")
    return None


def _is_plain(X: Any, learner: Any) -> bool:
    """Tell whether a data frame holds numbers and categories that a learner takes as they are."""
    takes = get_tags(learner).input_tags
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes):
        return takes.allow_nan or not np.isnan(X.to_numpy(dtype=np.float64)).any()
    names = list(X.columns)
    if len(set(names)) < len(names):
        return False  # which will be said
    columns = [X[name] for name in names]
    numbers = [column for column in columns if not (takes.categorical and is_categorical(column))]
    return all(_are_numbers(column, takes.allow_nan) for column in numbers)


def _are_numbers(column: Any, allow_nan: bool) -> bool:
    values = np.asarray(column)
    if values.dtype.kind == "O":
        if any(isinstance(value, str) for value in values):
            return False  # digits may be codes
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            return False
    if values.dtype.kind not in "biuf":
        return False
    return allow_nan or values.dtype.kind != "f" or not np.isnan(values).any()


def keep_names(owner: Any, table: Table) -> None:
    """Set the number and the names of columns on an estimator, as scikit-learn wants it."""
    owner.n_features_in_ = len(table.names)
    owner.feature_names_in_ = np.array(table.names, dtype=object)
