"""The greedy strategies choose the exact best labelset, the first of equals: Algorithms 4 and 5."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from labelcover.covers import balancor_cover, balco_cover, inlac_cover
from labelcover.covers._greedy_kernels import (
    Kind,
    Task,
    first_labelset,
    is_chosen,
)
from labelcover.covers._labelset_kernels import binomial_table
from labelcover.covers._problem import State, set_cover

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


@pytest.mark.parametrize("k", [1, 2, 4])
def test_chosen_labelsets_are_found_again_and_no_others(k):
    table = binomial_table(9, k)
    labelsets = list(combinations(range(9), k))
    some = np.random.default_rng(k).permutation(len(labelsets))[: len(labelsets) // 2]
    chosen = np.sort([rank(labelsets[i]) for i in some])
    found = [i for i in range(len(labelsets)) if is_chosen(chosen, np.array(labelsets[i]), table)]
    assert found == sorted(some.tolist())


@pytest.mark.parametrize("k", [2, 4])
def test_a_cover_in_the_making_knows_its_labelsets_of_all_sizes(k):
    sizes = range(1, k + 1)
    every = [np.array(s, dtype=np.int32) for size in sizes for s in combinations(range(7), size)]
    table = np.array([np.pad(labels, (0, k - len(labels)), constant_values=-1) for labels in every])
    some = np.random.default_rng(k).permutation(len(every))[: len(every) // 2]
    state = State(set_cover(7, k, 2, None), [every[i] for i in some] + [np.arange(k + 1)])
    assert np.flatnonzero(state.has(table)).tolist() == sorted(some.tolist())


def rank(labels):
    return sum(comb(label, i + 1) for i, label in enumerate(sorted(labels)))


@pytest.mark.parametrize("seed", range(40))
def test_the_first_labelset_that_gains_enough_is_found(seed):
    """Every argument of the compiled search against looking at all labelsets in order."""
    rng = np.random.default_rng(seed)
    m, r = 8, 1 + seed % 3
    k = int(rng.integers(r, 6))
    covered = rng.random(comb(m, r)) < 0.6
    names = rng.permutation(m)
    order = rng.permutation(m)
    n_required = int(rng.integers(0, min(k, 2) + 1)) if seed % 2 else 0
    required, labels = np.sort(order[:n_required]), np.sort(order[n_required : m - seed % 2])
    together, apart = np.zeros((2, m, m), dtype=bool)
    constrained = seed % 4 == 0
    if constrained:
        together[0, 3] = together[3, 0] = apart[1, 6] = apart[6, 1] = True
    least = int(rng.integers(0, comb(k, r) + 1))
    chosen = np.array([rng.permutation(m)[:k] for _ in range(5)])
    covered[[rank(s) for labelset in chosen.tolist() for s in combinations(labelset, r)]] = True
    taken = np.unique(np.sort(names[chosen], axis=1), axis=0)
    bounds = np.full(m, comb(k, r), np.int32)
    ranks = np.sort([rank(row) for row in taken.tolist()])
    task = Task(covered, k, r, True, ranks, names, constrained, together, apart)
    found = first_labelset(task, least, Kind(0, labels, required, bounds))

    def is_right(labelset):
        inside = np.isin(np.arange(m), labelset)
        return (
            set(required) <= set(labelset) <= {*required, *labels}
            and sum(not covered[rank(s)] for s in combinations(labelset, r)) >= least
            and not any(np.array_equal(np.sort(names[list(labelset)]), row) for row in taken)
            and not (apart & np.outer(inside, inside)).any()
            and not (together & np.outer(inside, ~inside)).any()
        )

    expected = next(filter(is_right, combinations(range(m), k)), None)
    assert sorted(found.tolist()) == list(expected or [])
