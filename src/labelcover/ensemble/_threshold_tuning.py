"""The threshold of an ensemble, tuned on its training data."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_real, is_auto
from labelcover._table_numbers import rows_of
from labelcover.ensemble._label_model import FOLDS, LabelModel
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
# MULAN's OneThreshold takes three folds of consecutive rows.
MULAN_FOLDS = 3
# Kohavi and John (1997) stop after five cross-validations even if the spread stays large.
MOST_REPEATS = 5


@dataclass(frozen=True)
class ThresholdSearch:
    """What to look for: the measure, how, and one threshold for all labels or one each.

    Attributes
    ----------
    measure : str or callable
        ``"auto"`` is micro-F1, or Hamming loss, the default of MULAN, with its search.
    search : {"grid", "golden", "mulan"}
        ``"mulan"`` is MULAN's OneThreshold: its grid, and for a cross-validation three folds of
        consecutive rows and all members.
    ties : {"auto", "positive", "negative"}
        ``"auto"`` is ``"positive"`` with MULAN's search, else ``"negative"``.
    """

    measure: str | Score = "auto"
    search: str = "grid"
    per_label: bool = False
    max_std: float | None = None
    ties: str = "auto"

    @classmethod
    def of(cls, estimator: Any) -> "ThresholdSearch":
        """Return the search that the parameters of an estimator describe."""
        return cls(
            estimator.threshold_measure,
            estimator.threshold_search,
            bool(estimator.threshold_per_label),
            estimator.threshold_max_std,
            estimator.ties,
        )

    @property
    def is_mulans(self) -> bool:
        """Whether everything is done as in MULAN's OneThreshold."""
        return isinstance(self.search, str) and self.search == "mulan"

    @property
    def n_folds(self) -> int:
        """Number of folds of a cross-validation."""
        return MULAN_FOLDS if self.is_mulans else FOLDS

    @property
    def tuned_measure(self) -> str | Score:
        """What the threshold is tuned for."""
        if is_auto(self.measure):
            return "hamming_loss" if self.is_mulans else "micro_f1"
        return self.measure

    @property
    def broken_ties(self) -> str:
        """What a confidence of exactly the threshold means."""
        if self.ties == "auto":
            return "positive" if self.is_mulans else "negative"
        return self.ties

    def check(self, *, weighted: bool) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_choice("threshold_search", self.search, SEARCHES)
        if not callable(self.measure):
            check_choice("threshold_measure", self.measure, ("auto", *MEASURES_OF_PREDICTIONS))
        score_function(self.tuned_measure, weighted=weighted)
        if self.max_std is not None:
            check_real("threshold_max_std", self.max_std, above=0)
            if self.is_mulans:
                raise ValueError(
                    'threshold_max_std must be None with threshold_search="mulan", whose folds '
                    f"are always the same, got {self.max_std!r}."
                )

    def best(
        self,
        Y: NDArray[np.uint8],
        confidence: NDArray[np.float64],
        labels: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> tuple[Any, float]:
        """Return the best threshold (or one per label) and its score, seen on `labels` only."""
        labels = np.arange(Y.shape[1]) if labels is None else labels
        find: Callable[..., tuple[Any, float]] = (
            best_thresholds_per_label if self.per_label else best_threshold
        )
        found, score = find(
            Y[:, labels],
            confidence[:, labels],
            measure=self.tuned_measure,
            search=self.search,
            sample_weight=weights,
            ties=self.broken_ties,
        )
        if self.per_label:
            # A label that no member holds is never predicted, whatever its threshold.
            thresholds = np.full(Y.shape[1], 0.5)
            thresholds[labels] = found
            return thresholds, score
        return found, score


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

    def _search(self) -> ThresholdSearch:
        return ThresholdSearch.of(self)

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        if self._tuning() is not None:
            self._search().check(weighted=weighted)

    @property
    def _n_folds(self) -> int:
        """How many folds a cross-validation has."""
        return self._search().n_folds

    def _ties(self) -> str:
        return super()._ties() if self._tuning() is None else self._search().broken_ties

    def _found_threshold(self, training: TrainingRows, seed: int) -> tuple[Any, int]:
        how, search = self._tuning(), self._search()
        if how is None:
            return super()._found_threshold(training, seed)
        if how == "loo":
            rows, (confidence, *_) = self.view_.left_out(training)
            weights = None if training.weights is None else training.weights[rows]
            return search.best(training.labels(rows), confidence, weights=weights)[0], len(rows)
        random = np.random.default_rng(seed)
        found = self._views_to_tune(self._learner(), training, random, whole=search.is_mulans)
        made = cross_validated_threshold(
            found[0], training, search, found[1], random=random, n_jobs=self.n_jobs
        )
        return made, len(training.Y)


def cross_validated_threshold(
    make_view: Callable[[], View],
    training: TrainingRows,
    search: ThresholdSearch,
    labels: NDArray[np.int64],
    *,
    random: np.random.Generator,
    n_jobs: int | None = None,
) -> float | NDArray[np.float64]:
    """Return the mean over folds of the threshold that is best on each (Section 2.3).

    With ``search.max_std``, cross-validation is repeated, at most five times in all, until the
    standard deviation of the mean score is at most that (Kohavi and John).
    """
    thresholds, scores = [], []
    for _ in range(1 if search.max_std is None else MOST_REPEATS):
        seed = None if search.is_mulans else int(random.integers(2**31))
        for train, test in _folds(len(training.Y), search.n_folds, seed):
            view = make_view()
            view.fit(training.rows(train), int(random.integers(2**31)), n_jobs=n_jobs)
            held = training.rows(test)
            confidence = view.confidences(held.X)[0]
            threshold, score = search.best(held.labels(), confidence, labels, held.weights)
            thresholds.append(threshold)
            scores.append(score)
        spread = np.std(scores, ddof=1) / np.sqrt(len(scores))
        if search.max_std is not None and spread <= search.max_std:
            break
    mean = np.mean(thresholds, axis=0)
    return mean if search.per_label else float(mean)


def cross_validated_confidence(
    make_view: Callable[[], View],
    training: TrainingRows,
    *,
    random: np.random.Generator,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return the confidences of all training rows by a view fitted without their fold."""
    confidence = np.empty(training.Y.shape)
    for train, test in _folds(len(training.Y), FOLDS, int(random.integers(2**31))):
        view = make_view()
        view.fit(training.rows(train), int(random.integers(2**31)), n_jobs=n_jobs)
        confidence[test] = view.confidences(rows_of(training.X, test))[0]
    return confidence


def _folds(
    n: int, n_folds: int, seed: int | None
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test rows; without a seed, each fold holds consecutive rows."""
    from sklearn.model_selection import KFold  # slow to import

    folds = KFold(n_folds, shuffle=seed is not None, random_state=seed)
    return folds.split(np.empty(n))
