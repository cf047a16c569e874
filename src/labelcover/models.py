"""Trained models on disk: written with skops, and loaded without running code from the file.

A model file is a skops archive: a description of objects by the names of their types, and arrays.
Loading it creates only objects of the types that skops trusts (numbers, arrays, scikit-learn's
estimators), of the classes that labelcover defines, and SciPy's sparse tables. A file that names
anything else, even a function of labelcover, is refused before any object is created.
"""

import importlib
import json
import os
import re
import sys
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.utils
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from labelcover._arguments import in_command
from labelcover._files import replacing
from labelcover._imports import naming_extra, other_versions, versions_here
from labelcover.chance import LabelFrequencies
from labelcover.chunks import is_on_cluster, on_dask, open_chunks
from labelcover.datasets import DataError, Dataset, check_archive, check_ordinary
from labelcover.tables import keep_names

FORMAT = "labelcover-model-9"  # another one when classes move: files name their modules
FIRST_FORMAT = "labelcover-model-1"  # which did not say so beside the versions
# The member of the archive that says which versions wrote it; it is read before anything else.
VERSIONS = "versions.json"
ROOT = Path(__file__).parent
# Rows of a sparse training table are part of a kernel model.
SPARSE_TABLES = ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix")


def fit_model(estimator: Any, dataset: Dataset) -> Any:
    """Return `estimator` fitted on all rows of `dataset`, with what it needs to read further files.

    In a context of `labelcover.chunks.cluster`, rows go to the workers of a Dask cluster if the
    estimator takes rows in chunks, and no feature is nominal with many values; else its members
    are fitted there.
    """
    _check_missing(estimator, dataset)
    in_chunks = is_on_cluster() and getattr(estimator, "reads_chunks", False)
    if in_chunks and not dataset.many_valued.any():
        model = estimator.fit(on_dask(open_chunks(dataset.X, dataset.Y)))
        if dataset.table is not None and dataset.encoder is not None:
            keep_names(model, dataset.table)
            model._coding = dataset.encoder
    else:
        # Names are for warnings of labels that are not known; the array takes less memory.
        model = estimator.fit(dataset.rows, dataset.labels if dataset.unknown else dataset.Y)
    model.label_names_in_ = np.array(dataset.label_names, dtype=object)
    ids = None if dataset.ids is None else np.array(dataset.ids, dtype=np.str_)
    model.reading_ = replace(dataset.reading, row_ids=ids)
    model.frequencies_ = LabelFrequencies.of(model, dataset.Y)
    return model


def _check_missing(estimator: Any, dataset: Dataset) -> None:
    """Raise a `DataError` if features miss values and `estimator` does not take that."""
    X = dataset.X
    if isinstance(X, np.ndarray):
        columns = np.flatnonzero(np.isnan(X).any(axis=0))
    else:
        columns = np.unique(X.indices[np.isnan(X.data)])
    if len(columns) and not get_tags(estimator).input_tags.allow_nan:
        raise DataError(
            dataset.name,
            f"feature {dataset.feature_names[columns[0]]!r} has missing values, which "
            f"{type(estimator).__name__} with such members does not accept, expected none, or "
            "members that take them: c45 or smo.",
        )


@naming_extra()
def check_can_save() -> None:
    """Raise an ``ImportError`` if what writes models is not installed."""
    _skops_io()


@naming_extra()
def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to `path`, which is replaced as a whole.

    Raises
    ------
    ValueError
        If the model holds objects that `load_model` would refuse.
    """
    with replacing(path) as temporary:
        _skops_io().dump(model, temporary)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.writestr(VERSIONS, json.dumps({"format": FORMAT, **versions_here()}))
        foreign = _foreign_types(temporary)
        if foreign:
            raise ValueError(
                f"{path}: a model that holds {foreign[0]} cannot be read back safely, expected "
                "members of labelcover or of scikit-learn that skops trusts."
            )


@naming_extra()
def load_model(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that `save_model` wrote to `path`.

    Raises
    ------
    DataError
        If the file is not such a model, or names types that are not trusted.
    """
    skops_io = _skops_io()
    check_ordinary(path)
    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise DataError(path, "not a model, expected a file written by labelcover train.")
    other = ""
    try:
        check_archive(path)
        other = _other_versions(path)
        foreign = _foreign_types(path)
        if foreign:
            raise DataError(
                path,
                f"holds an object of the type {foreign[0]}, which is not trusted, expected a "
                f"model written by labelcover train{other and f'; {other}'}.",
            )
        model = skops_io.load(path, trusted=skops_io.get_untrusted_types(file=path))
    except DataError:
        raise
    except Exception as error:
        # A damaged archive fails in as many ways as there are bytes; all mean the same.
        reason = f"{type(error).__name__}: {error}".split("\n")[0]
        what = f"cannot be read: {other}" if other else "damaged"
        raise DataError(
            path, f"{what} ({reason}), expected a model written by labelcover train."
        ) from None
    if not isinstance(model, BaseEstimator) or not hasattr(model, "label_names_in_"):
        raise DataError(path, f"not a labelcover model, expected the format {FORMAT!r}.")
    if other:
        warnings.warn(f"{path}: {other}; train it again if in doubt.", UserWarning, stacklevel=2)
    return model


def _other_versions(path: str | os.PathLike[str]) -> str:
    """Return in words which other versions wrote the model; empty if there are none."""
    with zipfile.ZipFile(path) as archive:
        if VERSIONS not in archive.namelist():
            return ""  # written before versions were kept
        written = json.loads(archive.read(VERSIONS))
    found = written.pop("format", FIRST_FORMAT)
    if found != FORMAT:
        raise DataError(path, f"written in the format {found!r}, now {FORMAT!r}: train it again.")
    return other_versions(written)


#: What loading a model makes beside the types that skops trusts, for ``skops.io.load`` and MLflow:
#: sparse tables, and all classes that labelcover defines, read from its files.
trusted_types = [
    *SPARSE_TABLES,
    *(
        ".".join(["labelcover", *path.relative_to(ROOT).with_suffix("").parts, name])
        for path in sorted(ROOT.rglob("*.py"))
        for name in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.M)
    ),
]


def is_trusted(type_name: str) -> bool:
    """Return whether a type that skops does not know may be made.

    These are the classes of labelcover, and SciPy's sparse tables, which hold numbers only; in the
    command also scikit-learn's estimators, which skops knows elsewhere.
    """
    if type_name in trusted_types:
        return True
    module, _, name = type_name.rpartition(".")
    parts = set(module.split("."))
    if not module.startswith("sklearn.") or name.startswith("_") or parts & {"tests", "externals"}:
        return False
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return False
    return isinstance(kind, type) and issubclass(kind, BaseEstimator) and kind.__module__ == module


def _skops_io() -> Any:
    """Return ``skops.io``; in the command without all of scikit-learn, which takes a second.

    skops imports it to list its estimators; `is_trusted` looks at those of a file only.
    """
    if in_command() and "skops.io" not in sys.modules:
        listed, sklearn.utils.all_estimators = sklearn.utils.all_estimators, list
        try:
            import skops.io
        finally:
            sklearn.utils.all_estimators = listed
    import skops.io

    return skops.io


def _foreign_types(path):
    untrusted = _skops_io().get_untrusted_types(file=path)
    return [name for name in untrusted if not is_trusted(name)]
