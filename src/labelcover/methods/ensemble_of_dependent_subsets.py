"""Ensemble of dependent subsets: many partitions of the labels, the dependent and diverse ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer
from labelcover.covers import Cover
from labelcover.ensemble.cover_view import CoverView
from labelcover.methods.dependent_subsets import DependenceModel
from labelcover.methods.ensemble_of_pruned_sets import AGGREGATES

# Of the random partitions, so many of the highest weight are candidates; of these the fifth that is
# most different from the members so far is looked at. Both are MULAN's.
CANDIDATES = 100
DIVERSE_SHARE = 0.2
# Random numbers drawn at once.
BLOCK_NUMBERS = 2**21


def random_partitions(
    n_labels: int, n_partitions: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return random partitions, a row each: the first label of the subset of every label.

    Labels and one separator fewer are shuffled; what lies between two separators is a subset.
    """
    order = np.argsort(random.random((n_partitions, 2 * n_labels - 1)), axis=1)
    is_label = order < n_labels
    subset_at = np.cumsum(~is_label, axis=1)[is_label].reshape(n_partitions, n_labels)
    label_at = order[is_label].reshape(n_partitions, n_labels)
    rows = np.arange(n_partitions)[:, None]
    first = np.full((n_partitions, n_labels), n_labels)
    np.minimum.at(first, (rows, subset_at), label_at)
    partitions = np.empty_like(first)
    partitions[rows, label_at] = first[rows, subset_at]
    return partitions


def partition_weights(
    partitions: NDArray[np.int64], excess: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the summed excess of pairs within a subset minus that of pairs apart."""
    within = np.zeros(len(partitions))
    by_subset = np.argsort(partitions, axis=1, kind="stable")
    subset = np.take_along_axis(partitions, by_subset, axis=1)
    # Labels of a subset are neighbours now: pairs at distance 1, 2, … until no subset is as large.
    for distance in range(1, partitions.shape[1]):
        together = subset[:, distance:] == subset[:, :-distance]
        if not together.any():
            break
        within += (excess[by_subset[:, distance:], by_subset[:, :-distance]] * together).sum(axis=1)
    return 2 * within - np.triu(excess, k=1).sum()


def best_partitions(
    excess: NDArray[np.float64], n_partitions: int, random: np.random.Generator
) -> NDArray[np.int64]:
    """Return the different partitions of highest weight among random ones, the best first."""
    m = len(excess)
    step = max(1, BLOCK_NUMBERS // (2 * m))
    best = np.empty((0, m), dtype=np.int64)
    for start in range(0, n_partitions, step):
        drawn = random_partitions(m, min(step, n_partitions - start), random)
        different = np.unique(np.concatenate([best, drawn]), axis=0)
        order = np.argsort(-partition_weights(different, excess), kind="stable")
        best = different[order[:CANDIDATES]]
    return best


def diverse_partitions(best_first: NDArray[np.int64], n_members: int) -> NDArray[np.int64]:
    """Return the first partition and, one by one, the best of those most different from the others.

    How different two partitions are is the number of pairs of labels that are together in one of
    them only; of the distances to the partitions chosen so far, the least counts.
    """
    first, second = np.triu_indices(best_first.shape[1], k=1)
    together = best_first[:, first] == best_first[:, second]
    chosen = [0]
    distance = np.full(len(best_first), together.shape[1] + 1)
    while len(chosen) < min(n_members, len(best_first)):
        distance = np.minimum(distance, (together != together[chosen[-1]]).sum(axis=1))
        left = np.setdiff1d(np.arange(len(best_first)), chosen)
        n_looked_at = max(1, int(DIVERSE_SHARE * len(best_first)))
        most_different = left[np.argsort(-distance[left], kind="stable")[:n_looked_at]]
        chosen.append(int(most_different.min()))
    return best_first[chosen]


class EnsembleOfDependentSubsetsClassifier(DependenceModel):
    """Label powerset within the subsets of several partitions of the labels, averaged per label.

    Random partitions are weighted by the dependence of the pairs of labels that they keep
    together, less that of the pairs that they take apart. Of those of highest weight, different
    ones become members.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    n_members : int, default=10
        Number of partitions; fewer if there are not so many different ones.
    n_partitions : int, default=50000
        Number of random partitions to choose from.
    dependence, alpha, n_folds
        As for `DependentSubsetsClassifier`; the critical value at the level `alpha` is subtracted
        from the score of every pair, and `n_folds` counts for ``dependence="conditional"`` only.
    aggregate : {"votes", "mean"}, default="votes"
        What a partition says of a label: whether the most probable pattern of the label's subset
        has it, as published, or how probable it is.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where the mean over the partitions is cut; see `RakelPlusPlusClassifier`.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    cover_ : Cover
        The subsets of all partitions, one after the other.
    partitions_ : list of Cover
        The partitions, that of highest weight first.
    dependence_ : LabelPairDependence
        The scores of all pairs of labels and the critical value.

    Notes
    -----
    All subsets are fitted together, each different one once. Candidates are the 100 partitions of
    highest weight; the next member is the best of the fifth of them that is most different from
    the members so far. These numbers, `n_members` and `n_partitions` are MULAN's.

    References
    ----------
    Tenenboim-Chekina, L., Rokach, L. and Shapira, B. (2010). Identification of label dependencies
    for multi-label classification. ICML Workshop on Learning from Multi-Label Data, 53-60.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import EnsembleOfDependentSubsetsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = EnsembleOfDependentSubsetsClassifier(n_members=5, random_state=0).fit(X, Y)
    >>> len(model.partitions_), model.cover_.label_counts.tolist()
    (5, [5, 5, 5, 5, 5, 5])
    """

    cover_: Cover
    partitions_: list[Cover]

    def __init__(
        self,
        estimator=None,
        *,
        n_members=10,
        n_partitions=50000,
        dependence="unconditional",
        alpha=0.01,
        n_folds=10,
        aggregate="votes",
        threshold=0.5,
        threshold_measure="auto",
        threshold_search="grid",
        threshold_per_label=False,
        threshold_max_std=None,
        ties="auto",
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.n_partitions = n_partitions
        self.dependence = dependence
        self.alpha = alpha
        self.n_folds = n_folds
        self.aggregate = aggregate
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, n_labels, *, weighted):
        check_integer("n_members", self.n_members, low=1)
        check_integer("n_partitions", self.n_partitions, low=1)
        check_choice("aggregate", self.aggregate, AGGREGATES)
        super()._check_parameters(n_labels, weighted=weighted)

    def _make_view(self, learner, training, seed):
        random = np.random.default_rng(seed)
        m = training.Y.shape[1]
        self.dependence_ = self._measured(learner, training, random)
        excess = self.dependence_.scores - self.dependence_.critical_value
        best = best_partitions(excess, int(self.n_partitions), random)
        self.partitions_ = [
            Cover(_subsets(partition), m, method="dependent subsets")
            for partition in diverse_partitions(best, int(self.n_members))
        ]
        subsets = [labels.tolist() for partition in self.partitions_ for labels in partition]
        self.cover_ = Cover(subsets, m, method="dependent subsets")
        return self._view(learner)

    def _views_to_tune(self, learner, training, random):
        return lambda: self._view(learner), np.arange(training.Y.shape[1])

    def _view(self, learner):
        return CoverView(learner, [self.cover_], aggregate=self.aggregate)

    def _gives_left_out(self) -> bool:
        return bool(self._learner().gives_left_out)


def _subsets(partition: NDArray[np.int64]) -> list[list[int]]:
    return [np.flatnonzero(partition == first).tolist() for first in np.unique(partition)]
