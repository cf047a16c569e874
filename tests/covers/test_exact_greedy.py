"""The greedy strategies choose the exact best labelset, the first of equals: Algorithms 4 and 5."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from labelcover.covers import balancor_cover, balco_cover, inlac_cover

PROBLEMS = [
    (m, k, r) for m in range(3, 10) for k in range(2, min(m, 5) + 1) for r in range(1, k + 1)
]  # fmt: skip


def by_exhaustion(m, k, r, gain, balance, size):
    """The first `size` labelsets of a greedy that looks at every labelset at every step."""
    left = np.array(list(combinations(range(m), k)))
    new = [set(combinations(labels, r)) for labels in left.tolist()]
    has = (left[:, :, None] == np.arange(m)).any(axis=1)
    counts, rows = np.zeros(m, dtype=int), []
    for _ in range(size):
        worths = gain * np.array([*map(len, new)]) - balance * np.ptp(counts + has, axis=1)
        best = int(np.argmax(worths))
        counts += has[best]
        rows.append(left[best].tolist())
        left, has = np.delete(left, best, axis=0), np.delete(has, best, axis=0)
        covered = new.pop(best)
        new = [tuples - covered for tuples in new]
    return rows


@pytest.mark.parametrize(("m", "k", "r"), PROBLEMS)
def test_every_choice_is_that_of_exhaustive_search(m, k, r):
    size = min(comb(m, k), 25)
    inlac = inlac_cover(m, k, r, size=size).labelsets.tolist()
    assert inlac == by_exhaustion(m, k, r, 1, 0, size)
    balancor = balancor_cover(m, k, r, size=size).labelsets.tolist()
    assert balancor == by_exhaustion(m, k, r, 1, 1, size)
    balco = balco_cover(m, k, r, size=size, balanced=False).labelsets.tolist()
    assert balco == by_exhaustion(m, k, r, 0, 1, size)


@pytest.mark.parametrize(("m", "k", "r", "size"), [(15, 4, 2, 20), (11, 5, 3, 20), (18, 3, 2, 30)])
def test_every_choice_is_that_of_exhaustive_search_among_more_labels(m, k, r, size):
    balancor = balancor_cover(m, k, r, size=size).labelsets.tolist()
    assert balancor == by_exhaustion(m, k, r, 1, 1, size)


def test_at_random_the_worth_of_every_choice_is_that_of_exhaustive_search():
    m, k, r = 9, 3, 2
    for seed in range(5):
        rows = balancor_cover(m, k, r, ties="random", random_state=seed).labelsets.tolist()
        covered, counts, left = set(), np.zeros(m, dtype=int), set(combinations(range(m), k))
        for row in rows:
            worths = {
                labels: len(set(combinations(labels, r)) - covered)
                - np.ptp(counts + np.isin(np.arange(m), labels))
                for labels in left
            }
            assert worths[tuple(row)] == max(worths.values())
            left.remove(tuple(row))
            covered.update(combinations(row, r))
            counts[row] += 1
