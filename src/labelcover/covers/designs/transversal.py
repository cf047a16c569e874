"""Transversal designs: k groups of g points, each pair from two groups in one block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from labelcover.covers.designs.fields import galois_field, smallest_prime_factor


def most_groups(g: int) -> int:
    """Return the largest k for which `transversal_design` can make a TD(k, g).

    One more than the smallest prime power in the factorisation of `g` (MacNeish 1922).
    """
    return min(prime_power_factors(g)) + 1


def prime_power_factors(g: int) -> list[int]:
    """Return the prime powers whose product is `g`, each of a different prime."""
    factors = []
    while g > 1:
        p = smallest_prime_factor(g)
        q = 1
        while g % p == 0:
            g //= p
            q *= p
        factors.append(q)
    return factors


def transversal_design(k: int, g: int) -> NDArray[np.int64]:
    """Return TD(k, g) as ``(g², k)``: which of its g points each block takes from each group.

    For a prime power block ``(a, b)`` takes ``a·x + b`` from the group of the field's element x
    and ``a`` from one group more (Bose 1938); a product of prime powers is made component by
    component (MacNeish 1922).
    """
    if k > most_groups(g):
        raise ValueError(f"k must be at most {most_groups(g)} for g={g}, got {k}.")
    design = np.zeros((1, k), dtype=np.int64)
    for q in prime_power_factors(g):
        factor = _over_field(k, q)
        design = (design[:, None, :] * q + factor[None, :, :]).reshape(-1, k)
    return design


def _over_field(k: int, q: int) -> NDArray[np.int64]:
    field = galois_field(q)
    a, b = np.divmod(np.arange(q * q), q)
    columns = [field.add(field.multiply(a, x), b) for x in range(min(k, q))]
    if k == q + 1:
        columns.append(a)
    return np.column_stack(columns)
