"""The check that a label table holds zeros and ones, for every kind of table."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelcover._label_values import as_booleans, as_table, label_rows

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
