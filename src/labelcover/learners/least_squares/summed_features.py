"""Sums over rows that come one after another: what least squares keeps of a stream.

The scale, the kernel and the landmarks are chosen on the first rows and stay; all that depends on
rows afterwards are sums, so it does not matter in which portions rows come. Where columns are
scaled one by one and the kernel is linear, the scale follows the rows: sums of columns on one scale
are those on another, multiplied and shifted.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import reduce
from operator import iadd
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.features import numeric
from labelcover.learners.least_squares.choosing import (
    CHOICE_ROWS,
    Judge,
    Settings,
    sample,
    some_problems,
)
from labelcover.learners.least_squares.chunked_rows import KernelValues, RowSums, row_sums
from labelcover.learners.least_squares.column_sums import ColumnSums
from labelcover.learners.least_squares.feature_maps import KernelMap
from labelcover.learners.least_squares.feature_rows import FeatureRows
from labelcover.learners.least_squares.feature_scaling import FeatureScaling
from labelcover.learners.least_squares.ridge_systems import PrimalSystem, RidgeSystem
from labelcover.learners.linear_targets import TargetRows
from labelcover.learners.problems import Problems

if TYPE_CHECKING:
    from labelcover.learners.least_squares.least_squares_members import (
        FeatureMap,
        LeastSquaresMembers,
    )

# Rows are summed in blocks of so many.
BLOCK_ROWS = 2**16


@dataclass
class Portion:
    """What is summed over some rows.

    Attributes
    ----------
    rows : RowSums
    counts : ndarray of shape (n_targets,)
        How much the rows that each target holds weigh.
    total : float
        How much all rows weigh.
    columns : ColumnSums or None
        What the scale of the columns is made of, where it follows the rows.
    """

    rows: RowSums
    counts: NDArray[np.float64]
    total: float
    columns: ColumnSums | None

    def __iadd__(self, other: Portion) -> Portion:
        self.rows += other.rows
        self.counts += other.counts
        self.total += other.total
        if self.columns is not None and other.columns is not None:
            self.columns = self.columns + other.columns
        return self


class FeatureSums:
    """Sums over all rows so far, by target, of features that are settled.

    Parameters
    ----------
    members : LeastSquaresMembers
        Prepared on the first rows, by a primal system. The sums do not hold these rows yet.

    Attributes
    ----------
    summed : Portion
        Of all rows.
    """

    summed: Portion | None = None

    def __init__(self, members: LeastSquaresMembers) -> None:
        self.features, self.kernel = members.features, members.kernel
        self.n_scale_rows = members.n_scale_rows
        scaling, mapped = self.features.scaling, self.features.map
        self.values = None
        if isinstance(mapped, KernelMap):
            self.values = KernelValues(self.kernel, mapped.rows)
        # Whether each column is multiplied and shifted, whatever the others hold.
        is_standard = scaling.scale == "standard" and not scaling.words.any()
        self.by_column = self.values is None and is_standard
        if self.by_column:
            self.features = replace(self.features, scaling=_never_zero(scaling))

    def add(
        self,
        X: Any,
        Y: NDArray[np.uint8],
        weights: NDArray[np.float64],
        holds_of: Callable[[NDArray[np.uint8]], TargetRows],
    ) -> None:
        """Add rows; `holds_of` says which rows of a table of labels all targets hold."""
        blocks = [slice(at, at + BLOCK_ROWS) for at in range(0, len(Y), BLOCK_ROWS)]
        parts = (self._portion(X[rows], holds_of(Y[rows]), weights[rows]) for rows in blocks)
        found = reduce(iadd, parts)
        self.summed = found if self.summed is None else iadd(self.summed, found)

    def _portion(self, X: Any, held: TargetRows, weights: NDArray[np.float64]) -> Portion:
        table = numeric(X, self.features.n_values)
        scaled = self.features.scaling.transform(table)
        return Portion(
            row_sums(scaled, held, weights, self.values),
            held.counts(weights),
            float(weights.sum()),
            ColumnSums.of_table(table, weights) if self.by_column else None,
        )

    def settled(self) -> tuple[FeatureMap, RowSums]:
        """Return the features of the model, on the scale of all rows if it follows, and sums."""
        assert self.summed is not None
        if self.summed.columns is None:
            combine = getattr(self.features.map, "combine", None)
            return self.features, self.summed.rows.combined(combine)
        scaling = self.summed.columns.scaling("standard")
        sums = _on_scale(self.summed, self.features.scaling, scaling)
        return replace(self.features, scaling=scaling), sums


@dataclass(frozen=True)
class SummedTable:
    """Rows in memory that stand for more rows, and sums over all of them.

    Attributes
    ----------
    rows : ndarray or CSR matrix
    sums : FeatureSums
    """

    rows: Any
    sums: FeatureSums

    @property
    def shape(self) -> tuple[int, int]:
        """Of the rows in memory."""
        return self.rows.shape

    def system(
        self, problems: Problems, settings: Settings
    ) -> tuple[FeatureMap, RidgeSystem, float, int]:
        """Return the features, the ridge system of all rows, the ridge, and on how many rows.

        The ridge is that of the settings, or the best for some of the rows in memory.
        """
        features, sums = self.sums.settled()
        assert self.sums.summed is not None
        rows = SummedRows(self.rows, features, sums)
        system = PrimalSystem(rows, problems.weights, self.sums.summed.total)
        judged = sample(len(rows), CHOICE_ROWS, settings.seed)
        if settings.alpha is not None:
            return features, system, settings.alpha, len(judged)
        found = Judge(some_problems(problems, settings.seed), judged).best_ridge(system)
        return features, system, found.ridge, len(judged)


class SummedRows(FeatureRows):
    """The features of rows in memory, and sums over these and more."""

    def __init__(self, table: Any, features: FeatureMap, found: RowSums) -> None:
        self.table, self.features, self.found = table, features, found

    def __len__(self) -> int:
        return int(self.table.shape[0])

    def gram(
        self, weights: NDArray[np.float64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both sums. They are weighted already."""
        return self.found.gram, self.found.sums

    def sums(self, targets: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sums by target."""
        return self.found.by_target[targets.numbers]

    def rows(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows."""
        found = self.features.transform(self.table[rows])
        return found.toarray() if sparse.issparse(found) else found


def _never_zero(scaling: FeatureScaling) -> FeatureScaling:
    """Return the scaling with a factor for columns that were constant, and may be so no longer."""
    scaling = copy(scaling)
    scaling.factor = np.where(scaling.factor == 0, 1 / np.sqrt(len(scaling.factor)), scaling.factor)
    return scaling


def _on_scale(summed: Portion, own: FeatureScaling, other: FeatureScaling) -> RowSums:
    """Return sums of columns on their own scale as sums on another scale."""
    (slope, start), (other_slope, other_start) = _line(own), _line(other)
    times = other_slope / slope
    shift = other_start - times * start
    sums = times * summed.rows.sums
    gram = times * summed.rows.gram * times[:, None]
    gram += np.outer(sums + summed.total * shift, shift) + np.outer(shift, sums)
    by_target = times * summed.rows.by_target + np.outer(summed.counts, shift)
    return RowSums(gram, sums + summed.total * shift, by_target)


def _line(scaling: FeatureScaling) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a scaling of single columns multiplies them by, and what it makes of 0."""
    flipped = scaling.rare.flipped
    slope = np.where(flipped, -scaling.factor, scaling.factor)
    return slope, (flipped - scaling.shift) * scaling.factor
