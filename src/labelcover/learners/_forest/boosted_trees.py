"""Gradient boosting whose trees serve all labels at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_integer, check_random_state, check_real, check_seed, is_auto
from labelcover._table_numbers import blocks
from labelcover.learners._features import csr_arrays, numeric
from labelcover.learners._forest.boosting_kernels import (
    DIRECTIONS,
    SHRINKAGE,
    WEIGHT,
    WIDTH,
    add_rows,
    grow_on_bins,
    grow_on_words,
)
from labelcover.learners._forest.feature_forest import ReadTable, directions, row_table
from labelcover.learners._forest.forest_kernels import fall
from labelcover.learners._forest.grown_forest import MOST_LEAVES, in_threads
from labelcover.learners._forest.swap_kernels import UNBENT, swap_parts

# Columns of numbers are cut into so many bins.
MOST_BINS = 32
# A step is no longer than this, in log-odds: where a label is rare, curvature is near 0.
MOST_STEP = 3.0
# The share of the rows that a tree sees; of columns in a node of a dense table it is that below, or
# the square root of their number, and in a level of a sparse one that behind it.
ROW_SHARE, COLUMN_SHARE, WORD_SHARE = 0.7, 0.1, 0.15
# So many levels of a tree on a sparse table are split at most, each by looking at about so many
# nonzeros at most, but at no fewer columns than the square root of their number.
WORD_LEVELS, LEVEL_NONZEROS = 5, 20_000
# Left-out predictions come from so many folds; of few rows each counts, and folds are quick.
N_FOLDS, MORE_FOLDS, FEW_ROWS = 3, 5, 1_000
# The loss of left-out rows is looked at after every so many trees, and boosting ends after so many
# that do not lower it.
STEP, PATIENCE = 5, 15
# Default number of trees and learning rate. On a sparse table fewer and longer steps give as much,
# in a third of the time (benchmarks/bench_quality.py).
AUTO = "auto"
TREES, SPARSE_TREES = 150, 40
RATE, SPARSE_RATE = 0.08, 0.25


class LabelBoosting(BaseEstimator):
    """Gradient boosting of the log-loss of all labels, by trees with a value per label.

    Every tree is grown on the gradients of all labels (or, with more than four, on four random sums
    of them), on 70 % of the rows. The number of trees is that with the smallest log-loss of
    left-out rows. There is a model for each fold, and the log-odds of new rows are the mean over
    these; training rows have left-out predictions by the model that was fitted without them.

    In a sparse table a tree splits by whether a feature is above 0.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        Most trees of a model. ``"auto"`` is 150, and 40 on a sparse table.
    learning_rate : float or "auto", default="auto"
        ``"auto"`` is 0.08, and 0.25 on a sparse table.
    max_leaves : int, default=32
        Most leaves of a tree.
    random_state : int, RandomState or None, default=None
        Seed of folds, rows and columns; that of an ensemble is taken unless given.

    References
    ----------
    J. H. Friedman (2002). Stochastic gradient boosting. Computational Statistics & Data Analysis
    38(4), 367–378.

    L. Iosipoi and A. Vakhrushev (2022). SketchBoost: fast gradient boosted decision tree for
    multioutput problems. NeurIPS 35, 25422–25435.
    """

    def __init__(self, n_trees=AUTO, *, learning_rate=AUTO, max_leaves=32, random_state=None):
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_leaves = max_leaves
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        if not is_auto(self.n_trees):
            check_integer("n_trees", self.n_trees, low=1)
        if not is_auto(self.learning_rate):
            check_real("learning_rate", self.learning_rate, above=0, high=1)
        check_integer("max_leaves", self.max_leaves, low=2)
        check_seed(self.random_state)

    def fit_labels(
        self,
        given: ReadTable,
        Y: NDArray[np.uint8],
        *,
        weights: NDArray[np.float64] | None = None,
        cells: NDArray[np.float64] | None = None,
        left_out: NDArray[np.int64] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> "tuple[BoostedTrees, NDArray[np.float64]]":
        """Return the trees, and the left-out confidences of some training rows.

        Parameters
        ----------
        weights : ndarray of shape (n,), optional
            Weights of the rows, 1 in the mean.
        cells : ndarray of shape (n, n_labels), optional
            By what these are multiplied for each label, 0 where it is not known.
        n_jobs : int, optional
            Number of folds fitted in parallel; by default as many as numba has threads.
        given, Y, left_out, seed
            As of `LabelForest.fit_labels`.
        """
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        found = BoostedTrees(given, Y, weights, cells)
        known = None if cells is None else cells.astype(np.float32)
        n = len(Y)
        n_folds = MORE_FOLDS if n <= FEW_ROWS else N_FOLDS
        random = np.random.default_rng(seed)
        fold = random.permutation(n) % n_folds
        codes, Y = found.codes(), np.ascontiguousarray(Y, dtype=np.uint8)
        own = np.ones(n, np.float32) if weights is None else weights.astype(np.float32)
        seeds = random.integers(2**63, size=n_folds)
        n_trees, rate = (SPARSE_TREES, SPARSE_RATE) if found.is_sparse else (TREES, RATE)
        how = (
            n_trees if is_auto(self.n_trees) else int(self.n_trees),
            rate if is_auto(self.learning_rate) else float(self.learning_rate),
        )
        jobs = [
            delayed(self._boosted)(
                codes, Y, own, known, found.start, fold == each, seeds[each], *how
            )
            for each in range(n_folds)
        ]
        found.gather(list(in_threads(jobs, n_jobs, text="boosting trees", verbose=verbose)))
        asked = np.empty(0, np.int64) if left_out is None else left_out
        return found, found.left_out(asked, fold[asked])

    def _boosted(
        self, codes, Y, weights, known, start, is_left_out, seed, n_trees, rate
    ) -> tuple[list[tuple[Any, Any]], list[float]]:
        """Return the nodes and leaf values of a fold's trees, and its losses every `STEP` trees."""
        random = np.random.default_rng(seed)
        n, m = Y.shape
        scores, at_node = np.tile(start.astype(np.float32), (n, 1)), np.empty(n, np.int32)
        signs = 1.0 - 2.0 * Y[is_left_out].astype(np.float32)
        cells = weights[:, None] if (weights != 1).any() else None
        if known is not None:
            cells = weights[:, None] * known
            signs = np.where(known[is_left_out] > 0, signs, 0.0)  # a loss that never changes
        moments, may_be_drawn = np.empty((n, WIDTH), np.float32), ~is_left_out & (weights > 0)
        every = np.arange(n, dtype=np.int32)
        trees: list[tuple[Any, Any]] = []
        all_losses: list[float] = []
        for t in range(n_trees + 1):
            if t % STEP == 0 or t == n_trees:
                losses = _log_losses(scores[is_left_out] * signs)
                all_losses.append(float(weights[is_left_out] @ losses))
                since = len(all_losses) - 1 - int(np.argmin(all_losses))
                if t == n_trees or since * STEP >= PATIENCE:
                    break
            is_drawn = (random.random(n) < ROW_SHARE) & may_be_drawn
            rows = np.flatnonzero(is_drawn).astype(np.int32)
            own = None if cells is None else cells[rows]
            drawn = scores.take(rows, axis=0), Y.take(rows, axis=0)  # quicker than indexing
            gradient, curvature = _derivatives(*drawn, own)
            moments[:] = 0.0
            moments[rows, :DIRECTIONS] = gradient @ directions(m, DIRECTIONS, random)
            moments[rows, WEIGHT] = weights[rows]
            tree = self._grown(codes, rows, moments, at_node, random)
            leaves = np.flatnonzero(tree[0] < 0)
            tree[1, leaves] = np.arange(len(leaves))
            leaf = tree[1, at_node]
            values = rate * _newton_steps(leaf[rows], len(leaves), gradient, curvature)
            add_rows(values, leaf, scores, every)
            trees.append((tree, values))
        return trees, all_losses

    def _grown(self, codes, rows, moments, at_node, random):
        """Return the nodes of a tree, and fill in the leaf of each row."""
        tree = np.full((3, 2 * int(self.max_leaves) - 1), -1, np.int32)
        state = random.integers(1, 2**63, size=1).astype(np.uint64)
        bins, n_bins, words = codes
        rest = tuple(tree), at_node, state
        if len(bins):
            order = np.arange(len(bins), dtype=np.int32)
            wanted = round(max(COLUMN_SHARE * len(bins), len(bins) ** 0.5))
            n_nodes = grow_on_bins(bins, n_bins, rows.copy(), moments, order, wanted, *rest)
        else:
            n_nonzeros, n_columns = len(words[0]), len(words[1]) - 1
            share = min(WORD_SHARE, LEVEL_NONZEROS / max(1, n_nonzeros))
            share = max(share, max(1, n_columns) ** -0.5)
            n_nodes = grow_on_words(words, share, WORD_LEVELS, rows, moments, *rest)
        return tree[:, :n_nodes]


class BoostedTrees:
    """Boosted trees, fitted.

    Attributes
    ----------
    start : ndarray of shape (n_labels,)
        The log-odds of the labels in training.
    nodes, roots
        The nodes of all trees (`labelcover.learners._forest.forest_kernels`), and where each
        begins; the feature of a leaf is its line of values.
    values : ndarray of shape (n_leaves, n_labels)
        What the leaves add to the log-odds.
    n_trees : int
        How many trees each model has.
    """

    def __init__(self, given: ReadTable, Y: Any, weights: Any, cells: Any = None) -> None:
        self.n_values, self.rare, self.is_sparse = given.n_values, given.rare, given.is_sparse
        self.precision, self.table, self.origin = given.precision, given.single, given.origin
        n, self.n_features = given.table.shape
        own = np.ones((n, 1)) if weights is None else weights[:, None] * (n / weights.sum())
        own = own if cells is None else own * cells
        self.start = logit(((own * Y).sum(axis=0) + 0.5) / (own.sum(axis=0) + 1))

    def codes(self) -> tuple[Any, ...]:
        """Return the training table as trees grow on it: bins of columns, or rows above 0."""
        dense, (data, indices, indptr) = self.table
        no_words = np.zeros(0, np.int32), np.zeros(1, np.int64)
        if self.is_sparse:
            self.columns = np.arange(self.n_features)
            self.cuts = np.zeros((self.n_features, 1), np.float32)
            shape = len(indptr) - 1, self.n_features
            above = sparse.csr_array((data > 0, indices, indptr), shape=shape).tocsc()
            above.eliminate_zeros()  # the table itself is shared with other views
            return np.zeros((0, 0), np.uint8), np.zeros(0, np.int32), csr_arrays(above)[1:]
        every = [_cuts(column) for column in dense.T]
        n_bins = np.array([len(cuts) + 1 for cuts in every], np.int32)
        self.columns = np.flatnonzero(n_bins > 1)
        self.cuts = np.zeros((len(self.columns), MOST_BINS), np.float32)
        codes = np.empty((len(self.columns), len(dense)), np.uint8)
        for place, f in enumerate(self.columns):
            self.cuts[place, : n_bins[f] - 1] = every[f]
            codes[place] = np.searchsorted(every[f], dense[:, f])
        return codes, n_bins[self.columns], no_words

    def gather(self, fits: list[tuple[list[tuple[Any, Any]], list[float]]]) -> None:
        """Take the trees of all folds, as many of each as give the smallest loss together."""
        shortest = min(len(losses) for _, losses in fits)
        losses = np.sum([losses[:shortest] for _, losses in fits], axis=0)
        self.n_folds = len(fits)
        self.n_trees = min(STEP * int(np.argmin(losses)), *(len(trees) for trees, _ in fits))
        every = [(np.empty((3, 0), np.int32), np.empty((0, len(self.start)), np.float32))]
        every += [tree for trees, _ in fits for tree in trees[: self.n_trees]]
        nodes, values = zip(*every, strict=True)
        sizes = [own.shape[1] for own in nodes]
        self.roots = np.cumsum(sizes)
        child, feature, cut = np.concatenate(nodes, axis=1)
        is_leaf, threshold = child < 0, np.zeros(len(child), np.float32)
        first = np.repeat(np.append(0, self.roots[:-1]), sizes)
        child = np.where(is_leaf, child, child + first).astype(np.int32)
        inner, feature[is_leaf] = feature[~is_leaf], np.arange(is_leaf.sum())
        threshold[~is_leaf] = self.cuts[inner, cut[~is_leaf]]
        feature[~is_leaf] = self.columns[inner]
        self.nodes = child, feature, threshold
        self.values = np.concatenate(values) / self.n_folds
        del self.cuts, self.columns

    def left_out(self, rows: NDArray[np.int64], fold: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the confidences of training rows by the models fitted without them; asked once."""
        scores = np.zeros((len(rows), len(self.start)))
        for each in range(self.n_folds):
            own = np.flatnonzero(fold == each)
            trees = slice(each * self.n_trees, (each + 1) * self.n_trees)
            scores[own] = self._sums(self.table, rows[own], trees)
        del self.table
        return expit(self.start + self.n_folds * scores)

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return expit(self.scores(self.read(X), X.shape[0]))

    def scores(self, table: tuple[Any, ...], n: int) -> NDArray[np.float64]:
        """Return the log-odds of `n` new rows, ``(n, n_labels)``, as `read` gives them."""
        return self.start + self._sums(table, np.arange(n), slice(None))

    @property
    def origin_scores(self) -> NDArray[np.float64]:
        """The log-odds of the labels at the origin."""
        return self.scores(row_table(self.origin, self.is_sparse), 1)[0]

    def swap_parts(
        self, table: tuple[Any, ...], rows: NDArray[np.int64], weights: NDArray[np.float64]
    ) -> Any:
        """Return what columns add to a sum of the log-odds of labels at the origin.

        The parts of the chosen rows are CSR, ``(len(rows), n_features)``; `weights` are those of
        labels in each row. As `labelcover.learners._forest.feature_forest.FeaturePaths`.
        """
        used, leaves = np.flatnonzero(weights.any(axis=0)), np.flatnonzero(self.nodes[0] < 0)
        means = np.zeros((len(used), len(self.nodes[0])))
        means[:, leaves] = self.values[:, used].T
        own = np.ascontiguousarray(weights[:, used])
        trees = self.origin, self.nodes, self.roots
        made = swap_parts(table, *trees, means, own, rows, UNBENT)
        return sparse.csr_array(made, shape=(len(rows), self.n_features))

    def read(self, X: Any) -> tuple[Any, ...]:
        """Return new rows as the trees take them."""
        read = self.rare.transform(numeric(X, self.n_values))
        return self.precision.arrays(read, is_sparse=self.is_sparse)

    def _sums(self, table: Any, rows: NDArray[np.int64], trees: slice) -> NDArray[np.float64]:
        """Return what some trees add to the log-odds of rows of a table."""
        scores, roots = np.zeros((len(rows), len(self.start))), self.roots[:-1][trees]
        for some in blocks(len(rows), MOST_LEAVES // 8 // max(1, len(roots))):  # 20 bytes each
            asked = rows[some]
            leaves = np.repeat(roots[:, None].astype(np.int32), len(asked), axis=1)
            fall(table, self.n_features, self.nodes, roots, asked, leaves)
            into = np.tile(np.arange(len(asked)), len(roots))
            add_rows(self.values, self.nodes[1][leaves].ravel(), scores[some], into)
        return scores


def _cuts(column: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return where a column is cut into bins: in the middle between values that occur."""
    values = np.unique(column)
    places = np.arange(len(values) - 1)
    if len(values) > MOST_BINS:
        ranks = np.arange(1, MOST_BINS) * len(column) // MOST_BINS
        places = np.unique(np.searchsorted(values, np.partition(column, ranks)[ranks]))
        places = places[places < len(values) - 1]
    below, above = values[places], values[places + 1]
    middle = below / 2 + above / 2
    return np.where(middle < above, middle, below).astype(np.float32)


def _log_losses(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the log-losses of rows, summed over labels; `scores` are log-odds against the truth.

    ``np.logaddexp`` takes ten times as long.
    """
    return np.maximum(scores, 0).sum(axis=1) + np.log(1 + np.exp(-np.abs(scores))).sum(axis=1)


def _derivatives(scores, Y, weights) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the gradients of the log-loss, downhill, and its curvatures in the log-odds."""
    with np.errstate(over="ignore"):
        np.exp(np.negative(scores, out=scores), out=scores)
    P = np.divide(1.0, np.add(scores, 1.0, out=scores), out=scores)
    gradient, curvature = Y - P, P * (1 - P)
    if weights is not None:
        gradient *= weights
        curvature *= weights
    return gradient, curvature


def _newton_steps(leaf, n_leaves, gradient, curvature) -> NDArray[np.float32]:
    """Return a step of Newton's method for every leaf, a line each.

    Steps are shrunken as by `SHRINKAGE` rows of mean curvature.
    """
    steps, low = np.zeros((2, n_leaves, gradient.shape[1]), np.float32)
    every = np.arange(len(leaf), dtype=np.int32)
    add_rows(gradient, every, steps, leaf)
    add_rows(curvature, every, low, leaf)
    low += np.float32(SHRINKAGE / max(1, len(leaf))) * low.sum(axis=0)
    np.divide(steps, low, out=steps, where=low > 0)
    return np.clip(steps, -MOST_STEP, MOST_STEP, out=steps)
