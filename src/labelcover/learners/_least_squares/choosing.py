"""What least squares chooses by itself: the scale, the kernel, its width, and the ridge.

Everything is chosen by leave-one-out predictions, which a factorised system gives without
refitting, on a sample of rows and problems where there are many.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover.learners._chunked_table import Blocks, TableBlock
from labelcover.learners._least_squares.class_kernels import left_out_temperatures
from labelcover.learners._least_squares.known_cells import KnownSystem
from labelcover.learners._least_squares.ridge_systems import (
    DualSystem,
    PrimalSystem,
    RidgeSystem,
)
from labelcover.learners._least_squares.scaled_features import (
    FeatureScaling,
    Kernel,
    KernelMap,
    landmark_combination,
    median_distance,
    sums_of_block,
)
from labelcover.learners._problems import Problems
from labelcover.learners._products import inner_products, squared_lengths

# Up to this many rows nothing is approximated, nor with so few features in the linear kernel.
EXACT_ROWS = 4_000
# And up to this many where only predictions for rows left out are wanted.
QUICK_EXACT_ROWS = 1_000
QUICK_LANDMARKS = 500
# Where the ridge is searched for in the Gaussian kernel, nothing is approximated up to so many rows
# only, and up to so many rows for each landmark.
QUICK_ROWS, ROWS_FOR_LANDMARK = 2_000, 1.5
# Landmarks are twice as many where those of the sketch are crowded: where the effective dimension
# of the sketch, the sum of its leverages, is more than this share of their number.
CROWDED = 0.6
# Kernels are compared on a Nyström approximation, the sketch, of so many rows with so many
# landmarks.
SKETCH_ROWS = 2_048
SKETCH_LANDMARKS = 300
# Widths of the Gaussian kernels that are compared, each and their mean, in median distances.
WIDTHS = (0.5, 1.0, 2.0)
# Ridges that are compared, in mean squared lengths of a centred row; the sketch sees every second.
RIDGES = 10.0 ** np.arange(-3, 2.1, 0.5)
FIRST_RIDGE = 6
# With so many rows for each feature, and an effective dimension of so great a share of the
# features, the ridge is as good as none: no smaller one is tried.
MANY_ROWS, FULL = 2, 0.95
# The choice of kernel and ridge looks at no more rows and classes than these.
CHOICE_ROWS = 512
CHOICE_CLASSES = 256
# Scalings are compared on no more rows than these, without approximation: in wide text a Nyström
# approximation loses more with some scalings than with others.
SCALE_ROWS = 512
# The last relative step of temperatures in the choice. What is left is about its cube, far less
# than what some hundred rows can tell.
COARSE = 0.2


@dataclass(frozen=True)
class Settings:
    """The parameters of least squares; None means: choose."""

    kernel: str = "auto"
    gammas: tuple[float, ...] | None = None
    alpha: float | None = None
    scale: str = "auto"
    n_landmarks: int = 1_000
    seed: int = 0


class Chosen(NamedTuple):
    """The best ridge, its number in `RIDGES`, its Brier score, and the effective dimension."""

    ridge: float
    number: int
    score: float
    dimension: float


class Judge:
    """Leave-one-out Brier scores of some rows and problems, to compare systems and ridges by."""

    def __init__(self, problems: Problems, rows: NDArray[np.int64]) -> None:
        self.problems, self.rows, self.targets = problems, rows, problems.targets
        self.own = np.ascontiguousarray(problems.classes[:, rows])

    def score(
        self, system: RidgeSystem | KnownSystem, posed: Any, ridge: float
    ) -> tuple[float, float]:
        """Return the Brier score of a system at a ridge, and its effective dimension."""
        solved, weights = system.solve(posed, ridge, coarse=True), system.weights
        _, total = left_out_temperatures(
            np.ascontiguousarray(solved.scores),
            self.targets.combination,
            solved.leverage,
            self.own,
            self.problems.offsets,
            self.problems.cell_weights(weights, self.rows),
            COARSE,
        )
        return total / weights[self.rows].sum(), float(solved.leverage.mean()) * len(weights)

    def best_ridge(
        self, system: RidgeSystem | KnownSystem, start: int = FIRST_RIDGE, step: int = 1
    ) -> Chosen:
        """Return the best of `RIDGES`, downhill from number `start` by `step`.

        The score as a function of the ridge has one valley.
        """
        width = len(system.matrix)
        most = FULL * width if len(system.weights) >= MANY_ROWS * width else np.inf
        posed = system.pose(self.targets, self.rows)
        known: dict[int, Chosen] = {}

        def value(number: int) -> float:
            if not 0 <= number < len(RIDGES):
                return np.inf
            if number not in known:
                ridge = RIDGES[number] * system.unit
                known[number] = Chosen(ridge, number, *self.score(system, posed, ridge))
            return known[number].score

        at = start
        # More features want a smaller ridge, so that is tried first.
        for direction in (-step, step):
            while value(at + direction) < value(at):
                at += direction
                if direction < 0 and known[at].dimension > most:
                    break
            if at != start:
                break
        return known[at]


def chosen_system(X: Blocks, problems: Problems, settings: Settings) -> tuple[RidgeSystem, float]:
    """Return the ridge system of all rows, and the ridge.

    Kernel and ridge are those that are best by leave-one-out, unless the settings name them.
    """
    n, d = X.shape
    sketched = sample(n, SKETCH_ROWS, settings.seed)
    judged = sample(len(sketched), CHOICE_ROWS, settings.seed)
    seen = some_problems(problems, settings.seed)
    kernel, found = _chosen_kernel(X, seen, sketched, judged, settings)
    n_landmarks = settings.n_landmarks
    if problems.quick:
        n_landmarks = min(n_landmarks, QUICK_LANDMARKS)
    most = QUICK_EXACT_ROWS if problems.quick else EXACT_ROWS
    if found is not None and found.dimension > CROWDED * SKETCH_LANDMARKS:
        n_landmarks *= 2
    if not kernel.is_linear and settings.alpha is None:
        most = min(most, max(QUICK_ROWS, int(ROWS_FOR_LANDMARK * n_landmarks)))
    is_exact = min(n, d if kernel.is_linear else n) <= most
    landmarks = None if is_exact else sample(n, n_landmarks, settings.seed)
    system = ridge_system(X, kernel, problems, landmarks)
    if settings.alpha is not None:
        return system, settings.alpha
    # Few landmarks hold little of a line through many features, and want a smaller ridge.
    start = FIRST_RIDGE if found is None or kernel.is_linear else found.number
    return system, Judge(seen, sketched[judged]).best_ridge(system, start).ridge


def _chosen_kernel(
    X: Blocks,
    seen: Problems,
    sketched: NDArray[np.int64],
    judged: NDArray[np.int64],
    settings: Settings,
) -> tuple[Kernel, Chosen | None]:
    """Return the kernel that the settings name, or the best, and its ridge on the sketch."""
    if settings.kernel == "linear":
        return Kernel(), None
    if settings.kernel == "rbf" and settings.gammas is not None:
        return Kernel(settings.gammas), None
    # A Nyström approximation of some rows, the sketch.
    rows, judge = X[sketched], Judge(rows_of_problems(seen, sketched), judged)
    landmarks = sample(len(sketched), SKETCH_LANDMARKS, settings.seed)
    squares, weights = squared_lengths(rows), judge.problems.weights
    products = inner_products(rows, rows[landmarks])

    def best_ridge(kernel: Kernel, start: int) -> Chosen:
        values = products.copy()
        kernel.from_products(values, squares, squares[landmarks])
        mapped = KernelMap(Kernel(), combine=landmark_combination(values[landmarks]))
        table = TableBlock(values, weights)
        return judge.best_ridge(PrimalSystem(table, judge.targets, mapped, weights), start, step=2)

    best, *widths = gaussian_kernels(rows[landmarks], settings)
    found = best_ridge(best, FIRST_RIDGE)
    if settings.kernel == "auto":
        linear = best_ridge(Kernel(), FIRST_RIDGE)
        # The wider a Gaussian, the more linear: where a line is better than the mean of all widths,
        # a wide one alone is hardly better than the line, which is solved faster.
        if linear.score < found.score:
            return Kernel(), linear
    for kernel in [] if seen.quick else reversed(widths):
        tried = best_ridge(kernel, found.number)
        if tried.score < found.score:
            best, found = kernel, tried
    return best, found


def gaussian_kernels(X: Any, settings: Settings) -> list[Kernel]:
    """Return the Gaussian kernels that the settings allow: the mean of all widths, then each."""
    if settings.gammas is not None:
        return [Kernel(settings.gammas)]
    median = median_distance(X)
    gammas = tuple(0.5 / (width * median) ** 2 for width in WIDTHS)
    return [Kernel(gammas), *(Kernel((gamma,)) for gamma in gammas)]


def least_brier_score(X: Any, problems: Problems, settings: Settings) -> float:
    """Return the least Brier score of some kernels and ridges, without approximation."""
    kernels = [] if settings.kernel == "linear" else gaussian_kernels(X, settings)[:1]
    if settings.kernel != "rbf":
        kernels.append(Kernel())
    judge = Judge(some_problems(problems, settings.seed), np.arange(X.shape[0]))
    scores = []
    for kernel in kernels:
        system = ridge_system(TableBlock(X, problems.weights), kernel, judge.problems)
        if settings.alpha is None:
            scores.append(judge.best_ridge(system, step=2).score)
        else:
            posed = system.pose(judge.targets, judge.rows)
            scores.append(judge.score(system, posed, settings.alpha)[0])
    return min(scores)


def some_problems(problems: Problems, seed: int) -> Problems:
    """Return some of the problems, with all rows and with targets of their own."""
    sizes = problems.n_classes
    order = np.random.default_rng(seed).permutation(len(sizes))
    few = max(1, int((np.cumsum(sizes[order]) <= CHOICE_CLASSES).sum()))
    kept = np.sort(order[:few])
    offsets = np.concatenate([[0], np.cumsum(sizes[kept])])
    of_kept = np.repeat(problems.offsets[kept] - offsets[:-1], sizes[kept])
    targets = problems.targets.of_some(of_kept + np.arange(offsets[-1]))
    classes = problems.classes[kept]
    cells = None if problems.cells is None else problems.cells[kept]
    return replace(problems, classes=classes, offsets=offsets, targets=targets, cells=cells)


def rows_of_problems(problems: Problems, rows: NDArray[np.int64]) -> Problems:
    """Return the problems with some of the rows."""
    if len(rows) == problems.classes.shape[1]:
        return problems
    return replace(
        problems,
        classes=np.ascontiguousarray(problems.classes[:, rows]),
        weights=None if problems.weights is None else problems.weights[rows],
        targets=problems.targets.of_rows(rows),
        cells=None if problems.cells is None else problems.cells[:, rows],
    )


def choose_scaling(X: Blocks, problems: Problems, settings: Settings) -> tuple[FeatureScaling, int]:
    """Return the scaling that the settings name, or the best, and on how many rows it was chosen.

    Only numbers that are mostly 0, such as counts of words and TF-IDF, leave a choice (else the
    number of rows is 0). Divided by its deviation, a rare word would count more than a common one.
    """
    scale = settings.scale
    if scale == "none":
        return FeatureScaling(scale), 0
    sums, scales = X.reduce(sums_of_block), ["standard" if scale == "auto" else scale]
    if scale == "auto" and sums.has_sparse_numbers:
        scales += ["none"] if sums.rows_have_one_length else ["none", "rows"]
    scalings = [FeatureScaling(each).set(sums) for each in scales]
    if len(scalings) == 1:
        return scalings[0], 0
    rows = sample(X.shape[0], SCALE_ROWS, settings.seed)
    few = rows_of_problems(problems, rows)
    scores = [least_brier_score(each.transform(X[rows]), few, settings) for each in scalings]
    return scalings[int(np.argmin(scores))], len(rows)


def ridge_system(
    X: Blocks, kernel: Kernel, problems: Problems, landmarks: NDArray[np.int64] | None = None
) -> RidgeSystem:
    """Return the system of all rows, with a Nyström approximation if some rows are landmarks.

    Else it is primal if that is smaller.
    """
    if landmarks is not None:
        rows = X[landmarks]
        mapped = KernelMap(kernel, rows)
        mapped.combine = landmark_combination(mapped.values(rows, alone=False))
    elif kernel.is_linear and X.shape[1] < X.shape[0]:
        mapped = KernelMap(kernel)
    else:
        return DualSystem(KernelMap(kernel, X[np.arange(X.shape[0])]), problems.weights)
    return PrimalSystem(X, problems.targets, mapped, problems.weights)


def sample(n: int, most: int, seed: int) -> NDArray[np.int64]:
    """Return `most` of the rows at random, ascending; all of them if there are no more.

    The same whatever else is drawn, so that one problem alone is treated like one of many.
    """
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
