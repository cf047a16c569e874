"""Grown trees: what forests of any kind of split share."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numba import get_num_threads
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover._table_numbers import RareValues
from labelcover.learners._features import numeric
from labelcover.learners._problems import in_parallel

# A table with a smaller share of nonzeros is read as a sparse one: trees split by whether a column
# is above 0, and the labels of the nearest training rows are a view of the default, which on dense
# tables adds nothing (benchmarks/bench_quality.py).
SPARSE_SHARE = 0.25
# Training rows are asked for in so many parts, which threads take; in one where there is one.
N_PARTS = 8
# How much the frequency of a label counts beside the share of known cells in leaves.
PRIOR = 0.01
# Means of nodes of so many numbers are kept while rows are explained (64 MB).
MOST_MEANS = 2**23


class GrownForest(ABC):
    """Grown trees, and the labels of the rows that their leaves hold.

    Attributes
    ----------
    trees : list of tuple
        Each a tree, its rows leaf by leaf, and how often each was drawn.
    n_present : int
        How many features there are; of a sparse table, those that are not 0 in all training rows.
    table : tuple
        The training rows, until `forget_training`.
    known : ndarray of bool of shape (n, n_labels), or None
        Which labels of training rows are known; None if all are, and once trees are gathered, of
        no rows. Trees are grown on labels whose unknown cells are drawn for each, by the
        frequencies of the labels or what a first forest says (`draw_unknown`); shares in leaves
        are those among known cells. `labels` then numbers labels that rows are known to have, and
        from `n_labels` on, labels that are known.
    """

    trees: list[tuple[Any, ...]]
    table: tuple[Any, ...]
    rare: RareValues
    n_values: NDArray[np.int32]

    def __init__(
        self,
        given: Any,
        Y: NDArray[np.uint8],
        known: NDArray[np.bool_] | None = None,
    ) -> None:
        X, self.rare, self.is_sparse = given.table, given.rare, given.is_sparse
        self.n_values, self.n_labels, self.n_features = given.n_values, Y.shape[1], X.shape[1]
        self.labels = listed(Y if known is None else np.hstack([Y, known]))
        self.known, self._given = known, None if known is None else Y
        self.n_present = len(np.unique(X.indices[X.data != 0])) if self.is_sparse else X.shape[1]
        n_known = Y.shape[0] if known is None else known.sum(axis=0)
        self.frequency = (Y.sum(axis=0) + 0.5) / (n_known + 1)
        self._chances: Any = self.frequency
        self._read_training(given)

    def grow(
        self,
        weights: NDArray[np.float64] | None,
        wanted: int,
        min_leaf: int,
        seed: np.random.SeedSequence,
    ) -> tuple[Any, ...]:
        """Return a tree, its rows leaf by leaf, and how often each was drawn.

        Parameters
        ----------
        weights : ndarray of shape (n,), optional
            How likely rows are to be drawn.
        wanted : int
            How many features are tried in a node.
        min_leaf : int
            Least number of draws in a leaf.
        """
        random = np.random.default_rng(seed)
        counts = self._draw(random, weights)
        state = random.integers(1, 2**63, size=1).astype(np.uint64)
        rows = np.flatnonzero(counts).astype(np.int32)
        return self._grow(counts, rows, wanted, min_leaf, random, state), rows, counts[rows]

    def gather(
        self,
        trees: list[tuple[Any, ...]],
        weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Take the trees, all of them, grown with these weights of the rows."""
        self.trees = trees
        self._forget_unknown()

    def _forget_unknown(self) -> None:
        if self.known is not None:
            self.known, self._given, self._chances = self.known[:0], None, None

    def labels_to_grow_on(self, random: np.random.Generator) -> tuple[Any, Any]:
        """Return the labels of each row for one tree, unknown ones drawn."""
        if self.known is None:
            return self.labels
        assert self._given is not None
        drawn = random.random(self.known.shape) < self._chances
        return listed(np.where(self.known, self._given, drawn))

    def draw_unknown(self, trees: list[tuple[Any, ...]], n_jobs: int | None = None) -> None:
        """Let unknown labels be drawn by what trees grown without their rows say."""
        assert self.known is not None
        self._chances = self._out_of_bag(trees, np.arange(len(self.known)), n_jobs)[0]

    def left_out(self, rows: NDArray[np.int64], n_jobs: int | None = None) -> NDArray[np.float64]:
        """Return the confidences of training rows by the trees grown without them (out-of-bag).

        A row that all trees were grown on gets the frequencies of the labels.
        """
        return self._out_of_bag(self.trees, rows, n_jobs)[0]

    def forget_training(self) -> None:
        """Forget what only `left_out` needs."""
        del self.table

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the mean share of every label in the leaves of new rows, ``(n, n_labels)``."""
        sums = np.zeros((X.shape[0], self.n_sums))
        self._add_answers(self.read(X), sums)
        return self.shares_of(sums / len(self.trees))

    @property
    def n_sums(self) -> int:
        """How many shares there are of leaves: of labels, and of known cells."""
        return self.n_labels if self.known is None else 2 * self.n_labels

    @property
    def label_table(self) -> sparse.csr_array:
        """The labels of training rows, ``(n, n_sums)``, as ones."""
        held = np.ones(len(self.labels[0]), np.uint8), *self.labels
        return sparse.csr_array(held, shape=(len(self.labels[1]) - 1, self.n_sums))

    def shares_of(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares of labels among known cells; frequencies count a little."""
        if self.known is None:
            return found
        m, prior = self.n_labels, PRIOR
        return (found[:, :m] + prior * self.frequency) / (found[:, m:] + prior)

    def read(self, X: Any) -> tuple[Any, ...]:
        """Return new rows as the trees take them."""
        return self._read(self.rare.transform(numeric(X, self.n_values)))

    @abstractmethod
    def paths(self, X: Any) -> "ForestPaths":
        """Return the confidences of new rows as sums over the columns of the table."""

    def row_values(self, label: int) -> NDArray[np.float64]:
        """Return a value of each training row whose mean in leaves is the confidence of a label."""
        columns = self.label_table[:, label :: self.n_labels].toarray().astype(np.float64)
        if self.known is None:
            return columns[:, 0]
        return columns[:, 0] + self.frequency[label] * (1 - columns[:, 1])

    @property
    def held(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The labels that training rows have, as far as known, and where each row starts."""
        own = self.label_table[:, : self.n_labels]
        return own.indices, own.indptr

    def row_shares(self, X: Any) -> NDArray[np.float64]:
        """Return the mean share of every training row in the leaves of new rows, ``(n, rows)``."""
        n = len(self.labels[1]) - 1
        alone = copy(self)
        alone.labels = np.arange(n, dtype=np.int32), np.arange(n + 1)
        sums = np.zeros((X.shape[0], n))
        alone._add_answers(self.read(X), sums)
        return sums / len(self.trees)

    def out_of_bag(
        self, trees: list[tuple[Any, ...]], asked: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the label shares of training rows by those of some trees grown without them.

        And for which rows there are such trees; the others have the frequencies of the labels.
        """
        sums, n_trees = np.zeros((len(asked), self.n_sums)), np.zeros(len(asked), np.int64)
        self._add_out_of_bag(trees, asked, sums, n_trees)
        shares = self.shares_of(sums / np.maximum(n_trees, 1)[:, None])
        shares[n_trees == 0] = self.frequency
        return shares, n_trees > 0

    def _out_of_bag(
        self, trees: Any, asked: NDArray[np.int64], n_jobs: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the same, found in threads, a part of the rows each."""
        n_parts = 1 if effective_n_jobs(n_jobs or get_num_threads()) == 1 else N_PARTS
        parts = np.array_split(asked, max(1, min(n_parts, len(asked))))
        jobs = (delayed(self.out_of_bag)(trees, part) for part in parts)
        shares, are_known = zip(*in_threads(jobs, n_jobs), strict=True)
        return np.concatenate(shares), np.concatenate(are_known)

    def _draw(
        self, random: np.random.Generator, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return how often each row is drawn: a bootstrap sample."""
        n = len(self.labels[1]) - 1
        if weights is None:
            return np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        return random.multinomial(n, weights / weights.sum()).astype(np.float64)

    @property
    @abstractmethod
    def default_trees(self) -> int:
        """Default number of trees."""

    @abstractmethod
    def _read_training(self, given: Any) -> None:
        """Keep the training table as trees grow on it, and as `table`, as `_read` gives it."""

    @abstractmethod
    def _read(self, X: Any) -> tuple[Any, ...]:
        """Return rows as the trees take them, of flipped binary columns."""

    @abstractmethod
    def _grow(self, counts, rows, wanted, min_leaf, random, state) -> tuple[Any, ...]:
        """Return a tree; sort `rows` leaf by leaf."""

    @abstractmethod
    def _add_answers(self, table: tuple[Any, ...], sums: NDArray[np.float64]) -> None:
        """Add the label shares of the leaves of all rows of a table, in all trees, to `sums`."""

    @abstractmethod
    def node_means(self, values: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the means of a value of training rows in the nodes of each tree."""

    @abstractmethod
    def _add_out_of_bag(self, trees, asked, sums, n_trees) -> None:
        """Add those of training rows in the trees without them, and how many trees these are."""


class ForestPaths:
    """The parts of columns in the confidences of some rows.

    Parameters
    ----------
    forest : GrownForest
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.

    Attributes
    ----------
    starts : ndarray of shape (n_labels,)
        The confidences before anything of a row is known.
    """

    starts: NDArray[np.float64]

    def __init__(self, forest: GrownForest, X: Any) -> None:
        self.forest, self.table = forest, forest.read(X)
        self._means: dict[int, list[NDArray[np.float64]]] = {}

    def of_label(self, label: int, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], Any]:
        """Return where some of the rows start, and the parts, CSR ``(n_rows, n_columns)``."""
        weights = np.zeros((len(rows), self.forest.n_labels))
        weights[:, label] = 1.0
        return np.full(len(rows), self.starts[label]), self.combined(rows, weights)

    def combined(self, rows: Any, weights: NDArray[np.float64], bent: Any = None) -> Any:
        """Return the parts of a sum of labels, CSR; None if labels are better asked one by one.

        `bent`, a label and in each row what its log-odds are multiplied by, and the slopes that
        they have in the sum, and how far inside (0, 1) its share is kept, is what those log-odds
        may add to it, as of `swap_parts`.
        """
        return None

    def means_of(self, label: int) -> list[NDArray[np.float64]]:
        """Return the means of a label in the nodes of each tree, which are kept for a while."""
        if label not in self._means:
            found = self.forest.node_means(self.forest.row_values(label))
            if len(self._means) * sum(map(len, found)) > MOST_MEANS:
                self._means.clear()
            self._means[label] = found
        return self._means[label]


def in_threads(jobs: Iterable[Any], n_jobs: int | None, **how: Any) -> Iterator[Any]:
    """Yield the results of delayed calls, made in as many threads as numba has by default.

    Joblib limits those in its workers.
    """
    n_jobs = get_num_threads() if n_jobs is None else n_jobs
    return in_parallel(jobs, n_jobs, require="sharedmem", **how)


def listed(table: NDArray) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the columns that are not 0 in each row, and where each row starts."""
    rows = sparse.csr_array(table)
    return rows.indices.astype(np.int32), rows.indptr.astype(np.int64)


def is_mostly_zero(X: Any) -> bool:
    """Return whether a table is read as a sparse one: it is stored so, or has few nonzeros.

    Numbers beside many columns of zeros and ones, as categories make them, are numbers: a table is
    dense if most of its nonzeros are in columns that are not 0 in most rows.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.learners import is_mostly_zero
    >>> numbers, ones = np.ones((9, 2)), np.eye(9)
    >>> is_mostly_zero(ones), is_mostly_zero(np.hstack([numbers, ones]))
    (True, False)
    """
    return sparse.issparse(X) or are_few_nonzeros(np.count_nonzero(X, axis=0), len(X))


def are_few_nonzeros(counts: NDArray[np.int64], n: int) -> bool:
    """Return whether columns of `n` rows have few nonzeros, and few of these are of numbers."""
    total, of_numbers = counts.sum(), counts[2 * counts > n].sum()
    return bool(total < SPARSE_SHARE * n * len(counts) and 2 * of_numbers <= total)
