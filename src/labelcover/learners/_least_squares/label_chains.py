"""Chains of labels in least squares: what one label adds to another, from one factorisation.

A link of a chain is ridge regression on the features and on the labels before it. Its residuals
need no factorisation of their own. With the hat matrix ``H`` of the features alone and the
residuals ``R = (I - H) Y`` of all labels, the coefficients of the labels ``P`` before label ``t``
are ``(G_PP + μ)⁻¹ G_Pt`` with ``G = YᵀWR`` and their ridge ``μ`` (the Schur complement of the
joint normal equations), and the score of ``t`` is its score from the features plus those
coefficients times ``y_P`` less the scores of ``P``. In the order of a chain, one Cholesky factor of
``G + μ`` holds the coefficients of every link, and one triangular solve the leave-one-out
predictions of all links.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit

from labelcover._table_numbers import blocks
from labelcover.learners._least_squares.class_kernels import left_out_temperatures
from labelcover.learners._least_squares.least_squares_members import (
    FINE,
    TEMPERATURE_ROWS,
    LeastSquaresMembers,
)
from labelcover.learners._products import row_products

# Numbers in one block of scores (8 MB).
BLOCK_NUMBERS = 2**20
# Ridges of the labels that are compared, in mean diagonal elements of G.
LABEL_RIDGES = 10.0 ** np.arange(-3, 2.1, 0.5)


class LabelSystem:
    """All labels solved from the features alone, and what chains of any order start from.

    Parameters
    ----------
    members : LeastSquaresMembers
        One for each label, which has left out all rows; what they know of these is forgotten.
    weights : ndarray of shape (n,), optional
    ridge : float, optional
        That of the labels, where that of the features is given; by default it is chosen for each
        chain.
    seed : int
        By which rows are drawn on which temperatures are tuned.
    """

    def __init__(
        self,
        members: LeastSquaresMembers,
        weights: NDArray[np.float64] | None,
        ridge: float | None,
        seed: int,
    ) -> None:
        assert members._training is not None
        classes, scores, self.leverage = members._training
        members.forget_training()
        self.members, self.ridge, n = members, ridge, len(scores)
        self.Y = classes.T.astype(np.float64)
        self.residuals = self.Y - members.scores(scores, slice(0, len(classes)))[:, 1::2]
        self.weights = np.ones(n) if weights is None else weights
        self.sample = np.random.default_rng(seed).permutation(n)[:TEMPERATURE_ROWS]

    def chain(self, order: NDArray[np.int64]) -> "LeastSquaresChain":
        """Return the chain of all labels in an order."""
        Y, residuals = self.Y[:, order], self.residuals[:, order]
        gram = (Y * self.weights[:, None]).T @ residuals
        unit = max(float(np.trace(gram)) / len(gram), np.finfo(np.float64).tiny)
        ridges = unit * LABEL_RIDGES if self.ridge is None else [self.ridge]
        solutions = [self._links(gram, residuals, ridge) for ridge in ridges]
        losses = [float(self.weights @ (errors**2).sum(axis=1)) for errors, _ in solutions]
        errors, coefficients = solutions[int(np.argmin(losses))]
        temperatures = self._temperatures(Y[self.sample], errors[self.sample])
        return LeastSquaresChain(self.members, order, coefficients, temperatures)

    def _links(
        self, gram: NDArray[np.float64], residuals: NDArray[np.float64], ridge: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return leave-one-out residuals of all links, and the coefficients of their labels."""
        factor = cholesky(gram + ridge * np.eye(len(gram)), lower=True, check_finite=False)
        # Row j left of the diagonal: L_PP⁻¹ G_Pj for the labels P before j.
        below = np.tril(factor, -1)
        parts = solve_triangular(factor, residuals.T, lower=True, check_finite=False).T
        fitted = residuals - parts @ below.T
        added = np.cumsum(parts**2, axis=1) - parts**2
        leverage = self.leverage[:, None] + self.weights[:, None] * added
        errors = fitted / np.maximum(1 - leverage, 1e-12)
        coefficients = np.zeros_like(gram)
        for j in range(1, len(gram)):
            before = factor[:j, :j]
            coefficients[j, :j] = solve_triangular(before, below[j, :j], lower=True, trans=1)
        return errors, coefficients

    def _temperatures(
        self, Y: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        n, m = Y.shape
        seconds = np.ascontiguousarray((Y - errors).T)
        # Scores of both classes of a label: 1 less that of the second, and that. They are
        # left-out already.
        signs, constant = np.tile([-1.0, 1.0], m), np.tile([1.0, 0.0], m)
        combination = np.arange(2 * m + 1), np.repeat(np.arange(m), 2), signs, constant
        classes = np.ascontiguousarray(Y.T, dtype=np.int32)
        offsets, weights = 2 * np.arange(m + 1), np.tile(self.weights[self.sample], (m, 1))
        how = np.zeros(n), classes, offsets, weights, FINE
        return left_out_temperatures(seconds, combination, *how)[0]


@dataclass(frozen=True)
class LeastSquaresChain:
    """A chain of labels, solved.

    Attributes
    ----------
    members : LeastSquaresMembers
        The labels from the features alone.
    order : ndarray of shape (n_labels,)
        The label of each link.
    coefficients : ndarray of shape (n_labels, n_labels)
        Row ``j``: what the labels of the links before ``j`` add to its score, in the order of the
        chain.
    inverse_temperatures : ndarray of shape (n_labels,)
    """

    members: LeastSquaresMembers
    order: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    inverse_temperatures: NDArray[np.float64]

    def prepare(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of new rows from the features alone, in the order of the chain."""
        members, every = self.members, slice(0, len(self.order))
        scores = np.empty((X.shape[0], len(self.order)))
        for rows in blocks(len(scores), BLOCK_NUMBERS // members.row_width):
            of_classes = members.scores(members.prepare(X[rows]), every)
            scores[rows] = of_classes[:, 1::2][:, self.order]
        return scores

    def probability(
        self,
        prepared: NDArray[np.float64],
        rows: NDArray[np.int64] | None,
        link: int,
        before: NDArray[np.uint8],
    ) -> NDArray[np.float64]:
        """Return the probability of the label of a link, given the labels of those before it.

        `prepared` is from `prepare`, of which `rows` are some rows; None for all. `before` are the
        labels of the links before, ``(n, link)``, in the order of the chain.
        """
        steps = self.coefficients[link, :link, None]
        scores = prepared[:, link] - row_products(prepared[:, :link], steps)[:, 0]
        scores = scores if rows is None else scores[rows]
        scores = scores + row_products(before.astype(np.float64), steps)[:, 0]
        return expit(self.inverse_temperatures[link] * (2 * scores - 1))
