"""Trees that split at a threshold of one feature, by the variance of all labels."""

from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._table_numbers import RareValues, blocks
from labelcover.learners._features import csr_arrays, numeric
from labelcover.learners._forest.forest_kernels import MANY_ROWS as LARGE_LEAF
from labelcover.learners._forest.forest_kernels import fall, grow_tree
from labelcover.learners._forest.grown_forest import (
    MOST_MEANS,
    ForestPaths,
    GrownForest,
    is_mostly_zero,
)
from labelcover.learners._forest.sparse_tree_kernels import (
    SKETCH_COLUMNS,
    grow_sparse_tree,
)
from labelcover.learners._forest.swap_kernels import UNBENT, swap_parts

# Trees of a forest, and of one on a sparse table, where trees are quick and differ more.
TREES, SPARSE_TREES = 100, 200
# On a sparse table with so many rows a tree sees half of them, and with a number of features in the
# range below this share of these. Of few a tree must make the most; where there are more, each is
# in few rows, for which no other stands in.
MANY_ROWS = 1_000
LEAST_FEATURES, MOST_FEATURES = 100, 4_000
FEATURE_SHARE = 0.25
# What columns add to log-odds on sparse tables is averaged over orders with so many steps of one.
MOST_STEPS = 128
# A column further from zero than so many times its range is shifted: single precision would leave
# it too few values.
FAR = 1_000
# Sizes of numbers beyond these are divided by a power of two: differences would overflow, or the
# numbers vanish.
SMALLEST, LARGEST = 1e-30, 1e37
# Leaves of dense tables, where rows differ, are never summed once for all rows in them.
NO_LEAF = 2**31
NO_TABLE = np.zeros((0, 0), np.float32)
NO_ARRAYS = (np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int64))


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

    def fit(self, X: Any) -> Self:
        """Look at the columns of `X`, an array, or CSR, of which none is shifted."""
        if sparse.issparse(X):
            size = abs(X).max(axis=0).toarray().ravel()
        else:
            low, high = X.min(axis=0), X.max(axis=0)
            size = np.maximum(np.abs(low), np.abs(high))
            width = high / 2 - low / 2  # the difference itself may overflow
            far = (size > 2 * FAR * width) & (width > 0)
            if far.any():
                self.shift = np.where(far, low, 0.0)
                size = np.where(far, 2 * width, size)
        odd = (size > 0) & ((size < SMALLEST) | (size > LARGEST))
        if odd.any():
            exponent = np.frexp(size)[1]
            self.factor = np.where(odd, np.ldexp(1.0, -np.where(odd, exponent, 0)), 1.0)
        return self

    def arrays(self, X: Any, *, is_sparse: bool) -> tuple[Any, ...]:
        """Return a table, dense or sparse, as the trees take it."""
        if is_sparse:
            rows = sparse.csr_array(X)
            values = rows.data
            if self.factor is not None:
                values = _inside(values * self.factor[rows.indices])
            return NO_TABLE, (values.astype(np.float32), *csr_arrays(rows)[1:])
        moved = X.toarray() if sparse.issparse(X) else X
        if self.shift is not None or self.factor is not None:
            moved = moved if self.shift is None else moved - self.shift
            moved = _inside(moved if self.factor is None else moved * self.factor)
        return np.ascontiguousarray(moved, dtype=np.float32), NO_ARRAYS


def _inside(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values that single precision can hold: those of new rows may be far out."""
    most = float(np.finfo(np.float32).max)
    return np.clip(values, -most, most)


class ReadTable:
    """A table as trees and neighbours read it, which several views share.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, features)
        Nominal features as numbers of their values.
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    rare : RareValues
    is_sparse : bool
        Whether it is read as a sparse table.
    table : ndarray, or CSR array if `is_sparse`
        Nominal features one-hot, 0/1 columns by their rarer value.
    """

    def __init__(self, X: Any, n_values: NDArray[np.int32]) -> None:
        self.X, self.n_values, self.rare = X, n_values, RareValues()
        numbers = numeric(X, n_values)
        self.table = self.rare.fit(numbers).transform(numbers)
        self.is_sparse = is_mostly_zero(self.table)
        if self.is_sparse:
            self.table = sparse.csr_array(self.table)

    @cached_property
    def precision(self) -> SinglePrecision:
        """What brings columns to single precision."""
        return SinglePrecision().fit(self.table)

    @cached_property
    def single(self) -> tuple[Any, ...]:
        """The table as trees take it."""
        return self.precision.arrays(self.table, is_sparse=self.is_sparse)

    @cached_property
    def origin(self) -> NDArray[np.float32]:
        """The row from which columns pass to others, as trees take it.

        Numbers are at their mean. Of a table with few nonzeros, those that are mostly 0 are at 0,
        and all if the table is stored as a sparse one.
        """
        dense, (data, indices, _) = self.single
        n, d = self.table.shape
        if len(dense):
            return dense.mean(axis=0, dtype=np.float64).astype(np.float32)
        if sparse.issparse(self.X):
            return np.zeros(d, np.float32)
        held = np.bincount(indices[data != 0], minlength=d)
        means = np.bincount(indices, data.astype(np.float64), minlength=d) / n
        return np.where(2 * held > n, means, 0.0).astype(np.float32)


class FeatureForest(GrownForest):
    """In each node the best of some random cuts of random features splits the rows.

    A tree of a sparse table sees the labels through a random sketch. From 1,000 rows on it is
    grown on half of the rows, which serves as well as a bootstrap sample, and, where there are 100
    to 4,000, on a quarter of the features: alone it is worse, but it errs elsewhere, and takes a
    fraction of the time.

    References
    ----------
    T. K. Ho (1998). The random subspace method for constructing decision forests. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 20(8), 832–844.

    P. Bühlmann and B. Yu (2002). Analyzing bagging. Annals of Statistics 30(4), 927–961.

    A. Joly, P. Geurts and L. Wehenkel (2014). Random forests with random projections of the output
    space for high dimensional multi-label classification. ECML PKDD 2014, 607–622.
    """

    fall = staticmethod(fall)

    def _read_training(self, given: ReadTable) -> None:
        self.precision, self.table, self.origin = given.precision, given.single, given.origin
        self.is_large = self.is_sparse and given.table.shape[0] >= MANY_ROWS
        self.default_trees, self.large_leaf = TREES, NO_LEAF
        if self.is_sparse:
            self.default_trees, self.large_leaf = SPARSE_TREES, LARGE_LEAF
        if not self.is_sparse:
            self.training = np.ascontiguousarray(self.table[0].T)

    def forget_training(self) -> None:
        """Forget what only growing and `left_out` need."""
        super().forget_training()
        self.__dict__.pop("training", None)

    def _read(self, X: Any) -> tuple[Any, ...]:
        return self.precision.arrays(X, is_sparse=self.is_sparse)

    def _draw(self, random, weights) -> NDArray[np.float64]:
        if not self.is_large or weights is not None:
            return super()._draw(random, weights)
        n = self.n_rows
        counts = np.zeros(n)
        counts[random.permutation(n)[: (n + 1) // 2]] = 1
        return counts

    def _grow(self, counts, rows, wanted, min_leaf, random, state) -> tuple[Any, ...]:
        d, m = self.n_features, self.n_labels
        labels = self.labels_to_grow_on(random)
        if self.is_sparse:
            is_used = np.ones(d, dtype=bool)
            if self.is_large and LEAST_FEATURES <= self.n_present <= MOST_FEATURES:
                is_used = random.random(d) < FEATURE_SHARE
            tree, order = grow_sparse_tree(
                self.table[1],
                labels,
                directions(m, SKETCH_COLUMNS, random),
                rows,
                counts[rows],
                is_used,
                wanted,
                min_leaf,
                state,
            )
            rows[:] = rows[order]
            return tree
        order = np.arange(d, dtype=np.int32)
        return grow_tree(self.training, labels, counts, rows, order, m, wanted, min_leaf, state)

    def paths(self, X) -> "FeaturePaths":
        """Return the confidences of new rows as sums over the columns of the table."""
        return FeaturePaths(self, X)


class FeaturePaths(ForestPaths):
    """What the columns of rows add to the answers of a forest at its origin: Shapley values.

    The origin is that of `ReadTable`. What a column adds is averaged over all orders in which
    columns pass from the origin to the row [1]_.

    References
    ----------
    .. [1] S. M. Lundberg, G. Erion et al. (2020). From local explanations to global understanding
       with explainable AI for trees. Nature Machine Intelligence 2, 56–67.
    """

    forest: FeatureForest

    def __init__(self, forest: FeatureForest, X: Any) -> None:
        super().__init__(forest, X)
        self.starts = forest.confidence_of(row_table(forest.origin, forest.is_sparse), 1)[0]

    def combined(self, rows, weights, bent=None) -> Any:
        """Return the parts of a sum of labels, CSR ``(n_rows, n_columns)``."""
        how: Any = UNBENT
        if bent is not None and self.forest.is_sparse:
            label, *rest = bent
            how = self.means_of(label), self.starts[label], *rest, MOST_STEPS
        roots = self.forest.roots
        total: Any = sparse.csr_array((len(rows), self.forest.n_features))
        used = np.flatnonzero(weights.any(axis=0))
        for some in blocks(len(used), MOST_MEANS // int(roots[-1])):
            means = np.array([self.means_of(int(k)) for k in used[some]])
            own = np.ascontiguousarray(weights[:, used[some]])
            trees = self.forest.origin, self.forest.nodes, roots
            made, how = swap_parts(self.table, *trees, means, own, rows, how), UNBENT
            total = total + sparse.csr_array(made, shape=total.shape)
        return total / self.forest.n_trees


def row_table(row: NDArray[np.float32], is_sparse: bool) -> tuple[Any, ...]:
    """Return one row as a table that trees take."""
    if not is_sparse:
        return row[None], NO_ARRAYS
    return NO_TABLE, csr_arrays(sparse.csr_array(row[None]))


def directions(m: int, n_columns: int, random: np.random.Generator) -> NDArray[np.float32]:
    """Return what each of `m` labels adds to the sketch of a row, ``(m, n_columns)``.

    No more labels than columns are themselves the sketch.
    """
    if m <= n_columns:
        return np.eye(m, n_columns, dtype=np.float32)
    return random.standard_normal((m, n_columns), dtype=np.float32)
