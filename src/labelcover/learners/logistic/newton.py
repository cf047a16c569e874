"""Newton's method for a block of logistic regressions that share one table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners.logistic.logistic_kernels import (
    advance,
    dots,
    gradient,
    linear_scores,
    probabilities,
    times_curvature,
    turn,
)

# The system of a Newton step is solved until this share of the gradient is left, or less.
FORCING = 0.25
# Both are far from being reached.
MOST_STEPS = 100
MOST_INNER_STEPS = 50
MOST_HALVINGS = 20
# A step must gain this share of what the slope promises; smaller changes than the last are noise.
LEAST_GAIN, NOISE = 1e-4, 1e-12


@dataclass(frozen=True)
class Block:
    """Some problems on some rows of a table, and their penalty.

    Minimised is, for each problem, the weighted log-loss plus ``ridge / 2`` times the squared
    coefficients without the intercept.

    Attributes
    ----------
    X : (data, indices, indptr)
        A CSR table.
    rows : ndarray of int64
        Those that are looked at.
    classes : ndarray of shape (n_problems, n), int32
    starts : ndarray of shape (n_problems + 1,), int64
        The columns of each problem; see `labelcover.learners.logistic.logistic_kernels`.
    weights : ndarray of shape (n,)
    ridge : float
    """

    X: Any
    rows: NDArray[np.int64]
    classes: NDArray[np.int32]
    starts: NDArray[np.int64]
    weights: NDArray[np.float64]
    ridge: float

    def null_model(self, n_features: int) -> NDArray[np.float64]:
        """Return the coefficients that know only how frequent the classes are."""
        W = np.zeros((n_features + 1, int(self.starts[-1])))
        for p, low, high in self._problems():
            logs = np.log(self._counts(p, high - low) + 0.5)
            if high - low == 1:
                W[-1, low] = logs[1] - logs[0]
            elif high > low:
                W[-1, low:high] = logs - logs.mean()
        return W

    def solve(self, W: NDArray[np.float64], tolerance: float) -> int:
        """Move the coefficients `W` to the minimum; return the number of steps.

        A problem stops when its gradient is `tolerance` times that of the null model. A problem
        with a single class among the rows becomes the null model.
        """
        steps = self._descend(W, tolerance)
        for _, low, high in self._problems():
            if high - low > 1:
                # A number added to all intercepts changes nothing: their mean is made 0.
                W[-1, low:high] -= W[-1, low:high].mean()
        return steps

    def _descend(self, W: NDArray[np.float64], tolerance: float) -> int:
        null = self.null_model(len(W) - 1)
        open_ = np.ones(len(self.classes), dtype=bool)
        for p, low, high in self._problems():
            if (self._counts(p, high - low) > 0).sum() < 2:
                W[:, low:high], open_[p] = null[:, low:high], False
        first = self._norms(self._slopes(null, self.state(null)[1], 0.0)[0])
        scores, P, now = self.state(W)
        for number in range(MOST_STEPS):
            G, M = self._slopes(W, P, self.ridge)
            norm = self._norms(G)
            running = open_ & (norm > tolerance * first)
            if not running.any():
                return number
            if 2 * running.sum() <= len(running):
                # Fewer columns side by side from here on.
                own = np.repeat(running, np.diff(self.starts))
                rest = np.ascontiguousarray(W[:, own])
                number += self._only(running)._descend(rest, tolerance)
                W[:, own] = rest
                return number
            # Roots first: the quotient itself may overflow.
            share = np.minimum(FORCING, np.sqrt(norm) / np.sqrt(np.maximum(first, 1e-300)))
            wanted = np.maximum(share * norm, tolerance / 2 * first)
            step = self._newton_step(P, G, M, np.where(running, wanted, np.inf))
            gain = LEAST_GAIN * dots(G, step, self.starts)
            moved = linear_scores(self.X, self.rows, step)
            length = running.astype(np.float64)
            for _ in range(MOST_HALVINGS):
                columns = self._by_column(length)
                tried, there = W + columns * step, scores + columns * moved
                P, then = self._at(tried, there)
                # What is not a number is worse, too.
                worse = ~(then <= now + length * gain + NOISE * np.abs(now))
                if not worse.any():
                    break
                length[worse] /= 2
            else:
                # A problem that no step makes better stays where it is, and is done.
                open_[worse], length[worse] = False, 0.0
                columns = self._by_column(length)
                step, moved = _with_zeros(step, columns), _with_zeros(moved, columns)
                tried, there = W + columns * step, scores + columns * moved
                P, then = self._at(tried, there)
            W[:], scores, now = tried, there, then
        return MOST_STEPS

    def _only(self, chosen: NDArray[np.bool_]) -> Block:
        """Return some of the problems."""
        widths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(widths)])
        return replace(self, classes=self.classes[chosen], starts=starts)

    def state(
        self, W: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return scores, probabilities, and what each problem minimises."""
        scores = linear_scores(self.X, self.rows, W)
        return scores, *self._at(W, scores)

    def losses(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-loss of each problem, summed over the rows with their weights."""
        scores = linear_scores(self.X, self.rows, W)
        return self._probabilities(scores, np.empty_like(scores))

    def _probabilities(
        self, scores: NDArray[np.float64], P: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return probabilities(scores, self.rows, self.classes, self.starts, self.weights, P)

    def _problems(self) -> list[tuple[int, int, int]]:
        ends = self.starts.tolist()
        return list(zip(range(len(ends) - 1), ends[:-1], ends[1:], strict=True))

    def _counts(self, problem: int, n_columns: int) -> NDArray[np.float64]:
        classes = self.classes[problem, self.rows]
        counts = np.bincount(classes, self.weights[self.rows], minlength=max(2, n_columns))
        return counts.astype(np.float64)

    def _at(
        self, W: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        P = np.empty_like(scores)
        losses = self._probabilities(scores, P)
        return P, losses + self.ridge / 2 * dots(W[:-1], W[:-1], self.starts)

    def _slopes(
        self, W: NDArray[np.float64], P: NDArray[np.float64], ridge: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gradient and the diagonal of the second derivatives."""
        G, M = np.empty_like(W), np.empty_like(W)
        gradient(self.X, self.rows, P, self.classes, self.starts, self.weights, ridge, W, G, M)
        return G, M

    def _norms(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(dots(G, G, self.starts))

    def _by_column(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.repeat(values, np.diff(self.starts))

    def _newton_step(
        self,
        P: NDArray[np.float64],
        G: NDArray[np.float64],
        M: NDArray[np.float64],
        wanted: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the step of every problem, by conjugate gradients with the diagonal `M`.

        A problem stops when the norm of what is left is at most `wanted`.
        """
        step, rest = np.zeros_like(G), -G
        direction, product = rest / M, np.empty_like(G)
        scaled = dots(rest, direction, self.starts)
        running = self._norms(G) > wanted
        for _ in range(MOST_INNER_STEPS):
            if not running.any():
                break
            times_curvature(
                self.X, self.rows, P, self.starts, self.weights, self.ridge, direction, product
            )
            bend = dots(direction, product, self.starts)
            running &= bend > 0
            length = np.divide(scaled, bend, where=running, out=np.zeros_like(bend))
            advance(self._by_column(length), direction, product, M, step, rest)
            then = dots(rest, product, self.starts)
            running &= self._norms(rest) > wanted
            factor = np.divide(then, scaled, where=running, out=np.zeros_like(then))
            turn(self._by_column(factor), product, direction)
            scaled = then
        return step


def _with_zeros(table: NDArray[np.float64], columns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the table with zeros where a column is not used, whatever stands there."""
    return np.where(columns == 0, 0.0, table)
