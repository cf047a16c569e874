"""Several of the paper's ensembles in one fit: each distinct problem of all covers is solved once.

The six methods of Tables 7 and 8 differ in their labelsets, in how members are combined, and in the
threshold; the member of a labelset is the same in all of them. So the covers of all methods are
fitted as one, on the training rows and on each of the five folds for the threshold, and one fit
serves every way of combining and every measure of the threshold. The answers are those of the
estimators.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from labelcover._arguments import check_choice
from labelcover.covers import Cover
from labelcover.ensemble import (
    FOLDS,
    MANY_MEMBERS,
    READINGS,
    CoverView,
    TrainingRows,
    combined_by,
)
from labelcover.experiments._fingerprints import method_fingerprint
from labelcover.experiments._running import fit_seeds
from labelcover.learners import C45Classifier, SMOClassifier
from labelcover.thresholds import cut

# Their members are the same whatever the seed.
LEARNERS = (C45Classifier, SMOClassifier)
# Parameters that do not change the cover.
COMMON = {"aggregate": "mean", "threshold_measure": "auto", "threshold_search": "grid"}


@dataclass(frozen=True)
class Answer:
    """What one of several ensembles learned, and what it says of new rows.

    Attributes
    ----------
    cover : Cover
    threshold : float
        Where confidences are cut.
    confidence : ndarray of shape (n, n_labels)
        Strictly inside (0, 1), as by ``predict_proba``.
    predicted : ndarray of shape (n, n_labels), int64
        Zeros and ones.
    """

    cover: Cover
    threshold: float
    confidence: NDArray[np.float64]
    predicted: NDArray[np.int64]


def fit_together(estimators: Sequence[Any], X: Any, Y: NDArray[np.uint8], new: Any) -> list[Answer]:
    """Return what each of some ensembles says of new rows after a fit on the same rows.

    Parameters
    ----------
    estimators : sequence of estimators
        Of the paper's methods (`labelcover.experiments._paper.printed.METHODS`), with one
        ``random_state`` and equal members, `SMOClassifier` or `C45Classifier`; combined in any way
        but by weights; the threshold is a number or ``"cv"`` with the paper's search.
    X, Y : training rows
    new : array or CSR matrix of shape (n, d)
        Rows to say something of.

    Raises
    ------
    ValueError
        If the estimators do not share their member or their seed, or tune their threshold in
        another way than the paper.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import BalancorClassifier, InlacClassifier
    >>> from labelcover.experiments._paper.joint_fits import fit_together
    >>> from labelcover.learners import C45Classifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> models = [kind(C45Classifier(), size=7, random_state=0)
    ...           for kind in (BalancorClassifier, InlacClassifier)]
    >>> one, other = fit_together(models, X[:80], Y[:80], X[80:])
    >>> bool((one.predicted == models[0].fit(X[:80], Y[:80]).predict(X[80:])).all())
    True
    """
    _check_common(estimators)
    owner, seeds = clone(estimators[0].estimator), fit_seeds(estimators[0])
    coding, table = owner.read_table(owner, X)
    training = TrainingRows(table, np.asarray(Y, dtype=np.uint8), coding.n_values, None, {})
    covers = _covers(estimators, training.Y, int(seeds[0]))
    combined = [combined_by(estimator.aggregate, owner) for estimator in estimators]
    view = _fitted(owner, covers, training)
    confidences = _confidences(view, covers, combined, coding.read(owner, new))
    thresholds = _thresholds(owner, estimators, training, covers, combined, int(seeds[2]))
    tiny = np.finfo(np.float64).eps
    return [
        Answer(
            cover,
            threshold,
            np.clip(confidence, tiny, 1 - tiny),
            cut(confidence, threshold, estimator._ties()).astype(np.int64),
        )
        for estimator, cover, threshold, confidence in zip(
            estimators, covers, thresholds, confidences, strict=True
        )
    ]


def _covers(estimators: Sequence[Any], Y: NDArray[np.uint8], seed: int) -> list[Cover]:
    """Return the cover of each estimator; those that differ in nothing else share one."""
    found: dict[str, Cover] = {}
    covers = []
    for estimator in estimators:
        own = estimator.get_params(deep=False)
        common = {name: COMMON[name] for name in COMMON.keys() & own.keys()}
        alike = clone(estimator).set_params(**common)
        key = method_fingerprint(alike)
        if key not in found:
            found[key] = estimator._make_cover(Y, seed)
        covers.append(found[key])
    return covers


def _check_common(estimators: Sequence[Any]) -> None:
    """Raise a ``ValueError`` unless all estimators share their member, seed and search."""
    first = estimators[0]
    if not isinstance(first.estimator, LEARNERS):
        raise ValueError(
            "estimators must have C45Classifier or SMOClassifier as member, whose answers do not "
            f"depend on a seed, got {first.estimator!r}."
        )
    for other in estimators[1:]:
        same = method_fingerprint(other.estimator) == method_fingerprint(first.estimator)
        if not same or other.random_state != first.random_state:
            raise ValueError(
                "estimators must have the same member and random_state to be fitted together, got "
                f"{other!r} and {first!r}."
            )
    for estimator in estimators:
        check_choice("aggregate of estimators", estimator.aggregate, ("auto", *READINGS))
        tuned = estimator.threshold == "cv"
        if tuned and (estimator.tunes_as_mulan or estimator.threshold_max_std is not None):
            raise ValueError(
                "estimators that are fitted together must tune their threshold in one "
                'cross-validation with threshold_search="grid" or "golden", got '
                f"{estimator!r}."
            )


def _fitted(learner: Any, covers: list[Cover], training: TrainingRows) -> CoverView:
    # No seed is used by these learners.
    return CoverView(learner, list(dict.fromkeys(covers))).fit(training, 0)


def _confidences(
    view: CoverView, covers: list[Cover], combined: list[str], X: Any
) -> list[NDArray[np.float64]]:
    """Return the confidences of each cover, combined as its ensemble does."""
    found: dict[tuple[str, Cover], NDArray[np.float64]] = {}
    for each in dict.fromkeys(combined):
        alike = copy(view)
        alike.aggregate = each
        confidences = zip(view.covers, alike.confidences(X), strict=True)
        found |= {(each, cover): confidence for cover, confidence in confidences}
    return [found[each, cover] for each, cover in zip(combined, covers, strict=True)]


def _thresholds(
    learner: Any,
    estimators: Sequence[Any],
    training: TrainingRows,
    covers: list[Cover],
    combined: list[str],
    seed: int,
) -> list[float]:
    """Return where each ensemble cuts: as given, or the mean of what is best on five folds."""
    found: list[float] = [float(e.threshold) if e.threshold != "cv" else np.nan for e in estimators]
    # Ensembles of equal size are tuned on the same folds, with the same part of their members.
    together: dict[int, list[int]] = {}
    parts: dict[int, Cover] = {}
    for i, cover in enumerate(covers):
        if np.isnan(found[i]):
            fold_seed, parts[i] = _tuned_part(cover, seed)
            together.setdefault(fold_seed, []).append(i)
    for fold_seed, ensembles in together.items():
        best: list[list[float]] = [[] for _ in ensembles]
        folds = KFold(FOLDS, shuffle=True, random_state=fold_seed).split(training.Y)
        for train, test in folds:
            held = training.rows(test)
            own = [parts[i] for i in ensembles]
            view = _fitted(learner, own, training.rows(train))
            confidences = _confidences(view, own, [combined[i] for i in ensembles], held.X)
            for i, confidence, each in zip(ensembles, confidences, best, strict=True):
                labels = np.flatnonzero(parts[i].label_counts)
                each.append(estimators[i].best_threshold(held.Y, confidence, labels)[0])
        for i, each in zip(ensembles, best, strict=True):
            found[i] = float(np.mean(each))
    return found


def _tuned_part(cover: Cover, seed: int) -> tuple[int, Cover]:
    """Return the seed of the folds, and the members to tune with: a tenth of many (Section 2.3).

    These are the draws of `labelcover.ensemble.ThresholdParameters`.
    """
    random = np.random.default_rng(seed)
    if len(cover) > MANY_MEMBERS:
        chosen = np.sort(random.choice(len(cover), len(cover) // 10, replace=False))
        cover = cover.take(chosen)
    return int(random.integers(2**31)), cover
