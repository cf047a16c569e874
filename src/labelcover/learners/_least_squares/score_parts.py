"""What columns add to the scores of least squares members: integrated gradients, exactly.

A row is reached from an origin on a straight line. The gradient of a score, averaged over that
line, times how far the row is from the origin in each column, is what the column adds, and all of
it adds up to the score of the row less that of the origin [1]. In a linear kernel the gradient is
the same everywhere. In a Gaussian one the kernel along a line is a Gaussian of the place on it, so
that its integrals are error functions: nothing is sampled.

References
----------
1. M. Sundararajan, A. Taly and Q. Yan (2017). Axiomatic attribution for deep networks. ICML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import erf

from labelcover._table_numbers import blocks, rows_of
from labelcover.learners._products import inner_products, squared_lengths

if TYPE_CHECKING:
    from labelcover.learners._least_squares.least_squares_members import LeastSquaresMembers

Floats = NDArray[np.float64]
# Below this length of a line, in widths of the kernel, error functions would lose their digits,
# and four nodes of Gauss are exact.
SHORT = 1e-3
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(4)
# Gradients of so many numbers are held at once (32 MB).
BLOCK_NUMBERS = 2**22


class LeastSquaresPaths:
    """The way of some rows from the origin, as least squares members see it.

    What all `ScorePaths` have (`labelcover.learners._problems`).

    Parameters
    ----------
    members : LeastSquaresMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.
    origin : ndarray of shape (n_columns,), optional
        Where lines begin, in scaled columns of a dense table. By default where all are 0: at the
        mean of a number, or where a word is absent.
    """

    def __init__(self, members: LeastSquaresMembers, X: Any, origin: Floats | None = None) -> None:
        features = members.features
        self.members = members
        scaled = features.scaled(X)
        self.prepared = members.scores_of_scaled(scaled)
        self.lines = features.map.lines(scaled, origin)
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
        weights = targets[:, used] @ self.members.coefficients[used]
        return self.lines.parts(rows, weights)

    def _classes(self, problem: int) -> slice:
        return slice(*self.members.offsets[problem : problem + 2].tolist())


class LinearLines:
    """The gradients of linear scores along lines: the same everywhere.

    Parameters
    ----------
    moved : ndarray or CSR array of shape (n, n_columns)
        How far rows are from the origin.
    to_columns : ndarray or CSR matrix of shape (n_features, n_columns), optional
        What makes weights of columns from those of features; by default they are the same.
    """

    def __init__(self, moved: Any, to_columns: Any = None) -> None:
        self.moved, self.to_columns = moved, to_columns

    def parts(self, rows: NDArray[np.int64], weights: Floats) -> Any:
        """Return what columns add to scores with some weights of features, a row for each row."""
        if self.to_columns is not None:
            weights = np.asarray(weights @ self.to_columns)
        return times(rows_of(self.moved, rows), weights)


class GaussianLines:
    """The gradients of sums of Gaussians along lines, averaged.

    With the line ``o + t d`` to a row and a centre ``z``, ``|o + t d − z|²`` is the parabola
    ``p t² − 2 q t + r``. The gradient by a column is ``−2 γ (t d_i − (z − o)_i)`` times the kernel,
    so two integrals over t serve all columns.

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
        self.gammas, self.moved, self.centres, self.combine = gammas, moved, centres, combine
        self.r = squared_lengths(centres)

    def parts(self, rows: NDArray[np.int64], weights: Floats) -> Any:
        """Return what columns add to scores with some weights of features, a row for each row."""
        if self.combine is not None:
            weights = weights @ self.combine.T
        moved = rows_of(self.moved, rows)
        width = max(*self.centres.shape, 1)
        found = [
            self._block(moved[block], weights[block])
            for block in blocks(len(rows), max(1, BLOCK_NUMBERS // width))
        ]
        if sparse.issparse(moved):
            return sparse.csr_array(sparse.vstack(found, format="csr"))
        return np.concatenate(found) if found else np.zeros(moved.shape)

    def _block(self, moved: Any, weights: Floats) -> Any:
        kernel, along = self._integrals(moved)
        towards = np.asarray((weights * kernel) @ self.centres)
        away = (weights * along).sum(axis=1)
        own = 2 * times(moved, towards)
        squares = moved.multiply(moved) if sparse.issparse(moved) else moved**2
        return own - times(squares, np.broadcast_to(2 * away[:, None], moved.shape))

    def _integrals(self, moved: Any) -> tuple[Floats, Floats]:
        """Return the means over lines of the kernel, and of the kernel times t; both times γ."""
        p = squared_lengths(moved)[:, None]
        q = inner_products(moved, self.centres)
        kernel, along = np.zeros_like(q), np.zeros_like(q)
        for gamma in self.gammas:
            own, times_t = line_integrals(gamma, p, q, self.r)
            kernel += gamma * own
            along += gamma * times_t
        return kernel / len(self.gammas), along / len(self.gammas)


def line_integrals(gamma: float, p: Floats, q: Floats, r: Floats) -> tuple[Floats, Floats]:
    """Return ``∫ K dt`` and ``∫ t K dt`` over [0, 1] with ``K = exp(−γ (p t² − 2 q t + r))``.

    Examples
    --------
    >>> import numpy as np
    >>> whole, half = line_integrals(1.0, np.ones((1, 1)), np.zeros((1, 1)), np.zeros(1))
    >>> whole.round(4).item(), half.round(4).item()
    (0.7468, 0.3161)
    """
    s = np.sqrt(gamma * p)
    is_short = s <= SHORT
    safe = np.where(is_short, 1.0, p)
    middle = q / safe
    peak = np.exp(-gamma * np.maximum(r - q * middle, 0.0))
    own = peak * np.sqrt(np.pi) / (2 * np.where(is_short, 1.0, s))
    own *= erf(s * (1 - middle)) + erf(s * middle)
    ends = np.exp(-gamma * r) - np.exp(-gamma * np.maximum(p - 2 * q + r, 0.0))
    along = middle * own + ends / (2 * gamma * safe)
    few = np.flatnonzero(is_short[:, 0])
    if len(few):
        own[few], along[few] = 0.0, 0.0
        for node, weight in zip((NODES + 1) / 2, NODE_WEIGHTS / 2, strict=True):
            distance = node**2 * p[few] - 2 * node * q[few] + r
            value = weight * np.exp(-gamma * np.maximum(distance, 0.0))
            own[few] += value
            along[few] += node * value
    return own, along


def times(moved: Any, weights: Floats) -> Any:
    """Return the product cell by cell, sparse if the first is."""
    if sparse.issparse(moved):
        return sparse.csr_array(moved.multiply(weights))
    return moved * weights
