"""0/1 columns read by their rarer value, so that a 1 is always the news."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


class RareValues:
    """Each 0/1 column turned so that its ones are its rarer value.

    Some tables code "yes" as 0, and so hold ones nearly everywhere. Lengths of rows, and counts of
    what rows share, then say little; read by the rarer value they say what they should, and a
    sparse table becomes sparse again.

    Attributes
    ----------
    binary : ndarray of shape (features,), bool
        Which columns of the training table hold nothing but 0 and 1.
    flipped : ndarray of shape (features,), bool
        Which of them hold 1 in more than half of the training rows: `transform` returns ``1 - x``.
    """

    binary: NDArray[np.bool_]
    flipped: NDArray[np.bool_]

    def fit(self, X: Any, weights: NDArray[np.float64] | None = None) -> Self:
        """Find the rarer value of each 0/1 column of `X` (ndarray or CSR), its rows weighted."""
        shares = np.ones(X.shape[0]) if weights is None else weights
        self.binary = binary_columns(X)
        self.flipped = self.binary.copy()
        ones = shares @ (X if sparse.issparse(X) else X[:, self.binary])
        ones = ones[self.binary] if sparse.issparse(X) else ones
        self.flipped[self.binary] = 2 * ones > shares.sum()
        return self

    def transform(self, X: Any) -> Any:
        """Return `X` with ``1 - x`` in the flipped columns, dense or CSR as it was.

        `X` itself is returned if no column is flipped. What is not 0 or 1 in new rows is
        subtracted from 1 too.
        """
        if not self.flipped.any():
            return X
        if sparse.issparse(X):
            return _sparse_flipped(X, np.flatnonzero(self.flipped))
        flipped = X.copy()
        flipped[:, self.flipped] = 1 - X[:, self.flipped]
        return flipped


def binary_columns(X: Any) -> NDArray[np.bool_]:
    """Return which columns of an array or a CSR matrix hold nothing but 0 and 1."""
    if not sparse.issparse(X):
        # The first row rules most columns of numbers out.
        binary = (X[0] == 0) | (X[0] == 1)
        binary[binary] = ((X[:, binary] == 0) | (X[:, binary] == 1)).all(axis=0)
        return binary
    odd = (X.data != 0) & (X.data != 1)
    return np.bincount(X.indices[odd], minlength=X.shape[1]) == 0


def _sparse_flipped(X: Any, flipped: NDArray[np.int64]) -> Any:
    """Return a CSR matrix with ``1 - x`` in some columns.

    Those columns are dense for a moment. As most of their training values are 1, that takes no
    more room than they do in `X`.
    """
    kept = np.ones(X.shape[1])
    kept[flipped] = 0
    rest = X.copy()
    rest.data *= kept[rest.indices]
    rest.eliminate_zeros()
    turned = type(X)(1 - X[:, flipped].toarray())
    turned = type(X)((turned.data, flipped[turned.indices], turned.indptr), shape=X.shape)
    return rest + turned
