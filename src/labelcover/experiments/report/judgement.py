"""What a model's own page tells: how good it is, label by label, and where it errs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from labelcover.metrics import MEASURES, expected_calibration_error

# Confidences are counted in so many classes, so that any threshold can be tried on the page.
STEPS = 100
RELIABILITY_BINS = 10


class LabelLine(NamedTuple):
    """How well one label is predicted; NaN where something is not defined."""

    label: str
    support: int
    predicted: int
    precision: float
    recall: float
    f1: float
    threshold: float
    average_precision: float
    calibration_error: float


class Mistake(NamedTuple):
    """A cell that was predicted wrongly: how sure the model was of the wrong value."""

    row: int
    label: int
    predicted: int
    confidence: float
    sureness: float


@dataclass(frozen=True)
class Judgement:
    """Labels, confidences and predictions of some rows that the model has not seen.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        The numbers of the rows, from 0.
    Y, predicted : ndarray of shape (n, n_labels)
        Zeros and ones.
    P : ndarray of shape (n, n_labels)
        Confidences.
    label_names : list of str
    threshold : float, ndarray of shape (n_labels,) or None
    """

    rows: NDArray[np.int64]
    Y: NDArray[np.uint8]
    P: NDArray[np.float64]
    predicted: NDArray[np.uint8]
    label_names: list[str]
    threshold: Any

    def sampled(self, most: int) -> Judgement:
        """Return a random sample of so many rows; itself if it has no more."""
        if len(self.rows) <= most:
            return self
        kept = np.sort(np.random.default_rng(0).choice(len(self.rows), most, replace=False))
        tables = self.Y[kept], self.P[kept], self.predicted[kept]
        return Judgement(self.rows[kept], *tables, self.label_names, self.threshold)

    @cached_property
    def measures(self) -> dict[str, float]:
        """Every measure by its title."""
        return {
            measure.title: measure.function(
                self.Y, self.predicted if measure.of_predictions else self.P
            )
            for measure in MEASURES.values()
        }

    def label_lines(self, labels: Sequence[int]) -> list[LabelLine]:
        """Return how well each of some labels is predicted."""
        m = len(self.label_names)
        cuts = np.full(m, np.nan) if self.threshold is None else self.threshold
        cuts = np.broadcast_to(np.asarray(cuts, dtype=np.float64), (m,))
        hits = (self.Y & self.predicted).sum(axis=0)
        support, predicted = self.Y.sum(axis=0), self.predicted.sum(axis=0)
        lines = []
        for j in labels:
            both = support[j] + predicted[j]
            y, p = self.Y[:, j], self.P[:, j]
            lines.append(
                LabelLine(
                    self.label_names[j],
                    int(support[j]),
                    int(predicted[j]),
                    _ratio(hits[j], predicted[j]),
                    _ratio(hits[j], support[j]),
                    _ratio(2 * hits[j], both),
                    float(cuts[j]),
                    float(average_precision_score(y, p)) if support[j] else np.nan,
                    expected_calibration_error(y[:, None], p[:, None]),
                )
            )
        return lines

    def counts(self, labels: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return how many cells of some labels have each class of confidence: true, and false."""
        step = np.minimum((self.P[:, labels] * STEPS).astype(np.int64), STEPS - 1).ravel()
        truth = self.Y[:, labels].ravel() == 1
        return (
            np.bincount(step[truth], minlength=STEPS).tolist(),
            np.bincount(step[~truth], minlength=STEPS).tolist(),
        )

    def reliability(self, labels: Sequence[int]) -> list[tuple[float, float, int]]:
        """Return mean confidence, share of true cells and number of cells, of ten equal bins."""
        p, y = self.P[:, labels].ravel(), self.Y[:, labels].ravel()
        bins = np.minimum((p * RELIABILITY_BINS).astype(np.int64), RELIABILITY_BINS - 1)
        found = []
        for b in np.unique(bins).tolist():
            own = bins == b
            found.append((float(p[own].mean()), float(y[own].mean()), int(own.sum())))
        return found

    def mistakes(self, most_rows: int, most_cells: int = 3) -> list[list[Mistake]]:
        """Return the mistakes row by row: the rows with the surest one first."""
        wrong = self.predicted != self.Y
        sureness = np.where(wrong, np.where(self.predicted == 1, self.P, 1 - self.P), -1.0)
        worst = sureness.max(axis=1, initial=-1.0)
        order = [i for i in np.argsort(-worst, kind="stable")[:most_rows] if worst[i] >= 0]
        found = []
        for i in order:
            labels = [j for j in np.argsort(-sureness[i], kind="stable") if wrong[i, j]]
            found.append([self._mistake(i, j, sureness) for j in labels[:most_cells]])
        return found

    def _mistake(self, i: int, j: int, sureness: NDArray[np.float64]) -> Mistake:
        said = int(self.predicted[i, j])
        return Mistake(int(i), int(j), said, float(self.P[i, j]), float(sureness[i, j]))


def judged_on(model: Any, dataset: Any) -> Judgement:
    """Return how a trained model does on a data set that has the labels."""
    predicted = _table(model.estimator.predict(dataset.X))
    P = np.asarray(model.estimator.predict_proba(dataset.X), dtype=np.float64)
    cuts = getattr(model.estimator, "threshold_", None)
    rows = np.arange(len(dataset.Y))
    return Judgement(rows, dataset.Y, P, predicted, list(model.label_names), cuts)


def judged_left_out(model: Any) -> Judgement:
    """Return how a trained model does on training rows left out, which it keeps from training.

    Raises
    ------
    ValueError
        If it keeps none.
    """
    estimator = model.estimator
    kept = getattr(estimator, "left_out_predictions_", None)
    if kept is None:
        raise ValueError(
            f"the model keeps no predictions for rows left out ({type(estimator).__name__}): give "
            "a file with test data, or train a LabelCover model."
        )
    order = np.argsort(kept.rows, kind="stable")
    predicted = _table(estimator.decision_.decide(kept.confidence[order]))
    names = list(model.label_names)
    return Judgement(
        kept.rows[order],
        kept.Y[order],
        kept.confidence[order],
        predicted,
        names,
        estimator.threshold_,
    )


def _table(predicted: Any) -> NDArray[np.uint8]:
    dense = predicted.toarray() if hasattr(predicted, "toarray") else predicted
    return np.asarray(dense).astype(np.uint8)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")
