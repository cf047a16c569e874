"""The data set that the words of a command line name."""

from __future__ import annotations

import re
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelcover.cli.options import ColumnOptions, CsvOptions

if TYPE_CHECKING:
    from labelcover.datasets import Dataset


def labelled_data(source: str, columns: ColumnOptions, csv: CsvOptions) -> Dataset:
    """Return a data set by its name or file.

    What its report says is not warned of: the command prints the report.
    """
    from labelcover.datasets.dataset import ReadingWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        return _read(source, columns, csv)


def _read(source: str, columns: ColumnOptions, csv: CsvOptions) -> Dataset:
    from labelcover.datasets import KNOWN, is_table, load, read, read_table
    from labelcover.datasets.reading import check_kind

    given: dict[str, Any] = asdict(columns) | asdict(csv)
    labels, prefix, drop = (given.pop(name) for name in ("labels", "label_prefix", "drop"))
    given = {name: value for name, value in given.items() if value not in (None, "")}
    known = source in KNOWN and not Path(source).exists()
    if not known:
        check_kind(source)
    if known or not is_table(source):
        if given:
            name = next(iter(given))
            raise ValueError(
                f"--{name} is for tables (.csv, .tsv, .parquet, .jsonl), got --{name} "
                f"{given[name]!r} for {source}."
            )
        if known:
            return load(source)
        return read(source, _which_labels(labels), label_prefix=prefix, drop=_names(drop))
    names = _which_labels(labels)
    if isinstance(names, str | int):
        raise ValueError(f"--labels {labels} is for ARFF files only, expected names for {source}.")
    given |= {name: _names(given.get(name, "")) for name in ("text", "category", "number", "date")}
    return read_table(source, labels=names, label_prefix=prefix, drop=_names(drop), **given)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _which_labels(text: str | None) -> str | int | list[str] | None:
    """Return what --labels means: a label file, a number of columns, or names."""
    if text is None or text.endswith(".xml"):
        return text
    return int(text) if re.fullmatch(r"-?\d+", text) else [name.strip() for name in text.split(",")]
