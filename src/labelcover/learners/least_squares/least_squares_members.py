"""All least squares members of one table from one factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import Progress
from labelcover.learners.features import numeric
from labelcover.learners.least_squares.choosing import (
    Choice,
    Settings,
    choose_scaling,
    factorise,
    leave_one_out,
    own_columns,
)
from labelcover.learners.least_squares.class_kernels import (
    best_inverse_temperatures,
    class_counts,
    softmax_columns,
)
from labelcover.learners.least_squares.feature_maps import IdentityMap, Kernel, KernelMap
from labelcover.learners.least_squares.feature_scaling import FeatureScaling
from labelcover.learners.least_squares.ridge_systems import RidgeSystem
from labelcover.learners.problems import LeftOut, Members, Problems, problem_blocks

# Temperatures are tuned on the leave-one-out predictions of no more rows than this.
TEMPERATURE_ROWS = 512
# Others may look at those of more rows (thresholds do): of so many at most, and of fewer where
# they would be more numbers than these.
LEFT_OUT_ROWS = 2_048
LEFT_OUT_NUMBERS = 2**26
# Numbers in one block of leave-one-out predictions (64 MB).
BLOCK_NUMBERS = 2**23
# The last relative step of temperatures; what is left is about its square.
FINE = 5e-2


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
        return self.map.transform(self.scaling.transform(numeric(X, self.n_values)))


class LeastSquaresMembers(Members):
    """Ridge regression on one-hot classes for every problem; a softmax over each one's scores.

    Attributes
    ----------
    features : FeatureMap
    kernel : Kernel
    ridge : float
    coefficients, intercept : ndarray of shape (n_classes, n_features) and (n_classes,)
        Scores are ``features @ coefficients.T + intercept``.
    inverse_temperature : ndarray of shape (n_problems,)
        Probabilities are ``softmax(inverse_temperature * scores)``.
    n_scale_rows, n_choice_rows, n_temperature_rows : int
        On how many training rows the scale (0 if there was no choice), kernel and ridge, and
        temperatures were chosen.
    """

    coefficients: NDArray[np.float64]
    n_scale_rows: int
    n_choice_rows: int
    n_temperature_rows: int

    def __init__(
        self, features: FeatureMap, kernel: Kernel, ridge: float, offsets: NDArray[np.int64]
    ) -> None:
        self.features, self.kernel, self.ridge, self.offsets = features, kernel, ridge, offsets
        self.inverse_temperature = np.empty(len(offsets) - 1)
        self.intercept = np.empty(offsets[-1])

    def prepare(self, X: Any) -> Any:
        """Return the features of new rows."""
        return self.features.transform(X)

    def scores(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the scores of the classes of some problems side by side."""
        classes = slice(self.offsets[problems.start], self.offsets[problems.stop])
        scores = np.asarray(prepared @ self.coefficients[classes].T)
        scores += self.intercept[classes]
        return scores

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        scores = self.scores(prepared, problems)
        offsets = self.offsets[problems.start : problems.stop + 1]
        softmax_columns(scores, offsets, self.inverse_temperature[problems])
        return scores


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
    members, system = prepared_members(X, problems, settings)
    ridge = members.ridge
    bar.describe(f"solving members (scale: {members.features.scaling.scale})")
    rows = left_out_rows(X.shape[0], int(problems.offsets[-1]), left_out is not None, settings.seed)
    few = slice(TEMPERATURE_ROWS)
    members.n_temperature_rows = len(rows[few])
    smoother = system.smoother(ridge, rows)
    for block in problem_blocks(problems.offsets, max(1, BLOCK_NUMBERS // len(rows))):
        offsets = problems.offsets[block.start : block.stop + 1]
        classes = problems.classes[block]
        counts = class_counts(classes, offsets, system.weights)
        coefficients, scores = smoother.solve(classes, offsets, counts)
        own = np.ascontiguousarray(classes[:, rows])
        leave_one_out(scores, smoother.leverage, own_columns(own, offsets))
        tuned = np.ascontiguousarray(own[:, few])
        found = best_inverse_temperatures(
            scores[few], tuned, offsets, system.weights[rows[few]], FINE
        )
        members.coefficients[offsets[0] : offsets[-1]] = coefficients
        members.intercept[offsets[0] : offsets[-1]] = (
            counts / system.total - coefficients @ system.centre
        )
        members.inverse_temperature[block] = found
        if left_out is not None:
            softmax_columns(scores, offsets, found)
            left_out(rows, block, scores)
        bar.advance(block.stop - block.start)
    return members


def prepared_members(
    X: Any, problems: Problems, settings: Settings
) -> tuple[LeastSquaresMembers, RidgeSystem]:
    """Return members whose coefficients are not solved yet, and the system to solve them in."""
    table = numeric(X, problems.n_values)
    scaling, n_scale_rows = choose_scaling(table, problems, settings)
    scaled = scaling.transform(table)
    choice = Choice(scaled, problems, settings)
    kernel = choice.kernel()
    mapped, system = factorise(scaled, problems.weights, kernel, settings)
    features = FeatureMap(problems.n_values, scaling, mapped)
    members = LeastSquaresMembers(features, kernel, choice.ridge(system), problems.offsets)
    members.n_scale_rows, members.n_choice_rows = n_scale_rows, len(choice.rows)
    members.row_width = len(system.centre)
    members.coefficients = np.empty((problems.offsets[-1], members.row_width))
    return members, system


def left_out_rows(n: int, n_classes: int, many: bool, seed: int) -> NDArray[np.int64]:
    """Return the rows to leave out, those that tune temperatures first."""
    if n <= TEMPERATURE_ROWS:
        return np.arange(n)
    most = min(LEFT_OUT_ROWS, LEFT_OUT_NUMBERS // n_classes) if many else 0
    return np.random.default_rng(seed).permutation(n)[: max(TEMPERATURE_ROWS, most)]
