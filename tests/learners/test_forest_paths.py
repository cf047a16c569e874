"""The splits of a forest, followed one by one."""

import numpy as np
import pytest
from scipy import sparse

from labelcover.datasets import load
from labelcover.learners._forest.feature_forest import ForestPaths, directions
from labelcover.learners._forest.forest_kernels import node_shares
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
        shares, weights = node_shares(tree, rows, counts, Y[:, 1].astype(bool))
        assert shares == pytest.approx(plain_shares(tree, rows, counts, Y[:, 1]))
        assert weights[0] == counts.sum()


def test_paths_add_up_to_the_confidence_and_follow_every_split(grown):
    forest, X, Y = grown
    paths = ForestPaths(forest, X)
    confidence = forest.confidence(X)
    turned = forest.rare.transform(X).astype(np.float32)
    for label in range(4):
        start, shares = paths.of_label(label)
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


def test_the_direction_of_a_feature_is_that_of_its_effect():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 5))
    X[:, 4] = random.random(300) < 0.9  # a flag that is mostly 1, which the forest turns
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] < 0, X[:, 4] == 1]).astype(np.uint8)
    forest = LabelForest(20, max_features=5).fit_labels(X, Y, np.zeros(5, np.int32), seed=0)
    found = np.array([directions(forest, label) for label in range(3)])
    assert np.abs(found).argmax(axis=1).tolist() == [0, 1, 4]
    assert found[0, 0] > 0 > found[1, 1]
    assert found[2, 4] > 0
