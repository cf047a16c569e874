"""Nearest training rows of sparse tables, their labels, and rows left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelcover.learners import _nearest_rows as nearest_rows
from labelcover.learners._features import csr_arrays
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._nearest_rows import N_NEIGHBOURS, NearestRows
from labelcover.learners._neighbour_kernels import neighbours_of


def words(n=120, d=30, m=4, seed=0):
    """Rows of counts, mostly 0, with labels that depend on them."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.12, (n, d)).astype(float)
    Y = (X @ random.random((d, m)) > 1.5).astype(np.uint8)
    return X, Y


def fitted(X, Y, weights=None, seed=0):
    numbers = np.zeros(X.shape[1], np.int32)
    return NearestRows(ReadTable(X, numbers), Y, weights=weights, seed=seed)


def plain_shares(X, Y, queries, own, weights):
    """The definition: cosines of weighted words, the 30 greatest, their cubes as votes."""
    n = len(X)
    held = (X != 0).sum(axis=0)
    factors = np.where(held > n / 4, 0, np.log((n + 1) / (held + 1)))
    lengths = [np.linalg.norm(table * factors, axis=1) for table in (X, queries)]
    rows, asked = (
        table * factors / np.where(length > 0, length, 1)[:, None]
        for table, length in zip((X, queries), lengths, strict=True)
    )
    cosines = asked @ rows.T
    cosines[own >= 0, own[own >= 0]] = 0
    frequency = (Y.sum(axis=0) + 0.5) / (n + 1)
    found = np.empty((len(queries), Y.shape[1]))
    for i, row in enumerate(cosines):
        nearest = [j for j in np.argsort(-row, kind="stable")[:N_NEIGHBOURS] if row[j] > 1e-7]
        votes = row[nearest] ** 3 * weights[nearest]
        prior = votes.max(initial=0) or 1.0
        found[i] = (votes @ Y[nearest] + prior * frequency) / (votes.sum() + prior)
    return found


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_shares_are_those_of_the_definition(kind):
    X, Y = words()
    weights = np.random.default_rng(1).uniform(0.5, 2, 100)
    near = fitted(kind(X[:100]), Y[:100], weights)
    want = plain_shares(X[:100], Y[:100], X[100:], np.full(20, -1), weights)
    np.testing.assert_allclose(near.confidence(kind(X[100:])), want, atol=1e-5)
    asked = np.array([7, 3, 99])
    want = plain_shares(X[:100], Y[:100], X[asked], asked, weights)
    np.testing.assert_allclose(near.left_out(asked), want, atol=1e-5)


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 40))
def test_neighbours_are_the_greatest_cosines_in_order(seed, most, n):
    random = np.random.default_rng(seed)
    table = random.integers(0, 3, (n, 5)) * (random.random((n, 5)) < 0.5)
    rows = sparse.csr_array(table.astype(np.float32))
    found, cosines = neighbours_of(
        csr_arrays(rows), csr_arrays(sparse.csc_array(rows)), n, np.arange(n), most
    )
    products = table @ table.T
    np.fill_diagonal(products, 0)
    for i in range(n):
        order = np.argsort(-products[i], kind="stable")[:most]
        order = order[products[i][order] > 0]
        np.testing.assert_array_equal(found[i][found[i] >= 0], order)
        np.testing.assert_array_equal(cosines[i][: len(order)], products[i][order])


def test_a_row_like_no_other_gets_the_frequencies():
    X, Y = words()
    near = fitted(sparse.csr_array(X), Y)
    empty = sparse.csr_array((2, X.shape[1]))
    np.testing.assert_array_equal(near.confidence(empty), np.tile(near.frequency, (2, 1)))


def test_a_training_row_left_out_is_not_its_own_neighbour():
    X = np.eye(6)[np.repeat(np.arange(6), 2)]
    Y = np.zeros((12, 1), np.uint8)
    Y[0] = 1  # of two rows that are the same
    near = fitted(sparse.csr_array(X), Y)
    first, second = near.left_out(np.array([0, 1]))[:, 0]
    assert first < 0.1 < 0.5 < second


def test_of_many_rows_a_sample_is_held(monkeypatch):
    monkeypatch.setattr(nearest_rows, "MOST_ROWS", 40)
    X, Y = words()
    near = fitted(sparse.csr_array(X), Y)
    assert len(near.rows) == 40 == len(np.unique(near.rows))
    all_rows = np.arange(len(X))
    shares = near.left_out(all_rows)
    # Rows that are not held are asked for as new ones are.
    others = np.setdiff1d(all_rows, near.rows)
    np.testing.assert_array_equal(shares[others], near.confidence(sparse.csr_array(X[others])))
    again = fitted(sparse.csr_array(X), Y)
    np.testing.assert_array_equal(again.rows, near.rows)
    assert (fitted(sparse.csr_array(X), Y, seed=1).rows != near.rows).any()


def test_rows_in_parts_are_answered_as_all_are():
    X, Y = words()
    near, asked = fitted(sparse.csr_array(X), Y), np.arange(len(X))
    parts = [near.left_out(part) for part in np.array_split(asked, 4)]
    np.testing.assert_array_equal(np.concatenate(parts), near.left_out(asked))


def test_a_word_in_most_rows_counts_by_its_absence():
    X, Y = words()
    X = (X > 0).astype(float)
    turned = X.copy()
    turned[:, 0] = 1 - X[:, 0]
    one, other = (fitted(sparse.csr_array(table), Y) for table in (X, turned))
    np.testing.assert_array_equal(one.confidence(X), other.confidence(turned))
