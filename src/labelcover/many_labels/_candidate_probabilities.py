"""The probabilities of candidates, from what several views say of them."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgWarning
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

# So weak a penalty only keeps weights finite where views agree with all labels.
INVERSE_PENALTY = 1e6
# Log-odds are kept inside these bounds.
MOST_LOG_ODDS = 30.0
# Cosines and shares of trees are counted as if a little more had been seen.
LEAST_COSINE, LEAST_VOTES = 0.01, 0.1


@dataclass(frozen=True, eq=False)
class CellRegression:
    """Logistic regression of true candidates on what is known of each.

    All labels have the same weights: most have too few rows for weights of their own.

    Attributes
    ----------
    weights : ndarray of shape (n_inputs,)
    intercept : float
    """

    weights: NDArray[np.float64]
    intercept: float

    def log_odds(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the log-odds of cells; the last axis of `inputs` is that of inputs."""
        return np.clip(inputs @ self.weights + self.intercept, -MOST_LOG_ODDS, MOST_LOG_ODDS)

    def probability(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of cells, strictly inside (0, 1)."""
        return expit(self.log_odds(inputs))


def one_input(number: int, n_inputs: int) -> CellRegression:
    """Return the regression whose log-odds are one of the inputs."""
    weights = np.zeros(n_inputs)
    weights[number] = 1.0
    return CellRegression(weights, 0.0)


def fit_cells(
    inputs: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
) -> CellRegression:
    """Return the regression of cells, on out-of-sample scores.

    Parameters
    ----------
    inputs : ndarray of shape (n_cells, n_inputs)
    truth, weights : ndarray of shape (n_cells,)
    """
    if truth.all() or not truth.any():
        share = (weights @ truth + 0.5) / (weights.sum() + 1)
        return CellRegression(np.zeros(inputs.shape[1]), float(np.log(share / (1 - share))))
    from sklearn.linear_model import LogisticRegression  # slow to import

    model = LogisticRegression(C=INVERSE_PENALTY, solver="newton-cholesky", max_iter=100)
    with warnings.catch_warnings():
        # Inputs may depend on each other, or tell all: another solver then takes over, and
        # log-odds are bounded.
        warnings.simplefilter("ignore", LinAlgWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(inputs, truth, sample_weight=weights / weights.mean())
    return CellRegression(model.coef_[0], float(model.intercept_[0]))


def log_loss_of_cells(
    inputs: NDArray[np.float64], truth: NDArray[np.bool_], weights: NDArray[np.float64]
) -> float:
    """Return the mean log-loss of cells after a regression on few inputs of theirs."""
    odds = fit_cells(inputs, truth, weights).log_odds(inputs)
    return float(weights @ np.logaddexp(0, np.where(truth, -odds, odds)) / weights.sum())


# Which of the inputs below are the log-odds of the share in the leaves.
ODDS_OF_SHARES = 3


def cell_inputs(
    cosines: NDArray[np.float32],
    shares: NDArray[np.float32],
    scores: NDArray[np.float32],
    counts: NDArray[np.float64],
    n_votes: float,
) -> NDArray[np.float64]:
    """Return what is known of the candidates of rows, ``(n, most, 8)``.

    The cosine with the mean of the label's rows, that over the greatest one of the row, its
    logarithm, the log-odds of the share in the leaves, the score of the linear SVM, how many rows
    the label has (a logarithm), and products with that: views can be trusted more where a label
    has more rows.

    Parameters
    ----------
    cosines, shares, scores : ndarray of shape (n, most)
    counts : ndarray of shape (n, most)
        How many training rows the label has.
    n_votes : float
        How many trees a training row is asked of, on average.
    """
    cosines = cosines.astype(np.float64)
    of_best = cosines / np.maximum(cosines.max(axis=1, keepdims=True, initial=0), 1e-9)
    votes, against = n_votes * shares, n_votes * (1 - shares.astype(np.float64))
    odds = np.log((votes + LEAST_VOTES) / (against + LEAST_VOTES))
    size = np.log1p(counts)
    logs = np.log(np.maximum(cosines, 0) + LEAST_COSINE)
    return np.stack(
        [cosines, of_best, logs, odds, scores, size, cosines * size, scores * size], axis=-1
    )
