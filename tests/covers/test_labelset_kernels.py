from itertools import combinations
from math import comb

import numpy as np
import pytest

from labelcover.covers._greedy import renamed
from labelcover.covers._labelset_kernels import (
    add_closed,
    binomial_table,
    labelset_ranks,
    next_combination,
    rank_with,
    row_length,
    unrank_into,
    unrank_labelsets,
)
from labelcover.covers._labelset_table import (
    labelsets_in_order,
    marked,
    rows_of_ranks,
    times_covered,
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


def test_combinations_follow_each_other_in_order():
    positions, found = np.arange(3), [[0, 1, 2]]
    while next_combination(positions, 6):
        found.append(positions.tolist())
    assert found == [list(s) for s in combinations(range(6), 3)]


@pytest.mark.parametrize("r", [1, 2, 3, 4])
def test_rows_that_end_in_no_label_count_as_what_they_hold(r):
    rows = np.array([[0, 2, 4, 5], [1, -1, -1, -1], [3, 4, 5, -1], [0, 1, -1, -1]], dtype=np.int32)
    rows.setflags(write=False)
    assert [row_length(rows, i) for i in range(4)] == [4, 1, 3, 2]
    subsets = [list(combinations([x for x in row if x >= 0], r)) for row in rows.tolist()]
    assert labelset_ranks(rows, r).tolist() == [plain_rank(s) for each in subsets for s in each]
    assert rows_of_ranks(rows, r).tolist() == [i for i, each in enumerate(subsets) for _ in each]
    covered = np.zeros(comb(6, r), dtype=bool)
    marked(rows, r, covered)
    assert set(np.flatnonzero(covered)) == {plain_rank(s) for each in subsets for s in each}


def test_r_labelsets_are_counted_whatever_the_order_of_labels():
    rows = np.array([[4, 0, -1], [-1, 2, 3], [0, 4, 2]], dtype=np.int32)
    counts = dict.fromkeys(range(comb(5, 2)), 0)
    for row in rows.tolist():
        for pair in combinations([x for x in row if x >= 0], 2):
            counts[plain_rank(pair)] += 1
    assert times_covered(rows, 5, 2).tolist() == list(counts.values())


def test_labelsets_come_in_blocks_and_in_lexicographic_order():
    blocks = [labelsets_in_order(6, 3, begin, min(begin + 7, 20)) for begin in range(0, 20, 7)]
    found = [row for block in blocks for row in block.tolist()]
    assert found == [list(s) for s in combinations(range(6), 3)]


def test_the_rank_of_labels_and_one_more():
    table = binomial_table(7, 3)
    for chosen in combinations(range(7), 2):
        for label in range(7):
            expected = -1 if label in chosen else plain_rank([*chosen, label])
            assert rank_with(np.array(chosen), label, table) == expected


@pytest.mark.parametrize("r", [2, 3, 4])
def test_what_a_label_closes_with_a_prefix_and_another_is_counted(r):
    rng = np.random.default_rng(r)
    covered = rng.random(comb(8, r)) < 0.5
    prefix, v, labels = np.array([6, 1, 3]), 4, np.array([0, 2, 5, 7])
    closes = np.ones(4, dtype=np.int64)
    add_closed(covered, prefix, 3, v, r, binomial_table(8, r), labels, closes)
    for label, count in zip(labels, closes, strict=True):
        sets = [(*some, v, label) for some in combinations(prefix, r - 2)]
        assert count == 1 + sum(not covered[plain_rank(s)] for s in sets)


def test_a_rank_is_undone_into_given_places():
    out = np.zeros(3, dtype=np.int32)
    unrank_into(plain_rank([1, 4, 6]), binomial_table(7, 3), out)
    assert out.tolist() == [1, 4, 6]


def test_renaming_moves_coverage_with_the_labels():
    rng = np.random.RandomState(0)
    covered = rng.random_sample(comb(6, 3)) < 0.5
    names = rng.permutation(6)
    found = renamed(covered, names, 3)
    for s in combinations(range(6), 3):
        assert found[plain_rank(s)] == covered[plain_rank(names[list(s)].tolist())]
