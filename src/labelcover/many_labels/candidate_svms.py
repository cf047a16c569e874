"""A linear SVM for every label, trained on rows that have it or might have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover.learners.forest.grown_forest import in_threads
from labelcover.learners.problems import problem_blocks
from labelcover.many_labels.candidate_kernels import candidate_scores, train_svms

# Weights that an SVM keeps: the largest.
MOST_FEATURES = 1_024
# Rounds of descent, and the tolerance: more rounds do not predict better.
STOP = (10, 0.1)
# Rows of the SVMs that are trained in one call.
BLOCK_SAMPLES = 200_000


@dataclass(frozen=True)
class CandidateSvms:
    """One-vs-rest linear SVMs with the squared hinge loss, on hard rows only.

    A row is a negative example of a label only where the label is one of its candidates: the
    other rows, nearly all, are easily told apart. The work grows with rows times candidates, not
    with rows times labels.

    Attributes
    ----------
    weights : (starts, features, values, biases)
        Those of each label.

    References
    ----------
    Hsieh, C.-J., Chang, K.-W., Lin, C.-J., Keerthi, S. S., & Sundararajan, S. (2008). A dual
    coordinate descent method for large-scale linear SVM. ICML 2008, 408-415.

    Prabhu, Y., Kag, A., Harsola, S., Agrawal, R., & Varma, M. (2018). Parabel: Partitioned label
    trees for extreme classification. WWW 2018, 993-1002.
    """

    weights: tuple[NDArray[Any], ...]

    def scores(
        self,
        table: tuple[Any, ...],
        n_features: int,
        rows: NDArray[np.int64],
        candidates: NDArray[np.int32],
    ) -> NDArray[np.float32]:
        """Return the scores of the candidates of some rows."""
        return candidate_scores(table, n_features, rows, candidates, self.weights)


def train_on_candidates(
    table: tuple[Any, ...],
    n_features: int,
    candidates: NDArray[np.int32],
    labels: sparse.csr_array,
    costs: NDArray[np.float64],
    seed: int,
    *,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> CandidateSvms:
    """Return the SVMs of all labels.

    Parameters
    ----------
    table : (data, indices, indptr)
        Training rows.
    candidates : ndarray of shape (n, most), int32
        Candidates of the rows, found without knowing their labels; padded by -1.
    labels : CSR array of shape (n, n_labels)
    costs : ndarray of shape (n,)
        That of an error in each row; a row of cost 0 is left out.
    """
    samples, targets, starts = hard_samples(candidates, labels, costs > 0)
    blocks = list(problem_blocks(starts, BLOCK_SAMPLES))
    states = np.random.default_rng(seed).integers(1, 2**63, size=len(blocks)).astype(np.uint64)
    jobs = (
        delayed(train_svms)(
            table,
            n_features,
            samples,
            targets,
            starts[block.start : block.stop + 1],
            costs,
            MOST_FEATURES,
            STOP,
            state[None],
        )
        for block, state in zip(blocks, states, strict=True)
    )
    found = in_threads(jobs, n_jobs, text="training linear SVMs", verbose=verbose)
    weight_starts, *rest = zip(*found, strict=True)
    sizes = np.concatenate([np.diff(own) for own in weight_starts])
    kept = [np.concatenate(parts) for parts in rest]
    return CandidateSvms((np.concatenate([[0], np.cumsum(sizes)]), *kept))


def hard_samples(
    candidates: NDArray[np.int32], labels: sparse.csr_array, used: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int64]]:
    """Return the rows of each label's SVM, their classes -1 or 1, and where each starts.

    Those are the rows that have the label, and those that have it as a candidate.
    """
    n, n_labels = labels.shape
    own = np.flatnonzero(used)
    row, place = np.nonzero(candidates[own] >= 0)
    thought = sparse.csr_array(
        (np.ones(len(row), np.int8), (own[row], candidates[own[row], place])), shape=(n, n_labels)
    )
    keep = np.repeat(used, np.diff(labels.indptr))
    rows = np.repeat(np.arange(n), np.diff(labels.indptr))[keep]
    # 1 where it is a candidate only, at least 2 where the row has it.
    true = sparse.csr_array(
        (np.full(len(rows), 2, np.int8), (rows, labels.indices[keep])), shape=(n, n_labels)
    )
    both = sparse.csc_array(thought + true)
    classes = np.where(both.data >= 2, 1, -1).astype(np.int8)
    return both.indices.astype(np.int32), classes, both.indptr.astype(np.int64)
