"""Sparse tables in the one form that their numbers have."""

from __future__ import annotations

from typing import Any


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
