"""What is in a row of a data set, in the words of its table, for a person who has to judge it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import sparse

from labelcover.datasets.dataset import Dataset

MOST_CHARACTERS, MOST_FEATURES = 400, 8


def feature_words(dataset: Dataset) -> Callable[[int, float], str]:
    """Return what says a feature, by its number, and its value in the words of the table."""
    if dataset.encoder is not None:
        return dataset.encoder.feature_words()
    names = dataset.feature_names

    def told(f: int, value: float) -> str:
        values = dataset.categories.get(names[f], ()) if dataset.categorical[f] else ()
        known = 0 <= value < len(values)  # false for a missing value too
        return f"{names[f]} = {values[int(value)] if known else f'{value:.4g}'}"

    return told


def row_contents(dataset: Dataset, rows: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
    """Return what is in some rows, as headings and texts.

    The text of the row where there is any, shortened; else the features in which the row differs
    the most from others.
    """
    rows = sorted(set(rows))
    if dataset.texts:
        return {
            i: [(name, _shortened(cells[i])) for name, cells in dataset.texts.items() if cells[i]]
            for i in rows
        }
    words = feature_words(dataset)
    X: Any = dataset.X
    if sparse.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        spread = np.sqrt(np.maximum(np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2, 0))
    else:
        known = np.isfinite(X)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, X, 0).sum(axis=0) / count
        spread = np.sqrt((np.where(known, X - mean, 0) ** 2).sum(axis=0) / count)
    found = {}
    for i in rows:
        row = X[[i]].toarray()[0] if sparse.issparse(X) else X[i]
        unusual = np.abs(row - mean) / np.where(spread > 0, spread, np.inf)
        # Of a sparse row, what is there tells more than what is not.
        unusual[np.isnan(row) | (sparse.issparse(X) & (row == 0))] = 0
        most = np.argsort(-unusual, kind="stable")[:MOST_FEATURES]
        told = [words(int(f), float(row[f])) for f in most if unusual[f] > 0]
        found[i] = [("strongest features", "; ".join(told))] if told else []
    return found


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS].rstrip() + " …"
