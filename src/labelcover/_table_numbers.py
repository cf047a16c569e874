"""The cells of a table: some rows and their weights, masked cells, 0/1 by the rarer value."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

# The greatest number of single precision, in which trees hold them.
LARGEST = float(np.finfo(np.float32).max)
# The share of the greatest weight of a row that any other has, unless it is 0.
LEAST_SHARE = 1e-100
# A column that varies by no more than this share of its size is constant but for rounding.
ROUNDING = 8 * float(np.finfo(np.float64).eps)


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


def rows_of(table: Any, rows: Any) -> Any:
    """Return some rows of an array, a sparse matrix, a data frame or a list, as what it is."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if sparse.issparse(table):
        return (table if table.format in ("csr", "csc") else table.tocsr())[rows]
    return [table[i] for i in rows] if isinstance(table, list | tuple) else table[rows]


def blocks(n: int, step: int) -> Iterator[slice]:
    """Yield slices of ``range(n)`` of at most `step`, at least 1; none if `n` is 0.

    Examples
    --------
    >>> from labelcover._table_numbers import blocks
    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n, max(1, step)):
        yield slice(start, min(start + max(1, step), n))


def unmasked(values: Any, name: str) -> Any:
    """Return `values`, of a masked array the data, of which no cell may be masked."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    n_masked = int(np.ma.count_masked(values))
    if n_masked:
        raise ValueError(
            f"{name} must not have masked cells, got {n_masked:,} of {values.size:,}: leave out "
            "their rows, or fill them."
        )
    return np.asarray(values.data)


def missing_where_masked(X: Any) -> Any:
    """Return `X`, of a masked array the data with missing values in the masked cells."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    if X.dtype.kind in "biuf":
        return np.asarray(np.ma.filled(X.astype(np.float64), np.nan))
    return np.asarray(np.ma.filled(X.astype(object), None))


def is_numeric(X: Any) -> bool:
    """Tell whether `X` is an array of numbers or a sparse matrix: no names, text or tags."""
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf")


def is_plain(X: Any) -> bool:
    """Tell whether `X` is an array of numbers, a table, of which none is missing or too large."""
    if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or X.ndim != 2 or not X.size:
        return False
    # Comparisons with NaN, which a missing number makes of both, do not hold. A half float would be
    # compared with the bound as a half float, which is infinite.
    return float(X.max()) <= LARGEST and float(X.min()) >= -LARGEST


def is_frame(X: Any) -> bool:
    """Tell whether `X` is a pandas or polars data frame."""
    # Asked of the type, for pandas makes the dtypes of a wide frame anew each time.
    return hasattr(type(X), "columns") and hasattr(type(X), "dtypes")


def is_categorical(column: Any) -> bool:
    """Tell whether a pandas or polars column is of categorical dtype."""
    kind = type(getattr(column, "dtype", None)).__name__
    return kind in ("CategoricalDtype", "Categorical", "Enum")


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


def check_weights(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return the weights of `n` rows as they were given; None if none were."""
    if sample_weight is None:
        return None
    weights = check_array(
        unmasked(sample_weight, "sample_weight"),
        ensure_2d=False,
        dtype=np.float64,
        input_name="sample_weight",
    )
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have an entry for each of the {n} rows, got shape {weights.shape}."
        )
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative, got {weights.min()}.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row, got only zeros.")
    return weights


def relative_weights(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """Return weights above 0 divided by their mean; None if there are none or all are the same.

    Only the proportions of weights count: where learners set them against a ridge, a prior or a
    least number of rows, a row of mean weight is one row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover._table_numbers import relative_weights
    >>> relative_weights(np.array([1e-6, 3e-6]))
    array([0.5, 1.5])
    >>> relative_weights(np.array([1e-6, 1e-6])) is None
    True
    """
    if weights is None:
        return None
    least, most = float(weights.min()), float(weights.max())
    if least == most:
        return None
    if least < LEAST_SHARE * most:
        raise ValueError(
            f"sample_weight must be 0 or at least {LEAST_SHARE:g} of the greatest weight, got "
            f"{least:g} and {most:g}: rounding would decide."
        )
    shares = weights / most  # of which the sum cannot overflow
    return shares / shares.mean()


def weighted_rows(
    X: Any, y: Any, sample_weight: Any
) -> tuple[Any, Any, NDArray[np.float64] | None, NDArray[np.int64] | None]:
    """Return the rows whose weight is above 0, their relative weights, and which they are.

    Rows of weight 0 are left out before anything is read of them, so that they might as well not
    be there. Of the last, None stands for all rows.
    """
    if sample_weight is None:
        return X, y, None, None
    table = X if hasattr(X, "shape") else np.asarray(X)
    weights = check_weights(sample_weight, table.shape[0] if table.shape else 0)
    assert weights is not None
    if weights.all():
        return X, y, relative_weights(weights), None
    kept = np.flatnonzero(weights)
    if y is not None:
        check_consistent_length(X, y)
        y = rows_of(y, kept)
    return rows_of(X, kept), y, relative_weights(weights[kept]), kept


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
        if not sparse.issparse(X):
            turned = X.copy()
            return np.subtract(1, X, out=turned, where=self.flipped)
        # These columns are dense for a moment. As most of their training values are 1, that takes
        # no more room than they do in `X`.
        columns, rest = np.flatnonzero(self.flipped), X.copy()
        rest.data *= np.where(self.flipped, 0.0, 1.0)[rest.indices]
        rest.eliminate_zeros()
        turned = type(X)(1 - X[:, columns].toarray())
        turned = type(X)((turned.data, columns[turned.indices], turned.indptr), shape=X.shape)
        return rest + turned


def binary_columns(X: Any) -> NDArray[np.bool_]:
    """Return which columns of an array or a CSR matrix hold nothing but 0 and 1."""
    if not sparse.issparse(X):
        # The first row rules most columns of numbers out.
        binary = (X[0] == 0) | (X[0] == 1)
        binary[binary] = ((X[:, binary] == 0) | (X[:, binary] == 1)).all(axis=0)
        return binary
    odd = (X.data != 0) & (X.data != 1)
    return np.bincount(X.indices[odd], minlength=X.shape[1]) == 0
