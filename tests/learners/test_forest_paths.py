"""The splits of a forest, followed one by one."""

import numpy as np
import pytest
from scipy import sparse

from labelcover.datasets import load
from labelcover.learners._forest.forest_kernels import node_means, path_parts
from labelcover.learners._forest.label_forest import LabelForest


@pytest.fixture(scope="module", params=["dense", "sparse"])
def grown(request):
    data = load("debtags")
    X = data.X[:150].toarray() if sparse.issparse(data.X) else data.X[:150]
    if request.param == "dense":
        X = np.random.default_rng(0).normal(size=(150, 6)) + X[:, :6]
    Y = np.ascontiguousarray(data.Y[:150, :4])
    n_values = np.zeros(X.shape[1], dtype=np.int32)
    return LabelForest(12).fit_labels(X, Y, n_values, seed=1), X, Y


def plain_shares(tree, rows, counts, holds):
    """Return the share of a label in every node, by the rows of its leaves."""
    feature, _, left, right = tree

    def leaves(node):
        if feature[node] < 0:
            return list(range(left[node], right[node]))
        return leaves(left[node]) + leaves(right[node])

    shares = []
    for node in range(len(feature)):
        at = leaves(node)
        weights = counts[at]
        shares.append((weights * holds[rows[at]]).sum() / weights.sum())
    return np.array(shares)


def test_shares_of_nodes_are_those_of_their_leaves(grown):
    forest, _, Y = grown
    for tree, rows, counts in forest.trees:
        shares = node_means(tree, rows, counts, Y[:, 1].astype(float))
        assert shares == pytest.approx(plain_shares(tree, rows, counts, Y[:, 1]))


def test_paths_add_up_to_the_confidence_and_follow_every_split(grown):
    forest, X, Y = grown
    paths, every = forest.paths(X), np.arange(len(X))
    confidence = forest.confidence(X)
    turned = forest.rare.transform(X).astype(np.float32)
    for label in range(4):
        start, parts = paths.of_label(label, every)
        shares = parts.toarray()
        assert start + shares.sum(axis=1) == pytest.approx(confidence[:, label], abs=1e-12)
        expected = np.zeros(X.shape[1])
        for tree, rows, counts in forest.trees:
            feature, threshold, left, right = tree
            of_node = plain_shares(tree, rows, counts, Y[:, label])
            node = 0
            while feature[node] >= 0:
                f = feature[node]
                child = left[node] if turned[7, f] <= threshold[node] else right[node]
                expected[f] += (of_node[child] - of_node[node]) / len(forest.trees)
                node = child
        assert shares[7] == pytest.approx(expected, abs=1e-12)


def test_paths_of_some_rows_are_those_among_all(grown):
    forest, X, _ = grown
    some = np.array([9, 3, 3, 140])
    start, every = forest.paths(X).of_label(1, np.arange(len(X)))
    own_start, own = forest.paths(X).of_label(1, some)
    np.testing.assert_array_equal(own.toarray(), every.toarray()[some])
    np.testing.assert_array_equal(own_start, start[some])
    *nodes, _, _, node_starts, _ = forest.stack
    means = np.concatenate([np.zeros(len(tree[0])) for tree, _, _ in forest.trees])
    data, _, indptr = path_parts(
        forest.read(X), X.shape[1], tuple(nodes), node_starts, means, np.zeros(0, np.int64)
    )
    assert len(data) == 0
    assert indptr.tolist() == [0]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n_labels", [4, 24])
def test_means_are_followed_too_and_add_up_to_the_corrected_confidence(kind, n_labels):
    data = load("debtags")
    X = data.X[:200].toarray() if sparse.issparse(data.X) else np.asarray(data.X[:200])
    X = sparse.csr_array(X) if kind == "sparse" else X
    Y = np.ascontiguousarray(data.Y[:200, :n_labels])
    n_values = np.zeros(X.shape[1], dtype=np.int32)
    forest = LabelForest(8, splits="means").fit_labels(X, Y, n_values, seed=1)
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
