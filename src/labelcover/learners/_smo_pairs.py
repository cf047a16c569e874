"""One against one: a linear machine for every pair of classes, and what they say together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from labelcover.learners._smo_kernels import coupled_distributions, vote_distributions

# Up to so many rows, the products of all pairs of rows are computed once (512 MB).
MOST_GRAM_ROWS = 8192
# The ridge of 1e-8 that WEKA puts on the logistic fit.
LOGISTIC_C = 0.5e8


@dataclass(frozen=True)
class PairMachines:
    """The machines of all pairs of classes of one problem.

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


def gram_matrix(columns: Any) -> NDArray[np.float64] | None:
    """Return the products of all pairs of rows, or None if there are too many rows."""
    if columns.shape[0] > MOST_GRAM_ROWS:
        return None
    gram = columns @ columns.T
    return gram.toarray() if sparse.issparse(gram) else gram


def fit_pairs(
    columns: Any,
    gram: NDArray[np.float64] | None,
    label: NDArray[np.int32],
    n_classes: int,
    *,
    C: float,
    tol: float,
    logistic: bool,
    weights: NDArray[np.float64] | None = None,
) -> PairMachines:
    """Return the machines of all pairs of classes, of which at least one occurs in `label`.

    Where only one class of a pair occurs, the machine always speaks for it.
    """
    present = np.unique(label)
    first, second = np.triu_indices(n_classes, 1)
    seen = np.isin(first, present) | np.isin(second, present)
    first, second = first[seen], second[seen]
    trained = np.isin(first, present) & np.isin(second, present)
    bias = np.where(np.isin(second, present), 1.0, -1.0)
    pair_weights = np.zeros((len(first), columns.shape[1]))
    if len(present) > 1:
        svm = SVC(C=C, kernel="linear" if gram is None else "precomputed", tol=tol)
        svm.fit(columns if gram is None else gram, label, sample_weight=weights)
        pair_weights[trained], bias[trained] = _linear_form(svm, columns)
    w = np.ones(len(label)) if weights is None else weights
    class_weight = np.bincount(label, w, n_classes).astype(np.float64)
    machines = PairMachines(
        first.astype(np.int32),
        second.astype(np.int32),
        pair_weights,
        bias,
        np.zeros((len(first), 2)),
        class_weight[first] + class_weight[second],
        n_classes,
    )
    if logistic:
        _fit_logistic(machines, columns, label, w, trained)
    return machines


def _linear_form(svm: SVC, columns: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights and bias of every pair, such that the output is above 0 for the second."""
    vectors = columns[svm.support_]
    ends = np.cumsum([0, *svm.n_support_])
    coefficients = svm.dual_coef_
    coefficients = coefficients.toarray() if sparse.issparse(coefficients) else coefficients
    sign = 1.0 if len(ends) == 3 else -1.0  # scikit-learn turns the signs for two classes
    first, second = np.triu_indices(len(svm.classes_), 1)
    alpha = np.zeros((len(first), len(svm.support_)))
    for p, (i, j) in enumerate(zip(first, second, strict=True)):
        of_first, of_second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        alpha[p, of_first] = coefficients[j - 1, of_first]
        alpha[p, of_second] = coefficients[i, of_second]
    return sign * np.asarray(alpha @ vectors), sign * svm.intercept_


def _fit_logistic(
    machines: PairMachines,
    columns: Any,
    label: NDArray[np.int32],
    weights: NDArray[np.float64],
    trained: NDArray[np.bool_],
) -> None:
    """Fit each pair's probability of the second class to the outputs on its training rows."""
    machines.logistic[:, 0] = machines.bias  # pairs with one class: as sure as one can be
    machines.logistic[:, 1] = 50.0 * machines.bias
    for p in np.flatnonzero(trained):
        rows = np.flatnonzero((label == machines.first[p]) | (label == machines.second[p]))
        outputs = columns[rows] @ machines.weights[p] + machines.bias[p]
        model = LogisticRegression(C=LOGISTIC_C, solver="newton-cholesky", max_iter=200)
        model.fit(outputs[:, None], label[rows] == machines.second[p], weights[rows])
        machines.logistic[p] = model.coef_[0, 0], model.intercept_[0]


class PairStack:
    """The machines of many problems side by side: one product answers them all.

    Parameters
    ----------
    problems : sequence of PairMachines
    logistic : bool
        Whether the fitted probabilities are coupled, instead of counting votes.
    """

    def __init__(self, problems: Sequence[PairMachines], *, logistic: bool) -> None:
        self.first = np.concatenate([p.first for p in problems])
        self.second = np.concatenate([p.second for p in problems])
        self.weights = np.concatenate([p.weights for p in problems])
        self.bias = np.concatenate([p.bias for p in problems])
        self.logistic = np.concatenate([p.logistic for p in problems]) if logistic else None
        self.size = np.concatenate([p.size for p in problems])
        self.starts = np.cumsum([0, *(len(p.first) for p in problems)])
        self.offsets = np.cumsum([0, *(p.n_classes for p in problems)])

    def distributions(self, columns: Any) -> NDArray[np.float64]:
        """Return the class distributions of all problems side by side, a row per row."""
        outputs = np.ascontiguousarray(columns @ self.weights.T)
        outputs += self.bias
        if self.logistic is None:
            return vote_distributions(outputs, self.first, self.second, self.starts, self.offsets)
        return coupled_distributions(
            outputs, self.first, self.second, self.logistic, self.size, self.starts, self.offsets
        )
