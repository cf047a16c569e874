"""The threshold of an ensemble, tuned on its training data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from labelcover.covers import Cover
from labelcover.families import Family, encode
from labelcover.thresholds import Score, best_threshold, best_thresholds_per_label

FOLDS = 5
# Section 2.3: above so many members, cross-validation uses only a tenth of them.
MANY_MEMBERS = 100
# Kohavi and John (1997) stop after five cross-validations even if the spread stays large.
MOST_REPEATS = 5


@dataclass(frozen=True)
class ThresholdSearch:
    """What to look for: the measure, how, and one threshold for all labels or one each."""

    measure: str | Score = "micro_f1"
    search: str = "grid"
    per_label: bool = False

    def best(self, Y, confidence, labels=None):
        """Return the best threshold (or one per label) and its score, seen on `labels` only."""
        labels = np.arange(Y.shape[1]) if labels is None else labels
        find = best_thresholds_per_label if self.per_label else best_threshold
        found, score = find(
            Y[:, labels], confidence[:, labels], measure=self.measure, search=self.search
        )
        if self.per_label:
            # A label that no member holds is never predicted, whatever its threshold.
            thresholds = np.full(Y.shape[1], 0.5)
            thresholds[labels] = found
            return thresholds, score
        return found, score


def leave_one_out_threshold(
    family: Family, Y: NDArray[np.uint8], search: ThresholdSearch
) -> float | NDArray[np.float64]:
    """Return the threshold that is best for the leave-one-out confidences of a fitted family."""
    rows, confidence = family.leave_one_out_confidence()
    found, _ = search.best(Y[rows], confidence)
    return found


def cross_validated_threshold(
    make_family: Callable[[], Family],
    X: Any,
    Y: NDArray[np.uint8],
    cover: Cover,
    search: ThresholdSearch,
    *,
    seed: int,
    max_std: float | None = None,
    fit_params: Mapping[str, Any] | None = None,
    votes: bool = False,
    n_jobs: int | None = None,
) -> float | NDArray[np.float64]:
    """Return the mean over five folds of the threshold that is best on each (Section 2.3).

    Parameters
    ----------
    make_family : callable
        Returns an unfitted family.
    max_std : float, optional
        Repeat the cross-validation, at most five times in all, until the standard deviation of
        the mean score is at most this (Kohavi and John).
    """
    random = np.random.default_rng(seed)
    if len(cover) > MANY_MEMBERS:
        chosen = np.sort(random.choice(len(cover), len(cover) // 10, replace=False))
        cover = Cover(cover.labelsets[chosen], cover.n_labels)
    labels = np.flatnonzero(cover.label_counts)
    thresholds, scores = [], []
    for _ in range(1 if max_std is None else MOST_REPEATS):
        for train, test in _folds(len(Y), int(random.integers(2**31))):
            family = make_family()
            family.wants_leave_one_out = False
            family.fit(
                X[train],
                encode(Y[train], cover),
                seeds=random.integers(2**31, size=len(cover)),
                fit_params=select_rows(fit_params, train, len(Y)),
                n_jobs=n_jobs,
            )
            confidence = family.confidence(X[test], votes=votes)
            threshold, score = search.best(Y[test], confidence, labels)
            thresholds.append(threshold)
            scores.append(score)
        if max_std is not None and np.std(scores, ddof=1) / np.sqrt(len(scores)) <= max_std:
            break
    mean = np.mean(thresholds, axis=0)
    return mean if search.per_label else float(mean)


def _folds(n: int, seed: int) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if n < FOLDS:
        raise ValueError(
            f'threshold="cv" needs at least {FOLDS} rows, one for each fold, got n_samples={n}. '
            "Give a number instead."
        )
    return KFold(FOLDS, shuffle=True, random_state=seed).split(np.empty(n))


def select_rows(fit_params: Mapping[str, Any] | None, rows: Any, n: int) -> dict[str, Any]:
    """Return the metadata of some rows; what is not one value per row stays as it is."""
    return {
        name: np.asarray(value)[rows] if np.shape(value)[:1] == (n,) else value
        for name, value in (fit_params or {}).items()
    }
