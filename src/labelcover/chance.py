"""What can be had without looking at a row: the baseline beside every measure of a model.

Chance knows how often each label occurs in training, and decides as the model does. For micro-F1 it
predicts the same few frequent labels for every row, for subset accuracy the commonest labelset. If
the model's threshold was given, there is nothing to fit: chance then has the model's own
predictions, each row those of another row, so that it predicts every label as often as the model.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats

from labelcover._label_values import split_unknown
from labelcover.decisions import MEASURES_OF_DECISIONS, fit_decision
from labelcover.metrics import MEASURES

# The decision on label frequencies is fitted on as many rows as that of a model, at most.
MOST_ROWS = 2048
SHUFFLES = 3
# The noise of a difference is found by leaving out so many groups of rows in turn.
GROUPS = 20
LEVEL = 0.95
FROM_FREQUENCIES = (
    "Chance decides as the model does, but knows only how often each label occurs in training."
)
FROM_OTHER_ROWS = (
    "Chance predicts every label as often as the model does at its threshold, but for other rows; "
    "its probabilities are how often each label occurs in training."
)


@dataclass(frozen=True, eq=False)
class LabelFrequencies:
    """What training says of every row alike.

    Attributes
    ----------
    counts : ndarray of shape (n_labels,)
        How many rows have each label.
    n_rows : int or ndarray of shape (n_labels,)
        How many rows there are; where labels are not known, in how many rows each of them is.
    decided : ndarray of shape (n_labels,) or None
        What the model's decision, fitted on these shares alone, predicts for every row; None if
        the model has a threshold that was given.
    measure : str
        The measure of `labelcover.metrics.MEASURES` that the model decides for.
    """

    counts: NDArray[np.int64]
    n_rows: int | NDArray[np.int64]
    decided: NDArray[np.bool_] | None
    measure: str

    @property
    def share(self) -> NDArray[np.float64]:
        """How often each label occurs; half a row more of either kind, so never 0 or 1."""
        return (self.counts + 0.5) / (self.n_rows + 1)

    @classmethod
    def of(cls, estimator: Any, Y: Any) -> "LabelFrequencies":
        """Return the label frequencies of training labels `Y`, decided as `estimator` does."""
        Y, known = split_unknown(Y)
        n = Y.shape[0]
        counts = np.asarray(Y.sum(axis=0)).ravel().astype(np.int64)
        plain = cls(counts, n if known is None else known.sum(axis=0), None, "micro_f1")
        decide = _tuned_for(estimator)
        if decide is None:
            return plain
        some = np.sort(np.random.default_rng(0).permutation(n)[:MOST_ROWS])
        rows = Y[some].toarray() if sparse.issparse(Y) else np.asarray(Y)[some]
        cells = None if known is None else known[some].astype(np.float64)
        shares = np.tile(plain.share, (len(rows), 1))
        decision = fit_decision(decide, rows.astype(np.uint8), shares, sample_weight=cells)
        measure = decide if isinstance(decide, str) else "micro_f1"
        return replace(plain, decided=decision.decide(shares[:1])[0], measure=measure)


def _tuned_for(estimator: Any) -> Any:
    """Return what the decision of an estimator is fitted for; None if its threshold is given."""
    if not isinstance(getattr(estimator, "threshold", None), str):
        return None
    decide = getattr(estimator, "decide", None) or getattr(estimator, "threshold_measure", "auto")
    if isinstance(decide, str) and decide == "auto":
        mulan = getattr(estimator, "threshold_search", None) == "mulan"
        return "hamming_loss" if mulan else "micro_f1"
    if isinstance(decide, str) and decide not in MEASURES_OF_DECISIONS:
        return MEASURES[decide].function
    return decide


class Chance(NamedTuple):
    """The baseline of some rows.

    Attributes
    ----------
    predicted : list of ndarray of shape (n, n_labels)
        One table, or several of which the mean measure counts.
    P : ndarray of shape (n, n_labels)
        Probabilities.
    told : str
        What it is, in a sentence.
    """

    predicted: list[NDArray[Any]]
    P: NDArray[np.float64]
    told: str

    def value(self, measure: Any, Y: NDArray[Any], rows: Any = slice(None)) -> float:
        """Return a measure of the baseline on some of the rows."""
        if not measure.of_predictions:
            return measure.function(Y[rows], self.P[rows])
        return float(np.mean([measure.function(Y[rows], table[rows]) for table in self.predicted]))


def chance_of(
    frequencies: LabelFrequencies, predicted: NDArray[Any], *, threshold_is_given: bool
) -> Chance:
    """Return the baseline of rows for which a model predicts `predicted`."""
    P = np.broadcast_to(frequencies.share, predicted.shape)
    if frequencies.decided is not None and not threshold_is_given:
        return Chance([np.broadcast_to(frequencies.decided, P.shape)], P, FROM_FREQUENCIES)
    random = np.random.default_rng(0)
    others = [predicted[random.permutation(len(predicted))] for _ in range(SHUFFLES)]
    return Chance(others, P, FROM_OTHER_ROWS)


class Verdict(NamedTuple):
    """Whether a model is better than chance, for the measure that it decides for.

    Intervals are those of 95 % over rows; NaN if there is one row only.

    Attributes
    ----------
    measure : str
        A name of `labelcover.metrics.MEASURES`.
    value, low, high : float
        Of the model, with its interval.
    chance : float
        Of chance.
    gain, gain_low, gain_high : float
        By how much the model is better, with its interval; below 0 if it is worse.
    rows : int
    """

    measure: str
    value: float
    low: float
    high: float
    chance: float
    gain: float
    gain_low: float
    gain_high: float
    rows: int

    @property
    def said(self) -> str:
        """The verdict in three or four words."""
        if self.gain_low > 0:
            return "better than chance"
        return "worse than chance" if self.gain_high < 0 else "no better than chance"

    def __str__(self) -> str:
        title = MEASURES[self.measure].title
        if np.isnan(self.low):
            return f"{title} is {self.value:.3f}, chance has {self.chance:.3f}: too few rows."
        start = (
            f"{title} is {self.value:.3f} ({self.low:.3f} to {self.high:.3f}), {self.said}, which "
            f"has {self.chance:.3f}"
        )
        span = (
            f"({self.gain_low:+.3f} to {self.gain_high:+.3f}; 95 % intervals, {self.rows:,} rows)"
        )
        if self.said != "no better than chance":
            return f"{start}, by {abs(self.gain):.3f} {span}."
        if self.gain_low == self.gain_high == 0:
            return f"{start}: there is no difference (95 % interval, {self.rows:,} rows)."
        return f"{start}: the difference of {self.gain:+.3f} is within the noise {span}."


def verdict(name: str, Y: NDArray[Any], predicted: NDArray[Any], chance: Chance) -> Verdict:
    """Return whether predictions are better than chance by a measure.

    Intervals are those of a jackknife that leaves out 20 random groups of rows, the same for the
    model and for chance: what makes rows hard for both does not widen that of the gain.
    """
    measure = MEASURES[name]
    sign = 1 if measure.higher_is_better else -1

    def value_and_gain(rows: Any = slice(None)) -> tuple[float, float]:
        value = measure.function(Y[rows], predicted[rows])
        return value, sign * (value - chance.value(measure, Y, rows))

    value, gain = value_and_gain()
    groups, half, half_of_gain = min(GROUPS, len(Y)), np.nan, np.nan
    if groups > 1:
        group = np.random.default_rng(0).permutation(len(Y)) % groups
        without = np.array([value_and_gain(group != g) for g in range(groups)])
        error = np.sqrt((groups - 1) * without.var(axis=0))
        half, half_of_gain = (stats.t.ppf((1 + LEVEL) / 2, groups - 1) * error).tolist()
    # No measure of predictions is below 0 or above 1.
    low, high = np.clip([value - half, value + half], 0, 1).tolist()
    gains = gain, gain - half_of_gain, gain + half_of_gain
    return Verdict(name, value, low, high, chance.value(measure, Y), *gains, len(Y))
