"""Nearest training rows of sparse tables, their labels, and rows left out."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logit

from labelcover.learners import _nearest_rows as nearest_rows
from labelcover.learners._features import csr_arrays
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._forest.swap_kernels import orders_of
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


def votes_of_rows(kind, seed=3):
    """Neighbours among rows no two of which are alike, and a few new rows as they are found by."""
    random = np.random.default_rng(seed)
    X = random.poisson(0.18, (170, 20)) * random.uniform(0.5, 2, (170, 20))
    X = X * random.choice([-1, 1], X.shape) if kind == "numbers" else X
    Y = (random.random((170, 3)) < [0.1, 0.4, 0.7]).astype(np.uint8)
    weights = random.uniform(0.5, 2, 170) if kind == "weights" else None
    cells = (random.random(Y.shape) < 0.6) * random.uniform(0.5, 2, Y.shape)
    cells = cells if kind == "unknown" else None
    read = ReadTable(sparse.csr_array(X), np.zeros(20, np.int32))
    near = NearestRows(read, Y if cells is None else Y * (cells > 0), weights=weights, cells=cells)
    new = X[:6] * random.uniform(0.5, 2, (6, 20)) * (np.arange(20) < 12)
    new[0] = 0
    return near, near.scaled(sparse.csr_array(new)), new


@pytest.mark.parametrize("kind", ["words", "numbers", "weights", "unknown"])
def test_parts_of_votes_are_shapley_values(kind, monkeypatch):
    near, table, new = votes_of_rows(kind)

    def every(n, most_steps=0):
        return np.array(list(permutations(range(n))), dtype=np.int64)

    monkeypatch.setattr(nearest_rows, "orders_of", every)
    weights, least = np.array([1.0, -2.0, 0.0]), 0.01

    def score(rows):
        shares = (near._shares(rows, np.full(rows.shape[0], -1)) + least) / (1 + 2 * least)
        return logit(shares) @ weights

    confidence = near._shares(table, np.full(table.shape[0], -1))
    found = near.parts(table, confidence, np.tile(weights, (len(new), 1)), least).toarray()
    for i, row in enumerate(table.toarray()):
        columns = np.flatnonzero(row)
        expected = np.zeros(len(row))
        for order in every(len(columns)):
            masked = np.zeros((len(columns) + 1, len(row)), np.float32)
            for step, t in enumerate(order):
                masked[step + 1 :, columns[t]] = row[columns[t]]
            expected[columns[order]] += np.diff(score(sparse.csr_array(masked)))
        expected /= max(1, len(every(len(columns))))
        np.testing.assert_allclose(found[i], expected, atol=1e-5)


def test_parts_of_votes_add_up_and_are_those_of_a_row_alone():
    near, table, new = votes_of_rows("numbers")
    confidence, least = near._shares(table, np.full(table.shape[0], -1)), 0.001
    weights = np.random.default_rng(0).normal(size=(len(new), 3))
    found = near.parts(table, confidence, weights, least).toarray()
    ends, origin = (logit((x + least) / (1 + 2 * least)) for x in (confidence, near.frequency))
    np.testing.assert_allclose(found.sum(axis=1), ((ends - origin) * weights).sum(axis=1))
    for i in range(len(new)):
        own = near.parts(table[[i]], confidence[[i]], weights[[i]], least)
        np.testing.assert_array_equal(own.toarray()[0], found[i])


@pytest.mark.parametrize("n", [1, 2, 7, 40, 300])
def test_orders_are_orders_their_reverses_and_always_the_same(n):
    orders = orders_of(n, 320)
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(n), (len(orders), 1)))
    half = len(orders) // 2
    np.testing.assert_array_equal(orders[half:], orders[:half, ::-1])
    if half >= n:
        places = np.array([np.bincount(column, minlength=n) for column in orders[:n].T])
        np.testing.assert_array_equal(places, 1)
    np.testing.assert_array_equal(orders_of(n, 320), orders)
