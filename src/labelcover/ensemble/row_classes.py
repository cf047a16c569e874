"""The problems of very many rows: the class of a row is worked out when somebody asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import alike_labelsets, alike_rows
from labelcover.covers import Cover
from labelcover.ensemble.encoding import TABLE_BITS, Encoding, ranked_pattern_rows
from labelcover.ensemble.encoding_kernels import occurring_patterns, ranked_patterns
from labelcover.ensemble.label_products import occurring_products
from labelcover.learners.chunked_targets import ChunkedTargets
from labelcover.learners.linear_targets import TargetRows, class_rows, targets_of_classes

# Problems are compared on so many labelsets at a time.
BLOCK_ROWS = 2**14


@dataclass(frozen=True)
class ClassRule:
    """What makes the classes of some problems of labels.

    Attributes
    ----------
    labelsets : int32 array of shape (n_problems, k)
        The labels of each problem; rows with fewer labels end in −1.
    ranks : int32 array of shape (n_problems, 2 ** k)
        The class of each pattern of these labels, −1 for patterns that do not occur.
    """

    labelsets: NDArray[np.int32]
    ranks: NDArray[np.int32]

    def __call__(self, Y: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the classes of the rows of `Y`, ``(n_problems, n)``."""
        return ranked_patterns(np.ascontiguousarray(Y.T), self.labelsets, self.ranks)

    def of(self, problems: Any) -> ClassRule:
        """Return the rule of some problems."""
        return ClassRule(self.labelsets[problems], self.ranks[problems])


@dataclass(frozen=True)
class RowClasses:
    """The classes of all rows in all problems, in place of an array of them.

    It is indexed like one: by problems, or by all problems and some rows.
    """

    rule: ClassRule
    Y: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.rule.labelsets)

    @property
    def shape(self) -> tuple[int, int]:
        """Problems and rows."""
        return len(self), len(self.Y)

    def __getitem__(self, at: Any) -> Any:
        """Return the classes of some problems, or of some rows as an array."""
        if not isinstance(at, tuple):
            return replace(self, rule=self.rule.of(at))
        problems, rows = at
        return self.rule.of(problems)(self.Y[rows])

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[np.int32]:
        raise TypeError("the classes of all rows are never held at once")


@dataclass(frozen=True)
class ClassRows:
    """Which rows each class holds, but for the largest class of each problem."""

    rule: ClassRule
    offsets: NDArray[np.int64]
    is_target: NDArray[np.bool_]

    def __call__(self, Y: NDArray[np.uint8]) -> TargetRows:
        """Return the rows of a table of labels."""
        return TargetRows(class_rows(self.rule(Y), self.offsets, self.is_target), None)


def encode_rows(
    Y: NDArray[np.uint8], covers: Sequence[Cover]
) -> tuple[list[Encoding], RowClasses, NDArray[np.int64]]:
    """Return what `labelcover.ensemble.encoding.encode` returns, without the classes of all rows.

    Raises
    ------
    ValueError
        If a labelset has more than 12 labels.
    """
    widest = max(cover.k for cover in covers)
    if widest > TABLE_BITS:
        raise ValueError(
            f"k must be at most {TABLE_BITS} for rows in chunks, got a labelset of {widest} labels."
        )
    distinct = Y[alike_labelsets(Y)[1]]
    columns = np.ascontiguousarray(distinct.T)
    labelsets = labelset_rows(covers)
    ranks = np.empty((len(labelsets), 2**widest), dtype=np.int32)
    occurring_patterns(columns, labelsets, ranks)
    problem, first = _distinct_problems(distinct, ClassRule(labelsets, ranks))
    encodings = ranked_encodings(covers, ranks, problem, first)
    return encodings, RowClasses(ClassRule(labelsets[first], ranks[first]), Y), first


def labelset_rows(covers: Sequence[Cover]) -> NDArray[np.int32]:
    """Return the labelsets of some covers, one after another; those with fewer labels end in −1."""
    widest = max(cover.k for cover in covers)
    return np.concatenate([_widened(cover.labelsets, widest) for cover in covers])


def ranked_encodings(
    covers: Sequence[Cover],
    ranks: NDArray[np.int32],
    problem: NDArray[np.int64],
    first: NDArray[np.int64],
) -> list[Encoding]:
    """Return the encoding of each cover.

    Parameters
    ----------
    ranks : int32 array of shape (n_members, 2 ** k)
        As in `ClassRule`, for the labelsets of all covers.
    problem, first
        The problem of each member, and the first member of each problem.
    """
    counts = (ranks >= 0).sum(axis=1)
    offsets = np.concatenate([[0], np.cumsum(counts[first])])
    encodings, at = [], 0
    for cover in covers:
        members = slice(at, at + len(cover))
        patterns = ranked_pattern_rows(ranks[members], cover)
        starts = np.concatenate([[0], np.cumsum(counts[members])])
        encodings.append(Encoding(cover, starts, patterns, problem[members], offsets))
        at += len(cover)
    return encodings


def targets_of_rows(
    classes: RowClasses, encodings: Sequence[Encoding], first: NDArray[np.int64]
) -> ChunkedTargets:
    """Return what the problems are linear in: products of labels, or the classes themselves."""
    Y, offsets = classes.Y, encodings[0].offsets
    products = occurring_products(encodings, first, Y.shape[1])
    if products is not None:
        numbers = np.arange(len(products.rows.labels))
        return ChunkedTargets(products.rows, Y, products.combine, products.constant, numbers)
    is_target, combine, constant = targets_of_classes(_class_counts(classes, offsets), offsets)
    rows = ClassRows(classes.rule, offsets, is_target)
    combine = sparse.csr_array(combine)
    return ChunkedTargets(rows, Y, combine, constant, np.arange(int(is_target.sum())))


def _class_counts(classes: RowClasses, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.zeros(int(offsets[-1]), dtype=np.int64)
    for start in range(0, len(classes.Y), BLOCK_ROWS):
        found = classes.rule(classes.Y[start : start + BLOCK_ROWS]) + offsets[:-1, None]
        counts += np.bincount(found.ravel(), minlength=len(counts))
    return counts


def _distinct_problems(
    distinct: NDArray[np.uint8], rule: ClassRule
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the problem of each member, and the first member of each problem.

    Members are one problem as long as no row tells them apart; most are told apart by few.
    """
    problem = np.zeros(len(rule.labelsets), dtype=np.int64)
    first = np.zeros(1, dtype=np.int64)
    for start in range(0, len(distinct), BLOCK_ROWS):
        group, _ = alike_rows(rule(distinct[start : start + BLOCK_ROWS]))
        problem, first = alike_rows(np.column_stack([problem, group]))
        if len(first) == len(problem):
            break
    return problem, first


def _widened(labelsets: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    more = width - labelsets.shape[1]
    return np.pad(labelsets, ((0, 0), (0, more)), constant_values=-1).astype(np.int32)
