"""What estimators fit: training rows go in, and confidences for new rows come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from labelcover._table_numbers import rows_of


@dataclass(frozen=True)
class TrainingRows:
    """What members are fitted on.

    Attributes
    ----------
    X : ndarray, CSR matrix or data frame of shape (n, d)
        As the learner reads it.
    Y : ndarray of shape (n, n_labels), uint8
        Or a CSR array of ones, where there are very many labels.
    n_values : ndarray of shape (d,)
        How many values a nominal feature has, 0 for a numeric one.
    weights : ndarray of shape (n,) or None
        Above 0, and 1 in the mean of the rows that were given to `fit`.
    metadata : mapping
        What else goes to the ``fit`` of every member.
    """

    X: Any
    Y: Any
    n_values: NDArray[np.int32]
    weights: NDArray[np.float64] | None
    metadata: Mapping[str, Any]

    def rows(self, rows: NDArray[np.int64]) -> TrainingRows:
        """Return some of the rows; metadata that is not one value per row stays as it is."""
        metadata = metadata_of(self.metadata, rows, self.Y.shape[0])
        weights = None if self.weights is None else self.weights[rows]
        return TrainingRows(rows_of(self.X, rows), self.Y[rows], self.n_values, weights, metadata)


def metadata_of(metadata: Mapping[str, Any], rows: NDArray[np.int64], n: int) -> dict[str, Any]:
    """Return the metadata of some of `n` rows; what is not one value per row stays as it is."""
    return {
        name: np.asarray(value)[rows] if np.shape(value)[:1] == (n,) else value
        for name, value in metadata.items()
    }


class View(Protocol):
    """What gives confidences: members over a cover, a forest, a pool, or another method's models.

    Attributes
    ----------
    left_out : tuple or None
        Rows of the training set and, for each table that `confidences` returns, their confidences
        by models fitted without them, if kept.
    """

    left_out: tuple[NDArray[np.int64], list[NDArray[np.float64]]] | None

    @property
    def n_seeds(self) -> int:
        """How many seeds `fit` is to be given."""
        ...

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> View:
        """Fit everything; `seeds` are drawn beforehand."""
        ...

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``; most views have one table."""
        ...
