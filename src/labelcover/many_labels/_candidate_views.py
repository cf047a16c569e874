"""What is known of the candidate labels of a row: means of labels, and linear SVMs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners import csr_arrays, in_threads, problem_blocks
from labelcover.many_labels._candidate_kernels import (
    candidate_products,
    likeliest_means,
    train_svms,
)
from labelcover.many_labels._candidates import true_candidates

# Sums of labels that are added to for one row, when its likeliest labels are sought.
MOST_POSTS = 50_000
# What new rows have in the means: nothing.
NOTHING = sparse.csr_array((0, 0), dtype=np.uint8), np.zeros(0)
# Weights that an SVM keeps: the largest.
MOST_FEATURES = 1_024
# Rounds of descent, and the tolerance: more rounds do not predict better.
STOP = (10, 0.1)
# Rows of the SVMs that are trained in one call.
BLOCK_SAMPLES = 200_000


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
        self.squares = np.asarray(sums.power(2).sum(axis=1), dtype=np.float64)
        self.sums, self.posts = csr_arrays(sums), csr_arrays(sparse.csc_array(sums))

    def likeliest(
        self, rows: sparse.csr_array, most: int, own: tuple[Any, Any] = NOTHING
    ) -> NDArray[np.int32]:
        """Return the labels whose means are most like some rows, ``(n_rows, most)``, padded by -1.

        Parameters
        ----------
        own : (CSR array of labels, weights)
            Those of the rows, if these are training rows, which are left out.
        """
        # The features with the fewest labels first in each row.
        of_rows = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        order = np.lexsort((np.diff(self.posts[2])[rows.indices], of_rows))
        data, indices, indptr = csr_arrays(rows)
        how = self.posts, self.squares, csr_arrays(own[0])[1:], own[1], most, MOST_POSTS
        return likeliest_means((data[order], indices[order], indptr), *how)

    def cosines(
        self,
        rows: sparse.csr_array,
        candidates: NDArray[np.int32],
        own: tuple[Any, Any] = NOTHING,
    ) -> NDArray[np.float32]:
        """Return the cosines of some rows with the means of their candidates, 0 without any."""
        products = candidate_products(csr_arrays(rows), rows.shape[1], candidates, self.sums)
        squares = self.squares[candidates]  # of the last label where there is no candidate
        places = np.repeat(np.arange(len(candidates)), np.diff(rows.indptr))
        of_rows = np.bincount(places, rows.data.astype(np.float64) ** 2, minlength=len(candidates))
        of_rows, (labels, weights) = of_rows[:, None], own
        if len(weights):
            own_weights = weights[:, None] * true_candidates(candidates, labels)
            squares = squares - 2 * own_weights * products + own_weights**2 * of_rows
            products -= own_weights * of_rows
        # Else one of the two is nothing but rounding.
        enough = (candidates >= 0) & (of_rows > 0) & (squares > 1e-9 * of_rows)
        lengths = np.sqrt(np.where(enough, squares * of_rows, 1.0))
        return np.where(enough, products / lengths, 0.0).astype(np.float32)


def train_on_candidates(
    rows: sparse.csr_array,
    candidates: NDArray[np.int32],
    labels: sparse.csr_array,
    costs: NDArray[np.float64],
    seed: int,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> tuple[NDArray[Any], ...]:
    """Return one-vs-rest linear SVMs with the squared hinge loss, on hard rows only.

    A row is a negative example of a label only where the label is one of its candidates: the
    other rows, nearly all, are easily told apart. The work grows with rows times candidates, not
    with rows times labels.

    Parameters
    ----------
    rows : CSR array of shape (n, n_features)
    candidates : ndarray of shape (n, most), int32
        Candidates of the rows, found without knowing their labels; padded by -1.
    labels : CSR array of shape (n, n_labels)
    costs : ndarray of shape (n,)
        That of an error in each row; a row of cost 0 is left out.

    Returns
    -------
    starts, features, values, biases : ndarray
        The weights of each label.

    References
    ----------
    Hsieh, C.-J., Chang, K.-W., Lin, C.-J., Keerthi, S. S., & Sundararajan, S. (2008). A dual
    coordinate descent method for large-scale linear SVM. ICML 2008, 408-415.

    Prabhu, Y., Kag, A., Harsola, S., Agrawal, R., & Varma, M. (2018). Parabel: Partitioned label
    trees for extreme classification. WWW 2018, 993-1002.
    """
    samples, targets, starts = hard_samples(candidates, labels, costs > 0)
    blocks = list(problem_blocks(starts, BLOCK_SAMPLES))
    states = np.random.default_rng(seed).integers(1, 2**63, size=len(blocks)).astype(np.uint64)
    svms = csr_arrays(rows), rows.shape[1], samples, targets
    jobs = (
        delayed(train_svms)(
            *svms, starts[own.start : own.stop + 1], costs, MOST_FEATURES, STOP, state[None]
        )
        for own, state in zip(blocks, states, strict=True)
    )
    found = in_threads(jobs, n_jobs, text="training linear SVMs", verbose=verbose)
    weight_starts, *rest = zip(*found, strict=True)
    sizes = np.concatenate([np.diff(own) for own in weight_starts])
    kept = [np.concatenate(parts) for parts in rest]
    return np.concatenate([[0], np.cumsum(sizes)]), *kept


def svm_scores(
    svms: tuple[NDArray[Any], ...], rows: sparse.csr_array, candidates: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the scores of the candidates of some rows by their linear SVMs."""
    starts, features, values, biases = svms
    asked = csr_arrays(rows), rows.shape[1], candidates
    products = candidate_products(*asked, (values, features, starts))
    return np.where(candidates >= 0, products + biases[candidates], 0.0).astype(np.float32)


def hard_samples(
    candidates: NDArray[np.int32], labels: sparse.csr_array, used: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int64]]:
    """Return the rows of each label's SVM, their classes -1 or 1, and where each starts.

    Those are the rows that have the label, and those that have it as a candidate.
    """
    own = np.flatnonzero(used)
    row, place = np.nonzero(candidates[own] >= 0)
    entries = np.ones(len(row), np.int8), (row, candidates[own[row], place])
    thought = sparse.csr_array(entries, shape=(len(own), labels.shape[1]))
    # 1 where it is a candidate only, at least 2 where the row has it.
    both = sparse.csc_array(thought + 2 * labels[own].astype(np.int8))
    classes = np.where(both.data >= 2, 1, -1).astype(np.int8)
    return own[both.indices].astype(np.int32), classes, both.indptr.astype(np.int64)
