"""How many labelsets a cover needs, and how likely random labelsets are to be one.

Lemma 1 and the bound of Section 4.2 assume labelsets drawn *with* replacement. RAKEL draws
distinct labelsets, for which they are not bounds: with m=6, k=3 and 15 of the 20 labelsets,
all pairs are covered with probability 0.984, while Lemma 1 gives at most 0.587.
"""

from fractions import Fraction
from functools import cache
from math import comb, isqrt, log, perm
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from labelcover._arguments import check_integer

__all__ = [
    "cover_size_bounds",
    "lower_bound",
    "missing_label_probability",
    "pair_coverage_probability",
    "schonheim_bound",
    "smallest_cover_size",
]


def cover_size_bounds(n_labels: int, k: int, r: int = 2) -> tuple[int, int]:
    """Return the least and greatest number of labelsets that Lemma 2 allows.

    ``C(m, r) / C(k, r) ≤ σ ≤ m/k + C(m, r) − (m/k)·C(k, r)``, rounded up and down. The proof of
    the right-hand side assumes that k divides m; where it does not and r = 1, the right-hand side
    rounds to one less than the left, which is then given for both.

    Examples
    --------
    >>> from labelcover.covers.bounds import cover_size_bounds
    >>> cover_size_bounds(14, 3)
    (31, 81)
    """
    m, k, r = check_order(n_labels, k, r)
    lower = -(-comb(m, r) // comb(k, r))
    upper = Fraction(m, k) + comb(m, r) - Fraction(m, k) * comb(k, r)
    return lower, max(lower, int(upper))


def schonheim_bound(n_labels: int, k: int, r: int = 2) -> int:
    """Return Schönheim's lower bound on the size of a cover.

    Every label must be covered together with all (r−1)-labelsets of the others, so
    ``C(m, k, r) ≥ ⌈m/k · C(m−1, k−1, r−1)⌉``, applied r times.

    Examples
    --------
    >>> from labelcover.covers.bounds import schonheim_bound
    >>> schonheim_bound(983, 6)
    32276
    """
    m, k, r = check_order(n_labels, k, r)
    size = 1
    for i in range(r - 1, -1, -1):
        size = -(-(m - i) * size // (k - i))
    return size


def lower_bound(n_labels: int, k: int, r: int = 2) -> int:
    """Return the best lower bound on the size of a cover that the library knows.

    The greatest of Schönheim's bound applied to improved values of itself, and

    - de Caen's (1983): ``(r+1)(m−r) C(m, r) / ((k+1)(m−k) C(k, r))``;
    - for r=2 Hanani's: one more than Schönheim's if k−1 divides m−1 and ``m(m−1) ≡ 1 (mod k)``;
    - for r=2 Fisher's inequality for covers (Bose 1949, Horsley 2017);
    - for r=2 the ratios m/k up to which 3 … 13 labelsets suffice (Mills 1979, Todorov 1985);
    - for k=4, r=2 Mills' exceptions to Schönheim's bound (`smallest_cover_size`);
    - one more than Schönheim's where it could only be met by a finite plane
      or semiplane that does not exist (Bruck & Ryser 1949; order 10: Lam, Thiel & Swiercz 1989;
      Bose & Connor 1952).

    A cover of m labels has a cover of m−1 labels in it, and with one label more in every labelset
    it is one of m+1 labels; bounds for these are bounds for it.

    Examples
    --------
    >>> from labelcover.covers.bounds import lower_bound
    >>> lower_bound(28, 8), schonheim_bound(28, 8)
    (16, 14)
    """
    return _improved_bound(*check_order(n_labels, k, r))


def smallest_cover_size(n_labels: int, k: int, r: int = 2) -> int | None:
    """Return the size C(m, k, r) of the smallest cover if a theorem gives it for every m.

    That is so for r = 1 and r = k, and for pairs with k = 3 and k = 4: Schönheim's bound, but
    for k = 4 one more for m = 7, 9 and 10 and two more for m = 19. Otherwise ``None``.

    References
    ----------
    Fort & Hedlund (1958), "Minimal coverings of pairs by triples", Pacific Journal of
    Mathematics 8.
    Mills (1978), "On the covering of pairs by quadruples I", Journal of Combinatorial Theory A
    25; "... II" (1979), ibid. 26.

    Examples
    --------
    >>> from labelcover.covers.bounds import smallest_cover_size
    >>> smallest_cover_size(19, 4), smallest_cover_size(31, 4), smallest_cover_size(31, 5)
    (31, 78, None)
    """
    m, k, r = check_order(n_labels, k, r)
    if r in (1, k) or (r == 2 and k in (3, 4)):
        return schonheim_bound(m, k, r) + (_ABOVE_SCHONHEIM.get(m, 0) if (k, r) == (4, 2) else 0)
    return None


# How many labelsets more than Schönheim's bound a cover of all pairs by quadruples needs.
_ABOVE_SCHONHEIM = {7: 1, 9: 1, 10: 1, 19: 2}
# The neighbours (m−i, k) and (m+i, k+i) whose bounds are looked at.
_NEIGHBOURS = 3
# 3, 4, … 13 labelsets of k labels cover the pairs of at most a/b·k labels.
_PARTS = (3, 2), (5, 3), (9, 5), (2, 1), (7, 3), (12, 5), (5, 2), (8, 3), (14, 5), (3, 1), (13, 4)


@cache
def _improved_bound(m: int, k: int, r: int) -> int:
    best = _own_bound(m, k, r)
    for i in range(1, _NEIGHBOURS + 1):
        if m - i >= k:
            best = max(best, _own_bound(m - i, k, r))
        best = max(best, _own_bound(m + i, k + i, r))
    return best


@cache
def _own_bound(m: int, k: int, r: int) -> int:
    if m == k:
        return 1
    if r == 1:
        return -(-m // k)
    best = -(-m * _improved_bound(m - 1, k - 1, r - 1) // k)
    best = max(best, -(-(r + 1) * (m - r) * comb(m, r) // ((k + 1) * (m - k) * comb(k, r))))
    return max(best, _pair_bound(m, k)) if r == 2 and k > 2 else best


def _pair_bound(m: int, k: int) -> int:
    """Return the bounds that hold for r=2 only."""
    # Every label lies in `degree` labelsets or more; there `excess` pairs are covered again.
    degree = -(-(m - 1) // (k - 1))
    excess = degree * (k - 1) - (m - 1)
    best = schonheim_bound(m, k) + _ABOVE_SCHONHEIM.get(m, 0) if k == 4 else 0
    if excess == 0 and (m * (m - 1) % k == 1 or _is_missing_plane(m, k)):
        best = max(best, -(-m * degree // k) + 1)
    if m == k * (k - 1) and _is_missing_semiplane(k):
        best = max(best, m + 1)
    best = max(best, _fisher_bound(m, k, degree, excess))
    return max(best, *(n for n, (a, b) in enumerate(_PARTS, 4) if m * b > a * k), 0)


def _is_missing_plane(m: int, k: int) -> bool:
    """Whether a cover without excess would be a plane of an order n for which there is none."""
    n = k if m == k * k else k - 1
    if m not in (n * n, n * n + n + 1):
        return False
    if n % 4 in (1, 2):
        squares = {i * i for i in range(n + 1)}
        return n == 10 or not any(n - s in squares for s in squares)
    return False


def _is_missing_semiplane(k: int) -> bool:
    """Whether ``m = k(k−1)`` labels need more than m labelsets (Bose & Connor 1952).

    With m of them all labels have degree k, and the excess graph is a perfect matching. Then
    ``N Nᵗ = (k−1) I + J + A`` for a square matrix N, and its determinant
    ``k² · k^(m/2−1) · (k−2)^(m/2)`` is a square.
    """
    half = k * (k - 1) // 2
    determinant = k ** (half - 1) * (k - 2) ** half
    return isqrt(determinant) ** 2 != determinant


def _fisher_bound(m: int, k: int, degree: int, excess: int) -> int:
    """Return a bound from the rank of the cover's matrix.

    Let S be the labels of the least possible degree. Its labels share 1 labelset, or more where
    they are joined in the excess graph, whose degrees on S are `excess`. By Lovász (1966) S falls
    into t parts in each of which these degrees are below ``degree − 1``, and then the matrix of
    shared labelsets of a part is positive definite, so no part has more labels than the cover
    has labelsets: ``|S| ≤ tσ``. All other labels have a higher degree, hence
    ``kσ ≥ (degree+1) m − |S|``.
    """
    parts = -(-(excess + 1) // max(degree - 1, 1))
    return -(-m * (degree + 1) // (k + parts))


def pair_coverage_probability(n_labels: int, k: int, size: ArrayLike) -> NDArray[np.float64]:
    """Return Lemma 1's upper bound on the probability that random labelsets cover all pairs.

    Parameters
    ----------
    n_labels, k : int
        Labels m and labels in a labelset.
    size : int or array-like of int
        Number of labelsets σ, drawn with replacement.

    Returns
    -------
    float or ndarray of the shape of `size`

    Notes
    -----
    The bound is Dawson and Sankoff's inequality for the events "pair i is not covered". It is
    for labelsets drawn *with* replacement and does not hold for RAKEL's distinct labelsets.

    Examples
    --------
    >>> from labelcover.covers.bounds import pair_coverage_probability
    >>> round(float(pair_coverage_probability(6, 3, 15)), 3)
    0.587
    """
    m, k, _ = check_order(n_labels, k, 1)
    sigma = _check_size(size)
    out = m - k
    # Chances that a random labelset covers neither pair, by how many labels it takes of them:
    # [k]_b [m−k]_(a−b) / [m]_a, with falling factorials, for b given labels of a.
    one = perm(out, 2) + 2 * k * out
    disjoint = perm(out, 4) + 4 * k * perm(out, 3) + 4 * perm(k, 2) * perm(out, 2)
    touching = perm(out, 3) + 3 * k * perm(out, 2) + perm(k, 2) * out
    log_s1 = _log_sum(comb(m, 2), one, perm(m, 2), sigma)
    log_s2 = np.logaddexp(
        _log_sum(3 * comb(m, 4), disjoint, perm(m, 4), sigma),
        _log_sum(3 * comb(m, 3), touching, perm(m, 3), sigma),
    )
    return 1.0 - _union_probability(log_s1, log_s2)


def missing_label_probability(n_labels: int, k: int, size: ArrayLike) -> NDArray[np.float64]:
    """Return the lower bound of Section 4.2 on the probability that some label is in no labelset.

    Parameters and notes are those of `pair_coverage_probability`: the bound is for labelsets
    drawn *with* replacement, not for RAKEL's distinct ones.

    Examples
    --------
    >>> from labelcover.covers.bounds import missing_label_probability
    >>> round(float(missing_label_probability(100, 3, 100)), 4)
    0.8618
    """
    m, k, _ = check_order(n_labels, k, 1)
    sigma = _check_size(size)
    out = m - k
    log_s1 = _log_sum(m, out, m, sigma)
    log_s2 = _log_sum(comb(m, 2), perm(out, 2), perm(m, 2), sigma)
    return _union_probability(log_s1, log_s2)


def _union_probability(log_s1, log_s2):
    """Dawson and Sankoff's lower bound on the probability of at least one of many events.

    ``2/(h+1)·S1 − 2/(h(h+1))·S2`` with ``h = 1 + ⌊2·S2/S1⌋``, where S1 is the sum of the events'
    probabilities and S2 that of the pairs'. Written as ``S1·2/(h+1)·(1 − S2/(S1·h))``, so that
    only a ratio of sums is needed, from their logarithms.
    """
    with np.errstate(invalid="ignore"):
        ratio = np.where(np.isneginf(log_s2), 0.0, np.exp(log_s2 - log_s1))
    h = 1.0 + np.floor(2.0 * ratio)
    bound = np.exp(log_s1) * 2.0 / (h + 1.0) * (1.0 - ratio / h)
    return np.clip(bound, 0.0, 1.0)[()]


def check_order(n_labels: int, k: int, r: int) -> tuple[int, int, int]:
    """Return the arguments as integers if 1 ≤ r ≤ k ≤ n_labels."""
    m = check_integer("n_labels", n_labels, low=1)
    k = check_integer("k", k, low=1, high=m)
    return m, k, check_integer("r", r, low=1, high=k)


def _check_size(size: ArrayLike) -> NDArray[np.float64]:
    sigma = np.asarray(size)
    if sigma.dtype.kind not in "iu" or (sigma < 0).any():
        raise ValueError(f"size must hold integers of at least 0, got {size!r}.")
    return sigma.astype(float)


def _log_sum(count: int, part: int, whole: int, sigma: NDArray[np.float64]) -> Any:
    """Return the logarithm of ``count · (part / whole)**σ``, with ``0**0 = 1``."""
    return log(count) + xlogy(sigma, part / whole) if count else -np.inf
