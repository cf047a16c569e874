"""Which labels are candidates of a row: by the means of labels, and by the leaves of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners.features import csr_arrays
from labelcover.learners.forest.grown_forest import in_threads
from labelcover.learners.forest.mean_forest import MeanForest
from labelcover.learners.forest.mean_tree_kernels import sort_into_leaves
from labelcover.many_labels.candidate_kernels import (
    candidate_cosines,
    candidate_shares,
    likeliest_means,
)

# Sums of labels that are added to for one row, when its likeliest labels are sought.
MOST_POSTS = 50_000
# What new rows have in the means: nothing.
NOTHING = (np.zeros(0, np.int32), np.zeros(1, np.int64)), np.zeros(0)
# Least number of draws in a leaf.
MIN_LEAF = 2


class LabelMeans:
    """Means of the rows of each label; rows are compared with them by the cosine.

    A training row is left out of the means of its own labels, which is exact and needs no refit:
    its own share is subtracted. A label that no other row has is then like nothing.

    Parameters
    ----------
    table : CSR array of shape (n, n_features)
        Training rows.
    labels : CSR array of shape (n, n_labels)
        Ones, and sorted labels.
    weights : ndarray of shape (n,)

    References
    ----------
    Rocchio, J. J. (1971). Relevance feedback in information retrieval. The SMART Retrieval
    System, 313-323.
    """

    def __init__(
        self,
        table: sparse.csr_array,
        labels: sparse.csr_array,
        weights: NDArray[np.float64],
    ) -> None:
        weighted = sparse.csr_array(sparse.diags_array(weights.astype(np.float32)) @ table)
        sums = sparse.csr_array(labels.T.astype(np.float32) @ weighted)
        self.n_features = table.shape[1]
        self.squares = np.asarray(sums.power(2).sum(axis=1), dtype=np.float64)
        self.sums, self.posts = csr_arrays(sums), csr_arrays(sparse.csc_array(sums))

    def likeliest(
        self, table: tuple[Any, ...], rows: NDArray[np.int64], most: int, own: tuple[Any, Any]
    ) -> NDArray[np.int32]:
        """Return the labels whose means are most like some rows, ``(n_rows, most)``, padded by -1.

        Parameters
        ----------
        table : (data, indices, indptr)
            That the rows, which follow each other, are in.
        own : (labels, weights)
            Labels and weights of training rows, which are left out; `NOTHING` for new rows.
        """
        some = self._rarest_first(table, rows)
        return likeliest_means(some, rows, self.posts, self.squares, *own, most, MOST_POSTS)

    def cosines(
        self,
        table: tuple[Any, ...],
        rows: NDArray[np.int64],
        candidates: NDArray[np.int32],
        own: tuple[Any, Any],
    ) -> NDArray[np.float32]:
        """Return the cosines of some rows with the means of their candidates."""
        return candidate_cosines(
            table, self.n_features, rows, candidates, self.sums, self.squares, *own
        )

    def _rarest_first(
        self, table: tuple[Any, ...], rows: NDArray[np.int64]
    ) -> tuple[NDArray[Any], ...]:
        """Return some rows of a table, the features with the fewest labels first in each."""
        data, indices, indptr = table
        chosen = slice(indptr[rows[0]], indptr[rows[-1] + 1]) if len(rows) else slice(0, 0)
        data, indices = data[chosen], indices[chosen]
        lengths = np.diff(indptr)[rows]
        order = np.lexsort((np.diff(self.posts[2])[indices], np.repeat(rows, lengths)))
        return data[order], indices[order], np.append(0, np.cumsum(lengths))


class CandidateForest(MeanForest):
    """Trees that split by means (`MeanForest`), asked for the likeliest labels of rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, features)
    labels : CSR array of shape (n, n_labels)
    n_values : ndarray of shape (features,)
        How many values a nominal feature has, 0 for a numeric one.
    """

    def grow_all(
        self,
        n_trees: int,
        weights: NDArray[np.float64] | None,
        seed: int,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        """Grow the trees; in parallel, as many as numba has threads by default."""
        seeds = np.random.SeedSequence(seed).spawn(n_trees)
        jobs = (delayed(self.grow)(weights, 1, MIN_LEAF, one) for one in seeds)
        self.trees = list(in_threads(jobs, n_jobs, text="growing trees", verbose=verbose))
        del self.unit_labels
        drawn = np.cumsum([0, *(len(rows) for _, rows, _ in self.trees)])
        held = list(zip(self.trees, drawn, strict=False))
        self.leaf_rows = (
            np.concatenate([tree[2] + offset for (tree, _, _), offset in held]),
            np.concatenate([tree[3] + offset for (tree, _, _), offset in held]),
            np.concatenate([rows for _, rows, _ in self.trees]),
            np.concatenate([counts for _, _, counts in self.trees]).astype(np.float32),
        )

    def leaves(self, table: tuple[Any, ...], *, training: bool) -> NDArray[np.int32]:
        """Return the leaf of each row in each tree, ``(n, n_trees)``.

        Those of training rows are -1 in the trees that were grown with them.
        """
        n = len(table[2]) - 1
        found = np.full((len(self.trees), n), -1, dtype=np.int32)
        offset = 0
        for (tree, rows, _), own in zip(self.trees, found, strict=True):
            seen = np.zeros(n, dtype=bool)
            if training:
                seen[rows] = True
            asked = np.flatnonzero(~seen).astype(np.int32)
            starts, ends = sort_into_leaves(table, self.n_features, tree, asked)
            leaves = np.flatnonzero((tree[0] < 0) & (ends > starts))
            leaves = leaves[np.argsort(starts[leaves])]  # in the order of the rows in them
            own[asked] = offset + np.repeat(leaves, (ends - starts)[leaves])
            offset += len(tree[0])
        return np.ascontiguousarray(found.T)

    def shares(
        self, leaves: NDArray[np.int32], given: NDArray[np.int32], most: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return up to `most` candidates of rows, first those given; and their label shares."""
        return candidate_shares(leaves, *self.leaf_rows, self.labels, self.n_labels, given, most)


def csr_of(table: tuple[Any, ...], n_features: int) -> sparse.csr_array:
    """Return rows as the trees take them as a CSR array."""
    return sparse.csr_array(table, shape=(len(table[2]) - 1, n_features))
