"""All least squares members of one table from one factorisation."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._progress import Progress
from labelcover.learners._chunked_table import as_blocks
from labelcover.learners._features import numeric
from labelcover.learners._least_squares.choosing import (
    CHOICE_ROWS,
    RIDGES,
    SCALE_ROWS,
    SKETCH_ROWS,
    Judge,
    Settings,
    choose_scaling,
    chosen_system,
    sample,
)
from labelcover.learners._least_squares.class_kernels import left_out_temperatures
from labelcover.learners._least_squares.known_cells import KnownSystem, filled_targets
from labelcover.learners._least_squares.ridge_systems import Solved
from labelcover.learners._least_squares.scaled_features import FeatureScaling, Kernel, KernelMap
from labelcover.learners._least_squares.softmax_members import (
    GaussianSwaps,
    LinearSwaps,
    SoftmaxMembers,
)
from labelcover.learners._problems import LinearTargets, Problems, random_order
from labelcover.learners._products import row_products

# Temperatures are tuned on the leave-one-out predictions of no more rows than this.
TEMPERATURE_ROWS = 512
# The last relative step of temperatures; what is left is about its cube.
FINE = 0.13


class LeastSquaresMembers(SoftmaxMembers):
    """Ridge regression on one-hot classes for every problem; a softmax over each one's scores.

    Attributes
    ----------
    map : KernelMap
        From scaled rows to features.
    ridge : float
    coefficients, intercept : ndarray of shape (n_targets, n_features) and (n_targets,)
        Scores of the targets are ``features @ coefficients.T + intercept``.
    of_values : ndarray of shape (n_targets, n_landmarks) or None
        With fewer targets than landmarks, what kernel values themselves are multiplied by: new rows
        then need no Nyström features, which would take the most of the time of a single row.
    frequencies : ndarray of shape (n_classes,) or None
        Those of the classes, where training rows are all alike.
    n_scale_rows, n_choice_rows, n_temperature_rows : int
        On how many training rows the scale (0 if there was no choice), kernel and ridge, and
        temperatures were chosen.
    """

    coefficients: NDArray[np.float64]
    of_values: NDArray[np.float64] | None = None
    frequencies: NDArray[np.float64] | None = None
    n_scale_rows: int
    n_choice_rows: int
    n_temperature_rows: int

    def __init__(
        self, scaling: FeatureScaling, mapped: KernelMap, ridge: float, problems: Problems
    ) -> None:
        self.scaling, self.map, self.ridge = scaling, mapped, ridge
        self.n_values, self.offsets = problems.n_values, problems.offsets
        self.combination = problems.targets.combination

    @property
    def kernel(self) -> Kernel:
        """The kernel of the features."""
        return self.map.kernel

    def take(self, solved: Solved, centre: NDArray[np.float64]) -> None:
        """Take the coefficients of the targets, and the intercepts by the mean of the features."""
        # In the order in which sparse rows are multiplied by them.
        self.coefficients = np.asfortranarray(solved.coefficients)
        self.intercept = solved.means - self.coefficients @ centre
        combine = self.map.combine
        self.row_width = max(self.coefficients.shape)
        if combine is not None and len(self.intercept) < len(combine):
            self.of_values = self.coefficients @ combine.T

    def settle_on_frequencies(self) -> None:
        """Let all rows have the frequencies of the classes.

        Where training rows are alike, no more is known, and a temperature is not to change it.
        """
        _, shares = self.of_classes()
        shares, n = np.clip(shares, np.finfo(np.float64).tiny, 1.0), len(shares)
        self.coefficients = np.zeros((n, self.coefficients.shape[1]), order="F")
        self.intercept, self.of_values = np.log(shares), None
        self.combination = np.arange(n + 1), np.arange(n), np.ones(n), np.zeros(n)
        self.inverse_temperature = np.ones(len(self.offsets) - 1)
        self.frequencies = shares

    def scores_of_scaled(self, scaled: Any) -> NDArray[np.float64]:
        """Return the scores of the targets for rows on the scale of training."""
        if self.of_values is None:
            features, weights = self.map.transform(scaled), self.coefficients
        else:
            features, weights = self.map.values(scaled), self.of_values
        if sparse.issparse(features):
            scores = np.asfortranarray(features @ weights.T)
        else:
            scores = row_products(features, weights.T)
        scores += self.intercept
        return scores

    def weights_of(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coefficients of some targets as those of columns, or of kernel values."""
        own = self.coefficients if self.of_values is None else self.of_values
        weights, combine = own[targets], self.map.combine
        if self.of_values is None and combine is not None:
            weights = weights @ combine.T
        is_dual = self.kernel.is_linear and self.map.rows is not None
        return np.asarray(weights @ self.map.rows) if is_dual else weights

    def swaps(self, scaled: Any, origin: NDArray[np.float64] | None) -> LinearSwaps | GaussianSwaps:
        """Return what columns add to scores where they pass from an origin to rows."""
        if self.kernel.is_linear:
            return super().swaps(scaled, origin)
        moved, centres = (
            each if origin is None else each - origin for each in (scaled, self.map.rows)
        )
        return GaussianSwaps(self.kernel.gammas, moved, centres)

    def of_classes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coefficients and the intercepts of all classes."""
        combine, constant = self.combine
        return combine @ self.coefficients, combine @ self.intercept + constant

    def left_out(self, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of training rows left out, by leave-one-out.

        Frequencies of classes are those without the row, whose share in them is its leverage.
        """
        if self.frequencies is None:
            return super().left_out(problems)
        assert self._training is not None
        classes, _, leverage = self._training
        first, stop = self.offsets[problems.start], self.offsets[problems.stop]
        column = classes[problems].T + self.offsets[problems] - first
        given = np.repeat(self.frequencies[None, first:stop], len(leverage), axis=0)
        rows = np.flatnonzero(1 - leverage > np.finfo(np.float64).eps)  # not the only row
        given[rows[:, None], column[rows]] -= leverage[rows, None]
        given[rows] /= 1 - leverage[rows, None]
        return np.clip(given, 0.0, 1.0)


def solve(
    X: Any, problems: Problems, settings: Settings, bar: Progress, *, scores_only: bool = False
) -> LeastSquaresMembers:
    """Return the members of all problems: factorise once, then solve all targets.

    The scale, the kernel, its width and the ridge are those that are best for the problems
    together; the temperature is each problem's own. With `scores_only` none is tuned, and
    frequencies do not take the place of scores where all rows are alike.
    """
    targets, asked = targets_of(problems), problems.left_out_rows
    problems = replace(problems, targets=targets)
    rows = random_order(X.shape[0], settings.seed)[:TEMPERATURE_ROWS] if asked is None else asked
    # Rows that any sample may hold are in memory.
    sizes = [SCALE_ROWS, SKETCH_ROWS, settings.n_landmarks, 2 * settings.n_landmarks]
    samples = [sample(X.shape[0], most, settings.seed) for most in sizes]
    table = as_blocks(X, problems.weights).keeping(np.concatenate([*samples, rows]))
    table = table.mapped(partial(numeric, n_values=problems.n_values))
    scaling, n_scale_rows = choose_scaling(table, problems, settings)
    system: Any
    system, ridge = chosen_system(table.mapped(scaling.transform), problems, settings)
    bar.describe(f"solving members (scale: {scaling.scale})")
    members = LeastSquaresMembers(scaling, system.map, ridge, problems)
    few = rows[:TEMPERATURE_ROWS]
    members.n_scale_rows, members.n_choice_rows = n_scale_rows, min(X.shape[0], CHOICE_ROWS)
    members.n_temperature_rows = len(few)
    if problems.cells is not None and not system.is_constant:
        system = KnownSystem(system, targets)
        if settings.alpha is None:
            # From the ridge that is best with unknown cells filled in.
            start = int(np.argmin(np.abs(RIDGES * system.unit - ridge)))
            members.ridge = Judge(problems, rows[:CHOICE_ROWS]).best_ridge(system, start).ridge
    solved = system.solve(system.pose(targets, rows), members.ridge)
    members.take(solved, system.centre)
    own = np.ascontiguousarray(problems.classes[:, rows])
    if system.is_constant and not scores_only:
        members.settle_on_frequencies()
    elif not scores_only:
        members.inverse_temperature, _ = left_out_temperatures(
            np.ascontiguousarray(solved.scores[:, : len(few)]),
            targets.combination,
            solved.leverage[: len(few)],
            np.ascontiguousarray(own[:, : len(few)]),
            problems.offsets,
            problems.cell_weights(system.weights, few),
            FINE,
        )
    if asked is not None:
        members._training = own, np.asfortranarray(solved.scores.T), solved.leverage
    bar.advance(len(problems))
    return members


def targets_of(problems: Problems) -> LinearTargets:
    """Return what is solved: the targets of the problems, by default their classes but one each."""
    if problems.targets is not None:
        return problems.targets
    if problems.cells is not None:
        return filled_targets(problems.classes.T, problems.cells.T, problems.weights)
    return LinearTargets.of_classes(problems.classes, problems.offsets)
