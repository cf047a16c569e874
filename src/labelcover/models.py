"""Trained models on disk: written with skops, and loaded without running code from the file.

A model file is a skops archive: a description of objects by the names of their types, and arrays.
Loading it creates only objects of the types that skops trusts (numbers, arrays, scikit-learn's
estimators), of the classes that labelcover defines, and SciPy's sparse tables. A file that names
anything else, even a function of labelcover, is refused before any object is created.
"""

from __future__ import annotations

import importlib
import json
import os
import warnings
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from labelcover._files import replacing
from labelcover._imports import naming_extra, other_versions, versions_here
from labelcover.chance import LabelFrequencies
from labelcover.chunks import is_on_cluster, on_dask, open_chunks
from labelcover.datasets import (
    KNOWN,
    DataError,
    Dataset,
    TableEncoder,
    check_archive,
    check_ordinary,
    load,
    read,
)
from labelcover.ensemble import Pool
from labelcover.learners import LeastSquaresClassifier

FORMAT = "labelcover-model-4"  # another one when classes move: files name their modules
FIRST_FORMAT = "labelcover-model-1"  # which did not say so beside the versions
# What a model file holds at least.
PARTS = {
    "estimator": BaseEstimator,
    "feature_names": list,
    "label_names": list,
    "categories": dict,
    "trained_on": str,
}
# The member of the archive that says which versions wrote it; it is read before anything else.
VERSIONS = "versions.json"
# Rows of a sparse training table are part of a kernel model.
SPARSE_TABLES = ("scipy.sparse._csr.csr_array", "scipy.sparse._csr.csr_matrix")


@dataclass(frozen=True)
class TrainedModel:
    """A fitted estimator and the names of what goes in and what comes out.

    Attributes
    ----------
    estimator : estimator
        Fitted on `feature_names`, predicts `label_names`.
    feature_names, label_names : list of str
        Columns of X and Y, in order.
    categories : dict of str to tuple of str
        The values of nominal features in the order of their codes.
    trained_on : str
        The name of the training data, for people to read.
    encoder : TableEncoder or None
        How a table becomes features, if the model was trained on one read by `read_table`.
    frequencies : LabelFrequencies or None
        How often labels occur in training, which the model is compared with.
    row_ids : ndarray of str, or None
        What the training rows are called, if the table says.
    """

    estimator: Any
    feature_names: list[str]
    label_names: list[str]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trained_on: str = ""
    encoder: TableEncoder | None = None
    frequencies: LabelFrequencies | None = None
    row_ids: Any = None

    @classmethod
    def fit(cls, estimator: Any, dataset: Dataset) -> TrainedModel:
        """Return the model that `estimator` becomes on all rows of `dataset`.

        Its members are told which features are nominal; see `with_nominal_features`. In a context
        of `labelcover.chunks.cluster`, rows go to the workers of a Dask cluster if the estimator
        takes rows in chunks; else its members are fitted there.
        """
        estimator = with_nominal_features(estimator, dataset)
        _check_missing(estimator, dataset)
        rows: tuple[Any, ...] = dataset.X, dataset.Y
        if is_on_cluster() and getattr(estimator, "reads_chunks", False):
            rows = (on_dask(open_chunks(*rows)),)
        fitted = estimator.fit(*rows)
        if hasattr(fitted, "label_names_in_"):
            # Y is an array: the names are those of the data set.
            fitted.label_names_in_ = np.array(dataset.label_names, dtype=object)
        return cls(
            fitted,
            list(dataset.feature_names),
            list(dataset.label_names),
            dict(dataset.categories),
            dataset.name,
            dataset.encoder,
            LabelFrequencies.of(estimator, dataset.Y),
            None if dataset.ids is None else np.array(dataset.ids, dtype=np.str_),
        )

    def __repr__(self) -> str:
        return (
            f"TrainedModel({self.estimator!r}, trained on {self.trained_on!r}: "
            f"{len(self.feature_names)} features, {len(self.label_names)} labels)"
        )

    def predict_tags(self, source: str | os.PathLike[str], **written: Any) -> list[list[Any]]:
        """Return the names of the labels predicted for each row of a file; see `read`."""
        return self.estimator.predict_tags(self.read(source, with_labels=False, **written).X)

    @property
    def feature_words(self) -> Any:
        """What names features in explanations: the words of the table, or their names."""
        return self.feature_names if self.encoder is None else self.encoder.feature_words()

    def read(self, source: str | os.PathLike[str], *, with_labels: bool, **written: Any) -> Dataset:
        """Return the rows of a file, or of a known data set, in the form the model takes.

        Parameters
        ----------
        source : path-like or str
            A file with a column for each feature, in any order, or a name that `load` knows.
        with_labels : bool
            Whether the labels must be there too.
        **written : optional
            What is known of a CSV file: ``delimiter``, ``encoding``, ``decimal``, ``header``.

        Raises
        ------
        DataError
            If a column is missing or a nominal one is declared differently than in training.
        """
        wanted = self.label_names if with_labels else []
        if str(source) in KNOWN and not Path(source).exists():
            dataset = load(str(source))
            if (dataset.feature_names, dataset.label_names) != (
                self.feature_names,
                self.label_names,
            ):
                raise DataError(source, f"has other columns than {self.trained_on!r}.")
            return dataset
        if self.encoder is not None:
            return self.encoder.read(source, with_labels=with_labels, **written)
        for name, value in written.items():
            if value is not None:
                raise ValueError(
                    f"{name} is for models that were trained on a table (.csv, .parquet, .jsonl), "
                    f"got {name}={value!r} for one trained on {self.trained_on!r}."
                )
        dataset = read(source, wanted, features=self.feature_names)
        for name, values in self.categories.items():
            if dataset.categories.get(name) != values:
                raise DataError(
                    source,
                    f"attribute {name!r} is declared differently than in training, expected "
                    f"{{{','.join(values)}}}.",
                )
        return dataset


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


def with_nominal_features(estimator: Any, dataset: Dataset) -> Any:
    """Return `estimator` with its ``categorical_features`` set to the nominal ones of `dataset`.

    This is done where they are still ``"from_dtype"``, the default, as the features of a `Dataset`
    are an array, whose dtype does not say: in the estimator itself or in its member
    (``estimator__categorical_features``). Least squares is told of features with more than two
    values only, as it takes zeros and ones as they are. Everything else is returned unchanged.

    Examples
    --------
    >>> from labelcover import RakelClassifier
    >>> from labelcover.datasets import Dataset
    >>> from labelcover.learners import C45Classifier
    >>> from labelcover.models import with_nominal_features
    >>> import numpy as np
    >>> colours = {"colour": ("red", "green", "blue")}
    >>> dataset = Dataset("toy", np.array([[0.0], [2.0]]), np.eye(2, dtype=np.uint8), ["colour"],
    ...                   ["a", "b"], np.array([True]), categories=colours)
    >>> with_nominal_features(RakelClassifier(C45Classifier()), dataset).estimator
    C45Classifier(categorical_features=array([ True]))
    """
    if not dataset.categorical.any():
        return estimator
    parameters = estimator.get_params()
    learner = parameters.get("estimator", estimator)
    if "estimator__least_squares" in parameters:  # the learner that a pool reads tables by
        pool = learner if isinstance(learner, Pool) else Pool()
        reader = pool.least_squares or LeastSquaresClassifier()
        told = with_nominal_features(reader, dataset)
        if told is reader:
            return estimator
        return clone(estimator).set_params(estimator=clone(pool).set_params(least_squares=told))
    is_ensemble = "estimator" in parameters
    name = "estimator__categorical_features" if is_ensemble else "categorical_features"
    linear = learner is None or isinstance(learner, LeastSquaresClassifier)
    nominal = dataset.many_valued if linear else dataset.categorical
    if not nominal.any() or not isinstance(parameters.get(name), str):
        return estimator
    return clone(estimator).set_params(**{name: nominal})


@naming_extra()
def check_can_save() -> None:
    """Raise an ``ImportError`` if what writes models is not installed."""
    import skops.io  # noqa: F401


@naming_extra()
def save_model(model: TrainedModel, path: str | os.PathLike[str]) -> None:
    """Write `model` to `path`, which is replaced as a whole.

    Raises
    ------
    ValueError
        If the model holds objects that `load_model` would refuse.
    """
    import skops.io

    content = {
        "format": FORMAT,
        "estimator": model.estimator,
        "feature_names": model.feature_names,
        "label_names": model.label_names,
        "categories": {name: list(values) for name, values in model.categories.items()},
        "trained_on": model.trained_on,
        "encoder": model.encoder,
        "frequencies": model.frequencies,
        "row_ids": model.row_ids,
    }
    with replacing(path) as temporary:
        skops.io.dump(content, temporary)
        with zipfile.ZipFile(temporary, "a") as archive:
            archive.writestr(VERSIONS, json.dumps({"format": FORMAT, **versions_here()}))
        foreign = _foreign_types(temporary)
        if foreign:
            raise ValueError(
                f"{path}: a model that holds {foreign[0]} cannot be read back safely, expected "
                "members of labelcover or of scikit-learn that skops trusts."
            )


@naming_extra()
def load_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Return the model that `save_model` wrote to `path`.

    Raises
    ------
    DataError
        If the file is not such a model, or names types that are not trusted.
    """
    import skops.io

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
        content = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    except DataError:
        raise
    except Exception as error:
        # A damaged archive fails in as many ways as there are bytes; all mean the same.
        reason = f"{type(error).__name__}: {error}".split("\n")[0]
        what = f"cannot be read: {other}" if other else "damaged"
        raise DataError(
            path, f"{what} ({reason}), expected a model written by labelcover train."
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(path, f"not a labelcover model, expected the format {FORMAT!r}.")
    for name, kind in PARTS.items():
        if not isinstance(content.get(name), kind):
            raise DataError(path, f"damaged: holds no {name}, expected {kind.__name__}.")
    if other:
        warnings.warn(f"{path}: {other}; train it again if in doubt.", UserWarning, stacklevel=2)
    return TrainedModel(
        content["estimator"],
        content["feature_names"],
        content["label_names"],
        {name: tuple(values) for name, values in content["categories"].items()},
        content["trained_on"],
        content.get("encoder"),
        content.get("frequencies"),
        content.get("row_ids"),
    )


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


def is_trusted(type_name: str) -> bool:
    """Return whether a type that skops does not know may be made.

    These are the classes of labelcover, and SciPy's sparse tables, which hold numbers only.
    """
    if type_name in SPARSE_TABLES:
        return True
    module, _, name = type_name.rpartition(".")
    if not module.startswith("labelcover."):
        return False
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return False
    return isinstance(kind, type) and kind.__module__ == module


def _foreign_types(path):
    import skops.io

    return [name for name in skops.io.get_untrusted_types(file=path) if not is_trusted(name)]
