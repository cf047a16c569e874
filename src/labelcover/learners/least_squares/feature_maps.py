"""The features that ridge regression sees: the table itself, or kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from sklearn.metrics.pairwise import euclidean_distances

from labelcover.learners.least_squares.ridge_systems import DualSystem, PrimalSystem, RidgeSystem

# Directions of the landmarks with less than this share of the largest eigenvalue are left out.
LANDMARK_TOLERANCE = 1e-10


@dataclass(frozen=True)
class Kernel:
    """A kernel: ``x · z``, or the mean over `gammas` of ``exp(-gamma |x - z|²)``."""

    gammas: tuple[float, ...] = ()

    @property
    def is_linear(self) -> bool:
        """Whether this is the plain inner product."""
        return not self.gammas

    def __call__(self, X: Any, Z: Any) -> NDArray[np.float64]:
        """Return the kernel values of all rows of `X` with all rows of `Z`."""
        if self.is_linear:
            product = X @ Z.T
            return product.toarray() if sparse.issparse(product) else np.asarray(product)
        distances = euclidean_distances(X, Z, squared=True)
        values = np.exp(-self.gammas[0] * distances)
        for gamma in self.gammas[1:]:
            values += np.exp(-gamma * distances)
        values /= len(self.gammas)
        return values


class IdentityMap:
    """The table itself."""

    def transform(self, X: Any) -> Any:
        """Return `X`."""
        return X


class KernelMap:
    """Kernel values with some rows, or combinations of them.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray or CSR matrix
        The training rows, or landmarks.
    combine : ndarray, optional
        What the kernel values are multiplied by.

    Attributes
    ----------
    numbers : ndarray or None
        Which training rows the rows are; None if they are all, in order.
    """

    numbers: NDArray[np.int64] | None = None

    def __init__(self, kernel: Kernel, rows: Any, combine: NDArray | None = None) -> None:
        self.kernel, self.rows, self.combine = kernel, rows, combine

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of the rows of `X`."""
        values = self.kernel(X, self.rows)
        return values if self.combine is None else values @ self.combine


def exact_system(
    X: Any, kernel: Kernel, weights: NDArray[np.float64] | None
) -> tuple[IdentityMap | KernelMap, RidgeSystem]:
    """Return features and system without approximation: primal if that is smaller."""
    if kernel.is_linear and X.shape[1] < X.shape[0]:
        return IdentityMap(), PrimalSystem(X, weights)
    return KernelMap(kernel, X), DualSystem(kernel(X, X), weights)


def nystroem_system(
    X: Any, kernel: Kernel, weights: NDArray[np.float64] | None, landmarks: Any
) -> tuple[KernelMap, RidgeSystem]:
    """Return features and system of a Nyström approximation of the kernel."""
    values, vectors = eigh(kernel(landmarks, landmarks), check_finite=False, driver="evd")
    kept = values > LANDMARK_TOLERANCE * values.max(initial=np.finfo(np.float64).tiny)
    features = KernelMap(kernel, landmarks, vectors[:, kept] / np.sqrt(values[kept]))
    return features, PrimalSystem(features.transform(X), weights)


def median_distance(X: Any) -> float:
    """Return the median distance between distinct rows; 1 if there are none."""
    distances = euclidean_distances(X)
    between = distances[np.triu_indices(len(distances), 1)]
    between = between[between > 0]
    return float(np.median(between)) if len(between) else 1.0
