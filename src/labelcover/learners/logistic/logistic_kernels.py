"""Compiled loops of logistic regression for a block of problems at once.

A table is CSR, ``(data, indices, indptr)``, of which some ``rows`` are looked at. The coefficients
of a block are one array, a row per feature and the intercept last. Columns
``starts[p]:starts[p + 1]`` belong to problem ``p``: none if it has a single class, one (the
log-odds of the second class) if it has two, else one per class, under a softmax. Each entry of the
table is read once for all columns, which lie side by side in memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _multiply(X, i, V, z):
    """Set `z` to row `i` of the table times `V`, intercept included."""
    data, indices, indptr = X
    last = len(V) - 1
    for c in range(len(z)):
        z[c] = V[last, c]
    for at in range(indptr[i], indptr[i + 1]):
        x, j = data[at], indices[at]
        for c in range(len(z)):
            z[c] += x * V[j, c]


@njit(cache=True, nogil=True)
def _scatter(X, i, z, G, squared):
    """Add the products of the entries of row `i`, or their squares, and `z` to `G`."""
    data, indices, indptr = X
    last = len(G) - 1
    for c in range(len(z)):
        G[last, c] += z[c]
    for at in range(indptr[i], indptr[i + 1]):
        x, j = data[at], indices[at]
        x = x * x if squared else x
        for c in range(len(z)):
            G[j, c] += x * z[c]


@njit(cache=True, nogil=True)
def linear_scores(X, rows, W):
    """Return some rows of the table times the coefficients, intercepts included."""
    scores = np.empty((len(rows), W.shape[1]))
    for r in range(len(rows)):
        _multiply(X, rows[r], W, scores[r])
    return scores


@njit(cache=True, nogil=True)
def _softmax(scores, P):
    """Fill in the softmax of some scores; return the logarithm of their exponentials' sum."""
    top = scores.max()
    total = 0.0
    for c in range(len(P)):
        P[c] = np.exp(scores[c] - top)
        total += P[c]
    for c in range(len(P)):
        P[c] /= total
    return top + np.log(total)


@njit(cache=True, nogil=True)
def probabilities(scores, rows, classes, starts, weights, P):
    """Fill in the probabilities of all columns; return the log-loss of each problem, summed."""
    losses = np.zeros(len(starts) - 1)
    for r in range(len(rows)):
        i = rows[r]
        for p in range(len(losses)):
            low, high = starts[p], starts[p + 1]
            if high - low == 1:
                s = scores[r, low]
                small = np.exp(-abs(s))
                P[r, low] = (1.0 if s > 0.0 else small) / (1.0 + small)
                wrong = s if classes[p, i] == 0 else -s
                losses[p] += weights[i] * (max(wrong, 0.0) + np.log(1.0 + small))
            elif high > low:
                total = _softmax(scores[r, low:high], P[r, low:high])
                losses[p] += weights[i] * (total - scores[r, low + classes[p, i]])
    return losses


@njit(cache=True, nogil=True)
def class_distributions(scores, starts, offsets):
    """Return the class distributions of problems side by side, ``offsets[p]:offsets[p + 1]``."""
    found = np.empty((len(scores), offsets[-1]))
    for i in range(len(scores)):
        for p in range(len(starts) - 1):
            low, high, at = starts[p], starts[p + 1], offsets[p]
            if high == low:
                found[i, at] = 1.0
            elif high - low == 1:
                small = np.exp(-abs(scores[i, low]))
                second = (1.0 if scores[i, low] > 0.0 else small) / (1.0 + small)
                found[i, at], found[i, at + 1] = 1.0 - second, second
            else:
                _softmax(scores[i, low:high], found[i, at : offsets[p + 1]])
    return found


@njit(cache=True, nogil=True)
def gradient(X, rows, P, classes, starts, weights, ridge, W, G, M):
    """Fill in the gradient, and the diagonal of the second derivatives in `M`."""
    z, h = np.empty(W.shape[1]), np.empty(W.shape[1])
    last = len(W) - 1
    for j in range(len(W)):
        own = ridge if j < last else 0.0
        for c in range(len(z)):
            G[j, c], M[j, c] = own * W[j, c], own
    for r in range(len(rows)):
        i = rows[r]
        for p in range(len(starts) - 1):
            low, high = starts[p], starts[p + 1]
            for c in range(low, high):
                hit = classes[p, i] == (1 if high - low == 1 else c - low)
                z[c] = weights[i] * (P[r, c] - hit)
                h[c] = weights[i] * P[r, c] * (1.0 - P[r, c])
        _scatter(X, i, z, G, False)
        _scatter(X, i, h, M, True)
    for c in range(len(z)):
        # All probabilities of a column may be 0 or 1 to rounding.
        M[last, c] = max(M[last, c], 1e-12)


@njit(cache=True, nogil=True)
def _times_softmax(starts, weight, P, z):
    """Multiply `z` by the second derivatives of a row's log-losses in its scores."""
    for p in range(len(starts) - 1):
        low, high = starts[p], starts[p + 1]
        mean = 0.0
        for c in range(low, high):
            mean += P[c] * z[c]
        for c in range(low, high):
            # With one column, the other class has the score 0.
            z[c] = weight * P[c] * (z[c] - mean)


@njit(cache=True, nogil=True)
def times_curvature(X, rows, P, starts, weights, ridge, V, out):
    """Fill in the second derivatives times `V`."""
    z = np.empty(V.shape[1])
    last = len(V) - 1
    # One column for each problem, which is what single labels have, is quicker.
    is_plain = len(z) == len(starts) - 1
    for p in range(len(starts) - 1):
        is_plain = is_plain and starts[p + 1] - starts[p] == 1
    for j in range(len(V)):
        own = ridge if j < last else 0.0
        for c in range(len(z)):
            out[j, c] = own * V[j, c]
    for r in range(len(rows)):
        i = rows[r]
        _multiply(X, i, V, z)
        if is_plain:
            for c in range(len(z)):
                z[c] *= weights[i] * P[r, c] * (1.0 - P[r, c])
        else:
            _times_softmax(starts, weights[i], P[r], z)
        _scatter(X, i, z, out, False)


@njit(cache=True, nogil=True)
def dots(A, B, starts):
    """Return for each problem the sum of the products of its columns."""
    columns = np.zeros(A.shape[1])
    for j in range(len(A)):
        for c in range(len(columns)):
            columns[c] += A[j, c] * B[j, c]
    found = np.zeros(len(starts) - 1)
    for p in range(len(found)):
        for c in range(starts[p], starts[p + 1]):
            found[p] += columns[c]
    return found


@njit(cache=True, nogil=True)
def advance(length, direction, product, M, step, rest):
    """Go along the direction of each column; `product` becomes what is left, over `M`."""
    for j in range(len(step)):
        for c in range(len(length)):
            step[j, c] += length[c] * direction[j, c]
            rest[j, c] -= length[c] * product[j, c]
            product[j, c] = rest[j, c] / M[j, c]


@njit(cache=True, nogil=True)
def turn(factor, product, direction):
    """Make the next direction of each column conjugate to the last one."""
    for j in range(len(direction)):
        for c in range(len(factor)):
            direction[j, c] = product[j, c] + factor[c] * direction[j, c]
