"""All least squares members of one table from one factorisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._progress import Progress
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.features import numeric
from labelcover.learners.least_squares.choosing import (
    SCALE_ROWS,
    SKETCH_ROWS,
    Choice,
    Settings,
    choose_scaling,
    sample,
)
from labelcover.learners.least_squares.class_kernels import (
    class_distributions,
    combine_targets,
    left_out_temperatures,
)
from labelcover.learners.least_squares.feature_maps import IdentityMap, Kernel, KernelMap
from labelcover.learners.least_squares.feature_scaling import FeatureScaling
from labelcover.learners.least_squares.ridge_systems import RidgeSystem, Solved
from labelcover.learners.linear_targets import LinearTargets
from labelcover.learners.problems import LeftOut, Members, Problems, problem_blocks
from labelcover.learners.row_products import row_products

# Temperatures are tuned on the leave-one-out predictions of no more rows than this.
TEMPERATURE_ROWS = 512
# Others may look at those of more rows (thresholds do): of so many at most, and of fewer where
# they would be more numbers than these.
LEFT_OUT_ROWS = 2_048
LEFT_OUT_NUMBERS = 2**24
# Numbers in one block of leave-one-out predictions (8 MB).
BLOCK_NUMBERS = 2**20
# The last relative step of temperatures; what is left is about its cube.
FINE = 0.13
# What new rows have in place of those of training rows.
NO_CLASSES, NO_LEVERAGE = np.empty((1, 0), dtype=np.int32), np.empty(0)


@dataclass(frozen=True)
class FeatureMap:
    """From the rows of a table to what coefficients are multiplied by.

    Attributes
    ----------
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    scaling : FeatureScaling
    map : IdentityMap or KernelMap
    """

    n_values: NDArray[np.int32]
    scaling: FeatureScaling
    map: IdentityMap | KernelMap

    def transform(self, X: Any) -> Any:
        """Return what the coefficients are multiplied by, for new rows."""
        return self.map.transform(self._scaled(X))

    def kernel_values(self, X: Any) -> NDArray[np.float64]:
        """Return the kernel values of new rows with the rows of a `KernelMap`."""
        assert isinstance(self.map, KernelMap)
        return self.map.values(self._scaled(X))

    def _scaled(self, X: Any) -> Any:
        return self.scaling.transform(numeric(X, self.n_values))


class LeastSquaresMembers(Members):
    """Ridge regression on one-hot classes for every problem; a softmax over each one's scores.

    Attributes
    ----------
    features : FeatureMap
    kernel : Kernel
    ridge : float
    coefficients, intercept : ndarray of shape (n_targets, n_features) and (n_targets,)
        Scores of the targets are ``features @ coefficients.T + intercept``.
    of_values : ndarray of shape (n_targets, n_landmarks) or None
        With fewer targets than landmarks, what kernel values themselves are multiplied by: new rows
        then need no Nyström features, which would take the most of the time of a single row.
    combination : tuple of ndarrays
        What makes scores of classes of those of targets; see `LinearTargets`.
    inverse_temperature : ndarray of shape (n_problems,)
        Probabilities are ``softmax(inverse_temperature * scores)``.
    n_scale_rows, n_choice_rows, n_temperature_rows : int
        On how many training rows the scale (0 if there was no choice), kernel and ridge, and
        temperatures were chosen.
    """

    coefficients: NDArray[np.float64]
    intercept: NDArray[np.float64]
    of_values: NDArray[np.float64] | None = None
    n_scale_rows: int
    n_choice_rows: int
    n_temperature_rows: int

    def __init__(
        self,
        features: FeatureMap,
        kernel: Kernel,
        ridge: float,
        offsets: NDArray[np.int64],
        combination: tuple[NDArray, NDArray, NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        self.features, self.kernel, self.ridge = features, kernel, ridge
        self.offsets, self.combination = offsets, combination
        self.inverse_temperature = np.empty(len(offsets) - 1)

    def solve(self, system: RidgeSystem, targets: LinearTargets, rows: NDArray[np.int64]) -> Solved:
        """Solve the targets; return what the system says, with the scores of training rows."""
        posed = system.pose(targets, rows)
        solved = system.solve(posed, self.ridge)
        # In the order in which sparse rows are multiplied by them.
        self.coefficients = np.asfortranarray(solved.coefficients)
        self.intercept = posed.frequencies - self.coefficients @ system.centre
        combine = getattr(self.features.map, "combine", None)
        if combine is not None and len(self.intercept) < len(combine):
            self.of_values = self.coefficients @ combine.T
        return solved

    def settle_on_frequencies(self) -> NDArray[np.float64]:
        """Let all rows have the frequencies of the classes, which are returned.

        Where training rows are alike, no more is known, and a temperature is not to change it.
        """
        _, shares = self.of_classes()
        shares, n = np.clip(shares, np.finfo(np.float64).tiny, 1.0), len(shares)
        self.coefficients = np.zeros((n, self.coefficients.shape[1]), order="F")
        self.intercept, self.of_values = np.log(shares), None
        self.combination = np.arange(n + 1), np.arange(n), np.ones(n), np.zeros(n)
        self.inverse_temperature[:] = 1.0
        return shares

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the targets for new rows."""
        if self.of_values is None:
            features, weights = self.features.transform(X), self.coefficients
        else:
            features, weights = self.features.kernel_values(X), self.of_values
        if sparse.issparse(features):
            scores = np.asfortranarray(features @ weights.T)
        else:
            scores = row_products(features, weights.T)
        scores += self.intercept
        return scores

    def scores(self, prepared: NDArray[np.float64], problems: slice) -> NDArray[np.float64]:
        """Return the scores of the classes of some problems side by side."""
        low, high = self.offsets[problems.start], self.offsets[problems.stop]
        starts, columns, values, constant = self.combination
        of_targets = np.ascontiguousarray(prepared.T)
        return combine_targets(
            of_targets, starts[low : high + 1], columns, values, constant[low:high]
        ).T

    def of_classes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coefficients and the intercepts of all classes."""
        starts, columns, values, constant = self.combination
        shape = (len(constant), len(self.intercept))
        combine = sparse.csr_array((values, columns, starts), shape=shape)
        return combine @ self.coefficients, combine @ self.intercept + constant

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        return self._distributions(prepared, problems, NO_CLASSES, NO_LEVERAGE)

    def left_out_distributions(
        self,
        fitted: NDArray[np.float64],
        problems: slice,
        classes: NDArray[np.int32],
        leverage: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the same for training rows by models fitted without them.

        `fitted` are the scores of targets, `classes` those of the problems for these rows.
        """
        return self._distributions(fitted, problems, classes, leverage)

    def _distributions(self, prepared, problems, classes, leverage):
        low, high = self.offsets[problems.start], self.offsets[problems.stop]
        starts, columns, values, constant = self.combination
        return class_distributions(
            np.ascontiguousarray(prepared.T),
            (starts[low : high + 1], columns, values, constant[low:high]),
            self.offsets[problems.start : problems.stop + 1],
            self.inverse_temperature[problems],
            classes,
            leverage,
        ).T


def solve(
    X: Any,
    problems: Problems,
    settings: Settings,
    left_out: LeftOut | None,
    bar: Progress,
) -> LeastSquaresMembers:
    """Return the members of all problems: factorise once, then solve in blocks of bounded memory.

    The scale, the kernel, its width and the ridge are those that are best for the problems
    together; the temperature is each problem's own.
    """
    settings = replace(settings, quick=problems.left_out_only)
    targets = targets_of(problems)
    wanted = X.shape[0] if problems.left_out_only else None
    rows = left_out_rows(X.shape[0], len(targets), left_out is not None, settings.seed, wanted)
    if left_out is not None:
        left_out(rows, slice(0, 0), np.empty((len(rows), 0)))
    members, system = prepared_members(X, problems, targets, settings)
    bar.describe(f"solving members (scale: {members.features.scaling.scale})")
    few = slice(TEMPERATURE_ROWS)
    members.n_temperature_rows = len(rows[few])
    solved = members.solve(system, targets, rows)
    if system.is_constant:
        shares = members.settle_on_frequencies()
        for block in problem_blocks(problems.offsets, max(1, BLOCK_NUMBERS // len(rows))):
            if left_out is not None:
                own = np.asarray(problems.classes[block][:, rows])
                left_out(rows, block, _left_out_frequencies(shares, problems, block, own, solved))
            bar.advance(block.stop - block.start)
        return members
    members.inverse_temperature = left_out_temperatures(
        np.ascontiguousarray(solved.scores[:, few]),
        targets.combination,
        solved.leverage[few],
        np.ascontiguousarray(problems.classes[:, rows[few]]),
        problems.offsets,
        system.weights[rows[few]],
        FINE,
    )
    if left_out is None:
        bar.advance(len(problems))
        return members
    fitted = np.asfortranarray(solved.scores.T)
    for block in problem_blocks(problems.offsets, max(1, BLOCK_NUMBERS // len(rows))):
        own = np.ascontiguousarray(problems.classes[block][:, rows])
        given = members.left_out_distributions(fitted, block, own, solved.leverage)
        left_out(rows, block, given)
        bar.advance(block.stop - block.start)
    return members


def _left_out_frequencies(
    shares: NDArray[np.float64],
    problems: Problems,
    block: slice,
    own: NDArray[np.int32],
    solved: Solved,
) -> NDArray[np.float64]:
    """Return the frequencies of classes without each row, whose share in them is its leverage."""
    offsets = problems.offsets[block.start : block.stop + 1]
    given = np.repeat(shares[None, offsets[0] : offsets[-1]], own.shape[1], axis=0)
    others = 1 - solved.leverage
    rows = np.flatnonzero(others > np.finfo(np.float64).eps)  # not the only row
    for start, classes in zip(offsets[:-1] - offsets[0], own, strict=True):
        given[rows, start + classes[rows]] -= solved.leverage[rows]
    given[rows] /= others[rows, None]
    return np.clip(given, 0.0, 1.0)


def targets_of(problems: Problems) -> LinearTargets:
    """Return what is solved: the targets of the problems, by default their classes but one each."""
    if problems.targets is not None:
        return problems.targets
    return LinearTargets.of_classes(problems.classes, problems.offsets)


def prepared_members(
    X: Any, problems: Problems, targets: LinearTargets, settings: Settings
) -> tuple[LeastSquaresMembers, RidgeSystem]:
    """Return members that are not solved yet, and the system to solve their targets in."""
    table = _numeric(X, problems.n_values, settings)
    scaling, n_scale_rows = choose_scaling(table, problems, settings)
    choice = Choice(_mapped(table, scaling.transform), problems, settings)
    kernel, mapped, system, ridge = choice.system()
    features = FeatureMap(problems.n_values, scaling, mapped)
    members = LeastSquaresMembers(features, kernel, ridge, problems.offsets, targets.combination)
    members.n_scale_rows, members.n_choice_rows = n_scale_rows, choice.n_rows
    members.row_width = max(len(system.centre), len(targets))
    return members, system


def _with_samples(X: ChunkedTable, settings: Settings) -> ChunkedTable:
    """Return rows in chunks with those in memory that any sample may hold."""
    n = X.shape[0]
    seed, n_landmarks = settings.seed, settings.n_landmarks
    sizes = [SCALE_ROWS, SKETCH_ROWS, n_landmarks, 2 * n_landmarks]
    samples = [sample(n, most, seed) for most in sizes]
    samples.append(left_out_rows(n, 1, True, seed))
    return X.keeping(np.concatenate(samples))


def _numeric(X: Any, n_values: NDArray[np.int32], settings: Settings) -> Any:
    if not isinstance(X, ChunkedTable):
        return numeric(X, n_values)
    X = _with_samples(X, settings)
    n_columns = X.shape[1] if X.is_sparse else int(np.where(n_values > 2, n_values, 1).sum())
    return X.mapped(partial(numeric, n_values=n_values), n_columns)


def _mapped(table: Any, step: Any) -> Any:
    return table.mapped(step) if isinstance(table, ChunkedTable) else step(table)


def left_out_rows(
    n: int, n_targets: int, many: bool, seed: int, wanted: int | None = None
) -> NDArray[np.int64]:
    """Return the rows to leave out, those that tune temperatures first; `wanted` says how many."""
    if n <= TEMPERATURE_ROWS:
        return np.arange(n)
    most = min(LEFT_OUT_ROWS, LEFT_OUT_NUMBERS // max(1, n_targets)) if many else 0
    most = most if wanted is None else wanted
    return np.random.default_rng(seed).permutation(n)[: max(TEMPERATURE_ROWS, most)]
