"""Label shares of the training rows that are most similar to a row of a sparse table."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._features import csr_arrays, numeric
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._neighbour_kernels import neighbours_of

# Neighbours that vote, and the power of their cosines that is the vote.
N_NEIGHBOURS = 30
VOTE_POWER = 3
# Neighbours are looked for among no more training rows than these, drawn at random.
MOST_ROWS = 16_384
# Features in a greater share of the rows tell too few of them apart to be worth the time.
MOST_COMMON = 0.25
# Cosines that are a smaller share of the sizes of their terms are divided by these.
LEAST_SUM = 0.1


class NearestRows:
    """Training rows by their features, and their labels.

    Each feature is multiplied by the logarithm of one over the share of rows that have it, as words
    of texts are, and each row is divided by its length. The 30 rows with the greatest cosines vote
    for their labels, with the third power of the cosine; one vote as large as the greatest goes to
    the frequencies of the labels.

    Parameters
    ----------
    given : ReadTable
        The training rows.
    Y : ndarray of shape (n, n_labels)
    weights : ndarray of shape (n,), optional
        Votes are multiplied by those of the rows.
    cells : ndarray of shape (n, n_labels), optional
        By what these are multiplied for each label, 0 where it is not known: shares are then those
        among the neighbours that know the label.
    seed : int

    Attributes
    ----------
    rows : ndarray
        The training rows that neighbours are looked for among, ascending.
    frequency : ndarray of shape (n_labels,)
        How frequent the labels are, inside (0, 1).
    """

    def __init__(
        self,
        given: ReadTable,
        Y: NDArray[np.uint8],
        *,
        weights: NDArray[np.float64] | None = None,
        cells: NDArray[np.float64] | None = None,
        seed: int = 0,
    ) -> None:
        self.n_values, self.rare = given.n_values, given.rare
        held_labels = sparse.csr_array(Y)
        self.labels = held_labels.indices.astype(np.int32), held_labels.indptr.astype(np.int64)
        self.frequency = (Y.sum(axis=0) + 0.5) / (Y.shape[0] + 1)
        self.known = None
        if cells is not None:
            self.frequency = ((cells * Y).sum(axis=0) + 0.5) / (cells.sum(axis=0) + 1)
            self.known = sparse.csr_array(cells), sparse.csr_array(cells * (Y - self.frequency))
        n = len(Y)
        self.rows = np.arange(n)
        if n > MOST_ROWS:
            self.rows = np.sort(np.random.default_rng(seed).choice(n, MOST_ROWS, replace=False))
        self.weights = np.ones(n) if weights is None else weights
        table = _counted(given.table)
        held = np.bincount(table.indices, minlength=table.shape[1])
        factors = np.log((n + 1) / (held + 1))
        self.factors = np.where(held > MOST_COMMON * n, 0.0, factors).astype(np.float32)
        table = self._scaled(table)
        self.posts = csr_arrays(sparse.csc_array(table[self.rows]))
        # The rows themselves, until `forget_training`.
        self.table: Any = table

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the shares of all labels among the neighbours of new rows, ``(n, n_labels)``."""
        return self._shares(self.scaled(X), np.full(X.shape[0], -1))

    def nearness(self, X: Any) -> "Nearness":
        """Return the confidences of new rows as sums over the columns of the table."""
        return Nearness(self, X)

    def having(self, label: int) -> NDArray[np.bool_]:
        """Return which of `rows` have a label."""
        label_indices, label_starts = self.labels
        has = np.zeros(len(label_starts) - 1, dtype=bool)
        rows = np.repeat(np.arange(len(has)), np.diff(label_starts))
        has[rows[label_indices == label]] = True
        return has[self.rows]

    def left_out(self, asked: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the same for training rows, none of which is its own neighbour."""
        place = np.searchsorted(self.rows, asked)
        is_held = self.rows[np.minimum(place, len(self.rows) - 1)] == asked
        return self._shares(self.table[asked], np.where(is_held, place, -1))

    def forget_training(self) -> None:
        """Forget what only `left_out` needs."""
        del self.table

    def _scaled(self, table: sparse.csr_array) -> sparse.csr_array:
        """Return features times their factors, in rows of length one; `table` is overwritten."""
        table.data *= self.factors[table.indices]
        table.eliminate_zeros()
        squares = np.add.reduceat(np.append(table.data**2, 0), table.indptr[:-1])
        squares[np.diff(table.indptr) == 0] = 1.0
        table.data /= np.repeat(np.sqrt(squares), np.diff(table.indptr))
        return table

    def _shares(self, table: sparse.csr_array, own: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.label_shares(*self.votes(table, own)[:2])

    def label_shares(
        self, found: NDArray[np.int32], votes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the shares of all labels from the neighbours of rows and their votes."""
        if self.known is not None:
            return self._known_shares(found, votes)
        sums = (1 - votes.sum(axis=1))[:, None] * self.frequency
        row, place = np.nonzero(found >= 0)
        label_indices, label_starts = self.labels
        neighbour = self.rows[found[row, place]]
        n_labels = np.diff(label_starts)[neighbour]
        # All labels of each neighbour, one neighbour after the other.
        before = np.repeat(label_starts[neighbour] - np.cumsum(n_labels) + n_labels, n_labels)
        labels = label_indices[before + np.arange(len(before))]
        np.add.at(sums, (np.repeat(row, n_labels), labels), np.repeat(votes[row, place], n_labels))
        return sums

    def _known_shares(
        self, found: NDArray[np.int32], votes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the shares of labels among the neighbours that know them."""
        assert self.known is not None
        cells, above = self.known
        row, place = np.nonzero(found >= 0)
        entries = votes[row, place], (row, self.rows[found[row, place]])
        asked = sparse.csr_array(entries, shape=(len(found), cells.shape[0]))
        known = (asked @ cells).toarray() + (1 - votes.sum(axis=1))[:, None]
        return self.frequency + (asked @ above).toarray() / known

    def moves(
        self, label: int, found: NDArray[np.int32], votes: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how far each neighbour of rows moves the frequency of a label, ``(n, 30)``."""
        if self.known is None:
            return votes * (self.having(label)[found] - self.frequency[label])
        cells, above = (table[:, [label]].toarray().ravel()[self.rows] for table in self.known)
        own = np.where(found >= 0, cells[found], 0.0)
        known = (votes * own).sum(axis=1) + 1 - votes.sum(axis=1)
        return votes * above[found] / known[:, None]

    def scaled(self, X: Any) -> sparse.csr_array:
        """Return new rows as neighbours are found by: CSR, in rows of length one."""
        return self._scaled(_counted(self.rare.transform(numeric(X, self.n_values))))

    def votes(
        self, table: sparse.csr_array, own: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float32]]:
        """Return the neighbours of rows, as places in `rows`, their shares of votes, and cosines.

        All are ``(n, 30)``; a place is -1 where there are no more. What the shares leave of 1 goes
        to the frequencies. `own` is the place of each row itself, -1 if it has none.
        """
        found, cosines = neighbours_of(
            csr_arrays(table), self.posts, len(self.rows), own, N_NEIGHBOURS
        )
        votes = cosines.astype(np.float64) ** VOTE_POWER * self.weights[self.rows[found]]
        total = votes.sum(axis=1) + votes.max(axis=1)
        return found, votes / np.where(total > 0, total, 1.0)[:, None], cosines


def _counted(numbers: Any) -> sparse.csr_array:
    """Return numbers, 0/1 features by their rarer value, as a CSR table that may be changed."""
    table = sparse.csr_array(numbers, dtype=np.float32, copy=True)
    table.eliminate_zeros()
    return table


class Nearness:
    """What columns add to the votes of the neighbours of some rows.

    A neighbour is near by the columns that it has in common with a row: their products add up to
    the cosine, and share what the neighbour moves the frequency of a label by.

    Parameters
    ----------
    nearest : NearestRows
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.

    Attributes
    ----------
    confidence : ndarray of shape (n, n_labels)
    found : ndarray of shape (n, 30)
        The neighbours, as places in ``nearest.rows``; -1 where there are no more.
    cosines : ndarray of shape (n, 30)
    """

    def __init__(self, nearest: NearestRows, X: Any) -> None:
        self.nearest, table = nearest, nearest.scaled(X)
        self.found, self.shares, self.cosines = nearest.votes(table, np.full(table.shape[0], -1))
        self.confidence = nearest.label_shares(self.found, self.shares)
        data, rows, starts = nearest.posts
        shape = len(nearest.rows), table.shape[1]
        held = sparse.csc_array((data, rows, starts), shape=shape).tocsr()
        # A row for each row and neighbour: what columns add to the cosine, of sum 1.
        row, place = np.nonzero(self.found >= 0)
        common = sparse.csr_array(table[row].multiply(held[self.found[row, place]]), dtype=float)
        sums, sizes = common.sum(axis=1), abs(common).sum(axis=1)
        # Where numbers below 0 cancel nearly all, the size of a product is its share.
        is_small = sums < LEAST_SUM * sizes
        n_common = np.diff(common.indptr)
        sizes_of_cells = np.where(np.repeat(is_small, n_common), abs(common.data), common.data)
        common.data = sizes_of_cells / np.repeat(np.where(is_small, sizes, sums), n_common)
        self.common, self.pairs = common, np.full(self.found.shape, -1)
        self.pairs[row, place] = np.arange(len(row))

    def of_label(self, label: int, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], Any]:
        """Return where some of the rows start, and the parts, CSR ``(n_rows, n_columns)``."""
        frequency, found = self.nearest.frequency[label], self.found[rows]
        moves = self.nearest.moves(label, found, self.shares[rows])
        row, place = np.nonzero(found >= 0)
        entries = moves[row, place], (row, self.pairs[rows][row, place])
        chosen = sparse.csr_array(entries, shape=(len(rows), self.common.shape[0]))
        return np.full(len(rows), frequency), sparse.csr_array(chosen @ self.common)
