"""The forest on all labels: its trees, their leaves, and the rows that each tree has not seen."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.ensemble._views._rows_in_memory import ForestView
from labelcover.learners import LeastSquaresClassifier, ReadTable
from labelcover.learners._forest.feature_forest import MANY_ROWS, FeatureForest
from labelcover.learners._forest.forest_kernels import MANY_ROWS as MANY_ROWS_OF_A_LEAF
from labelcover.learners._forest.forest_kernels import _try_split
from labelcover.learners._forest.label_forest import LabelForest
from labelcover.learners._forest.sparse_tree_kernels import (
    SKETCH_COLUMNS,
    WIDTH,
    _score_column,
)


def problem(n=80, d=6, m=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (X @ random.normal(size=(d, m)) + random.normal(size=(n, m)) > 0.5).astype(np.uint8)
    return X, Y


def tables(X):
    """The same numbers of a few kinds: dense, dense with many zeros, sparse, zeros and ones."""
    rare = np.where(np.random.default_rng(5).random(X.shape) < 0.2, X, 0.0)
    return {
        "dense": X,
        "mostly zero": rare,
        "sparse": sparse.csr_array(rare),
        "0/1": (X > 0).astype(float),
        "rare 0/1": sparse.csr_array((X > 1).astype(float)),
    }


KINDS = list(tables(np.zeros((1, 1))))


def grown(X, Y, *, n_jobs=None, weights=None, seed=0, **parameters):
    numeric = np.zeros(X.shape[1], dtype=np.int32)
    learner = LabelForest(**{"n_trees": 15, **parameters})
    how = {"weights": weights, "seed": seed, "n_jobs": n_jobs, "left_out": np.arange(len(Y))}
    forest, forest.said = learner.fit_labels(ReadTable(X, numeric), Y, **how)
    return forest


def trees_of(forest):
    """Its trees one by one, each numbered from its root on; a leaf has -1 for a feature."""
    (child, feature, threshold), (start, end, *_) = forest.nodes, forest.held
    for (a, b), (rows, counts) in zip(pairwise(forest.roots), forest.samples(), strict=True):
        is_leaf = child[a:b] < 0
        np.testing.assert_array_equal(feature[a:b] < 0, is_leaf)
        left = np.where(is_leaf, start[a:b] - start[a], child[a:b] - a)
        right = np.where(is_leaf, end[a:b] - start[a], child[a:b] - a + 1)
        yield (feature[a:b], threshold[a:b], left, right), rows, counts


def shares(tree, rows, counts, Y, x):
    """The plain twin of a tree's answer: walk down, then count the labels of the leaf."""
    feature, threshold, left, right = tree
    node = 0
    while feature[node] >= 0:
        node = left[node] if x[feature[node]] <= threshold[node] else right[node]
    own = slice(left[node], right[node])
    return counts[own] @ Y[rows[own]] / counts[own].sum()


def left_out(forest):
    """What the trees say of all training rows, each by those grown without it."""
    return forest.said


def as_read(forest, X):
    """The numbers that the trees compare: 0/1 columns by their rarer value."""
    X = forest.rare.transform(X)
    dense = X.toarray() if sparse.issparse(X) else X
    return dense.astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
def test_confidences_are_the_mean_label_shares_of_the_leaves(kind):
    X, Y = problem()
    X = tables(X)[kind]
    forest = grown(X[:60], Y[:60])
    rows = as_read(forest, X)
    expected = np.mean([[shares(*tree, Y, x) for x in rows] for tree in trees_of(forest)], axis=0)
    np.testing.assert_allclose(forest.confidence(X), expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_out_of_the_bag_are_answered_by_trees_that_did_not_draw_them(kind):
    X, Y = problem()
    X = tables(X)[kind]
    forest = grown(X, Y)
    for i, x in enumerate(as_read(forest, X)):
        said = [shares(*tree, Y, x) for tree in trees_of(forest) if i not in tree[1]]
        assert said
        np.testing.assert_allclose(left_out(forest)[i], np.mean(said, axis=0), atol=1e-12)


def test_rows_with_few_words_fall_into_the_leaves_of_long_paths():
    random = np.random.default_rng(0)
    X = (random.random((300, 80)) < 0.02) * random.choice([-1.0, 1.0, 2.0], (300, 80))
    Y = np.column_stack([X[:, :20].any(axis=1), X[:, 20:50].sum(axis=1) > 1]).astype(np.uint8)
    forest = grown(sparse.csr_array(X), Y)
    expected = np.mean(
        [[shares(*tree, Y, x) for x in as_read(forest, X)] for tree in trees_of(forest)], axis=0
    )
    np.testing.assert_allclose(forest.confidence(sparse.csr_array(X)), expected, atol=1e-12)
    # A few rows are not worth the path of a row of zeros, and are answered all the same.
    few = forest.confidence(sparse.csr_array(X[:3]))
    np.testing.assert_array_equal(few, forest.confidence(sparse.csr_array(X))[:3])
    sizes = [
        np.diff([tree[0][2], tree[0][3]], axis=0)[0][tree[0][0] < 0] for tree in trees_of(forest)
    ]
    assert max(map(max, sizes)) >= MANY_ROWS_OF_A_LEAF
    lengths = []
    for (_, threshold, left, right), *_ in trees_of(forest):
        node, path = 0, []
        while node not in path and left[node] + 1 == right[node] > node:
            path.append(node)
            node = left[node] if threshold[node] >= 0 else right[node]
        lengths.append(len(path))
    assert max(lengths) > 2 * np.count_nonzero(X) / len(X)


@pytest.mark.parametrize("splits", ["features", "means"])
def test_rows_of_trees_may_be_numbered_in_64_bits(splits):
    """As they are where trees hold more than 2**31 rows."""
    X, Y = problem()
    words = sparse.csr_array(np.abs(X))
    forest = grown(words, Y, n_trees=5, splits=splits)
    before = forest.confidence(words)
    (child, *others), (start, end, *rest) = forest.nodes, forest.held
    forest.nodes = child.astype(np.int64), *others
    forest.held = start.astype(np.int64), end.astype(np.int64), *rest
    np.testing.assert_array_equal(forest.confidence(words), before)


def test_a_row_that_every_tree_drew_gets_the_frequencies():
    X, Y = problem()
    forest = grown(X, Y, n_trees=1)
    ((seen, _),) = forest.samples()
    expected = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    np.testing.assert_allclose(left_out(forest)[seen], np.tile(expected, (len(seen), 1)))


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_leaves_of_a_tree_hold_its_sample_once(kind, weighted):
    X, Y = problem()
    X = tables(X)[kind]
    weights = np.arange(80.0) if weighted else None
    for (feature, _, left, right), rows, counts in trees_of(grown(X, Y, weights=weights)):
        assert counts.sum() == len(Y)
        assert len(np.unique(rows)) == len(rows)
        leaves = np.flatnonzero(feature < 0)
        held = [np.arange(left[leaf], right[leaf]) for leaf in leaves]
        np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(len(rows)))


def test_trees_of_a_large_sparse_table_are_grown_on_half_of_the_rows():
    X, Y = problem(MANY_ROWS)
    X = sparse.csr_array(np.where(X > 1, X, 0.0))
    for rows, counts in grown(X, Y, n_trees=3).samples():
        assert len(rows) == counts.sum() == MANY_ROWS // 2
    weights = np.arange(1.0 + MANY_ROWS)[1:]
    for rows, counts in grown(X, Y, n_trees=3, weights=weights).samples():
        assert counts.sum() == MANY_ROWS > len(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_training_rows_fall_into_the_leaf_that_holds_them(kind):
    X, Y = problem()
    X = tables(X)[kind]
    forest = grown(X, Y, n_trees=3)
    x = as_read(forest, X)
    for (feature, threshold, left, right), rows, _ in trees_of(forest):
        for place, i in enumerate(rows):
            node = 0
            while feature[node] >= 0:
                goes_left = x[i, feature[node]] <= threshold[node]
                node = left[node] if goes_left else right[node]
            assert left[node] <= place < right[node]


@pytest.mark.parametrize("min_leaf", [1, 2, 7])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_leaf_has_at_least_min_leaf_draws(kind, min_leaf):
    X, Y = problem()
    for (feature, _, left, right), _, counts in trees_of(
        grown(tables(X)[kind], Y, min_leaf=min_leaf)
    ):
        for leaf in np.flatnonzero(feature < 0):
            assert counts[left[leaf] : right[leaf]].sum() >= min_leaf


def test_dense_and_sparse_tables_of_the_same_numbers_are_both_learnt():
    X, Y = problem(300)
    confident = [left_out(grown(kind, Y, n_trees=40)) for kind in (X, sparse.csr_array(X))]
    for found in confident:
        assert ((found > 0.5) == Y).mean() > 0.7
    assert np.abs(confident[0] - confident[1]).mean() < 0.15


def test_the_same_seed_gives_the_same_forest_whatever_n_jobs():
    X, Y = problem()
    first, again, other = grown(X, Y), grown(X, Y, n_jobs=2), grown(X, Y, seed=1)
    np.testing.assert_array_equal(first.confidence(X), again.confidence(X))
    np.testing.assert_array_equal(left_out(first), left_out(again))
    assert not np.array_equal(left_out(first), left_out(other))
    own = [left_out(grown(X, Y, seed=seed, random_state=3)) for seed in (0, 1)]
    np.testing.assert_array_equal(*own)


def test_weights_say_how_often_rows_are_drawn():
    X, Y = problem()
    weights = np.where(np.arange(80) < 10, 6.0, 1.0)
    weights[-1] = 0
    drawn = np.zeros(80)
    for rows, counts in grown(X, Y, weights=weights, n_trees=200).samples():
        drawn[rows] += counts / 200
    np.testing.assert_allclose(drawn.mean(), 1)
    assert drawn[:10].mean() / drawn[10:-1].mean() == pytest.approx(6, rel=0.1)
    assert drawn[-1] == 0


def test_rows_of_weight_zero_are_never_drawn_in_an_ensemble():
    X, Y = problem()
    weights = np.repeat([1.0, 0.0], 40)
    Y[40:] = 1 - Y[40:]
    model = LabelCoverClassifier(LabelForest(10), random_state=0)
    weighted = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    assert isinstance(model.view_, ForestView)
    alone = LabelCoverClassifier(LabelForest(10), random_state=0)
    alone.fit(X[:40], Y[:40])
    np.testing.assert_array_equal(weighted, alone.predict_proba(X))


def two_sides(counts, Y, column, cut):
    """Sums over both sides of a cut: squared label counts over draws, variance of the labels."""
    score, variance = 0.0, 0.0
    for side in (column <= cut, column > cut):
        weight, of_side = counts[side], Y[side].astype(float)
        mean = weight @ of_side / weight.sum()
        score += ((weight @ of_side) ** 2).sum() / weight.sum()
        variance += (weight @ (of_side - mean) ** 2).sum()
    return score, variance


def split_problem(random, *, zeros):
    """Labels of nine rows, how often these were drawn, and a column of theirs."""
    Y = random.integers(0, 2, (9, 3)).astype(np.uint8)
    counts = random.integers(0, 4, 9).astype(np.float64)
    counts[0] = 1
    rows = np.flatnonzero(counts).astype(np.int32)
    column = random.normal(size=len(rows)).astype(np.float32)
    if zeros:
        column[random.random(len(rows)) < 0.5] = 0
    return Y, counts, rows, column


def test_the_score_of_a_split_is_that_of_brute_force():
    random = np.random.default_rng(0)
    for seed in range(30):
        Y, counts, rows, column = split_problem(random, zeros=seed % 2 == 0)
        labels = sparse.csr_array(Y)
        labels = labels.indices.astype(np.int32), labels.indptr.astype(np.int64)
        totals, part = counts @ Y, np.zeros(3)
        node = (counts.sum(), float((totals**2).sum()), 1)
        score, cut = _try_split(column, rows, counts, node, labels, totals, part, random.random())
        assert not part.any()
        if column.min() == column.max():
            assert score == -2
            continue
        assert column.min() <= cut < column.max()
        expected, variance = two_sides(counts[rows], Y[rows], column, cut)
        assert score == pytest.approx(expected), seed
        # The greatest score is the least variance within the sides.
        assert score == pytest.approx(totals.sum() - variance)


def sparse_column(values, rows):
    """A table of one sparse column, as trees hold it."""
    return values, rows, np.zeros(1, np.int32), np.full(1, len(rows), np.int32)


@pytest.mark.parametrize("zeros", [True, False], ids=["zeros", "all rows have a value"])
def test_the_score_of_a_split_of_a_sparse_column_is_that_of_brute_force(zeros):
    random = np.random.default_rng(1)
    for seed in range(30):
        Y, counts, rows, column = split_problem(random, zeros=zeros)
        sketch = np.zeros((9, WIDTH), np.float32)
        sketch[:, :3], sketch[:, SKETCH_COLUMNS] = Y, 1
        sketch *= counts[:, None]
        at = np.flatnonzero(column)
        cut = np.float32(random.choice(column))
        place = np.full(9, -1, np.int32)
        place[rows] = np.arange(len(rows))
        total = sketch.sum(axis=0, dtype=np.float64)
        score, low, high = _score_column(
            sparse_column(column[at], rows[at]),
            np.int32(0),
            cut,
            place,
            (0, len(rows)),
            sketch,
            total,
            1,
        )
        assert (low, high) == (column.min(), column.max())
        if cut == column.max():
            assert score == -1
            continue
        expected, _ = two_sides(counts[rows], Y[rows], column, cut)
        assert score == pytest.approx(expected, rel=1e-5), seed


def test_entries_of_rows_that_have_gone_are_dropped_from_a_sparse_column():
    random = np.random.default_rng(2)
    sketch = np.ones((9, WIDTH), np.float32)
    for seed in range(30):
        order = random.permutation(9)
        place = np.empty(9, np.int32)
        place[order] = np.arange(9)
        node = tuple(sorted(random.choice(10, 2, replace=False).tolist()))
        own = np.sort(random.choice(9, 6, replace=False)).astype(np.int32)
        column = random.normal(size=6).astype(np.float32)
        values, rows = column.copy(), own.copy()
        columns = sparse_column(values, rows)
        total = np.full(WIDTH, float(node[1] - node[0]))
        _, low, high = _score_column(
            columns, np.int32(0), np.float32(0), place, node, sketch, total, 1
        )
        end = columns[-1][0]
        inside = np.isin(own, order[slice(*node)])
        assert sorted(zip(rows[:end], values[:end], strict=True)) == sorted(
            zip(own[inside], column[inside], strict=True)
        ), seed
        of_node = np.zeros(node[1] - node[0], np.float32)
        of_node[: inside.sum()] = column[inside]
        assert (low, high) == (of_node.min(), of_node.max())


def test_rows_that_are_asked_for_are_answered_as_all_are():
    X, Y = problem()
    numeric = np.zeros(X.shape[1], dtype=np.int32)
    for splits in ("features", "means"):
        learner = LabelForest(15, splits=splits)
        asked = np.array([7, 3, 50])
        _, every = learner.fit_labels(ReadTable(X, numeric), Y, seed=0, left_out=np.arange(80))
        for n_jobs in (1, 2, 5):
            how = {"seed": 0, "left_out": asked, "n_jobs": n_jobs}
            _, found = learner.fit_labels(ReadTable(X, numeric), Y, **how)
            np.testing.assert_array_equal(found, every[asked])


def test_an_error_in_a_thread_is_raised(monkeypatch):
    X, Y = problem()
    numeric = np.zeros(X.shape[1], dtype=np.int32)
    monkeypatch.setattr(FeatureForest, "_grown", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LabelForest(15).fit_labels(ReadTable(X, numeric), Y, n_jobs=3)


def test_a_sparse_tree_splits_as_long_as_a_word_tells_rows_apart():
    words = np.kron(np.eye(20), np.ones((3, 1)))
    Y = np.kron(np.eye(20, dtype=np.uint8), np.ones((3, 1), dtype=np.uint8))
    forest = grown(sparse.csr_array(words), Y, min_leaf=1, max_features=20, n_trees=5)
    for (feature, _, left, right), rows, _ in trees_of(forest):
        for leaf in np.flatnonzero(feature < 0):
            assert len(np.unique(Y[rows[left[leaf] : right[leaf]]], axis=0)) == 1


def test_an_exclusive_or_is_learnt_that_a_linear_model_cannot():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (600, 2))
    Y = np.column_stack([X[:, 0] * X[:, 1] > 0, X[:, 0] * X[:, 1] < 0]).astype(int)
    right = {}
    for name, learner in {
        "forest": LabelForest(50),
        "linear": LeastSquaresClassifier(kernel="linear"),
    }.items():
        model = LabelCoverClassifier(learner, decide="hamming_loss", k=1, random_state=0)
        model.fit(X[:400], Y[:400])
        right[name] = (model.predict(X[400:]) == Y[400:]).mean()
    assert right["forest"] > 0.85
    assert right["linear"] < 0.65


def test_nominal_columns_are_not_numbers():
    random = np.random.default_rng(1)
    value = random.integers(0, 10, 300)
    Y = random.integers(0, 2, (10, 3))[value]
    names = np.array([f"level {v}" for v in random.permutation(10)])
    X = pd.DataFrame({"c": pd.Categorical(names[value]), "x": random.normal(size=300)})
    model = LabelCoverClassifier(LabelForest(30), random_state=0).fit(X[:200], Y[:200])
    assert (model.predict(X[200:]) == Y[200:]).mean() > 0.97
    new = pd.DataFrame({"c": pd.Categorical(["level z", None]), "x": [0.0, 0.0]})
    assert np.isfinite(model.predict_proba(new)).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    "shape", [(1, 3, 2), (10, 1, 3), (10, 4, 30), (10, 50, 2)], ids="{0[0]}×{0[1]}→{0[2]}".format
)
def test_small_tables_give_probabilities(shape, make):
    n, d, m = shape
    random = np.random.default_rng(2)
    X, Y = random.normal(size=(n, d)), random.integers(0, 2, (n, m)).astype(np.uint8)
    forest = grown(make(X), Y)
    for found in (left_out(forest), forest.confidence(make(random.normal(size=(7, d))))):
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_features_that_never_change_are_no_splits(make, value):
    _, Y = problem()
    forest = grown(make(np.full((80, 3), value)), Y)
    assert forest.n_trees == len(forest.nodes[0]) == 15
    said = [counts @ Y[rows] / counts.sum() for rows, counts in forest.samples()]
    np.testing.assert_allclose(forest.confidence(make(np.ones((1, 3))))[0], np.mean(said, axis=0))


def test_labels_that_never_change_are_certain():
    X, Y = problem()
    Y[:, 0], Y[:, 1] = 0, 1
    forest = grown(X, Y)
    np.testing.assert_allclose(forest.confidence(X)[:, :2], np.tile([0, 1], (80, 1)), atol=1e-12)
    grown(X, np.zeros((80, 3), dtype=np.uint8))
    np.testing.assert_allclose(grown(X, np.ones((80, 3), dtype=np.uint8)).confidence(X), 1)


@pytest.mark.filterwarnings("ignore:overflow encountered in cast")
def test_numbers_beyond_single_precision_are_no_error():
    X, Y = problem()
    X[::2] *= 1e300
    found = grown(X, Y).confidence(X)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_trees": 0}, "n_trees must be an integer of at least 1, got 0"),
        ({"min_leaf": 0}, "min_leaf must be an integer of at least 1, got 0"),
        ({"max_features": 0}, "max_features must be an integer of at least 1, got 0"),
        ({"random_state": "seed"}, "random_state must"),
    ],
)
def test_bad_parameters_are_refused_with_a_clear_error(parameters, message):
    with pytest.raises(ValueError, match=message):
        LabelCoverClassifier(LabelForest(**parameters)).fit(*problem())


def test_features_that_are_always_zero_do_not_count_among_those_to_try():
    X, Y = problem()
    wide = np.hstack([np.where(X > 1, X, 0.0), np.zeros((80, 94))])
    assert grown(sparse.csr_array(wide), Y, n_trees=1).n_present == 6
    assert grown(X, Y, n_trees=1).n_present == 6
    own, asked = (
        left_out(grown(sparse.csr_array(wide), Y, n_trees=5, **parameters))
        for parameters in ({}, {"max_features": 2})
    )
    np.testing.assert_array_equal(own, asked)


def test_more_features_than_there_are_may_be_asked_for():
    X, Y = problem()
    assert np.isfinite(left_out(grown(X, Y, max_features=100))).all()
