"""Pruned sets: which rows are kept, with which labels, and what the models then say."""

import tracemalloc
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from joblib import parallel_config
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelcover._table_numbers import relative_weights
from labelcover.learners import C45Classifier, LeastSquaresClassifier
from labelcover.methods import (
    EnsembleOfPrunedSetsClassifier,
    LabelPowersetClassifier,
    PrunedSetsClassifier,
)
from labelcover.methods._label_powerset import Pruning, SubsampledView, sample_size

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)


@pytest.fixture(scope="module")
def data():
    X, Y = make_multilabel_classification(220, 8, n_classes=6, random_state=2)
    X = StandardScaler().fit_transform(X)
    return X[:150], Y[:150], X[150:]


def pruned_by_hand(Y, p, strategy, b):
    """Return the pairs (row, labelset) to train on as the publication describes them."""
    labelsets = [frozenset(np.flatnonzero(row).tolist()) for row in Y]
    counts = {labelset: labelsets.count(labelset) for labelset in labelsets}
    pairs = []
    for i, labelset in enumerate(labelsets):
        if counts[labelset] > p:
            pairs.append((i, labelset))
            continue
        subsets = [
            frozenset(subset)
            for size in range(1, len(labelset))
            for subset in combinations(sorted(labelset), size)
            if counts.get(frozenset(subset), 0) > p
        ]
        # Sets whose first label comes later have the smaller pattern of zeros and ones.
        subsets.sort(key=lambda s: [j in s for j in range(Y.shape[1])])
        subsets.sort(key=lambda s: (-len(s), -counts[s]))
        kept = subsets[:b] if strategy == "A" else [s for s in subsets if len(s) > b]
        pairs += [(i, subset) for subset in kept]
    return pairs


@given(
    Y=arrays(
        np.uint8, st.tuples(st.integers(5, 40), st.integers(1, 5)), elements=st.integers(0, 1)
    ),
    p=st.integers(0, 3),
    strategy=st.sampled_from("AB"),
    b=st.integers(0, 3),
)
def test_rows_are_kept_as_the_publication_says(Y, p, strategy, b):
    p = min(p, np.unique(Y, axis=0, return_counts=True)[1].max() - 1)
    rows, labels = Pruning(p, strategy, b).rows(Y)
    ours = [
        (i, frozenset(np.flatnonzero(row).tolist())) for i, row in zip(rows, labels, strict=True)
    ]
    expected = pruned_by_hand(Y, p, strategy, b)
    assert [i for i, _ in ours] == [i for i, _ in expected]
    if strategy == "A":
        assert ours == expected
    else:
        assert set(ours) == set(expected)


def test_a_weight_counts_as_so_many_rows():
    Y = np.array([[1, 0], [0, 1], [1, 1]], dtype=np.uint8)
    rows, labels = Pruning(1, "A", 2).rows(Y, np.array([2.0, 2.0, 1.0]))
    assert rows.tolist() == [0, 1, 2, 2]
    assert labels.tolist() == [[1, 0], [0, 1], [0, 1], [1, 0]]


def test_memory_grows_with_the_rows_where_every_labelset_is_kept():
    Y = (np.arange(4000)[:, None] >> np.arange(12) & 1).astype(np.uint8)
    tracemalloc.start()
    rows, labels = Pruning(0, "A", 2).rows(Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(rows, np.arange(4000))
    assert np.array_equal(labels, Y)
    assert peak < 4000 * 4000 / 4  # a byte for every two labelsets would be 16 MB


@pytest.mark.parametrize("member", [TREE, LogisticRegression(), LeastSquaresClassifier()])
@pytest.mark.parametrize("threshold", [None, "auto"])
def test_without_pruning_it_is_label_powerset(data, member, threshold):
    X, Y, X_new = data
    pruned = PrunedSetsClassifier(member, p=0, threshold=threshold, random_state=0).fit(X, Y)
    powerset = LabelPowersetClassifier(member, threshold=threshold, random_state=0).fit(X, Y)
    assert pruned.threshold_ == powerset.threshold_
    np.testing.assert_array_equal(pruned.predict(X_new), powerset.predict(X_new))
    np.testing.assert_array_equal(pruned.predict_proba(X_new), powerset.predict_proba(X_new))


@pytest.mark.parametrize(("strategy", "b"), [("A", 2), ("A", 0), ("B", 1)])
def test_it_is_label_powerset_on_the_pruned_rows(data, strategy, b):
    X, Y, X_new = data
    rows, labels = Pruning(2, strategy, b).rows(Y.astype(np.uint8))
    assert len(np.unique(rows)) < len(rows) if b else len(rows) < len(Y)
    model = PrunedSetsClassifier(C45Classifier(), p=2, strategy=strategy, b=b).fit(X, Y)
    by_hand = LabelPowersetClassifier(C45Classifier()).fit(X[rows], labels)
    np.testing.assert_array_equal(model.predict(X_new), by_hand.predict(X_new))
    np.testing.assert_array_equal(model.predict_proba(X_new), by_hand.predict_proba(X_new))


def test_weights_follow_their_rows(data):
    X, Y, X_new = data
    weights = np.random.default_rng(0).choice([1.0, 3.0], len(X))
    relative = relative_weights(weights)
    rows, labels = Pruning(4, "A", 2).rows(Y.astype(np.uint8), relative)
    model = PrunedSetsClassifier(TREE, p=4).fit(X, Y, sample_weight=weights)
    by_hand = LabelPowersetClassifier(TREE).fit(X[rows], labels, sample_weight=weights[rows])
    np.testing.assert_allclose(model.predict_proba(X_new), by_hand.predict_proba(X_new))


def test_the_most_frequent_labelsets_stay_if_all_would_go(data):
    X, Y, X_new = data
    patterns, counts = np.unique(Y, axis=0, return_counts=True)
    with pytest.warns(UserWarning, match="p=100 prunes every labelset"):
        model = PrunedSetsClassifier(TREE, p=100).fit(X, Y)
    left = {tuple(row) for row in patterns[counts == counts.max()]}
    assert {tuple(row) for row in model.predict(X_new)} <= left


def test_copies_of_a_row_are_not_left_out(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match='threshold="loo" needs'):
        PrunedSetsClassifier(threshold="loo").fit(X, Y)


# Ensembles


@pytest.mark.parametrize("aggregate", ["mean", "votes"])
def test_one_member_on_all_rows_is_pruned_sets(data, aggregate):
    X, Y, X_new = data
    pruned = PrunedSetsClassifier(TREE, p=2, b=3).fit(X, Y)
    alone = EnsembleOfPrunedSetsClassifier(
        TREE, n_members=1, subsample=1.0, aggregate=aggregate, threshold=0.5
    ).fit(X, Y)
    if aggregate == "votes":
        np.testing.assert_array_equal(alone.predict(X_new), pruned.predict(X_new))
    else:
        np.testing.assert_array_equal(alone.predict_proba(X_new), pruned.predict_proba(X_new))


def test_confidences_and_votes_are_means_over_members_on_samples(data):
    X, Y, X_new = data
    options = {"n_members": 4, "threshold": 0.5, "random_state": 1}
    model = EnsembleOfPrunedSetsClassifier(TREE, **options).fit(X, Y)
    voting = EnsembleOfPrunedSetsClassifier(TREE, aggregate="votes", **options).fit(X, Y)
    samples = [member.encoding.starts for member in model.view_.members]
    assert len({tuple(starts) for starts in samples}) > 1  # other rows, other labelsets
    each = [member.confidences(X_new)[0] for member in model.view_.members]
    np.testing.assert_allclose(model.predict_proba(X_new), np.mean(each, axis=0), atol=1e-12)
    votes = [member.most_probable(X_new) for member in model.view_.members]
    np.testing.assert_allclose(
        voting.decision_function(X_new), np.mean(votes, axis=0) - 0.5, atol=1e-12
    )


def test_members_see_samples_without_replacement(data):
    X, Y, _ = data
    seen = []

    class Recorder(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(X[:, 0])
            return super().fit(X, y)

    X = np.column_stack([np.arange(len(X)), X])
    options = {"n_members": 3, "subsample": 0.4, "p": 0, "random_state": 0}
    EnsembleOfPrunedSetsClassifier(Recorder(), threshold=0.5, **options).fit(X, Y)
    assert [len(np.unique(rows)) for rows in seen] == [60, 60, 60]
    assert [len(rows) for rows in seen] == [60, 60, 60]
    assert len({tuple(rows) for rows in seen}) == 3


def test_left_out_confidences_are_those_of_members_fitted_without_the_row(data, asked_left_out):
    X, Y, _ = data
    asked = asked_left_out(SubsampledView)
    n, options = len(X), {"n_members": 3, "subsample": 0.6, "random_state": 0}
    model = EnsembleOfPrunedSetsClassifier(LogisticRegression(), threshold="loo", **options)
    model.fit(X, Y)
    ((rows, (confidence,)),) = asked
    assert model.n_threshold_rows_ == len(rows) < n
    # Which rows a member has seen follows from its seed, as in the fit.
    seeds = np.random.RandomState(0).randint(2**31 - 1, size=3)
    of_members = np.random.default_rng(seeds[1]).integers(2**31 - 1, size=3)
    size = sample_size(n, 0.6)
    unseen = np.ones((3, n), dtype=bool)
    for j, seed in enumerate(of_members):
        unseen[j, np.random.default_rng(seed).choice(n, size, replace=False)] = False
    assert rows.tolist() == np.flatnonzero(unseen.any(axis=0)).tolist()
    each = np.array([member.confidences(X)[0] for member in model.view_.members])
    expected = (unseen[:, :, None] * each).sum(axis=0)[rows] / unseen.sum(axis=0)[rows, None]
    np.testing.assert_allclose(confidence, expected)


def test_members_in_parallel_are_those_fitted_one_by_one(data):
    X, Y, X_new = data
    with parallel_config(backend="threading"):
        one, two = (
            EnsembleOfPrunedSetsClassifier(TREE, n_members=3, n_jobs=n_jobs, random_state=0).fit(
                X, Y
            )
            for n_jobs in (None, 2)
        )
    np.testing.assert_array_equal(one.predict_proba(X_new), two.predict_proba(X_new))
    assert one.threshold_ == two.threshold_


def test_the_threshold_of_the_publication_keeps_the_number_of_labels(data, asked_left_out):
    X, Y, _ = data
    asked = asked_left_out(SubsampledView)
    model = EnsembleOfPrunedSetsClassifier(
        TREE,
        threshold_measure=lambda Y, Y_pred: -abs(Y.sum() - Y_pred.sum()),
        random_state=0,
    ).fit(X, Y)
    ((rows, (confidence,)),) = asked
    ours, half = ((confidence > t).sum() for t in (model.threshold_, 0.5))
    assert abs(ours - Y[rows].sum()) < abs(half - Y[rows].sum())


def test_out_of_bag_tuning_needs_rows_out_of_the_bag(data):
    X, Y, _ = data
    assert EnsembleOfPrunedSetsClassifier(TREE, subsample=1, n_members=1)._tuning() == "cv"
    with pytest.raises(ValueError, match="n_samples=1"):
        EnsembleOfPrunedSetsClassifier(TREE).fit(X[:1], Y[:1])
