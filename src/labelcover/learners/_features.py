"""Numeric and nominal features of a table, as one matrix of numbers; what learns from tables."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import validate_data

from labelcover._table_numbers import (
    canonical_rows,
    check_size,
    is_categorical,
    is_frame,
    is_plain,
    missing_where_masked,
)
from labelcover.chunks import Chunk
from labelcover.learners._chunked_table import ChunkedTable

PLAIN = -1  # among the values that columns mark: the column is the feature itself


def checked_table(owner: Any, X: Any, *, reset: bool, dtype: Any, allow_nan: bool) -> Any:
    """Return `X` after scikit-learn's checks; a data frame stays one, so that dtypes are kept.

    The names and the number of features are kept on `owner`. A sparse table has the columns of
    each row in order, each once, and stores no zeros, so that equal tables give equal models.
    Masked cells are missing values.
    """
    if is_frame(X):
        validate_data(owner, X, reset=reset, skip_check_array=True)
        return X
    X = validate_data(
        owner,
        missing_where_masked(X),
        reset=reset,
        accept_sparse="csr",
        dtype=dtype,
        ensure_all_finite="allow-nan" if allow_nan else True,
    )
    return canonical_rows(X) if sparse.issparse(X) else X


@dataclass(frozen=True)
class FeatureCoding:
    """How the values of nominal features become numbers.

    Attributes
    ----------
    categories : tuple
        For each feature the values it may take, in order, or None if it is numeric.
    mixed : bool
        Whether tables may hold other values than numbers.
    allow_nan : bool
        Whether a numeric feature may have missing values.
    of_dense : bool
        Whether the training table was dense, so that new rows are too: learners scale features of
        sparse tables in another way.
    """

    categories: tuple[NDArray[Any] | None, ...]
    mixed: bool = False
    allow_nan: bool = True
    of_dense: bool = False

    @classmethod
    def fitted(cls, owner: Any, X: Any, learner: Any) -> "tuple[FeatureCoding, Any]":
        """Return the coding of a training table by the rules of `learner`, and its numbers."""
        chosen, allow_nan = learner.categorical_features, get_tags(learner).input_tags.allow_nan
        mixed = chosen is not None and not isinstance(chosen, str)
        dtype = None if mixed else np.float64
        X = checked_table(owner, X, reset=True, dtype=dtype, allow_nan=allow_nan)
        coding = cls(feature_categories(X, chosen), mixed, allow_nan)
        numbers = coding.numbers(X)
        check_size(numbers, getattr(owner, "feature_names_in_", None))
        return replace(coding, of_dense=not sparse.issparse(numbers)), numbers

    @classmethod
    def fitted_in_chunks(
        cls, owner: Any, X: ChunkedTable, learner: Any
    ) -> "tuple[FeatureCoding, ChunkedTable]":
        """Return the same for rows in chunks, which are numbers: what is nominal was named."""
        owner.n_features_in_, chosen = X.shape[1], learner.categorical_features
        if chosen is None or isinstance(chosen, str):
            return cls((None,) * X.shape[1], allow_nan=False, of_dense=not X.is_sparse), X
        categories = X.reduce(partial(_categories_of_chunk, chosen), _united)
        coding = cls(categories, mixed=True, allow_nan=False, of_dense=not X.is_sparse)
        return coding, X.mapped(coding.numbers)

    def read(self, owner: Any, X: Any) -> Any:
        """Return the numbers of a table of new rows."""
        # Scikit-learn's checks take as long as half of the prediction of a row, and would find
        # nothing in such an array.
        is_known = "feature_names_in_" not in vars(owner) and not self.mixed and is_plain(X)
        if is_known and X.shape[1] == owner.n_features_in_:
            return np.ascontiguousarray(self.numbers(np.asarray(X, dtype=np.float64)))
        dtype = None if self.mixed else np.float64
        numbers = self.numbers(
            checked_table(owner, X, reset=False, dtype=dtype, allow_nan=self.allow_nan)
        )
        check_size(numbers, getattr(owner, "feature_names_in_", None))
        if sparse.issparse(numbers):
            return numbers.toarray() if self.of_dense else numbers
        # Sums over a row are rounded by how it lies in memory.
        return np.ascontiguousarray(numbers)

    @property
    def n_values(self) -> NDArray[np.int32]:
        """Number of values of each nominal feature (at least 1), 0 for a numeric one."""
        sizes = [0 if values is None else max(len(values), 1) for values in self.categories]
        return np.array(sizes, dtype=np.int32)

    def numbers(self, X: Any) -> Any:
        """Return `X` as floats: numbers of values, -1 for unseen ones, NaN for missing ones.

        A sparse table stays sparse where every nominal feature takes the values 0 and 1 only,
        which are their own numbers.
        """
        nominal = self.n_values > 0
        if not nominal.any() or (sparse.issparse(X) and self._values_are_numbers()):
            return self._floats(X)
        X = X.tocsc() if sparse.issparse(X) else X
        numbers = np.empty(X.shape)
        numeric = np.flatnonzero(~nominal)
        if len(numeric):
            chosen = X[[X.columns[f] for f in numeric]] if is_frame(X) else X[:, numeric]
            floats = self._floats(chosen)
            numbers[:, numeric] = floats.toarray() if sparse.issparse(floats) else floats
        known = [values for values in self.categories if values is not None]
        for (f, column), values in zip(_each_column(X, nominal), known, strict=True):
            numbers[:, f] = _value_numbers(column, values)
        return numbers

    def _floats(self, X: Any) -> Any:
        if isinstance(X, np.ndarray) and X.dtype == np.float64:
            return X  # checked with the whole table
        names = list(X.columns) if is_frame(X) else None
        if names is not None:
            if all(isinstance(t, np.dtype) and t.kind in "biuf" for t in X.dtypes):
                X = X.to_numpy(dtype=np.float64)  # much sooner than column by column
            else:
                for name, dtype in columns_without_numbers(X).items():
                    raise ValueError(
                        "X must hold numbers or columns of categorical dtype, got "
                        f"{dtype} in column {name!r}."
                    )
        finite = "allow-nan" if self.allow_nan or names is not None else True
        numbers = check_array(
            X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=finite, input_name="X"
        )
        if names is not None and not self.allow_nan:
            _check_known(numbers, names)
        return numbers

    def _values_are_numbers(self) -> bool:
        return all(
            values is None or (values.dtype.kind in "fiub" and values.tolist() in ([], [0], [0, 1]))
            for values in self.categories
        )


def feature_categories(X: Any, categorical_features: Any) -> tuple[NDArray[Any] | None, ...]:
    """Return the values of each nominal feature of a training table, None for a numeric one.

    A column of categorical dtype declares its categories; of any other nominal column, the
    values that occur are the categories, sorted.

    Parameters
    ----------
    X : array, sparse matrix or data frame
    categorical_features : "from_dtype", None, or array-like
        Which features are nominal: those of categorical dtype, none, or those named, numbered
        or marked by a mask.
    """
    nominal = _nominal_mask(X, categorical_features)
    categories: list[NDArray[Any] | None] = [None] * X.shape[1]
    X = X.tocsc() if sparse.issparse(X) and nominal.any() else X
    for f, column in _each_column(X, nominal):
        if _dtype_kind(column) not in ("CategoricalDtype", "Enum"):
            values = np.asarray(column)
            categories[f] = np.unique(values[~_is_missing(values)])
        else:
            categories[f] = np.asarray(list(column.dtype.categories), dtype=object)
    return tuple(categories)


Categories = tuple[NDArray[Any] | None, ...]


def _categories_of_chunk(categorical_features: Any, table: Any, chunk: Chunk) -> Categories:
    return feature_categories(table, categorical_features)


def _united(first: Categories, second: Categories) -> Categories:
    pairs = zip(first, second, strict=True)
    return tuple(None if a is None or b is None else np.union1d(a, b) for a, b in pairs)


def one_hot_columns(n_values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of which feature each column is made, and which value it marks.

    A nominal feature of more than two values becomes a 0/1 column for each; any other feature is
    a column itself (`PLAIN`).
    """
    counts = np.where(n_values > 2, n_values, 1)
    source = np.repeat(np.arange(len(counts)), counts)
    value = np.concatenate([np.arange(c) if c > 1 else [PLAIN] for c in counts])
    return source, value


def one_hot(
    numbers: NDArray[np.float64], source: NDArray[np.int64], value: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the columns that `one_hot_columns` describes; a value never seen marks none."""
    marks = value != PLAIN
    if not marks.any():
        return numbers
    columns = numbers[:, source]
    columns[:, marks] = columns[:, marks] == value[marks]
    return columns


def numeric(X: Any, n_values: NDArray[np.int32]) -> Any:
    """Return `X` with nominal features one-hot; missing and unseen values mark nothing."""
    if sparse.issparse(X) or not n_values.any():
        return X
    binary = (n_values > 0) & (n_values <= 2)
    numbers = np.where(binary & ~(X > 0), 0.0, X) if binary.any() else X
    return one_hot(numbers, *one_hot_columns(n_values))


def columns_without_numbers(X: Any) -> dict[Any, Any]:
    """Return the names of the columns of a frame that hold no numbers, and their dtypes."""
    found = {}
    for name in X.columns:
        values = np.asarray(X[name])
        try:
            if values.dtype.kind not in "biuf":
                values = values if values.dtype.kind in "mM" else values.astype(np.float64)
        except (TypeError, ValueError):
            pass
        if values.dtype.kind not in "biuf":
            found[name] = X[name].dtype
    return found


def _check_known(numbers: Any, names: list[Any]) -> None:
    """Raise a ``ValueError`` that names the columns with missing values.

    `numbers` are an array, or CSR, as a data frame of sparse columns becomes.
    """
    if sparse.issparse(numbers):
        missing = numbers.indices[np.isnan(numbers.data)]
        n_missing = np.bincount(missing, minlength=numbers.shape[1])
    else:
        n_missing = np.isnan(numbers).sum(axis=0)
    if n_missing.any():
        where = [f"{names[f]!r} ({n_missing[f]:,})" for f in np.flatnonzero(n_missing)]
        shown = ", ".join(where[:5]) + (f" and {len(where) - 5:,} more" if len(where) > 5 else "")
        raise ValueError(
            f"Input X contains NaN in {shown} of {numbers.shape[0]:,} rows. Fill missing values "
            "first, for instance with sklearn.impute.SimpleImputer in a pipeline."
        )


def _nominal_mask(X: Any, categorical_features: Any) -> NDArray[np.bool_]:
    n_features = X.shape[1]
    mask = np.zeros(n_features, dtype=bool)
    if categorical_features is None:
        return mask
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(
                "categorical_features must be 'from_dtype', None, a mask, indices or names of "
                f"features, got {categorical_features!r}."
            )
        if is_frame(X):
            mask[:] = [is_categorical(X[name]) for name in X.columns]
        return mask
    given = np.asarray(categorical_features)
    if given.dtype == bool:
        if given.shape != (n_features,):
            raise ValueError(
                f"categorical_features as a mask must have one entry for each of the {n_features} "
                f"features, got shape {given.shape}."
            )
        return given
    if given.dtype.kind in "UO" and given.size:
        known = {name: f for f, name in enumerate(X.columns)} if is_frame(X) else {}
        unknown = [str(name) for name in given if name not in known]
        if unknown:
            raise ValueError(
                f"categorical_features names {', '.join(unknown)}, but X has no such column."
            )
        given = np.array([known[name] for name in given], dtype=np.int64)
    given = given.astype(np.int64) if not given.size else given
    if given.dtype.kind not in "iu" or (
        given.size and not 0 <= given.min() <= given.max() < n_features
    ):
        raise ValueError(
            f"categorical_features as indices must lie between 0 and {n_features - 1}, "
            f"got {categorical_features!r}."
        )
    mask[given] = True
    return mask


def _each_column(X: Any, chosen: NDArray[np.bool_]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the values of each column that a mask chooses."""
    names = list(X.columns) if is_frame(X) else None
    for f in np.flatnonzero(chosen).tolist():
        if names is not None:
            yield f, X[names[f]]
        else:
            yield f, X[:, [f]].toarray().ravel() if sparse.issparse(X) else np.asarray(X)[:, f]


def _dtype_kind(column: Any) -> str:
    return type(getattr(column, "dtype", None)).__name__


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "O":
        return np.array([v is None or v != v for v in values], dtype=bool)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _value_numbers(column: Any, categories: NDArray[Any]) -> NDArray[np.float64]:
    if _dtype_kind(column) == "CategoricalDtype":
        known = np.asarray(list(column.dtype.categories), dtype=object)
        renumbered = np.append(_value_numbers(known, categories), np.nan)
        return renumbered[column.array.codes]
    values = np.asarray(column)
    missing = _is_missing(values)
    numbers = np.full(len(values), np.nan)
    if values.dtype.kind in "fiub" and categories.dtype.kind in "fiub":
        known = values[~missing]
        at = np.searchsorted(categories, known).clip(max=max(len(categories) - 1, 0))
        found = categories[at] == known if len(categories) else np.zeros(len(known), dtype=bool)
        numbers[~missing] = np.where(found, at, -1)
    else:
        number = {value: i for i, value in enumerate(categories)}
        numbers[~missing] = [number.get(value, -1) for value in values[~missing]]
    return numbers


def csr_arrays(X: Any) -> tuple[Any, ...]:
    """Return the three arrays of a CSR or CSC matrix as the compiled loops take them."""
    return X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)


class TableLearner(BaseEstimator):
    """What learns from a table, and says how it is read.

    Attributes
    ----------
    view : str
        What a plan calls the view that is fitted with it.
    categorical_features
        Which features are nominal, as of `feature_categories`.
    gives_left_out : bool
        Whether what is fitted has out-of-sample predictions for training rows.
    gives_probabilities : bool
        Whether class distributions are probabilities; else only the most probable class counts.
    reads_chunks : bool
        Whether it is fitted on rows in chunks.
    """

    view: str
    categorical_features: Any = "from_dtype"
    gives_left_out = False
    gives_probabilities: Any = True
    reads_chunks = False

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""

    def read_table(self, owner: BaseEstimator, X: Any) -> tuple[Any, Any]:
        """Return how a training table is coded, and the table as it is learned from.

        The names and the number of features are kept on `owner`.
        """
        self.check_parameters()
        return FeatureCoding.fitted(owner, X, self)

    def read_chunks(self, owner: BaseEstimator, X: ChunkedTable) -> tuple[FeatureCoding, Any]:
        """Return the same for rows in chunks."""
        self.check_parameters()
        return FeatureCoding.fitted_in_chunks(owner, X, self)

    def warning_once(self) -> AbstractContextManager:
        """Return the context of a fit, in which what many members warn of is told once."""
        return nullcontext()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


def read_only(*arrays):
    """Return views that cannot be written to.

    What a loop only reads has one form then, and the loop is compiled once for arrays in memory
    and for those of a model that is mapped from a file.
    """
    views = tuple(array.view() for array in arrays)
    for view in views:
        view.flags.writeable = False
    return views
