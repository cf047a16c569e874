"""How many labels of a table are wrong: a number, with an interval, for each label and in all.

That a label is unlikely does not make it wrong: the less the features say about a label, the more
of its values are unlikely. Errors show where a label is nearly certain. Suppose that a label that
is truly absent is recorded as present at a rate ``e``, wherever the row lies. Then among rows where
the label is surely absent, the share of ones is ``e``; anywhere else it is larger. So for each
label, of the rows that are predicted to lack it, the most certain are taken, the ones among them
are counted, and their share is the error rate of all rows that lack the label. Rows predicted to
have it give the rate of missing labels in the same way.

What this rests on: there are rows in which the label is certain, and errors fall on these as often
as on others. Chance and errors cannot be told apart otherwise. Hence a label is judged only where

- everything else predicts it better than its frequency does (`LEAST_EVIDENCE`), and
- the most certain rows contradict it in no more than `MOST_CHANCE` of cases, or not
  significantly more. What goes beyond is taken for chance.

The shares of single labels are noisy, so they are shrunk to that of all labels that are predicted
well; labels that are predicted, but not well, are given the common share, as far as their own rows
allow it. Each number is a weighted sum of counts, and has the interval of Fay and Feuer for these.

References
----------
M. P. Fay and E. J. Feuer (1997). Confidence intervals for directly standardized rates: a method
based on the gamma distribution. Statistics in Medicine 16(7), 791–801.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# What the log-likelihood of a label must gain over its frequency alone: odds of twenty to one.
LEAST_EVIDENCE = np.log(20)
# The share of the log-likelihood that must be explained for a label to count as predicted well.
WELL_PREDICTED = 0.2
# A label is certain where at most so many rows contradict the prediction.
MOST_CHANCE = 0.05
# The most certain rows: those up to twice as uncertain as the first fifth.
FIRST_SHARE, AS_UNCERTAIN = 0.2, 2.0
# They are halved while the surer half has significantly fewer contradictions, so many times at
# most.
SIGNIFICANT, MOST_HALVINGS = 0.05, 6
# The common share counts as much as so many rows of a label's own.
COMMON_ROWS = 20
COVERAGE = 0.95
# Probabilities are never surer than this.
LEAST_PROBABILITY = 1e-4


class WrongLabels(NamedTuple):
    """How many labels look wrong.

    Attributes
    ----------
    estimate, low, high : float
        The number, and a 95 % interval: for chance in the counts, not for the assumptions.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class LabelErrors:
    """How many cells of a label table look wrong, by label.

    Attributes
    ----------
    wrong, missing : ndarray of shape (n_labels,)
        How many rows have the label and should not, and the other way round.
    low, high : ndarray of shape (n_labels,)
        The interval for the sum of both.
    judged : ndarray of shape (2, n_labels)
        Whether errors can be told from chance among labels that are there, and among those that
        are not.
    total : WrongLabels
        All labels together.
    """

    wrong: NDArray[np.float64]
    missing: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    judged: NDArray[np.bool_]
    total: WrongLabels


def label_errors(
    Y: NDArray[np.uint8],
    suspicion: NDArray[np.float64],
    known: NDArray[np.bool_] | None = None,
) -> LabelErrors:
    """Return how many cells of a label table look wrong.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    suspicion : ndarray of shape (n, n_labels)
        How unlikely each cell is, by models fitted without it.
    known : ndarray of bool of shape (n, n_labels), optional
        Which cells of Y are known, the others being 0; by default all are.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.audit import label_errors
    >>> random = np.random.default_rng(0)
    >>> p = np.where(random.random((5000, 4)) < 0.5, 0.02, 0.98)  # of 100 cells, 2 are wrong
    >>> Y = (random.random(p.shape) < p).astype(np.uint8)
    >>> found = label_errors(Y, np.where(Y == 1, 1 - p, p)).total
    >>> bool(found.low < 0.02 * Y.size < found.high)
    True
    >>> coins = np.full(p.shape, 0.5)
    >>> label_errors((random.random(p.shape) < 0.5).astype(np.uint8), coins).total.estimate
    0.0
    """
    P = expected_labels(np.where(Y == 1, 1 - suspicion, suspicion))
    looked = np.ones(Y.shape, dtype=bool) if known is None else known
    n = np.maximum(looked.sum(axis=0), 1)
    found = _CertainRows.of(Y, P, looked, n)
    rates = found.errors(*found.weights(np.ones((2, Y.shape[1]))))
    # Y is the truth with errors: its share of ones determines that of the truth.
    true = np.clip((Y.sum(axis=0) / n - rates[0]) / (1 - rates[0] - rates[1]), 0, 1)
    own, common = found.weights(n * np.array([1 - true, true]))
    wrong, missing = errors = found.errors(own, common)
    # The interval of each label, both sides with their weights together.
    counts, every = found.counts, found.counts.sum(axis=1, keepdims=True)
    variance = (own**2 + 2 * own * common) * counts + common**2 * every
    low, high = _interval(errors.sum(axis=0), variance.sum(axis=0), (own + common).max(axis=0))
    each = np.where(found.well, own + common.sum(axis=1, keepdims=True), 0).ravel()
    sums = each @ counts.ravel(), each**2 @ counts.ravel(), each.max()
    bounds = _interval(*np.atleast_2d(sums).T)
    total = WrongLabels(float(sums[0]), float(bounds[0][0]), float(bounds[1][0]))
    return LabelErrors(wrong, missing, low, high, found.judged, total)


def expected_labels(P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities that are never too sure."""
    return np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)


class _CertainRows(NamedTuple):
    """The most certain rows of all labels: those predicted to lack the label, and to have it.

    Attributes
    ----------
    rows, counts : ndarray of shape (2, n_labels)
        How many these are, and how many of them contradict; labels not predicted well count 0.
    well, judged : ndarray of shape (2, n_labels)
        Which labels give a share of their own, and which are judged at all.
    most : ndarray of shape (2, n_labels)
        The largest rate that the label's own rows allow.
    """

    rows: NDArray[np.float64]
    counts: NDArray[np.float64]
    well: NDArray[np.bool_]
    judged: NDArray[np.bool_]
    most: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        Y: NDArray[np.uint8],
        P: NDArray[np.float64],
        known: NDArray[np.bool_],
        n: NDArray[np.int64],
    ) -> "_CertainRows":
        """Return the most certain of the known rows, `n` of each label."""
        ones = Y.sum(axis=0, dtype=np.float64)
        frequency = np.clip(ones / n, 1e-12, 1 - 1e-12)
        alone = -(ones * np.log(frequency) + (n - ones) * np.log1p(-frequency))
        gain = alone + np.log(np.where(Y == 1, P, 1 - P)).sum(axis=0, where=known)
        predicted = gain > LEAST_EVIDENCE
        well = predicted & (gain > WELL_PREDICTED * alone)
        regions: list[NDArray[np.uint8]] = []
        for contradicts, doubt in ((Y, P), (1 - Y, 1 - P)):
            # What is not known is not among the certain rows.
            doubt = np.where(known & predicted, doubt, 1.0)
            own = [_certain(*pair) for pair in zip(contradicts.T, doubt.T, strict=True)]
            regions += _while_surer_is_better(own, well)
        sizes = [(len(region), region.sum()) for region in regions]
        rows, counts = np.array(sizes, dtype=np.float64).T.reshape(2, 2, -1)
        # How likely so many contradictions are where a label is just certain enough.
        chance = np.where(rows > 0, stats.binom.sf(counts - 1, rows, MOST_CHANCE), 0)
        well = well & (chance > 0.5)
        judged = predicted & (chance > SIGNIFICANT) & well.any(axis=1, keepdims=True)
        most = stats.beta.ppf((1 + COVERAGE) / 2, counts + 1, np.maximum(rows - counts, 0.5))
        return cls(rows, np.where(well, counts, 0), well, judged, most)

    def errors(self, own: NDArray[np.float64], common: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the numbers of errors of labels, by their weights."""
        return own * self.counts + common * self.counts.sum(axis=1, keepdims=True)

    def weights(self, true: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a contradiction adds to the number of errors of each label.

        `true` is how many rows truly lack the label, and have it. The first table is for a
        contradiction of the label's own, the second for one of any label.
        """
        every = np.maximum(self.rows.sum(axis=1, keepdims=True, where=self.well), 1)
        share = self.counts.sum(axis=1, keepdims=True) / every
        with np.errstate(divide="ignore"):  # nothing was counted
            allowed = np.minimum(1, self.most / share)
        own = np.where(self.well, true / (self.rows + COMMON_ROWS), 0)
        common = np.where(self.well, own * COMMON_ROWS, true * allowed) / every
        return own, np.where(self.judged, common, 0)


def _certain(contradicts: NDArray[np.uint8], doubt: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return whether the most certain rows contradict, the surest first."""
    side = np.flatnonzero(doubt < 0.5)
    if not len(side):
        return contradicts[:0]
    # Equal doubts in random order: that of the rows, or of rounding errors, may go with the label.
    doubt = np.round(doubt, 9)
    side = np.random.default_rng(0).permutation(side)
    side = side[np.argsort(doubt[side], kind="stable")]
    most = AS_UNCERTAIN * np.quantile(doubt[side], FIRST_SHARE)
    return contradicts[side[: np.searchsorted(doubt[side], most, side="right")]]


def _while_surer_is_better(
    regions: list[NDArray[np.uint8]], well: NDArray[np.bool_]
) -> list[NDArray[np.uint8]]:
    """Return the regions halved as long as their surer halves have clearly fewer contradictions.

    Then certainty still rises, and what contradicts is chance in part. Compared are all labels
    that are predicted well together, since each has few contradictions.
    """
    for _ in range(MOST_HALVINGS):
        own = (regions[j] for j in np.flatnonzero(well))
        large = [region for region in own if len(region) >= 2 * COMMON_ROWS]
        halves = [region[: len(region) // 2] for region in large]
        surer, every = (sum(int(each.sum()) for each in some) for some in (halves, large))
        rows, all_rows = (sum(map(len, some)) for some in (halves, large))
        if not every or stats.binom.cdf(surer, every, rows / all_rows) >= SIGNIFICANT:
            break
        regions = [
            region[: max(len(region) // 2, min(len(region), COMMON_ROWS))] for region in regions
        ]
    return regions


def _interval(
    total: NDArray[np.float64], variance: NDArray[np.float64], largest: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of weighted sums of Poisson counts, by Fay and Feuer.

    `largest` is the largest weight of a count.
    """
    below, above = (1 - COVERAGE) / 2, (1 + COVERAGE) / 2
    sums = (below, total, variance), (above, total + largest, variance + largest**2)
    with np.errstate(invalid="ignore"):  # 0 / 0 where nothing was counted
        low, high = (np.nan_to_num(stats.gamma.ppf(q, T**2 / V) * V / T) for q, T, V in sums)
    return low, high
