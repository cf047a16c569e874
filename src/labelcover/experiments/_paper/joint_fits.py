"""Several of the paper's ensembles in one fit: each distinct problem of all covers is solved once.

The six methods of Tables 7 and 8 differ in their labelsets, in how members are combined, and in the
threshold; the member of a labelset is the same in all of them. So the covers of all methods are
fitted as one, on the training rows and on each of the five folds for the threshold, and one fit
serves every way of combining and every measure of the threshold. The answers are those of the
estimators.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold

from labelcover.covers import Cover
from labelcover.ensemble import FOLDS, MANY_MEMBERS, CoverView, TrainingRows, combined_by
from labelcover.experiments._fingerprints import method_fingerprint
from labelcover.experiments._running import fit_seeds
from labelcover.thresholds import cut

# Parameters that do not change the cover.
COMMON = {"aggregate": "mean", "threshold_measure": "auto", "threshold_search": "grid"}


class Answer(NamedTuple):
    """What one of several ensembles learned, and what it says of new rows, as its methods do."""

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
        ``random_state`` and equal members, `SMOClassifier` or `C45Classifier`, whose answers do not
        depend on a seed; combined in any way but by weights; the threshold is a number or ``"cv"``
        in one cross-validation.
    X, Y : training rows
    new : array or CSR matrix of shape (n, d)
        Rows to say something of.

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
    learner, seeds = clone(estimators[0].estimator), fit_seeds(estimators[0])
    coding, table = learner.read_table(learner, X)
    training = TrainingRows(table, np.asarray(Y, dtype=np.uint8), coding.n_values, None, {})
    covers = _covers(estimators, training.Y, int(seeds[0]))
    combined = [combined_by(estimator.aggregate, learner) for estimator in estimators]
    confidences = _confidences(learner, training, covers, combined, coding.read(learner, new))
    thresholds = _thresholds(learner, estimators, training, covers, combined, int(seeds[2]))
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
    keys = []
    for estimator in estimators:
        common = COMMON.keys() & estimator.get_params(deep=False).keys()
        alike = clone(estimator).set_params(**{name: COMMON[name] for name in common})
        keys.append(method_fingerprint(alike))
        if keys[-1] not in found:
            found[keys[-1]] = estimator._make_cover(Y, seed)
    return [found[key] for key in keys]


def _confidences(
    learner: Any, training: TrainingRows, covers: list[Cover], combined: list[str], X: Any
) -> list[NDArray[np.float64]]:
    """Return the confidences of members on each cover, combined as its ensemble does."""
    # No seed is used by these learners.
    view = CoverView(learner, list(dict.fromkeys(covers))).fit(training, 0)
    found = {}
    for view.aggregate in dict.fromkeys(combined):
        found[view.aggregate] = dict(zip(view.covers, view.confidences(X), strict=True))
    return [found[each][cover] for each, cover in zip(combined, covers, strict=True)]


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
    for i in np.flatnonzero(np.isnan(found)).tolist():
        fold_seed, parts[i] = _tuned_part(covers[i], seed)
        together.setdefault(fold_seed, []).append(i)
    for fold_seed, ensembles in together.items():
        own, ways = [parts[i] for i in ensembles], [combined[i] for i in ensembles]
        best = []
        for train, test in KFold(FOLDS, shuffle=True, random_state=fold_seed).split(training.Y):
            held = training.rows(test)
            confidences = _confidences(learner, training.rows(train), own, ways, held.X)
            best.append(
                [
                    estimators[i].best_threshold(held.Y, each, np.flatnonzero(part.label_counts))[0]
                    for i, part, each in zip(ensembles, own, confidences, strict=True)
                ]
            )
        for i, threshold in zip(ensembles, np.mean(best, axis=0).tolist(), strict=True):
            found[i] = threshold
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
