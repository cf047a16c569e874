"""Least squares on the known cells of a label table.

With weights ``W`` of cells, 0 where a label is not known, the scores of label ``j`` are the ridge
regression on the rows that know it: minimised is
``Σ_i W_ij (y_ij − φ_i·θ_j − b_j)² + λ |θ_j|²``. Every label has a system of its own, but all are
near ``ω_j ΦᵀΦ + λ``. One eigendecomposition gives the inverses of these, which precondition
conjugate gradients for all labels at once.

If rows are known by chance, with probability ``s``, their system is on the mean that of all rows
with the weight ``ω = s / (1 + (1 − s) g)``, where ``g`` is what a row would add to its own score
[1]_. The share of a row in its score, to leave it out, is taken from that system: exact where all
is known, else an approximation, by which scores differ from those of exact leave-one-out by .02 of
their standard deviation where half of the labels are unknown.

Scale and kernel are chosen before that, on labels whose unknown cells have the frequency of the
label, by the leave-one-out predictions of known cells.

References
----------
.. [1] R. Couillet and Z. Liao (2022). Random matrix methods for machine learning. Cambridge
   University Press: deterministic equivalents.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._least_squares.ridge_systems import RidgeSystem, Solved
from labelcover.learners._problems import LinearTargets, TargetRows

Floats = NDArray[np.float64]
# Conjugate gradients end where no residual is a greater share of its right side; while ridges are
# compared, the second.
TOLERANCE, COARSE, MOST_STEPS = 1e-9, 1e-2, 200
# The weights of the systems on the mean are found on so many rows, in so many steps.
WEIGHT_ROWS, WEIGHT_STEPS = 256, 20
# A row that alone decides its own score cannot be left out.
MOST_LEVERAGE = 0.99


def _filled(frequency: Floats, labels: Floats) -> TargetRows:
    """Return single labels as targets of rows, unknown cells filled by frequencies of the labels.

    `labels` are the labels and the weights of cells, ``(n, 2, m)``.
    """
    Y, cells = labels[:, 0], labels[:, 1]
    return TargetRows(sparse.csr_array((frequency + cells * (Y - frequency)).T), None)


def filled_targets(Y: NDArray, cells: Floats, weights: Floats | None) -> LinearTargets:
    """Return single labels as targets: the classes of a label are ``1 - y`` and ``y``.

    `Y` and the weights of its `cells` are ``(n, m)``, `weights` those of rows.
    """
    m = Y.shape[1]
    own = cells if weights is None else weights[:, None] * cells
    known = own.sum(axis=0)
    frequency = (own * Y).sum(axis=0) / np.where(known > 0, known, 1.0)
    entries = np.tile([-1.0, 1.0], m), (np.arange(2 * m), np.repeat(np.arange(m), 2))
    combine = sparse.csr_array(entries, shape=(2 * m, m))
    labels = np.stack([Y, cells], axis=1)
    rule = partial(_filled, frequency)
    return LinearTargets(rule, labels, combine, np.tile([1.0, 0.0], m), np.arange(m))


class KnownSystem:
    """A ridge system of all rows, in which the known cells of labels are solved.

    What is asked of a `RidgeSystem` is asked of it. Its scores are left-out ones already.

    Parameters
    ----------
    system : RidgeSystem
    targets : LinearTargets
        As from `filled_targets`.
    """

    is_constant = False

    def __init__(self, system: RidgeSystem, targets: LinearTargets) -> None:
        self.system, self.Y = system, targets.labels[:, 0]
        self.weights, self.unit, self.centre = system.weights, system.unit, system.centre
        self.matrix = system.matrix
        self.W = system.weights[:, None] * targets.labels[:, 1]
        self.totals = self.W.sum(axis=0)
        self.of_constant = 1 / np.where(self.totals > 0, self.totals, 1.0)
        self.values = system.eigenpairs[0]
        # No vectors: features are along them already.
        self.features, self.middle, self.vectors = system.features_of_rows()
        some = np.unique(np.linspace(0, len(self.W) - 1, WEIGHT_ROWS).astype(np.int64))
        self.squares = self._rotated(some) ** 2

    def pose(self, targets: LinearTargets, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return what `solve` takes: the rows whose left-out scores are wanted."""
        return rows

    def solve(self, rows: NDArray[np.int64], ridge: float, *, coarse: bool = False) -> Solved:
        """Return the coefficients, and left-out scores of some rows, which have no leverage."""
        inverse = self._inverse(ridge)
        theta, b = self._descend(ridge, inverse, COARSE if coarse else TOLERANCE)
        scores, own = self._scores(rows, theta) + b, self.W[rows]
        added = self._added(self._rotated(rows) ** 2, inverse, ridge)
        leverage = np.minimum(own * added / (1 + own * added), MOST_LEVERAGE)
        residuals = np.where(own > 0, self.Y[rows] - scores, 0.0)
        left_out = np.ascontiguousarray((scores - leverage / (1 - leverage) * residuals).T)
        return Solved(self.system.coefficients_of(theta).T, b, left_out, np.zeros(len(rows)))

    def _inverse(self, ridge: float) -> Floats:
        """Return the inverses of the systems on the mean along eigenvectors, ``(rank, m)``."""
        share = self.totals / self.system.total
        weight = share
        for _ in range(WEIGHT_STEPS):
            inverse = 1 / (np.outer(self.values, weight) + ridge)
            added = self._added(self.squares, inverse, ridge)
            weight = (share / (1 + np.maximum(1 - share, 0) * added)).mean(axis=0)
        return 1 / (np.outer(self.values, weight) + ridge)

    def _added(self, squares: Floats, inverse: Floats, ridge: float) -> Floats:
        """Return what rows would add to their own scores, were they not there, ``(n, m)``."""
        spread = squares @ inverse + self.of_constant
        weight = (1 / inverse[0] - ridge) / self.values[0]
        return spread / np.maximum(1 - weight * spread, 1 - MOST_LEVERAGE)

    def _descend(self, ridge: float, inverse: Floats, tolerance: float) -> tuple[Floats, Floats]:
        """Return coefficients of features and intercepts, by conjugate gradients."""

        def preconditioned(rest: Floats) -> Floats:
            along = rest[:-1]
            if self.vectors is not None:
                along = self.vectors @ (inverse * (self.vectors.T @ along))
            else:
                along = inverse * along
            return np.vstack([along, self.of_constant * rest[-1]])

        rest = self._sums(self.W * self.Y)
        found, length = np.zeros_like(rest), np.linalg.norm(rest, axis=0)
        towards = preconditioned(rest)
        size = (rest * towards).sum(axis=0)
        for _ in range(MOST_STEPS):
            running = np.linalg.norm(rest, axis=0) > tolerance * length
            if not running.any():
                break
            scores = self._scores(slice(None), towards[:-1]) + towards[-1]
            product = self._sums(self.W * scores)
            product[:-1] += ridge * towards[:-1]
            bend = (towards * product).sum(axis=0)
            step = np.divide(size, bend, where=running & (bend > 0), out=np.zeros_like(size))
            found += step * towards
            rest -= step * product
            own = preconditioned(rest)
            then = (rest * own).sum(axis=0)
            factor = np.divide(then, size, where=running & (size > 0), out=np.zeros_like(size))
            towards, size = own + factor * towards, then
        return found[:-1], found[-1]

    def _scores(self, rows: Any, theta: Floats) -> Floats:
        return np.asarray(self.features[rows] @ theta) - self.middle @ theta

    def _sums(self, table: Floats) -> Floats:
        """Return the sums over rows of centred features, and of 1, times the columns of a table."""
        total = table.sum(axis=0)
        return np.vstack([self.features.T @ table - np.outer(self.middle, total), total])

    def _rotated(self, rows: NDArray[np.int64]) -> Floats:
        """Return centred features of rows along the eigenvectors."""
        if self.vectors is None:
            return np.asarray(self.features[rows])
        return np.asarray(self.features[rows] @ self.vectors) - self.middle @ self.vectors
