"""Dependent subsets: tests of dependence, greedy clustering, and ensembles of partitions."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from labelcover.dependence import chi_square, contingency
from labelcover.ensemble._view import TrainingRows
from labelcover.learners import LeastSquaresClassifier
from labelcover.learners._batch_classifier import AnyClassifier
from labelcover.methods import (
    BinaryRelevanceClassifier,
    DependentSubsetsClassifier,
    EnsembleOfDependentSubsetsClassifier,
    LabelPowersetClassifier,
)
from labelcover.methods._label_partitions import (
    Trials,
    best_partitions,
    cluster_labels,
    diverse_partitions,
    partition_weights,
    random_partitions,
    unconditional_dependence,
)

NO_VALUES = np.empty(0, np.int32)


def dependent_table(n=300, seed=0):
    """Return features and five labels: 0 and 3 differ together from what the features say."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    signs = X + random.normal(size=(n, 3)) > 0
    third = signs[:, 0] ^ (random.random(n) < 0.05)
    last = X[:, 1] + random.normal(size=n) > 0
    return X, np.column_stack([signs, third, last]).astype(np.uint8)


@pytest.fixture(scope="module")
def data():
    X, Y = dependent_table()
    return X[:200], Y[:200], X[200:]


# Dependence


def test_unconditional_dependence_is_chi_square(data):
    _, Y, _ = data
    dependence = unconditional_dependence(Y, alpha=0.05)
    for a in range(5):
        for b in range(a):
            expected = chi_square(contingency(Y, [a, b]))
            assert dependence.scores[a, b] == pytest.approx(expected)
            assert dependence.scores[b, a] == pytest.approx(expected)
    assert dependence.critical_value == pytest.approx(3.841, abs=1e-3)
    assert dependence.pairs()[0] == (0, 3)
    scores = [dependence.scores[pair] for pair in dependence.pairs()]
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] >= dependence.critical_value


def tables(X):
    names = [f"label{j}" for j in range(X.shape[1])]  # taken already: new columns need others
    return {
        "array": X,
        "sparse": sparse.csr_matrix(X),
        "frame": pd.DataFrame(X, columns=names),
    }


@pytest.mark.parametrize("kind", ["array", "sparse", "frame"])
def test_conditional_dependence_is_the_paired_t_test_over_folds(kind):
    X, Y = dependent_table(120)
    learner = AnyClassifier(LogisticRegression())
    training = TrainingRows(tables(X)[kind], Y[:, [0, 1, 3]], NO_VALUES, None, {})
    found = Trials(learner, training, 5, np.random.default_rng(0)).conditional_dependence(0.01)
    folds = Trials(learner, training, 5, np.random.default_rng(0)).drawn_folds()
    t = np.zeros((3, 3))
    for i in range(3):
        for j in set(range(3)) - {i}:
            scores = []
            for train, test in folds:
                y, other = training.Y[:, i], np.column_stack([X, training.Y[:, j]])
                scores.append(
                    [
                        LogisticRegression().fit(table[train], y[train]).score(table[test], y[test])
                        for table in (other, X)
                    ]
                )
            t[i, j] = stats.ttest_rel(*np.transpose(scores)).statistic
    t = np.nan_to_num(t)  # no difference in any fold
    np.testing.assert_allclose(found.scores, np.maximum(t, t.T), rtol=1e-6)
    assert found.critical_value == pytest.approx(stats.t.ppf(0.995, 4))
    assert found.pairs() == [(0, 2)]


def test_ten_folds_have_the_critical_value_of_the_publication():
    X, Y = dependent_table(60)
    training = TrainingRows(X, Y[:, :2], NO_VALUES, None, {})
    learner = AnyClassifier(DecisionTreeClassifier(max_depth=1))
    found = Trials(learner, training, 10, np.random.default_rng(0)).conditional_dependence(0.01)
    assert found.critical_value == pytest.approx(3.25, abs=1e-3)


# Clustering


def clustered_by_hand(pairs, n_labels, rows_right, max_failures):
    """Return the partition of MULAN's loop, which judges every partition from scratch."""

    def score(partition):
        return np.mean(np.all(rows_right([tuple(sorted(s)) for s in partition]), axis=0))

    partition, failures, seen = {frozenset([j]) for j in range(n_labels)}, 0, []
    best = score(partition)
    for a, b in pairs:
        if failures > max_failures or len(partition) == 1:
            break
        (of_a,) = (s for s in partition if a in s)
        (of_b,) = (s for s in partition if b in s)
        united = (partition - {of_a, of_b}) | {of_a | of_b}
        if united == partition or united in seen:
            continue
        seen.append(united)
        if score(united) >= best:
            partition, best, failures = united, score(united), 0
        else:
            failures += 1
    return partition, best


@given(seed=st.integers(0, 10_000), n_labels=st.integers(2, 7), max_failures=st.integers(0, 12))
@example(
    seed=6792, n_labels=7, max_failures=2
)  # a union rejected once is tried in a later partition
def test_greedy_clustering_is_that_of_mulan(seed, n_labels, max_failures):
    random = np.random.default_rng(seed)
    pairs = [(a, b) for b in range(n_labels) for a in range(b)]
    pairs = [pairs[i] for i in random.permutation(len(pairs))]
    known = {}

    def rows_right(subsets):
        for subset in subsets:
            if subset not in known:
                own = np.random.default_rng([seed, *subset])
                known[subset] = own.random(30) < 0.97 - 0.02 * own.random() * len(subset)
        return [known[subset] for subset in subsets]

    found, reached, _ = cluster_labels(pairs, n_labels, rows_right, max_failures=max_failures)
    partition, score = clustered_by_hand(pairs, n_labels, rows_right, max_failures)
    assert {frozenset(subset) for subset in found} == partition
    assert reached == pytest.approx(score)


def test_rows_are_judged_by_models_that_have_not_seen_them(data):
    X, Y, _ = data
    training = TrainingRows(X, Y, NO_VALUES, None, {})
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    trials = Trials(AnyClassifier(tree), training, 4, np.random.default_rng(0))
    subsets = [(0, 3), (1,), (0, 1, 2)]
    for subset, right in zip(subsets, trials.rows_right(subsets), strict=True):
        labelsets, classes = np.unique(Y[:, subset], axis=0, return_inverse=True)
        predicted = cross_val_predict(tree, X, classes.ravel(), cv=trials.folds)
        np.testing.assert_array_equal(right, (labelsets[predicted] == Y[:, subset]).all(axis=1))


@pytest.mark.parametrize("dependence", ["unconditional", "conditional"])
@pytest.mark.parametrize(
    "member",
    # Kernel and ridge would else be chosen for all subsets together.
    [LeastSquaresClassifier(kernel="linear", alpha=1.0), LogisticRegression()],
    ids=["least squares", "logistic"],
)
def test_dependent_labels_share_a_subset(data, member, dependence):
    X, Y, X_new = data
    model = DependentSubsetsClassifier(
        member, dependence=dependence, n_folds=4, alpha=0.001, random_state=0
    ).fit(X, Y)
    (subset,) = (labels for labels in model.cover_ if 0 in labels)
    assert 3 in subset
    assert model.cover_.label_counts.tolist() == [1] * 5
    assert len(model.cover_) > 1
    for labels in model.cover_:
        alone = LabelPowersetClassifier(member).fit(X, Y[:, labels])
        np.testing.assert_array_equal(model.predict(X_new)[:, labels], alone.predict(X_new))
        np.testing.assert_allclose(
            model.predict_proba(X_new)[:, labels], alone.predict_proba(X_new), atol=1e-6
        )


def test_without_dependence_it_is_binary_relevance():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(80, 3)), random.integers(0, 2, (80, 4))
    member = LogisticRegression()
    model = DependentSubsetsClassifier(member, alpha=1e-6).fit(X, Y)
    relevance = BinaryRelevanceClassifier(member).fit(X, Y)
    assert model.n_tried_ == 0
    assert len(model.cover_) == 4
    np.testing.assert_array_equal(model.predict(X), relevance.predict(X))
    np.testing.assert_array_equal(model.predict_proba(X), relevance.predict_proba(X))


def test_more_folds_than_rows_are_noticed_before_fitting(data):
    X, Y, _ = data
    with pytest.raises(ValueError, match=r"n_folds must be at most .* n_folds=10 and n_samples=6"):
        DependentSubsetsClassifier(LogisticRegression()).fit(X[:6], Y[:6])


# Ensembles


def subsets_of(partition):
    return {frozenset(np.flatnonzero(partition == f).tolist()) for f in np.unique(partition)}


@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(random_state=0)])
@pytest.mark.parametrize("dependence", ["unconditional", "conditional"])
@pytest.mark.parametrize(
    "method", [DependentSubsetsClassifier, EnsembleOfDependentSubsetsClassifier]
)
def test_one_label_and_few_rows_need_no_folds(data, method, dependence, member):
    X, Y, _ = data
    model = method(member, dependence=dependence, random_state=0).fit(X[:3], Y[:3, :1])
    assert [labels.tolist() for labels in model.cover_] == [[0]]
    assert model.predict(X).shape == (len(X), 1)


def test_random_partitions_name_subsets_by_their_first_label():
    partitions = random_partitions(6, 4000, np.random.default_rng(0))
    for partition in partitions:
        for subset in subsets_of(partition):
            assert (partition[list(subset)] == min(subset)).all()
    assert len({tuple(partition) for partition in partitions}) > 100
    assert {len(subsets_of(partition)) for partition in partitions} == set(range(1, 7))


def test_every_partition_of_few_labels_is_drawn():
    partitions = random_partitions(4, 3000, np.random.default_rng(0))
    assert len({tuple(partition) for partition in partitions}) == 15  # the Bell number


@given(seed=st.integers(0, 10_000), m=st.integers(1, 8))
def test_the_weight_counts_pairs_together_less_pairs_apart(seed, m):
    random = np.random.default_rng(seed)
    excess = random.normal(size=(m, m))
    excess += excess.T
    partitions = random_partitions(m, 5, random)
    for partition, weight in zip(partitions, partition_weights(partitions, excess), strict=True):
        expected = sum(
            excess[a, b] if partition[a] == partition[b] else -excess[a, b]
            for b in range(m)
            for a in range(b)
        )
        assert weight == pytest.approx(expected)


def test_the_best_partition_is_found_among_few(data):
    _, Y, _ = data
    dependence = unconditional_dependence(Y)
    excess = dependence.scores - dependence.critical_value
    best = best_partitions(excess, 4000, np.random.default_rng(0))
    weights = partition_weights(best, excess)
    assert len(best) == len(np.unique(best, axis=0)) == 52  # the Bell number of 5
    assert (np.diff(weights) <= 0).all()


def test_members_are_the_best_of_the_most_different():
    best = best_partitions(np.ones((7, 7)), 2000, np.random.default_rng(1))
    chosen = diverse_partitions(best, 4)
    together = best[:, :, None] == best[:, None, :]
    expected = [0]
    for _ in range(3):
        left = [i for i in range(len(best)) if i not in expected]
        distance = {i: min((together[i] != together[j]).sum() for j in expected) for i in left}
        different = sorted(left, key=lambda i: -distance[i])[:20]
        expected.append(min(different))
    np.testing.assert_array_equal(chosen, best[expected])


@pytest.mark.parametrize("aggregate", ["votes", "mean"])
def test_an_ensemble_is_the_mean_over_its_partitions(data, aggregate):
    X, Y, X_new = data
    member = LogisticRegression()
    options = {"n_members": 3, "n_partitions": 200, "random_state": 0}
    model = EnsembleOfDependentSubsetsClassifier(member, aggregate=aggregate, **options).fit(X, Y)
    assert len(model.partitions_) == 3
    assert any(3 in labels for labels in model.partitions_[0] if 0 in labels)
    said = []
    for partition in model.partitions_:
        table = np.empty((len(X_new), 5))
        for labels in partition:
            alone = LabelPowersetClassifier(member).fit(X, Y[:, labels])
            ask = alone.predict if aggregate == "votes" else alone.predict_proba
            table[:, labels] = ask(X_new)
        said.append(table)
    np.testing.assert_allclose(model.decision_function(X_new), np.mean(said, axis=0) - 0.5)


def test_there_are_no_more_members_than_partitions(data):
    X, Y, _ = data
    model = EnsembleOfDependentSubsetsClassifier(n_partitions=500, random_state=0).fit(X, Y[:, :2])
    assert len(model.partitions_) == 2
    alone = EnsembleOfDependentSubsetsClassifier(n_partitions=500, random_state=0).fit(X, Y[:, :1])
    assert len(alone.partitions_) == 1
