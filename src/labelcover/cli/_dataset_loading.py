"""Load the data set named on the command line; `labelcover datasets` lists those known by name."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover._arguments import parameter
from labelcover.cli._options import AsJson, ColumnOptions, CsvOptions
from labelcover.cli._outputs import console, plain_table

if TYPE_CHECKING:
    from labelcover.datasets import Dataset

# Options that name columns.
NAMING = ("labels", "drop", "text", "category", "number", "date")
SEPARATORS = {"tab": "\t", r"\t": "\t", "blank": " ", "space": " ", "newline": "\n", r"\n": "\n"}
NOTHING = "none"  # as a separator: each cell is one tag


def load_dataset(source: str, columns: ColumnOptions, csv: CsvOptions) -> Dataset:
    """Return a data set by its name or file.

    What its report says is not warned of: the command prints the report.
    """
    from labelcover.datasets import ReadingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        return _read(source, columns, csv)


def _read(source: str, columns: ColumnOptions, csv: CsvOptions) -> Dataset:
    from labelcover.datasets import KNOWN, check_kind, is_table, load, local_file, read, read_table

    source = local_file(source)
    written = {name: value for name, value in asdict(csv).items() if value is not None}
    given: dict[str, Any] = {name: value for name, value in asdict(columns).items() if value}
    known = source in KNOWN and not Path(source).exists()
    if not known:
        check_kind(source)
    if known or not is_table(source):
        for name, value in (given | written).items():
            if name not in ("labels", "label_prefix", "drop", *([] if known else ["empty"])):
                raise ValueError(
                    f"{parameter(name)} is for tables (.csv, .parquet, .jsonl, .xlsx), got "
                    f"{parameter(name, value)} for {source}."
                )
        if known:
            return load(source)
        labels = _which_labels(given.pop("labels", None))
        return read(source, labels, **given | {"drop": named_columns(given.get("drop", ()))})
    labels = _which_labels(given.get("labels"))
    if isinstance(labels, str | int):
        raise ValueError(f"--labels {labels} is for ARFF files only, expected names for {source}.")
    there = _columns_there(source, given, written)
    given |= {name: named_columns(given[name], there) for name in NAMING if name in given}
    if "separator" in given:
        marks = [SEPARATORS.get(mark, mark) for mark in given["separator"]]
        given["separator"] = [] if marks == [NOTHING] else marks
    return read_table(source, **given, **written)


def load_for_model(trained: Any, source: str, csv: CsvOptions, **how: Any) -> Dataset:
    """Return the data set in a file as a trained model takes it; see `Reading.read`."""
    from labelcover.datasets import Reading, local_file

    return Reading.of_model(trained).read(local_file(source), **how, **asdict(csv))


def named_columns(values: Sequence[str], there: Sequence[str] = ()) -> list[str]:
    """Return the columns that the values of an option name.

    A value is comma-separated names, or ``@`` and a file with one name a line. A name of a column
    that is `there` and holds commas is not split.

    Examples
    --------
    >>> from labelcover.cli._dataset_loading import named_columns
    >>> named_columns(["Eggs, Milk, whole", "Salt"], ["Eggs", "Milk, whole", "Salt"])
    ['Eggs', 'Milk, whole', 'Salt']
    """
    names: list[str] = []
    for value in values:
        if value.startswith("@") and value not in there:
            lines = Path(value[1:]).read_text(encoding="utf-8-sig").splitlines()
            names += [line.strip() for line in lines if line.strip()]
        else:
            names += _split(value, there)
    return names


def _split(value: str, there: Sequence[str]) -> list[str]:
    parts = value.split(",")
    names, at = [], 0
    while at < len(parts):
        # The longest run of parts that is a column; else a part alone.
        ends = range(len(parts), at + 1, -1)
        end = next((e for e in ends if ",".join(parts[at:e]).strip() in there), at + 1)
        names.append(",".join(parts[at:end]).strip())
        at = end
    return [name for name in names if name]


def _columns_there(source: str, given: dict[str, Any], written: dict[str, Any]) -> list[str]:
    """Return the columns of a table if an option has a comma that may be part of a name."""
    from labelcover.datasets import read_raw

    values = [value for name in NAMING for value in given.get(name, ())]
    return read_raw(source, **written).names if any("," in value for value in values) else []


def _which_labels(values: list[str] | None) -> str | int | list[str] | None:
    """Return what --labels means: a label file, a number of columns, or names."""
    if values is None:
        return None
    if len(values) == 1 and values[0].endswith(".xml"):
        return values[0]
    if len(values) == 1 and re.fullmatch(r"-?\d+", values[0]):
        return int(values[0])
    return named_columns(values)


def datasets(
    as_json: AsJson = False,
) -> None:
    """List the data sets known by name, their properties, and which are on this machine.

    Example: labelcover datasets
    """
    from labelcover.datasets import KNOWN, is_here

    columns = ("rows", "features", "labels", "cardinality", "density")
    lines = [
        {"name": name, **{c: getattr(known, c) for c in columns}, "here": is_here(name)}
        for name, known in KNOWN.items()
    ]
    if as_json:
        print(json.dumps(lines))
        return
    table = plain_table(*lines[0], left=(0, len(columns) + 1))
    for line in lines:
        table.add_row(
            *("yes" if v is True else "no" if v is False else str(v) for v in line.values())
        )
    console().print(table)
