"""Where to cut confidences: one threshold for all labels, or one each.

A label is predicted where its confidence exceeds the threshold (Algorithm 2, line 14), or, if ties
are positive, where it is at least the threshold.
"""

import inspect
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice
from labelcover.metrics import MEASURES

Score = Callable[..., float]

# Section 2.3: nine values first, then steps of .01 between the neighbours of the best of them.
COARSE = np.round(np.arange(0.1, 0.95, 0.1), 2)
FINE = np.round(np.arange(-0.09, 0.095, 0.01), 2)
GOLDEN_RATIO = (np.sqrt(5) - 1) / 2
SEARCHES = ("grid", "golden", "mulan")
TIES = ("positive", "negative")
MEASURES_OF_PREDICTIONS = tuple(name for name, entry in MEASURES.items() if entry.of_predictions)


def cut(
    confidence: NDArray[np.float64], threshold: float | NDArray[np.float64], ties: str = "negative"
) -> NDArray[np.bool_]:
    """Return which labels are predicted; `ties` says what exactly `threshold` means.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.thresholds import cut
    >>> cut(np.array([[0.4, 0.5, 0.6]]), 0.5)
    array([[False, False,  True]])
    >>> cut(np.array([[0.4, 0.5, 0.6]]), 0.5, ties="positive")
    array([[False,  True,  True]])
    """
    exceeds = np.greater_equal if ties == "positive" else np.greater
    return exceeds(confidence, threshold)


def cut_inside(
    confidence: NDArray[np.float64], threshold: float | NDArray[np.float64], ties: str
) -> NDArray[np.bool_]:
    """Return what `cut` does for the same confidences, whether they are kept `inside` or not."""
    given = np.asarray(threshold)
    moved = np.where((given >= 0) & (given <= 1), inside(given), given)
    return cut(inside(confidence), moved, ties)


def inside(confidence: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return confidences strictly inside (0, 1): a rounding error away from 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.thresholds import inside
    >>> inside(np.array([0.0, 0.5])) > 0
    array([ True,  True])
    """
    tiny = np.finfo(np.float64).eps
    return np.clip(confidence, tiny, 1 - tiny)


def score_function(measure: str | Score, sample_weight: Any = None) -> Score:
    """Return ``f(Y, Y_pred)``, higher is better, for the name of a measure or a function.

    With weights of rows, it is weighted by them.
    """
    if not callable(measure):
        entry: Any = MEASURES[check_choice("threshold_measure", measure, MEASURES_OF_PREDICTIONS)]
        sign = 1 if entry.higher_is_better else -1
        return lambda *tables: sign * entry.function(*tables, sample_weight=sample_weight)
    if sample_weight is None:
        return measure
    if "sample_weight" not in inspect.signature(measure).parameters:
        raise ValueError(
            f"threshold_measure must take sample_weight where rows have weights, got {measure!r}."
        )
    return partial(measure, sample_weight=sample_weight)


def best_threshold(
    Y: NDArray[np.uint8],
    confidence: NDArray[np.float64],
    *,
    measure: str | Score = "micro_f1",
    search: str = "grid",
    sample_weight: NDArray[np.float64] | None = None,
    ties: str = "negative",
) -> tuple[float, float]:
    """Return the threshold that scores best, and its score (higher is better).

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
        What is true.
    confidence : ndarray of shape (n, n_labels)
        What is cut.
    measure : str or callable, default="micro_f1"
        A measure of `labelcover.metrics` that takes predictions, or ``f(Y, Y_pred)`` where higher
        is better.
    search : {"grid", "golden", "mulan"}, default="grid"
        ``"grid"`` is the paper's: .1 to .9, then steps of .01 around the best. Of equal
        scores the threshold nearest to .5 wins. ``"golden"`` is a golden-section search between
        the neighbours of the best of the nine, to within .001. ``"mulan"`` is that of MULAN's
        OneThreshold: 0 to 1 in steps of .1, then .05 to either side of the best in steps of .01.
        Of equal scores the lowest threshold wins, which may be −.05.
    sample_weight : ndarray of shape (n,), optional
        Weights of the rows.
    ties : {"positive", "negative"}, default="negative"
        What a confidence of exactly the threshold means. MULAN predicts the label.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.thresholds import best_threshold
    >>> Y = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.uint8)
    >>> confidence = np.array([[0.40, 0.20], [0.35, 0.10], [0.28, 0.45]])
    >>> best_threshold(Y, confidence)
    (0.34, 1.0)
    """
    check_choice("threshold_search", search, SEARCHES)
    check_choice("ties", ties, TIES)
    score = score_function(measure, sample_weight)

    def at(threshold: float) -> float:
        return score(Y, cut(confidence, threshold, ties))

    if search == "mulan":
        first, _ = _first_best(0.0, 0.1, 1.0, at)
        return _first_best(first - 0.05, 0.01, first + 0.05, at)
    best = _best_of(COARSE, at)
    if search == "grid":
        around = np.round(best[0] + FINE, 2)
        return _best_of(around[(around > 0) & (around < 1)], at)
    return max(_golden_section(at, best[0] - 0.1, best[0] + 0.1), best, key=itemgetter(1))


def best_thresholds_per_label(
    Y: NDArray[np.uint8],
    confidence: NDArray[np.float64],
    *,
    measure: str | Score = "micro_f1",
    search: str = "grid",
    sample_weight: NDArray[np.float64] | None = None,
    ties: str = "negative",
) -> tuple[NDArray[np.float64], float]:
    """Return for each label the threshold that scores best on that label alone.

    A label that is never true in `Y` is cut at the best threshold for all labels together. The
    parameters are those of `best_threshold`.

    Returns
    -------
    thresholds : ndarray of shape (n_labels,)
    score : float
        Of all labels together, each cut at its threshold.
    """
    how: dict[str, Any] = {"measure": measure, "search": search, "ties": ties}
    best: Any = partial(best_threshold, sample_weight=sample_weight, **how)
    thresholds = np.full(Y.shape[1], best(Y, confidence)[0])
    for j in np.flatnonzero(Y.any(axis=0)):
        thresholds[j], _ = best(Y[:, [j]], confidence[:, [j]])
    return thresholds, score_function(measure, sample_weight)(Y, cut(confidence, thresholds, ties))


def _best_of(thresholds: NDArray[np.float64], at: Callable[[float], float]) -> tuple[float, float]:
    nearest_first = sorted(thresholds.tolist(), key=lambda threshold: abs(threshold - 0.5))
    return max(((threshold, at(threshold)) for threshold in nearest_first), key=itemgetter(1))


def _first_best(
    low: float, step: float, high: float, at: Callable[[float], float]
) -> tuple[float, float]:
    """Return the first of the best thresholds from `low` to `high`, and its score."""
    tried = [low]
    # Steps are added up, as in MULAN: where rounding takes the sum above `high`, the last threshold
    # is not tried. This is so around 0, .2, .3 and .4.
    while tried[-1] + step <= high:
        tried.append(tried[-1] + step)
    scores = [at(threshold) for threshold in tried]
    best = int(np.argmax(scores))
    return low + best * step, scores[best]


def _golden_section(
    at: Callable[[float], float], low: float, high: float, width: float = 1e-3
) -> tuple[float, float]:
    left, right = high - GOLDEN_RATIO * (high - low), low + GOLDEN_RATIO * (high - low)
    at_left, at_right = at(left), at(right)
    while high - low > width:
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN_RATIO * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN_RATIO * (high - low)
            at_right = at(right)
    return (float(left), at_left) if at_left >= at_right else (float(right), at_right)
