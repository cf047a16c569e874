"""Trained models on disk: written with skops, and read without running what a file brings along.

A model file is a skops archive: a description of objects by the names of their types, and arrays.
Reading it makes objects only of the types that skops trusts (numbers, arrays, scikit-learn's
estimators) and of those of labelcover that `is_trusted` accepts: the estimators, families and
learners, `Cover` and `Encoding`. A file that names any other type is refused as a whole, unread.
"""

from __future__ import annotations

import importlib
import os
import zipfile
from dataclasses import dataclass, field
from typing import Any

from sklearn.base import BaseEstimator

from labelcover._files import replacing
from labelcover.covers import Cover
from labelcover.datasets import DataError, Dataset
from labelcover.families import Encoding, Family

FORMAT = "labelcover-model-1"


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
    """

    estimator: Any
    feature_names: list[str]
    label_names: list[str]
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    trained_on: str = ""

    @classmethod
    def fit(cls, estimator: Any, dataset: Dataset) -> TrainedModel:
        """Return the model that `estimator` becomes on all rows of `dataset`."""
        return cls(
            estimator.fit(dataset.X, dataset.Y),
            list(dataset.feature_names),
            list(dataset.label_names),
            dict(dataset.categories),
            dataset.name,
        )

    def check_fits(self, dataset: Dataset, path: str | os.PathLike[str]) -> None:
        """Raise a `DataError` if nominal features of `dataset` are coded unlike in training."""
        for name, values in self.categories.items():
            if dataset.categories.get(name, values) != values:
                raise DataError(
                    path,
                    f"attribute {name!r} is declared with other values than in training, "
                    f"expected {{{','.join(values)}}}.",
                )


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
    }
    with replacing(path) as temporary:
        skops.io.dump(content, temporary)
        foreign = _foreign_types(temporary)
        if foreign:
            raise ValueError(
                f"{path}: a model that holds {foreign[0]} cannot be read back safely, expected "
                "members of labelcover or of scikit-learn that skops trusts."
            )


def load_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Return the model that `save_model` wrote to `path`.

    Raises
    ------
    DataError
        If the file is not such a model, or names types that are not trusted.
    """
    import skops.io

    with open(path, "rb") as file:
        if not zipfile.is_zipfile(file):
            raise DataError(path, "not a model, expected a file written by labelcover train.")
    try:
        foreign = _foreign_types(path)
        if foreign:
            raise DataError(
                path,
                f"holds an object of the type {foreign[0]}, which is not trusted, expected a "
                "model written by labelcover train.",
            )
        content = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    except DataError:
        raise
    except Exception as error:
        # A damaged archive fails in as many ways as there are bytes; all mean the same.
        reason = f"{type(error).__name__}: {error}".split("\n")[0]
        raise DataError(
            path, f"damaged ({reason}), expected a model written by labelcover train."
        ) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise DataError(path, f"not a labelcover model, expected the format {FORMAT!r}.")
    return TrainedModel(
        content["estimator"],
        content["feature_names"],
        content["label_names"],
        {name: tuple(values) for name, values in content["categories"].items()},
        content["trained_on"],
    )


def is_trusted(type_name: str) -> bool:
    """Return whether a type that skops does not know may be made from a model file.

    Only classes of labelcover that a model is made of: estimators, families, `Cover`, `Encoding`.
    """
    module, _, name = type_name.rpartition(".")
    if not module.startswith("labelcover."):
        return False
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return False
    return isinstance(kind, type) and issubclass(kind, BaseEstimator | Family | Cover | Encoding)


def _foreign_types(path):
    import skops.io

    return [name for name in skops.io.get_untrusted_types(file=path) if not is_trusted(name)]
