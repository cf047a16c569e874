"""Weights of the members that hold a label, from their left-out predictions.

For each label, the probabilities ``p_j`` of the members that hold it become ``Σ_j w_j p_j``, with
weights that sum to 1. They maximise the log-likelihood of the label in rows that the
members have not seen, plus ``Σ_j log w_j``: as if each member had been the only right one in one
further row (a Dirichlet prior). So weights are above 0, and the fewer rows there are, the nearer
they are to equal weights.

References
----------
Y. Yao, A. Vehtari, D. Simpson and A. Gelman (2018). Using stacking to average Bayesian predictive
distributions. Bayesian Analysis 13(3), 917–1007.
"""

import numpy as np
from numpy.typing import NDArray

from labelcover.ensemble._encoding import Encoding
from labelcover.ensemble._log_linear_pool import Derivatives, newton_minima

# Further rows in which a member alone is right.
PRIOR_ROWS = 1.0
# No member is surer than this of a row that it has not seen.
LEAST_PROBABILITY = 1e-4
MOST_STEPS = 100
# Steps end with one that moves no weight by so much; what is left is about its square.
TOLERANCE = 1e-5


def stacking_weights(
    P: NDArray[np.float64],
    y: NDArray[np.uint8],
    sample_weight: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the weights of members for one label, above 0 and with a sum of 1.

    `P` has the probabilities of the label in left-out rows, a column per member; `y` tells whether
    the rows have it.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble._member_weights import stacking_weights
    >>> random = np.random.default_rng(0)
    >>> truth = random.uniform(size=500)
    >>> y = (random.random(500) < truth).astype(np.uint8)
    >>> P = np.column_stack([truth, random.uniform(size=500)])
    >>> good, bad = stacking_weights(P, y)
    >>> bool(good > 0.9), bool(bad > 0)
    (True, True)

    A single row says little:

    >>> stacking_weights(P[:1], y[:1]).round(1)
    array([0.7, 0.3])
    """
    n, c = P.shape
    right = np.where(y[:, None] == 1, P, 1 - P)
    right = np.clip(right, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    rows = np.ones(n) if sample_weight is None else sample_weight / sample_weight.mean()
    total = rows.sum() + PRIOR_ROWS * c

    def derivatives(_: NDArray[np.int64], weights: NDArray[np.float64]) -> Derivatives:
        w = weights[:, 0]
        if w.min() <= 0:
            return np.array([np.inf]), np.zeros((c, 1)), np.zeros((1, c, c))
        mixed = right @ w
        share = right / mixed[:, None]
        # The last term makes the sum of the weights 1: where the gradient vanishes, w · gradient
        # is total · Σw − (all rows).
        loss = total * (w.sum() - 1) - rows @ np.log(mixed) - PRIOR_ROWS * np.log(w).sum()
        slope = total - share.T @ rows - PRIOR_ROWS / w
        curve = (share * rows[:, None]).T @ share + np.diag(PRIOR_ROWS / w**2)
        return np.array([loss]), slope[:, None], curve[None]

    equal = np.full((c, 1), 1 / c)
    w = newton_minima(derivatives, equal, low=0.0, tolerance=TOLERANCE, most_steps=MOST_STEPS)[:, 0]
    return w / w.sum()


def weigh_members(
    encoding: Encoding,
    said: NDArray[np.float64],
    Y: NDArray[np.uint8],
    sample_weight: NDArray[np.float64] | None,
) -> tuple[Encoding, NDArray[np.float64]]:
    """Return members with weights, and their confidences of the rows that were left out.

    `said` are the probabilities of the labels of each member (`Encoding.of_pairs`) in these rows,
    whose labels are `Y`.
    """
    held = encoding.cover.labelsets >= 0
    label, found = encoding.cover.labelsets[held], np.zeros(Y.shape)
    of_pairs, weights = np.zeros(len(label)), np.zeros(held.shape)
    for j in np.unique(label).tolist():
        pairs = np.flatnonzero(label == j)
        of_pairs[pairs] = stacking_weights(said[:, pairs], Y[:, j], sample_weight)
        found[:, j] = said[:, pairs] @ of_pairs[pairs]
    weights[held] = of_pairs
    return encoding.weighted(weights), found
