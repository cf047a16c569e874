"""Labels put into disjoint subsets, a dependent pair at a time, while the score does not fall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble.cover_view import CoverView
from labelcover.ensemble.label_model import MOST_SEED
from labelcover.ensemble.view import TrainingRows
from labelcover.methods.label_pair_dependence import shuffled_folds

Subset = tuple[int, ...]

# Unions of so many subsets are tried in one fit: those that follow are often needed too.
AHEAD = 10


@dataclass(frozen=True)
class Clustering:
    """The subsets that were found.

    Attributes
    ----------
    subsets : list of tuple of int
        A partition of the labels, in the order of their first labels.
    score : float
        Its subset accuracy in cross-validation; NaN if no union was tried.
    n_tried : int
        How many unions were tried.
    """

    subsets: list[Subset]
    score: float
    n_tried: int


def cluster_labels(
    pairs: Sequence[tuple[int, int]],
    n_labels: int,
    rows_right: Callable[[list[Subset]], list[NDArray[np.bool_]]],
    share: Callable[[NDArray[np.bool_]], float] = np.mean,
    *,
    max_failures: int = 10,
) -> Clustering:
    """Return the partition that a greedy search arrives at from single labels.

    The subsets of the next pair are united if subset accuracy does not fall by it. The search ends
    with the pairs, with one subset of all labels, or after more than `max_failures` unions in a
    row that lowered it.

    Parameters
    ----------
    pairs : sequence of pairs of labels
        The most dependent first.
    rows_right : callable
        Returns for each of some subsets in which rows all of its labels are predicted right, by
        models that have not seen the row.
    share : callable
        Returns the share of the rows that are right, by their weights.
    """
    subset_of: list[Subset] = [(label,) for label in range(n_labels)]
    if not pairs or n_labels == 1:
        return Clustering(_distinct(subset_of), np.nan, 0)
    known = dict(zip(subset_of, rows_right(subset_of), strict=True))

    def score(subsets: list[Subset]) -> float:
        return float(share(np.logical_and.reduce([known[subset] for subset in subsets])))

    best = score(subset_of)
    rejected: set[Subset] = set()
    n_tried = failures = 0
    for i, (a, b) in enumerate(pairs):
        if failures > max_failures or len(subset_of[a]) == n_labels:
            break
        union = _union(subset_of, a, b)
        if subset_of[a] == subset_of[b] or union in rejected:
            continue
        if union not in known:
            ahead = _next_unions(pairs[i:], subset_of, known, rejected)
            known |= dict(zip(ahead, rows_right(ahead), strict=True))
        united = [union if label in union else subset_of[label] for label in range(n_labels)]
        reached = score(_distinct(united))
        n_tried += 1
        if reached >= best:
            subset_of, best, failures = united, reached, 0
        else:
            rejected.add(union)
            failures += 1
    return Clustering(_distinct(subset_of), best, n_tried)


def _union(subset_of: list[Subset], a: int, b: int) -> Subset:
    return tuple(sorted({*subset_of[a], *subset_of[b]}))


def _distinct(subset_of: list[Subset]) -> list[Subset]:
    return list(dict.fromkeys(subset_of))


def _next_unions(
    pairs: Sequence[tuple[int, int]],
    subset_of: list[Subset],
    known: dict[Subset, NDArray[np.bool_]],
    rejected: set[Subset],
) -> list[Subset]:
    """Return the unions that the next pairs ask for as the subsets are now."""
    ahead: dict[Subset, None] = {}
    for a, b in pairs:
        union = _union(subset_of, a, b)
        if subset_of[a] != subset_of[b] and union not in known and union not in rejected:
            ahead[union] = None
        if len(ahead) == AHEAD:
            break
    return list(ahead)


class RowsRight:
    """In which training rows label powerset predicts all labels of a subset right.

    Rows are predicted by models that have not seen them: by leave-one-out where the learner gives
    that (for the rows for which it does), else in cross-validation.
    """

    def __init__(
        self,
        learner: Any,
        training: TrainingRows,
        n_folds: int,
        *,
        random: np.random.Generator,
        n_jobs: int | None = None,
    ) -> None:
        self.learner, self.training, self.random, self.n_jobs = learner, training, random, n_jobs
        # A single label has no unions, whose rows would be asked for.
        folds_used = not learner.gives_left_out and training.Y.shape[1] > 1
        self.folds = list(shuffled_folds(len(training.Y), n_folds, random)) if folds_used else []
        self.weights = training.weights

    def share(self, right: NDArray[np.bool_]) -> float:
        """Return the share of the rows that are right, by their weights."""
        return float(np.average(right, weights=self.weights))

    def __call__(self, subsets: list[Subset]) -> list[NDArray[np.bool_]]:
        """Return the rows of each of some subsets."""
        groups = list(_disjoint_groups(subsets))
        covers = [Cover(group, self.training.Y.shape[1]) for group in groups]
        right: dict[Subset, NDArray[np.bool_]] = {}
        for group, table in zip(groups, self._right_labels(covers), strict=True):
            for subset in group:
                right[subset] = np.logical_and.reduce(table[:, list(subset)], axis=1)
        return [right[subset] for subset in subsets]

    def _right_labels(self, covers: list[Cover]) -> list[NDArray[np.bool_]]:
        """Return for each cover of disjoint subsets which labels are right, a row per row."""
        if not self.folds:
            view = self._fitted(covers, self.training, keep_left_out=True)
            assert view.left_out is not None
            rows, votes = view.left_out
            if self.training.weights is not None:
                self.weights = self.training.weights[rows]
            return [(each > 0.5) == self.training.Y[rows] for each in votes]
        tables = [np.empty(self.training.Y.shape, dtype=bool) for _ in covers]
        for train, test in self.folds:
            view, held = self._fitted(covers, self.training.rows(train)), self.training.rows(test)
            for table, each in zip(tables, view.confidences(held.X), strict=True):
                table[test] = (each > 0.5) == held.Y
        return tables

    def _fitted(
        self, covers: list[Cover], training: TrainingRows, *, keep_left_out: bool = False
    ) -> CoverView:
        view = CoverView(self.learner, covers, aggregate="votes")
        seeds = self.random.integers(MOST_SEED, size=view.n_seeds)
        return view.fit(training, seeds, keep_left_out=keep_left_out, n_jobs=self.n_jobs)


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
