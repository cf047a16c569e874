"""Label shares of the training rows that are most similar to a row of a sparse table."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._features import csr_arrays, numeric
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._forest.swap_kernels import orders_of
from labelcover.learners._neighbour_kernels import (
    N_NEIGHBOURS,
    VOTE_POWER,
    neighbours_of,
    vote_parts,
)

# Neighbours are looked for among no more training rows than these, drawn at random.
MOST_ROWS = 16_384
# Features in a greater share of the rows tell too few of them apart to be worth the time.
MOST_COMMON = 0.25
# What columns add to votes is averaged over orders with so many steps of one column.
MOST_STEPS = 256


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
        # The rows themselves, until some have been left out.
        self.table: Any = table

    @classmethod
    def fit_labels(
        cls, *given: Any, left_out: Any = None, n_jobs: Any = None, verbose: Any = None, **how: Any
    ) -> "tuple[NearestRows, NDArray[np.float64]]":
        """Return the fitted rows, and confidences of some training rows, by default of none."""
        found = cls(*given, **how)
        shares = found.left_out(np.empty(0, np.int64) if left_out is None else left_out)
        del found.table
        return found, shares

    def confidence(self, X: Any) -> NDArray[np.float64]:
        """Return the shares of all labels among the neighbours of new rows, ``(n, n_labels)``."""
        return self._shares(self.scaled(X), np.full(X.shape[0], -1))

    def left_out(self, asked: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the same for training rows, none of which is its own neighbour."""
        place = np.searchsorted(self.rows, asked)
        is_held = self.rows[np.minimum(place, len(self.rows) - 1)] == asked
        return self._shares(self.table[asked], np.where(is_held, place, -1))

    def _scaled(self, table: sparse.csr_array) -> sparse.csr_array:
        """Return features times their factors, in rows of length one; `table` is overwritten."""
        table.data *= self.factors[table.indices]
        table.eliminate_zeros()
        squares = np.add.reduceat(np.append(table.data**2, 0), table.indptr[:-1])
        squares[np.diff(table.indptr) == 0] = 1.0
        table.data /= np.repeat(np.sqrt(squares), np.diff(table.indptr))
        return table

    def _shares(self, table: sparse.csr_array, own: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the shares of labels among the neighbours of rows that know them."""
        found, votes, _ = self.votes(table, own)
        row, place = np.nonzero(found >= 0)
        neighbour, given = self.rows[found[row, place]], votes[row, place]
        rest = (1 - votes.sum(axis=1))[:, None]
        if self.known is not None:
            cells, above = self.known
            asked = sparse.csr_array((given, (row, neighbour)), shape=(len(found), cells.shape[0]))
            known = (asked @ cells).toarray() + rest
            return self.frequency + (asked @ above).toarray() / known
        sums, (label_indices, label_starts) = rest * self.frequency, self.labels
        n_labels = np.diff(label_starts)[neighbour]
        # All labels of each neighbour, one neighbour after the other.
        before = np.repeat(label_starts[neighbour] - np.cumsum(n_labels) + n_labels, n_labels)
        labels = label_indices[before + np.arange(len(before))]
        np.add.at(sums, (np.repeat(row, n_labels), labels), np.repeat(given, n_labels))
        return sums

    def parts(
        self,
        table: sparse.csr_array,
        confidence: NDArray[np.float64],
        weights: NDArray[np.float64],
        least: float,
    ) -> sparse.csr_array:
        """Return what columns add to a sum of log-odds times `weights`: Shapley values, nearly.

        Of rows as neighbours are found by, and their confidences, kept `least` inside (0, 1).
        """
        parts, used = np.zeros(table.nnz), np.flatnonzero(weights.any(axis=0))
        above, known = self._held(used)
        place, own_weights = np.cumsum(weights.any(axis=0)) - 1, self.weights[self.rows]
        for i, (start, stop) in enumerate(pairwise(table.indptr.tolist())):
            labels = np.flatnonzero(weights[i])
            if stop > start and len(labels):
                own, row = place[labels], (table.data[start:stop], table.indices[start:stop])
                odds = self.frequency[labels], confidence[i, labels], least
                orders, held = orders_of(stop - start, MOST_STEPS), (above[own], known[own])
                how = orders, own_weights, held, odds, weights[i, labels]
                parts[start:stop] = vote_parts(row, self.posts, *how)
        return sparse.csr_array((parts, table.indices, table.indptr), shape=table.shape)

    def _held(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what votes of `rows` move the shares of labels by, and whether they count."""
        if self.known is not None:
            cells, above = (table[self.rows][:, labels].toarray().T for table in self.known)
            return above, cells
        indices, starts = self.labels
        shape = len(starts) - 1, len(self.frequency)
        has = sparse.csr_array((np.ones(len(indices)), indices, starts), shape=shape)
        above = has[self.rows][:, labels].toarray().T - self.frequency[labels, None]
        return above, np.ones(above.shape)

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
