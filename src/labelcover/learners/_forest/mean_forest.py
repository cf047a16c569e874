"""Trees for many labels: in a node the nearest of a few means, found on a sketch of the labels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from labelcover._table_numbers import blocks
from labelcover.learners._features import csr_arrays
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._forest.grown_forest import ForestPaths, GrownForest
from labelcover.learners._forest.mean_tree_kernels import (
    add_mean_paths,
    fall_to_means,
    grow_mean_tree,
)
from labelcover.learners._products import row_products

# Columns of the sketch of the labels.
SKETCH_COLUMNS = 64
# A node with fewer draws than this many times the least number in a leaf is not split.
LEAVES_IN_A_NODE = 10
# New rows may be far out. Squares of no greater numbers have a sum, in single precision or, before
# rows are divided by their lengths, in double.
MOST, MOST_BEFORE = 1e18, 1e150
# The shares of this many most frequent labels are regressed on.
MOST_INPUTS = 1_024
# Ridges that are tried, times the mean eigenvalue, on the leave-one-out errors of so many rows.
RIDGES = 10.0 ** np.arange(-3, 1.5, 0.5)
CHOICE_ROWS = 1_024
# Rows that are corrected at once.
BLOCK_ROWS = 4_096
# A row that alone decides its own prediction cannot be left out.
MOST_LEVERAGE = 0.99
TINY = 1e-9
# Numbers of one block of parts of columns (32 MB).
BLOCK_NUMBERS = 2**22


class MeanForest(GrownForest):
    """In each node rows are grouped by their labels, and go to the group with the nearest mean.

    Labels are seen through a random sketch, drawn for each tree: the labels of a row, scaled to
    length one, times a Gaussian matrix. Its inner products are nearly those of the labels, so the
    work in a node does not grow with the number of labels. Groups are found by k-means on the
    sketch. A cut of one feature tells little where thousands of words tell of hundreds of labels;
    a mean weighs all of them.

    The mean label shares of the leaves are then corrected by each other
    (`ShareRegression`), fitted on out-of-bag shares, unless labels are unknown.
    """

    correction: "ShareRegression | None"

    # Their shares are inputs of the correction, which takes what the second hundred adds.
    default_trees = 200
    fall = staticmethod(fall_to_means)
    large_leaf = 0

    def _read_training(self, given: ReadTable) -> None:
        self._fit_scale(given.table)
        self.table = self._read(given.table)
        self.unit_labels = None if self.known is not None else self._unit_labels(self.labels)

    def _unit_labels(self, labels: tuple[Any, Any]) -> sparse.csr_array:
        """Return the labels of rows, scaled to length one."""
        lengths = np.sqrt(np.diff(labels[1]))
        n, values = len(lengths), 1 / np.repeat(lengths, np.diff(labels[1]))
        return sparse.csr_array((values.astype(np.float32), *labels), shape=(n, self.n_labels))

    def _take(self, grown: list[Any]) -> None:
        super()._take(grown)
        child, n_children, offsets, sizes, *means = self.nodes
        self.nodes = child, n_children, offsets, np.append(0, np.cumsum(sizes)), *means

    def left_out(self, rows, weights, n_jobs) -> NDArray[np.float64]:
        """Fit the correction on out-of-bag shares; return those of training rows, corrected."""
        shares, are_known = self.out_of_bag(np.arange(self.n_rows), n_jobs)
        own = np.flatnonzero(are_known if weights is None else are_known & (weights > 0))
        self.correction = None
        if len(own) > 1 and self.known is None:
            how = self.label_table[own], None if weights is None else weights[own]
            self.correction, shares[own] = fit_share_regression(shares[own], *how)
        self.forget_training()
        return shares[rows]

    def forget_training(self) -> None:
        """Forget what only growing and `left_out` need."""
        super().forget_training()
        del self.unit_labels

    def confidence_of(self, table, n) -> NDArray[np.float64]:
        """Return the corrected label shares of rows as `read` gives them, ``(n, n_labels)``."""
        shares = super().confidence_of(table, n)
        return shares if self.correction is None else self.correction.corrected(shares)

    def row_values(self, label: int) -> NDArray[np.float64]:
        """Return what the correction makes of the labels of training rows: it is linear."""
        own, correction = super().row_values(label), self.correction
        if correction is None:
            return own
        fitted = self.label_table[:, correction.inputs] @ correction.slopes[:, label].astype(
            np.float64
        )
        return own + correction.trust[label] * (fitted + correction.intercept[label] - own)

    def paths(self, X) -> "MeanPaths":
        """Return the confidences of new rows as sums over the columns of the table."""
        return MeanPaths(self, X)

    def _fit_scale(self, X: Any) -> None:
        """Choose how columns are scaled: so that no unit of measurement counts, and rarity does."""
        n = X.shape[0]
        if not self.is_sparse:
            self.largest = _or_one(np.abs(X).max(axis=0))
            scaled = X / self.largest
            self.centre = scaled.mean(axis=0)
            self.scale = 1 / _or_one(scaled.std(axis=0))
            return
        columns = sparse.csc_array(X, dtype=np.float64)
        columns.eliminate_zeros()
        present = np.diff(columns.indptr)
        self.largest = _or_one(np.asarray(abs(columns).max(axis=0).todense()).ravel())
        squares = (columns @ sparse.diags_array(1 / self.largest)).power(2).sum(axis=0)
        typical = _or_one(np.sqrt(squares / np.maximum(present, 1)))
        self.centre = np.zeros(self.n_features)
        self.scale = (1 + np.log(n / np.maximum(present, 1))) / typical

    def _read(self, X: Any) -> tuple[Any, ...]:
        if self.is_sparse:
            factors = self.scale / self.largest
            scaled = sparse.csr_array(sparse.csr_array(X) @ sparse.diags_array(factors))
            scaled.data = np.clip(scaled.data, -MOST_BEFORE, MOST_BEFORE)
            lengths = np.sqrt(scaled.power(2).sum(axis=1))
            scaled = sparse.diags_array(1 / _or_one(lengths)) @ scaled
        else:
            dense = X.toarray() if sparse.issparse(X) else X
            scaled = (dense / self.largest - self.centre) * self.scale
            scaled = np.clip(scaled, -MOST, MOST)
        return csr_arrays(sparse.csr_array(scaled, dtype=np.float32))

    def _grow(self, counts, rows, wanted, min_leaf, random, state) -> tuple[Any, ...]:
        size = (self.n_labels, SKETCH_COLUMNS)
        units = self.unit_labels
        if units is None:
            units = self._unit_labels(self.labels_to_grow_on(random))
        sketch = units @ random.standard_normal(size, dtype=np.float32)
        sketch /= _or_one(np.linalg.norm(sketch, axis=1))[:, None]
        most_leaf = LEAVES_IN_A_NODE * min_leaf
        how = min_leaf, most_leaf, state
        return grow_mean_tree(self.table, self.n_features, sketch, counts, rows, *how)


class MeanPaths(ForestPaths):
    """What nodes change on the paths of rows, from the mean labels of the roots [1]_.

    References
    ----------
    .. [1] A. Palczewska, J. Palczewski, R. Marchese Robinson and D. Neagu (2014). Interpreting
       random forest classification models using a feature contribution method. Integration of
       Reusable Systems, 193–218.
    """

    forest: MeanForest

    def __init__(self, forest: MeanForest, X: Any) -> None:
        super().__init__(forest, X)
        correction, drawn = forest.correction, np.zeros(forest.n_rows)
        for rows, counts in forest.samples():
            drawn[rows] += counts / counts.sum()
        roots = drawn @ forest.label_table / forest.n_trees
        roots = forest.shares_of(roots[None])[0]
        if correction is not None:
            fitted = roots[correction.inputs] @ correction.slopes + correction.intercept
            roots = roots + correction.trust * (fitted - roots)
        self.starts = np.clip(roots, 0, 1)

    def of_label(self, label, rows) -> tuple[NDArray[np.float64], Any]:
        """Return where some of the rows start, and the parts, CSR ``(n_rows, n_columns)``."""
        forest, means, n_trees = self.forest, self.means_of(label), self.forest.n_trees
        start, found = np.zeros(len(rows)), [sparse.csr_array((0, forest.n_features))]
        trees = forest.n_features, forest.nodes, forest.roots, means
        for block in blocks(len(rows), BLOCK_NUMBERS // max(1, forest.n_features)):
            sums = np.zeros((len(rows[block]), forest.n_features))
            add_mean_paths(self.table, *trees, rows[block], sums, start[block])
            found.append(sparse.csr_array(sums / n_trees))
        return start / n_trees, sparse.vstack(found, format="csr")


def _or_one(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers to divide by: 1 instead of 0."""
    return np.where(numbers > 0, numbers, numbers.dtype.type(1))


@dataclass(frozen=True)
class ShareRegression:
    """The correction ``shares + trust · (regression on the shares - shares)``.

    A tree averages the labels of similar rows. Where one label speaks for or against another, its
    share does not say so; a linear regression on the shares of all labels does.

    Attributes
    ----------
    inputs : ndarray
        The labels whose shares are regressed on.
    slopes : ndarray of shape (n_inputs, n_labels)
    intercept : ndarray of shape (n_labels,)
    ridge : float
    trust : ndarray of shape (n_labels,)
        Both with the least squared leave-one-out error.
    """

    inputs: NDArray[np.int64]
    slopes: NDArray[np.float32]
    intercept: NDArray[np.float64]
    ridge: float
    trust: NDArray[np.float64]

    def corrected(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the corrected shares of new rows, between 0 and 1."""
        found = np.empty_like(shares)
        for rows in gen_batches(len(shares), BLOCK_ROWS):
            inputs = shares[rows][:, self.inputs].astype(np.float32)
            fitted = row_products(inputs, self.slopes) + self.intercept
            found[rows] = _mixed(shares[rows], fitted, self.trust)
        return found


def fit_share_regression(
    shares: NDArray[np.float64],
    labels: sparse.csr_array,
    weights: NDArray[np.float64] | None = None,
) -> tuple[ShareRegression, NDArray[np.float64]]:
    """Return the correction of label shares, and the leave-one-out one of the training rows.

    Parameters
    ----------
    shares : ndarray of shape (n, n_labels)
        Of training rows, by trees that were grown without them.
    labels : CSR array of shape (n, n_labels)
        Zeros and ones.
    weights : ndarray of shape (n,), optional
        Weights of the rows.

    Examples
    --------
    A label that the forest says nothing of, but that excludes the first:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelcover.learners._forest.mean_forest import fit_share_regression
    >>> random = np.random.default_rng(0)
    >>> first = random.uniform(0.1, 0.9, 500)
    >>> y = random.random(500) < first
    >>> labels = sparse.csr_array(np.column_stack([y, ~y]).astype(np.uint8))
    >>> correction, _ = fit_share_regression(np.column_stack([first, 0 * first]), labels)
    >>> bool(correction.corrected(np.array([[0.2, 0.0]]))[0, 1] > 0.7)
    True
    """
    n = len(shares)
    w = np.ones(n) if weights is None else weights / weights.mean()
    mean = (w @ labels) / n
    inputs = np.sort(np.argsort(-mean, kind="stable")[:MOST_INPUTS])
    centre = w @ shares[:, inputs] / n
    centred = (shares[:, inputs] - centre).astype(np.float32)
    values, vectors = np.linalg.eigh(
        (centred.T @ (w.astype(np.float32)[:, None] * centred)).astype(np.float64)
    )
    rotated = centred @ vectors.astype(np.float32)
    # Targets need not be centred, since the inputs are.
    products = (labels.T.astype(np.float32) @ (w.astype(np.float32)[:, None] * rotated)).T

    def left_out(ridge: float, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        inverse = (1 / (np.maximum(values, 0) + ridge)).astype(np.float32)
        leverage = w[rows] * ((rotated[rows] ** 2) @ inverse + 1 / n)
        leverage = np.minimum(leverage, MOST_LEVERAGE)[:, None]
        fitted = (rotated[rows] * inverse) @ products + mean
        return (fitted - leverage * labels[rows].toarray()) / (1 - leverage)

    some = np.linspace(0, n - 1, min(n, CHOICE_ROWS)).astype(np.int64)
    known, weight = labels[some].toarray(), w[some, None]
    # Shares that never change have no eigenvalues to speak of.
    unit = max(float(values.mean()), TINY)
    ridge = min(
        (float(scale * unit) for scale in RIDGES),
        key=lambda ridge: float((weight * (left_out(ridge, some) - known) ** 2).sum()),
    )
    found = np.empty_like(shares)
    # How far the regression goes from the shares, and how much of that is towards the labels.
    length, towards = np.zeros(len(mean)), np.zeros(len(mean))
    for block in gen_batches(n, BLOCK_ROWS):
        found[block] = left_out(ridge, np.arange(block.start, block.stop))
        change = found[block] - shares[block]
        missed = labels[block].toarray() - shares[block]
        length += w[block] @ change**2
        towards += w[block] @ (change * missed)
    trust = _trust(length, towards)
    for block in gen_batches(n, BLOCK_ROWS):
        found[block] = _mixed(shares[block], found[block], trust)
    slopes = (vectors / (np.maximum(values, 0) + ridge)).astype(np.float32) @ products
    return ShareRegression(inputs, slopes, mean - centre @ slopes, ridge, trust), found


def _trust(length, towards):
    """Return the share of the way to the regression that each label goes, between 0 and 1.

    That of a label is drawn to the common one, as if as much had been seen as of a mean label.
    """
    if not length.any():
        return np.zeros(len(length))
    common = towards.sum() / length.sum()
    return np.clip((towards + common * length.mean()) / (length + length.mean()), 0, 1)


def _mixed(shares, fitted, trust):
    return np.clip(shares + trust * (fitted - shares), 0, 1)
