"""What finds and scores the candidates of rows, against plain twins of the compiled loops."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from labelcover.learners import MeanForest, ReadTable
from labelcover.many_labels import _candidate_views as candidate_views
from labelcover.many_labels._candidate_kernels import candidate_shares, greatest_first
from labelcover.many_labels._candidate_views import (
    NOTHING,
    LabelMeans,
    hard_samples,
    train_on_candidates,
)


def text(n=60, m=9, d=30, seed=0):
    random = np.random.default_rng(seed)
    Y = sparse.csr_array((random.random((n, m)) < 0.2).astype(np.uint8))
    words = random.random((m, d)) * (random.random((m, d)) < 0.3)
    X = sparse.csr_array((Y @ words + 0.5 * (random.random((n, d)) < 0.1)).astype(np.float32))
    return X, Y


def cosine(a, b):
    lengths = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / lengths if lengths > 1e-9 else 0.0


@pytest.mark.parametrize("weighted", [False, True])
def test_cosines_of_training_rows_are_those_without_the_row(weighted):
    X, Y = text()
    weights = np.random.default_rng(1).uniform(0.5, 2, 60) if weighted else np.ones(60)
    means = LabelMeans(X, Y, weights)
    candidates = np.tile(np.arange(9, dtype=np.int32), (60, 1))
    found = means.cosines(X, candidates, (Y, weights))
    new = means.cosines(X, candidates)
    rows, labels = X.toarray().astype(float), Y.toarray().astype(float)
    for i in range(60):
        for j in range(9):
            of_all = (weights * labels[:, j]) @ rows
            without = of_all - weights[i] * labels[i, j] * rows[i]
            assert new[i, j] == pytest.approx(cosine(rows[i], of_all), abs=1e-5)
            assert found[i, j] == pytest.approx(cosine(rows[i], without), abs=1e-5)


@pytest.mark.parametrize("training", [False, True])
def test_likeliest_labels_have_the_greatest_cosines(training):
    X, Y = text()
    means = LabelMeans(X, Y, np.ones(60))
    own = (Y[5:25], np.ones(20)) if training else NOTHING
    every = np.tile(np.arange(9, dtype=np.int32), (20, 1))
    cosines = means.cosines(X[5:25], every, own)
    found = means.likeliest(X[5:25], 4, own)
    for some, of_row in zip(found, cosines, strict=True):
        expected = np.sort(of_row[of_row > 1e-6])[::-1][:4]
        np.testing.assert_allclose(of_row[some[some >= 0]], expected, atol=1e-5)


def test_few_posts_read_the_rarest_features_only(monkeypatch):
    monkeypatch.setattr(candidate_views, "MOST_POSTS", 2)
    X = sparse.csr_array(np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 0.0]], dtype=np.float32))
    Y = sparse.csr_array(np.eye(3, dtype=np.uint8))
    means = LabelMeans(X, Y, np.ones(3))
    found = means.likeliest(X, 3)
    # The second feature has one label, the first three: more than two may be read.
    assert found[0].tolist() == [0, -1, -1]
    assert found[1].tolist() == [1, 2, 0]  # a row's first feature is always read


def test_the_greatest_come_first_and_of_equal_ones_the_lower_label():
    random = np.random.default_rng(0)
    for n, most in [(0, 3), (1, 3), (7, 3), (40, 8), (8, 40), (5, 0)]:
        labels = random.permutation(100)[:n].astype(np.int32)
        weights = random.integers(0, 4, n).astype(float)
        expected = [int(j) for _, j in sorted(zip(-weights, labels, strict=True))][:most]
        kept = greatest_first(labels, weights, n, most)
        assert labels[:kept].tolist() == expected


def plain_shares(forest, leaves, Y):
    """Return the mean label shares of the leaves of all rows."""
    start, end, rows, counts = forest.held
    sums = np.zeros((leaves.shape[1], Y.shape[1]))
    for own in leaves:
        for i in np.flatnonzero(own >= 0):
            held = slice(start[own[i]], end[own[i]])
            sums[i] += counts[held] @ Y[rows[held]] / counts[held].sum()
    return sums / np.maximum((leaves >= 0).sum(axis=0), 1)[:, None]


@pytest.mark.parametrize("training", [False, True])
def test_shares_of_candidates_are_those_of_the_whole_forest(training):
    X, Y = text(n=150)
    given = ReadTable(X.astype(np.float64), np.zeros(30, np.int32))
    forest = MeanForest(given, Y)
    forest.grow(np.random.SeedSequence(3).spawn(5), None, 1, 2)
    leaves = forest.leaves(forest.table, np.arange(150), out_of_bag=training)
    for own, (rows, _) in zip(leaves, forest.samples(), strict=True):
        assert (np.isin(np.arange(150), rows) & training == (own < 0)).all()
    expected = plain_shares(forest, leaves, Y.toarray())
    given = np.tile(np.array([4, -1], dtype=np.int32), (150, 1))
    how = forest.held, forest.labels, forest.n_labels
    candidates, shares = candidate_shares(leaves, *how, given, 5)
    assert candidates.shape == (150, 5)
    for i in range(150):
        own = candidates[i][candidates[i] >= 0]
        assert len(set(own.tolist())) == len(own)
        assert own[0] == 4
        np.testing.assert_allclose(shares[i, : len(own)], expected[i, own], rtol=1e-5)
        others = np.sort(np.delete(expected[i], 4))[::-1]
        others = others[others > 0][:4]
        np.testing.assert_allclose(np.sort(shares[i, 1 : len(own)])[::-1], others, rtol=1e-5)


def test_hard_samples_are_the_rows_with_the_label_and_with_it_in_mind():
    Y = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 0, 1]], dtype=np.uint8))
    candidates = np.array([[1, -1], [1, 0], [0, 2], [2, 1]], dtype=np.int32)
    rows, classes, starts = hard_samples(candidates, Y, np.array([True, True, True, False]))
    found = [
        dict(zip(rows[a:b].tolist(), classes[a:b].tolist(), strict=True))
        for a, b in pairwise(starts)
    ]
    assert found == [{0: 1, 1: -1, 2: -1}, {0: -1, 1: 1}, {2: -1}]


def test_linear_svms_after_many_rounds_are_those_of_liblinear(monkeypatch):
    monkeypatch.setattr(candidate_views, "STOP", (20_000, 1e-9))
    X, Y = text(n=200, m=4)
    everything = np.tile(np.arange(4, dtype=np.int32), (200, 1))
    found = train_on_candidates(X, everything, Y, np.full(200, 2.0), 0)
    starts, features, values, biases = found
    for j in range(4):
        best = LinearSVC(C=2.0, tol=1e-9, max_iter=100_000).fit(X.astype(float), Y.toarray()[:, j])
        own = np.zeros(30)
        own[features[starts[j] : starts[j + 1]]] = values[starts[j] : starts[j + 1]]
        np.testing.assert_allclose(own, best.coef_[0], atol=1e-4)
        assert biases[j] == pytest.approx(best.intercept_[0], abs=1e-4)


def test_linear_svms_do_not_depend_on_the_number_of_jobs():
    X, Y = text(n=200)
    candidates = np.tile(np.arange(9, dtype=np.int32), (200, 1))
    one, two = (
        train_on_candidates(X, candidates, Y, np.ones(200), 7, n_jobs=jobs) for jobs in (1, 2)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
