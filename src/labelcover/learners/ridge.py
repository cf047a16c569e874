"""Ridge regression on one-hot classes, for any number of problems and any ridge at once.

With centred features ``Φ`` and one-hot classes ``T``, the scores of ridge ``λ`` are
``Φ (ΦᵀΦ + λ)⁻¹ Φᵀ T`` plus the class frequencies. One eigendecomposition gives an orthogonal
basis ``E`` in which that is ``E g Eᵀ T`` with a diagonal ``g`` that depends on ``λ`` alone; then
every problem costs two matrix products, and so does its leave-one-out (`RidgeSystem.leverage`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from labelcover.learners._least_squares import class_sums_dense, class_sums_sparse

# Directions with less than this share of the largest eigenvalue are rounding errors.
RANK_TOLERANCE = 1e-13


@dataclass(frozen=True)
class Smoother:
    """A ridge system at one ridge: what turns sums by class into coefficients and scores.

    Attributes
    ----------
    to_coefficients : ndarray of shape (width, n_features)
        Sums by class times this are coefficients.
    to_scores : ndarray of shape (n_rows, width)
        This times sums by class are the scores of some training rows, less the class frequencies.
    leverage : ndarray of shape (n_rows,)
        The weight of each of those rows in its own score: the diagonal of the hat matrix.
    """

    to_coefficients: NDArray[np.float64]
    to_scores: NDArray[np.float64]
    leverage: NDArray[np.float64]


class RidgeSystem(ABC):
    """A factorised ridge system that problems can be solved in.

    Attributes
    ----------
    n_rows : int
        Number of training rows.
    centre : ndarray of shape (n_features,)
        Mean of the features, or of the columns of the kernel.
    eigenvalues : ndarray of shape (rank,)
        Of the centred Gram or kernel matrix.
    vectors : ndarray of shape (width, rank)
        Its eigenvectors.
    """

    n_rows: int
    centre: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]
    vectors: NDArray[np.float64]

    @abstractmethod
    def class_sums(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return sums by class, ``(n_classes, width)``, that every ridge starts from."""

    @abstractmethod
    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``TᵀE``, ``(n_classes, rank)``: sums by class in the basis."""

    @abstractmethod
    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``E``, ``(len(rows), rank)``."""

    @abstractmethod
    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return the diagonal ``g``, ``(rank,)``."""

    @abstractmethod
    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""

    def leverage(self, basis: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
        """Return the weight of each row in its own score: the diagonal of the hat matrix."""
        return basis**2 @ self.gain(ridge) + 1 / self.n_rows


class PrimalSystem(RidgeSystem):
    """Factorised from the Gram matrix of explicit features, dense or sparse.

    Here ``E = Φ V`` with the eigenvectors ``V`` of ``ΦᵀΦ``, and ``g = 1 / (s + λ)``.
    """

    def __init__(self, features: Any) -> None:
        self.features = features
        self.n_rows = features.shape[0]
        total = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
        self.centre = total / self.n_rows
        gram = features.T @ features
        if sparse.issparse(gram):
            gram = gram.toarray()
        gram -= np.outer(self.centre, total)
        self.eigenvalues, self.vectors = _positive_eigenpairs(gram)

    def class_sums(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀΦ``."""
        X = self.features
        if sparse.issparse(X):
            return class_sums_sparse(
                X.data, X.indices, X.indptr, self.centre, codes, offsets, counts
            )
        return class_sums_dense(X, self.centre, codes, offsets, counts)

    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``TᵀΦ V``."""
        return sums @ self.vectors

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``Φ V``."""
        return self.features[rows] @ self.vectors - self.centre @ self.vectors

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return ``1 / (s + λ)``."""
        return 1 / (self.eigenvalues + ridge)

    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""
        basis, inverse = self.basis(rows), self.gain(ridge)[:, None] * self.vectors.T
        return Smoother(self.vectors @ inverse, basis @ inverse, self.leverage(basis, ridge))


class DualSystem(RidgeSystem):
    """Factorised from the kernel matrix of the training rows.

    Here ``E`` holds the eigenvectors ``U`` of the centred kernel matrix, and ``g = s / (s + λ)``.
    The features of a row are its kernel values with the training rows.
    """

    def __init__(self, kernel: NDArray[np.float64]) -> None:
        self.n_rows = len(kernel)
        self.centre = kernel.mean(axis=0)
        centred = kernel - self.centre - self.centre[:, None] + self.centre.mean()
        self.eigenvalues, vectors = _positive_eigenpairs(centred)
        # They sum to zero but for rounding. Where rows share most of their features, centring
        # cancels most of the kernel, and rounding may leave the constant direction among them.
        self.vectors = np.ascontiguousarray(vectors - vectors.mean(axis=0))

    def class_sums(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀU``."""
        # The kernel is centred, so its eigenvectors sum to zero already.
        centre = np.zeros(len(self.eigenvalues))
        return class_sums_dense(self.vectors, centre, codes, offsets, counts)

    def project(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `sums`, which are in the basis."""
        return sums

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return rows of ``U``."""
        return self.vectors[rows]

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return ``s / (s + λ)``."""
        return self.eigenvalues / (self.eigenvalues + ridge)

    def smoother(self, ridge: float, rows: NDArray[np.int64]) -> Smoother:
        """Return the system at `ridge`, with the scores of the training `rows`."""
        basis = self.basis(rows)
        to_coefficients = self.vectors.T / (self.eigenvalues + ridge)[:, None]
        return Smoother(to_coefficients, basis * self.gain(ridge), self.leverage(basis, ridge))


def _positive_eigenpairs(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, vectors = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    kept = values > RANK_TOLERANCE * values.max(initial=np.finfo(np.float64).tiny)
    return values[kept], vectors[:, kept]
