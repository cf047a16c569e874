"""How probable candidates are, by what views say of them and by known labels of the row.

Known labels speak along the links of a cover: a label that shares a labelset with them is a
candidate too. With the log-odds ``l`` and the probabilities ``p`` of a row of which ``n`` labels
are known to be on::

    s_j = Σ_k w_jk (y_k − p_k),   logit P(y_j | x, known) = β · (1, l_j, s_j, s_j / n, log(1 + n))

The sum is over the known labels that are linked to ``j``. With thousands of labels most have too
few rows for weights of their own, so ``w_jk`` is counted: the logarithm of how often both labels
occur in a row over how often independent labels would. Only ``β`` is fitted, on left-out rows of
which some labels are shown at random. With nothing known, probabilities stay as they are.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning
from scipy.special import expit, logit
from sklearn.exceptions import ConvergenceWarning

from labelcover.covers import Cover, linked_labels
from labelcover.many_labels._candidates import Candidates

# So weak a penalty only keeps weights finite where views agree with all labels.
INVERSE_PENALTY = 1e6
# Log-odds are kept inside these bounds.
MOST_LOG_ODDS = 30.0
# Cosines and shares of trees are counted as if a little more had been seen.
LEAST_COSINE, LEAST_VOTES = 0.01, 0.1
# Added to observed and expected counts, so that a pair seen once says little.
PSEUDO_COUNT = 2.0
# The labels of left-out rows are shown in shares between these.
LEAST_SHOWN, MOST_SHOWN = 0.05, 0.97
# A row gets no more candidates than these from its known labels.
MOST_LINKED = 50


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


@dataclass(frozen=True, eq=False)
class CandidateLinks:
    """What known labels say of candidates, fitted.

    Attributes
    ----------
    weights : CSR array of shape (n_labels, n_labels)
        Symmetric: what a label that is known to be on says of one that is linked to it.
    cells : CellRegression
        On log-odds, evidence, evidence for each known label, and how many are known.
    """

    weights: sparse.csr_array
    cells: CellRegression

    def given(
        self,
        labels: NDArray[np.int32],
        P: NDArray[np.float64],
        known: NDArray[np.int8],
        others: NDArray[np.float64],
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the candidates of rows, more than before, and their probabilities.

        Known labels are candidates, with probability 0 or 1.

        Parameters
        ----------
        labels, P : ndarray of shape (n, most)
            Candidates, padded by -1, and their probabilities.
        known : int8 array of shape (n, n_labels)
            0 and 1 where a label is known, -1 elsewhere.
        others : ndarray of shape (n_labels,)
            The probability of each label in rows that do not have it as a candidate.
        """
        ones = sparse.csr_array(known == 1, dtype=np.float64)
        is_known = sparse.csr_array(known >= 0, dtype=np.float64)
        found = sparse.coo_array(Candidates(labels, P, others).stored())
        evidence = sparse.csr_array((ones - found * is_known) @ self.weights)
        told = evidence - evidence * (found + is_known > 0)  # of labels that are no candidates
        linked = sparse.coo_array(told)
        best = _first_of_rows(linked.row, logit(others[linked.col]) + linked.data, MOST_LINKED)
        row = np.concatenate([found.row, linked.row[best]])
        label = np.concatenate([found.col, linked.col[best]])
        before = np.concatenate([found.data, others[linked.col[best]]])
        said, n_on = _cells(evidence, row, label), ones.sum(axis=1)[row]
        after = self.cells.probability(_inputs(before, said, n_on))
        after = np.where(is_known.sum(axis=1)[row] > 0, after, before)
        hidden = known[row, label] < 0
        at = np.nonzero(known >= 0)
        row, label = np.append(row[hidden], at[0]), np.append(label[hidden], at[1])
        return _padded(row, label, np.append(after[hidden], known[at]), len(labels))


def fit_candidate_links(
    Y: sparse.csr_array,
    cover: Cover,
    rows: NDArray[np.int64],
    labels: NDArray[np.int32],
    P: NDArray[np.float64],
    truth: NDArray[np.bool_],
    weights: NDArray[np.float64],
    random: np.random.Generator,
) -> CandidateLinks:
    """Return the links of the labels of a cover.

    Parameters
    ----------
    Y : CSR array of shape (n, n_labels)
        The labels of all training rows, counted whatever the weights of rows.
    cover : Cover
        Two labels are linked if a labelset holds both.
    rows : ndarray of shape (n_rows,)
        Training rows.
    labels, P, truth : ndarray of shape (n_rows, most)
        Their candidates by models fitted without them, the probabilities, and which are true.
    weights : ndarray of shape (n_rows,)
    """
    together, own_pairs = _log_lifts(Y, cover)
    own = sparse.csr_array(Y[rows], dtype=np.float64)
    shown = own.copy()
    share = random.uniform(LEAST_SHOWN, MOST_SHOWN, len(rows))
    shown.data = 1.0 * (random.random(own.nnz) < np.repeat(share, np.diff(own.indptr)))
    surprise = shown - Candidates(labels, P, np.zeros(Y.shape[1])).stored() * shown
    # The row itself is left out of what is counted.
    evidence = surprise @ together + own * ((surprise * own) @ own_pairs)
    row, place = np.nonzero(labels >= 0)
    label = labels[row, place]
    said, n_on = _cells(evidence, row, label), shown.sum(axis=1)[row]
    inputs, hidden = _inputs(P[row, place], said, n_on), _cells(shown, row, label) == 0
    y, w = truth[row, place][hidden], weights[row][hidden]
    if together.nnz == 0 or y.all() or not y.any():
        return CandidateLinks(together, one_input(0, inputs.shape[1]))
    return CandidateLinks(together, fit_cells(inputs[hidden], y, w))


def _log_lifts(Y: sparse.csr_array, cover: Cover) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Return the log-lifts of linked labels, and what they lose without a row that has both."""
    n, m = Y.shape
    pairs = sparse.coo_array(linked_labels(cover))
    table = sparse.csr_array(Y, dtype=np.float64)
    both, counts = sparse.csr_array(table.T @ table), table.sum(axis=0)

    def lift(less: int) -> NDArray[np.float64]:
        one, other = (np.maximum(counts[each] - less, 0) for each in (pairs.row, pairs.col))
        seen = np.maximum(_cells(both, pairs.row, pairs.col) - less, 0)
        return np.log((seen + PSEUDO_COUNT) / (one * other / max(n - less, 1) + PSEUDO_COUNT))

    kept, places = lift(0), (pairs.row, pairs.col)
    lost = sparse.csr_array((lift(1) - kept, places), shape=(m, m))
    return sparse.csr_array((kept, places), shape=(m, m)), lost


def _cells(
    table: sparse.csr_array, row: NDArray[np.integer], label: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return cells of a sparse table, of which there may be none."""
    return np.asarray(table[row, label]) if len(row) else np.zeros(0)


def _inputs(
    P: NDArray[np.float64], evidence: NDArray[np.float64], n_on: NDArray[np.float64]
) -> NDArray[np.float64]:
    return np.column_stack([logit(P), evidence, evidence / np.maximum(n_on, 1), np.log1p(n_on)])


def _first_of_rows(
    row: NDArray[np.int64], values: NDArray[np.float64], most: int
) -> NDArray[np.int64]:
    """Return the places of the `most` greatest values of each row, the greatest first."""
    order = np.lexsort((-values, row))
    rank = np.arange(len(order)) - np.searchsorted(row[order], row[order])
    return order[rank < most]


def _padded(
    row: NDArray[np.int64], label: NDArray[np.int64], values: NDArray[np.float64], n: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return cells as labels and values of rows, padded by -1."""
    order = np.argsort(row, kind="stable")
    place = np.arange(len(order)) - np.searchsorted(row[order], row[order])
    most = int(place.max(initial=-1)) + 1
    labels, found = np.full((n, most), -1, np.int32), np.zeros((n, most))
    labels[row[order], place], found[row[order], place] = label[order], values[order]
    return labels, found
