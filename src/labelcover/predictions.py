"""Predictions of a trained model as a file: a row for each row of a table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_real
from labelcover.datasets import Dataset, write_table
from labelcover.ensemble import LabelCoverClassifier, check_explained
from labelcover.models import TrainedModel
from labelcover.thresholds import cut

ROW = "row"  # what numbers the rows of a table that names none


def write_predictions(
    model: TrainedModel,
    dataset: Dataset,
    path: str | os.PathLike[str],
    *,
    decide: Any = None,
    threshold: float | None = None,
    more: Mapping[str, Sequence[Any]] | None = None,
    suffix: str = "",
    raw: bool = False,
) -> NDArray[np.int64]:
    """Write a file with a row per row of `dataset`; return the predicted zeros and ones.

    For each label there is a column of its name (0 or 1) and, after all of these, a column
    ``probability of <name>``. Before them come the column that names the rows, else a column
    ``row`` with their numbers, and the tags, separated as in training, if the model was trained on
    a column of tags.

    Parameters
    ----------
    model : TrainedModel
    dataset : Dataset
        Read by the model.
    path : path-like
        The file, which is replaced as a whole: CSV, Parquet or JSON lines by its suffix.
    decide : optional
        Decide for this measure instead of the one of training; see `LabelCoverClassifier`.
    threshold : float, optional
        Predict the labels whose probability is at least this, whatever the model decides.
    more : mapping of str to sequence, optional
        Columns to write last, by name.
    suffix, raw
        As in `labelcover.datasets._raw_tables.write_table`.

    Raises
    ------
    ValueError
        If the model cannot decide for another measure.
    """
    probability = np.asarray(model.estimator.predict_proba(dataset.X))
    if threshold is None:
        predicted = _decided(model.estimator, dataset.X, decide)
    else:
        check_real("threshold", threshold, low=0, high=1)
        predicted = cut(probability, threshold, "positive").astype(np.int64)
    columns = _first_columns(model, dataset, predicted)
    last = dict(more or {})
    # A tag may be called as another column is, and columns need names of their own.
    taken = {*columns, *last}
    labels = _free_names(model.label_names, "label", taken)
    chances = _free_names(
        (f"probability of {name}" for name in model.label_names), "probability", taken
    )
    columns |= dict(zip(labels, predicted.T.tolist(), strict=True))
    columns |= dict(zip(chances, probability.T.tolist(), strict=True))
    write_table(path, columns | last, suffix=suffix, raw=raw)
    return predicted


def _free_names(names: Iterable[str], role: str, taken: set[str]) -> list[str]:
    """Return the names, with their role behind those that are taken; all are taken afterwards."""
    free = []
    for name in names:
        while name in taken:
            name = f"{name} ({role})"
        taken.add(name)
        free.append(name)
    return free


def _decided(estimator: Any, X: Any, decide: Any) -> NDArray[np.int64]:
    if decide is None:
        return np.asarray(estimator.predict(X))
    if not isinstance(estimator, LabelCoverClassifier):
        raise ValueError(
            f"decide={decide!r} is for models of LabelCoverClassifier (method LabelCover), got one "
            f"of {type(estimator).__name__}."
        )
    return np.asarray(estimator.predict(X, decide=decide))


def _first_columns(
    model: TrainedModel, dataset: Dataset, predicted: NDArray[np.int64]
) -> dict[str, list[Any]]:
    """Return the columns before those of the labels: what names the rows, and tags if there are."""
    tags = None if model.encoder is None else model.encoder.labels.tags
    numbered = f"{ROW} (number)" if tags == ROW else ROW
    columns: dict[str, list[Any]] = {numbered: list(range(1, len(predicted) + 1))}
    if dataset.ids is not None:
        name = None if model.encoder is None else model.encoder.id
        columns = {numbered if name is None else name: dataset.ids}
    if model.encoder is None or tags is None:
        return columns
    names = np.array(model.label_names, dtype=object)
    separator = model.encoder.labels.separator
    return {**columns, tags: [separator.join(names[row]) for row in predicted.astype(bool)]}


def reasons_of_rows(model: TrainedModel, dataset: Dataset, n: int) -> list[str]:
    """Return for each row of `dataset` its predicted labels, each with its `n` strongest reasons.

    Raises
    ------
    ValueError
        If `n` is not at least 1, or the confidences of the model are no sums.
    """
    n = check_integer("n", n, low=1)
    if not hasattr(model.estimator, "explain"):
        raise ValueError(f"--why needs a model of labelcover, got {model.estimator!r}.")
    try:
        check_explained(model.estimator.view_, repr(model.estimator))
    except ValueError:
        raise ValueError(
            "--why is for models whose confidences are sums of reasons, such as those of method "
            f"LabelCover, got one of {type(model.estimator).__name__}."
        ) from None
    names = {"feature_names": model.feature_words, "label_names": model.label_names}
    told: list[list[str]] = [[] for _ in range(dataset.X.shape[0])]
    why = model.estimator.explain(dataset.X, n_reasons=n, **names).in_words(n)
    for (row, label), text in why.items():
        told[row].append(f"{label}: {text}")
    return [" | ".join(texts) for texts in told]
