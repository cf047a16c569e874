"""Tables in CSV and Parquet files: a column per feature and a column per label."""

from __future__ import annotations

import csv
import os
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from labelcover.datasets.dataset import DataError, Dataset, choose_features, choose_labels


def read_csv(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    label_prefix: str | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
    delimiter: str = ",",
) -> Dataset:
    """Return the data set in a CSV file with a line of names first.

    Parameters
    ----------
    path : path-like
        The file, in UTF-8. Features are numbers, an empty cell is missing (NaN); labels are 0 or 1.
    labels : list of str, optional
        The columns that are labels.
    label_prefix : str, optional
        Instead of `labels`: every column whose name starts with this.
    drop : list of str
        Columns to leave out.
    features : list of str, optional
        Take just these columns as features, in this order; with ``labels=[]`` the file need not
        hold labels.
    delimiter : str
        The separator between cells.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return _csv(path, file, labels, label_prefix, drop, features, delimiter)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(path, "not a text file in UTF-8, expected CSV.", line) from None


def read_parquet(
    path: str | os.PathLike[str],
    labels: Sequence[str] | None = None,
    *,
    label_prefix: str | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
) -> Dataset:
    """Return the data set in a Parquet file (needs pyarrow, the ``cli`` extra).

    Parameters are those of `read_csv`. Columns of truth values count as 0 and 1.
    """
    import pyarrow
    import pyarrow.parquet

    Path(path).open("rb").close()  # a file that cannot be opened is not a damaged one
    try:
        table = pyarrow.parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise DataError(path, f"{reason}, expected a Parquet file.") from None
    names = _check_names(path, table.column_names)
    label_at = choose_labels(path, names, labels, label_prefix)
    feature_at = choose_features(path, names, label_at, drop, features)
    columns = {j: _arrow_column(path, names[j], table.column(j)) for j in {*label_at, *feature_at}}
    rows = np.arange(1, table.num_rows + 1)
    return _dataset(path, names, columns, label_at, feature_at, rows, "row")


def _csv(path, file, labels, prefix, drop, features, delimiter):
    reader = csv.reader(_without_nul(path, file), delimiter=delimiter, strict=True)
    try:
        names = _check_names(path, next(reader, []))
        label_at = choose_labels(path, names, labels, prefix)
        feature_at = choose_features(path, names, label_at, drop, features)
        columns = {j: array("d") for j in {*label_at, *feature_at}}
        lines = array("q")
        for row in reader:
            if not row:
                continue
            if len(row) != len(names):
                raise DataError(
                    path, f"{len(row)} cells, expected {len(names)} as in line 1.", reader.line_num
                )
            for j, column in columns.items():
                column.append(_cell(path, names[j], row[j], reader.line_num))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise DataError(path, f"{error}, expected CSV.", reader.line_num) from None
    arrays = {j: np.array(column) for j, column in columns.items()}
    return _dataset(path, names, arrays, label_at, feature_at, lines, "line")


def _without_nul(path, file):
    for number, line in enumerate(file, start=1):
        if "\0" in line:
            raise DataError(path, "not a text file, expected CSV.", number)
        yield line


def _cell(path, name, text, line):
    try:
        return float(text) if text.strip() else float("nan")
    except ValueError:
        raise DataError(
            path, f"column {name!r} holds {text[:40]!r}, expected a number.", line
        ) from None


def _check_names(path, names):
    if not names:
        raise DataError(path, "the file is empty, expected a line of column names.", 1)
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if not name:
            raise DataError(path, f"column {position} has no name, expected one.", 1)
        if name in seen:
            raise DataError(path, f"column {name!r} is there twice, expected once.", 1)
        seen.add(name)
    return list(names)


def _arrow_column(path, name, column):
    import pyarrow

    kind = column.type
    if not (
        pyarrow.types.is_floating(kind)
        or pyarrow.types.is_integer(kind)
        or pyarrow.types.is_boolean(kind)
    ):
        raise DataError(path, f"column {name!r} holds {kind}, expected numbers.")
    return column.cast(pyarrow.float64()).to_numpy()


def _dataset(path, names, columns, label_at, feature_at, places, what):
    if len(places) == 0:
        raise DataError(path, "no row follows the names, expected at least one.", 1)
    for j in label_at:
        wrong = ~((columns[j] == 0) | (columns[j] == 1))
        if wrong.any():
            i = int(np.argmax(wrong))
            value = "empty" if np.isnan(columns[j][i]) else f"{columns[j][i]:g}"
            place = f"in row {places[i]} " if what == "row" else ""
            raise DataError(
                path,
                f"label {names[j]!r} {place}is {value}, expected 0 or 1.",
                None if what == "row" else int(places[i]),
            )
    n = len(places)
    return Dataset(
        name=Path(path).stem,
        X=np.column_stack([columns[j] for j in feature_at]),
        Y=np.array([columns[j] for j in label_at], dtype=np.uint8).reshape(-1, n).T.copy(),
        feature_names=[names[j] for j in feature_at],
        label_names=[names[j] for j in label_at],
        categorical=np.zeros(len(feature_at), dtype=bool),
    )
