"""What the labels of training rows say of each other, all of them known: for the audit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from labelcover.covers import Cover, linked_labels
from labelcover.ensemble._links import LINK_PENALTY, TINY, least_loss

Floats = NDArray[np.float64]


def given_others(
    Y: NDArray[np.uint8],
    P: Floats,
    cover: Cover | None = None,
    known: NDArray[np.bool_] | None = None,
) -> tuple[Floats, sparse.csr_array]:
    """Return the log-odds of every cell of a label table given all other labels of its row.

    And the links by which they are: a regression of each label with a constant, from which each row
    is left out (approximate leave-one-out, Rad and Maleki, 2020). The labelsets that occur say
    nothing here: a wrong label makes one that did not occur before.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    P : ndarray of shape (n, n_labels)
        Probabilities of the labels by models fitted without the row, inside (0, 1).
    cover : Cover, optional
        Two labels are linked if a labelset holds both; by default all are.
    known : ndarray of bool of shape (n, n_labels), optional
        Which labels are known: others say nothing of their rows.
    """
    m = Y.shape[1]
    together = sparse.csr_array(1.0 - np.eye(m)) if cover is None else linked_labels(cover)
    looked = np.ones(Y.shape, dtype=bool) if known is None else known
    given, surprise = logit(np.clip(P, TINY, 1 - TINY)), np.where(looked, Y - P, 0.0)
    values = np.zeros(together.nnz)
    for j in range(m):
        at = slice(together.indptr[j], together.indptr[j + 1])
        inputs = np.vstack([surprise[:, together.indices[at]].T, np.ones(len(Y))])
        penalty = np.full(len(inputs), LINK_PENALTY)
        weights = looked[:, j].astype(np.float64)
        theta = least_loss(inputs, given[:, j], Y[:, j], weights, penalty)
        odds = given[:, j] + theta @ inputs
        p = expit(odds)
        curve = (inputs * (weights * p * (1 - p))) @ inputs.T + np.diag(penalty)
        leverage = (inputs * np.linalg.solve(curve, inputs)).sum(axis=0)
        # Without the row, the fit would be further from it.
        leverage /= np.maximum(1 - p * (1 - p) * leverage, 1e-6)
        given[:, j], values[at] = odds - weights * leverage * (Y[:, j] - p), theta[:-1]
    return given, sparse.csr_array((values, together.indices, together.indptr), together.shape)
