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

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

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

    Parameters
    ----------
    P : ndarray of shape (n, n_members)
        The probabilities of the label, of left-out rows.
    y : ndarray of shape (n,)
        Whether the rows have the label.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows.

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


class StackedMembers:
    """The members of an encoding, combined by weights for each label.

    Attributes
    ----------
    weights : ndarray of shape (size, k)
        The weight of each member in each of its labels, in the order of ``cover.labelsets``. For
        each label they sum to 1.
    """

    weights: NDArray[np.float64]

    def __init__(self, encoding: Encoding) -> None:
        self._encoding = encoding
        labelsets = encoding.cover.labelsets
        # A pair is a member and one of its labels; where labelsets differ in size, −1 is no label.
        self._pair_member, self._pair_position = np.nonzero(labelsets >= 0)
        self._pair_label = labelsets[self._pair_member, self._pair_position]
        self._of_pairs = self._patterns_as_columns()
        self._left_out: NDArray[np.float64] | None = None

    def gather(self, distributions: NDArray[np.float64], problems: slice) -> None:
        """Keep what the members of some problems say of left-out rows."""
        if self._left_out is None:
            self._left_out = np.zeros((len(distributions), len(self._pair_label)))
        problem = self._encoding.problem[self._pair_member]
        pairs = np.flatnonzero((problem >= problems.start) & (problem < problems.stop))
        columns = self._columns(problems)
        self._left_out[:, pairs] = distributions @ self._of_pairs[columns][:, pairs]

    def fit(
        self, Y: NDArray[np.uint8], sample_weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Set the weights from what was gathered; return the combined confidences of these rows.

        Parameters
        ----------
        Y : ndarray of shape (n, n_labels)
            The labels of the rows that were left out.
        sample_weight : ndarray of shape (n,) or None
            Their weights.
        """
        gathered, self._left_out = self._left_out, None
        assert gathered is not None
        of_pairs = np.zeros(len(self._pair_label))
        by_label = np.argsort(self._pair_label, kind="stable")
        ends = np.cumsum(self._encoding.cover.label_counts)
        for label, pairs in enumerate(np.split(by_label, ends[:-1])):
            if len(pairs):
                of_pairs[pairs] = stacking_weights(gathered[:, pairs], Y[:, label], sample_weight)
        self.weights = np.zeros(self._encoding.cover.labelsets.shape)
        self.weights[self._pair_member, self._pair_position] = of_pairs
        return gathered @ self._to_labels()

    def confidences(
        self, distributions: NDArray[np.float64], problems: slice
    ) -> NDArray[np.float64]:
        """Return what the members of some problems add to the confidences, ``(n, n_labels)``."""
        return distributions @ self._of_labels[self._columns(problems)]

    def told(self) -> str:
        """Return how far the weights are from equal ones, for people to read."""
        counts = self._encoding.cover.label_counts[self._pair_label]
        ratio = self.weights[self._pair_member, self._pair_position] * counts
        return f"weights of members {ratio.min():.2f} to {ratio.max():.2f} times equal weights"

    # skops trusts no sparse matrix; all of them follow from the encoding and the weights.
    def __getstate__(self) -> dict[str, Any]:
        return {"encoding": self._encoding, "weights": self.weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        StackedMembers.__init__(self, state["encoding"])
        self.weights = state["weights"]

    @cached_property
    def _of_labels(self) -> sparse.csr_array:
        """The matrix from class distributions to confidences."""
        return (self._of_pairs @ self._to_labels()).tocsr()

    def _to_labels(self) -> sparse.csr_array:
        """Return the matrix from the probabilities of pairs to confidences."""
        weights = self.weights[self._pair_member, self._pair_position]
        entries = (weights, (np.arange(len(weights)), self._pair_label))
        return sparse.csr_array(entries, (len(weights), self._encoding.cover.n_labels))

    def _columns(self, problems: slice) -> slice:
        offsets = self._encoding.offsets
        return slice(int(offsets[problems.start]), int(offsets[problems.stop]))

    def _patterns_as_columns(self) -> sparse.csr_array:
        """Return the 0/1 matrix from class distributions to the probabilities of pairs."""
        encoding = self._encoding
        member = np.repeat(np.arange(len(encoding.cover)), np.diff(encoding.starts))
        own_class = np.arange(len(encoding.patterns)) - encoding.starts[member]
        column = encoding.offsets[encoding.problem[member]] + own_class
        pair = np.full(encoding.cover.labelsets.shape, -1)
        pair[self._pair_member, self._pair_position] = np.arange(len(self._pair_label))
        rows, positions = np.nonzero(encoding.patterns)
        entries = (np.ones(len(rows)), (column[rows], pair[member[rows], positions]))
        return sparse.csr_array(entries, (int(encoding.offsets[-1]), len(self._pair_label)))
