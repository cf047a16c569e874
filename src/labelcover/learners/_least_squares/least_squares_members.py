"""All least squares members of one table from one factorisation."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._progress import Progress
from labelcover.learners._chunked_table import Blocks, as_blocks
from labelcover.learners._features import numeric
from labelcover.learners._least_squares.choosing import (
    CHOICE_ROWS,
    SCALE_ROWS,
    SKETCH_ROWS,
    Settings,
    best_known_ridge,
    choose_scaling,
    chosen_system,
    sample,
)
from labelcover.learners._least_squares.class_kernels import (
    class_distributions,
    combine_targets,
    left_out_temperatures,
)
from labelcover.learners._least_squares.feature_maps import IdentityMap, Kernel, KernelMap
from labelcover.learners._least_squares.feature_scaling import FeatureScaling
from labelcover.learners._least_squares.known_cells import KnownSystem, filled_targets
from labelcover.learners._least_squares.ridge_systems import RidgeSystem, Solved
from labelcover.learners._least_squares.score_parts import LeastSquaresPaths
from labelcover.learners._problems import LinearTargets, Members, Problems, random_order
from labelcover.learners._products import row_products

# Temperatures are tuned on the leave-one-out predictions of no more rows than this.
TEMPERATURE_ROWS = 512
# Numbers in one block of scores (8 MB).
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

    def scaled(self, X: Any) -> Any:
        """Return new rows on the scale of training, nominal features one-hot."""
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
    frequencies : ndarray of shape (n_classes,) or None
        Those of the classes, where training rows are all alike.
    combination : tuple of ndarrays
        What makes scores of classes of those of targets; see `LinearTargets`.
    inverse_temperature : ndarray of shape (n_problems,)
        Probabilities are ``softmax(inverse_temperature * scores)``.
    n_scale_rows, n_choice_rows, n_temperature_rows : int
        On how many training rows the scale (0 if there was no choice), kernel and ridge, and
        temperatures were chosen.
    """

    has_paths = True
    coefficients: NDArray[np.float64]
    intercept: NDArray[np.float64]
    of_values: NDArray[np.float64] | None = None
    frequencies: NDArray[np.float64] | None = None
    n_scale_rows: int
    n_choice_rows: int
    n_temperature_rows: int
    # Of training rows: their classes, ``(n_problems, n_rows)``, the scores of the targets by
    # members that were fitted with them, ``(n_rows, n_targets)``, and each row's share in its own.
    _training: tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]] | None = None

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
        self._combine_values()
        return solved

    def solve_known(
        self, system: RidgeSystem, problems: Problems, rows: NDArray[np.int64], *, choose: bool
    ) -> Solved:
        """Solve for the known cells of single labels; the scores are left-out ones already.

        A ridge that is to be chosen is searched for from the one with unknown cells filled in.
        """
        known = KnownSystem(system, targets_of(problems))
        if choose:
            self.ridge = best_known_ridge(known, problems, self.ridge, rows)
        coefficients, self.intercept, left_out = known.solve(self.ridge, rows)
        self.coefficients = np.asfortranarray(coefficients)
        self._combine_values()
        return Solved(self.coefficients, np.ascontiguousarray(left_out.T), np.zeros(len(rows)))

    def _combine_values(self) -> None:
        combine = self.features.map.combine
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
        self.inverse_temperature[:] = 1.0
        self.frequencies = shares

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the targets for new rows."""
        return self.scores_of_scaled(self.features.scaled(X))

    def scores_of_scaled(self, scaled: Any) -> NDArray[np.float64]:
        """Return the scores of the targets for rows on the scale of training."""
        if self.of_values is None:
            features, weights = self.features.map.transform(scaled), self.coefficients
        else:
            features, weights = self.features.map.values(scaled), self.of_values
        if sparse.issparse(features):
            scores = np.asfortranarray(features @ weights.T)
        else:
            scores = row_products(features, weights.T)
        scores += self.intercept
        return scores

    def paths(self, X: Any, origin: NDArray[np.float64] | None = None) -> LeastSquaresPaths:
        """Return the way of new rows from an origin, whose scores are sums over columns."""
        return LeastSquaresPaths(self, X, origin)

    def scores(self, prepared: NDArray[np.float64], problems: slice) -> NDArray[np.float64]:
        """Return the scores of the classes of some problems side by side."""
        return combine_targets(np.ascontiguousarray(prepared.T), *self._combination(problems)).T

    def of_classes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coefficients and the intercepts of all classes."""
        combine, constant = self.combine
        return combine @ self.coefficients, combine @ self.intercept + constant

    @property
    def combine(self) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """The combination as a matrix, ``(n_classes, n_targets)``, and its constant."""
        starts, columns, values, constant = self.combination
        shape = (len(constant), len(self.intercept))
        return sparse.csr_array((values, columns, starts), shape=shape), constant

    def _combination(self, problems: slice) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        """Return the combination of the classes of some problems."""
        low, high = self.offsets[problems.start], self.offsets[problems.stop]
        starts, columns, values, constant = self.combination
        return starts[low : high + 1], columns, values, constant[low:high]

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        return self._distributions(prepared, problems, NO_CLASSES, NO_LEVERAGE)

    def left_out(self, problems: slice) -> NDArray[np.float64]:
        """Return the same for training rows left out, by leave-one-out."""
        assert self._training is not None
        classes, scores, leverage = self._training
        if self.frequencies is not None:
            return self._left_out_frequencies(problems, classes[problems], leverage)
        return self._distributions(scores, problems, classes[problems], leverage)

    def _left_out_frequencies(
        self, problems: slice, own: NDArray[np.int32], leverage: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return frequencies of classes without each row, whose share in them is its leverage."""
        assert self.frequencies is not None
        offsets = self.offsets[problems.start : problems.stop + 1]
        given = np.repeat(self.frequencies[None, offsets[0] : offsets[-1]], own.shape[1], axis=0)
        others = 1 - leverage
        rows = np.flatnonzero(others > np.finfo(np.float64).eps)  # not the only row
        for start, classes in zip(offsets[:-1] - offsets[0], own, strict=True):
            given[rows, start + classes[rows]] -= leverage[rows]
        given[rows] /= others[rows, None]
        return np.clip(given, 0.0, 1.0)

    def _distributions(self, prepared, problems, classes, leverage):
        return class_distributions(
            np.ascontiguousarray(prepared.T),
            self._combination(problems),
            self.offsets[problems.start : problems.stop + 1],
            self.inverse_temperature[problems],
            classes,
            leverage,
        ).T


def solve(X: Any, problems: Problems, settings: Settings, bar: Progress) -> LeastSquaresMembers:
    """Return the members of all problems: factorise once, then solve all targets.

    The scale, the kernel, its width and the ridge are those that are best for the problems
    together; the temperature is each problem's own.
    """
    settings = replace(settings, quick=problems.quick)
    targets = targets_of(problems)
    asked = problems.left_out_rows
    rows = asked
    if rows is None:
        rows = random_order(X.shape[0], settings.seed)[:TEMPERATURE_ROWS]
        problems = replace(problems, left_out_rows=rows)
    members, system = prepared_members(X, problems, targets, settings)
    bar.describe(f"solving members (scale: {members.features.scaling.scale})")
    few = slice(TEMPERATURE_ROWS)
    members.n_temperature_rows = len(rows[few])
    own = np.ascontiguousarray(problems.classes[:, rows])
    if problems.cells is None or system.is_constant:
        solved = members.solve(system, targets, rows)
    else:
        posed = replace(problems, targets=targets)
        solved = members.solve_known(system, posed, rows, choose=settings.alpha is None)
    if system.is_constant:
        members.settle_on_frequencies()
    else:
        members.inverse_temperature = left_out_temperatures(
            np.ascontiguousarray(solved.scores[:, few]),
            targets.combination,
            solved.leverage[few],
            np.ascontiguousarray(own[:, few]),
            problems.offsets,
            problems.cell_weights(system.weights, rows[few]),
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


def prepared_members(
    X: Any, problems: Problems, targets: LinearTargets, settings: Settings
) -> tuple[LeastSquaresMembers, RidgeSystem]:
    """Return members that are not solved yet, and the system to solve their targets in."""
    problems = replace(problems, targets=targets)
    table = _numeric(as_blocks(X, problems.weights), problems, settings)
    scaling, n_scale_rows = choose_scaling(table, problems, settings)
    scaled = table.mapped(scaling.transform)
    kernel, mapped, system, ridge = chosen_system(scaled, problems, settings)
    features = FeatureMap(problems.n_values, scaling, mapped)
    members = LeastSquaresMembers(features, kernel, ridge, problems.offsets, targets.combination)
    members.n_scale_rows, members.n_choice_rows = n_scale_rows, min(table.shape[0], CHOICE_ROWS)
    members.row_width = max(len(system.centre), len(targets))
    return members, system


def _numeric(X: Blocks, problems: Problems, settings: Settings) -> Blocks:
    """Return the table with nominal features one-hot, rows that any sample may hold in memory."""
    n, n_values = X.shape[0], problems.n_values
    sizes = [SCALE_ROWS, SKETCH_ROWS, settings.n_landmarks, 2 * settings.n_landmarks]
    samples = [sample(n, most, settings.seed) for most in sizes]
    if problems.left_out_rows is not None:
        samples.append(problems.left_out_rows)
    X = X.keeping(np.concatenate(samples))
    n_columns = X.shape[1] if X.is_sparse else int(np.where(n_values > 2, n_values, 1).sum())
    return X.mapped(partial(numeric, n_values=n_values), n_columns)
