"""Members that are a softmax over linear scores, and what columns add to these: Shapley values.

Columns pass one by one from an origin to the row; what a column changes the score by, averaged over
all orders in which they do, is what it adds, and all of it adds up to the score of the row less
that of the origin [1]. Nothing is sampled: a linear score changes by coefficient times value,
whatever went before, but for the length that rows of words are divided by; in a Gaussian kernel,
columns are factors, of which averages are products.

References
----------
1. L. S. Shapley (1953). A value for n-person games. Contributions to the Theory of Games 2,
   307–317.
"""

from abc import abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import blocks, rows_of
from labelcover.learners._features import numeric
from labelcover.learners._forest.swap_kernels import orders_of, score_bends
from labelcover.learners._least_squares.class_kernels import class_distributions
from labelcover.learners._least_squares.gaussian_part_kernels import add_gaussian_parts
from labelcover.learners._least_squares.scaled_features import FeatureScaling
from labelcover.learners._problems import Members
from labelcover.learners._products import squared_lengths

Floats = NDArray[np.float64]
# Coefficients of so many cells are held at once (32 MB).
BLOCK_NUMBERS = 2**22
# Log-odds are averaged over orders with so many steps of one column.
MOST_STEPS = 2048
# What rows have whose scores are left-out ones already, or that are new: no share in their scores.
NO_LEVERAGE = np.empty(0)


class SoftmaxMembers(Members):
    """A softmax for every problem over combinations of scores that are sums over columns.

    Attributes
    ----------
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    scaling : FeatureScaling
    intercept : ndarray of shape (n_targets,)
    combination : tuple of ndarrays
        What makes scores of classes of those of targets; see `LinearTargets`.
    inverse_temperature : ndarray of shape (n_problems,)
        Probabilities are ``softmax(inverse_temperature * scores)``.
    """

    has_paths = True
    n_values: NDArray[np.int32]
    scaling: FeatureScaling
    intercept: Floats
    combination: tuple[NDArray, NDArray, Floats, Floats]
    inverse_temperature: Floats
    # Of training rows: their classes, ``(n_problems, n_rows)``, the scores of the targets,
    # ``(n_rows, n_targets)``, and each row's share in its own, or `NO_LEVERAGE`.
    _training: tuple[NDArray[np.int32], Floats, Floats] | None = None

    def scaled(self, X: Any) -> Any:
        """Return new rows on the scale of training, nominal features one-hot."""
        return self.scaling.transform(numeric(X, self.n_values))

    def prepare(self, X: Any) -> Floats:
        """Return the scores of the targets for new rows."""
        return self.scores_of_scaled(self.scaled(X))

    @abstractmethod
    def scores_of_scaled(self, scaled: Any) -> Floats:
        """Return the scores of the targets for rows on the scale of training."""

    @abstractmethod
    def weights_of(self, targets: NDArray[np.int64]) -> Floats:
        """Return what `swaps` multiply columns by, or kernel values, for some targets."""

    def swaps(self, scaled: Any, origin: Floats | None) -> "LinearSwaps | GaussianSwaps":
        """Return what columns add to scores where they pass from an origin to rows."""
        words = self.scaling.divided_columns(scaled.shape[1])
        return LinearSwaps(scaled if origin is None else scaled - origin, words)

    def scores(self, prepared: Floats, problems: slice) -> Floats:
        """Return the scores of the classes of some problems side by side."""
        combine, constant = self.combine
        classes = slice(self.offsets[problems.start], self.offsets[problems.stop])
        return prepared @ combine[classes].T + constant[classes]

    @property
    def combine(self) -> tuple[sparse.csr_array, Floats]:
        """The combination as a matrix, ``(n_classes, n_targets)``, and its constant."""
        starts, columns, values, constant = self.combination
        shape = len(constant), len(self.intercept)
        return sparse.csr_array((values, columns, starts), shape=shape), constant

    def paths(self, X: Any, origin: Floats | None = None) -> "ScorePaths":
        """Return the way of new rows from an origin, whose scores are sums over columns."""
        return ScorePaths(self, X, origin)

    def distributions(self, prepared: Any, problems: slice) -> Floats:
        """Return the class distributions of some problems side by side."""
        no_classes = np.empty((len(self.offsets) - 1, 0), dtype=np.int32)
        return self._distributions(problems, no_classes, prepared, NO_LEVERAGE)

    def left_out(self, problems: slice) -> Floats:
        """Return the same for training rows left out."""
        assert self._training is not None
        return self._distributions(problems, *self._training)

    def _distributions(
        self, problems: slice, classes: NDArray[np.int32], prepared: Floats, leverage: Floats
    ) -> Floats:
        offsets = self.offsets[problems.start : problems.stop + 1]
        starts, columns, values, constant = self.combination
        own = slice(offsets[0], offsets[-1])
        return class_distributions(
            np.ascontiguousarray(prepared.T),
            (starts[own.start : own.stop + 1], columns, values, constant[own]),
            offsets,
            self.inverse_temperature[problems],
            classes[problems],
            leverage,
        ).T


class ScorePaths:
    """The way of some rows from an origin, on which scores of classes are sums over columns.

    Parameters
    ----------
    members : SoftmaxMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.
    origin : ndarray of shape (n_columns,), optional
        Where rows come from, in scaled columns of a dense table. By default where all are 0: at the
        mean of a number, or where a word is absent.

    Attributes
    ----------
    prepared
        As `Members.prepare` gives it.
    """

    def __init__(self, members: SoftmaxMembers, X: Any, origin: Floats | None = None) -> None:
        self.members, scaled = members, members.scaled(X)
        self.prepared = members.scores_of_scaled(scaled)
        self.swaps = members.swaps(scaled, origin)
        start = np.zeros(scaled.shape[1]) if origin is None else origin
        at_origin = sparse.csr_array(start[None]) if sparse.issparse(scaled) else start[None]
        self.origin = members.scores_of_scaled(at_origin)
        self.combine, self.constant = members.combine

    def start(self, problem: int) -> Floats:
        """Return the scores of the classes of a problem where all parts are 0."""
        return self._scores(problem, self.origin)[0]

    def scores(self, problem: int, rows: NDArray[np.int64]) -> Floats:
        """Return the scores of the classes of a problem for some of the rows."""
        return self._scores(problem, self.prepared[rows])

    def parts(self, rows: NDArray[np.int64], slopes: list[tuple[int, Floats]]) -> Any:
        """Return what columns add to a sum of scores, each class times a slope.

        Parameters
        ----------
        rows : ndarray
            Which of the rows.
        slopes : list of (int, ndarray of shape (n_rows, n_classes))
            For some problems what the scores of their classes are multiplied by in each row.

        Returns
        -------
        ndarray or CSR array of shape (n_rows, n_columns)
        """
        targets = np.zeros((len(rows), self.combine.shape[1]))
        for problem, own in slopes:
            beta = self.members.inverse_temperature[problem]
            targets += beta * (own @ self.combine[self._classes(problem)])
        used = np.flatnonzero(targets.any(axis=0))
        return self.swaps.parts(rows, targets[:, used], self.members.weights_of(used))

    def bends(self, rows: Any, problem: int, sides: Any, by: Any, least: float) -> Any:
        """Return what log-odds of two classes add to parts of their scores; 0 if it is nothing.

        Of `sides`, 1 is the class that they speak for, and -1 the other. They are kept `least`
        inside (0, 1), and multiplied by `by` in each row.
        """
        own = self._classes(problem)
        targets = self.members.inverse_temperature[problem] * (sides @ self.combine[own])
        used, start = np.flatnonzero(targets), float(sides @ self.start(problem))
        weights = targets[used] @ self.members.weights_of(used)
        return self.swaps.bends(rows, weights, start, by, least)

    def _scores(self, problem: int, of_targets: Floats) -> Floats:
        own = self._classes(problem)
        scores = of_targets @ self.combine[own].T + self.constant[own]
        return self.members.inverse_temperature[problem] * scores

    def _classes(self, problem: int) -> slice:
        return slice(*self.members.offsets[problem : problem + 2].tolist())


class LinearSwaps:
    """What columns add to linear scores: coefficient times value, and what length they leave.

    Parameters
    ----------
    moved : ndarray or CSR array of shape (n, n_columns)
        How far rows are from the origin.
    words : ndarray of bool
        Which columns are divided by the length of the row in them.
    """

    def __init__(self, moved: Any, words: NDArray[np.bool_]) -> None:
        is_sparse = sparse.issparse(moved) or words.any()
        self.moved = sparse.csr_array(moved) if is_sparse else moved
        self.words = words

    def parts(self, rows: NDArray[np.int64], targets: Floats, weights: Floats) -> Any:
        """Return what columns add to sums of targets, each with some weights of columns."""
        return leaving_length(*self._terms(rows, targets, weights), self.words)

    def bends(self, rows: Any, weights: Floats, start: float, by: Floats, least: float) -> Any:
        """Return what log-odds add to parts of a score from `start` on; 0 where no words are.

        By orders of columns, so that all of a row add up to 0.
        """
        if not self.words.any():
            return 0.0
        terms, moved = self._terms(rows, np.ones((len(rows), 1)), weights[None])
        squares, found = self.words[moved.indices] * moved.data**2, np.zeros(moved.nnz)
        for i, (first, stop) in enumerate(pairwise(moved.indptr.tolist())):
            own = slice(first, stop)
            if stop > first and by[i] != 0:
                how = squares[own], orders_of(stop - first, MOST_STEPS), start, least
                found[own] = by[i] * score_bends(terms.data[own], *how)
        return sparse.csr_array((found, moved.indices, moved.indptr), shape=moved.shape)

    def _terms(self, rows: NDArray[np.int64], targets: Floats, weights: Floats) -> tuple[Any, Any]:
        """Return coefficient times value, and the values."""
        moved = rows_of(self.moved, rows)
        if not sparse.issparse(moved):
            return moved * (targets @ weights), moved
        terms, row = moved.copy(), np.repeat(np.arange(len(rows)), np.diff(moved.indptr))
        for some in blocks(len(row), BLOCK_NUMBERS // max(1, len(weights))):
            own = weights.T[moved.indices[some]]
            terms.data[some] *= np.einsum("ij,ij->i", targets[row[some]], own)
        return terms, moved


class GaussianSwaps:
    """What columns add to sums of Gaussians where they pass from the origin to rows.

    Parameters
    ----------
    gammas : tuple of float
        The kernel is the mean over these of ``exp(−γ |x − z|²)``.
    moved : ndarray or CSR array of shape (n, n_columns)
        How far rows are from the origin.
    centres : ndarray or CSR matrix of shape (n_centres, n_columns)
        How far the rows of the kernel map are.
    """

    def __init__(self, gammas: tuple[float, ...], moved: Any, centres: Any) -> None:
        self.gammas, self.moved = np.array(gammas), moved
        self.squares = squared_lengths(centres)
        self.centres = sparse.csc_array(centres) if sparse.issparse(moved) else centres

    def bends(self, *_: Any) -> float:
        """Return that log-odds follow scores, as far as columns tell."""
        return 0.0

    def parts(self, rows: NDArray[np.int64], targets: Floats, weights: Floats) -> Any:
        """Return what columns add to sums of targets, each with weights of kernel values."""
        weights = np.ascontiguousarray(targets @ weights) / len(self.gammas)
        moved = rows_of(self.moved, rows)
        if not sparse.issparse(moved):
            found, rest = np.zeros(moved.shape), (self.squares, self.gammas, weights)
            add_gaussian_parts(np.ascontiguousarray(moved), self.centres, *rest, found)
            return found
        parts = np.zeros(len(moved.data))
        for i in range(len(rows)):
            own = slice(*moved.indptr[i : i + 2].tolist())
            centres = np.ascontiguousarray(self.centres[:, moved.indices[own]].toarray())
            how = self.squares, self.gammas, weights[i : i + 1], parts[None, own]
            add_gaussian_parts(moved.data[None, own], centres, *how)
        return sparse.csr_array((parts, moved.indices, moved.indptr), shape=moved.shape)


def leaving_length(parts: Any, moved: Any, words: NDArray[np.bool_]) -> Any:
    """Return parts of linear scores of rows that are divided by their length: Shapley values.

    A word of a row lessens the share of the others. Of n words that count the same, with
    coefficients b, any s have the score ``Σ b / √s``; averaged over all orders in which they come,
    a word adds ``α`` times its part, and its share of the squared length of the row times
    ``1 − α`` of the parts of all, with α from 1 for one word to nearly 2. Where words do not count
    the same this is nearly so, and parts still add up.

    Parameters
    ----------
    parts, moved : CSR array of shape (n, n_columns)
        Coefficient times value, and the values, of the same cells.
    words : ndarray of bool
        The columns that are divided by their length together.
    """
    if not words.any():
        return parts
    n_rows, is_word = moved.shape[0], words[moved.indices]
    row = np.repeat(np.arange(n_rows), np.diff(moved.indptr))
    own, squares = is_word * parts.data, is_word * moved.data**2
    total, lengths, counts = (np.bincount(row, x, n_rows) for x in (own, squares, squares > 0))
    n = np.maximum(counts, 1).astype(np.int64)
    means = np.cumsum(np.arange(1, n.max(initial=1) + 1) ** -0.5)[n - 1] / np.sqrt(n)
    more = (means - 1) * (1 + 1 / np.maximum(n - 1, 1))
    of_all = more * total / np.where(lengths > 0, lengths, 1.0)
    found = parts.data + own * more[row] - squares * of_all[row]
    return sparse.csr_array((found, moved.indices, moved.indptr), shape=moved.shape)
