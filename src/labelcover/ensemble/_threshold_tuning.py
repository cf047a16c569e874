"""The threshold of an ensemble, tuned on its training data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_real, is_auto
from labelcover._table_numbers import rows_of
from labelcover.ensemble._label_model import LabelModel
from labelcover.ensemble._member_estimator import ModelParameters
from labelcover.ensemble._view import TrainingRows, View
from labelcover.thresholds import (
    MEASURES_OF_PREDICTIONS,
    SEARCHES,
    Score,
    best_threshold,
    best_thresholds_per_label,
    score_function,
)

# How a threshold is found that is not given; see `LabelCoverClassifier`.
THRESHOLDS = ("auto", "cv", "loo")
# Kohavi and John (1997) stop after five cross-validations even if the spread stays large.
MOST_REPEATS = 5


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdParameters(ModelParameters, LabelModel):
    """An estimator whose confidences are cut at a threshold that may be tuned, and how.

    A subclass is a dataclass, as of `ModelParameters`, and says it before other bases.
    """

    threshold: Any = 0.5
    threshold_measure: Any = "auto"
    threshold_search: str = "grid"
    threshold_per_label: bool = False
    threshold_max_std: float | None = None
    ties: str = "auto"

    _thresholds = THRESHOLDS

    @property
    def _tuned_measure(self) -> str | Score:
        """What the threshold is tuned for: micro-F1, or Hamming loss, the default of MULAN."""
        if is_auto(self.threshold_measure):
            return "hamming_loss" if self.tunes_as_mulan else "micro_f1"
        return self.threshold_measure

    def best_threshold(
        self,
        Y: NDArray[np.uint8],
        confidence: NDArray[np.float64],
        labels: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> tuple[Any, float]:
        """Return the best threshold (or one per label) and its score, seen on `labels` only."""
        labels = np.arange(Y.shape[1]) if labels is None else labels
        how: dict[str, Any] = {"measure": self._tuned_measure, "search": self.threshold_search}
        how |= {"sample_weight": weights, "ties": self._ties()}
        tables = Y[:, labels], confidence[:, labels]
        if not self.threshold_per_label:
            return best_threshold(*tables, **how)
        # A label that no member holds is never predicted, whatever its threshold.
        thresholds = np.full(Y.shape[1], 0.5)
        thresholds[labels], score = best_thresholds_per_label(*tables, **how)
        return thresholds, score

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        if self._tuning() is None:
            return
        check_choice("threshold_search", self.threshold_search, SEARCHES)
        if not callable(self.threshold_measure):
            accepted = "auto", *MEASURES_OF_PREDICTIONS
            check_choice("threshold_measure", self.threshold_measure, accepted)
        score_function(self._tuned_measure, 1.0 if weighted else None)
        if self.threshold_max_std is not None:
            check_real("threshold_max_std", self.threshold_max_std, above=0)
            if self.tunes_as_mulan:
                raise ValueError(
                    'threshold_max_std must be None with threshold_search="mulan", whose folds '
                    f"are always the same, got {self.threshold_max_std!r}."
                )

    def _found_threshold(self, training: TrainingRows, seed: int) -> tuple[Any, int]:
        how = self._tuning()
        if how is None:
            return super()._found_threshold(training, seed)
        if how == "loo":
            rows, (confidence, *_) = self.view_.left_out(training)
            weights = None if training.weights is None else training.weights[rows]
            found, _ = self.best_threshold(training.labels(rows), confidence, weights=weights)
            return found, len(rows)
        return self._cross_validated_threshold(training, seed), len(training.Y)

    def _cross_validated_threshold(self, training: TrainingRows, seed: int) -> Any:
        """Return the mean over folds of the threshold that is best on each (Section 2.3).

        With `threshold_max_std`, cross-validation is repeated, at most five times in all, until the
        standard deviation of the mean score is at most that (Kohavi and John).
        """
        random = np.random.default_rng(seed)
        make_view, labels = self._views_to_tune(
            self._learner(), training, random, whole=self.tunes_as_mulan
        )
        most_std = self.threshold_max_std
        thresholds, scores = [], []
        for _ in range(1 if most_std is None else MOST_REPEATS):
            own = None if self.tunes_as_mulan else int(random.integers(2**31))
            folds = folded_confidences(make_view, training, self._n_folds, own, random, self.n_jobs)
            for rows, confidence in folds:
                weights = None if training.weights is None else training.weights[rows]
                known = training.labels(rows)
                threshold, score = self.best_threshold(known, confidence, labels, weights)
                thresholds.append(threshold)
                scores.append(score)
            spread = np.std(scores, ddof=1) / np.sqrt(len(scores))
            if most_std is not None and spread <= most_std:
                break
        mean = np.mean(thresholds, axis=0)
        return mean if self.threshold_per_label else float(mean)


def folded_confidences(
    make_view: Callable[[], View],
    training: TrainingRows,
    n_folds: int,
    seed: int | None,
    random: np.random.Generator,
    n_jobs: int | None,
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the rows of each fold, and their confidences by a view fitted without them.

    Without a seed, each fold holds consecutive rows.
    """
    from sklearn.model_selection import KFold  # slow to import

    folds = KFold(n_folds, shuffle=seed is not None, random_state=seed)
    for train, test in folds.split(np.empty(len(training.Y))):
        view = make_view()
        view.fit(training.rows(train), int(random.integers(2**31)), n_jobs=n_jobs)
        yield test, view.confidences(rows_of(training.X, test))[0]
