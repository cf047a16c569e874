"""One against one: a linear SVM for every pair of classes, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labelcover.learners.problems import Members
from labelcover.learners.smo.coupling_kernels import coupled_distributions
from labelcover.learners.smo.linear_filter import LinearFilter
from labelcover.learners.smo.slot_kernels import dense_gram
from labelcover.learners.smo.solver_kernels import fit_binary_svms

# Up to so many rows, the products of all pairs of rows are computed once (512 MB).
MOST_GRAM_ROWS = 8192
# Products up to this are kept as whole numbers, if all of them are that.
MOST_COUNT = np.iinfo(np.uint16).max
# The ridge of 1e-8 that WEKA puts on the logistic fit.
LOGISTIC_C = 0.5e8


@dataclass(frozen=True)
class PairSvms:
    """The linear SVMs of all pairs of classes of one problem.

    Attributes
    ----------
    first, second : ndarray of shape (pairs,), int32
        The classes of each pair; an output above 0 speaks for the second.
    weights : ndarray of shape (pairs, columns)
    bias : ndarray of shape (pairs,)
    logistic : ndarray of shape (pairs, 2)
        Slope and intercept of the probability of the second class, given the output.
    size : ndarray of shape (pairs,)
        Training weight of the two classes together.
    n_classes : int
    """

    first: NDArray[np.int32]
    second: NDArray[np.int32]
    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    logistic: NDArray[np.float64]
    size: NDArray[np.float64]
    n_classes: int


@dataclass(frozen=True)
class TrainingTable:
    """Training rows as the solver wants them, ready for any number of problems.

    Attributes
    ----------
    columns : ndarray or CSR array of shape (n, columns)
    data, indices, indptr : ndarray
        The same in CSR; without indices if dense.
    gram : ndarray of shape (n, n)
        The products of all pairs of rows, or of shape (0, 0) if there are too many rows.
    counts : ndarray of shape (n, n), uint8 or uint16
        The products where all are whole numbers, as of 0/1 columns: `gram` is empty then. They take
        an eighth or a quarter of the room.
    """

    columns: Any
    data: NDArray[np.float64]
    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    gram: NDArray[np.float64]
    counts: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, columns: Any) -> TrainingTable:
        """Return the table of these rows."""
        n, d = columns.shape
        few = n <= MOST_GRAM_ROWS
        if sparse.issparse(columns):
            columns.sum_duplicates()
            gram = (columns @ columns.T).toarray() if few else np.zeros((0, 0))
            indices, indptr = columns.indices.astype(np.int32), columns.indptr.astype(np.int64)
            return cls(columns, columns.data, indices, indptr, *_in_few_bytes(gram))
        columns = np.ascontiguousarray(columns)
        gram = np.empty((n, n) if few else (0, 0))
        if few:
            dense_gram(columns, columns.T.copy(), gram)
        indptr = np.arange(n + 1) * d
        return cls(columns, columns.ravel(), np.empty(0, np.int32), indptr, *_in_few_bytes(gram))


def _in_few_bytes(
    gram: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.unsignedinteger]]:
    """Return products and nothing, or nothing and the products as small whole numbers."""
    largest = gram.max(initial=0)
    is_small = largest <= np.iinfo(np.uint8).max
    kind: type[np.unsignedinteger] = np.uint8 if is_small else np.uint16
    if gram.size and largest <= MOST_COUNT and gram.min() >= 0:
        counts = gram.astype(kind)
        if np.array_equal(counts, gram):
            return np.zeros((0, 0)), counts
    return gram, np.zeros((0, 0), np.uint8)


def fit_pairs(
    table: TrainingTable,
    label: NDArray[np.int32],
    n_classes: int,
    *,
    C: float,
    tol: float,
    logistic: bool,
    weights: NDArray[np.float64] | None = None,
) -> PairSvms:
    """Return the linear SVMs of all pairs of classes, of which at least one occurs in `label`.

    Where only one class of a pair occurs, the SVM always speaks for it.
    """
    first, second = np.triu_indices(n_classes, 1)
    w = np.ones(len(label)) if weights is None else weights
    count = np.bincount(label, minlength=n_classes)
    pair_weights, threshold = fit_binary_svms(
        table.data,
        table.indices,
        table.indptr,
        table.gram,
        table.counts,
        table.columns.shape[1],
        np.argsort(label, kind="stable"),
        np.cumsum([0, *count]),
        first,
        second,
        C * w,
        tol,
    )
    class_weight = np.bincount(label, w, n_classes).astype(np.float64)
    seen = (count[first] > 0) | (count[second] > 0)
    first, second = first[seen], second[seen]
    svms = PairSvms(
        first.astype(np.int32),
        second.astype(np.int32),
        pair_weights[seen],
        -threshold[seen],
        np.zeros((len(first), 2)),
        class_weight[first] + class_weight[second],
        n_classes,
    )
    if logistic:
        _fit_logistic(svms, table.columns, label, w, (count[first] > 0) & (count[second] > 0))
    return svms


def _fit_logistic(
    svms: PairSvms,
    columns: Any,
    label: NDArray[np.int32],
    weights: NDArray[np.float64],
    trained: NDArray[np.bool_],
) -> None:
    """Fit each pair's probability of the second class to the outputs on its training rows."""
    svms.logistic[:, 0] = svms.bias  # pairs with one class: as sure as one can be
    svms.logistic[:, 1] = 50.0 * svms.bias
    for p in np.flatnonzero(trained):
        rows = np.flatnonzero((label == svms.first[p]) | (label == svms.second[p]))
        outputs = columns[rows] @ svms.weights[p] + svms.bias[p]
        model = LogisticRegression(C=LOGISTIC_C, solver="newton-cholesky", max_iter=200)
        model.fit(outputs[:, None], label[rows] == svms.second[p], weights[rows])
        svms.logistic[p] = model.coef_[0, 0], model.intercept_[0]


class PairStack(Members):
    """The linear SVMs of many problems side by side: one product answers them all.

    Parameters
    ----------
    features : LinearFilter
        From a table to the columns that the SVMs take.
    problems : sequence of PairSvms
    logistic : bool
        Whether the fitted probabilities are coupled, instead of counting votes.
    """

    def __init__(
        self, features: LinearFilter, problems: Sequence[PairSvms], *, logistic: bool
    ) -> None:
        self.features = features
        self.first = np.concatenate([p.first for p in problems])
        self.second = np.concatenate([p.second for p in problems])
        self.weights = np.concatenate([p.weights for p in problems])
        self.bias = np.concatenate([p.bias for p in problems])
        self.logistic = np.concatenate([p.logistic for p in problems]) if logistic else None
        self.size = np.concatenate([p.size for p in problems])
        self.starts = np.cumsum([0, *(len(p.first) for p in problems)])
        self.offsets = np.cumsum([0, *(p.n_classes for p in problems)])
        self.row_width = self.weights.shape[1]

    def prepare(self, X: Any) -> Any:
        """Return the columns that the SVMs take."""
        return self.features.columns(X)

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side, a row per row."""
        starts = self.starts[problems.start : problems.stop + 1]
        offsets = self.offsets[problems.start : problems.stop + 1]
        pairs = slice(starts[0], starts[-1])
        outputs = np.ascontiguousarray(prepared @ self.weights[pairs].T)
        outputs += self.bias[pairs]
        first, second = self.first[pairs], self.second[pairs]
        starts, offsets = starts - starts[0], offsets - offsets[0]
        if self.logistic is None:
            return vote_distributions(outputs > 0, first, second, starts, offsets)
        logistic, size = self.logistic[pairs], self.size[pairs]
        return coupled_distributions(outputs, first, second, logistic, size, starts, offsets)


def vote_distributions(
    is_second: NDArray[np.bool_],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    starts: NDArray[np.int64],
    offsets: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return, for every row and problem, each class's share of the votes of its pairs.

    Parameters
    ----------
    is_second : ndarray of shape (n, pairs)
        Whether the vote of a pair is for the second class, else for the first.
    first, second : ndarray of shape (pairs,)
    starts : ndarray of shape (problems + 1,)
        The pairs of problem ``j`` are ``starts[j]:starts[j + 1]``.
    offsets : ndarray of shape (problems + 1,)
        Its classes are the columns ``offsets[j]:offsets[j + 1]`` of the answer.
    """
    n, n_pairs, n_classes = len(is_second), np.diff(starts), np.diff(offsets)
    before = np.repeat(offsets[:-1], n_pairs)
    winner = np.where(is_second, before + second, before + first)
    cells = np.arange(n)[:, None] * offsets[-1] + winner
    votes = np.bincount(cells.ravel(), minlength=n * offsets[-1]).reshape(n, offsets[-1])
    shares = votes * np.repeat(1.0 / np.maximum(n_pairs, 1), n_classes)
    # Without pairs all classes are as likely.
    return shares + np.repeat((n_pairs == 0) / n_classes, n_classes)
