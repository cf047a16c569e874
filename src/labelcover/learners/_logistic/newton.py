"""Newton's method for a block of logistic regressions that share one table."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, softmax

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
    X : CSR array of shape (n, n_features)
    classes : ndarray of shape (n_problems, n), int32
    starts : ndarray of shape (n_problems + 1,), int64
        Columns ``starts[p]:starts[p + 1]`` of coefficients belong to problem ``p``: none if it has
        a single class, one (the log-odds of the second class) if it has two, else one per class,
        under a softmax. The table is read once for all columns.
    weights : ndarray of shape (n,), or (n, n_columns) where each problem has one column
    ridge : float
    """

    X: Any
    classes: NDArray[np.int32]
    starts: NDArray[np.int64]
    weights: NDArray[np.float64]
    ridge: float = 0.0

    def of_rows(self, is_in: NDArray[np.bool_], ridge: float) -> "Block":
        """Return the problems on some rows, with a penalty."""
        X, classes, weights = self.X[is_in], self.classes[:, is_in], self.weights[is_in]
        return Block(X, classes, self.starts, weights, ridge)

    def null_model(self) -> NDArray[np.float64]:
        """Return the coefficients that know only how frequent the classes are."""
        W = np.zeros((self.X.shape[1] + 1, int(self.starts[-1])))
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

    @np.errstate(over="ignore", invalid="ignore")  # steps that overflow are halved
    def _descend(self, W: NDArray[np.float64], tolerance: float) -> int:
        null = self.null_model()
        open_ = np.ones(len(self.classes), dtype=bool)
        for p, low, high in self._problems():
            if (self._counts(p, high - low) > 0).sum() < 2:
                W[:, low:high], open_[p] = null[:, low:high], False
        first = self._norms(self._slopes(null, self._at(null, linear_scores(self.X, null))[0], 0))
        scores = linear_scores(self.X, W)
        P, now = self._at(W, scores)
        for number in range(MOST_STEPS):
            G = self._slopes(W, P, self.ridge)
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
            step = self._newton_step(P, G, np.where(running, wanted, np.inf))
            gain = LEAST_GAIN * self._dots(G, step)
            moved = linear_scores(self.X, step)
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
                # Nothing where a column is not used, whatever stands there.
                step, moved = (np.where(columns == 0, 0.0, table) for table in (step, moved))
                tried, there = W + columns * step, scores + columns * moved
                P, then = self._at(tried, there)
            W[:], scores, now = tried, there, then
        return MOST_STEPS

    def _only(self, chosen: NDArray[np.bool_]) -> "Block":
        """Return some of the problems."""
        widths = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(widths)])
        weights = self.weights
        if weights.ndim == 2:
            weights = weights[:, np.repeat(chosen, np.diff(self.starts))]
        return Block(self.X, self.classes[chosen], starts, weights, self.ridge)

    def losses(self, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-loss of each problem, summed over the rows with their weights."""
        return self._probabilities(linear_scores(self.X, W))[1]

    @cached_property
    def _cells(self) -> NDArray[np.float64]:
        """The weights of rows in columns."""
        return self.weights if self.weights.ndim == 2 else self.weights[:, None]

    @cached_property
    def _problem(self) -> NDArray[np.int64]:
        """The problem of each column."""
        return np.repeat(np.arange(len(self.classes)), np.diff(self.starts))

    @cached_property
    def _hits(self) -> NDArray[np.bool_]:
        """The columns of the classes of all rows."""
        own = np.arange(len(self._problem)) - self.starts[self._problem]
        own[np.diff(self.starts)[self._problem] == 1] = 1
        return own == self.classes[self._problem].T

    @cached_property
    def _squares(self) -> Any:
        return self.X.multiply(self.X).tocsr()

    def _probabilities(
        self, scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the probabilities of all columns, and the log-loss of each problem, summed."""
        small = np.exp(-np.abs(scores))
        P = np.where(scores > 0, 1.0, small) / (1 + small)
        lost = np.maximum(scores, 0) + np.log(1 + small)
        for low, high in _several(self.starts):
            P[:, low:high] = softmax(scores[:, low:high], axis=1)
            lost[:, low:high] = 0
            lost[:, low] = logsumexp(scores[:, low:high], axis=1)
        lost -= np.where(self._hits, scores, 0)
        if self.weights.ndim == 2:
            return P, self._by_problem(np.einsum("ij,ij->j", self.weights, lost))
        return P, self._by_problem(self.weights @ lost)

    def _by_problem(self, of_columns: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = np.bincount(self._problem, of_columns, minlength=len(self.classes))
        return np.asarray(sums, dtype=np.float64)

    def _dots(self, A: NDArray[np.float64], B: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return for each problem the sum of the products of its columns."""
        return self._by_problem(np.einsum("jc,jc->c", A, B))

    def _problems(self) -> list[tuple[int, int, int]]:
        ends = self.starts.tolist()
        return list(zip(range(len(ends) - 1), ends[:-1], ends[1:], strict=True))

    def _counts(self, problem: int, n_columns: int) -> NDArray[np.float64]:
        weights = self.weights
        if weights.ndim == 2:
            weights = weights[:, self.starts[problem]]
        counts = np.bincount(self.classes[problem], weights, minlength=max(2, n_columns))
        return counts.astype(np.float64)

    def _at(
        self, W: NDArray[np.float64], scores: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        P, losses = self._probabilities(scores)
        return P, losses + self.ridge / 2 * self._dots(W[:-1], W[:-1])

    def _slopes(
        self, W: NDArray[np.float64], P: NDArray[np.float64], ridge: float
    ) -> NDArray[np.float64]:
        """Return the gradient."""
        G = _transposed_product(self.X, self._cells * (P - self._hits))
        G[:-1] += ridge * W[:-1]
        return G

    def _times_curvature(
        self, P: NDArray[np.float64], V: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the second derivatives times `V`."""
        moved = linear_scores(self.X, V)
        # With one column, the other class has the score 0.
        means = P * moved
        for low, high in _several(self.starts):
            means[:, low:high] = means[:, low:high].sum(axis=1, keepdims=True)
        moved = self._cells * P * (moved - means)
        found = _transposed_product(self.X, moved)
        found[:-1] += self.ridge * V[:-1]
        return found

    def _norms(self, G: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(self._dots(G, G))

    def _by_column(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.repeat(values, np.diff(self.starts))

    def _newton_step(
        self, P: NDArray[np.float64], G: NDArray[np.float64], wanted: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the step of every problem, by conjugate gradients.

        They are preconditioned by the diagonal of the second derivatives. A problem stops when the
        norm of what is left is at most `wanted`.
        """
        diagonal = _transposed_product(self._squares, self._cells * P * (1 - P))
        diagonal[:-1] += self.ridge
        # All probabilities of a column may be 0 or 1 to rounding.
        np.maximum(diagonal[-1], 1e-12, out=diagonal[-1])
        step, rest = np.zeros_like(G), -G
        direction = rest / diagonal
        scaled = self._dots(rest, direction)
        running = self._norms(G) > wanted
        for _ in range(MOST_INNER_STEPS):
            if not running.any():
                break
            product = self._times_curvature(P, direction)
            bend = self._dots(direction, product)
            running &= bend > 0
            length = np.divide(scaled, bend, where=running, out=np.zeros_like(bend))
            step += self._by_column(length) * direction
            rest -= self._by_column(length) * product
            product = rest / diagonal
            then = self._dots(rest, product)
            running &= self._norms(rest) > wanted
            factor = np.divide(then, scaled, where=running, out=np.zeros_like(then))
            direction = product + self._by_column(factor) * direction
            scaled = then
        return step


def linear_scores(X: Any, W: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rows of a table times the coefficients, intercepts (the last) included."""
    return np.asarray(X @ W[:-1]) + W[-1]


def _several(starts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the columns of each problem of more than two classes."""
    ends = starts.tolist()
    return [(low, high) for low, high in pairwise(ends) if high - low > 1]


def _transposed_product(X: Any, Z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over rows of features, and of the intercept's 1, times `Z`."""
    return np.vstack([X.T @ Z, Z.sum(axis=0)])
