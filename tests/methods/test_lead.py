"""LEAD: the search for a network, labels as features, and the order of predictions."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelcover.learners import LeastSquaresClassifier
from labelcover.methods import BinaryRelevanceClassifier, LeadClassifier
from labelcover.methods._lead import (
    GaussianBic,
    correlations,
    network_levels,
    search_network,
)
from labelcover.methods._member_rows import with_labels
from labelcover.models import load_model, save_model

# The search


def simulated(weights, n, random):
    """Return rows of a linear Gaussian network: ``weights[i, j]`` is that of i in j."""
    m = len(weights)
    return random.normal(size=(n, m)) @ np.linalg.inv(np.eye(m) - weights)


def random_weights(m, random, density=0.5):
    """Return the weights of a random network, its variables in random order."""
    sizes = random.uniform(0.5, 1.5, (m, m)) * random.choice([-1, 1], (m, m))
    weights = np.triu(sizes * (random.random((m, m)) < density), 1)
    order = random.permutation(m)
    return weights[np.ix_(order, order)]


def bic_of(table):
    return GaussianBic(correlations(table), len(table))


def score_of(bic, parents):
    return sum(bic.local(j, each) for j, each in enumerate(parents))


def every_network(m):
    """Return the parents of all variables in each network of `m` variables without cycles."""
    pairs = list(combinations(range(m), 2))
    found = []
    for directions in product((None, 0, 1), repeat=len(pairs)):
        parents = [[] for _ in range(m)]
        for pair, direction in zip(pairs, directions, strict=True):
            if direction is not None:
                parents[pair[direction]].append(pair[1 - direction])
        try:
            network_levels(parents)
        except ValueError:
            continue
        found.append(parents)
    return found


def skeleton(parents):
    return {frozenset((i, j)) for j, each in enumerate(parents) for i in each}


def v_structures(parents):
    """Return (a, child, b) for each two parents of a child that are not linked."""
    linked = skeleton(parents)
    return {
        (a, child, b)
        for child, each in enumerate(parents)
        for a, b in combinations(sorted(each), 2)
        if frozenset((a, b)) not in linked
    }


def test_there_are_543_networks_of_four_variables():
    assert len(every_network(4)) == 543


def test_the_score_of_a_variable_is_the_bic_of_its_regression():
    random = np.random.default_rng(0)
    table = simulated(random_weights(5, random), 80, random)
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    bic = bic_of(table)
    for parents in ([], [1], [2, 4], [1, 2, 3, 4]):
        fitted = table[:, parents] @ np.linalg.lstsq(table[:, parents], table[:, 0])[0]
        variance = np.mean((table[:, 0] - fitted) ** 2)
        expected = -80 / 2 * np.log(variance) - np.log(80) / 2 * len(parents)
        assert bic.local(0, parents) == pytest.approx(expected, abs=1e-4)
    one_by_one = [bic.local(0, [1, *other]) for other in ([], [2], [3], [4])]
    np.testing.assert_allclose(bic_of(table).local_with_each(0, [1], [2, 3, 4]), one_by_one)


def test_the_structure_of_a_network_is_recovered_from_many_rows_in_most_cases():
    recovered = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        weights = random_weights(8, random, density=0.25)
        truth = [np.flatnonzero(weights[:, j]).tolist() for j in range(8)]
        found = search_network(bic_of(simulated(weights, 20_000, random)), max_parents=7, seed=0)
        recovered.append(
            skeleton(found) == skeleton(truth) and v_structures(found) == v_structures(truth)
        )
    assert np.mean(recovered) >= 0.8


def test_the_search_finds_the_best_of_all_networks_in_most_cases():
    networks = every_network(4)
    equal = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        bic = bic_of(simulated(random_weights(4, random, density=0.6), 60, random))
        score = score_of(bic, search_network(bic, max_parents=3, seed=0))
        best = max(score_of(bic, each) for each in networks)
        assert 0 <= score <= best + 1e-9
        equal.append(score >= best - 1e-6)
    assert np.mean(equal) >= 0.85


@given(
    m=st.integers(1, 12),
    max_parents=st.integers(0, 4),
    n_candidates=st.integers(1, 12),
    seed=st.integers(0, 2**31),
)
def test_a_network_has_no_cycle_keeps_the_limits_and_is_no_worse_than_none(
    m, max_parents, n_candidates, seed
):
    random = np.random.default_rng(seed)
    table = simulated(random_weights(m, random), 40, random)
    bic = bic_of(table)
    found = search_network(bic, max_parents=max_parents, seed=seed, n_candidates=n_candidates)
    network_levels(found)
    assert max(map(len, found)) <= max_parents
    assert score_of(bic, found) >= 0
    # No single removal improves it.
    for j, parents in enumerate(found):
        for parent in parents:
            rest = [p for p in parents if p != parent]
            assert bic.local(j, rest) <= bic.local(j, parents) + 1e-6


def test_columns_that_repeat_each_other_or_do_not_vary_do_no_harm():
    random = np.random.default_rng(0)
    one, other = random.normal(size=(2, 200))
    table = np.column_stack([one, one, -one, other, np.zeros(200), np.full(200, 3.0), one + other])
    found = search_network(bic_of(table), max_parents=3, seed=0)
    network_levels(found)
    linked = set().union(*skeleton(found))
    assert linked == {0, 1, 2, 3, 6}


def test_independent_columns_are_not_linked():
    table = np.random.default_rng(0).normal(size=(5_000, 6))
    assert search_network(bic_of(table), max_parents=3, seed=0) == [()] * 6


def test_the_same_seed_gives_the_same_network():
    random = np.random.default_rng(0)
    table = simulated(random_weights(10, random), 50, random)
    first, again = (search_network(bic_of(table), max_parents=3, seed=5) for _ in range(2))
    assert first == again


def test_weights_of_rows_are_numbers_of_rows():
    random = np.random.default_rng(0)
    table, counts = random.normal(size=(30, 4)), random.integers(1, 5, 30)
    np.testing.assert_allclose(
        correlations(table, counts.astype(float)),
        np.corrcoef(np.repeat(table, counts, axis=0).T),
        atol=1e-9,
    )


def test_hundreds_of_variables_are_searched_among_the_most_correlated():
    random = np.random.default_rng(0)
    m = 300
    table = random.normal(size=(1_000, m))
    table[:, 1:] += np.where(random.random(m - 1) < 0.5, 0.8, 0) * table[:, :-1]
    bic = bic_of(table)
    found = search_network(bic, max_parents=2, seed=0)
    network_levels(found)
    assert score_of(bic, found) > 0
    near = np.abs(np.corrcoef(table[:, 1:].T, table[:, :-1].T).diagonal(m - 1)) > 0.3
    kept = [frozenset((j, j + 1)) in skeleton(found) for j in np.flatnonzero(near).tolist()]
    assert np.mean(kept) > 0.95


def test_levels_put_parents_first_and_cycles_are_refused():
    assert network_levels([(1,), (), (0, 1), (2,)]).tolist() == [1, 0, 2, 3]
    with pytest.raises(ValueError, match="cycle"):
        network_levels([(1,), (0,), ()])


# Labels as features


def test_a_table_with_labels_is_laid_out_row_by_row():
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    found = with_labels(X, np.array([[0], [1], [1], [0]], np.uint8))
    assert found.flags.c_contiguous
    assert found.tolist() == [[0, 1, 2, 0], [3, 4, 5, 1], [6, 7, 8, 1], [9, 10, 11, 0]]


@pytest.mark.parametrize("kind", ["numpy", "sparse", "pandas", "polars"])
def test_columns_are_appended_to_every_kind_of_table(kind):
    X = np.array([[1.0, 0.0], [0.0, 2.0]])
    values = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint8)
    table = {
        "numpy": lambda: X,
        "sparse": lambda: sparse.csr_matrix(X),
        "pandas": lambda: pd.DataFrame(X, index=["r", "s"], columns=["x", "label1"]),
        "polars": lambda: pl.DataFrame(X, schema=["x", "label1"]),
    }[kind]()
    found = with_labels(table, values)
    assert type(found) is type(table)
    dense = found.toarray() if kind == "sparse" else np.asarray(found)
    np.testing.assert_array_equal(dense, np.hstack([X, values]))
    if kind in ("pandas", "polars"):
        assert len(set(found.columns)) == 5


# The estimator


@pytest.fixture(scope="module")
def dependent():
    """A label is a noisy copy of another one, and a third is on if just one of these is."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 4))
    first = X[:, 0] + random.normal(size=400) > 0
    copy = first ^ (random.random(400) < 0.1)
    free = X[:, 1] + random.normal(size=400) > 0
    both = (first & free) ^ (random.random(400) < 0.05)
    return X, np.column_stack([both, copy, free, first]).astype(int)


@pytest.mark.parametrize(
    "member", [LogisticRegression(), LeastSquaresClassifier()], ids=["logistic", "least squares"]
)
def test_dependence_given_the_features_is_found(dependent, member):
    X, Y = dependent
    model = LeadClassifier(member, random_state=0).fit(X, Y)
    assert skeleton(model.parents_) >= {frozenset((1, 3)), frozenset((0, 3)), frozenset((0, 2))}
    assert frozenset((1, 2)) not in skeleton(model.parents_)
    assert model.n_network_rows_ == 400


def test_labels_with_parents_are_predicted_from_their_predicted_values(dependent):
    X, Y = dependent
    member = LogisticRegression()
    model = LeadClassifier(member, random_state=0).fit(X, Y)
    new = np.random.default_rng(1).normal(size=(100, 4))
    expected = np.zeros((100, 4))
    for j in np.argsort(network_levels(model.parents_), kind="stable"):
        parents = list(model.parents_[j])
        fitted = LogisticRegression().fit(np.hstack([X, Y[:, parents]]), Y[:, j])
        known = expected[:, parents] > 0.5
        expected[:, j] = fitted.predict_proba(np.hstack([new, known]))[:, 1]
    assert any(model.parents_)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-6)


@pytest.mark.parametrize(
    "member",
    [LogisticRegression(), LeastSquaresClassifier(), DecisionTreeClassifier(random_state=0)],
    ids=["logistic", "least squares", "tree"],
)
def test_without_dependence_lead_is_binary_relevance(member):
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 4))
    Y = (X[:, :3] + random.normal(size=(300, 3)) > 0).astype(int)
    model = LeadClassifier(member, random_state=0).fit(X, Y)
    assert model.parents_ == [(), (), ()]
    plain = BinaryRelevanceClassifier(member, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_no_parents_allowed_is_binary_relevance(dependent):
    X, Y = dependent
    model = LeadClassifier(LogisticRegression(), max_parents=0).fit(X, Y)
    plain = BinaryRelevanceClassifier(LogisticRegression()).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_the_network_is_learnt_on_rows_not_seen_where_the_learner_knows_them(dependent):
    """Errors of leave-one-out differ from those on training rows, which a tree does not have."""
    X, Y = dependent
    tree = LeadClassifier(DecisionTreeClassifier(random_state=0)).fit(X, Y)
    assert tree.parents_ == [()] * 4
    model = LeadClassifier(LeastSquaresClassifier(kernel="rbf", alpha=1e-6)).fit(X, Y)
    assert frozenset((1, 3)) in skeleton(model.parents_)


def test_nominal_and_sparse_features_are_taken():
    X, Y = make_multilabel_classification(120, 10, n_classes=4, random_state=0)
    member = LeastSquaresClassifier(kernel="linear", alpha=1.0, scale=False)
    dense = LeadClassifier(member, random_state=0).fit(X, Y)
    of_sparse = LeadClassifier(member, random_state=0).fit(sparse.csr_matrix(X), Y)
    assert any(dense.parents_)
    assert dense.parents_ == of_sparse.parents_
    np.testing.assert_allclose(dense.predict_proba(X), of_sparse.predict_proba(X), atol=1e-6)
    frame = pd.DataFrame({"c": pd.Categorical(list("abc") * 40), "x": X[:, 0]})
    assert LeadClassifier(random_state=0).fit(frame, Y).predict(frame).shape == Y.shape


def test_rows_of_weight_zero_count_nowhere(dependent):
    X, Y = dependent
    weights = (np.arange(400) < 300).astype(float)
    wrong = Y.copy()
    wrong[300:] = 1 - wrong[300:]
    model = LeadClassifier(LogisticRegression(), random_state=0)
    weighted = model.fit(X, wrong, sample_weight=weights).predict_proba(X)
    alone = model.fit(X[:300], Y[:300]).predict_proba(X)
    np.testing.assert_allclose(weighted, alone, atol=1e-6)


def test_a_model_on_disk_gives_the_same_predictions(dependent, tmp_path):
    X, Y = dependent
    model = LeadClassifier(random_state=0).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


class NeverFitted(LogisticRegression):
    def fit(self, X, y, sample_weight=None):
        pytest.fail("a member was fitted before the mistake was noticed")


@pytest.mark.parametrize("value", [-1, 1.5, "three", None])
def test_an_impossible_number_of_parents_is_refused_before_anything_is_fitted(dependent, value):
    with pytest.raises(ValueError, match="max_parents must be an integer of at least 0, got"):
        LeadClassifier(NeverFitted(), max_parents=value).fit(*dependent)
