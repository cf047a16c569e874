"""One table of numbers, however it is stored: one model, and one prediction."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelcover import BalancorClassifier, LabelCoverClassifier
from labelcover.learners import LeastSquaresClassifier, LogisticClassifier, SMOClassifier


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 5))
    Y = (X @ random.normal(size=(5, 4)) + 0.5 * random.normal(size=(60, 4)) > 0.3).astype(int)
    return X, Y


@pytest.fixture
def mostly_zeros(data):
    X = np.where(np.random.default_rng(1).random(data[0].shape) < 0.8, 0, data[0])
    return X, data[1]


@pytest.mark.parametrize(
    "model",
    [
        LabelCoverClassifier(random_state=0),
        LabelCoverClassifier(LeastSquaresClassifier(kernel="linear"), random_state=0),
        BalancorClassifier(random_state=0),
    ],
    ids=["pool", "linear", "BALANCOR"],
)
def test_new_rows_may_be_sparse_where_training_rows_were_dense(model, data):
    X, Y = data
    expected = model.fit(X, Y).predict_proba(X)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_array_equal(model.predict_proba(kind(X)), expected)


@pytest.mark.parametrize("kind", [LeastSquaresClassifier, LogisticClassifier, SMOClassifier])
def test_new_rows_of_a_member_may_be_sparse_where_training_rows_were_dense(kind, data):
    X, Y = data
    member = kind().fit(X, Y[:, 0])
    expected = member.predict_proba(X)
    np.testing.assert_allclose(member.predict_proba(sparse.csr_array(X)), expected, atol=1e-12)


def stored_zeros(X):
    n, d = X.shape
    return sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)))


def backwards(X):
    """Return the cells of each row from the last to the first."""
    table = sparse.csr_array(X[:, ::-1])
    table.sort_indices()
    columns = (X.shape[1] - 1 - table.indices).astype(np.int32)
    return sparse.csr_array((table.data, columns, table.indptr), shape=X.shape)


def in_halves(X):
    """Return every cell twice, with half of its number."""
    table = sparse.csr_array(X)
    halves = np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), 2 * table.indptr
    return sparse.csr_array(halves, shape=X.shape)


@pytest.mark.parametrize("stored", [stored_zeros, backwards, in_halves])
def test_the_order_of_cells_and_stored_zeros_change_nothing(stored, mostly_zeros):
    X, Y = mostly_zeros
    table = stored(X)
    before = table.data.copy(), table.indices.copy()
    model = LabelCoverClassifier(random_state=0).fit(sparse.csr_array(X), Y)
    expected = model.predict_proba(sparse.csr_array(X))
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    np.testing.assert_array_equal(model.fit(table, Y).predict_proba(table), expected)
    for was, now in zip(before, (table.data, table.indices), strict=True):
        np.testing.assert_array_equal(now, was)  # what the user gave is left alone


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_numbers_beyond_single_precision_are_named(kind, data):
    X, Y = data
    large = X.copy()
    large[7, 3] = -1e40
    model = LabelCoverClassifier(random_state=0)
    with pytest.raises(ValueError, match=r"at most 3.4e\+38 in size, got 1e\+40 in column 3"):
        model.fit(kind(large), Y)
    model.fit(kind(X), Y)
    for rows in (slice(7, 8), slice(None)):
        with pytest.raises(ValueError, match="got 1e\\+40 in column 3"):
            model.predict(kind(large[rows]))
