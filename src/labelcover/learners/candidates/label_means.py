"""The mean training row of every label, and which of them a row is most like."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.candidates.label_mean_kernels import candidate_cosines, likeliest_means
from labelcover.learners.features import csr_arrays

# Sums of labels that are added to for one row, when its likeliest labels are sought.
MOST_POSTS = 50_000


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
        own : (labels, weights)
            Labels and weights of training rows, which are left out; `NOTHING` for new rows.
        """
        return likeliest_means(table, rows, self.posts, self.squares, *own, most, MOST_POSTS)

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


# What new rows have in the means: nothing.
NOTHING = (np.zeros(0, np.int32), np.zeros(1, np.int64)), np.zeros(0)
