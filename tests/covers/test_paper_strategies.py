"""INLAC, BALANCOR and the literal BALCO against Algorithms 4 and 5, written down plainly."""

from itertools import combinations
from math import comb

import pytest

from labelcover.covers import balancor_cover, balco_cover, inlac_cover

# All problems with up to nine labels and r from 2 to 4: 85 of them.
PROBLEMS = [(m, k, r) for r in (2, 3, 4) for m in range(r, 10) for k in range(r, m + 1)]


def imbalance(counts):
    return max(counts) - min(counts)


def added(counts, labels):
    return [count + (label in labels) for label, count in enumerate(counts)]


def enumerated(m, k, r, cost, size=None):
    """Choose the first labelset of least cost, of those not chosen, until all is covered."""
    left = list(combinations(range(m), k))
    inside = {s: set(combinations(s, r)) for s in left}
    uncovered, counts, chosen = set(combinations(range(m), r)), [0] * m, []
    while uncovered if size is None else len(chosen) < size:
        costs = [cost(len(inside[s] & uncovered), imbalance(added(counts, s))) for s in left]
        best = left.pop(costs.index(min(costs)))
        uncovered -= inside[best]
        counts = added(counts, best)
        chosen.append(list(best))
    return chosen


@pytest.mark.parametrize(("m", "k", "r"), PROBLEMS)
def test_strategies_equal_a_plain_enumeration(m, k, r):
    inlac = enumerated(m, k, r, lambda new, imb: -new)
    assert inlac_cover(m, k, r).labelsets.tolist() == inlac
    balancor = enumerated(m, k, r, lambda new, imb: imb - new)
    assert balancor_cover(m, k, r).labelsets.tolist() == balancor
    size = min(comb(m, k), 15)
    balco = enumerated(m, k, r, lambda new, imb: imb, size)
    assert balco_cover(m, k, r, size=size, balanced=False).labelsets.tolist() == balco
