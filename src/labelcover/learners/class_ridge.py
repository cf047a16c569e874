"""Least squares on classes for many problems of one table: settings, choice and solution.

Everything that is chosen is chosen by leave-one-out predictions, which a factorised system gives
without refitting: the kernel and its width, the ridge, and the temperature of each problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners._least_squares import (
    best_sharpness,
    brier_score,
    class_counts,
    leave_one_out,
    softmax_columns,
)
from labelcover.learners.kernel_maps import (
    IdentityMap,
    Kernel,
    KernelMap,
    exact_system,
    median_distance,
    nystroem_system,
)
from labelcover.learners.ridge import RidgeSystem
from labelcover.learners.scaling import FeatureScaling

# Up to this many rows (or features, for the linear kernel) nothing is approximated.
EXACT_ROWS = 4_000
# Kernels are compared as they are seen from so many landmarks.
SKETCH_LANDMARKS = 300
# Widths of the Gaussian kernels that are compared, each and their mean, in median distances.
WIDTHS = (0.5, 1.0, 2.0)
# Ridges that are compared, in mean squared lengths of a centred row.
RIDGES = 10.0 ** np.arange(-3, 2.1, 0.5)
# The choice of kernel and ridge looks at no more rows and classes than these.
CHOICE_ROWS = 1_024
CHOICE_CLASSES = 256
# The last relative step of temperatures, in the choice and in the end. What is left is about its
# square, far less than what some hundred rows can tell.
COARSE, FINE = 1e-1, 5e-2
# Temperatures are tuned on the leave-one-out predictions of no more rows than this.
TEMPERATURE_ROWS = 512
# Others may look at those of more rows (thresholds do): of so many at most, and of fewer where
# they would be more numbers than these.
LEAVE_OUT_ROWS = 2_048
LEAVE_OUT_NUMBERS = 2**26
# Numbers in one block of leave-one-out predictions (64 MB).
BLOCK_NUMBERS = 2**23


@dataclass(frozen=True)
class Settings:
    """The parameters of least squares; None means: choose."""

    kernel: str = "auto"
    gammas: tuple[float, ...] | None = None
    alpha: float | None = None
    scale: bool = True
    n_landmarks: int = 1_000
    seed: int = 0


@dataclass(frozen=True)
class Solution:
    """Some problems, solved.

    Attributes
    ----------
    problems : slice
        Which problems.
    coefficients, intercept : ndarray of shape (n_classes, n_features) and (n_classes,)
        Scores are ``features @ coefficients.T + intercept``.
    sharpness : ndarray of shape (n_problems,)
        Inverse temperature of the softmax over the scores of each problem.
    left_out : ndarray of shape (n_rows, n_classes), or None
        Class distributions of rows of the training set by models fitted without them, if wanted.
    """

    problems: slice
    coefficients: NDArray[np.float64]
    intercept: NDArray[np.float64]
    sharpness: NDArray[np.float64]
    left_out: NDArray[np.float64] | None


class ClassRidge:
    """One table, scaled and factorised, in which classification problems are solved.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    codes : int32 array of shape (n_problems, n)
        The class of every row in every problem.
    offsets : int64 array of shape (n_problems + 1,)
        The classes of problem ``p`` are ``offsets[p]:offsets[p + 1]``.
    settings : Settings
    weights : ndarray of shape (n,), optional
        Of the rows, above 0; all 1 by default.
    leave_out : bool
        Whether leave-one-out predictions are wanted beyond the few that tune temperatures.

    Attributes
    ----------
    kernel : Kernel
    ridge : float
    rows : ndarray
        The training rows that have leave-one-out predictions.
    """

    def __init__(
        self,
        X: Any,
        codes: NDArray[np.int32],
        offsets: NDArray[np.int64],
        settings: Settings,
        *,
        weights: NDArray[np.float64] | None = None,
        leave_out: bool = True,
    ) -> None:
        self.codes, self.offsets = codes, offsets
        self.scaling = FeatureScaling(settings.scale).fit(X, weights)
        scaled = self.scaling.transform(X)
        # Made only if there is something to choose.
        choice = cache(lambda: _Choice(codes, offsets, weights, settings.seed))
        self.kernel = _choose_kernel(scaled, weights, choice, settings)
        self.map, self.system = _factorise(scaled, weights, self.kernel, settings)
        if settings.alpha is None:
            self.ridge, _ = choice().best_ridge(self.system, RIDGES)
        else:
            self.ridge = settings.alpha
        self.leave_out = leave_out
        self.rows = _left_out_rows(codes.shape[1], int(offsets[-1]), leave_out, settings.seed)

    def solutions(self) -> Iterator[Solution]:
        """Yield all problems, solved, in blocks of bounded memory."""
        smoother = self.system.smoother(self.ridge, self.rows)
        weights = self.system.weights
        for problems in problem_blocks(self.offsets, max(1, BLOCK_NUMBERS // len(self.rows))):
            offsets = self.offsets[problems.start : problems.stop + 1]
            codes = self.codes[problems]
            counts = class_counts(codes, offsets, weights)
            coefficients, scores = smoother.solve(codes, offsets, counts)
            own = np.ascontiguousarray(codes[:, self.rows])
            leave_one_out(scores, smoother.leverage, own, offsets)
            few = slice(TEMPERATURE_ROWS)
            of_few = weights[self.rows[few]]
            sharpness = best_sharpness(scores[few], own[:, few], offsets, of_few, FINE)
            if self.leave_out:
                softmax_columns(scores, offsets, sharpness)
            intercept = counts / self.system.total - coefficients @ self.system.centre
            left_out = scores if self.leave_out else None
            yield Solution(problems, coefficients, intercept, sharpness, left_out)

    @property
    def n_features(self) -> int:
        """Number of features that coefficients are for."""
        return len(self.system.centre)

    @property
    def chosen(self) -> tuple[str, tuple[float, ...], float]:
        """The kernel, its gammas and the ridge."""
        name = "linear" if self.kernel.is_linear else "rbf"
        return name, self.kernel.gammas, self.ridge

    def for_prediction(self) -> FeatureMap:
        """Return what prediction needs: scaling and kernel, without the factorised system."""
        return FeatureMap(self.scaling, self.map)


@dataclass(frozen=True)
class FeatureMap:
    """From new rows to what coefficients are multiplied by."""

    scaling: FeatureScaling
    map: IdentityMap | KernelMap

    def transform(self, X: Any) -> Any:
        """Return what the coefficients are multiplied by, for new rows."""
        return self.map.transform(self.scaling.transform(X))


class _Choice:
    """Leave-one-out on some rows and problems, to compare systems and ridges by."""

    def __init__(
        self,
        codes: NDArray[np.int32],
        offsets: NDArray[np.int64],
        weights: NDArray[np.float64] | None,
        seed: int,
    ) -> None:
        self.rows = _sample(codes.shape[1], CHOICE_ROWS, seed)
        weights = np.ones(codes.shape[1]) if weights is None else weights
        self.weights = weights[self.rows]
        sizes = np.diff(offsets)
        order = np.random.default_rng(seed).permutation(len(sizes))
        kept = np.sort(order[: max(1, int((np.cumsum(sizes[order]) <= CHOICE_CLASSES).sum()))])
        self.codes = np.ascontiguousarray(codes[kept])
        self.offsets = np.concatenate([[0], np.cumsum(sizes[kept])])
        self.own = np.ascontiguousarray(self.codes[:, self.rows])
        self.counts = class_counts(self.codes, self.offsets, weights)

    def best_ridge(self, system: RidgeSystem, ridges: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ridge with the least Brier score, and that score."""
        basis = system.basis(self.rows)
        projected = system.project(system.class_sums(self.codes, self.offsets, self.counts))
        unit = max(float(system.eigenvalues.sum()) / system.total, np.finfo(np.float64).tiny)
        scores = [self._score(system, basis, projected, ridge * unit) for ridge in ridges]
        best = int(np.argmin(scores))
        return float(ridges[best] * unit), scores[best]

    def _score(self, system, basis, projected, ridge):
        scores = (basis * system.gain(ridge)) @ projected.T + self.counts / system.total
        leverage = system.leverage(basis, self.rows, ridge)
        leave_one_out(scores, leverage, self.own, self.offsets)
        sharpness = best_sharpness(scores, self.own, self.offsets, self.weights, COARSE)
        softmax_columns(scores, self.offsets, sharpness)
        return brier_score(scores, self.own, self.offsets, self.weights)


def _choose_kernel(
    X: Any,
    weights: NDArray[np.float64] | None,
    choice: Callable[[], _Choice],
    settings: Settings,
) -> Kernel:
    """Return the kernel that the settings name, or the best as seen from some landmarks."""
    if settings.kernel == "linear":
        return Kernel()
    if settings.gammas is not None and settings.kernel == "rbf":
        return Kernel(settings.gammas)
    landmarks = X[_sample(X.shape[0], SKETCH_LANDMARKS, settings.seed)]
    if settings.gammas is not None:
        kernels = [Kernel(settings.gammas)]
    else:
        median = median_distance(landmarks)
        gammas = tuple(0.5 / (width * median) ** 2 for width in WIDTHS)
        kernels = [Kernel(gammas), *(Kernel((gamma,)) for gamma in gammas)]
    if settings.kernel == "auto":
        kernels.append(Kernel())
    scores = [
        choice().best_ridge(nystroem_system(X, kernel, weights, landmarks)[1], RIDGES[::2])[1]
        for kernel in kernels
    ]
    return kernels[int(np.argmin(scores))]


def _factorise(
    X: Any, weights: NDArray[np.float64] | None, kernel: Kernel, settings: Settings
) -> tuple[IdentityMap | KernelMap, RidgeSystem]:
    n, d = X.shape
    if min(n, d if kernel.is_linear else n) <= EXACT_ROWS:
        return exact_system(X, kernel, weights)
    landmarks = X[_sample(n, settings.n_landmarks, settings.seed)]
    return nystroem_system(X, kernel, weights, landmarks)


def _sample(n: int, most: int, seed: int) -> NDArray[np.int64]:
    """Return `most` of the rows at random, ascending; all of them if there are no more.

    The same whatever else is drawn, so that one problem alone is treated like one of many.
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _left_out_rows(n: int, n_classes: int, many: bool, seed: int) -> NDArray[np.int64]:
    """Return the rows to leave out, those that tune temperatures first."""
    if n <= TEMPERATURE_ROWS:
        return np.arange(n)
    most = min(LEAVE_OUT_ROWS, LEAVE_OUT_NUMBERS // n_classes) if many else 0
    return np.random.default_rng(seed).permutation(n)[: max(TEMPERATURE_ROWS, most)]


def problem_blocks(offsets: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Yield slices of problems with no more than `most` classes (or one problem) each."""
    start = 0
    while start < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[start] + most, side="right")) - 1
        stop = max(stop, start + 1)
        yield slice(start, stop)
        start = stop
