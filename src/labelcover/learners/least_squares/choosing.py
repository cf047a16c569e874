"""What least squares chooses by itself: the scale, the kernel, its width, and the ridge.

Everything is chosen by leave-one-out predictions, which a factorised system gives without
refitting, on a sample of rows and problems where there are many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners.least_squares.class_kernels import (
    best_inverse_temperatures,
    combine_targets,
    softmax_columns,
)
from labelcover.learners.least_squares.feature_maps import (
    IdentityMap,
    Kernel,
    KernelMap,
    exact_system,
    median_distance,
    nystroem_system,
)
from labelcover.learners.least_squares.feature_scaling import (
    FeatureScaling,
    has_sparse_numbers,
    rows_have_one_length,
)
from labelcover.learners.least_squares.ridge_systems import RidgeSystem
from labelcover.learners.linear_targets import LinearTargets
from labelcover.learners.problems import Problems

# Up to this many rows (or features, for the linear kernel) nothing is approximated.
EXACT_ROWS = 4_000
# And up to this many where only predictions for rows left out are wanted; choices then look at
# half of the rows, and at every other ridge.
QUICK_EXACT_ROWS = 1_000
QUICK_CHOICE_ROWS = 512
# Kernels are compared on a Nyström approximation with so many landmarks.
SKETCH_LANDMARKS = 300
# Widths of the Gaussian kernels that are compared, each and their mean, in median distances.
WIDTHS = (0.5, 1.0, 2.0)
# Ridges that are compared, in mean squared lengths of a centred row.
RIDGES = 10.0 ** np.arange(-3, 2.1, 0.5)
# The choice of kernel and ridge looks at no more rows and classes than these.
CHOICE_ROWS = 1_024
CHOICE_CLASSES = 256
# Scalings are compared on no more rows than these, without approximation: in wide text a Nyström
# approximation loses more with some scalings than with others.
SCALE_ROWS = 512
# The last relative step of temperatures in the choice. What is left is about its square, far less
# than what some hundred rows can tell.
COARSE = 1e-1


@dataclass(frozen=True)
class Settings:
    """The parameters of least squares; None means: choose.

    With `quick`, fewer rows are solved without approximation and fewer kernels compared.
    """

    kernel: str = "auto"
    gammas: tuple[float, ...] | None = None
    alpha: float | None = None
    scale: str = "auto"
    n_landmarks: int = 1_000
    seed: int = 0
    quick: bool = False


class Choice:
    """Leave-one-out on some rows and problems, to compare systems and ridges by.

    Attributes
    ----------
    rows : ndarray
        The rows that are looked at.
    n_classes : int
        How many classes of how many problems are looked at.
    """

    def __init__(self, X: Any, problems: Problems, settings: Settings) -> None:
        self.X, self.problems, self.settings = X, problems, settings
        most = QUICK_CHOICE_ROWS if settings.quick else CHOICE_ROWS
        self.rows = sample(problems.classes.shape[1], most, settings.seed)

    @cached_property
    def _seen(self) -> Problems:
        """Some of the problems, with all rows."""
        sizes = self.problems.n_classes
        order = np.random.default_rng(self.settings.seed).permutation(len(sizes))
        few = max(1, int((np.cumsum(sizes[order]) <= CHOICE_CLASSES).sum()))
        kept = np.sort(order[:few])
        offsets = np.concatenate([[0], np.cumsum(sizes[kept])])
        weights = self.problems.weights
        if weights is None:
            weights = np.ones(self.problems.classes.shape[1])
        classes = np.ascontiguousarray(self.problems.classes[kept])
        targets = LinearTargets.of_classes(classes, offsets)
        return replace(
            self.problems, classes=classes, offsets=offsets, weights=weights, targets=targets
        )

    def kernel(self) -> Kernel:
        """Return the kernel that the settings name, or the best on a Nyström approximation."""
        landmarks = self.X[sample(self.X.shape[0], SKETCH_LANDMARKS, self.settings.seed)]
        kernels = self._kernels(landmarks)
        if len(kernels) == 1:
            return kernels[0]
        weights = self.problems.weights
        scores = [
            self._best_ridge(nystroem_system(self.X, kernel, weights, landmarks)[1], RIDGES[::2])[1]
            for kernel in kernels
        ]
        return kernels[int(np.argmin(scores))]

    def brier_score(self) -> float:
        """Return the least Brier score of some kernels and ridges, without approximation."""
        # The mean of the Gaussians and the linear kernel, if the settings leave the choice.
        kernels = self._kernels(self.X)
        weights, alpha = self.problems.weights, self.settings.alpha
        scores = []
        for kernel in dict.fromkeys((kernels[0], kernels[-1])):
            _, system = exact_system(self.X, kernel, weights)
            ridges = RIDGES[::2] if alpha is None else np.array([alpha / ridge_unit(system)])
            scores.append(self._best_ridge(system, ridges)[1])
        return min(scores)

    def _kernels(self, landmarks: Any) -> list[Kernel]:
        """Return the kernels that the settings allow, the linear one last."""
        settings = self.settings
        if settings.kernel == "linear":
            return [Kernel()]
        if settings.gammas is not None:
            kernels = [Kernel(settings.gammas)]
        else:
            median = median_distance(landmarks)
            gammas = tuple(0.5 / (width * median) ** 2 for width in WIDTHS)
            kernels = [Kernel(gammas)]
            if not settings.quick:
                kernels += [Kernel((gamma,)) for gamma in gammas]
        return [*kernels, Kernel()] if settings.kernel == "auto" else kernels

    def ridge(self, system: RidgeSystem) -> float:
        """Return the ridge that the settings name, or the best."""
        if self.settings.alpha is not None:
            return self.settings.alpha
        return self._best_ridge(system, RIDGES[::2] if self.settings.quick else RIDGES)[0]

    def _best_ridge(self, system: RidgeSystem, ridges: NDArray[np.float64]) -> tuple[float, float]:
        """Return the ridge with the least Brier score, and that score."""
        seen, rows = self._seen, self.rows
        assert seen.targets is not None
        holds, combination = seen.targets.holds, seen.targets.combination
        counts = holds @ seen.weights
        own = np.ascontiguousarray(seen.classes[:, rows])
        columns = own_columns(own, seen.offsets)
        basis = system.basis(rows)
        projected = system.project(system.target_sums(holds, counts))
        unit = ridge_unit(system)
        weights = system.weights[rows]

        def score(ridge: float) -> float:
            of_targets = (basis * system.gain(ridge)) @ projected.T + counts / system.total
            scores = combine_targets(of_targets, *combination)
            leave_one_out(scores, system.leverage(basis, rows, ridge), columns)
            found = best_inverse_temperatures(scores, own, seen.offsets, weights, COARSE)
            softmax_columns(scores, seen.offsets, found)
            return brier_score(scores, columns, weights)

        scores = [score(ridge * unit) for ridge in ridges]
        best = int(np.argmin(scores))
        return float(ridges[best] * unit), scores[best]


def choose_scaling(X: Any, problems: Problems, settings: Settings) -> tuple[FeatureScaling, int]:
    """Return the scaling that the settings name, or the best, and on how many rows it was chosen.

    Only numbers that are mostly 0, such as counts of words and TF-IDF, leave a choice (else the
    number of rows is 0). Divided by its deviation, a rare word would count more than a common one.
    """
    weights = problems.weights
    if settings.scale != "auto":
        return FeatureScaling(settings.scale).fit(X, weights), 0
    standard = FeatureScaling("standard").fit(X, weights)
    if not has_sparse_numbers(X, standard.rare.binary):
        return standard, 0
    scalings = [standard, FeatureScaling("none")]
    if not rows_have_one_length(X):
        scalings.append(FeatureScaling("rows").fit(X, weights))
    rows = sample(X.shape[0], SCALE_ROWS, settings.seed)
    few = replace(
        problems,
        classes=np.ascontiguousarray(problems.classes[:, rows]),
        weights=None if weights is None else weights[rows],
    )
    scores = [
        Choice(scaling.transform(X[rows]), few, settings).brier_score() for scaling in scalings
    ]
    return scalings[int(np.argmin(scores))], len(rows)


def factorise(
    X: Any, weights: NDArray[np.float64] | None, kernel: Kernel, settings: Settings
) -> tuple[IdentityMap | KernelMap, RidgeSystem]:
    """Return the features of `X` and their ridge system, approximated where rows are many."""
    n, d = X.shape
    exact = QUICK_EXACT_ROWS if settings.quick else EXACT_ROWS
    if min(n, d if kernel.is_linear else n) <= exact:
        return exact_system(X, kernel, weights)
    numbers = sample(n, settings.n_landmarks, settings.seed)
    mapped, system = nystroem_system(X, kernel, weights, X[numbers])
    mapped.numbers = numbers
    return mapped, system


def ridge_unit(system: RidgeSystem) -> float:
    """Return the mean squared length of a centred row, which ridges are multiples of."""
    return max(float(system.eigenvalues.sum()) / system.total, np.finfo(np.float64).tiny)


def own_columns(classes: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each row has the scores of its own classes, ``(n_rows, n_problems)``."""
    return classes.T + (offsets[:-1] - offsets[0])


def leave_one_out(
    scores: NDArray[np.float64], leverage: NDArray[np.float64], own: NDArray[np.int64]
) -> None:
    """Turn fitted scores into leave-one-out scores in place.

    With a linear smoother of leverage ``h`` the residual without the row is the residual divided
    by ``1 - h``; the target of the row's own class is 1, of the others 0.
    """
    factor = 1 / np.maximum(1 - leverage, 1e-12)
    scores *= factor[:, None]
    scores[np.arange(len(scores))[:, None], own] += (1 - factor)[:, None]


def brier_score(
    probabilities: NDArray[np.float64], own: NDArray[np.int64], weights: NDArray[np.float64]
) -> float:
    """Return the weighted mean over rows of the squared distances to the one-hot classes."""
    of_own = np.take_along_axis(probabilities, own, axis=1)
    rows = np.einsum("ij,ij->i", probabilities, probabilities) + (1 - 2 * of_own).sum(axis=1)
    return float(np.average(rows, weights=weights))


def sample(n: int, most: int, seed: int) -> NDArray[np.int64]:
    """Return `most` of the rows at random, ascending; all of them if there are no more.

    The same whatever else is drawn, so that one problem alone is treated like one of many.
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
