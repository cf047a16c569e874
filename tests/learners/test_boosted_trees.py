"""Boosted trees: each loop against a plain twin, and what the learner promises."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from labelcover.learners import LabelBoosting, ReadTable
from labelcover.learners._forest import boosted_trees
from labelcover.learners._forest.boosting_kernels import (
    LEAST_SIDE,
    SHRINKAGE,
    WEIGHT,
    WIDTH,
    add_rows,
    grow_on_bins,
    grow_on_words,
)
from labelcover.learners._forest.forest_kernels import fall

MOST_NODES = 15


@pytest.fixture
def random():
    return np.random.default_rng(0)


def score(total, side, sketch, drawn):
    """Return what a split into the rows of `side` and the others has in common, in plain NumPy."""
    own, weight = sketch[side].sum(axis=0), drawn[side].sum()
    rest, other = total - own, drawn.sum() - weight
    if min(weight, other) < LEAST_SIDE:
        return -1.0
    return own @ own / (weight + SHRINKAGE) + rest @ rest / (other + SHRINKAGE)


def plain_tree(splits, sketch, drawn):
    """Grow a tree, node after node; `splits` maps (feature, cut) to the rows that go left."""
    nodes, rows = [], [np.ones(len(drawn), bool)]
    for node in range(MOST_NODES):
        if node >= len(rows):
            break
        own = rows[node]
        g, w = np.where(own[:, None], sketch, 0), np.where(own, drawn, 0)
        total = g.sum(axis=0)
        scores = {each: score(total, own & left, g, w) for each, left in splits.items()}
        best = max(scores, key=scores.get)
        is_split = scores[best] > total @ total / (w.sum() + SHRINKAGE) * (1 + 1e-6)
        if not is_split or len(rows) + 2 > MOST_NODES:
            nodes.append((-1, -1, 0))
            continue
        nodes.append((len(rows), *best))
        rows += [own & splits[best], own & ~splits[best]]
    return nodes, rows


def arrays(n):
    tree = np.full((3, MOST_NODES), -1, np.int32)
    return tree, np.empty(n, np.int32), np.ones(1, np.uint64)


@pytest.mark.parametrize("kind", ["bins", "words"])
def test_a_tree_splits_where_the_plain_twin_does(random, kind):
    n, d = 80, 6
    codes = random.integers(5 if kind == "bins" else 2, size=(d, n)).astype(np.uint8)
    moments = np.zeros((n, WIDTH), np.float32)
    sketch = moments[:, :3]
    sketch[:] = random.normal(size=(n, 3))
    drawn = np.where(random.random(n) < 0.7, 1.0, 0.0).astype(np.float32)
    sketch[drawn == 0] = 0
    sketch[:, 0] += drawn * codes[2] * 2
    moments[:, WEIGHT] = drawn
    tree, at_node, state = arrays(n)
    if kind == "bins":
        rows, order = np.flatnonzero(drawn).astype(np.int32), np.arange(d, dtype=np.int32)
        n_bins = np.full(d, 5, np.int32)
        rest = tuple(tree), at_node, state
        size = grow_on_bins(codes, n_bins, rows, moments, order, d, *rest)
    else:
        columns = sparse.csr_array(codes.T).tocsc()
        words = columns.indices.astype(np.int32), columns.indptr.astype(np.int64)
        rows = np.flatnonzero(drawn).astype(np.int32)
        size = grow_on_words(words, 1.0, 9, rows, moments, tuple(tree), at_node, state)
    last = 4 if kind == "bins" else 1
    splits = {(f, cut): codes[f] <= cut for f in range(d) for cut in range(last)}
    nodes, rows = plain_tree(splits, sketch.astype(float), drawn.astype(float))
    assert size == len(nodes) > 3
    for node, (child, feature, cut) in enumerate(nodes):
        assert tree[0, node] == child
        if child >= 0:
            assert tuple(tree[1:, node]) == (feature, cut)
        else:
            assert (at_node[rows[node]] == node).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_gradients_and_leaves_are_those_of_newtons_method(random, weighted):
    n, m = 40, 5
    scores, Y = random.normal(size=(n, m)), random.integers(2, size=(n, m)).astype(np.uint8)
    weights = random.integers(1, 4, size=n) / 2 if weighted else np.ones(n)
    p, w = expit(scores), weights[:, None]
    G, H = w * (Y - p), w * p * (1 - p)
    rows = scores.astype(np.float32), Y, weights[:, None].astype(np.float32)
    gradient, curvature = boosted_trees._derivatives(*rows)
    np.testing.assert_allclose(gradient, G, atol=1e-6)
    np.testing.assert_allclose(curvature, H, atol=1e-6)
    leaf = random.integers(2, size=n).astype(np.int32)
    sums = np.zeros((2, m), np.float32)
    add_rows(gradient, np.arange(len(leaf)), sums, leaf)
    steps = boosted_trees._newton_steps(leaf, 2, gradient, curvature)
    for each in range(2):
        own = leaf == each
        np.testing.assert_allclose(sums[each], G[own].sum(axis=0), atol=1e-5)
        step = G[own].sum(axis=0) / (H[own].sum(axis=0) + SHRINKAGE * H.mean(axis=0))
        most = boosted_trees.MOST_STEP
        np.testing.assert_allclose(steps[each], step.clip(-most, most), rtol=1e-4)


def test_losses_are_those_of_the_log_odds(random):
    scores = random.normal(size=(7, 3)) * [1, 30, 200]
    losses = boosted_trees._log_losses(scores.astype(np.float32))
    np.testing.assert_allclose(losses, np.logaddexp(0, scores).sum(axis=1), rtol=1e-5)


def test_rows_of_dense_and_sparse_tables_fall_into_the_same_leaves(random):
    nodes = (
        np.array([1, -1, 3, -1, -1, -1], np.int32),
        np.array([1, 0, 0, 1, 2, 3], np.int32),
        np.array([0.5, 0, -1, 0, 0, 0], np.float32),
    )
    roots = np.array([0, 5, 6])
    X = random.normal(size=(50, 2)).astype(np.float32)
    expected = np.where(X[:, 1] <= 0.5, 1, np.where(X[:, 0] <= -1, 3, 4))
    none = np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int64)
    rows = sparse.csr_array(X)
    csr = rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64)
    asked = random.permutation(50)
    for table in ((X, none), (np.zeros((0, 0), np.float32), csr)):
        leaves = np.repeat(roots[:-1, None].astype(np.int32), 50, axis=1)
        leaves[1, 7] = -1
        fall(table, 2, nodes, roots, asked, leaves)
        np.testing.assert_array_equal(leaves[0], expected[asked])
        np.testing.assert_array_equal(leaves[1], np.where(np.arange(50) == 7, -1, 5))


def problem(random, n=300, *, words=False):
    X = random.normal(size=(n, 8))
    Y = (X[:, :5] + 0.5 * random.normal(size=(n, 5)) > 0.3).astype(np.uint8)
    X = sparse.csr_array(np.where(X > 0.8, 1.0, 0.0)) if words else X
    return X, Y, np.zeros(8, np.int32)


def confidence(trees, X):
    return expit(trees.scores(trees.read(X), X.shape[0]))


def loss(Y, P):
    return -np.log(np.where(Y > 0, P, 1 - P)).mean()


@pytest.mark.parametrize("words", [False, True])
def test_left_out_rows_are_predicted_as_well_as_new_ones(random, words):
    X, Y, n_values = problem(random, 600, words=words)
    rows = np.arange(300)
    trees, left_out = LabelBoosting().fit_labels(
        ReadTable(X[:300], n_values), Y[:300], left_out=rows, seed=1
    )
    new = confidence(trees, X[300:])
    chance = loss(Y[300:], np.tile(Y[:300].mean(axis=0), (300, 1)))
    assert loss(Y[300:], new) < 0.9 * chance
    assert abs(loss(Y[300:], new) / loss(Y[:300], left_out) - 1) < 0.15


@pytest.mark.parametrize("words", [False, True])
def test_a_row_alone_and_any_number_of_jobs_give_the_same(random, words):
    X, Y, n_values = problem(random, words=words)
    one, left_out = LabelBoosting(20).fit_labels(
        ReadTable(X, n_values), Y, left_out=np.arange(9), n_jobs=1
    )
    two, again = LabelBoosting(20).fit_labels(
        ReadTable(X, n_values), Y, left_out=np.arange(9), n_jobs=3
    )
    np.testing.assert_array_equal(left_out, again)
    P = confidence(one, X)
    np.testing.assert_array_equal(P, confidence(two, X))
    np.testing.assert_array_equal(P[[7]], confidence(one, X[[7]]))


@pytest.mark.parametrize("words", [False, True])
def test_parts_add_up_to_the_log_odds(random, words):
    X, Y, n_values = problem(random, words=words)
    trees, _ = LabelBoosting(30).fit_labels(ReadTable(X, n_values), Y)
    rows = np.array([4, 1, 7])
    weights = random.normal(size=(3, 5))
    columns = trees.swap_parts(trees.read(X), rows, weights)
    moved = trees.scores(trees.read(X), 300)[rows] - trees.origin_scores
    np.testing.assert_allclose(columns.sum(axis=1), (weights * moved).sum(axis=1), atol=1e-9)
    every = trees.swap_parts(trees.read(X), np.arange(300), np.tile(np.eye(5)[2], (300, 1)))
    assert np.abs(every.toarray()).sum(axis=0).argmax() == 2


def test_weights_say_which_rows_count(random):
    X, Y, n_values = problem(random)
    weights = np.where(np.arange(300) < 150, 1.99, 0.01)
    Y[150:] = 1 - Y[150:]
    trees, _ = LabelBoosting().fit_labels(ReadTable(X, n_values), Y, weights=weights)
    P = confidence(trees, X)
    assert loss(Y[:150], P[:150]) < loss(Y[150:], P[150:]) / 2


def test_categories_are_one_column_each(random):
    X, Y, n_values = problem(random)
    X[:, 0] = random.integers(3, size=300)
    Y[:, 0] = X[:, 0] == 2
    n_values[0] = 3
    trees, _ = LabelBoosting().fit_labels(ReadTable(X, n_values), Y)
    P = confidence(trees, X)[:, 0]
    assert P[X[:, 0] == 2].min() > 0.9 > 0.1 > P[X[:, 0] != 2].max()


@pytest.mark.parametrize("case", ["constant columns", "one label", "ten rows", "one positive"])
@pytest.mark.parametrize("words", [False, True])
def test_poor_tables_have_finite_confidences(random, case, words):
    X, Y, n_values = problem(random, 10 if case == "ten rows" else 100, words=words)
    if case == "constant columns":
        X = X * 0 if words else np.ones_like(X)
    if case == "one label":
        Y = Y[:, :1]
    if case == "one positive":
        Y[:, 0] = np.arange(100) == 3
        Y[:, 1] = 0
    weights = np.full(len(Y), 1e-6)
    weights[0] = len(Y)
    for own in (None, weights):
        trees, P = LabelBoosting().fit_labels(
            ReadTable(X, n_values), Y, weights=own, left_out=np.arange(5)
        )
        for table in (P, confidence(trees, X)):
            assert np.isfinite(table).all()
            assert (table > 0).all()
            assert (table < 1).all()


def test_a_table_without_trees_has_the_frequencies(random):
    X, Y, n_values = problem(random)
    for constant in (1.0, 3.0):  # zeros and ones, and numbers
        read = ReadTable(np.full_like(X, constant), n_values)
        trees, _ = LabelBoosting().fit_labels(read, Y)
        np.testing.assert_allclose(logit(confidence(trees, X)[0]), trees.start, atol=0.1)


def test_a_table_that_other_views_read_too_stays_as_it_is(random):
    """Numbers below 0 were taken out of it, while other views read it."""
    X, Y, n_values = problem(random)
    read = ReadTable(sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)), n_values)
    before = [each.copy() for each in read.single[1]]
    LabelBoosting(5).fit_labels(read, Y)
    for each, own in zip(read.single[1], before, strict=True):
        np.testing.assert_array_equal(each, own)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"n_trees": 0}, "n_trees must be"),
        ({"n_trees": "many"}, "n_trees must be"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"max_leaves": 1}, "max_leaves must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, said):
    with pytest.raises(ValueError, match=said):
        LabelBoosting(**parameters).check_parameters()


def test_numbers_are_numbers_beside_a_category_of_many_values(random):
    """They were cut at 0 only, as the columns of the category made the table a sparse one."""
    numbers, category = random.random((600, 4)), random.integers(40, size=600)
    X = np.hstack([numbers, np.eye(40)[category]])
    Y = np.column_stack([np.abs(numbers[:, j] - 0.5) < 0.25 for j in range(4)]).astype(np.uint8)
    trees, left_out = LabelBoosting().fit_labels(
        ReadTable(X, np.zeros(44, np.int32)), Y, left_out=np.arange(600)
    )
    assert not trees.is_sparse
    assert ((left_out > 0.5) == Y).mean() > 0.95, "at 0 there is nothing to cut: 0.5"


def test_many_rows_take_little_more_memory_than_their_scores():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 4))
    Y = (X[:, :2] + random.normal(size=(300, 2)) > 0).astype(np.uint8)
    trees, _ = LabelBoosting().fit_labels(ReadTable(X, np.zeros(4, np.int32)), Y, n_jobs=1)
    table = trees.read(np.resize(X, (30_000, 4)))
    tracemalloc.start()
    trees.scores(table, 30_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A leaf for each row and tree would be many times that.
    assert peak < 50e6 < 4 * 30_000 * trees.n_folds * trees.n_trees * 4
