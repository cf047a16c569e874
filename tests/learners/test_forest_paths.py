"""The splits of a forest, followed one by one."""

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit

from labelcover.datasets import load
from labelcover.ensemble._views._rows_in_memory import ForestShares
from labelcover.learners import ReadTable
from labelcover.learners._forest.forest_kernels import node_means
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.learners._forest.swap_kernels import UNBENT, swap_parts


@pytest.fixture(scope="module", params=["dense", "sparse"])
def grown(request):
    data = load("debtags")
    X = data.X[:150].toarray() if sparse.issparse(data.X) else data.X[:150]
    if request.param == "dense":
        X = np.random.default_rng(0).normal(size=(150, 6)) + X[:, :6]
    Y = np.ascontiguousarray(data.Y[:150, :4])
    n_values = np.zeros(X.shape[1], dtype=np.int32)
    forest, _ = LabelForest(12).fit_labels(ReadTable(X, n_values), Y, seed=1)
    return forest, X, Y


def test_shares_of_nodes_are_those_of_their_leaves(grown):
    forest, _, Y = grown
    child, (start, end, rows, counts) = forest.nodes[0], forest.held

    def leaves(node):
        if child[node] < 0:
            return list(range(start[node], end[node]))
        return leaves(child[node]) + leaves(child[node] + 1)

    for node, share in enumerate(node_means(forest.roots, forest.held, Y[:, 1].astype(float))):
        at = leaves(node)
        assert share == pytest.approx(np.average(Y[rows[at], 1], weights=counts[at]))


def test_parts_are_shapley_values_between_the_origin_and_the_row():
    """By all orders in which the columns pass from the origin to the row."""
    random = np.random.default_rng(0)
    for words in (False, True):
        X = random.normal(size=(120, 5))
        X = np.where(X > 0.7, X, 0.0) if words else X
        Y = (X @ random.normal(size=(5, 3)) > 0.3).astype(np.uint8)
        forest, _ = LabelForest(6).fit_labels(ReadTable(X, np.zeros(5, np.int32)), Y, seed=1)
        assert forest.is_sparse == words
        origin = np.zeros(5) if words else X.mean(axis=0)
        rows, weights = np.array([3, 8, 50]), random.normal(size=(3, 3))
        paths = forest.paths(X)
        found = paths.combined(rows, weights).toarray()
        for at, i in enumerate(rows):
            expected = np.zeros(5)
            for order in permutations(range(5)):
                row = origin.copy()
                steps = [row.copy()]
                for f in order:
                    row[f] = X[i, f]
                    steps.append(row.copy())
                answers = forest.confidence(np.array(steps)) @ weights[at]
                expected[list(order)] += np.diff(answers) / 120
            np.testing.assert_allclose(found[at], expected, atol=1e-7)
        np.testing.assert_allclose(paths.starts, forest.confidence(origin[None])[0], atol=1e-12)


def test_parts_of_log_odds_are_shapley_values_too():
    """Of three words, whose six orders are all drawn; another label is explained beside it."""
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3)) * (random.random((120, 3)) < 0.7)
    Y = (X @ random.normal(size=(3, 2)) > 0.3).astype(np.uint8)
    read = ReadTable(sparse.csr_array(X), np.zeros(3, np.int32))
    forest, _ = LabelForest(40).fit_labels(read, Y, seed=1)
    assert forest.is_sparse
    shares, rows, least = ForestShares(forest, sparse.csr_array(X)), np.arange(120), 0.002
    weights = np.tile([0.0, -2.0], (120, 1)) + np.outer(np.arange(120) % 3, [1.0, 1.0])
    found = shares.of_log_odds(rows, weights, 1, least).toarray()

    def score(table, i):
        both, slope = forest.confidence(table), shares.slopes(rows[[i]], least)[0, 0]
        odds = logit((both[:, 1] + least) / (1 + 2 * least))
        return weights[i, 0] * slope * both[:, 0] + weights[i, 1] * odds

    for i, row in enumerate(X):
        expected = np.zeros(3)
        for order in permutations(range(3)):
            table = np.zeros((4, 3))
            for step, f in enumerate(order):
                table[step + 1 :, f] = row[f]
            expected[list(order)] += np.diff(score(sparse.csr_array(table), i)) / 6
        np.testing.assert_allclose(found[i], expected, atol=1e-4)
        alone = ForestShares(forest, sparse.csr_array(X[[i]]))
        own = alone.of_log_odds(np.arange(1), weights[[i]], 1, least)
        np.testing.assert_array_equal(own.toarray()[0], found[i])
    slopes = weights * shares.slopes(rows, least)
    total = (slopes * (shares.confidence - shares.starts)).sum(axis=1)
    np.testing.assert_allclose(found.sum(axis=1), total, atol=1e-4)


def test_the_origin_has_numbers_at_their_mean_and_words_absent():
    """As least squares has it: a dense table with few nonzeros, and the same stored as sparse."""
    random = np.random.default_rng(0)
    X = (random.random((80, 20)) < 0.1).astype(float)
    X[:, 0] = random.integers(5, 9, 80)
    Y = (X[:, 1:3] + (X[:, :1] > 6) > 0).astype(np.uint8)
    n_values = np.zeros(20, np.int32)
    for form, expected in ((np.asarray, X[:, 0].mean()), (sparse.csr_array, 0.0)):
        forest, _ = LabelForest(4).fit_labels(ReadTable(form(X), n_values), Y, seed=1)
        assert forest.is_sparse
        np.testing.assert_allclose(forest.origin, [expected] + [0.0] * 19, rtol=1e-6)
        origin = forest.origin[None].astype(float)
        np.testing.assert_allclose(forest.paths(form(X)).starts, forest.confidence(origin)[0])
        parts = forest.paths(form(X)).combined(np.arange(80), np.ones((80, 2)))
        way = (forest.confidence(form(X)) - forest.paths(form(X)).starts).sum(axis=1)
        np.testing.assert_allclose(np.asarray(parts.sum(axis=1)).ravel(), way, atol=1e-6)
    dense, _ = LabelForest(4).fit_labels(ReadTable(X + 0.5, n_values), Y, seed=1)
    np.testing.assert_allclose(dense.origin, (X + 0.5).mean(axis=0), rtol=1e-6)


def test_parts_add_up_and_those_of_some_rows_are_those_among_all(grown):
    forest, X, _ = grown
    every, some = np.arange(len(X)), np.array([9, 3, 3, 140])
    confidence = forest.confidence(X)
    for label in range(4):
        start, parts = forest.paths(X).of_label(label, every)
        assert start + parts.sum(axis=1) == pytest.approx(confidence[:, label], abs=1e-12)
        own_start, own = forest.paths(X).of_label(label, some)
        np.testing.assert_array_equal(own.toarray(), parts.toarray()[some])
        np.testing.assert_array_equal(own_start, start[some])
    none = forest.paths(X).of_label(0, np.zeros(0, np.int64))[1]
    assert none.shape == (0, X.shape[1])


def test_columns_in_which_a_long_path_parts_are_bounded():
    """A chain of 80 splits on different features: the first 64 share what changes."""
    n = 80
    child, feature = np.full(2 * n + 1, -1, np.int32), np.full(2 * n + 1, -1, np.int32)
    child[: 2 * n : 2], feature[: 2 * n : 2] = np.arange(1, 2 * n, 2), np.arange(n)
    nodes = child, feature, np.full(2 * n + 1, 0.5, np.float32)
    means = np.random.default_rng(0).random((1, 2 * n + 1))
    table = np.ones((1, n), np.float32), (np.zeros(0, np.float32), np.zeros(0, np.int32),
                                          np.zeros(0, np.int64))  # fmt: skip
    starts, one = np.array([0, 2 * n + 1]), np.ones((1, 1))
    data, indices, _ = swap_parts(
        table,
        np.zeros(n, np.float32),
        nodes,
        starts,
        means,
        one,
        np.zeros(1, np.int64),
        UNBENT,
    )
    assert data.sum() == pytest.approx(means[0, 2 * n] - means[0, 1])
    assert indices.max() == 63


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n_labels", [4, 24])
def test_means_are_followed_too_and_add_up_to_the_corrected_confidence(kind, n_labels):
    data = load("debtags")
    X = data.X[:200].toarray() if sparse.issparse(data.X) else np.asarray(data.X[:200])
    X = sparse.csr_array(X) if kind == "sparse" else X
    Y = np.ascontiguousarray(data.Y[:200, :n_labels])
    n_values = np.zeros(X.shape[1], dtype=np.int32)
    forest, _ = LabelForest(8, splits="means").fit_labels(ReadTable(X, n_values), Y, seed=1)
    confidence, rows = forest.confidence(X), np.arange(0, 200, 3)
    for label in range(3):
        start, parts = forest.paths(X).of_label(label, rows)
        total = start + parts.sum(axis=1)
        assert np.clip(total, 0, 1) == pytest.approx(confidence[rows, label], abs=1e-5)
        assert parts.count_nonzero() > len(rows)


def test_rows_that_share_leaves_are_similar(grown):
    forest, X, _ = grown
    shares = forest.row_shares(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    own = np.take_along_axis(shares, np.arange(len(X))[:, None], axis=1).ravel()
    assert (own >= np.median(shares, axis=1)).all()
