"""A forest for very many labels: it tells the shares of each row's candidates only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners.candidates.share_kernels import candidate_shares, note_leaves
from labelcover.learners.features import numeric
from labelcover.learners.forest.mean_forest import MeanForest
from labelcover.learners.forest.mean_tree_kernels import sort_into_leaves
from labelcover.learners.problems import in_parallel

# Least number of draws in a leaf.
MIN_LEAF = 2


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
        self.trees = list(
            in_parallel(
                jobs,
                get_num_threads() if n_jobs is None else n_jobs,
                text="growing trees",
                verbose=verbose,
                require="sharedmem",
            )
        )
        del self.unit_labels
        drawn = np.cumsum([0, *(len(rows) for _, rows, _ in self.trees)])
        held = list(zip(self.trees, drawn, strict=False))
        self.leaf_rows = (
            np.concatenate([tree[2] + offset for (tree, _, _), offset in held]),
            np.concatenate([tree[3] + offset for (tree, _, _), offset in held]),
            np.concatenate([rows for _, rows, _ in self.trees]),
            np.concatenate([counts for _, _, counts in self.trees]).astype(np.float32),
        )

    def read(self, X: Any) -> tuple[Any, ...]:
        """Return new rows as the trees take them."""
        return self._read(self.rare.transform(numeric(X, self.n_values)))

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
            note_leaves(tree[0], asked, starts, ends, offset, own)
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
