"""Labelsets that occur together, against counting them one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelcover.dependence import cooccurrences


def counted_one_by_one(Y, r, min_count):
    found = {}
    for labels in combinations(range(Y.shape[1]), r):
        count = int(Y[:, labels].all(axis=1).sum())
        if count >= min_count:
            found[labels] = count
    return found


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    m=st.integers(1, 9),
    r=st.integers(1, 5),
    min_count=st.integers(1, 6),
    density=st.floats(0.05, 0.95),
)
def test_all_labelsets_that_occur_together_are_found_and_counted(seed, m, r, min_count, density):
    Y = (np.random.default_rng(seed).random((40, m)) < density).astype(np.uint8)
    labelsets, counts = cooccurrences(Y, r, min_count=min_count)
    expected = counted_one_by_one(Y, r, min_count)
    assert [tuple(labels) for labels in labelsets.tolist()] == list(expected)
    assert counts.tolist() == list(expected.values())


def test_sparse_dense_boolean_and_unsorted_tables_give_the_same():
    Y = (np.random.default_rng(0).random((60, 8)) < 0.4).astype(np.uint8)
    coordinates = sparse.coo_array(Y)
    order = np.random.default_rng(1).permutation(coordinates.nnz)
    shuffled = sparse.csr_array(
        (coordinates.data[order], (coordinates.row[order], coordinates.col[order])), Y.shape
    )
    for table in (Y.astype(bool), Y.astype(float), sparse.csc_matrix(Y), shuffled):
        for got, want in zip(cooccurrences(table, 3), cooccurrences(Y, 3), strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_wide_sparse_table_needs_no_table_of_all_labelsets():
    # 10^5 labels have 1.7·10^14 triples.
    rows = np.repeat(np.arange(20), 3)
    columns = np.tile([7, 50_000, 99_999], 20)
    Y = sparse.csr_array((np.ones(60, dtype=np.uint8), (rows, columns)), (20, 100_000))
    labelsets, counts = cooccurrences(Y, 3)
    assert labelsets.tolist() == [[7, 50_000, 99_999]]
    assert counts.tolist() == [20]


def test_the_callers_sparse_table_is_left_alone():
    Y = sparse.csr_array(
        (np.array([1, 0, 1], dtype=np.uint8), np.array([2, 1, 0]), np.array([0, 3])), (1, 3)
    )
    cooccurrences(Y, 2, min_count=1)
    assert Y.indices.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("Y", "said"),
    [
        ([[0, 2]], "got 2"),
        ([[0, float("nan")]], "got nan"),
        ([0, 1], "shape"),
        (np.empty((0, 3)), "shape"),
        ([["a", "b"]], "Y must hold only 0 and 1, got 'a'"),
        ([[0, None]], "Y must hold only 0 and 1, got None"),
        ([[0], [0, 1]], "rows of different lengths"),
        (sparse.csr_array([[0, 3]]), "got 3"),
    ],
)
def test_tables_that_are_not_zeros_and_ones_are_refused(Y, said):
    with pytest.raises(ValueError, match=said):
        cooccurrences(Y)


def test_orders_that_cannot_be_numbered_are_refused():
    with pytest.raises(ValueError, match="r=9"):
        cooccurrences(sparse.csr_array((5, 100_000), dtype=np.uint8), 9)
