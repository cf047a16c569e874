"""Label shares of a forest corrected by each other: ridge regression of all labels on them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.learners.row_products import row_products

# The shares of this many most frequent labels are regressed on.
MOST_INPUTS = 1_024
# Ridges that are tried, times the mean eigenvalue, on the leave-one-out errors of so many rows.
RIDGES = 10.0 ** np.arange(-3, 1.5, 0.5)
CHOICE_ROWS = 1_024
# Rows that are corrected at once.
BLOCK_ROWS = 4_096
# A row that alone decides its own prediction cannot be left out.
MOST_LEVERAGE = 0.99
TINY = 1e-9


@dataclass(frozen=True)
class ShareRegression:
    """The correction ``shares + trust · (regression on the shares - shares)``.

    A tree averages the labels of similar rows. Where one label speaks for or against another, its
    share does not say so; a linear regression on the shares of all labels does.

    Attributes
    ----------
    inputs : ndarray
        The labels whose shares are regressed on.
    slopes : ndarray of shape (n_inputs, n_labels)
    intercept : ndarray of shape (n_labels,)
    ridge : float
    trust : ndarray of shape (n_labels,)
        Both with the least squared leave-one-out error.
    """

    inputs: NDArray[np.int64]
    slopes: NDArray[np.float32]
    intercept: NDArray[np.float64]
    ridge: float
    trust: NDArray[np.float64]

    def corrected(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the corrected shares of new rows, between 0 and 1."""
        found = np.empty_like(shares)
        for rows in _blocks(len(shares)):
            inputs = shares[rows][:, self.inputs].astype(np.float32)
            fitted = row_products(inputs, self.slopes) + self.intercept
            found[rows] = _mixed(shares[rows], fitted, self.trust)
        return found


def fit_share_regression(
    shares: NDArray[np.float64],
    labels: sparse.csr_array,
    weights: NDArray[np.float64] | None = None,
) -> tuple[ShareRegression, NDArray[np.float64]]:
    """Return the correction of label shares, and the leave-one-out one of the training rows.

    Parameters
    ----------
    shares : ndarray of shape (n, n_labels)
        Of training rows, by trees that were grown without them.
    labels : CSR array of shape (n, n_labels)
        Zeros and ones.
    weights : ndarray of shape (n,), optional
        Weights of the rows.

    Examples
    --------
    A label that the forest says nothing of, but that excludes the first:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> from labelcover.learners.forest.share_regression import fit_share_regression
    >>> random = np.random.default_rng(0)
    >>> first = random.uniform(0.1, 0.9, 500)
    >>> y = random.random(500) < first
    >>> labels = sparse.csr_array(np.column_stack([y, ~y]).astype(np.uint8))
    >>> correction, _ = fit_share_regression(np.column_stack([first, 0 * first]), labels)
    >>> bool(correction.corrected(np.array([[0.2, 0.0]]))[0, 1] > 0.7)
    True
    """
    n = len(shares)
    w = np.ones(n) if weights is None else weights / weights.mean()
    mean = (w @ labels) / n
    inputs = np.sort(np.argsort(-mean, kind="stable")[:MOST_INPUTS])
    centre = w @ shares[:, inputs] / n
    centred = (shares[:, inputs] - centre).astype(np.float32)
    values, vectors = np.linalg.eigh(
        (centred.T @ (w.astype(np.float32)[:, None] * centred)).astype(np.float64)
    )
    rotated = centred @ vectors.astype(np.float32)
    # Targets need not be centred, since the inputs are.
    products = (labels.T.astype(np.float32) @ (w.astype(np.float32)[:, None] * rotated)).T

    def left_out(ridge: float, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        inverse = (1 / (np.maximum(values, 0) + ridge)).astype(np.float32)
        leverage = w[rows] * ((rotated[rows] ** 2) @ inverse + 1 / n)
        leverage = np.minimum(leverage, MOST_LEVERAGE)[:, None]
        fitted = (rotated[rows] * inverse) @ products + mean
        return (fitted - leverage * labels[rows].toarray()) / (1 - leverage)

    some = np.linspace(0, n - 1, min(n, CHOICE_ROWS)).astype(np.int64)
    known, weight = labels[some].toarray(), w[some, None]
    # Shares that never change have no eigenvalues to speak of.
    unit = max(float(values.mean()), TINY)
    ridge = min(
        (float(scale * unit) for scale in RIDGES),
        key=lambda ridge: float((weight * (left_out(ridge, some) - known) ** 2).sum()),
    )
    found = np.empty_like(shares)
    # How far the regression goes from the shares, and how much of that is towards the labels.
    length, towards = np.zeros(len(mean)), np.zeros(len(mean))
    for block in _blocks(n):
        found[block] = left_out(ridge, np.arange(block.start, block.stop))
        change = found[block] - shares[block]
        missed = labels[block].toarray() - shares[block]
        length += w[block] @ change**2
        towards += w[block] @ (change * missed)
    trust = _trust(length, towards)
    for block in _blocks(n):
        found[block] = _mixed(shares[block], found[block], trust)
    slopes = (vectors / (np.maximum(values, 0) + ridge)).astype(np.float32) @ products
    return ShareRegression(inputs, slopes, mean - centre @ slopes, ridge, trust), found


def _trust(length, towards):
    """Return the share of the way to the regression that each label goes, between 0 and 1.

    That of a label is drawn to the common one, as if as much had been seen as of a mean label.
    """
    if not length.any():
        return np.zeros(len(length))
    common = towards.sum() / length.sum()
    return np.clip((towards + common * length.mean()) / (length + length.mean()), 0, 1)


def _mixed(shares, fitted, trust):
    return np.clip(shares + trust * (fitted - shares), 0, 1)


def _blocks(n: int):
    for start in range(0, n, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n))
