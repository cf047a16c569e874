"""The binary matrices of Tables 2 and 3, and covers from such matrices (Section 2.2)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_integer
from labelcover.covers._cover import Cover

__all__ = ["A_19_10_8", "HADAMARD_8", "rows_of_weight"]

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

    For matrices whose rows differ in weight, where labelsets of one size are wanted.

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
