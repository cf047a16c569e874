"""Logistic regressions of many problems on one sparse table, fitted together."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners._features import numeric, one_hot_columns
from labelcover.learners._forest.grown_forest import in_threads
from labelcover.learners._least_squares.scaled_features import ColumnSums, FeatureScaling
from labelcover.learners._least_squares.softmax_members import (
    NO_LEVERAGE,
    ScorePaths,
    SoftmaxMembers,
)
from labelcover.learners._logistic.newton import Block, linear_scores
from labelcover.learners._problems import Problems, problem_blocks

# Columns of coefficients that are solved side by side.
BLOCK_COLUMNS = 32
# The search for C starts here (rows of length one, weights of mean one), takes these steps, and
# looks at no more columns than these.
FIRST_C, C_STEP = 3.0, 10.0**0.5
LEAST_C, MOST_C = 1e-3, 1e5
CHOICE_COLUMNS = 128


@dataclass(eq=False)
class LogisticMembers(SoftmaxMembers):
    """Logistic regression for every problem: a softmax over linear scores of the classes.

    Attributes
    ----------
    kept : ndarray of int64
        The features that are not 0 in all training rows; the others have no coefficients.
    coefficients : ndarray of shape (len(kept) + 1, n_columns)
        The intercepts last. A problem with two classes has one column, one with a single class
        none, any other a column for each class.
    C : float
        The inverse of the ridge, as in scikit-learn.
    path : list of (float, float)
        Each C that was tried, and the log-loss of a row and problem left out.
    """

    n_values: NDArray[np.int32]
    scaling: FeatureScaling
    kept: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    offsets: NDArray[np.int64]
    C: float
    path: list[tuple[float, float]]

    def __post_init__(self) -> None:
        self.intercept = self.coefficients[-1]
        self.row_width = max(1, len(self.intercept))
        self.inverse_temperature = np.ones(len(self.offsets) - 1)
        starts, columns = column_starts(self.offsets), np.arange(len(self.intercept))
        self.combination = starts, columns, np.ones(len(columns)), np.zeros(len(starts) - 1)

    def scaled(self, X: Any) -> Any:
        """Return new rows on the scale of training, sparse."""
        return sparse.csr_array(super().scaled(X))

    def scores_of_scaled(self, scaled: Any) -> NDArray[np.float64]:
        """Return the scores of all columns for rows on the scale of training."""
        return linear_scores(scaled[:, self.kept], self.coefficients)

    def weights_of(self, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the coefficients of some columns, 0 for features without any."""
        weights = np.zeros((len(targets), len(one_hot_columns(self.n_values)[0])))
        weights[:, self.kept] = self.coefficients[:-1, targets].T
        return weights

    def paths(self, X: Any, origin: NDArray[np.float64] | None = None) -> ScorePaths:
        """Return the scores of new rows as sums over columns; the origin is where all are 0."""
        return ScorePaths(self, X)


def solve(
    X: Any,
    problems: Problems,
    *,
    C: float | None,
    scale: str,
    tol: float,
    n_folds: int,
    seed: int,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> LogisticMembers:
    """Return the members of all problems, solved in blocks of columns; C is chosen if it is None.

    Out-of-sample predictions of a training row are those of members fitted without its fold.
    """
    numbers = numeric(X, problems.n_values)
    n = numbers.shape[0]
    sums = ColumnSums.of_table(numbers, problems.weights)
    if scale == "auto":  # "rows" for text, of mostly zeros
        scale = "rows" if sums.is_sparse or sums.has_sparse_numbers else "standard"
    scaling = FeatureScaling(scale).set(sums)
    fold = np.random.default_rng(seed).permutation(n) % n_folds
    scaled = sparse.csr_array(scaling.transform(numbers))
    kept = np.flatnonzero(np.bincount(scaled.indices, minlength=scaled.shape[1]))
    starts = column_starts(problems.offsets)[problems.offsets]
    weights = np.ones(n) if problems.weights is None else problems.weights
    slices = list(problem_blocks(starts, min(BLOCK_COLUMNS, max(1, int(starts[-1] + 1) // 2))))
    table, blocks = scaled[:, kept], []
    for own in slices:  # at least two, so that threads help
        cells = weights if problems.cells is None else weights[:, None] * problems.cells[own].T
        first = starts[own.start : own.stop + 1]
        blocks.append(Block(table, problems.classes[own], first - first[0], cells))
    begin: list[NDArray[np.float64] | None] = [None] * len(blocks)
    path: list[tuple[float, float]] = []
    if C is None:
        C, path = _choose_C(blocks, begin, (fold, tol), weights, seed, n_jobs)
    asked = problems.left_out_rows
    jobs = (
        delayed(_fitted)(block, fold, tol, C, start, out_of_fold=asked is not None)
        for block, start in zip(blocks, begin, strict=True)
    )
    text = f"logistic regressions (C: {C:.3g})"
    found, scores = zip(*in_threads(jobs, n_jobs, text=text, verbose=verbose), strict=True)
    members = LogisticMembers(
        problems.n_values, scaling, kept, np.hstack(found), problems.offsets, C, path
    )
    if asked is not None:
        no_classes = np.empty((len(problems), 0), dtype=np.int32)
        members._training = no_classes, np.hstack([own[asked] for own in scores]), NO_LEVERAGE
    return members


def column_starts(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many columns are before each class: the first of up to two classes has none."""
    has_column = np.ones(int(offsets[-1]), dtype=bool)
    has_column[offsets[:-1][np.diff(offsets) <= 2]] = False
    return np.concatenate([[0], np.cumsum(has_column)])


def _solved(block: Block, tol: float, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
    found = block.null_model() if start is None else start.copy()
    block.solve(found, tol)
    return found


def _tried(
    block: Block, fold: NDArray[np.int64], tol: float, C: float, start: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], float]:
    """Return the coefficients without the first fold, and the sum of its log-losses."""
    found = _solved(block.of_rows(fold != 0, 1 / C), tol, start)
    return found, float(block.of_rows(fold == 0, 1 / C).losses(found).sum())


def _fitted(block, fold, tol, C, start, *, out_of_fold):
    """Return the coefficients by all rows, and the scores of rows left out if asked for.

    `start` are coefficients without the first fold. Those without another fold start anew, as
    what has seen its rows would not forget them in few steps; all rows start from their mean.
    """
    scores, found = np.empty((len(fold), int(block.starts[-1]))), []
    for number in range(int(fold.max()) + 1 if out_of_fold else 0):
        is_left_out = fold == number
        own = block.of_rows(~is_left_out, 1 / C)
        found.append(_solved(own, tol, None if number else start))
        scores[is_left_out] = linear_scores(block.X[is_left_out], found[-1])
    start = np.mean(found, axis=0) if out_of_fold else start
    return _solved(replace(block, ridge=1 / C), tol, start), scores


def _choose_C(
    blocks: list[Block],
    begin: list[NDArray[np.float64] | None],
    folds: tuple[NDArray[np.int64], float],
    weights: NDArray[np.float64],
    seed: int,
    n_jobs: int | None,
) -> tuple[float, list[tuple[float, float]]]:
    """Return the C with the least log-loss on the first fold, and the way to it.

    The search goes up while that helps, else down. Where it looked at a block, `begin` becomes
    its coefficients at that C.
    """
    order = np.random.default_rng(seed).permutation(len(blocks))
    seen = np.sort(order[: max(1, CHOICE_COLUMNS // BLOCK_COLUMNS)])
    columns = sum(int(blocks[b].starts[-1]) for b in seen)
    weight = float(weights[folds[0] == 0].sum()) * max(1, columns)

    def loss(C: float, start: list[Any]) -> tuple[list[Any], float]:
        pairs = zip(seen, start, strict=True)
        jobs = [delayed(_tried)(blocks[b], *folds, C, one) for b, one in pairs]
        found, losses = zip(*in_threads(jobs, n_jobs), strict=True)
        return list(found), sum(losses) / weight

    best = FIRST_C / float(weights.mean())
    found, least = loss(best, [None] * len(seen))
    path = [(best, least)]
    for step in (C_STEP, 1 / C_STEP):
        while LEAST_C < best * step < MOST_C:
            tried, value = loss(best * step, found)
            path.append((best * step, value))
            if value >= least:
                break
            best, found, least = best * step, tried, value
        if len(path) > 2:
            break
    for b, one in zip(seen, found, strict=True):
        begin[b] = one
    return best, path
