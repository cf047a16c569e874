"""The one-hot classes of many problems as combinations of fewer 0/1 columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class TargetRows(NamedTuple):
    """Which rows each target holds.

    Attributes
    ----------
    holds : CSR array of shape (n_targets, n_groups)
        1 where a target holds the rows of a group.
    group : ndarray of shape (n,) or None
        The group of each row; None if each is one of its own.
    """

    holds: sparse.csr_array
    group: NDArray[np.int64] | None

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        if self.group is None:
            return np.asarray(self.holds @ weights)
        return np.asarray(self.holds @ np.bincount(self.group, weights, self.holds.shape[1]))


@dataclass(frozen=True)
class LinearTargets:
    """0/1 columns, the targets, of which the one-hot classes of all problems are combinations.

    What is linear in its targets, as ridge regression is, needs to be solved for these alone. The
    classes of a labelset are linear in the products of its labels (1, y_a, y_a·y_b, …), which
    labelsets share; the classes of any problem in all of them but one.

    Attributes
    ----------
    holds : CSR array of shape (n_targets, n_groups)
        1 where a target holds the training rows of a group.
    combine : CSR array of shape (n_classes, n_targets)
    constant : ndarray of shape (n_classes,)
        One-hot classes of the groups, a row each, are ``combine @ holds + constant``.
    group : ndarray of shape (n,), optional
        The group of each training row; by default each is one of its own. Rows with the same
        labels are the same to all targets, and sums over rows are made by group first.
    """

    holds: sparse.csr_array
    combine: sparse.csr_array
    constant: NDArray[np.float64]
    group: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return int(self.holds.shape[0])

    def counts(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much the rows that each target holds weigh."""
        return TargetRows(self.holds, self.group).counts(weights)

    def dense(self) -> NDArray[np.float64]:
        """Return the targets of all rows, ``(n_targets, n)``."""
        dense = self.holds.toarray()
        return dense if self.group is None else dense[:, self.group]

    @property
    def combination(self) -> tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]]:
        """What makes classes of targets: the parts of `combine`, and `constant`."""
        return combination_of(self.combine, self.constant)

    def of_some(self, classes: NDArray[np.int64]) -> LinearTargets:
        """Return the targets of some classes."""
        combine, used = combination_of_some(self.combine, classes)
        return LinearTargets(self.holds[used], combine, self.constant[classes], self.group)

    def of_rows(self, rows: NDArray[np.int64]) -> LinearTargets:
        """Return the same targets of some rows."""
        if self.group is None:
            return replace(self, holds=self.holds[:, rows])
        return replace(self, group=self.group[rows])

    @classmethod
    def of_classes(cls, classes: NDArray[np.int32], offsets: NDArray[np.int64]) -> LinearTargets:
        """Return the classes of each problem as targets but for the largest, which is the rest."""
        offsets = offsets - offsets[0]
        column = classes + offsets[:-1, None]
        counts = np.bincount(column.ravel(), minlength=int(offsets[-1]))
        is_target, combine, constant = targets_of_classes(counts, offsets)
        return cls(class_rows(classes, offsets, is_target), combine, constant)


def combination_of_some(
    combine: sparse.csr_array, classes: NDArray[np.int64]
) -> tuple[sparse.csr_array, NDArray[np.int64]]:
    """Return what makes some classes of the targets they need, and which targets these are."""
    own = combine[classes]
    used = np.unique(own.indices)
    return own[:, used], used


def combination_of(
    combine: sparse.csr_array, constant: NDArray[np.float64]
) -> tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]]:
    """Return what makes classes of targets, as compiled loops take it.

    Numbers are int64, whatever SciPy chose for them: loops are compiled for each type.
    """
    starts, columns = (
        numbers.astype(np.int64, copy=False) for numbers in (combine.indptr, combine.indices)
    )
    return starts, columns, combine.data, constant


def targets_of_classes(
    counts: NDArray[np.int64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], sparse.csr_array, NDArray[np.float64]]:
    """Return which classes are targets, and what makes classes of them.

    Parameters
    ----------
    counts : ndarray of shape (n_classes,)
        How many rows each class holds.
    offsets : ndarray of shape (n_problems + 1,)
        From 0, as in `Problems`.

    Returns
    -------
    is_target : ndarray of shape (n_classes,), bool
        All but the largest class of each problem, which is the rest.
    combine, constant
        As in `LinearTargets`.
    """
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


def class_rows(
    classes: NDArray[np.int32], offsets: NDArray[np.int64], is_target: NDArray[np.bool_]
) -> sparse.csr_array:
    """Return which rows the classes that are targets hold, ``(n_targets, n)``."""
    column = classes + offsets[:-1, None]
    number = np.cumsum(is_target) - 1
    kept = is_target[column]
    rows = np.broadcast_to(np.arange(classes.shape[1]), classes.shape)[kept]
    shape = (int(is_target.sum()), classes.shape[1])
    return sparse.csr_array((np.ones(len(rows)), (number[column[kept]], rows)), shape=shape)
