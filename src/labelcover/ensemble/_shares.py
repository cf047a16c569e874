"""Confidences as sums of parts: what every view says of its own, and what is made of them.

A view that can be explained has ``shares(X)``, which returns a `Shares` for each of its tables of
confidences. Of one label and some rows it gives `Parts`: a start, and what each column of the table
adds to it, so that they add up to the confidence. That is all a new view has to do. The pool weighs
the parts of its views, and the explanation puts them into words; neither knows how a view came to
them.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit, softmax

from labelcover._table_numbers import blocks
from labelcover.ensemble._log_linear_pool import inside

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
# Quotients of smaller differences would lose their digits: derivatives take their place.
CLOSE = 1e-9
# Integrals along a line are right to this, or to so many roundings of the scores, by ten nodes in
# each panel, of which so many numbers are held at once (32 MB). Panels are halved no more often,
# nor while there are so many of a row.
TOLERANCE, ROUNDINGS = 1e-10, 32 * float(np.finfo(np.float64).eps)
NODES, NODE_WEIGHTS = np.polynomial.legendre.leggauss(10)
BLOCK_NUMBERS = 2**22
MOST_HALVINGS, MOST_PANELS = 50, 64


@dataclass(frozen=True)
class Parts:
    """What adds up to the score of one label in some rows.

    Attributes
    ----------
    start : ndarray of shape (n,)
        The score before anything of the row is known.
    columns : ndarray or CSR array of shape (n, n_columns)
        The parts of the columns of the table, nominal features one-hot (`features.numeric`).
    labels : ndarray of shape (n, n_labels), optional
        The parts of other labels.
    """

    start: Floats
    columns: Any
    labels: Floats | None = None

    def total(self) -> Floats:
        """Return the score of each row."""
        found = self.start + np.asarray(self.columns.sum(axis=1)).ravel()
        return found if self.labels is None else found + self.labels.sum(axis=1)

    def times(self, factors: Floats) -> "Parts":
        """Return the start and columns of a score that is multiplied by a factor in each row."""
        if sparse.issparse(self.columns):
            columns = sparse.csr_array(sparse.diags_array(factors) @ self.columns)
        else:
            columns = self.columns * factors[:, None]
        return Parts(self.start * factors, columns)


class Shares:
    """One table of confidences of some rows as sums of parts: by `of_label`, or by `combined`.

    Attributes
    ----------
    confidence : ndarray of shape (n, n_labels)
        As `View.confidences` gives it.
    starts : ndarray of shape (n_labels,)
        The scores before anything of a row is known.
    scale : {"confidence", "log-odds"}
        What the parts add up to.
    known : int8 array of shape (n, n_labels), optional
        What is known of the labels of the rows: 0, 1, or -1 for nothing.
    """

    confidence: Floats
    starts: Floats
    scale: str = "confidence"
    known: NDArray[np.int8] | None = None

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the parts of one label in some of the rows."""
        weights = np.zeros((len(rows), len(self.starts)))
        weights[:, label] = 1.0
        return Parts(np.full(len(rows), self.starts[label]), self.combined(rows, weights))

    def combined(self, rows: NDArray[np.int64], weights: Floats) -> Any:
        """Return what columns add to a sum of the scores of all labels.

        Parameters
        ----------
        rows : ndarray
            Which of the rows.
        weights : ndarray of shape (n_rows, n_labels)
            What the scores are multiplied by in each row, mostly 0.

        Returns
        -------
        ndarray or CSR array of shape (n_rows, n_columns)
        """
        total: Any = None
        for label in np.flatnonzero(weights.any(axis=0)).tolist():
            own = np.flatnonzero(weights[:, label])
            entries = weights[own, label], (own, np.arange(len(own)))
            into = sparse.csr_array(entries, shape=(len(rows), len(own)))
            parts = into @ self.of_label(label, rows[own]).columns
            total = parts if total is None else total + parts
        return self.of_label(0, rows).columns * 0.0 if total is None else total

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return the same for a sum of the log-odds of confidences kept `least` inside (0, 1).

        By default all parts of a confidence are multiplied by its `slopes`; those of `label`, which
        counts the most, may be of the log-odds themselves.
        """
        return self.combined(rows, weights * self.slopes(rows, least))

    def slopes(self, rows: Rows, least: float) -> Floats:
        """Return what confidences change their log-odds by, averaged from their starts."""
        way, end = self.confidence[rows] - self.starts, inside(self.confidence[rows], least)
        far = np.abs(way) > CLOSE
        # The derivative of log-odds, where there is no way to speak of.
        flat, change = 1 / (end * (1 - end)), logit(end) - logit(inside(self.starts, least))
        return np.where(far, change / np.where(far, way, 1.0), flat)


class Similar(NamedTuple):
    """The training rows that are most like some rows, ``(n, n_similar)``, the most similar first.

    Attributes
    ----------
    rows : ndarray of int64
        Numbers of training rows; -1 where there are no more.
    similarity : ndarray of float64
        Between 0 and 1.
    labels : list of list of ndarray
        The labels of each.
    """

    rows: NDArray[np.int64]
    similarity: Floats
    labels: list[list[NDArray[Any]]]


def probability_slopes(start: Floats, end: Floats, own: NDArray[Any]) -> Floats:
    """Return what scores change the probability of some classes by.

    Scores go from `start` to `end` in a straight line; the slope of a class is the derivative of
    the probability by its score, averaged over that line. So slopes times what scores change by
    add up to what the probability changes by.

    Parameters
    ----------
    start : ndarray of shape (n_classes,)
    end : ndarray of shape (n, n_classes)
        Scores, of which the softmax gives probabilities.
    own : ndarray of shape (n_classes,)
        Which classes count, zeros and ones.
    """
    own = own.astype(np.float64)
    moved = end - start
    if len(start) == 1 or np.ptp(own) == 0:
        return np.zeros_like(end)
    if len(start) == 2:
        positive = int(own.argmax())
        odds = 2 * positive - 1
        way = odds * (moved[:, 1] - moved[:, 0])
        at = odds * (start[1] - start[0])
        far = np.abs(way) > CLOSE
        change = expit(at + way) - expit(at)
        slope = np.where(far, change / np.where(far, way, 1.0), expit(at) * expit(-at))
        return np.outer(slope, np.where(own == 1, 1.0, -1.0))
    slopes = np.empty_like(end)
    for block in blocks(len(end), BLOCK_NUMBERS // (len(NODES) * len(start))):
        slopes[block] = _line_slopes(start, moved[block], own)
    return slopes


def _line_slopes(start: Floats, moved: Floats, own: Floats) -> Floats:
    """Return averaged slopes by a quadrature that halves panels until all classes add up."""
    slopes = np.zeros_like(moved)
    row, low, width = np.arange(len(moved)), np.zeros(len(moved)), 1.0
    tolerance = max(TOLERANCE, ROUNDINGS * float(np.abs(moved).max() + np.abs(start).max()))
    for halving in range(MOST_HALVINGS + 1):
        t = low[:, None] + width * (NODES + 1) / 2
        P = softmax(start + t[:, :, None] * moved[row][:, None, :], axis=2)
        weights = width / 2 * NODE_WEIGHTS
        # What the probabilities of all classes change by, and should.
        speed = P * (moved[row][:, None, :] - (P @ moved[row][:, :, None]))
        ends = [softmax(start + at[:, None] * moved[row], axis=1) for at in (low, low + width)]
        error = np.abs(np.einsum("ptc,t->pc", speed, weights) - (ends[1] - ends[0])).max(axis=1)
        is_last = halving == MOST_HALVINGS or len(row) > MOST_PANELS * len(moved)
        good = (error <= tolerance) | is_last
        found = np.einsum("ptc,t->pc", P * (own - (P @ own)[:, :, None]), weights)
        np.add.at(slopes, row[good], found[good])
        row, low, width = np.repeat(row[~good], 2), np.repeat(low[~good], 2), width / 2
        low[1::2] += width
        if not len(row):
            break
    return slopes


def labels_of(held: tuple[NDArray[Any], NDArray[Any]], rows: NDArray[np.int64]) -> list[list[Any]]:
    """Return the labels of some training rows, ``(n, k)``, by ``(indices, starts)`` of all."""
    indices, starts = held
    return [[indices[starts[i] : starts[i + 1]] for i in own] for own in rows.tolist()]
