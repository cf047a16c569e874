"""Labels divided into disjoint subsets of dependent ones: greedily, or by random partitions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.model_selection import KFold

from labelcover._table_numbers import blocks
from labelcover.covers import Cover
from labelcover.dependence import phi
from labelcover.ensemble import MOST_SEED, CoverView, TrainingRows, leaving_out_some, single_labels
from labelcover.methods._member_rows import rows_with_labels

Subset = tuple[int, ...]

# Unions of so many subsets are tried in one fit: those that follow are often needed too.
AHEAD = 10
# Of the random partitions, so many of the highest weight are candidates; of these the fifth that is
# most different from the members so far is looked at. Both are MULAN's.
CANDIDATES = 100
DIVERSE_SHARE = 0.2
# Random numbers drawn at once.
BLOCK_NUMBERS = 2**21


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
    """Return χ² of every pair of labels, and its critical value at the level `alpha`."""
    scores = len(Y) * phi(Y) ** 2
    np.fill_diagonal(scores, 0)
    return LabelPairDependence(scores, float(stats.chi2.isf(alpha, 1)))


@dataclass
class Trials:
    """Label powerset on some of the training rows, asked which labels of others it predicts right.

    Each fit, and each division into folds, draws a seed from `random`.
    """

    learner: Any
    training: TrainingRows
    n_folds: int
    random: np.random.Generator
    n_jobs: int | None = None

    def conditional_dependence(self, alpha: float) -> LabelPairDependence:
        """Return how much better a label is predicted if another label is a feature.

        For every label, two binary models are compared in cross-validation: one on the features,
        one on the features and the other label. The score of a pair is the t statistic of the
        paired differences of their accuracies over the folds, of the two directions the larger; it
        is negative where the other label does harm. The critical value is two-sided, as published.

        In each fold all labels are fitted together, once without and once with each other label.
        """
        m, n_folds = self.training.Y.shape[1], self.n_folds
        critical_value = float(stats.t.isf(alpha / 2, n_folds - 1))
        if m == 1:
            return LabelPairDependence(np.zeros((1, 1)), critical_value)
        folds, labels, gains = self.drawn_folds(), np.arange(m), np.zeros((n_folds, m, m))
        for fold, (train, test) in enumerate(folds):
            rows, held = self.training.rows(train), self.training.rows(test)
            alone = self._accuracies(rows, held, labels)
            for j in range(m):
                others, known = np.delete(labels, j), np.array([j])
                with_it = rows_with_labels(rows, known), rows_with_labels(held, known)
                gains[fold, others, j] = self._accuracies(*with_it, others) - alone[others]
        # The spread of a few folds may be 0 by chance: it is at least that of one row in one fold.
        least = 1 / (max(len(test) for _, test in folds) * n_folds)
        error = np.maximum(gains.std(axis=0, ddof=1) / np.sqrt(n_folds), least)
        t = gains.mean(axis=0) / error
        return LabelPairDependence(np.maximum(t, t.T), critical_value)

    def _accuracies(
        self, rows: TrainingRows, held: TrainingRows, labels: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the accuracy of a binary model for each of some labels."""
        view = self._fitted([single_labels(labels, rows.Y.shape[1])], rows)
        right = (view.confidences(held.X)[0] > 0.5) == held.Y
        return np.average(right[:, labels], axis=0, weights=held.weights)

    def rows_right(self, subsets: list[Subset]) -> list[NDArray[np.bool_]]:
        """Return in which training rows all labels of a subset are predicted right, for each.

        Rows are predicted by models fitted without them: by leave-one-out where the learner gives
        that (for the rows for which it does), else in cross-validation.
        """
        groups = list(_disjoint_groups(subsets))
        covers = [Cover(group, self.training.Y.shape[1]) for group in groups]
        right: dict[Subset, NDArray[np.bool_]] = {}
        for group, table in zip(groups, self._right_labels(covers), strict=True):
            for subset in group:
                right[subset] = np.logical_and.reduce(table[:, list(subset)], axis=1)
        return [right[subset] for subset in subsets]

    def share(self, right: NDArray[np.bool_]) -> float:
        """Return the share of the rows that are right, by their weights."""
        weights, rows = self.training.weights, self._rows
        return float(np.average(right, weights=None if weights is None else weights[rows]))

    def _right_labels(self, covers: list[Cover]) -> list[NDArray[np.bool_]]:
        """Return for each cover of disjoint subsets which labels are right, a row per row."""
        self._rows: Any = slice(None)
        if self.learner.gives_left_out:
            seed = int(self.random.integers(MOST_SEED))
            training = leaving_out_some(self.training, self.learner, covers, seed)
            self._rows, votes = self._fitted(covers, training).left_out(training)
            return [(each > 0.5) == self.training.Y[self._rows] for each in votes]
        tables = [np.empty(self.training.Y.shape, dtype=bool) for _ in covers]
        for train, test in self.folds:
            view, held = self._fitted(covers, self.training.rows(train)), self.training.rows(test)
            for table, each in zip(tables, view.confidences(held.X), strict=True):
                table[test] = (each > 0.5) == held.Y
        return tables

    def drawn_folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the training and the test rows of each fold."""
        seed = int(self.random.integers(MOST_SEED))
        folds = KFold(self.n_folds, shuffle=True, random_state=seed)
        return list(folds.split(np.empty(len(self.training.Y))))

    @cached_property
    def folds(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Those of all calls of `rows_right`."""
        return self.drawn_folds()

    def _fitted(self, covers: list[Cover], training: TrainingRows) -> CoverView:
        view = CoverView(self.learner, covers, aggregate="votes")
        return view.fit(training, int(self.random.integers(MOST_SEED)), n_jobs=self.n_jobs)


def _disjoint_groups(subsets: list[Subset]) -> Iterator[list[Subset]]:
    """Yield the subsets in few groups whose subsets have no label in common."""
    left = list(subsets)
    while left:
        taken: set[int] = set()
        group: list[Subset] = []
        rest: list[Subset] = []
        for subset in left:
            fits = taken.isdisjoint(subset)
            (group if fits else rest).append(subset)
            taken |= set(subset) if fits else set()
        yield group
        left = rest


def cluster_labels(
    pairs: Sequence[tuple[int, int]],
    n_labels: int,
    rows_right: Callable[[list[Subset]], list[NDArray[np.bool_]]],
    share: Callable[[NDArray[np.bool_]], float] = np.mean,
    *,
    max_failures: int = 10,
) -> tuple[list[Subset], float, int]:
    """Return the partition that a greedy search arrives at from single labels.

    Its subsets come in the order of their first labels, then its subset accuracy for left-out rows
    (NaN if there was nothing to try) and how many unions were tried.

    The subsets of the next pair are united if subset accuracy does not fall by it. The search ends
    with the pairs, with one subset of all labels, or after more than `max_failures` unions in a
    row that lowered it.

    Parameters
    ----------
    pairs : sequence of pairs of labels
        The most dependent first.
    rows_right, share : callable
        As those of `Trials`.
    """
    subset_of: list[Subset] = [(label,) for label in range(n_labels)]
    if not pairs or n_labels == 1:
        return subset_of, np.nan, 0
    known = dict(zip(subset_of, rows_right(subset_of), strict=True))

    def union(a: int, b: int) -> Subset:
        return tuple(sorted({*subset_of[a], *subset_of[b]}))

    def score(partition: Sequence[Subset]) -> float:
        return float(share(np.logical_and.reduce([known[subset] for subset in set(partition)])))

    best = score(subset_of)
    rejected: set[tuple[Subset, ...]] = set()
    n_tried = failures = 0
    for i, (a, b) in enumerate(pairs):
        if failures > max_failures or len(subset_of[a]) == n_labels:
            break
        both = union(a, b)
        united = [both if label in both else subset_of[label] for label in range(n_labels)]
        if subset_of[a] == subset_of[b] or tuple(united) in rejected:
            continue
        if both not in known:
            ahead: dict[Subset, None] = {}  # the unions that the next pairs ask for
            for pair in pairs[i:]:
                if (each := union(*pair)) not in known:
                    ahead[each] = None
                if len(ahead) == AHEAD:
                    break
            known |= dict(zip(ahead, rows_right(list(ahead)), strict=True))
        reached = score(united)
        n_tried += 1
        if reached >= best:
            subset_of, best, failures = united, reached, 0
        else:
            rejected.add(tuple(united))
            failures += 1
    return list(dict.fromkeys(subset_of)), best, n_tried


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
    best = np.empty((0, m), dtype=np.int64)
    for block in blocks(n_partitions, BLOCK_NUMBERS // (2 * m)):
        drawn = random_partitions(m, block.stop - block.start, random)
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
