"""The scores of the quality benchmark, and two decisions that need no labels.

Both decisions are made from the probabilities of the test rows alone, by the same function for
every method, so that nobody takes a decision for the model.
"""

import numpy as np
from sklearn.metrics import average_precision_score, label_ranking_average_precision_score

from benchmarks.quality_methods import DECIDED, Predicted
from labelcover.metrics import MEASURES

ONE_CUT = " at one cut"
DECODED = "subset_accuracy by decoding"


def clipped(proba, n_train: int) -> np.ndarray:
    """Return probabilities that are never 0 or 1, at which log-loss would be infinite.

    One part in a thousand of one training row: far too little to matter to a probability that is
    right, and generous to a forest whose trees all agree and are wrong.
    """
    least = 1e-3 / n_train
    return np.clip(proba, least, 1 - least)


def expected_f1_cut(proba: np.ndarray) -> float:
    """Return the cut with the greatest expected micro-F1, if the probabilities are right.

    The expected F1 is taken as the ratio of expectations. Where it is greatest, at F, the cut is
    F / 2 (Lipton, Elkan and Naryanaswamy, 2014).
    """
    p = np.sort(proba, axis=None)[::-1]
    hits = np.cumsum(p)
    return float((hits / (np.arange(1, p.size + 1) + hits[-1])).max())


def seen_labelsets(proba: np.ndarray, Y_train: np.ndarray) -> np.ndarray:
    """Return for each row the most probable of the labelsets that occur in training.

    The score of a labelset is its log-probability if labels were independent, plus its log-lift:
    how often it occurs in training against how often independence expects it. The expectation is
    taken over the rows of `proba`, because most peers give no probabilities for training rows
    that they have not seen.
    """
    labelsets, counts = np.unique(Y_train, axis=0, return_counts=True)
    log_odds = np.log(proba) - np.log1p(-proba)
    scores = log_odds @ labelsets.T.astype(float) + np.log1p(-proba).sum(axis=1, keepdims=True)
    expected = np.exp(scores).mean(axis=0) * len(Y_train)
    scores += np.log(counts + 0.5) - np.log(expected + 0.5)
    return labelsets[scores.argmax(axis=1)]


def calibration_error(Y: np.ndarray, proba: np.ndarray, bins: int = 10) -> float:
    """Return the expected calibration error over all cells, in bins of equal width."""
    p, y = proba.ravel(), Y.ravel()
    which = np.minimum((p * bins).astype(int), bins - 1)
    gaps = np.bincount(which, weights=p - y, minlength=bins)
    return float(np.abs(gaps).sum() / p.size)


def scores_of(Y_train: np.ndarray, Y: np.ndarray, predicted: Predicted) -> dict[str, float]:
    """Return all scores but the seconds."""
    proba = clipped(predicted.proba, len(Y_train))
    one_cut = proba > expected_f1_cut(proba)
    scores = {}
    for measure in DECIDED:
        scores[measure] = MEASURES[measure].function(Y, predicted.decided[measure])
        scores[measure + ONE_CUT] = MEASURES[measure].function(Y, one_cut)
    decoded = seen_labelsets(proba, Y_train)
    scores[DECODED] = MEASURES["subset_accuracy"].function(Y, decoded)
    scores["micro_average_precision"] = average_precision_score(Y.ravel(), proba.ravel())
    scores["label_ranking_average_precision"] = label_ranking_average_precision_score(Y, proba)
    scores["log_loss"] = -np.log(np.where(Y, proba, 1 - proba)).mean()
    scores["brier_score"] = ((proba - Y) ** 2).mean()
    scores["calibration_error"] = calibration_error(Y, proba)
    return {measure: float(score) for measure, score in scores.items()}
