"""The one-hot classes of many problems as combinations of fewer 0/1 columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import blocks

# Rows are counted in blocks of so many.
BLOCK_ROWS = 2**16


class TargetRows(NamedTuple):
    """Which rows each target holds.

    Attributes
    ----------
    holds : CSR array of shape (n_targets, n_groups)
        1 where a target holds the rows of a group.
    group : ndarray of shape (n,) or None
        The group of each row; None if each is one of its own. Rows with the same labels are the
        same to all targets, and sums over rows are made by group first.
    """

    holds: sparse.csr_array
    group: NDArray[np.int64] | None

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        if self.group is None:
            return np.asarray(self.holds @ weights)
        return np.asarray(self.holds @ np.bincount(self.group, weights, self.holds.shape[1]))


# What tells which rows of a block each target holds, from the labels of the block.
Rule = Callable[[Any], TargetRows]


@dataclass(frozen=True)
class LinearTargets:
    """0/1 columns, the targets, of which the one-hot classes of all problems are combinations.

    What is linear in its targets, as ridge regression is, needs to be solved for these alone. The
    classes of a labelset are linear in the products of its labels (1, y_a, y_a·y_b, …), which
    labelsets share; the classes of any problem in all of them but one.

    Attributes
    ----------
    rule : callable
        Returns the `TargetRows` of a table of labels, for all targets. It can be pickled.
    labels : ndarray of shape (n, ...)
        What the rule reads, of all training rows.
    combine : CSR array of shape (n_classes, n_targets)
    constant : ndarray of shape (n_classes,)
        One-hot classes of rows, a row each, are ``combine @ dense() + constant``.
    numbers : ndarray
        Which of all targets these are, ascending.
    """

    rule: Rule
    labels: NDArray
    combine: sparse.csr_array
    constant: NDArray[np.float64]
    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    @cached_property
    def held(self) -> TargetRows:
        """Which training rows each target holds."""
        return self.block_rule(whole=False)(self.labels)

    def block_rule(self, *, whole: bool) -> Rule:
        """Return the rule of these targets for blocks of rows, or for the one block of all."""
        return _Known(self.held) if whole else _Some(self.rule, self.numbers)

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        if len(self.labels) <= BLOCK_ROWS:
            return self.held.counts(weights)
        rule, total = self.block_rule(whole=False), np.zeros(len(self))
        for block in blocks(len(self.labels), BLOCK_ROWS):
            total += rule(self.labels[block]).counts(weights[block])
        return total

    def dense(self) -> NDArray[np.float64]:
        """Return the targets of all rows, ``(n_targets, n)``."""
        dense = self.held.holds.toarray()
        return dense if self.held.group is None else dense[:, self.held.group]

    @property
    def combination(self) -> tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]]:
        """What makes classes of targets, as compiled loops take it: `combine` and `constant`.

        Numbers are int64, whatever SciPy chose for them: loops are compiled for each type.
        """
        starts, columns = (
            numbers.astype(np.int64, copy=False)
            for numbers in (self.combine.indptr, self.combine.indices)
        )
        return starts, columns, self.combine.data, self.constant

    def of_some(self, classes: NDArray[np.int64]) -> LinearTargets:
        """Return the targets of some classes."""
        own = self.combine[classes]
        used = np.unique(own.indices)
        constant, numbers = self.constant[classes], self.numbers[used]
        return replace(self, combine=own[:, used], constant=constant, numbers=numbers)

    def of_rows(self, rows: NDArray[np.int64]) -> LinearTargets:
        """Return the same targets of some rows."""
        return replace(self, labels=self.labels[rows])

    @classmethod
    def of_classes(cls, classes: NDArray[np.int32], offsets: NDArray[np.int64]) -> LinearTargets:
        """Return the classes of each problem as targets but for the largest, which is the rest."""
        offsets = offsets - offsets[0]
        column = classes + offsets[:-1, None]
        counts = np.bincount(column.ravel(), minlength=int(offsets[-1]))
        return cls.of_class_rule(np.transpose, classes.T, counts, offsets)

    @classmethod
    def of_class_rule(
        cls,
        classes_of: Callable[[Any], NDArray[np.int32]],
        labels: NDArray,
        counts: NDArray[np.int64],
        offsets: NDArray[np.int64],
    ) -> LinearTargets:
        """Return the same for classes that a function tells of labels.

        Parameters
        ----------
        classes_of : callable
            Returns the classes of all problems, ``(n_problems, n)``, of a table of labels.
        counts : ndarray of shape (n_classes,)
            How many rows each class holds.
        """
        is_target, combine, constant = _all_but_the_largest(counts, offsets)
        rule = _ClassTargets(classes_of, offsets, is_target)
        return cls(rule, labels, combine, constant, np.arange(int(is_target.sum())))


@dataclass(frozen=True)
class _Known:
    held: TargetRows

    def __call__(self, labels: Any) -> TargetRows:
        return self.held


@dataclass(frozen=True)
class _Some:
    rule: Rule
    numbers: NDArray[np.int64]

    def __call__(self, labels: Any) -> TargetRows:
        found = self.rule(labels)
        if len(self.numbers) == found.holds.shape[0]:
            return found
        return TargetRows(found.holds[self.numbers], found.group)


@dataclass(frozen=True)
class _ClassTargets:
    """Which rows each class holds, but for the largest class of each problem."""

    classes_of: Callable[[Any], NDArray[np.int32]]
    offsets: NDArray[np.int64]
    is_target: NDArray[np.bool_]

    def __call__(self, labels: Any) -> TargetRows:
        classes = self.classes_of(labels)
        column = classes + self.offsets[:-1, None]
        number = np.cumsum(self.is_target) - 1
        kept = self.is_target[column]
        rows = np.broadcast_to(np.arange(classes.shape[1]), classes.shape)[kept]
        shape = (int(self.is_target.sum()), classes.shape[1])
        holds = sparse.csr_array((np.ones(len(rows)), (number[column[kept]], rows)), shape=shape)
        return TargetRows(holds, None)


def _all_but_the_largest(
    counts: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], sparse.csr_array, NDArray[np.float64]]:
    """Return which classes are targets, and `combine` and `constant` of `LinearTargets`."""
    n_classes = len(counts)
    largest = [low + counts[low:high].argmax() for low, high in pairwise(offsets)]
    is_target = np.ones(n_classes, dtype=bool)
    is_target[largest] = False
    of_target = np.flatnonzero(is_target)
    problem = np.searchsorted(offsets[:-1], of_target, side="right") - 1
    combine = sparse.csr_array(
        (
            np.repeat([1.0, -1.0], len(of_target)),
            (
                np.concatenate([of_target, np.array(largest)[problem]]),
                np.tile(np.arange(len(of_target)), 2),
            ),
        ),
        shape=(n_classes, len(of_target)),
    )
    return is_target, combine, (~is_target).astype(np.float64)
