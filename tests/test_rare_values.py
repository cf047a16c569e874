import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelcover._table_numbers import RareValues, binary_columns

KINDS = [np.asarray, sparse.csr_array, sparse.csr_matrix]


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def mixed_table(seed, n=30):
    """Return rare, frequent and constant 0/1 columns beside numbers, with an empty row."""
    random = np.random.default_rng(seed)
    rare = random.random((n, 3)) < 0.2
    frequent = random.random((n, 4)) < 0.9
    constant = np.tile([0.0, 1.0, 2.0], (n, 1))
    numbers = random.normal(size=(n, 2)) * (random.random((n, 2)) < 0.5)
    X = np.hstack([frequent, rare, constant, numbers])
    X = X[:, random.permutation(X.shape[1])]
    X[0] = 0
    return X


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_ones_are_never_more_than_half_of_a_binary_column(kind, seed, n):
    X = mixed_table(seed, n)
    rare = RareValues().fit(kind(X))
    read = rare.transform(kind(X))
    is_binary = np.isin(X, [0, 1]).all(axis=0)
    np.testing.assert_array_equal(rare.binary, is_binary)
    flipped = is_binary & (X.mean(axis=0) > 0.5)
    np.testing.assert_array_equal(dense(read), np.where(flipped, 1 - X, X))
    assert type(read) is type(kind(X))


@pytest.mark.parametrize("kind", KINDS)
def test_new_rows_are_read_as_training_rows_were(kind):
    X = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 3.0]])
    rare = RareValues().fit(kind(X))
    new = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.5, -1.0, 7.0]])
    expected = [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.5, 2.0, 7.0]]
    np.testing.assert_array_equal(dense(rare.transform(kind(new))), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_half_ones_stay_and_weights_count(kind):
    X = np.array([[1.0], [0.0]])
    assert not RareValues().fit(kind(X)).flipped.any()
    assert RareValues().fit(kind(X), np.array([1.5, 1.0])).flipped.all()
    assert not RareValues().fit(kind(X), np.array([1.0, 1.5])).flipped.any()


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_not_changed_and_not_copied_without_need(kind):
    X = kind(np.array([[1.0, 0.0], [1.0, 2.0], [0.0, 0.0]]))
    before = dense(X).copy()
    RareValues().fit(X).transform(X)
    np.testing.assert_array_equal(dense(X), before)
    words = kind(np.eye(4))
    assert RareValues().fit(words).transform(words) is words


def test_columns_of_ones_become_sparse():
    X = np.ones((50, 400))
    X[np.arange(50), np.arange(50)] = 0
    table = sparse.csr_array(X)
    read = RareValues().fit(table).transform(table)
    assert read.nnz == 50
    assert read.has_canonical_format
    read.check_format()


def test_explicit_zeros_are_zeros():
    X = sparse.csr_array((np.array([0.0, 1.0, 1.0]), ([0, 1, 2], [0, 0, 0])), shape=(3, 2))
    rare = RareValues().fit(X)
    assert binary_columns(X).all()
    np.testing.assert_array_equal(rare.transform(X).toarray(), [[1, 0], [0, 0], [0, 0]])
