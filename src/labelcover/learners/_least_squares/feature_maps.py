"""From the rows of a table to features: the table itself, or kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky
from scipy.linalg.lapack import dtrtri

from labelcover.learners._least_squares.score_parts import GaussianLines, LinearLines
from labelcover.learners._products import inner_products, row_products, squared_lengths

# Added to the kernel values of landmarks with themselves, in mean diagonal elements: directions
# with less than this are rounding errors in sums over many rows.
LANDMARK_RIDGE = 1e-6


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
        values = inner_products(X, Z)
        if not self.is_linear:
            self.from_products(values, squared_lengths(X), squared_lengths(Z))
        return values

    def from_products(
        self,
        products: NDArray[np.float64],
        squares: NDArray[np.float64],
        other_squares: NDArray[np.float64],
    ) -> None:
        """Turn inner products of rows into kernel values in place, given squared lengths."""
        if not self.is_linear:
            products *= -2
            products += squares[:, None]
            products += other_squares
            # Rounding may leave less than nothing between rows that are alike.
            np.maximum(products, 0, out=products)
            _mean_of_gaussians(products, self.gammas)


class IdentityMap:
    """The table itself.

    Attributes
    ----------
    combine, numbers
        As in `KernelMap`, which has none of them here.
    """

    combine: NDArray[np.float64] | None = None
    numbers: NDArray[np.int64] | None = None

    def transform(self, X: Any) -> Any:
        """Return `X`."""
        return X

    values = transform

    def lines(self, X: Any, origin: NDArray[np.float64] | None) -> LinearLines:
        """Return what gradients of scores are along the lines from an origin to rows."""
        return LinearLines(X if origin is None else X - origin)


class KernelMap:
    """Kernel values with some rows, or combinations of them.

    Parameters
    ----------
    kernel : Kernel
    rows : ndarray or CSR matrix
        The training rows, or landmarks.
    combine : ndarray, optional
        What the kernel values are multiplied by.
    numbers : ndarray, optional
        Which training rows the rows are; by default all, in order.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        combine: NDArray[np.float64] | None = None,
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        self.kernel, self.rows, self.combine, self.numbers = kernel, rows, combine, numbers
        self.squares = squared_lengths(rows)

    def values(self, X: Any) -> NDArray[np.float64]:
        """Return the kernel values of the rows of `X` with all rows of the map."""
        if sparse.issparse(X) or sparse.issparse(self.rows):
            values = inner_products(X, self.rows)
        else:
            values = row_products(X, self.rows.T)
        self.kernel.from_products(values, squared_lengths(X), self.squares)
        return values

    def training_values(self, X: Any) -> NDArray[np.float64]:
        """Return the same for very many rows, sooner: rounding may differ with their number."""
        return self.kernel(X, self.rows)

    def lines(self, X: Any, origin: NDArray[np.float64] | None) -> LinearLines | GaussianLines:
        """Return what gradients of scores are along the lines from an origin to rows."""
        moved = X if origin is None else X - origin
        if self.kernel.is_linear:
            to_columns = self.rows if self.combine is None else self.combine.T @ self.rows
            return LinearLines(moved, to_columns)
        centres = self.rows if origin is None else self.rows - origin
        return GaussianLines(self.kernel.gammas, moved, centres, self.combine)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the features of the rows of `X`."""
        values = self.values(X)
        return values if self.combine is None else row_products(values, self.combine)


def landmark_combination(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what makes Nyström features of kernel values with landmarks.

    `values` are those of the landmarks with themselves; products of features are then kernel
    values between landmarks, nearly.
    """
    ridge = LANDMARK_RIDGE * max(float(np.trace(values)) / len(values), np.finfo(np.float64).tiny)
    factor = cholesky(values + ridge * np.eye(len(values)), lower=True, check_finite=False)
    return np.asarray(dtrtri(factor, lower=True)[0].T)


@np.errstate(over="ignore")  # rows infinitely far apart have nothing in common
def _mean_of_gaussians(distances: NDArray[np.float64], gammas: tuple[float, ...]) -> None:
    """Overwrite squared distances with the mean over `gammas` of ``exp(-gamma d²)``."""
    if all(wide == 4 * narrow for wide, narrow in pairwise(gammas)):
        # A Gaussian of half the width is the fourth power: one exponential serves all.
        distances *= -gammas[-1]
        np.exp(distances, out=distances)
        power = distances.copy() if len(gammas) > 1 else distances
        for _ in gammas[1:]:
            power *= power
            power *= power
            distances += power
    else:
        total = sum(np.exp(-gamma * distances) for gamma in gammas)
        distances[:] = total
    distances /= len(gammas)


def median_distance(X: Any) -> float:
    """Return the median distance between distinct rows; 1 if there are none."""
    products, squares = inner_products(X, X), squared_lengths(X)
    first, second = np.triu_indices(len(squares), 1)
    between = -2 * products[first, second] + squares[first] + squares[second]
    between = np.sqrt(between[between > 0])
    return float(np.median(between)) if len(between) else 1.0
