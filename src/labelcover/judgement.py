"""How good a model is on left-out rows: beside chance, label by label, where it errs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from labelcover._arguments import check_real
from labelcover._label_values import split_unknown
from labelcover._words import WORDS
from labelcover.chance import Chance, LabelFrequencies, Verdict, chance_of, verdict
from labelcover.decisions import fit_decision
from labelcover.metrics import (
    MEASURES,
    Measure,
    expected_calibration_error,
    micro_precision,
    micro_recall,
)
from labelcover.thresholds import cut

# Confidences are counted in so many classes, so that any threshold can be tried on the page.
STEPS = 100
RELIABILITY_BINS = 10
# Decisions are judged on rows that they were not fitted on, in so many folds.
FOLDS = 10
JUDGED_BY: dict[str, Measure] = {
    "micro_f1": MEASURES["micro_f1"],
    "micro_precision": Measure(micro_precision, "precision", True, "predictions"),
    "micro_recall": Measure(micro_recall, "recall", True, "predictions"),
    **MEASURES,
}
EXPLANATIONS: dict[str, str] = WORDS["measures"]


class Score(NamedTuple):
    """A measure of the model, and of chance; NaN where something is not defined."""

    name: str
    title: str
    value: float
    chance: float
    direction: str
    explanation: str


class LabelLine(NamedTuple):
    """How well one label is predicted; NaN where something is not defined."""

    label: str
    support: int  # rows that are known to have it
    predicted: int  # of the rows in which it is known
    precision: float
    recall: float
    f1: float
    always_f1: float
    threshold: float
    average_precision: float
    calibration_error: float
    known: int  # rows in which it is known


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
        Zeros and ones. `Y` is 0 where a label is not known.
    P : ndarray of shape (n, n_labels)
        Confidences.
    label_names : list of str
    threshold : float, ndarray of shape (n_labels,) or None
    chance : Chance
        The baseline of these rows.
    measure : str
        The measure that the predictions are meant for.
    n_other_tags : float
        How many tags these rows have, or may be expected to have, that the model does not know.
    n_others_judged : float
        How many of these are in `Y` all the same.
    known : ndarray of bool of shape (n, n_labels), or None
        Which cells of `Y` are known; None if all are. Measures and counts are of these.
    """

    rows: NDArray[np.int64]
    Y: NDArray[np.uint8]
    P: NDArray[np.float64]
    predicted: NDArray[np.uint8]
    label_names: list[str]
    threshold: Any
    chance: Chance
    measure: str = "micro_f1"
    n_other_tags: float = 0.0
    n_others_judged: float = 0.0
    known: NDArray[np.bool_] | None = None

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The labels as measures take them: `Y`, with NaN where it is not known."""
        return self.Y if self.known is None else np.where(self.known, self.Y, np.nan)

    @cached_property
    def judged(self) -> NDArray[np.bool_]:
        """Which cells are judged: those that are known."""
        return np.ones(self.Y.shape, dtype=bool) if self.known is None else self.known

    def sampled(self, most: int) -> "Judgement":
        """Return a random sample of so many rows; itself if it has no more."""
        if len(self.rows) <= most:
            return self
        kept = np.sort(np.random.default_rng(0).choice(len(self.rows), most, replace=False))
        chance = self.chance._replace(
            predicted=[table[kept] for table in self.chance.predicted], P=self.chance.P[kept]
        )
        tables = {name: getattr(self, name)[kept] for name in ("rows", "Y", "P", "predicted")}
        others = {
            name: getattr(self, name) * most / len(self.rows)
            for name in ("n_other_tags", "n_others_judged")
        }
        known = None if self.known is None else self.known[kept]
        return replace(self, **tables, **others, known=known, chance=chance)

    @cached_property
    def scores(self) -> dict[str, Score]:
        """Every measure by its name, of the model and of chance."""
        return {
            name: Score(
                name,
                measure.title,
                measure.function(self.truth, self.predicted if measure.of_predictions else self.P),
                self.chance.value(measure, self.truth),
                measure.direction,
                EXPLANATIONS[name],
            )
            for name, measure in JUDGED_BY.items()
        }

    @cached_property
    def verdict(self) -> Verdict:
        """Whether the predictions are better than chance."""
        return verdict(self.measure, self.truth, self.predicted, self.chance)

    @property
    def all_tags_f1(self) -> float:
        """The micro-F1 with tags that the model does not know counted as missed."""
        known = float(self.Y.sum() + self.predicted[self.judged].sum()) - self.n_others_judged
        return self.scores["micro_f1"].value * _ratio(known, known + self.n_other_tags)

    @property
    def told(self) -> list[str]:
        """What is to be known of the measures, in sentences."""
        said = [self.chance.told]
        if self.known is not None:
            said.append(
                f"{1 - self.known.mean():.0%} of the labels of these rows are not known: measures "
                "and counts are of the others."
            )
        if self.n_without_labels:
            said.append(
                f"{self.n_without_labels:,} of {len(self.rows):,} rows have no "
                f"{'labels' if self.known is None else 'labels that are known'}; rankings of "
                "labels within rows are measured on the others."
            )
        return said

    @property
    def other_tags_told(self) -> str:
        """What tags that the model does not know would change; empty if there are none."""
        if not self.n_other_tags:
            return ""
        known = float(self.Y.sum()) - self.n_others_judged
        share = self.n_other_tags / (self.n_other_tags + known)
        return (
            f"{100 * share:.1f} % of the tags of rows like these are not known to the model, as "
            "fewer than two training rows have them. No measure counts them; with them counted as "
            f"missed, micro-F1 is {self.all_tags_f1:.3f}."
        )

    @property
    def n_without_labels(self) -> int:
        """How many rows have no label, which measures of rankings leave out."""
        return int((self.Y.sum(axis=1) == 0).sum())

    @property
    def by_support(self) -> list[int]:
        """The labels, those of most rows first."""
        return np.argsort(-self.Y.sum(axis=0, dtype=np.int64), kind="stable").tolist()

    def label_lines(self, labels: Sequence[int]) -> list[LabelLine]:
        """Return how well each of some labels is predicted."""
        m = len(self.label_names)
        cuts = np.full(m, np.nan) if self.threshold is None else self.threshold
        cuts = np.broadcast_to(np.asarray(cuts, dtype=np.float64), (m,))
        hits = (self.Y & self.predicted).sum(axis=0)
        support, predicted = self.Y.sum(axis=0), (self.predicted & self.judged).sum(axis=0)
        n_known = self.judged.sum(axis=0)
        lines = []
        for j in labels:
            own = self.judged[:, j]
            y, p = self.Y[own, j], self.P[own, j]
            lines.append(
                LabelLine(
                    self.label_names[j],
                    int(support[j]),
                    int(predicted[j]),
                    _ratio(hits[j], predicted[j]),
                    _ratio(hits[j], support[j]),
                    _ratio(2 * hits[j], support[j] + predicted[j]),
                    _ratio(2 * support[j], support[j] + n_known[j]),
                    float(cuts[j]),
                    float(average_precision_score(y, p)) if support[j] else np.nan,
                    expected_calibration_error(self.truth[:, [j]], self.P[:, [j]]),
                    int(n_known[j]),
                )
            )
        return lines

    def counts(self, labels: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return how many cells of some labels have each class of confidence: true, and false."""
        # A class begins at its threshold exactly, as the command's --threshold cuts.
        cuts = np.arange(STEPS) / STEPS
        own = self.judged[:, labels]
        step = np.searchsorted(cuts, self.P[:, labels][own], side="right") - 1
        truth = self.Y[:, labels][own] == 1
        return (
            np.bincount(step[truth], minlength=STEPS).tolist(),
            np.bincount(step[~truth], minlength=STEPS).tolist(),
        )

    def reliability(self, labels: Sequence[int]) -> list[tuple[float, float, int]]:
        """Return mean confidence, share of true cells and number of cells, of ten equal bins."""
        own = self.judged[:, labels]
        p, y = self.P[:, labels][own], self.Y[:, labels][own]
        bins = np.minimum((p * RELIABILITY_BINS).astype(np.int64), RELIABILITY_BINS - 1)
        every = (bins == b for b in np.unique(bins))
        return [(float(p[own].mean()), float(y[own].mean()), int(own.sum())) for own in every]

    def mistakes(self, most_rows: int, most_cells: int = 3) -> list[list[Mistake]]:
        """Return the mistakes row by row: the rows with the surest one first."""
        wrong = (self.predicted != self.Y) & self.judged
        sureness = np.where(wrong, np.where(self.predicted == 1, self.P, 1 - self.P), -1.0)
        worst = sureness.max(axis=1, initial=-1.0)
        return [
            [
                Mistake(i, j, int(self.predicted[i, j]), float(self.P[i, j]), float(sureness[i, j]))
                for j in np.argsort(-sureness[i], kind="stable")[:most_cells].tolist()
                if wrong[i, j]
            ]
            for i in np.argsort(-worst, kind="stable")[:most_rows].tolist()
            if worst[i] >= 0
        ]


def judged_on(model: Any, dataset: Any, *, threshold: float | None = None) -> Judgement:
    """Return how a trained model does on a data set that has the labels.

    Parameters
    ----------
    model : estimator
        Fitted.
    dataset : Dataset
    threshold : float, optional
        Predict the labels whose probability is at least this, instead of what the model decides.
    """
    P = np.asarray(model.predict_proba(dataset.rows), dtype=np.float64)
    own = None if threshold is not None else _dense(model.predict(dataset.rows)).astype(np.uint8)
    judged = _judged(model, np.arange(len(P)), _zeros_and_ones(dataset.Y), P, own, threshold)
    return replace(judged, n_other_tags=dataset.n_other_tags)


def judged_left_out(model: Any, *, threshold: float | None = None) -> Judgement:
    """Return how a trained model does on training rows left out, which it keeps from training.

    The decision of the model was fitted on these rows. They are judged by decisions that were not:
    for each of ten folds of the rows one is fitted on the other nine.

    Parameters
    ----------
    model : estimator
        Fitted.
    threshold : float, optional
        As in `judged_on`.

    Raises
    ------
    ValueError
        If it keeps none.
    """
    kept = getattr(model, "left_out_predictions_", None)
    if kept is None:
        raise ValueError(
            f"the model keeps no predictions for rows left out ({type(model).__name__}): give "
            "a file with test data, or train a LabelCover model."
        )
    order = np.argsort(kept.rows, kind="stable")
    labels, P = _zeros_and_ones(_dense(kept.Y)[order]), _dense(kept.confidence)[order]
    own = None if threshold is not None else _cross_fitted(model, labels, P)
    judged = _judged(model, kept.rows[order], labels, P, own, threshold)
    tags = getattr(getattr(model, "reading_", None), "labels", None)
    frequencies = getattr(model, "frequencies_", None)
    if tags is None or tags.tags is None or frequencies is None:
        return judged
    # A tag is learned from two rows. To a row that is left out before tags are chosen, its tags of
    # one row, which are not in Y, and of two rows, which are, would not be known.
    twice = float(judged.Y[:, frequencies.counts == 2].sum())
    once = len(tags.left_out) * len(P) / float(np.max(frequencies.n_rows))
    return replace(judged, n_other_tags=once + twice, n_others_judged=twice)


def _cross_fitted(estimator, labels, P):
    """Return what decisions predict that were fitted on nine tenths of the rows, for the others.

    Labelsets of other training rows are not made known to them: the own one would be among them.
    """
    Y, known = labels
    folds = min(FOLDS, len(Y))
    if folds < 2:
        return estimator.decision_.decide(P).astype(np.uint8)
    ties = getattr(estimator.decision_, "ties", "negative")
    fold = np.random.default_rng(0).permutation(len(Y)) % folds
    predicted = np.empty(Y.shape, dtype=np.uint8)
    for f in range(folds):
        own = fold == f
        cells = None if known is None else known[~own].astype(np.float64)
        fitted = fit_decision(estimator.decide, Y[~own], P[~own], sample_weight=cells, ties=ties)
        predicted[own] = fitted.decide(P[own])
    return predicted


def _judged(model, rows, labels, P, predicted, threshold):
    """Return the judgement of predictions; where there are none, of probabilities that are cut."""
    cuts = getattr(model, "threshold_", None)
    if threshold is not None:
        cuts = check_real("threshold", threshold, low=0, high=1)
        predicted = cut(P, cuts, "positive").astype(np.uint8)
    Y, known = labels
    frequencies = getattr(model, "frequencies_", None)
    if frequencies is None:  # a model that was not made by `labelcover.models.fit_model`
        n = len(Y) if known is None else known.sum(axis=0)
        frequencies = LabelFrequencies(Y.sum(axis=0, dtype=np.int64), n, None, "micro_f1")
    chance = chance_of(frequencies, predicted, threshold_is_given=threshold is not None)
    measure = "micro_f1" if threshold is not None else frequencies.measure
    names = list(map(str, model.label_names_in_))
    return Judgement(rows, Y, P, predicted, names, cuts, chance, measure, known=known)


def _zeros_and_ones(Y):
    """Return labels as zeros and ones, and which of them are known (None: all)."""
    table, known = split_unknown(Y)
    return table.astype(np.uint8), known


def _dense(table: Any) -> NDArray[Any]:
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else float("nan")
