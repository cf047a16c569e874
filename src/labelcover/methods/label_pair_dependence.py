"""How strongly pairs of labels depend on each other, with and without the features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import KFold

from labelcover.covers import Cover
from labelcover.dependence import phi
from labelcover.ensemble.cover_view import CoverView
from labelcover.ensemble.label_model import MOST_SEED
from labelcover.ensemble.view import TrainingRows
from labelcover.methods.appended_labels import rows_with_labels


@dataclass(frozen=True, eq=False)
class LabelPairDependence:
    """A score of dependence for every pair of labels.

    Attributes
    ----------
    scores : ndarray of shape (n_labels, n_labels)
        Symmetric; 0 on the diagonal.
    critical_value : float
        Pairs of a lower score are taken as independent.
    """

    scores: NDArray[np.float64]
    critical_value: float

    def pairs(self) -> list[tuple[int, int]]:
        """Return the dependent pairs, the most dependent first."""
        first, second = np.triu_indices(len(self.scores), k=1)
        scores = self.scores[first, second]
        order = np.argsort(-scores, kind="stable")
        kept = order[scores[order] >= self.critical_value]
        return list(zip(first[kept].tolist(), second[kept].tolist(), strict=True))


def unconditional_dependence(Y: NDArray[np.uint8], alpha: float = 0.01) -> LabelPairDependence:
    """Return χ² of every pair of labels, and its critical value at the level `alpha`.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods.label_pair_dependence import unconditional_dependence
    >>> Y = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]] * 5, dtype=np.uint8)
    >>> dependence = unconditional_dependence(Y)
    >>> dependence.scores[0], round(dependence.critical_value, 3)
    (array([ 0., 20.,  0.]), 6.635)
    """
    scores = len(Y) * phi(Y) ** 2
    np.fill_diagonal(scores, 0)
    return LabelPairDependence(scores, float(stats.chi2.isf(alpha, 1)))


def conditional_dependence(
    learner: Any,
    training: TrainingRows,
    alpha: float = 0.01,
    *,
    n_folds: int = 10,
    random: np.random.Generator,
    n_jobs: int | None = None,
) -> LabelPairDependence:
    """Return how much better a label is predicted if another label is a feature.

    For every label, two binary models are compared in cross-validation: one on the features, one
    on the features and the other label. The score of a pair is the t statistic of the paired
    differences of their accuracies over the folds, of the two directions the larger; it is
    negative where the other label does harm. The critical value is two-sided, as published.

    In each fold all labels are fitted together, once without and once with each other label.
    """
    m = training.Y.shape[1]
    critical_value = float(stats.t.isf(alpha / 2, n_folds - 1))
    if m == 1:
        return LabelPairDependence(np.zeros((1, 1)), critical_value)
    folds = list(shuffled_folds(len(training.Y), n_folds, random))
    gains = np.zeros((n_folds, m, m))
    for fold, (train, test) in enumerate(folds):
        rows, held = training.rows(train), training.rows(test)
        labels = np.arange(m)
        alone = _accuracies(learner, rows, held, labels, random, n_jobs)
        for j in range(m):
            others = np.delete(labels, j)
            accuracy = _accuracies(
                learner,
                rows_with_labels(rows, np.array([j])),
                rows_with_labels(held, np.array([j])),
                others,
                random,
                n_jobs,
            )
            gains[fold, others, j] = accuracy - alone[others]
    # The spread of a few folds may be 0 by chance: it is at least that of one row in one fold.
    least = 1 / (max(len(test) for _, test in folds) * n_folds)
    error = np.maximum(gains.std(axis=0, ddof=1) / np.sqrt(n_folds), least)
    t = gains.mean(axis=0) / error
    return LabelPairDependence(np.maximum(t, t.T), critical_value)


def shuffled_folds(
    n: int, n_folds: int, random: np.random.Generator
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the training and the test rows of each fold."""
    seed = int(random.integers(MOST_SEED))
    return KFold(n_folds, shuffle=True, random_state=seed).split(np.empty(n))


def _accuracies(
    learner: Any,
    rows: TrainingRows,
    held: TrainingRows,
    labels: NDArray[np.int64],
    random: np.random.Generator,
    n_jobs: int | None,
) -> NDArray[np.float64]:
    """Return the accuracy of a binary model for each of some labels."""
    cover = Cover(labels[:, None], rows.Y.shape[1])
    view = CoverView(learner, [cover], aggregate="votes")
    view.fit(rows, random.integers(MOST_SEED, size=view.n_seeds), n_jobs=n_jobs)
    right = (view.confidences(held.X)[0] > 0.5) == held.Y
    return np.average(right[:, labels], axis=0, weights=held.weights)
