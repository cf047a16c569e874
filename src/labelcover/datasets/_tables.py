"""Tables in CSV, Parquet and JSON lines files: as they are, or a column per feature and label."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from labelcover._arguments import parameter
from labelcover._imports import naming_extra
from labelcover.datasets._cell_values import as_numbers, found_numbers, shown
from labelcover.datasets._dataset import DataError, Dataset, MissingColumn, choose_features
from labelcover.datasets._label_columns import LabelChoices, LabelColumns
from labelcover.datasets._raw_tables import RawTable, read_raw
from labelcover.datasets._table_encoder import TableEncoder


@naming_extra()
def read_table(
    path: str | os.PathLike[str],
    *,
    tags: str | None = None,
    labels: Sequence[str] | None = None,
    label_prefix: str | Sequence[str] | None = None,
    label_range: str | None = None,
    separator: str | Sequence[str] | None = None,
    empty: str | None = None,
    text: Sequence[str] = (),
    category: Sequence[str] = (),
    number: Sequence[str] = (),
    date: Sequence[str] = (),
    drop: Sequence[str] = (),
    id: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    header: bool = True,
) -> Dataset:
    """Return the data set in a table as people have it: text, categories, dates, tags.

    Each column is read for what it is, which is found from its cells or given here:

    ============  ======================================================================
    numbers       a missing one is the median; a feature marks the missing ones if they
                  have other labels than the rest (χ² test)
    truth values  yes and no, true and false: 0 and 1
    categories    zeros and ones for each value, one feature for all rare or new values
    dates         year, month, weekday, hour, and age since the newest
    text          TF-IDF of words and pairs of words; of groups of characters where these
                  have the smaller leave-one-out error
    ids           almost all different, and their characters predict nothing: not used,
                  see `id`
    ============  ======================================================================

    Parameters
    ----------
    path : path-like
        ``.csv``, ``.tsv`` (also ``.gz``), ``.parquet``, or JSON lines: ``.jsonl``, ``.ndjson``.
    tags : str, optional
        The column that holds the tags of each row: ``rain; wind``, or lists in Parquet and JSON.
        Tags of a single row are left out, with a warning.
    labels : list of str, optional
        Instead of `tags`: the columns that are labels, of 0 and 1 (or yes and no, true and false).
    label_prefix : str or list of str, optional
        Instead of `labels`: every column whose name starts with this, or with one of these.
    label_range : str, optional
        Instead of `labels`: ``"FIRST:LAST"``, the columns from one to the other.
    separator : str or list of str, optional
        What separates tags: any of these; with an empty list a cell is one tag. By default it is
        found from all cells, an error if two readings are about as likely.
    empty : {"none", "skip"}, optional
        What an empty cell of the labels means: none of them, or that the row is left out. By
        default an empty cell of `tags` is a row without tags, with a warning if more than half of
        the rows are so, and an empty label column is an error.
    text, category, number, date : list of str
        Columns to be read as this, whatever they look like.
    drop : list of str
        Columns to leave out.
    id : str, optional
        The column that names the rows; not a feature, but ``Dataset.ids``, and carried into
        predictions. By default the first column that looks like one and is different in all rows.
    delimiter, encoding, decimal : str, optional
        How a CSV file is written. By default this is found out.
    header : bool, default=True
        Whether the first row of a CSV file has the names of the columns; if not, they are called
        ``column 1``, ``column 2``, …

    Returns
    -------
    Dataset
        With the features in the words of the table (``subject: invoice``, ``colour = red``,
        ``opened (year)``), and ``encoder``, which has what was decided about each column and reads
        further files in the same way.

    Raises
    ------
    DataError
        With file, line or row, and what was expected.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelcover.datasets import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tickets.csv"
    >>> _ = path.write_text('''subject;hours;tags
    ... printer is on fire;1,5;hardware, urgent
    ... printer has no paper;0,5;hardware
    ... please reset my password;NA;account
    ... password of my printer;0,25;account, hardware, urgent
    ... ''')
    >>> tickets = read_table(path, tags="tags")
    >>> tickets.label_names
    ['account', 'hardware', 'urgent']
    >>> tickets.feature_names
    ['hours', 'subject: my', 'subject: password', 'subject: printer']
    >>> [(kind.name, kind.kind) for kind in tickets.encoder.kinds]
    [('subject', 'text'), ('hours', 'number')]
    """
    if tags is not None and not (labels is label_prefix is label_range is None):
        raise ValueError(
            f"{parameter('tags', tags)} is given and {parameter('labels')}, "
            f"{parameter('label_prefix')} or {parameter('label_range')} too, expected one of them."
        )
    given = LabelChoices(tags, separator, labels, label_prefix, label_range, empty)
    choices = ColumnChoices.of(
        id=id, text=text, category=category, number=number, date=date, drop=drop
    )
    for name in [tags] if tags is not None else labels or ():
        if (what := choices.kind_of(name)) is not None:
            role = "labels" if tags is None else "tags"
            raise ValueError(
                f"{what} names column {name!r}, which is given for {role} too, expected each "
                "column for one thing."
            )
    strings = {*text, *category, *({tags} if tags else ()), *({id} if id else ())}
    written = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
    table = read_raw(path, as_text=strings, **written, header=None if header else False)
    with table.hinting():
        where, table = LabelColumns.found(table, given)
        return TableEncoder.fitted(table, where, choices)[1]


def read_csv(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    delimiter: str | None = None,
) -> Dataset:
    """Return the data set in a CSV file of numbers: the cells themselves, NaN where missing.

    `read_table` takes other columns too, and fills missing values.

    Parameters
    ----------
    path : path-like
        The file. Features are numbers, labels are 0 or 1.
    labels : list of str, optional
        The columns that are labels.
    label_prefix : str, optional
        Instead of `labels`: every column whose name starts with this.
    drop : list of str
        Columns to leave out.
    features : list of str, optional
        Take just these columns as features, in this order; with ``labels=[]`` the file need not
        hold labels.
    delimiter : str, optional
        The separator between cells; by default it is found out.
    """
    table = read_raw(path, delimiter=delimiter)
    return _numbers(table, labels, label_prefix, drop, features)


def read_parquet(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
) -> Dataset:
    """Return the data set in a Parquet file of numbers; parameters are those of `read_csv`."""
    return _numbers(read_raw(path), labels, label_prefix, drop, features)


def _numbers(
    table: RawTable,
    labels: Sequence[str] | None,
    prefix: str | Sequence[str] | None,
    drop: Sequence[str],
    features: Sequence[str] | None,
) -> Dataset:
    with table.hinting():
        where, table = LabelColumns.found(table, LabelChoices(labels=labels, prefix=prefix))
        at = [table.names.index(name) for name in where.names]
        chosen = choose_features(table.path, table.names, at, drop, features)
    names = [table.names[j] for j in chosen]
    X = np.empty((table.n_rows, len(names)))
    for j, name in enumerate(names):
        X[:, j] = _column(table, name)
    Y = where.read(table, warn=False) if where.names else np.zeros((len(X), 0), dtype=np.uint8)
    return Dataset(
        name=table.name,
        X=X,
        Y=Y,
        feature_names=names,
        label_names=where.names,
        categorical=np.zeros(len(names), dtype=bool),
    )


def _column(table: RawTable, name: str) -> np.ndarray:
    import pyarrow as pa

    column = table.columns.column(name)
    if pa.types.is_nested(column.type) or pa.types.is_temporal(column.type):
        raise DataError(table.path, f"column {name!r} holds {column.type}, expected numbers.")
    found = found_numbers(column, decimal=table.decimal)
    if found.both:
        warnings.warn(f"{table.path}: column {name!r}: {found.both}.", UserWarning, stacklevel=2)
    read = as_numbers(column, found.format)
    if read.bad.any():
        row = int(np.argmax(read.bad))
        value = str(column[row].as_py())[:40]
        raise table.error(f"column {name!r} in {{place}} holds {value!r}, expected a number.", row)
    return read.numbers


@dataclass(frozen=True)
class ColumnChoices:
    """Which columns are what, as given: names of columns.

    Attributes
    ----------
    text, category, number, date : tuple of str
        Columns to be read so.
    drop : tuple of str
        Columns to leave out.
    id : str or None
        The column that names the rows: left out, and carried into predictions.
    """

    text: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    number: tuple[str, ...] = ()
    date: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None

    @classmethod
    def of(cls, *, id: str | None, **named: Sequence[str]) -> ColumnChoices:
        """Return the choices, each a list of names.

        Raises
        ------
        ValueError
            If a string is given for a list, or a column for two things.
        """
        seen: dict[str, str] = {} if id is None else {id: "id"}
        for what, columns in named.items():
            if isinstance(columns, str):
                raise ValueError(f"{what} must be a list of names of columns, got {columns!r}.")
            for name in columns:
                if seen.setdefault(name, what) != what:
                    raise ValueError(
                        f"{what} names column {name!r}, which is given for {seen[name]} too, "
                        "expected each column for one thing."
                    )
        return cls(id=id, **{what: tuple(columns) for what, columns in named.items()})

    def kind_of(self, name: str) -> str | None:
        """Return what a column is said to be, or None."""
        for field in fields(self):
            given = getattr(self, field.name)
            if name == given or (isinstance(given, tuple) and name in given):
                return field.name
        return None

    def check(self, path, names: Sequence[str]) -> None:
        """Raise a `DataError` if a column that is named is not there."""
        for field in fields(self):
            given = getattr(self, field.name)
            for name in given if isinstance(given, tuple) else filter(None, [given]):
                if name not in names:
                    raise MissingColumn(
                        path,
                        f"no column {name!r}, expected {field.name} to name columns of the file: "
                        f"{shown(names)}.",
                        name=name,
                    )
