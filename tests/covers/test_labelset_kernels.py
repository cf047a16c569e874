from itertools import combinations
from math import comb

import numpy as np
import pytest

from labelcover.covers.labelset_kernels import (
    binomial_table,
    count_new,
    labelset_ranks,
    mark_covered,
    rename_table,
    take_combinations,
    unrank_labelsets,
)


def plain_rank(labels):
    return sum(comb(label, i + 1) for i, label in enumerate(sorted(labels)))


@pytest.mark.parametrize(("m", "r"), [(1, 1), (6, 1), (7, 2), (8, 3), (7, 7)])
def test_ranks_are_those_of_the_definition_and_can_be_undone(m, r):
    sets = list(combinations(range(m), r))
    ranks = labelset_ranks(np.array(sets, dtype=np.int32), r)
    assert ranks.tolist() == [plain_rank(s) for s in sets]
    assert sorted(ranks.tolist()) == list(range(comb(m, r)))
    assert unrank_labelsets(ranks, m, r).tolist() == [list(s) for s in sets]


def test_the_binomial_table():
    assert binomial_table(9, 4).tolist() == [[comb(a, b) for b in range(5)] for a in range(10)]


def test_new_and_covered_labelsets_are_counted():
    rows = np.array([[0, 2, 4], [1, 2, 4]], dtype=np.int32)
    rows.setflags(write=False)
    covered = np.zeros(comb(5, 2), dtype=bool)
    mark_covered(rows[:1], 2, covered)
    assert np.flatnonzero(covered).tolist() == sorted(
        plain_rank(pair) for pair in combinations((0, 2, 4), 2)
    )
    assert count_new(rows, 2, covered).tolist() == [0, 2]


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_rows_that_end_in_no_label_count_as_what_they_hold(r):
    rows = np.array([[0, 2, 4, 5], [1, -1, -1, -1], [3, 4, 5, -1], [0, 1, -1, -1]], dtype=np.int32)
    subsets = [list(combinations([x for x in row if x >= 0], r)) for row in rows.tolist()]
    assert labelset_ranks(rows, r).tolist() == [plain_rank(s) for each in subsets for s in each]
    covered = np.zeros(comb(6, r), dtype=bool)
    mark_covered(rows[:1], r, covered)
    new = [len(set(each) - set(subsets[0])) for each in subsets]
    assert count_new(rows, r, covered).tolist() == new


def test_combinations_come_in_blocks_and_in_order():
    positions = np.arange(3)
    found = []
    while positions[0] >= 0:
        found += take_combinations(positions, 6, 7).tolist()
    assert found == [list(s) for s in combinations(range(6), 3)]


def test_renaming_moves_coverage_with_the_labels():
    rng = np.random.RandomState(0)
    covered = rng.random_sample(comb(6, 3)) < 0.5
    names = rng.permutation(6)
    renamed = rename_table(covered, names, 3)
    for s in combinations(range(6), 3):
        assert renamed[plain_rank(s)] == covered[plain_rank(names[list(s)].tolist())]
