"""Grown trees: what forests of any kind of split share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numba import get_num_threads
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover._table_numbers import RareValues, blocks
from labelcover.learners._features import numeric, read_only
from labelcover.learners._forest.forest_kernels import add_leaf_shares, leave_out_drawn, node_means
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
# So many leaves of rows are held at once (64 MB).
MOST_LEAVES = 2**24


class GrownForest(ABC):
    """Grown trees, and the labels of the rows that their leaves hold.

    Attributes
    ----------
    nodes : tuple of ndarray
        Of the nodes of all trees, the first child, and what sends a row to one of the children
        (`labelcover.learners._forest.forest_kernels`).
    roots : ndarray of shape (n_trees + 1,)
        Where each tree begins.
    held : (start, end, rows, counts)
        Where the rows of each node start and end among those of all trees, these, leaf by leaf,
        and how often each was drawn.
    n_present : int
        How many features there are; of a sparse table, those that are not 0 in all training rows.
    table : tuple
        The training rows, until all trees are grown.
    known : ndarray of bool of shape (n, n_labels), or None
        Which labels of training rows are known; None if all are, and of no rows once trees are
        grown. Unknown cells are drawn for each tree, by the frequencies of the labels or what a
        first forest says (`draw_unknown`); shares in leaves are those among known cells. `labels`
        then numbers labels that rows are known to have, and from `n_labels` on, known ones.
    """

    nodes: tuple[NDArray[Any], ...]
    roots: NDArray[np.int64]
    held: tuple[NDArray[Any], ...]
    table: tuple[Any, ...]
    rare: RareValues
    n_values: NDArray[np.int32]
    # The default number of trees, the loop by which rows fall through them, and how many rows a
    # leaf has at least whose labels are summed once for all rows that fall into it.
    default_trees: int
    fall: Callable[..., None]
    large_leaf: int

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
        seeds: list[np.random.SeedSequence],
        weights: NDArray[np.float64] | None,
        wanted: int,
        min_leaf: int,
        n_jobs: int | None = None,
        **told: Any,
    ) -> None:
        """Grow trees in the place of those that there are.

        Parameters
        ----------
        seeds : list of SeedSequence
            One for each tree.
        weights : ndarray of shape (n,), optional
            How likely rows are to be drawn.
        wanted : int
            How many features are tried in a node.
        min_leaf : int
            Least number of draws in a leaf.
        """
        jobs = (delayed(self._grown)(one, weights, wanted, min_leaf) for one in seeds)
        self._take(list(in_threads(jobs, n_jobs, **told)))

    def _grown(self, seed, weights, wanted, min_leaf) -> tuple[Any, ...]:
        """Return a tree, its rows leaf by leaf, and how often each was drawn."""
        random = np.random.default_rng(seed)
        counts = self._draw(random, weights)
        state = random.integers(1, 2**63, size=1).astype(np.uint64)
        rows = np.flatnonzero(counts).astype(np.int32)
        tree = self._grow(counts, rows, wanted, min_leaf, random, state)
        return tuple(map(np.array, tree)), rows, counts[rows]  # beginnings of larger arrays

    def _take(self, grown: list[Any]) -> None:
        """Keep the arrays of trees one after the other, nodes and rows numbered on."""
        sizes, drawn = np.array([(len(tree[0]), len(rows)) for tree, rows, _ in grown]).T
        self.roots = np.append(0, np.cumsum(sizes))
        number = np.int32 if max(sizes.sum(), drawn.sum()) < 2**31 else np.int64
        parts = [list(each) for each in zip(*((*tree, *own) for tree, *own in grown), strict=True)]
        grown.clear()  # one kind of array is there twice at a time, not all
        for i, own in enumerate((sizes, drawn, drawn)):  # children, and where rows start and end
            pairs = zip(parts[i], np.cumsum(own) - own, strict=True)
            parts[i] = [np.where(a < 0, a, a + first).astype(number) for a, first in pairs]
            del pairs
        joined = (np.concatenate(parts.pop(0)) for _ in range(len(parts)))
        child, start, end, *rest, rows, counts = joined
        self.nodes, self.held = (child, *rest), (start, end, rows, counts.astype(np.float32))

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.roots) - 1

    def samples(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64]]]:
        """Yield the rows that each tree was grown on, leaf by leaf, and how often it drew them."""
        start, end, rows, counts = self.held
        for root in self.roots[:-1]:
            own = slice(start[root], end[root])
            yield rows[own], counts[own].astype(np.float64)

    def labels_to_grow_on(self, random: np.random.Generator) -> tuple[Any, Any]:
        """Return the labels of each row for one tree, unknown ones drawn."""
        if self.known is None:
            return self.labels
        assert self._given is not None
        drawn = random.random(self.known.shape) < self._chances
        return listed(np.where(self.known, self._given, drawn))

    def draw_unknown(self, n_jobs: int | None = None) -> None:
        """Let unknown labels be drawn by what trees grown without their rows say."""
        self._chances = self.out_of_bag(np.arange(self.n_rows), n_jobs)[0]

    def left_out(
        self, rows: NDArray[np.int64], weights: NDArray[np.float64] | None, n_jobs: int | None
    ) -> NDArray[np.float64]:
        """Return the confidences of training rows by the trees grown without them (out-of-bag).

        A row that all trees were grown on gets the frequencies of the labels. Asked once, when all
        trees are grown, with these weights of rows: what only this and they need is forgotten.
        """
        found = self.out_of_bag(rows, n_jobs)[0]
        self.forget_training()
        return found

    def forget_training(self) -> None:
        """Forget what only growing and `left_out` need."""
        del self.table
        if self.known is not None:
            self.known, self._given, self._chances = self.known[:0], None, None

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the mean share of every label in the leaves of new rows, ``(n, n_labels)``."""
        return self.confidence_of(self.read(X), X.shape[0])

    def confidence_of(self, table: tuple[Any, ...], n: int) -> NDArray[np.float64]:
        """Return the same of `n` rows, as `read` gives them."""
        sums, _ = self._sums(table, np.arange(n), self.labels, self.n_sums)
        return self.shares_of(sums / self.n_trees)

    @property
    def n_rows(self) -> int:
        """How many training rows there are."""
        return len(self.labels[1]) - 1

    @property
    def n_sums(self) -> int:
        """How many shares there are of leaves: of labels, and of known cells."""
        return self.n_labels if self.known is None else 2 * self.n_labels

    @property
    def label_table(self) -> sparse.csr_array:
        """The labels of training rows, ``(n, n_sums)``, as ones."""
        held = np.ones(len(self.labels[0]), np.uint8), *self.labels
        return sparse.csr_array(held, shape=(self.n_rows, self.n_sums))

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
    def labels_held(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The labels that training rows have, as far as known, and where each row starts."""
        own = self.label_table[:, : self.n_labels]
        return own.indices, own.indptr

    def row_shares(self, X: Any) -> NDArray[np.float64]:
        """Return the mean share of every training row in the leaves of new rows, ``(n, rows)``."""
        alone = np.arange(self.n_rows, dtype=np.int32), np.arange(self.n_rows + 1)
        sums, _ = self._sums(self.read(X), np.arange(X.shape[0]), alone, self.n_rows)
        return sums / self.n_trees

    def leaves(
        self, table: tuple[Any, ...], asked: NDArray[np.int64], *, out_of_bag: bool = False
    ) -> NDArray[np.int32]:
        """Return the leaf of each of some rows of a table in each tree, ``(n_trees, n_asked)``.

        Of training rows that of trees grown with them is -1, if `out_of_bag`.
        """
        found = np.repeat(self.roots[:-1, None].astype(np.int32), len(asked), axis=1)
        if out_of_bag:
            place = np.full(self.n_rows, -1, np.int32)
            place[asked] = np.arange(len(asked))
            start, _, rows, _ = self.held
            leave_out_drawn(rows, np.append(start[self.roots[:-1]], len(rows)), place, found)
        self.fall(table, self.n_features, read_only(*self.nodes), self.roots, asked, found)
        return found

    def _sums(
        self, table: tuple[Any, ...], asked: NDArray[np.int64], labels: Any, m: int, **how: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sums over trees of the shares of `m` labels in the leaves of rows.

        And how many trees each row was asked of.
        """
        sums, n_trees = np.zeros((len(asked), m)), np.zeros(len(asked), np.int64)
        held = read_only(*self.held), read_only(*labels), self.large_leaf
        for some in blocks(len(asked), MOST_LEAVES // self.n_trees):
            leaves = self.leaves(table, asked[some], **how)
            add_leaf_shares(leaves, self.roots, *held, sums[some])
            n_trees[some] = (leaves >= 0).sum(axis=0)
        return sums, n_trees

    def out_of_bag(
        self, asked: NDArray[np.int64], n_jobs: int | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the label shares of training rows by the trees grown without them.

        And for which rows there are such trees; the others have the frequencies of the labels.
        """

        def found(part):
            how = self.labels, self.n_sums
            sums, n_trees = self._sums(self.table, part, *how, out_of_bag=True)
            shares = self.shares_of(sums / np.maximum(n_trees, 1)[:, None])
            shares[n_trees == 0] = self.frequency
            return shares, n_trees > 0

        n_parts = 1
        if effective_n_jobs(n_jobs or get_num_threads()) > 1:
            n_parts = max(1, min(N_PARTS, len(asked)))
        jobs = (delayed(found)(part) for part in np.array_split(asked, n_parts))
        shares, are_known = zip(*in_threads(jobs, n_jobs), strict=True)
        return np.concatenate(shares), np.concatenate(are_known)

    def _draw(
        self, random: np.random.Generator, weights: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return how often each row is drawn: a bootstrap sample."""
        n = self.n_rows
        if weights is None:
            return np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        return random.multinomial(n, weights / weights.sum()).astype(np.float64)

    @abstractmethod
    def _read_training(self, given: Any) -> None:
        """Keep the training table as trees grow on it, and as `table`, as `_read` gives it."""

    @abstractmethod
    def _read(self, X: Any) -> tuple[Any, ...]:
        """Return rows as the trees take them, of flipped binary columns."""

    @abstractmethod
    def _grow(self, counts, rows, wanted, min_leaf, random, state) -> tuple[Any, ...]:
        """Return a tree; sort `rows` leaf by leaf."""


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
        self._means: dict[int, NDArray[np.float64]] = {}

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

    def means_of(self, label: int) -> NDArray[np.float64]:
        """Return the means of a label in all nodes, which are kept for a while."""
        if label not in self._means:
            forest = self.forest
            found = node_means(forest.roots, read_only(*forest.held), forest.row_values(label))
            if len(self._means) * len(found) > MOST_MEANS:
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
