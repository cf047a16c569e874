"""Orthogonal arrays, Hadamard matrices, and the covers that their rows are (Section 2.2)."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import hadamard

from labelcover._arguments import check_integer
from labelcover.covers._cover import Cover
from labelcover.covers._designs.geometry import galois_field, prime_power

#: An array of more runs than this is refused.
MOST_RUNS = 1 << 20


def orthogonal_array(n_labels: int, strength: int = 2) -> NDArray[np.uint8]:
    """Return an orthogonal array OA(m, σ, 2, t): in any t columns, all 2^t rows equally often.

    Its entries are zeros and ones; the first row is zero. For strengths 2 and 3 it comes from a
    Hadamard matrix, with at most a few rows more than m and than 2m. Other arrays are linear: the
    sums of the rows of a matrix in which any t columns are independent, that of a BCH code, with
    about m^(t/2) rows, or all 2^m rows if those are fewer, or for m = t + 1 those with an even
    number of ones.

    References
    ----------
    Hedayat, A. S., Sloane, N. J. A., & Stufken, J. (1999). Orthogonal Arrays: Theory and
    Applications. Springer.

    Examples
    --------
    >>> from labelcover.covers._orthogonal_arrays import orthogonal_array
    >>> orthogonal_array(3, 2)
    array([[0, 0, 0],
           [1, 0, 1],
           [0, 1, 1],
           [1, 1, 0]], dtype=uint8)
    >>> orthogonal_array(19).shape, orthogonal_array(20, 3).shape, orthogonal_array(15, 4).shape
    ((20, 19), (40, 20), (256, 15))
    """
    m = check_integer("n_labels", n_labels, low=1)
    t = check_integer("strength", strength, low=1, high=m)
    if t not in (2, 3):
        return _sums_of_rows(_independent_columns(m, t))
    order = m + 3 - t
    while (signs := hadamard_matrix(order)) is None:
        order += 1
    if t == 2:
        return (signs[:, 1 : m + 1] < 0).astype(np.uint8)
    ones = (signs[:, :m] < 0).astype(np.uint8)
    return np.concatenate([ones, 1 - ones])


def orthogonal_array_cover(n_labels: int, strength: int = 2) -> Cover:
    """Return the rows of an orthogonal array as a cover, without its row of zeros.

    All labels are in equally many labelsets, and every combination of up to `strength` labels
    lies in equally many: for `strength` labels, a share 2^−strength of the runs. Labelsets differ
    in size; they hold about half of the labels, so that such a cover is of use for few labels or
    for members that do not mind many classes.

    Parameters
    ----------
    n_labels : int
        Number of labels m.
    strength : int, default=2
        How many labels are covered in any combination of ones and zeros.

    Examples
    --------
    >>> from labelcover.covers import orthogonal_array_cover
    >>> cover = orthogonal_array_cover(6)
    >>> cover
    Cover(n_labels=6, k=3 to 4, size=7, imbalance=0, method='orthogonal array')
    >>> cover.coverage(2)
    1.0
    """
    array = orthogonal_array(n_labels, strength)
    return Cover.from_matrix(array[array.any(axis=1)], method="orthogonal array")


def _independent_columns(m: int, t: int) -> NDArray[np.uint8]:
    """Return a matrix over the field of two elements in which any t columns are independent."""
    if m <= t + 1:
        # All rows, or all rows with an even number of ones.
        return np.eye(t, m, dtype=np.uint8) | (np.arange(m) == t).astype(np.uint8)
    powers = [2 * i + 1 for i in range(t // 2)]
    q = max(1, (m - t % 2).bit_length())  # 2^q − 1 ≥ m non-zero elements, or 2^q ≥ m in all
    field = galois_field(2**q)
    elements = np.arange(m) if t % 2 else np.arange(1, m + 1)
    numbers = [field.power(elements, e) for e in powers]
    rows = [number >> bit & 1 for number in numbers for bit in range(q)]
    if t % 2:
        rows.append(np.ones(m, dtype=np.int64))
    parity = _reduced(np.array(rows, dtype=np.uint8))
    return parity if len(parity) < m else np.eye(m, dtype=np.uint8)


def _reduced(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return independent rows with the same sums (Gauss, modulo 2)."""
    rows, rank = rows.copy(), 0
    for column in range(rows.shape[1]):
        below = np.flatnonzero(rows[rank:, column])
        if len(below) == 0:
            continue
        rows[[rank, rank + below[0]]] = rows[[rank + below[0], rank]]
        others = np.flatnonzero(rows[:, column])
        rows[others[others != rank]] ^= rows[rank]
        rank += 1
        if rank == len(rows):
            break
    return rows[:rank]


def _sums_of_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return all sums of rows modulo 2."""
    if 2 ** len(rows) > MOST_RUNS:
        raise ValueError(
            f"n_labels={rows.shape[1]} at this strength needs 2^{len(rows)} runs, at most "
            f"{MOST_RUNS} are accepted; lower strength."
        )
    sums = np.zeros((1, rows.shape[1]), dtype=np.uint8)
    for row in rows[::-1]:
        sums = np.concatenate([sums, sums ^ row])
    return sums


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
    >>> from labelcover.covers._orthogonal_arrays import hadamard_matrix
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
        signs = np.ones((order, order), dtype=np.int64)
        signs[1:, 1:] = _residues(order - 1, at_zero=-1)
        return signs
    if order % 8 == 4 and prime_power(order // 2 - 1) is not None:
        return _paley_2(order // 2 - 1)
    half = hadamard_matrix(order // 2)
    return None if half is None else np.kron([[1, 1], [1, -1]], half)


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
    """Return 1 where the difference of row and column is a square in the field of q, else −1."""
    field, elements = galois_field(q), np.arange(q)
    square = np.full(q, -1)
    square[field.multiply(elements, elements)] = 1
    square[0] = at_zero
    return square[field.subtract(elements[:, None], elements[None])]
