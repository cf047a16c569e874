"""HOMER: the division of labels, the tree, and the descent."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.covers import Cover
from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.methods import BinaryRelevanceClassifier, HomerClassifier
from labelcover.methods._homer import (
    CLUSTERINGS,
    LabelNode,
    LabelTree,
    balanced_k_means,
    divide_evenly,
    grow_tree,
)
from labelcover.metrics import micro_f1
from labelcover.models import load_model, save_model


@pytest.fixture(scope="module")
def problem():
    return make_multilabel_classification(200, 8, n_classes=11, n_labels=3, random_state=3)


# Balanced k-means


@given(
    n=st.integers(1, 30),
    n_clusters=st.integers(1, 30),
    seed=st.integers(0, 2**31),
    levels=st.integers(1, 4),
)
def test_clusters_are_a_partition_into_sizes_that_differ_by_at_most_one(
    n, n_clusters, seed, levels
):
    n_clusters = min(n, n_clusters)
    random = np.random.default_rng(seed)
    points = random.integers(0, levels, (n, 3)).astype(float)  # few levels: many ties
    clusters = balanced_k_means(points, n_clusters, random)
    sizes = [len(cluster) for cluster in clusters]
    assert len(sizes) == n_clusters
    assert max(sizes) - min(sizes) <= 1
    assert sorted(np.concatenate(clusters)) == list(range(n))


def published_division(distances):
    """Return the division of one round, by sorted lists, as the authors write it."""
    distances = distances.copy()
    n, n_clusters = distances.shape
    lists = [[] for _ in range(n_clusters)]
    for point in range(n):
        moving = point
        while moving is not None:
            j = int(np.argmin(distances[moving]))
            place = sum(distances[other, j] <= distances[moving, j] for other in lists[j])
            lists[j].insert(place, moving)
            moving = None
            if len(lists[j]) > -(-n // n_clusters):
                moving = lists[j].pop()
                distances[moving, j] = np.inf
    return [sorted(each) for each in lists]


@given(n_clusters=st.integers(1, 6), times=st.integers(1, 6), seed=st.integers(0, 2**31))
def test_a_round_is_the_published_one_where_the_sizes_are_all_equal(n_clusters, times, seed):
    distances = np.random.default_rng(seed).random((n_clusters * times, n_clusters))
    found = [cluster.tolist() for cluster in divide_evenly(distances)]
    assert found == published_division(distances)


def test_clusters_that_are_apart_and_of_equal_size_are_found():
    random = np.random.default_rng(0)
    truth = random.permutation(np.repeat(np.arange(4), 6))
    points = random.normal(size=(24, 5)) + 20 * np.eye(5)[truth]
    best = min(
        (balanced_k_means(points, 4, np.random.default_rng(seed)) for seed in range(10)),
        key=lambda clusters: sum(points[c].var(axis=0).sum() for c in clusters),
    )
    assert sorted(c.tolist() for c in best) == sorted(
        np.flatnonzero(truth == t).tolist() for t in range(4)
    )


# The tree


@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize("clusters", [2, 3, 5, 20])
def test_children_divide_the_labels_of_every_node(clustering, clusters, problem):
    _, Y = problem
    names = [f"l{j}" for j in range(11)]
    random = np.random.default_rng(0)
    tree = grow_tree(Y, names, clusters=clusters, clustering=clustering, random=random)
    assert tree.nodes[0].labels == tuple(range(11))
    for node in tree.nodes:
        parts = [tree.nodes[child].labels for child in node.children]
        if not parts:
            assert len(node.labels) == 1
            continue
        assert 2 <= len(parts) <= clusters or len(node.labels) <= clusters
        assert sorted(label for part in parts for label in part) == list(node.labels)
        if clustering != "k-means":
            assert max(map(len, parts)) - min(map(len, parts)) <= 1
            assert len(parts) == min(clusters, len(node.labels))
    assert sorted(node.labels[0] for node in tree.nodes if not node.children) == list(range(11))
    assert str(tree).count("\n") == len(tree.nodes) - 1
    assert all(name in str(tree).split() for name in names)


def test_similar_labels_share_a_set():
    random = np.random.default_rng(0)
    groups = random.integers(0, 2, (300, 3))
    Y = np.repeat(groups, 4, axis=1)
    Y = np.where(random.random(Y.shape) < 0.05, 1 - Y, Y).astype(np.uint8)
    for clustering in ("balanced", "k-means"):
        found = [
            grow_tree(
                Y, "abcdefghijkl", clusters=3, clustering=clustering,
                random=np.random.default_rng(seed),
            )
            for seed in range(5)
        ]  # fmt: skip
        truth = [(0, 1, 2, 3), (4, 5, 6, 7), (8, 9, 10, 11)]
        tops = [sorted(tree.nodes[c].labels for c in tree.nodes[0].children) for tree in found]
        assert truth in tops


@pytest.mark.parametrize("clustering", CLUSTERINGS)
def test_labels_that_agree_in_every_row_are_divided_too(clustering):
    Y = np.ones((5, 9), dtype=np.uint8)
    Y[0] = 0
    tree = grow_tree(
        Y, "abcdefghi", clusters=2, clustering=clustering, random=np.random.default_rng(0)
    )
    assert len(tree.nodes) == 17


def test_plain_k_means_is_that_of_scikit_learn(problem):
    _, Y = problem
    tree = grow_tree(
        Y, [""] * 11, clusters=3, clustering="k-means", random=np.random.default_rng(0)
    )
    seed = int(np.random.default_rng(0).integers(2**31))
    found = KMeans(3, random_state=seed).fit_predict(Y.T.astype(float)[:, Y.any(axis=1)])
    top = sorted(tree.nodes[c].labels for c in tree.nodes[0].children)
    assert top == sorted(tuple(np.flatnonzero(found == c)) for c in range(3))


@pytest.mark.parametrize("clustering", ["balanced", "k-means"])
def test_a_weight_is_a_number_of_rows_in_the_division(problem, clustering):
    _, Y = problem
    counts = np.random.default_rng(4).integers(1, 9, len(Y))
    tree, repeated = (
        grow_tree(
            table, "abcdefghijk", weights=weights, clusters=3, clustering=clustering,
            random=np.random.default_rng(0),
        )
        for table, weights in ((Y, counts.astype(float)), (np.repeat(Y, counts, axis=0), None))
    )  # fmt: skip
    assert tree == repeated


def test_a_very_deep_tree_can_be_drawn_and_pickled():
    """Plain k-means may set apart one label at a time, deeper than Python can recurse."""
    m = 1_500
    nodes = [LabelNode(tuple(range(m)), (1, 2))]
    for j in range(m - 2):
        nodes.append(LabelNode((j,)))
        nodes.append(LabelNode(tuple(range(j + 1, m)), (2 * j + 3, 2 * j + 4)))
    nodes += [LabelNode((m - 2,)), LabelNode((m - 1,))]
    tree = LabelTree(tuple(nodes), tuple(f"l{j}" for j in range(m)))
    assert str(pickle.loads(pickle.dumps(tree))).endswith("└── l1499")
    assert tree.nested()[1][0] == "l1"


# The estimator


@pytest.mark.parametrize(
    "member",
    [DecisionTreeClassifier(random_state=0), LogisticRegression(), LeastSquaresClassifier()],
    ids=["tree", "logistic", "least squares"],
)
def test_with_one_level_homer_is_binary_relevance(problem, member):
    X, Y = problem
    flat = HomerClassifier(member, clusters=11, random_state=0).fit(X, Y)
    plain = BinaryRelevanceClassifier(member, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(flat.predict_proba(X), plain.predict_proba(X))
    assert not any(node.children for node in flat.tree_.nodes[1:])


def by_hand(model, X, Y, fit):
    """Return the predictions of a descent that fits and asks one node after another."""
    tree = model.tree_
    predicted = np.zeros_like(Y)

    def descend(i, rows):
        node = tree.nodes[i]
        kept = Y[:, node.labels].any(axis=1) if i else np.ones(len(Y), dtype=bool)
        on = np.column_stack([Y[:, tree.nodes[c].labels].any(axis=1) for c in node.children])
        of_node = fit(X[kept], on[kept].astype(int)).predict(X[rows])
        for child, chosen in zip(node.children, of_node.T, strict=True):
            into = rows[chosen == 1]
            if not tree.nodes[child].children:
                predicted[into, tree.nodes[child].labels[0]] = 1
            elif len(into):
                descend(child, into)

    descend(0, np.arange(len(X)))
    return predicted


@pytest.mark.parametrize("clustering", CLUSTERINGS)
@pytest.mark.parametrize("clusters", [2, 4])
def test_predictions_are_those_of_a_descent_by_hand(problem, clustering, clusters):
    X, Y = problem
    member = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = HomerClassifier(member, clusters=clusters, clustering=clustering, random_state=1).fit(
        X, Y
    )

    def fit(X, Y):
        return MultiOutputClassifier(member).fit(X, Y)

    expected = by_hand(model, X, Y, fit)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert expected.any()
    assert (expected != BinaryRelevanceClassifier(member).fit(X, Y).predict(X)).any()


def test_a_model_is_asked_only_about_rows_for_which_its_set_was_predicted(problem):
    X, Y = problem
    model = HomerClassifier(LogisticRegression(), random_state=0).fit(X, Y)
    asked = {}

    def spied(i, confidences):
        def spy(rows):
            asked[i] = asked.get(i, 0) + len(rows)
            return confidences(rows)

        return spy

    for i, view in model.view_.views.items():
        view.confidences = spied(i, view.confidences)
    model.predict(X)
    assert asked[0] == len(X)
    of_root = model.view_.views[0]
    reached = (type(of_root).confidences(of_root, X)[0] >= 0.5).sum(axis=0)
    for child, n in zip(model.tree_.nodes[0].children, reached, strict=True):
        assert asked.get(child, 0) == (n if model.tree_.nodes[child].children else 0)
    assert min(asked.values()) < len(X)


def test_confidence_is_the_least_on_the_way(problem):
    X, Y = problem
    model = HomerClassifier(LogisticRegression(), clusters=2, random_state=0).fit(X, Y)
    tree, proba = model.tree_, model.predict_proba(X)
    of_root = model.view_.views[0].confidences(X)[0]
    for child, confidence in zip(tree.nodes[0].children, of_root.T, strict=True):
        labels = list(tree.nodes[child].labels)
        assert (proba[:, labels] <= confidence[:, None] + 1e-12).all()
        stopped = confidence < 0.5
        assert stopped.any()
        np.testing.assert_allclose(
            proba[np.ix_(stopped, labels)], np.repeat(confidence[stopped, None], len(labels), 1)
        )


@pytest.mark.parametrize(
    "method",
    [
        RakelClassifier(k=2),
        LabelCoverClassifier(k=2, threshold=0.5),
        BinaryRelevanceClassifier(C45Classifier()),
        HomerClassifier(clusters=2),
    ],
    ids=lambda method: type(method).__name__,
)
def test_any_method_may_be_at_the_nodes(problem, method):
    X, Y = problem
    model = HomerClassifier(method=method, clusters=4, random_state=0).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert micro_f1(Y, model.predict(X)) > 0.6


def test_the_method_at_one_node_is_the_method_itself(problem):
    X, Y = problem
    cover = Cover([[0, 1, 2], [3, 4, 5], [6, 7, 8], [8, 9, 10]], 11)
    method = LabelCoverClassifier(DecisionTreeClassifier(random_state=0), cover=cover)
    flat = HomerClassifier(method=method, clusters=11).fit(X, Y)
    plain = method.set_params(threshold=0.5).fit(X, Y)
    np.testing.assert_array_equal(flat.predict_proba(X), plain.predict_proba(X))


def test_the_estimator_replaces_that_of_the_method(problem):
    X, Y = problem
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    one = HomerClassifier(tree, method=BinaryRelevanceClassifier(), random_state=0).fit(X, Y)
    other = HomerClassifier(method=BinaryRelevanceClassifier(tree), random_state=0).fit(X, Y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))


def test_labels_that_never_occur_are_never_predicted(problem):
    X, Y = problem
    rare = Y.copy()
    rare[:, :6] = 0
    model = HomerClassifier(clusters=3, random_state=0).fit(X, rare)
    assert not model.predict(X)[:, :6].any()
    assert model.predict(X)[:, 6:].any()


def test_a_single_label_is_a_tree_too(problem):
    X, Y = problem
    model = HomerClassifier(LogisticRegression()).fit(X, Y[:, :1])
    expected = LogisticRegression().fit(X, Y[:, 0]).predict(X)
    np.testing.assert_array_equal(model.predict(X)[:, 0], expected)


def test_the_tree_has_the_names_of_the_labels(problem):
    X, Y = problem
    names = list("abcdefghijk")
    model = HomerClassifier(random_state=0).fit(X, pd.DataFrame(Y, columns=names))
    flat, waiting = [], [model.tree_.nested()]
    while waiting:
        part = waiting.pop()
        waiting.extend(part) if isinstance(part, list) else flat.append(part)
    assert sorted(flat) == names


def test_a_threshold_is_tuned_by_cross_validation(problem):
    X, Y = problem
    member = DecisionTreeClassifier(max_depth=2)
    model = HomerClassifier(member, threshold="auto", random_state=0).fit(X[:60], Y[:60, :6])
    assert 0 < model.threshold_ < 1
    assert model.n_threshold_rows_ == 60


def test_a_model_on_disk_gives_the_same_predictions(problem, tmp_path):
    X, Y = problem
    model = HomerClassifier(random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


class NeverFitted(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        pytest.fail("a member was fitted before the mistake was noticed")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clusters": 1}, "clusters must be an integer of at least 2, got 1"),
        ({"clusters": 2.5}, "clusters must be an integer of at least 2, got 2.5"),
        ({"clustering": "em"}, "clustering must be one of 'balanced', 'random', 'k-means', got"),
        ({"method": "br"}, "method must be None or a multi-label estimator .*got 'br'"),
        ({"method": BinaryRelevanceClassifier}, "method must be None or a multi-label estimator"),
        ({"method": LogisticRegression()}, "method must be None or a multi-label estimator"),
        ({"threshold": "loo"}, 'threshold="loo" needs'),
        ({"method": BinaryRelevanceClassifier(n_jobs=0)}, "n_jobs must be None or an integer"),
    ],
    ids=lambda given: given if isinstance(given, str) else next(iter(given)),
)  # fmt: skip
def test_mistakes_are_noticed_before_anything_is_fitted(problem, change, message):
    with pytest.raises(ValueError, match=message):
        HomerClassifier(NeverFitted(), **change).fit(*problem)
