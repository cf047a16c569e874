"""Hadamard matrices: square, of signs, with orthogonal rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from labelcover.covers.designs.fields import galois_field, prime_power


def hadamard_matrix(order: int) -> NDArray[np.int64] | None:
    """Return a Hadamard matrix whose first row and column are ones; None if we know of none.

    Sylvester's construction for powers of two; Paley's first for q + 1, q a prime power of the
    form 4a + 3, and second for 2(q + 1), q one of the form 4a + 1; and the double of any of these.

    References
    ----------
    Paley, R. E. A. C. (1933). On orthogonal matrices. Journal of Mathematics and Physics 12,
    311-320.

    Examples
    --------
    >>> from labelcover.covers.hadamard import hadamard_matrix
    >>> hadamard_matrix(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]])
    >>> [order for order in range(4, 101, 4) if hadamard_matrix(order) is None]
    [92]
    """
    if order & (order - 1) == 0:
        return np.asarray(hadamard(order))
    if order % 4:
        return None
    if prime_power(order - 1) is not None:
        return _paley_1(order - 1)
    if order % 8 == 4 and prime_power(order // 2 - 1) is not None:
        return _paley_2(order // 2 - 1)
    half = hadamard_matrix(order // 2)
    return None if half is None else np.kron([[1, 1], [1, -1]], half)


def hadamard_at_least(order: int) -> NDArray[np.int64]:
    """Return the Hadamard matrix of the least order that is known here and at least `order`."""
    while (signs := hadamard_matrix(order)) is None:
        order += 1
    return signs


def _paley_1(q: int) -> NDArray[np.int64]:
    signs = np.ones((q + 1, q + 1), dtype=np.int64)
    signs[1:, 1:] = _residues(q, at_zero=-1)
    return signs


def _paley_2(q: int) -> NDArray[np.int64]:
    conference = np.ones((q + 1, q + 1), dtype=np.int64)
    conference[0, 0] = 0
    conference[1:, 1:] = _residues(q, at_zero=0)
    signs = np.kron(conference, [[1, 1], [1, -1]])
    signs += np.kron(np.eye(q + 1, dtype=np.int64), [[1, -1], [-1, -1]])
    # Negated rows and columns stay orthogonal.
    signs *= signs[:, :1]
    return signs * signs[:1]


def _residues(q: int, *, at_zero: int) -> NDArray[np.int64]:
    """1 where the difference of row and column is a square in the field of q, else −1."""
    field, elements = galois_field(q), np.arange(q)
    square = np.full(q, -1)
    square[field.multiply(elements, elements)] = 1
    square[0] = at_zero
    return square[field.subtract(elements[:, None], elements[None])]
