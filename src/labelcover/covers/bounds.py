"""How many labelsets a cover needs, and how likely random labelsets are to be one.

Lemma 1 and the bound of Section 4.2 assume labelsets drawn *with* replacement. RAKEL draws
distinct labelsets, for which they are not bounds: with m=6, k=3 and 15 of the 20 labelsets,
all pairs are covered with probability 0.984, while Lemma 1 gives at most 0.587.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_integer


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
    m, k, r = _check(n_labels, k, r)
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
    m, k, r = _check(n_labels, k, r)
    size = 1
    for i in range(r - 1, -1, -1):
        size = -(-(m - i) * size // (k - i))
    return size


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
    m, k, _ = _check(n_labels, k, 1)
    sigma = _check_size(size)
    out = m - k
    # Chances that a random labelset covers neither pair, by how many labels it takes of them:
    # [k]_b [m−k]_(a−b) / [m]_a, with falling factorials, for b given labels of a.
    one = _log_ratio(_falling(out, 2) + 2 * k * out, _falling(m, 2))
    disjoint = _log_ratio(
        _falling(out, 4) + 4 * k * _falling(out, 3) + 4 * _falling(k, 2) * _falling(out, 2),
        _falling(m, 4),
    )
    touching = _log_ratio(
        _falling(out, 3) + 3 * k * _falling(out, 2) + _falling(k, 2) * out, _falling(m, 3)
    )
    log_s1 = _log(comb(m, 2)) + _times(sigma, one)
    log_s2 = np.logaddexp(
        _log(3 * comb(m, 4)) + _times(sigma, disjoint),
        _log(3 * comb(m, 3)) + _times(sigma, touching),
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
    m, k, _ = _check(n_labels, k, 1)
    sigma = _check_size(size)
    out = m - k
    log_s1 = _log(m) + _times(sigma, _log_ratio(out, m))
    log_s2 = _log(comb(m, 2)) + _times(sigma, _log_ratio(_falling(out, 2), _falling(m, 2)))
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


def _check(n_labels: int, k: int, r: int) -> tuple[int, int, int]:
    m = check_integer("n_labels", n_labels, low=1)
    k = check_integer("k", k, low=1, high=m)
    return m, k, check_integer("r", r, low=1, high=k)


def _check_size(size: ArrayLike) -> NDArray[np.float64]:
    sigma = np.asarray(size)
    if sigma.dtype.kind not in "iu" or (sigma < 0).any():
        raise ValueError(f"size must hold integers of at least 0, got {size!r}.")
    return sigma.astype(float)


def _falling(x: int, length: int) -> int:
    """``x (x−1) … (x−length+1)``, and 0 once a factor is not positive."""
    result = 1
    for i in range(length):
        result *= max(x - i, 0)
    return result


def _log(x: int) -> float:
    return log(x) if x > 0 else -np.inf


def _log_ratio(numerator: int, denominator: int) -> float:
    return _log(numerator) - _log(denominator) if denominator else -np.inf


def _times(sigma: NDArray[np.float64], log_chance: float):
    """``σ · log p`` with ``0 · log 0 = 0``."""
    with np.errstate(invalid="ignore"):
        return np.where(sigma == 0, 0.0, sigma * log_chance)
