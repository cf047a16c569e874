"""The numbers of a table: sparse ones in the one form that they have, none too large."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

# The greatest number of single precision, in which trees hold them.
LARGEST = float(np.finfo(np.float32).max)


def canonical_rows(X: Any) -> Any:
    """Return a sparse table as CSR, its columns in order, each once, and no zeros stored.

    Equal tables are then stored alike. `X` itself is returned if it is so already, and never
    changed.
    """
    rows = X if X.format == "csr" else X.tocsr()
    if rows.has_canonical_format and rows.data.all():
        return rows
    rows = rows.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def is_plain(X: Any) -> bool:
    """Tell whether `X` is an array of numbers, a table, of which none is missing or too large."""
    if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or X.ndim != 2 or not X.size:
        return False
    # Comparisons with NaN, which a missing number makes of both, do not hold. A half float would be
    # compared with the bound as a half float, which is infinite.
    return float(X.max()) <= LARGEST and float(X.min()) >= -LARGEST


def check_size(X: Any, names: Sequence[str] | None = None) -> None:
    """Raise a ``ValueError`` that names the column if a number is beyond single precision.

    `X` is an array or CSR, `names` those of its columns. One with missing values passes.
    """
    values = X.data if sparse.issparse(X) else X
    if values.size and max(float(values.max()), -float(values.min())) > LARGEST:
        sizes = abs(X).max(axis=0)
        feature = int((sizes.toarray() if sparse.issparse(sizes) else sizes).argmax())
        column = repr(feature if names is None else names[feature])
        raise ValueError(
            f"X must hold numbers of at most {LARGEST:.2g} in size, got {sizes.max():.2g} in "
            f"column {column}: divide the column by a constant."
        )
