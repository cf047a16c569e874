"""What features, or training rows, add to the scores of least squares members.

Scores are sums over features (linear kernel) or over training rows (other kernels), and so are
combinations of them. With two classes the softmax gives the log-odds ``β (s₁ − s₀)``, which are
such a combination: a start plus a share of each, without approximation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners._features import numeric
from labelcover.learners._least_squares.least_squares_members import LeastSquaresMembers

# Nodes of the quadrature over the way from the start to a row: far more than its smooth integrand
# needs for ten digits.
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)


class ScoreParts:
    """The shares of columns, or of training rows, in what members say of some rows.

    The share of a column is 0 where the scaled column is 0: at the mean of a number, or where a
    word is absent. That of a training row is 0 where a row is as similar to it as rows usually are.

    Parameters
    ----------
    members : LeastSquaresMembers
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.

    Attributes
    ----------
    of_rows : bool
        Whether shares are those of training rows, not of columns.
    row_numbers : ndarray or None
        Which training rows these are; None if they are all, in order.
    inputs : ndarray or CSR matrix of shape (n, n_parts)
        What weights are multiplied by: scaled columns, or by how much rows are more similar to
        training rows than usual.
    """

    row_numbers: NDArray[np.int64] | None = None

    def __init__(self, members: LeastSquaresMembers, X: Any) -> None:
        self.members = members
        features, mapped = members.features, members.features.map
        scaled = features.scaling.transform(numeric(X, features.n_values))
        self.inputs, usual = mapped.parts(scaled)
        self.of_rows = mapped.of_rows
        self.prepared = members.prepare(X)
        # Scores of the targets where all shares are 0.
        self.origin = members.intercept
        if usual is not None:
            self.origin = self.origin + members.coefficients @ usual
            self.row_numbers = mapped.numbers
        starts, columns, values, self.constant = members.combination
        shape = (len(self.constant), len(members.intercept))
        self.combine = sparse.csr_array((values, columns, starts), shape=shape)

    def of_log_odds(self, problem: int, positive: int) -> tuple[float, NDArray[np.float64]]:
        """Return the start of the log-odds of one of two classes, and the shares.

        Parameters
        ----------
        problem : int
            One with two classes.
        positive : {0, 1}
            The class whose log-odds are explained.

        Returns
        -------
        start : float
        shares : ndarray of shape (n, n_parts)
        """
        own = int(self.members.offsets[problem]) + positive
        other = int(self.members.offsets[problem]) + 1 - positive
        beta = self.members.inverse_temperature[problem]
        targets = beta * (self.combine[[own]] - self.combine[[other]]).toarray()
        start = targets[0] @ self.origin
        start += beta * (self.constant[own] - self.constant[other])
        return float(start), self._shares(targets)

    def of_probability(
        self, problems: NDArray[np.int64], holds: list[NDArray[np.uint8]]
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the start of a mean of probabilities over some problems, and the shares.

        The probability of a set of classes is followed from the start, where all shares are 0, to
        the row, in a straight line; every step is divided among the parts as the scores are
        (integrated gradients).

        Parameters
        ----------
        problems : ndarray of shape (n_members,)
        holds : list of n_members ndarrays
            For each, which of its classes count.

        References
        ----------
        M. Sundararajan, A. Taly and Q. Yan (2017). Axiomatic attribution for deep networks. ICML.
        """
        members = self.members
        targets = np.zeros((len(self.prepared), len(members.intercept)))
        total = 0.0
        for problem, own in zip(problems.tolist(), holds, strict=True):
            low, high = int(members.offsets[problem]), int(members.offsets[problem + 1])
            combine = self.combine[low:high]
            start = combine @ self.origin + self.constant[low:high]
            moved = members.scores(self.prepared, slice(problem, problem + 1)) - start
            beta = members.inverse_temperature[problem]
            slopes = np.zeros_like(moved)
            for node, weight in zip((NODES + 1) / 2, NODE_WEIGHTS / 2, strict=True):
                slopes += weight * _slopes(beta * (start + node * moved), own)
            targets += beta * (slopes @ combine) / len(problems)
            total += float(_softmax(beta * start[None])[0] @ own) / len(problems)
        return total, self._shares(targets)

    def _shares(self, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the shares in combinations of the targets' scores, one for all rows or each."""
        used = np.flatnonzero(targets.any(axis=0))
        weights = targets[:, used] @ self.members.coefficients[used]
        weights = self.members.features.map.part_weights(weights)
        if sparse.issparse(self.inputs):
            return np.asarray(self.inputs.multiply(weights).toarray())
        return np.asarray(self.inputs * weights)


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def _slopes(scores: NDArray[np.float64], own: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the derivatives of the probability of the `own` classes by the scores."""
    found = _softmax(scores)
    return found * (own - (found @ own)[:, None])
