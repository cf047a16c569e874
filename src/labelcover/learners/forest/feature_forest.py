"""Trees that split at a threshold of one feature, by the variance of all labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.forest.forest_kernels import add_answers, grow_tree
from labelcover.learners.forest.grown_forest import GrownForest, csr_arrays

_NO_TABLE = np.zeros((0, 0), np.float32)
_NO_ARRAYS = (np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int64))


class FeatureForest(GrownForest):
    """In each node the best of some random cuts of random features splits the rows."""

    default_trees = 100

    def _read_training(self, X: Any) -> None:
        self.table = self._read(X)
        if self.is_sparse:
            columns = csr_arrays(sparse.csc_array(X, dtype=np.float32))
            self.training = (_NO_TABLE, columns, self.table[1])
        else:
            self.training = (np.ascontiguousarray(X.T, dtype=np.float32), *(self.table[1],) * 2)

    def finish(self, weights: NDArray[np.float64] | None = None) -> None:
        """Ask the trees for the rows they have not seen, then forget what only growing needs."""
        super().finish(weights)
        del self.training

    def _read(self, X: Any) -> tuple[Any, ...]:
        if self.is_sparse:
            return _NO_TABLE, csr_arrays(sparse.csr_array(X, dtype=np.float32))
        dense = X.toarray() if sparse.issparse(X) else X
        return np.ascontiguousarray(dense, dtype=np.float32), _NO_ARRAYS

    def _grow(self, counts, rows, wanted, min_leaf, random, state) -> tuple[Any, ...]:
        order = np.arange(self.n_features, dtype=np.int32)
        return grow_tree(
            self.training, self.labels, counts, rows, order, self.n_labels, wanted, min_leaf, state
        )

    def _add(self, table, tree, rows, counts, skip, sums) -> None:
        add_answers(table, self.n_features, tree, rows, counts, self.labels, skip, sums)
