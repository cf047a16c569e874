"""A forest of extremely randomised trees on all labels at once, with out-of-bag predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_integer, check_random_state
from labelcover.learners.features import FeatureCoding, numeric
from labelcover.learners.forest.forest_kernels import add_answers, grow_tree
from labelcover.learners.problems import in_parallel
from labelcover.learners.rare_values import RareValues

# A table with a smaller share of cells that are not 0 is read as a sparse one.
SPARSE_SHARE = 0.25


class LabelForest(BaseEstimator):
    """Extremely randomised trees whose leaves hold the labels of their training rows.

    Every tree is grown on a bootstrap sample; in each node the best of √d random cuts, the one
    that leaves the labels least varied, splits the rows. The confidence of a label is its mean
    share in the leaves that a row falls into. One tree serves all labels, however many: the cost
    grows with the labels that rows have. What a training row gets from the trees that were grown
    without it (out-of-bag) needs no refit.

    As ``estimator`` of `LabelCoverClassifier` it is used alone, without labelsets.

    Parameters
    ----------
    n_trees : int, default=100
    min_leaf : int, default=2
        Least number of draws in a leaf; a row that was drawn twice counts twice.
    max_features : int, optional
        Number of features tried in a node, by default the square root of their number.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features, as for `LeastSquaresClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of samples and cuts; the forest of an ensemble takes it from the ensemble unless given.
    """

    gives_left_out = True

    def __init__(
        self,
        n_trees=100,
        *,
        min_leaf=2,
        max_features=None,
        categorical_features="from_dtype",
        random_state=None,
    ):
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_integer("n_trees", self.n_trees, low=1)
        check_integer("min_leaf", self.min_leaf, low=1)
        if self.max_features is not None:
            check_integer("max_features", self.max_features, low=1)
        check_random_state(self.random_state)

    def read_table(self, owner: BaseEstimator, X: Any) -> tuple[FeatureCoding, Any]:
        """Return how a training table is coded, and the table as `fit_labels` takes it."""
        self.check_parameters()
        return FeatureCoding.fitted(owner, X, self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Say that weights of rows are taken: the forest is grown by `LabelCoverClassifier`."""
        raise TypeError("LabelForest is an estimator of LabelCoverClassifier, not fitted alone.")

    def fit_labels(
        self,
        X: Any,
        Y: NDArray[np.uint8],
        n_values: NDArray[np.int32],
        *,
        weights: NDArray[np.float64] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> GrownForest:
        """Return the forest of a table and its labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, features)
            Nominal features as numbers of their values.
        Y : ndarray of shape (n, n_labels)
        n_values : ndarray of shape (features,)
            How many values a nominal feature has, 0 for a numeric one.
        weights : ndarray of shape (n,), optional
            How likely rows are to be drawn.
        seed : int
            Used unless ``random_state`` is given.
        n_jobs : int, optional
            Number of trees grown in parallel; by default as many as numba has threads, which
            joblib limits in its workers.
        """
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if weights is not None and np.ptp(weights) == 0:
            weights = None  # equal weights draw the same rows as none
        seeds = np.random.SeedSequence(seed).spawn(int(self.n_trees))
        forest = GrownForest(numeric(X, n_values), Y, n_values)
        n_features = forest.n_features
        wanted = int(self.max_features or max(1, int(np.sqrt(n_features))))
        jobs = (
            delayed(_grow)(forest, weights, min(wanted, n_features), int(self.min_leaf), one)
            for one in seeds
        )
        forest.trees = list(
            in_parallel(
                jobs,
                get_num_threads() if n_jobs is None else n_jobs,
                text="growing trees",
                verbose=verbose,
                require="sharedmem",
            )
        )
        forest.finish()
        return forest

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags


class GrownForest:
    """Grown trees, and the labels of the rows that their leaves hold.

    Attributes
    ----------
    left_out : ndarray of shape (n, n_labels)
        Confidences of the training rows by the trees grown without them; the frequency of the
        label where a row is in all samples.
    """

    trees: list[tuple[Any, ...]]

    def __init__(self, X: Any, Y: NDArray[np.uint8], n_values: NDArray[np.int32]) -> None:
        self.n_values, self.n_labels, self.n_features = n_values, Y.shape[1], X.shape[1]
        self.rare = RareValues().fit(X)
        X = self.rare.transform(X)
        rows = sparse.csr_array(Y)
        self.labels = (rows.indices.astype(np.int32), rows.indptr.astype(np.int64))
        dense = not sparse.issparse(X)
        self.is_sparse = not dense or np.count_nonzero(X) < SPARSE_SHARE * X.size
        self.table = self._rows(X)
        if self.is_sparse:
            columns = _arrays(sparse.csc_array(X, dtype=np.float32))
            self.training = (_NO_TABLE, columns, self.table[1])
        else:
            self.training = (np.ascontiguousarray(X.T, dtype=np.float32), *(self.table[1],) * 2)
        self.left_out, self.asked = np.zeros(Y.shape), np.zeros(len(Y))
        self.frequency = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)

    def finish(self) -> None:
        """Ask the trees for the rows they have not seen, then forget the table."""
        for tree, rows, counts in self.trees:
            seen = np.zeros(len(self.asked), dtype=bool)
            seen[rows] = True
            self._add(self.table, tree, rows, counts, seen, self.left_out, self.asked)
        self.left_out /= np.maximum(self.asked, 1)[:, None]
        self.left_out[self.asked == 0] = self.frequency
        del self.table, self.training, self.asked

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the mean share of every label in the leaves of new rows, ``(n, n_labels)``."""
        table = self._rows(self.rare.transform(numeric(X, self.n_values)))
        sums, asked = np.zeros((X.shape[0], self.n_labels)), np.zeros(X.shape[0])
        for tree, rows, counts in self.trees:
            self._add(table, tree, rows, counts, np.zeros(0, dtype=bool), sums, asked)
        return sums / len(self.trees)

    def _rows(self, X: Any) -> tuple[Any, ...]:
        if self.is_sparse:
            return _NO_TABLE, _arrays(sparse.csr_array(X, dtype=np.float32))
        dense = X.toarray() if sparse.issparse(X) else X
        return np.ascontiguousarray(dense, dtype=np.float32), _NO_ARRAYS

    def _add(self, table, tree, rows, counts, skip, sums, asked) -> None:
        add_answers(table, self.n_features, tree, rows, counts, self.labels, skip, sums, asked)


_NO_TABLE = np.zeros((0, 0), np.float32)
_NO_ARRAYS = (np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int64))


def _arrays(X: Any) -> tuple[Any, ...]:
    return X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int64)


def _grow(
    forest: GrownForest,
    weights: NDArray[np.float64] | None,
    wanted: int,
    min_leaf: int,
    seed: np.random.SeedSequence,
) -> tuple[Any, ...]:
    """Return a tree, its rows leaf by leaf, and how often each was drawn."""
    random = np.random.default_rng(seed)
    n = len(forest.left_out)
    if weights is None:
        counts = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
    else:
        counts = random.multinomial(n, weights / weights.sum()).astype(np.float64)
    state = random.integers(1, 2**63, size=1).astype(np.uint64)
    rows = np.flatnonzero(counts).astype(np.int32)
    tree = grow_tree(
        forest.training,
        forest.labels,
        counts,
        rows,
        np.arange(forest.n_features, dtype=np.int32),
        forest.n_labels,
        wanted,
        min_leaf,
        state,
    )
    return tree, rows, counts[rows]
