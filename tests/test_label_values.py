"""The check that a label table holds zeros and ones, for every kind of table; equal rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelcover._label_values import (
    alike_rows,
    as_booleans,
    as_table,
    label_pair,
    label_rows,
    split_unknown,
)

BITS = np.array([[0, 1, 1], [1, 0, 0]])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, object])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_zeros_and_ones_of_every_dtype_are_taken(dtype, kind):
    if dtype is object and kind is not np.asarray:
        return  # SciPy has no sparse tables of objects
    table = kind(BITS.astype(dtype))
    found = as_booleans(table)
    assert found.dtype == bool
    np.testing.assert_array_equal(found, BITS)
    rows = label_rows(table)
    assert rows.dtype == np.uint8
    np.testing.assert_array_equal(rows.toarray(), BITS)


def test_objects_may_be_any_numbers_and_booleans():
    mixed = np.array([[True, 0.0, np.int64(1)], [np.bool_(False), 1, np.float32(0)]], dtype=object)
    np.testing.assert_array_equal(as_booleans(mixed), [[1, 0, 1], [0, 1, 0]])
    frame = pd.DataFrame(BITS).astype("Int64")
    np.testing.assert_array_equal(label_rows(frame).toarray(), BITS)


NOT_KNOWN = [[1, None, 0], [None, None, 1]]


@pytest.mark.parametrize(
    "make",
    [
        lambda cells: cells,
        lambda cells: np.array(cells, dtype=float),
        lambda cells: pd.DataFrame(cells),
        lambda cells: pd.DataFrame(cells).astype("Int8"),
        lambda cells: pd.DataFrame(cells).astype("boolean"),
        lambda cells: pl.DataFrame(cells, orient="row"),
        lambda cells: pl.DataFrame(cells, orient="row").cast(pl.Boolean),
    ],
)
def test_unknown_cells_of_every_kind_of_table_are_split_off(make):
    table, known = split_unknown(make(NOT_KNOWN))
    np.testing.assert_array_equal(known, [[1, 0, 1], [0, 0, 1]])
    np.testing.assert_array_equal(as_booleans(table), [[1, 0, 0], [0, 0, 1]])


def test_unknown_cells_of_other_pairs_are_the_lower_value():
    table, known = split_unknown([["yes", None], ["no", "no"]])
    assert label_pair(table).tolist() == ["no", "yes"]
    np.testing.assert_array_equal(as_booleans(table, pair=label_pair(table)), [[1, 0], [0, 0]])
    np.testing.assert_array_equal(known, [[1, 0], [1, 1]])
    table, _ = split_unknown(np.array([[-1.0, np.nan], [1.0, 1.0]]))
    np.testing.assert_array_equal(table, [[-1, -1], [1, 1]])


def test_a_table_that_is_all_known_or_all_unknown_is_split_too():
    table, known = split_unknown(BITS)
    assert table is BITS
    assert known is None
    stored = sparse.csr_array(BITS)
    assert split_unknown(stored) == (stored, None)
    table, known = split_unknown(np.full((2, 2), np.nan))
    assert not known.any()
    assert not table.any()
    with pytest.raises(ValueError, match="Y must not hold NaN where it is sparse: give a dense"):
        split_unknown(sparse.coo_array(np.array([[np.nan, 1.0]])))


def test_booleans_are_not_copied():
    table = BITS.astype(bool)
    assert as_booleans(table) is table


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[0, 2]], "2"),
        ([[0.5, 1]], "0.5"),
        ([[np.nan, 1]], "nan"),
        ([["0", "1"]], "'0'"),
        ([[None, 1]], "None"),
        ([[pd.NA, 1]], "<NA>"),
        ([[{"rock"}, 1]], "{'rock'}"),
    ],
)
def test_another_value_is_named_and_a_remedy_too(values, said):
    table = np.array(values, dtype=object if said in ("None", "<NA>", "{'rock'}") else None)
    with pytest.raises(ValueError, match=f"^T must hold only 0 and 1, got {said}.*Binarizer"):
        as_booleans(table, "T")
    with pytest.raises(ValueError, match=f"^T must hold only 0 and 1, got {said}.*Binarizer"):
        label_rows(table, "T")


def test_a_cell_given_twice_is_not_a_one():
    twice = sparse.coo_array((np.ones(2, dtype=int), ([0, 0], [1, 1])), (2, 3))
    with pytest.raises(ValueError, match="got 2"):
        label_rows(twice)


@pytest.mark.parametrize("shape", [(3,), (0, 3), (3, 0), (1, 2, 3)])
def test_what_is_no_table_is_refused_with_its_shape(shape):
    with pytest.raises(ValueError, match="Y must be a table of at least one row and one label"):
        as_table(np.zeros(shape))


def test_rows_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="Y must be a table, got rows of different lengths"):
        label_rows([["rock"], ["jazz", "live"]])


def groups_by_dictionary(rows):
    numbers, first = {}, []
    for i, row in enumerate(map(tuple, rows.tolist())):
        if row not in numbers:
            numbers[row] = len(first)
            first.append(i)
    return [numbers[row] for row in map(tuple, rows.tolist())], first


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 5), st.integers(1, 4))
def test_alike_rows_are_grouped_in_the_order_of_their_first(seed, n, width, n_values):
    rows = np.random.default_rng(seed).integers(-1, n_values, size=(n, width), dtype=np.int32)
    group, first = alike_rows(rows)
    assert group.dtype == first.dtype == np.int64
    assert (group.tolist(), first.tolist()) == groups_by_dictionary(rows)
