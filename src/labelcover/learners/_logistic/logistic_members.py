"""Logistic regressions of many problems on one sparse table, fitted together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners._features import numeric
from labelcover.learners._forest.grown_forest import in_threads
from labelcover.learners._least_squares.feature_scaling import ColumnSums, FeatureScaling
from labelcover.learners._least_squares.score_parts import LinearSwaps
from labelcover.learners._logistic.newton import Block, class_distributions, linear_scores
from labelcover.learners._problems import Members, Problems, problem_blocks

# Columns of coefficients that are solved side by side.
BLOCK_COLUMNS = 32
# The search for C starts here (rows of length one, weights of mean one), takes these steps, and
# looks at no more columns than these.
FIRST_C, C_STEP = 3.0, 10.0**0.5
LEAST_C, MOST_C = 1e-3, 1e5
CHOICE_COLUMNS = 128


@dataclass(eq=False)
class LogisticMembers(Members):
    """Logistic regression for every problem: a softmax over linear scores of the classes.

    Attributes
    ----------
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    scaling : FeatureScaling
    kept : ndarray of int64
        The features that are not 0 in all training rows; the others have no coefficients.
    coefficients : ndarray of shape (len(kept) + 1, n_columns)
        The intercepts last. A problem with two classes has one column, one with a single class
        none, any other a column for each class.
    starts : ndarray of shape (n_problems + 1,)
        The columns of problem ``p`` are ``starts[p]:starts[p + 1]``.
    C : float
        The inverse of the ridge, as in scikit-learn.
    path : list of (float, float)
        Each C that was tried, and the log-loss of a row and problem left out.
    """

    has_paths = True

    n_values: NDArray[np.int32]
    scaling: FeatureScaling
    kept: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    offsets: NDArray[np.int64]
    starts: NDArray[np.int64]
    C: float
    path: list[tuple[float, float]]
    _training: NDArray[np.float64] | None

    def __post_init__(self) -> None:
        self.row_width = max(1, self.coefficients.shape[1])

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of all columns for new rows."""
        scaled = sparse.csr_array(self.scaling.transform(numeric(X, self.n_values)))
        return linear_scores(scaled[:, self.kept], self.coefficients)

    def distributions(self, prepared: NDArray[np.float64], problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        chosen = slice(problems.start, problems.stop + 1)
        starts, offsets = self.starts[chosen], self.offsets[chosen]
        scores = np.ascontiguousarray(prepared[:, starts[0] : starts[-1]])
        return class_distributions(scores, starts - starts[0], offsets - offsets[0])

    def paths(self, X: Any, origin: NDArray[np.float64] | None = None) -> "LogisticPaths":
        """Return the scores of new rows as sums over columns; the origin is where all are 0."""
        return LogisticPaths(self, X)

    def left_out(self, problems: slice) -> NDArray[np.float64]:
        """Return the same for the rows left out, by members fitted without their fold."""
        assert self._training is not None
        return self.distributions(self._training, problems)


@dataclass(frozen=True)
class FoldedBlock:
    """Some problems that are solved side by side, with and without folds.

    Attributes
    ----------
    problems : slice
    classes : ndarray of shape (n_problems, n)
    starts : ndarray of shape (n_problems + 1,)
        The columns of each problem, from 0.
    cells : ndarray of shape (n_problems, n), optional
        By what the weights of rows are multiplied in each problem, of one column each.
    X : CSR array
        The scaled table.
    weights : ndarray of shape (n,)
    fold : ndarray of shape (n,)
        In which fold each row is left out.
    tol : float
    """

    problems: slice
    classes: NDArray[np.int32]
    starts: NDArray[np.int64]
    cells: NDArray[np.float64] | None
    X: Any
    weights: NDArray[np.float64]
    fold: NDArray[np.int64]
    tol: float

    def of_rows(self, is_in: NDArray[np.bool_], C: float) -> Block:
        """Return the problems on some rows."""
        weights = self.weights
        if self.cells is not None:
            weights = weights[:, None] * self.cells.T
        if is_in.all():
            return Block(self.X, self.classes, self.starts, weights, 1 / C)
        classes, weights = self.classes[:, is_in], weights[is_in]
        return Block(self.X[is_in], classes, self.starts, weights, 1 / C)

    def tried(self, C: float, start: NDArray[np.float64] | None) -> tuple[NDArray, float]:
        """Return the coefficients without the first fold, and the sum of its log-losses."""
        is_first = self.fold == 0
        found = self._solved(self.of_rows(~is_first, C), start)
        return found, float(self.of_rows(is_first, C).losses(found).sum())

    def fitted(
        self, C: float, start: NDArray[np.float64] | None, *, out_of_fold: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the coefficients by all rows, and the scores of rows left out if asked for.

        `start` are coefficients without the first fold. Those without another fold start anew, as
        what has seen its rows would not forget them in few steps; all rows start from their mean.
        """
        everything = self.of_rows(self.fold >= 0, C)
        if not out_of_fold:
            return self._solved(everything, start), None
        scores, found = np.empty((len(self.fold), int(self.starts[-1]))), []
        for fold in range(int(self.fold.max()) + 1):
            is_left_out = self.fold == fold
            own = self.of_rows(~is_left_out, C)
            found.append(self._solved(own, start if fold == 0 else None))
            scores[is_left_out] = linear_scores(self.X[is_left_out], found[-1])
        return self._solved(everything, np.mean(found, axis=0)), scores

    def _solved(self, block: Block, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
        found = block.null_model(self.X.shape[1]) if start is None else start.copy()
        block.solve(found, self.tol)
        return found


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
    weights = np.ones(n) if problems.weights is None else problems.weights
    fold = np.random.default_rng(seed).permutation(n) % n_folds
    scaled = sparse.csr_array(scaling.transform(numbers))
    kept = np.flatnonzero(np.bincount(scaled.indices, minlength=scaled.shape[1]))
    starts = column_starts(problems.n_classes)
    blocks = _blocks(problems, starts, scaled[:, kept], weights, fold, tol)
    begin: list[NDArray[np.float64] | None] = [None] * len(blocks)
    path: list[tuple[float, float]] = []
    if C is None:
        C, path = _choose_C(blocks, begin, seed, n_jobs)
    coefficients = np.zeros((len(kept) + 1, int(starts[-1])))
    asked = problems.left_out_rows
    out_of_fold = None if asked is None else np.empty((len(asked), int(starts[-1])))
    jobs = (
        delayed(block.fitted)(C, start, out_of_fold=asked is not None)
        for block, start in zip(blocks, begin, strict=True)
    )
    text = f"logistic regressions (C: {C:.3g})"
    found = in_threads(jobs, n_jobs, text=text, verbose=verbose)
    for block, (own, scores) in zip(blocks, found, strict=True):
        columns = slice(starts[block.problems.start], starts[block.problems.stop])
        coefficients[:, columns] = own
        if out_of_fold is not None:
            out_of_fold[:, columns] = scores[asked]
    return LogisticMembers(
        problems.n_values,
        scaling,
        kept,
        coefficients,
        problems.offsets,
        starts,
        C,
        path,
        out_of_fold,
    )


def column_starts(n_classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the columns of each problem start: it has one less than classes, up to two."""
    columns = np.where(n_classes > 2, n_classes, n_classes - 1)
    return np.concatenate([[0], np.cumsum(columns)])


def _blocks(every: Problems, starts: NDArray[np.int64], *table: Any) -> list[FoldedBlock]:
    """Return the problems in blocks of some columns, at least two blocks so that threads help."""
    most = min(BLOCK_COLUMNS, max(1, int(starts[-1] + 1) // 2))
    blocks = []
    for problems in problem_blocks(starts, most):
        own = starts[problems.start : problems.stop + 1]
        cells = None if every.cells is None else every.cells[problems]
        classes = every.classes[problems]
        blocks.append(FoldedBlock(problems, classes, own - own[0], cells, *table))
    return blocks


def _choose_C(
    blocks: list[FoldedBlock],
    begin: list[NDArray[np.float64] | None],
    seed: int,
    n_jobs: int | None,
) -> tuple[float, list[tuple[float, float]]]:
    """Return the C with the least log-loss on the first fold, and the way to it.

    The search goes up while that helps, else down. Where it looked at a block, `begin` becomes
    its coefficients at that C.
    """
    order = np.random.default_rng(seed).permutation(len(blocks))
    seen = np.sort(order[: max(1, CHOICE_COLUMNS // BLOCK_COLUMNS)])
    weights, fold = blocks[0].weights, blocks[0].fold
    columns = sum(int(blocks[b].starts[-1]) for b in seen)
    weight = float(weights[fold == 0].sum()) * max(1, columns)

    def loss(C: float, start: list[Any]) -> tuple[list[Any], float]:
        jobs = [delayed(blocks[b].tried)(C, one) for b, one in zip(seen, start, strict=True)]
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


class LogisticPaths:
    """What columns add to the scores of logistic members; what all `ScorePaths` have.

    The part of a column is 0 where the scaled column is 0, such as where a word is absent.

    Parameters
    ----------
    members : LogisticMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.
    """

    def __init__(self, members: LogisticMembers, X: Any) -> None:
        self.members = members
        self.table = sparse.csr_array(members.scaling.transform(numeric(X, members.n_values)))
        self.prepared = linear_scores(self.table[:, members.kept], members.coefficients)
        # Where the coefficients of each column of the table are; the last row of them is 0.
        self.place = np.full(self.table.shape[1], len(members.kept))
        self.place[members.kept] = np.arange(len(members.kept))
        self.weights = members.coefficients.copy()
        self.weights[-1] = 0.0
        words = members.scaling.divided_columns(self.table.shape[1])
        self.swaps = LinearSwaps(self.table, words)

    def start(self, problem: int) -> NDArray[np.float64]:
        """Return the scores of the classes of a problem where all parts are 0."""
        return self._of_classes(problem, self.members.coefficients[-1:])[0]

    def scores(self, problem: int, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the scores of the classes of a problem for some of the rows."""
        return self._of_classes(problem, self.prepared[rows])

    def parts(
        self, rows: NDArray[np.int64], slopes: list[tuple[int, NDArray[np.float64]]]
    ) -> sparse.csr_array:
        """Return what columns add to a sum of scores, each class times a slope."""
        of_columns = np.zeros((len(rows), self.weights.shape[1]))
        for problem, own in slopes:
            columns = self._columns(problem)
            # Of two classes, only the second has coefficients.
            of_columns[:, columns] += own[:, own.shape[1] - (columns.stop - columns.start) :]
        used = np.flatnonzero(of_columns.any(axis=0))
        return self.swaps.parts(rows, of_columns[:, used], self.weights[:, used][self.place].T)

    def bends(self, rows: Any, problem: int, sides: Any, by: Any, least: float) -> Any:
        """Return what log-odds of two classes add to parts of their scores, as `ScorePaths`."""
        weights = sides[1] * self.weights[self.place, self._columns(problem).start]
        return self.swaps.bends(rows, weights, float(sides @ self.start(problem)), by, least)

    def _columns(self, problem: int) -> slice:
        return slice(*self.members.starts[problem : problem + 2].tolist())

    def _of_classes(self, problem: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of all classes from those of the columns of coefficients."""
        own = scores[:, self._columns(problem)]
        n_classes = int(np.diff(self.members.offsets[problem : problem + 2])[0])
        return np.pad(own, ((0, 0), (n_classes - own.shape[1], 0)))
