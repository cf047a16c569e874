"""Columns of a table as trees hold them, in single precision, so that none loses its values."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# A column further from zero than so many times its range is shifted: single precision would leave
# it too few values.
FAR = 1_000
# Sizes of numbers beyond these are divided by a power of two: differences would overflow, or the
# numbers vanish.
SMALLEST, LARGEST = 1e-30, 1e37


class SinglePrecision:
    """Columns shifted and scaled where single precision would lose what they say.

    Most tables have no such column, and stay as they are but for rounding.

    Attributes
    ----------
    shift, factor : ndarray of shape (n_features,) or None
        What is subtracted from columns, and what they are then multiplied by, a power of two.
    """

    shift: NDArray[np.float64] | None = None
    factor: NDArray[np.float64] | None = None

    def fit(self, X: Any, *, shifted: bool) -> Self:
        """Look at the columns of `X` (ndarray or CSR); `shifted` if they may be."""
        low, high = _ranges(X)
        size = np.maximum(np.abs(low), np.abs(high))
        width = high / 2 - low / 2  # the difference itself may overflow
        far = (size > 2 * FAR * width) & (width > 0) & shifted
        if far.any():
            self.shift = np.where(far, low, 0.0)
            size = np.where(far, 2 * width, size)
        odd = (size > 0) & ((size < SMALLEST) | (size > LARGEST))
        if odd.any():
            exponent = np.frexp(size)[1]
            self.factor = np.where(odd, np.ldexp(1.0, -np.where(odd, exponent, 0)), 1.0)
        return self

    def dense(self, X: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return an array as the trees take it."""
        if self.shift is None and self.factor is None:
            return np.ascontiguousarray(X, dtype=np.float32)
        moved = X if self.shift is None else X - self.shift
        moved = moved if self.factor is None else moved * self.factor
        return np.ascontiguousarray(_inside(moved), dtype=np.float32)

    def sparse(self, X: Any) -> sparse.csr_array:
        """Return a table, dense or sparse, as the trees take a sparse one."""
        rows = sparse.csr_array(X)
        if self.factor is not None:
            values = _inside(rows.data * self.factor[rows.indices])
            rows = sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        return rows.astype(np.float32)


def _ranges(X: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest number of each column."""
    if not sparse.issparse(X):
        return X.min(axis=0), X.max(axis=0)
    return X.min(axis=0).toarray().ravel(), X.max(axis=0).toarray().ravel()


def _inside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values that single precision can hold: those of new rows may be far out."""
    most = float(np.finfo(np.float32).max)
    return np.clip(values, -most, most)
