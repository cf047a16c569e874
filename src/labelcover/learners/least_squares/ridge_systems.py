"""Ridge regression on 0/1 targets, for any number of targets and any ridge at once.

With centred features ``Φ`` and targets ``T``, the scores of ridge ``λ`` are
``Φ (ΦᵀΦ + λ)⁻¹ Φᵀ T`` plus the targets' frequencies. One eigendecomposition gives an orthogonal
basis ``E`` in which that is ``E g Eᵀ T`` with a diagonal ``g`` that depends on ``λ`` alone; then
all targets cost two matrix products, and so does their leave-one-out (`RidgeSystem.leverage`).
Where ``λ`` is given, a plain inverse is used, which is faster. With weights ``W`` of rows,
means and frequencies are weighted, and the scores are ``Φ (ΦᵀWΦ + λ)⁻¹ ΦᵀW T`` or ``E g EᵀW T``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from labelcover.learners.least_squares.feature_scaling import rows_times

# Directions with less than this share of the largest eigenvalue are rounding errors.
RANK_TOLERANCE = 1e-13
# With a smaller ridge, in mean diagonal elements, an inverse would be inexact.
LEAST_RIDGE = 1e-7


class Smoother(ABC):
    """A ridge system at one ridge, with the scores of some training rows.

    Attributes
    ----------
    leverage : ndarray of shape (n_rows,)
        The share of each of those rows in its own score: the diagonal of the hat matrix.
    """

    leverage: NDArray[np.float64]

    @abstractmethod
    def solve(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and scores of targets.

        Parameters
        ----------
        holds : CSR array of shape (n_targets, n)
            Which training rows each target holds.
        counts : ndarray of shape (n_targets,)
            How much these rows weigh.

        Returns
        -------
        coefficients : ndarray of shape (n_targets, n_features)
        scores : ndarray of shape (n_rows, n_targets)
        """


@dataclass(frozen=True)
class ProductSmoother(Smoother):
    """Coefficients and scores are products with sums by target.

    Attributes
    ----------
    system : RidgeSystem
    to_coefficients : ndarray of shape (width, n_features)
        Sums by target times this are coefficients.
    to_scores : ndarray of shape (n_rows, width)
        This times sums by target are scores, less the frequencies.
    """

    system: RidgeSystem
    to_coefficients: NDArray[np.float64]
    to_scores: NDArray[np.float64]
    leverage: NDArray[np.float64]

    def solve(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and scores: a product each."""
        sums = self.system.target_sums(holds, counts)
        scores = self.to_scores @ sums.T
        scores += counts / self.system.total
        return sums @ self.to_coefficients, scores


@dataclass(frozen=True)
class DualSmoother(Smoother):
    """A dual system whose inverse is known: its sums by target are the coefficients.

    The residual of a training row is its coefficient times the ridge, divided by its weight:
    scores need no product.

    Attributes
    ----------
    inverse : ndarray of shape (n, n)
        With rows and columns times the square roots of the weights.
    """

    system: RidgeSystem
    inverse: NDArray[np.float64]
    ridge: float
    rows: NDArray[np.int64]
    leverage: NDArray[np.float64]

    def solve(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return coefficients and scores: no dense product at all."""
        centre = self.inverse.sum(axis=0) / self.system.total
        coefficients = sums_by_target(holds, counts, self.inverse, centre)
        per_row = (-self.ridge / self.system.weights[self.rows])[:, None]
        scores = np.multiply(coefficients[:, self.rows].T, per_row, order="C")
        scores += holds[:, self.rows].toarray().T
        return coefficients, scores


class RidgeSystem(ABC):
    """A factorised ridge system that problems can be solved in.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        Weights of the training rows.
    total : float
        Their sum.
    centre : ndarray of shape (n_features,)
        Mean of the features, or of the columns of the kernel.
    matrix : ndarray of shape (width, width)
        The centred Gram or kernel matrix.
    """

    weights: NDArray[np.float64]
    total: float
    centre: NDArray[np.float64]
    matrix: NDArray[np.float64]

    @cached_property
    def eigenpairs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The eigenvalues of `matrix`, ``(rank,)``, and its eigenvectors, ``(width, rank)``."""
        values, vectors = eigh(self.matrix, check_finite=False, driver="evd")
        kept = values > RANK_TOLERANCE * values.max(initial=np.finfo(np.float64).tiny)
        return values[kept], vectors[:, kept]

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """The eigenvalues of `matrix`, ``(rank,)``."""
        return self.eigenpairs[0]

    @property
    def vectors(self) -> NDArray[np.float64]:
        """The eigenvectors of `matrix`, ``(width, rank)``."""
        return self.eigenpairs[1]

    def inverse(self, ridge: float) -> NDArray[np.float64] | None:
        """Return ``(matrix + λ)⁻¹``; None if eigenvectors are there already or more exact."""
        width = len(self.matrix)
        if "eigenpairs" in self.__dict__ or ridge * width < LEAST_RIDGE * np.trace(self.matrix):
            return None
        # By NumPy, as the products are: SciPy would bring a second pool of threads to wait for.
        return np.asarray(np.linalg.inv(self.matrix + ridge * np.eye(width)), dtype=np.float64)

    @abstractmethod
    def target_sums(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return sums by target, ``(n_targets, width)``, that every ridge starts from."""

    @abstractmethod
    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``TᵀE``, ``(n_targets, rank)``: sums by target in the basis."""

    @abstractmethod
    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``E``, ``(len(rows), rank)``."""

    @abstractmethod
    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return the diagonal ``g``, ``(rank,)``."""

    @abstractmethod
    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""

    def leverage(
        self, basis: NDArray[np.float64], rows: NDArray[np.int64], ridge: float
    ) -> NDArray[np.float64]:
        """Return the share of each of `rows` in its own score: the diagonal of the hat matrix."""
        return (basis**2 @ self.gain(ridge) + 1 / self.total) * self.weights[rows]


class PrimalSystem(RidgeSystem):
    """Factorised from the Gram matrix of explicit features, dense or sparse.

    Here ``E = Φ V`` with the eigenvectors ``V`` of ``ΦᵀΦ``, and ``g = 1 / (s + λ)``.
    """

    def __init__(self, features: Any, weights: NDArray[np.float64] | None = None) -> None:
        self.features = self.weighted = features
        if weights is not None:
            self.weighted = rows_times(features, weights)
        self.weights = np.ones(features.shape[0]) if weights is None else weights
        self.total = float(self.weights.sum())
        sums = np.asarray(self.weighted.sum(axis=0), dtype=np.float64).ravel()
        self.centre = sums / self.total
        gram = features.T @ self.weighted
        if sparse.issparse(gram):
            gram = gram.toarray()
        gram -= np.outer(self.centre, sums)
        self.matrix = gram

    def target_sums(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀWΦ``."""
        return sums_by_target(holds, counts, self.weighted, self.centre)

    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``TᵀWΦ V``."""
        return sums @ self.vectors

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``Φ V``."""
        return self.features[rows] @ self.vectors - self.centre @ self.vectors

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return ``1 / (s + λ)``."""
        return 1 / (self.eigenvalues + ridge)

    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""
        inverse = self.inverse(ridge)
        if inverse is not None:
            centred = np.asarray(self.features[rows] - self.centre)
            to_scores = centred @ inverse
            leverage = np.einsum("ij,ij->i", to_scores, centred) + 1 / self.total
            return ProductSmoother(self, inverse, to_scores, leverage * self.weights[rows])
        basis, half = self.basis(rows), self.gain(ridge)[:, None] * self.vectors.T
        leverage = self.leverage(basis, rows, ridge)
        return ProductSmoother(self, self.vectors @ half, basis @ half, leverage)


class DualSystem(RidgeSystem):
    """Factorised from the kernel matrix of the training rows.

    Here ``E = W^-½ U`` with the eigenvectors ``U`` of the centred kernel matrix, its rows and
    columns times ``W^½``, and ``g = s / (s + λ)``. The features of a row are its kernel values
    with the training rows.
    """

    def __init__(
        self, kernel: NDArray[np.float64], weights: NDArray[np.float64] | None = None
    ) -> None:
        self.weights = np.ones(len(kernel)) if weights is None else weights
        self.total = float(self.weights.sum())
        self.centre = self.weights @ kernel / self.total
        middle = self.weights @ self.centre / self.total
        self.matrix = kernel - self.centre - self.centre[:, None] + middle
        self.roots = np.sqrt(self.weights)
        if weights is not None:
            self.matrix *= self.roots
            self.matrix *= self.roots[:, None]

    @cached_property
    def vectors(self) -> NDArray[np.float64]:
        """``W^½ U``, ``(width, rank)``."""
        # Columns sum to zero but for rounding. Where rows share most of their features, centring
        # cancels most of the kernel, and rounding may leave the constant direction among them.
        vectors = self.roots[:, None] * self.eigenpairs[1]
        constant = (self.weights / self.total)[:, None]
        return np.ascontiguousarray(vectors - constant * vectors.sum(axis=0))

    def target_sums(
        self, holds: sparse.csr_array, counts: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀW^½ U``."""
        # The kernel is centred, so these vectors sum to zero already.
        return np.asarray(holds @ self.vectors)

    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `sums`, which are in the basis."""
        return sums

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``W^-½ U``."""
        return self.vectors[rows] / self.weights[rows, None]

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return ``s / (s + λ)``."""
        return self.eigenvalues / (self.eigenvalues + ridge)

    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""
        inverse = self.inverse(ridge)
        if inverse is not None:
            own = np.diag(inverse)[rows]
            leverage = 1 - ridge * own + self.weights[rows] / self.total
            inverse *= self.roots
            inverse *= self.roots[:, None]
            return DualSmoother(self, inverse, ridge, rows, leverage)
        basis = self.basis(rows)
        to_coefficients = self.vectors.T / (self.eigenvalues + ridge)[:, None]
        leverage = self.leverage(basis, rows, ridge)
        return ProductSmoother(self, to_coefficients, basis * self.gain(ridge), leverage)


def sums_by_target(
    holds: sparse.csr_array, counts: NDArray[np.float64], rows: Any, centre: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return for each target the sum of the rows that it holds, less `centre` for each."""
    sums = holds @ rows
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    sums -= np.outer(counts, centre)
    return sums
