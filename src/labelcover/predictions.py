"""Predictions of a trained model as a file: a row for each row of a table."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_real, parameter
from labelcover.datasets import Dataset, Reading, feature_words, write_table
from labelcover.ensemble import LabelCoverClassifier
from labelcover.thresholds import cut

ROW = "row"  # what numbers the rows of a table that names none


def write_predictions(
    model: Any,
    dataset: Dataset,
    path: str | os.PathLike[str],
    *,
    decide: Any = None,
    threshold: float | None = None,
    n_reasons: int = 0,
    n_similar: int = 0,
    known: Any = None,
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
    model : estimator
        Fitted.
    dataset : Dataset
        Read for the model by `Reading`.
    path : path-like
        The file, which is replaced as a whole: CSV, Parquet or JSON lines by its suffix.
    decide : optional
        Decide for this measure instead of the one of training; see `LabelCoverClassifier`.
    threshold : float, optional
        Predict the labels whose probability is at least this, whatever the model decides.
    n_reasons : int, default=0
        Add a column ``why`` with so many reasons for each predicted label, and what speaks against
        it; they are found in the same pass over the rows.
    n_similar : int, default=0
        Add a column ``like`` with so many training rows that are like the row, and their labels.
    known : array-like, optional
        What is known of the labels of the rows; see `LabelCoverClassifier.predict_proba`.
    more : mapping of str to sequence, optional
        Columns to write last, by name.
    suffix, raw
        As in `labelcover.datasets._raw_tables.write_table`.

    Raises
    ------
    ValueError
        If the model cannot decide for another measure, or has no reasons or similar rows.
    """
    rule = _rule(model, decide, threshold)
    if known is not None and not isinstance(model, LabelCoverClassifier):
        raise ValueError(
            "known labels are for models of LabelCoverClassifier (method LabelCover), got one of "
            f"{type(model).__name__}."
        )
    told: dict[str, list[str]] = {}
    if n_reasons:
        check_reasons(model)
        words = None if dataset.encoder is not None else feature_words(dataset)
        how = {"decide": rule, "known": known}
        found = model._explained(dataset.rows, None, n_reasons, words, None, **how)
        probability, predicted = found.confidence, found.predicted.astype(np.int64)
        reasons: list[list[str]] = [[] for _ in predicted]  # of each row, label by label
        for (row, label), text in found.explanation.in_words(n_reasons).items():
            reasons[row].append(f"{label}: {text}")
        told["why"] = [" | ".join(texts) for texts in reasons]
    elif known is not None:
        answer = model._answer(dataset.rows, known)
        probability = answer.dense()
        predicted = answer.decided(rule or model.decision_.decide).astype(np.int64)
    else:
        probability = np.asarray(model.predict_proba(dataset.rows))
        chosen = model.predict(dataset.rows) if rule is None else rule(probability)
        predicted = np.asarray(chosen).astype(np.int64)
    if n_similar:
        told["like"] = _similar(model, dataset, n_similar)
    reading = Reading.of_model(model)
    tags = None if reading.labels is None else reading.labels.tags
    columns = _row_names(reading, dataset, len(predicted), (tags,))
    if reading.labels is not None and tags is not None:
        own, separator = model.label_names_in_, reading.labels.separator
        columns[tags] = [separator.join(own[row]) for row in predicted.astype(bool)]
    last = {**told, **(more or {})}
    # A tag may be called as another column is, and columns need names of their own.
    taken = {*columns, *last}
    names = list(map(str, model.label_names_in_))
    labels = _free_names(names, "label", taken)
    chances = _free_names((f"probability of {name}" for name in names), "probability", taken)
    columns |= dict(zip(labels, predicted.T.tolist(), strict=True))
    columns |= dict(zip(chances, probability.T.tolist(), strict=True))
    write_table(path, columns | last, suffix=suffix, raw=raw)
    return predicted


def write_completed(
    estimator: LabelCoverClassifier,
    dataset: Dataset,
    path: str | os.PathLike[str],
    *,
    threshold: float | None = None,
    suffix: str = "",
    raw: bool = False,
) -> NDArray[np.float64]:
    """Write the labels of `dataset`, those that are not known filled in; return the table.

    For each label there is a column of its name, after the column that names the rows, else a
    column ``row`` with their numbers. Known labels are 0 and 1, the others probabilities of four
    digits, .0001 to .9999; or 0 and 1 too, by a `threshold`.

    Parameters
    ----------
    estimator : LabelCoverClassifier
        Not fitted: see its ``complete``.
    dataset : Dataset
        With labels that are not known.
    path, suffix, raw
        As in `write_predictions`.
    threshold : float, optional
        Fill in 1 if the probability is at least this, else 0.

    Raises
    ------
    ValueError
        If all labels are known.
    """
    rule = _rule(estimator, None, threshold)
    if not dataset.unknown:
        raise ValueError(
            f"{dataset.name}: all labels are known, so there is nothing to complete; "
            f"{parameter('empty', 'unknown')} takes empty cells as not known."
        )
    known = ~np.isnan(dataset.Y)
    found = np.asarray(estimator.complete(dataset.rows, dataset.labels))
    filled = np.clip(found.round(4), 1e-4, 1 - 1e-4) if rule is None else rule(found).astype(int)
    columns = _row_names(dataset.reading, dataset, len(found), ())
    names = _free_names(dataset.label_names, "label", set(columns))
    for j, name in enumerate(names):
        own = zip(known[:, j], found[:, j].tolist(), filled[:, j].tolist(), strict=True)
        columns[name] = [int(given) if is_known else guess for is_known, given, guess in own]
    write_table(path, columns, suffix=suffix, raw=raw)
    return found


def _free_names(names: Iterable[str], role: str, taken: set[str]) -> list[str]:
    """Return the names, with their role behind those that are taken; all are taken afterwards."""
    free = []
    for name in names:
        while name in taken:
            name = f"{name} ({role})"
        taken.add(name)
        free.append(name)
    return free


def _rule(estimator: Any, decide: Any, threshold: float | None) -> Any:
    """Return what makes decisions of probabilities; None if that is the model's own decision."""
    if threshold is not None:
        check_real("threshold", threshold, low=0, high=1)
        return lambda P: cut(P, threshold, "positive")
    if decide is None:
        return None
    if not isinstance(estimator, LabelCoverClassifier):
        raise ValueError(
            f"decide={decide!r} is for models of LabelCoverClassifier (method LabelCover), got one "
            f"of {type(estimator).__name__}."
        )
    return estimator._decision(decide).decide


def _row_names(
    reading: Reading, dataset: Dataset, n: int, taken: Sequence[str | None]
) -> dict[str, list[Any]]:
    """Return the column that names the rows, or numbers them, under a name that is not taken."""
    numbered = f"{ROW} (number)" if ROW in taken else ROW
    if dataset.ids is None:
        return {numbered: list(range(1, n + 1))}
    name = None if reading.encoder is None else reading.encoder.id
    return {numbered if name is None else name: dataset.ids}


def check_reasons(model: Any) -> None:
    """Raise a ``ValueError`` if the confidences of a model are no sums of reasons."""
    if not hasattr(model, "explain"):
        raise ValueError(f"--why needs a model of labelcover, got {model!r}.")
    if why := model.view_.no_shares:
        raise ValueError(
            "--why is for models whose confidences are sums of reasons, such as those of method "
            f"LabelCover, got one of {type(model).__name__}: {why}."
        )


def _similar(model: Any, dataset: Dataset, n: int) -> list[str]:
    """Return for each row the training rows most like it, by their ids, with their labels."""
    if not hasattr(model, "similar_rows"):
        raise ValueError(f"--like needs a model of labelcover, got {model!r}.")
    n = check_integer("n_similar", n, low=1)
    ids = Reading.of_model(model).row_ids
    return [
        "; ".join(
            f"{row + 1 if ids is None else ids[row]} ({', '.join(tags) or 'no tags'})"
            for row, _, tags in own
        )
        for own in model.similar_rows(dataset.rows, n)
    ]
