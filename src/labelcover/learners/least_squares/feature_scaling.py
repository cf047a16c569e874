"""Features brought to one scale, so that one ridge and one kernel width serve them all."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class FeatureScaling:
    """Numeric features standardised, bags of words row-normalised.

    A table in which at least half of the columns hold nothing but 0 and 1 is read as a bag of
    words beside some numbers: the 0/1 part of each row is divided by its length. In any other
    table every column is read as a number. Numbers are centred and divided by their standard
    deviation; columns of a sparse table are divided by their root mean square instead, which keeps
    zeros. At last all is divided so that a typical row has length one, a word counting as much
    as a number.

    Parameters
    ----------
    enabled : bool
        If false, tables pass through unchanged.
    """

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled

    def fit(self, X: Any, weights: NDArray[np.float64] | None = None) -> Self:
        """Learn the scale of each column of `X` (ndarray or CSR), its rows weighted."""
        if not self.enabled:
            return self
        self.words = _binary_columns(X)
        if 2 * self.words.sum() < len(self.words):
            self.words = np.zeros_like(self.words)
        shares = np.ones(X.shape[0]) if weights is None else weights
        shares = shares / shares.sum()
        if sparse.issparse(X):
            self.shift = np.zeros(X.shape[1])
            spread = np.sqrt(np.asarray(shares @ X.multiply(X)).ravel())
        else:
            mean = shares @ X
            self.shift = np.where(self.words, 0.0, mean)
            centred = X - mean
            spread = np.sqrt(np.einsum("i,ij,ij->j", shares, centred, centred))
        # A column that is constant but for rounding carries nothing.
        spread[spread <= 1e-12 * np.maximum(np.abs(self.shift), 1e-300)] = np.inf
        self.factor = 1 / (np.where(self.words, 1.0, spread) * np.sqrt(len(self.words)))
        return self

    def transform(self, X: Any) -> Any:
        """Return `X` on the scale of `fit`, sparse if it was."""
        if not self.enabled:
            return X
        if sparse.issparse(X):
            scaled = X.multiply(self.factor).tocsr()
        else:
            scaled = X - self.shift
            scaled *= self.factor
        if not self.words.any():
            return scaled
        if self.words.all():
            return rows_times(scaled, self._row_factors(X))
        if sparse.issparse(X):
            part = sparse.diags_array(self._row_factors(X)) @ scaled
            return (
                part @ sparse.diags_array(self.words.astype(float))
                + scaled @ sparse.diags_array((~self.words).astype(float))
            ).tocsr()
        scaled[:, self.words] *= self._row_factors(X)[:, None]
        return scaled

    def _row_factors(self, X: Any) -> NDArray[np.float64]:
        """Return what brings the words of each row, once divided by √d, to length √(words / d)."""
        words = X[:, self.words]
        squares = words.multiply(words) if sparse.issparse(X) else words**2
        lengths = np.sqrt(np.asarray(squares.sum(axis=1)).ravel())
        return np.sqrt(self.words.sum()) / np.where(lengths == 0, 1.0, lengths)


def _binary_columns(X: Any) -> NDArray[np.bool_]:
    """Which columns hold only 0 and 1."""
    if not sparse.issparse(X):
        # The first row rules most columns of numbers out.
        binary = (X[0] == 0) | (X[0] == 1)
        binary[binary] = ((X[:, binary] == 0) | (X[:, binary] == 1)).all(axis=0)
        return binary
    X = X.tocsc()
    odd = (X.data != 0) & (X.data != 1)
    counts = np.bincount(
        np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))[odd], minlength=X.shape[1]
    )
    return counts == 0


def rows_times(X: Any, factors: NDArray[np.float64]) -> Any:
    """Return `X` with each row multiplied by its factor, sparse if it was."""
    if sparse.issparse(X):
        return (sparse.diags_array(factors) @ X).tocsr()
    return X * factors[:, None]
