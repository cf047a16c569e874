"""Trees for many labels: sketches, nearest means, leaves, and the correction of their shares."""

import weakref
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.learners._forest import mean_tree_kernels
from labelcover.learners._forest.feature_forest import FeatureForest, ReadTable
from labelcover.learners._forest.label_forest import MANY_LABELS, LabelForest, _error_of_many
from labelcover.learners._forest.mean_forest import MeanForest, fit_share_regression
from labelcover.learners._forest.mean_tree_kernels import (
    MOST_CHILDREN,
    MOST_FEATURES,
    _label_groups,
    _largest,
    sort_into_leaves,
)


def topics(n=240, d=60, m=30, seed=0):
    """Rows of one of six topics, which have words and labels of their own."""
    random = np.random.default_rng(seed)
    topic = random.integers(6, size=n)
    words = random.random((6, d)) < 0.2
    labels = random.random((6, m)) < 0.2
    X = random.random((n, d)) < np.where(words[topic], 0.4, 0.03)
    Y = random.random((n, m)) < np.where(labels[topic], 0.6, 0.02)
    return X * random.uniform(0.5, 2, (n, d)), Y.astype(np.uint8)


KINDS = ["dense", "mostly zero", "sparse", "0/1"]


def table(kind, X):
    dense = X + np.random.default_rng(1).normal(0, 0.3, X.shape)
    tables = {
        "dense": dense,
        "mostly zero": X,
        "sparse": sparse.csr_array(X),
        "0/1": (X > 0).astype(float),
    }
    return tables[kind]


def grown(X, Y, *, n_jobs=None, weights=None, seed=0, **parameters):
    numeric = np.zeros(X.shape[1], dtype=np.int32)
    learner = LabelForest(**{"n_trees": 12, "splits": "means", **parameters})
    how = {"weights": weights, "seed": seed, "n_jobs": n_jobs, "left_out": np.arange(len(Y))}
    forest, forest.said = learner.fit_labels(ReadTable(X, numeric), Y, **how)
    return forest


def trees_of(forest):
    """Its trees one by one: nodes, where their rows start and end, the rows, and their counts."""
    child, n_children, _, starts, features, values = forest.nodes
    for (a, b), (rows, counts) in zip(pairwise(forest.roots), forest.samples(), strict=True):
        start, end = (each[a:b] - forest.held[0][a] for each in forest.held[:2])
        first = np.where(child[a:b] < 0, -1, child[a:b] - a)
        means = starts[a : b + 1] - starts[a], features[starts[a] :], values[starts[a] :]
        yield (first, n_children[a:b], start, end, None, *means), rows, counts


def left_out(forest):
    """What the trees say of all training rows, each by those grown without it."""
    return forest.said


def as_read(forest, X):
    """The rows that the trees compare with means, dense."""
    shape = X.shape
    return sparse.csr_array(forest._read(forest.rare.transform(X)), shape=shape).toarray()


def leaf_of(tree, x):
    """The plain twin of a walk: in every node the child with the nearest mean."""
    first, n_children, _, _, _, mean_starts, mean_features, mean_values = tree
    node = 0
    while first[node] >= 0:
        children = range(first[node], first[node] + n_children[node])
        means = np.zeros((len(children), len(x)))
        for row, child in zip(means, children, strict=True):
            own = slice(mean_starts[child], mean_starts[child + 1])
            row[mean_features[own]] = mean_values[own]
        node = children[np.argmin(((means - x) ** 2).sum(axis=1))]
    return node


def shares(tree, rows, counts, Y, x):
    leaf = leaf_of(tree, x)
    own = slice(tree[2][leaf], tree[3][leaf])
    return counts[own] @ Y[rows[own]] / counts[own].sum()


@pytest.mark.parametrize("kind", KINDS)
def test_confidences_are_the_corrected_mean_label_shares_of_the_leaves(kind):
    X, Y = topics()
    X = table(kind, X)
    forest = grown(X[:200], Y[:200])
    rows = as_read(forest, X)[200:]
    expected = np.mean([[shares(*tree, Y, x) for x in rows] for tree in trees_of(forest)], axis=0)
    found = forest.confidence(X[200:])
    np.testing.assert_allclose(found, forest.correction.corrected(expected), atol=1e-5)
    forest.correction = None
    np.testing.assert_allclose(forest.confidence(X[200:]), expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_out_of_the_bag_are_answered_by_trees_that_did_not_draw_them(kind, monkeypatch):
    monkeypatch.setattr(
        "labelcover.learners._forest.mean_forest.fit_share_regression",
        lambda shares, labels, weights: (None, shares),
    )
    X, Y = topics(120)
    X = table(kind, X)
    forest = grown(X, Y)
    frequency = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    for i, x in enumerate(as_read(forest, X)):
        said = [shares(*tree, Y, x) for tree in trees_of(forest) if i not in tree[1]]
        expected = np.mean(said, axis=0) if said else frequency
        np.testing.assert_allclose(left_out(forest)[i], expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_leaves_hold_the_sample_once_and_training_rows_fall_into_their_own(kind):
    X, Y = topics()
    X = table(kind, X)
    forest = grown(X, Y, n_trees=3)
    read = as_read(forest, X)
    for tree, rows, counts in trees_of(forest):
        assert counts.sum() == len(Y)
        assert len(np.unique(rows)) == len(rows)
        leaves = np.flatnonzero(tree[0] < 0)
        assert len(leaves) > 4
        held = [np.arange(tree[2][leaf], tree[3][leaf]) for leaf in leaves]
        np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(len(rows)))
        for place, i in enumerate(rows):
            leaf = leaf_of(tree, read[i])
            assert tree[2][leaf] <= place < tree[3][leaf]


@pytest.mark.parametrize("min_leaf", [1, 2, 6])
def test_a_leaf_has_at_least_min_leaf_draws_and_a_node_of_ten_times_as_many_is_split(min_leaf):
    X, Y = topics()
    for tree, _, counts in trees_of(grown(X, Y, min_leaf=min_leaf)):
        draws = np.array([counts[s:e].sum() for s, e in zip(tree[2], tree[3], strict=True)])
        assert (draws >= min_leaf).all()
        assert (draws[tree[0] >= 0] >= 10 * min_leaf).all()
        assert (tree[1][tree[0] >= 0] >= 2).all()


@pytest.mark.parametrize("seed", range(3))
def test_groups_are_the_nearest_centres_of_k_means(seed, monkeypatch):
    random = np.random.default_rng(seed)
    sketch = random.normal(size=(40, 5)).astype(np.float32)
    sketch /= np.linalg.norm(sketch, axis=1, keepdims=True)
    counts = random.integers(1, 3, 40).astype(float)
    chosen = random.permutation(40).astype(np.int32)
    centres, group = np.zeros((5, MOST_CHILDREN), np.float32), np.zeros(40, np.int32)
    state = random.integers(1, 2**63, size=1).astype(np.uint64)
    _label_groups(sketch, counts, chosen, centres, np.zeros_like(centres), group, state)
    np.testing.assert_array_equal(group, (sketch[chosen] @ centres).argmax(axis=1))
    # The centres are what k-means makes of the groups one round before; one round more moves
    # every centre towards its group.
    for c in np.unique(group):
        mean = counts[chosen][group == c] @ sketch[chosen][group == c]
        assert mean @ centres[:, c] / np.linalg.norm(mean) > 0.8


def test_of_a_mean_the_largest_features_are_kept():
    random = np.random.default_rng(0)
    values = random.normal(size=1000).astype(np.float32).round(1)  # with ties
    features = random.permutation(1000).astype(np.int32)
    expected = np.sort(np.abs(values))[-MOST_FEATURES:]
    before = dict(zip(features, values, strict=True))
    kept = _largest(values, features, 1000, np.empty_like(values))
    assert kept == MOST_FEATURES
    np.testing.assert_array_equal(np.sort(np.abs(values[:kept])), expected)
    assert all(before[f] == v for f, v in zip(features[:kept], values[:kept], strict=True))
    assert _largest(values, features, 20, np.empty_like(values)) == 20


def test_a_mean_of_a_wide_table_is_cut_and_rows_still_fall_into_their_leaves():
    X, Y = topics(200, 2_000)
    forest = grown(X, Y, n_trees=2)
    read = as_read(forest, X)
    for tree, *_ in trees_of(forest):
        assert np.diff(tree[5]).max() == MOST_FEATURES
    arrays = sparse.csr_array(read)
    arrays = arrays.data, arrays.indices.astype(np.int32), arrays.indptr.astype(np.int64)
    for t, (rows, _) in enumerate(forest.samples()):
        a, b = forest.roots[t : t + 2]
        order = np.arange(len(rows), dtype=np.int32)
        how = arrays, read.shape[1], forest.nodes, (a, b)
        starts, ends = sort_into_leaves(*how, rows.astype(np.int64), order)
        np.testing.assert_array_equal(ends - starts, (forest.held[1] - forest.held[0])[a:b])


def test_large_nodes_are_grouped_by_some_of_their_rows(monkeypatch):
    X, Y = topics(mean_tree_kernels.MOST_ROWS * 2)
    forest = grown(X, Y, n_trees=2)
    for tree, rows, _ in trees_of(forest):
        assert len(rows) > mean_tree_kernels.MOST_ROWS
        assert len(np.unique(rows)) == len(rows)
        assert len(tree[0]) > 20


@pytest.mark.parametrize("kind", KINDS)
def test_topics_are_learnt(kind):
    X, Y = topics(600)
    found = left_out(grown(table(kind, X), Y, n_trees=40))
    best = found.argmax(axis=1)
    assert Y[np.arange(600), best].mean() > 0.55 > 2.5 * Y.mean()


def test_the_same_seed_gives_the_same_forest_whatever_n_jobs():
    X, Y = topics()
    first, again, other = grown(X, Y), grown(X, Y, n_jobs=2), grown(X, Y, seed=1)
    np.testing.assert_array_equal(first.confidence(X), again.confidence(X))
    np.testing.assert_array_equal(left_out(first), left_out(again))
    assert not np.array_equal(left_out(first), left_out(other))


def test_a_forest_is_not_held_twice_when_all_its_trees_are_grown(monkeypatch):
    made, held = [], MeanForest._grown

    def grown(forest, *how):
        tree, rows, counts = held(forest, *how)
        made.append([weakref.ref(array) for array in (*tree, rows, counts)])
        return tree, rows, counts

    def concatenate(arrays, *how, **named):
        alive.append(sum(own() is not None for own in np.ravel(made)))
        return joined(arrays, *how, **named)

    alive, joined = [], np.concatenate
    X, Y = topics()
    forest = MeanForest(ReadTable(X, np.zeros(X.shape[1], np.int32)), Y)
    monkeypatch.setattr(MeanForest, "_grown", grown)
    monkeypatch.setattr(np, "concatenate", concatenate)
    forest.grow(np.random.SeedSequence(0).spawn(5), None, 1, 2, n_jobs=1)
    # Trees give up one kind of array after the other; three kinds are in new arrays, numbered on.
    assert alive[-10:] == [35, 35, 35, *range(35, 0, -5)]


def test_units_of_measurement_do_not_count():
    X, Y = topics()
    units = 10.0 ** np.random.default_rng(0).integers(-6, 7, X.shape[1])
    for kind in ("dense", "sparse"):
        own = table(kind, X)
        scaled = sparse.csr_array(own * units) if kind == "sparse" else own * units
        np.testing.assert_allclose(left_out(grown(own, Y)), left_out(grown(scaled, Y)), atol=1e-4)


def words(n=400, m=MANY_LABELS):
    """A label for each of the first words, as a word: a cut of one feature says all."""
    random = np.random.default_rng(0)
    X = (random.random((n, m)) < 0.1).astype(float)
    return X, X.astype(np.uint8)


def test_of_many_labels_the_better_way_to_split_is_chosen():
    X, Y = topics(400, 300, m=MANY_LABELS)
    assert isinstance(grown(X, Y, splits="auto", n_trees=1), MeanForest)
    assert isinstance(grown(X, Y[:, 1:], splits="auto", n_trees=1), FeatureForest)
    assert isinstance(grown(*words(), splits="auto", n_trees=1), FeatureForest)
    # The topics turned into noise, but for the weight of the rows.
    weights = np.repeat([1.0, 0.0], 200)
    Y[200:] = 0
    assert isinstance(grown(X, Y, splits="auto", n_trees=1, weights=weights), MeanForest)


def test_the_number_of_trees_follows_the_kind():
    X, Y = topics(60)
    dense = X + np.random.default_rng(0).random(X.shape)
    for table, splits, number in (
        (dense, "features", 100),
        (X, "features", 200),
        (X, "means", 200),
    ):
        assert grown(table, Y, splits=splits, n_trees="auto").n_trees == number


@pytest.mark.parametrize("n", [1, 2, 3])
def test_hardly_any_rows_of_many_labels_give_probabilities(n):
    X, Y = topics(n, m=MANY_LABELS)
    found = grown(X, Y, splits="auto").confidence(X)
    assert ((found >= 0) & (found <= 1 + 1e-12)).all()


def test_the_trial_estimates_the_error_of_very_many_trees():
    X, Y = topics(300)
    numeric = np.zeros(X.shape[1], dtype=np.int32)
    forest = MeanForest(ReadTable(X, numeric), Y)
    seeds = np.random.SeedSequence(0).spawn(400)
    how = {"weights": None, "wanted": 7, "min_leaf": 2}
    forest.grow(seeds, **how)
    many, are_known = forest.out_of_bag(np.arange(300))
    assert are_known.all()
    truth = ((many - Y) ** 2).sum(axis=1).mean()
    few = [_error_of_many(forest, seeds[at : at + 20], how, Y) for at in range(0, 400, 20)]
    forest.grow(seeds[:20], **how)
    plain = ((forest.out_of_bag(np.arange(300))[0] - Y) ** 2).sum(axis=1).mean()
    assert plain > 1.05 * truth
    assert np.mean(few) == pytest.approx(truth, rel=0.02)


def test_weights_say_how_often_rows_are_drawn():
    X, Y = topics(100)
    weights = np.where(np.arange(100) < 10, 6.0, 1.0)
    weights[-1] = 0
    forest = grown(X, Y, weights=weights, n_trees=100)
    drawn = np.zeros(100)
    for rows, counts in forest.samples():
        drawn[rows] += counts / 100
    assert drawn[:10].mean() / drawn[10:-1].mean() == pytest.approx(6, rel=0.15)
    assert drawn[-1] == 0
    assert np.isfinite(left_out(forest)).all()


BAD_LABELS = {
    "labels that never occur": lambda Y: np.where(np.arange(Y.shape[1]) < 20, Y, 0),
    "no labels at all": np.zeros_like,
    "all labels everywhere": np.ones_like,
    "one label": lambda Y: Y[:, :1],
    "labels in one row only": lambda Y: np.eye(*Y.shape, dtype=np.uint8),
}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("bad", BAD_LABELS)
def test_odd_labels_give_probabilities(bad, kind):
    X, Y = topics(100)
    X, Y = table(kind, X), BAD_LABELS[bad](Y).astype(np.uint8)
    forest = grown(X, Y)
    for found in (left_out(forest), forest.confidence(X)):
        assert np.isfinite(found).all()
        assert ((found >= 0) & (found <= 1)).all()
    never = ~Y.any(axis=0)
    assert (forest.confidence(X)[:, never] < 1e-6).all()


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 3.0])
def test_rows_that_are_all_alike_make_trees_of_one_leaf(make, value):
    _, Y = topics(100)
    forest = grown(make(np.full((100, 3), value)), Y)
    assert forest.n_trees == len(forest.nodes[0]) == 12
    said = forest.confidence(make(np.full((1, 3), value)))[0]
    np.testing.assert_allclose(said, Y.mean(axis=0), atol=0.05)


@pytest.mark.parametrize("shape", [(1, 3, 2), (2, 1, 3), (10, 4, 300)], ids=str)
def test_small_tables_give_probabilities(shape):
    n, d, m = shape
    random = np.random.default_rng(2)
    X, Y = random.normal(size=(n, d)), random.integers(0, 2, (n, m)).astype(np.uint8)
    forest = grown(X, Y)
    for found in (left_out(forest), forest.confidence(random.normal(size=(7, d)))):
        assert ((found >= 0) & (found <= 1)).all()


def test_numbers_beyond_single_precision_are_no_error():
    X, Y = topics()
    for kind in ("dense", "sparse"):
        own = table(kind, X)
        huge = sparse.csr_array(own * 1e300) if kind == "sparse" else own * 1e300
        np.testing.assert_allclose(left_out(grown(own, Y)), left_out(grown(huge, Y)), atol=1e-4)


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_shares_are_those_of_regressions_without_the_row(weighted):
    random = np.random.default_rng(0)
    n, m = 60, 5
    shares = random.random((n, m))
    Y = (random.random((n, m)) < (shares + shares[:, ::-1]) / 2).astype(np.uint8)
    weights = random.integers(1, 4, n).astype(float) if weighted else None
    correction, left_out = fit_share_regression(shares, sparse.csr_array(Y), weights)
    w = np.ones(n) if weights is None else weights / weights.mean()

    def regression(rows, at):
        # The ridge stays, and so do the centres, of which one row changes next to nothing.
        own = w[rows, None]
        Z = shares - w @ shares / n
        A = Z[rows].T @ (own * Z[rows]) + correction.ridge * np.eye(m)
        slopes = np.linalg.solve(A, Z[rows].T @ (own * (Y[rows] - w @ Y / n)))
        return Z[at] @ slopes + w @ Y / n

    everything = np.arange(n)
    expected = shares + correction.trust * (regression(everything, everything) - shares)
    np.testing.assert_allclose(correction.corrected(shares), np.clip(expected, 0, 1), atol=1e-4)
    for i in range(n):
        without = regression(np.delete(everything, i), i)
        expected = np.clip(shares[i] + correction.trust * (without - shares[i]), 0, 1)
        np.testing.assert_allclose(left_out[i], expected, atol=0.03)


def test_shares_that_need_no_correction_get_next_to_none():
    random = np.random.default_rng(0)
    shares = random.random((2000, 6))
    Y = (random.random((2000, 6)) < shares).astype(np.uint8)
    correction, left_out = fit_share_regression(shares, sparse.csr_array(Y))
    assert np.abs(correction.corrected(shares) - shares).mean() < 0.03
    assert ((left_out - Y) ** 2).mean() < 1.01 * ((shares - Y) ** 2).mean()


def test_the_default_serves_many_labels():
    X, Y = topics(150, 300, m=200)
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    (view,) = (view for view in model.view_.views if "forest" in view.names)
    assert isinstance(view.model, MeanForest)
    found = model.predict(X, decide=3)
    assert (found.sum(axis=1) == 3).all()
    assert found[Y == 1].sum() / found.sum() > 0.5


def test_bad_parameters_are_refused_with_a_clear_error():
    X, Y = topics(50)
    with pytest.raises(ValueError, match="splits must be one of"):
        LabelCoverClassifier(LabelForest(splits="sketch")).fit(X, Y)
    with pytest.raises(ValueError, match="n_trees must be an integer or \"auto\", got 'all'"):
        LabelCoverClassifier(LabelForest("all")).fit(X, Y)
