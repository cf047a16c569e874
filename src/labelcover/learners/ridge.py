"""Ridge regression on one-hot classes, for any number of problems and any ridge at once.

With centred features ``Φ`` and one-hot classes ``T``, the scores of ridge ``λ`` are
``Φ (ΦᵀΦ + λ)⁻¹ Φᵀ T`` plus the class frequencies. One eigendecomposition gives an orthogonal
basis ``E`` in which that is ``E g Eᵀ T`` with a diagonal ``g`` that depends on ``λ`` alone; then
every problem costs two matrix products, and so does its leave-one-out (`RidgeSystem.leverage`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from labelcover.learners._least_squares import class_sums_dense, class_sums_sparse

# Directions with less than this share of the largest eigenvalue are rounding errors.
RANK_TOLERANCE = 1e-13


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
    """

    n_rows: int
    centre: NDArray[np.float64]
    eigenvalues: NDArray[np.float64]

    @abstractmethod
    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the rows of ``E``, ``(len(rows), rank)``."""

    @abstractmethod
    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return the diagonal ``g``, ``(rank,)``."""

    @abstractmethod
    def project(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀE``, ``(n_classes, rank)``: the classes in the basis."""

    @abstractmethod
    def coefficients(self, projected: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
        """Return the weights of features, ``(n_classes, n_features)``, of projected classes."""

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
        self.total = np.asarray(features.sum(axis=0), dtype=np.float64).ravel()
        self.centre = self.total / self.n_rows
        gram = features.T @ features
        if sparse.issparse(gram):
            gram = gram.toarray()
        gram -= np.outer(self.centre, self.total)
        self.eigenvalues, self.vectors = _positive_eigenpairs(gram)

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows of ``E``."""
        return self.features[rows] @ self.vectors - self.centre @ self.vectors

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return the diagonal ``g``."""
        return 1 / (self.eigenvalues + ridge)

    def project(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀE``."""
        X = self.features
        if sparse.issparse(X):
            sums = class_sums_sparse(
                X.data, X.indices, X.indptr, self.total, codes, offsets, counts
            )
        else:
            sums = class_sums_dense(X, self.total, codes, offsets, counts)
        return sums @ self.vectors - np.outer(counts, self.centre @ self.vectors)

    def coefficients(self, projected: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
        """Return the weights of features."""
        return (projected * self.gain(ridge)) @ self.vectors.T


class DualSystem(RidgeSystem):
    """Factorised from the kernel matrix of the training rows.

    Here ``E`` holds the eigenvectors ``U`` of the centred kernel matrix, and ``g = s / (s + λ)``.
    The features of a row are its kernel values with the training rows.
    """

    def __init__(self, kernel: NDArray[np.float64]) -> None:
        self.n_rows = len(kernel)
        self.centre = kernel.mean(axis=0)
        centred = kernel - self.centre - self.centre[:, None] + self.centre.mean()
        self.eigenvalues, self.vectors = _positive_eigenpairs(centred)
        self.vectors = np.ascontiguousarray(self.vectors)

    def basis(self, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return some rows of ``E``."""
        return self.vectors[rows]

    def gain(self, ridge: float) -> NDArray[np.float64]:
        """Return the diagonal ``g``."""
        return self.eigenvalues / (self.eigenvalues + ridge)

    def project(
        self, codes: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return ``TᵀE``."""
        # The kernel is centred, so its eigenvectors sum to zero.
        total = np.zeros(len(self.eigenvalues))
        return class_sums_dense(self.vectors, total, codes, offsets, counts)

    def coefficients(self, projected: NDArray[np.float64], ridge: float) -> NDArray[np.float64]:
        """Return the weights of features."""
        return (projected / (self.eigenvalues + ridge)) @ self.vectors.T


def _positive_eigenpairs(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, vectors = eigh(matrix, overwrite_a=True, check_finite=False, driver="evd")
    kept = values > RANK_TOLERANCE * values.max(initial=np.finfo(np.float64).tiny)
    return values[kept], vectors[:, kept]
