"""Covers from known binary matrices: Hadamard matrices and constant-weight codes (Section 2.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import hadamard

from labelcover._arguments import check_integer
from labelcover.covers.cover import Cover

_TABLE_2 = """
    00000000 11101000 10110100 10011010 10001101 11000110 10100011 11010001
"""
_TABLE_3 = """
    1000110100011000101 1000110010000111010 1001001001000110101 1001001000111001010
    0101010011010001100 0100101011001000011 0101010100100100011 0100101100100011100
    0010011101001101000 0011100010101100100 0011100101010010010
"""


def _matrix(text: str) -> NDArray[np.uint8]:
    return np.array([[int(bit) for bit in row] for row in text.split()], dtype=np.uint8)


#: The Hadamard matrix of Table 2; its first row is constant.
HADAMARD_8 = _matrix(_TABLE_2)
#: The constant-weight code of Table 3.
A_19_10_8 = _matrix(_TABLE_3)


def rows_of_weight(matrix: ArrayLike, k: int) -> Cover:
    """Return the rows of a binary matrix that hold k ones, as a cover.

    For matrices whose rows differ in weight, such as orthogonal arrays, or a Hadamard matrix
    with its constant row.

    Examples
    --------
    >>> from labelcover.covers.codes import HADAMARD_8, rows_of_weight
    >>> rows_of_weight(HADAMARD_8, 4)
    Cover(n_labels=8, k=4, size=7, imbalance=4)
    """
    table = np.asarray(matrix)
    if table.ndim != 2:
        raise ValueError(f"matrix must have two dimensions, got shape {table.shape}.")
    k = check_integer("k", k, low=1, high=table.shape[1])
    fitting = table[table.sum(axis=1) == k]
    if not len(fitting):
        found = sorted(set(table.sum(axis=1).tolist()))
        raise ValueError(f"k={k}: no row of the matrix holds so many ones; rows hold {found}.")
    return Cover.from_matrix(fitting)


def hadamard_cover(n_labels: int) -> Cover:
    """Return the rows of a Hadamard matrix of order m, all but the constant one: k = m/2.

    Sylvester's construction for powers of two, Paley's for m − 1 a prime of the form 4a + 3.

    Examples
    --------
    >>> from labelcover.covers.codes import hadamard_cover
    >>> hadamard_cover(12)
    Cover(n_labels=12, k=6, size=11, imbalance=6, method='hadamard')
    """
    m = check_integer("n_labels", n_labels, low=4)
    if m & (m - 1) == 0:
        signs = hadamard(m)
    elif m % 4 == 0 and _is_prime(m - 1):
        signs = _paley(m - 1)
    else:
        raise ValueError(
            "n_labels must be a power of two, or one more than a prime of the form 4a + 3, "
            f"got {m}."
        )
    return Cover.from_matrix((signs[1:] > 0).astype(np.uint8), method="hadamard")


def _paley(q: int) -> NDArray[np.int64]:
    """Hadamard matrix of order q + 1 whose first row and column are ones."""
    square = np.full(q, -1)
    square[[x * x % q for x in range(1, q)]] = 1
    square[0] = -1
    signs = np.ones((q + 1, q + 1), dtype=np.int64)
    signs[1:, 1:] = square[np.subtract.outer(np.arange(q), np.arange(q)) % q]
    return signs


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))
