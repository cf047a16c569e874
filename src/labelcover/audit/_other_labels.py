"""What the other labels of a row say about each label, beyond its features.

With the probabilities ``p`` of the features alone, the log-odds of label ``j`` become::

    logit q_j = logit p_j + b_j + Σ_k θ_jk (y_k − p_k)

over the other labels ``k``. A label that the features do not speak for, but the other labels do,
is then expected, and one that never comes with them is not. The ``θ`` are fitted for each label on
all rows, and each row is left out of its own fit (approximate leave-one-out of a logistic
regression), which also chooses the penalty, or that the other labels do not count. Of many labels
the others are chosen first, for each fold of rows by the rows outside of it: of hundreds of labels
some go with any cell by chance, and would seem to explain it.

References
----------
K. R. Rad and A. Maleki (2020). A scalable estimate of the out-of-sample prediction error via
approximate leave-one-out cross-validation. Journal of the Royal Statistical Society B 82(4),
965–996.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

# Probabilities of the features alone are never surer than this.
LEAST_PROBABILITY = 1e-4
# The other labels that a label is predicted from: those whose residuals go with its own the most.
MOST_OTHERS = 30
# Where there are more, they are chosen anew for each of so many folds.
CHOICE_FOLDS = 3
# Penalties on θ that are compared by leave-one-out, from strong to weak; 4 is a prior deviation
# of a half.
PENALTIES = (64.0, 16.0, 4.0)
MOST_STEPS = 12
# Newton's method ends where no log-odds moves by more; what is left is about the square of it.
TOLERANCE = 1e-2


class OtherLabels(NamedTuple):
    """What each label is predicted from beside the features.

    Attributes
    ----------
    labels : ndarray of shape (n_folds, n_labels, n_others), int
        The other labels of each label, by the fold of the row.
    theta : ndarray of shape (n_folds, n_labels, n_others)
        What each adds to the log-odds, times its residual; 0 where they do not count.
    fold : ndarray of shape (n,), int
        The fold of each row.
    """

    labels: NDArray[np.intp]
    theta: NDArray[np.float64]
    fold: NDArray[np.intp]


def suspicion(Y: NDArray[np.uint8], P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how likely each cell has the other value.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models fitted without the row.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.audit import suspicion
    >>> random = np.random.default_rng(0)
    >>> one = random.random(500) < 0.5
    >>> Y = np.column_stack([one, one]).astype(np.uint8)
    >>> Y[0] = 0, 1
    >>> found = suspicion(Y, np.full((500, 2), 0.5))
    >>> bool(found[0].min() > 0.9 > 0.1 > found[1:].max())
    True
    """
    return with_other_labels(Y, P)[0]


def with_other_labels(
    Y: NDArray[np.uint8], P: NDArray[np.float64]
) -> tuple[NDArray[np.float64], OtherLabels]:
    """Return what `suspicion` returns, and what it was predicted from."""
    P = np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    residuals = Y - P
    odds = logit(P)
    found = odds.copy()
    n, m = Y.shape
    n_others = min(MOST_OTHERS, m - 1)
    n_folds = CHOICE_FOLDS if n_others < m - 1 else 1
    fold = np.random.default_rng(0).permutation(n) % n_folds
    shape = n_folds, m, n_others
    others = OtherLabels(np.zeros(shape, dtype=np.intp), np.zeros(shape), fold)
    constant = np.ones((n, 1))
    for f in range(n_folds):
        own = fold == f
        alike = _alike(residuals[~own])
        for j in range(m):
            labels = np.sort(np.argsort(-alike[j], kind="stable")[:n_others])
            others.labels[f, j] = labels
            inputs = np.hstack([residuals[:, labels], constant])
            fit = _LabelFit(inputs, odds[:, j], Y[:, j])
            # The features alone, unless the other labels improve on them; weaker penalties are
            # tried as long as they improve.
            least = _loss(Y[:, j], odds[:, j])
            for penalty in PENALTIES:
                left_out = fit.left_out_odds(penalty)
                loss = _loss(Y[:, j], left_out)
                if loss >= least:
                    break
                least, found[own, j] = loss, left_out[own]
                others.theta[f, j] = fit.theta[:-1]
    return expit(np.where(Y == 1, -found, found)), others


def _alike(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how closely residuals of labels are correlated; -1 for a label with itself."""
    lengths = np.maximum(np.sqrt((residuals**2).sum(axis=0)), 1e-12)
    alike = np.abs(residuals.T @ residuals / np.outer(lengths, lengths))
    np.fill_diagonal(alike, -1)
    return alike


def _loss(y: NDArray[np.uint8], odds: NDArray[np.float64]) -> float:
    return float(np.logaddexp(0, np.where(y == 1, -odds, odds)).sum())


class _LabelFit:
    """The logistic regression of one label on the residuals of others, with an offset."""

    def __init__(
        self, inputs: NDArray[np.float64], offset: NDArray[np.float64], y: NDArray[np.uint8]
    ) -> None:
        self.inputs, self.offset, self.y = inputs, offset, y
        self.theta = np.zeros(inputs.shape[1])

    def left_out_odds(self, penalty: float) -> NDArray[np.float64]:
        """Return the log-odds of all rows, each left out of the fit; start from the last fit."""
        inputs, y = self.inputs, self.y
        for _ in range(MOST_STEPS):
            odds = self.offset + inputs @ self.theta
            p = expit(odds)
            weights = p * (1 - p)
            scaled = inputs * np.sqrt(weights)[:, None]
            curve = scaled.T @ scaled + penalty * np.eye(len(self.theta))
            step = np.linalg.solve(curve, inputs.T @ (p - y) + penalty * self.theta)
            moved = inputs @ step
            self.theta -= step
            if np.abs(moved).max() < TOLERANCE:
                odds -= moved
                break
        inverse = np.linalg.inv(curve)
        leverage = np.einsum("ij,ij->i", inputs @ inverse, inputs)
        # Without the row, the fit would be further from it (Rad and Maleki, 2020).
        return odds - leverage / np.maximum(1 - weights * leverage, 1e-6) * (y - p)
