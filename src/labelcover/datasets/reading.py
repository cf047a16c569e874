"""A data set from a file, whatever its format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from labelcover.datasets.arff import read_arff
from labelcover.datasets.dataset import DataError, Dataset
from labelcover.datasets.libsvm import read_libsvm
from labelcover.datasets.raw_tables import KINDS, is_table
from labelcover.datasets.tables import read_csv

SUFFIXES = (".arff", ".libsvm", ".svm", *KINDS)


def read(
    path: str | os.PathLike[str],
    labels: str | os.PathLike[str] | int | Sequence[str] | None = None,
    *,
    label_prefix: str | Sequence[str] | None = None,
    drop: Sequence[str] = (),
    features: Sequence[str] | None = None,
) -> Dataset:
    """Return the data set in a file, by its suffix.

    Parameters
    ----------
    path : path-like
        ``.arff`` (see `read_arff`), ``.libsvm`` or ``.svm`` (`read_libsvm`), or a table of numbers:
        ``.csv``, ``.tsv``, ``.parquet``, ``.jsonl`` (`read_csv`). Tables with other columns are
        for `read_table`.
    labels : path-like, int, list of str, optional
        Which columns are labels: names, or what `read_arff` accepts for an ARFF file.
    label_prefix, drop, features
        As in those functions.
    """
    check_kind(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".arff":
        return read_arff(path, labels, label_prefix=label_prefix, drop=drop, features=features)
    if labels is not None and (isinstance(labels, int | str | os.PathLike)):
        raise DataError(path, f"labels={labels!r} is for ARFF files only, expected names.")
    if suffix in (".libsvm", ".svm"):
        return read_libsvm(path, labels, features=features)
    return read_csv(path, labels, label_prefix=label_prefix, drop=drop, features=features)


def check_kind(path: str | os.PathLike[str]) -> None:
    """Raise a `DataError` if the suffix of a file is none that can be read."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES and not is_table(path):
        named = "" if suffix else "; labelcover datasets lists what is known by name"
        raise DataError(
            path, f"unknown kind of file, expected one of {', '.join(SUFFIXES)}{named}."
        )
