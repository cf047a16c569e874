"""What columns add to the scores of least squares members: Shapley values.

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

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import blocks, rows_of
from labelcover.learners._forest.swap_kernels import orders_of, score_bends
from labelcover.learners._least_squares.gaussian_part_kernels import add_gaussian_parts
from labelcover.learners._products import squared_lengths

if TYPE_CHECKING:
    from labelcover.learners._least_squares.least_squares_members import LeastSquaresMembers

Floats = NDArray[np.float64]
# Coefficients of so many cells are held at once (32 MB).
BLOCK_NUMBERS = 2**22
# Log-odds are averaged over orders with so many steps of one column.
MOST_STEPS = 2048


class LeastSquaresPaths:
    """The way of some rows from the origin, as least squares members see it.

    What all `ScorePaths` have (`labelcover.learners._problems`).

    Parameters
    ----------
    members : LeastSquaresMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.
    origin : ndarray of shape (n_columns,), optional
        Where rows come from, in scaled columns of a dense table. By default where all are 0: at the
        mean of a number, or where a word is absent.
    """

    def __init__(self, members: LeastSquaresMembers, X: Any, origin: Floats | None = None) -> None:
        features = members.features
        self.members = members
        scaled = features.scaled(X)
        self.prepared = members.scores_of_scaled(scaled)
        words = features.scaling.divided_columns(scaled.shape[1])
        self.swaps = features.map.swaps(scaled, origin, words)
        start = np.zeros(scaled.shape[1]) if origin is None else origin
        at_origin = sparse.csr_array(start[None]) if sparse.issparse(scaled) else start[None]
        self.origin = members.scores_of_scaled(at_origin)[0]
        self.combine, self.constant = members.combine

    def start(self, problem: int) -> Floats:
        """Return the scores of the classes of a problem at the origin."""
        own = self._classes(problem)
        scores = self.combine[own] @ self.origin + self.constant[own]
        return self.members.inverse_temperature[problem] * scores

    def scores(self, problem: int, rows: NDArray[np.int64]) -> Floats:
        """Return the scores of the classes of a problem for some of the rows."""
        found = self.members.scores(self.prepared[rows], slice(problem, problem + 1))
        return self.members.inverse_temperature[problem] * found

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
        return self.swaps.parts(rows, targets[:, used], self.members.coefficients[used])

    def bends(self, rows: Any, problem: int, sides: Floats, by: Floats, least: float) -> Any:
        """Return what log-odds of two classes add to parts of their scores, as `ScorePaths`."""
        own = self._classes(problem)
        targets = self.members.inverse_temperature[problem] * (sides @ self.combine[own])
        used, start = np.flatnonzero(targets), float(sides @ self.start(problem))
        weights = targets[used] @ self.members.coefficients[used]
        return self.swaps.bends(rows, weights, start, by, least)

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
    to_columns : ndarray or CSR matrix of shape (n_features, n_columns), optional
        What makes weights of columns from those of features; by default they are the same.
    """

    def __init__(self, moved: Any, words: NDArray[np.bool_], to_columns: Any = None) -> None:
        is_sparse = sparse.issparse(moved) or words.any()
        self.moved = sparse.csr_array(moved) if is_sparse else moved
        self.words, self.to_columns = words, to_columns

    def parts(self, rows: NDArray[np.int64], targets: Floats, weights: Floats) -> Any:
        """Return what columns add to sums of targets, each with some weights of features."""
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
        if self.to_columns is not None:
            weights = np.asarray(weights @ self.to_columns)
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
    combine : ndarray, optional
        What kernel values are multiplied by to become features.
    """

    def __init__(
        self, gammas: tuple[float, ...], moved: Any, centres: Any, combine: Any = None
    ) -> None:
        self.gammas, self.moved, self.combine = np.array(gammas), moved, combine
        self.squares = squared_lengths(centres)
        self.centres = sparse.csc_array(centres) if sparse.issparse(moved) else centres

    def bends(self, *_: Any) -> float:
        """Return that log-odds follow scores, as far as columns tell."""
        return 0.0

    def parts(self, rows: NDArray[np.int64], targets: Floats, weights: Floats) -> Any:
        """Return what columns add to sums of targets, each with some weights of features."""
        weights = targets @ weights
        if self.combine is not None:
            weights = weights @ self.combine.T
        weights = np.ascontiguousarray(weights) / len(self.gammas)
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
