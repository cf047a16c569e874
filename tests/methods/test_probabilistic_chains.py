"""Probabilistic chains: the joint distribution, ways to search it, and the best answers."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from labelcover.learners import C45Classifier
from labelcover.methods import (
    EnsembleOfChainsClassifier,
    EnsembleOfProbabilisticChainsClassifier,
    ProbabilisticChainClassifier,
)
from labelcover.methods._probabilistic_chains import Labelsets, beam, epsilon_approximate, mean_of
from labelcover.metrics import example_f1, hamming_loss, subset_accuracy

LOSSES = {
    "subset_accuracy": lambda y, h: float((y != h).any()),
    "hamming_loss": lambda y, h: float((y != h).mean()),
    "example_f1": lambda y, h: 1 - (2 * (y & h).sum() / s if (s := y.sum() + h.sum()) else 1.0),
}


def exact(chain, prepared, rows):
    """Return all labelsets."""
    return beam(chain, prepared, rows, 2 ** len(chain.order))


class RandomChain:
    """A chain whose links depend on row and labels in an arbitrary way."""

    def __init__(self, n_rows, n_labels, seed, sharp=2.0):
        random = np.random.default_rng(seed)
        self.order = random.permutation(n_labels)
        self.tables = [
            1 / (1 + np.exp(-sharp * random.normal(size=(n_rows, 2**link))))
            for link in range(n_labels)
        ]

    def prepare(self, X):
        return None

    def probability(self, prepared, rows, link, before):
        code = before.astype(int) @ (1 << np.arange(link)) if link else np.zeros(len(rows), int)
        return self.tables[link][rows, code]

    def joint(self, row):
        """Return all labelsets and their probabilities, one by one."""
        m = len(self.order)
        labelsets = np.array(list(product([0, 1], repeat=m)), dtype=np.uint8)
        probabilities = np.ones(len(labelsets))
        for i, labels in enumerate(labelsets):
            along = labels[self.order]
            for link in range(m):
                p = self.probability(None, np.array([row]), link, along[None, :link])[0]
                probabilities[i] *= p if along[link] else 1 - p
        return labelsets, probabilities


def bayes_optimal(labelsets, probabilities, loss):
    risks = [
        sum(p * loss(y, h) for y, p in zip(labelsets, probabilities, strict=True))
        for h in labelsets
    ]
    return labelsets[int(np.argmin(risks))], min(risks)


def risk(h, labelsets, probabilities, loss):
    return sum(p * loss(y, h) for y, p in zip(labelsets, probabilities, strict=True))


@given(st.integers(1, 5), st.integers(0, 1000))
def test_exact_inference_is_enumeration_of_the_joint(n_labels, seed):
    chain = RandomChain(3, n_labels, seed)
    found = exact(chain, None, np.arange(3))
    marginals, modes = found.marginals(3), found.most_probable()
    best_f1 = found.best_for_f1(3)
    for row in range(3):
        labelsets, probabilities = chain.joint(row)
        own = found.row == row
        assert own.sum() == 2**n_labels
        by_labels = {tuple(y): p for y, p in zip(found.labels[own], found.share[own], strict=True)}
        for y, p in zip(labelsets, probabilities, strict=True):
            assert by_labels[tuple(y)] == pytest.approx(p)
        np.testing.assert_allclose(marginals[row], probabilities @ labelsets)
        np.testing.assert_array_equal(modes[row], labelsets[probabilities.argmax()])
        _, least = bayes_optimal(labelsets, probabilities, LOSSES["example_f1"])
        ours = risk(best_f1[row], labelsets, probabilities, LOSSES["example_f1"])
        assert ours == pytest.approx(least)
        _, least = bayes_optimal(labelsets, probabilities, LOSSES["hamming_loss"])
        ours = risk((marginals[row] > 0.5) + 0, labelsets, probabilities, LOSSES["hamming_loss"])
        assert ours == pytest.approx(least)


def test_a_beam_of_width_one_is_the_greedy_chain():
    chain = RandomChain(6, 5, 0)
    found = beam(chain, None, np.arange(6), 1)
    greedy = np.empty((6, 5), np.uint8)
    for link in range(5):
        p = chain.probability(None, np.arange(6), link, greedy[:, :link])
        greedy[:, link] = p > 0.5
    np.testing.assert_array_equal(found.labels[:, chain.order], greedy)


@pytest.mark.parametrize("epsilon", [1e-6, 0.05, 0.2, 0.5, 1.0])
def test_epsilon_finds_the_mode_where_it_is_probable_enough(epsilon):
    n = 40
    chain = RandomChain(n, 5, 1)
    found = epsilon_approximate(chain, None, np.arange(n), epsilon)
    whole = exact(chain, None, np.arange(n))
    modes = whole.most_probable()
    probability = np.array([whole.share[whole.row == row].max() for row in range(n)])
    sure = probability >= epsilon
    if epsilon <= 0.05:
        assert sure.all()
    np.testing.assert_array_equal(found.most_probable()[sure], modes[sure])
    assert (np.unique(found.row) == np.arange(n)).all()  # an answer for the others, too
    # Labelsets that are at least so probable are all found, and no others for these rows.
    for row in np.flatnonzero(sure):
        expected = (whole.share[whole.row == row] >= epsilon).sum()
        assert (found.row == row).sum() == expected


def test_impossible_labelsets_are_left_out():
    chain = RandomChain(3, 4, 0)
    chain.tables[1][:] = 1.0
    found = exact(chain, None, np.arange(3))
    assert len(found.row) == 3 * 8
    assert (found.labels[:, chain.order[1]] == 1).all()


def test_the_mean_of_chains_is_that_of_their_joints():
    chains = [RandomChain(3, 4, seed) for seed in range(3)]
    found = mean_of([exact(chain, None, np.arange(3)) for chain in chains])
    for row in range(3):
        joints = [chain.joint(row) for chain in chains]
        expected = np.mean([p for _, p in joints], axis=0)
        own = found.row == row
        order = np.lexsort(found.labels[own].T[::-1])
        np.testing.assert_allclose(found.share[own][order], expected)
        np.testing.assert_allclose(np.exp(found.log_probability[own][order]), expected)


def test_a_single_labelset_is_best_for_every_measure():
    labels = np.array([[1, 0, 1], [0, 0, 0]], np.uint8)
    found = Labelsets(np.arange(2), labels, np.zeros(2), np.ones(2))
    np.testing.assert_array_equal(found.best_for_f1(2), labels)
    np.testing.assert_array_equal(found.most_probable(), labels)
    np.testing.assert_array_equal(found.marginals(2), labels)


# The estimators


@pytest.fixture(scope="module")
def problem():
    X, Y = make_multilabel_classification(150, 8, n_classes=5, random_state=3)
    return StandardScaler().fit_transform(X), Y


@pytest.fixture(scope="module")
def many_labels():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 6))
    Y = (X @ random.normal(size=(6, 20)) + random.normal(size=(120, 20)) > 1).astype(int)
    Y[:, 7] = 0
    return X, Y


@pytest.mark.parametrize("estimator", [None, LogisticRegression(), C45Classifier()])
def test_the_probability_of_a_labelset_is_the_product_of_its_links(problem, estimator):
    X, Y = problem
    order = [3, 0, 4, 1, 2]
    model = ProbabilisticChainClassifier(estimator, order=order).fit(X, Y)
    (chain,) = model.view_.members
    np.testing.assert_array_equal(chain.order, order)
    labelsets = np.array(list(product([0, 1], repeat=5)), dtype=np.uint8)
    joint = np.ones((10, 32))
    for i, labels in enumerate(labelsets):
        along = np.tile(labels[order], (10, 1))
        for link in range(5):
            p = chain.probability(chain.prepare(X[:10]), None, link, along[:, :link])
            joint[:, i] *= np.where(along[:, link], p, 1 - p)
    np.testing.assert_allclose(joint.sum(axis=1), 1)
    np.testing.assert_allclose(model.predict_proba(X[:10]), joint @ labelsets, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X[:10]), labelsets[joint.argmax(axis=1)])


def test_monte_carlo_converges(problem):
    X, Y = problem
    exactly = ProbabilisticChainClassifier(random_state=0).fit(X, Y).predict_proba(X)
    errors = [
        np.abs(
            ProbabilisticChainClassifier(
                inference="monte-carlo", n_samples=n_samples, random_state=0
            )
            .fit(X, Y)
            .predict_proba(X)
            - exactly
        ).mean()
        for n_samples in (10, 100, 2000)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.005


def test_samples_of_a_row_do_not_depend_on_the_rows_beside_it(many_labels):
    X, Y = many_labels
    model = ProbabilisticChainClassifier(inference="monte-carlo", random_state=0).fit(X, Y)
    np.testing.assert_allclose(
        model.predict_proba(X)[50:60], model.predict_proba(X[50:60]), atol=1e-12
    )


MEASURES = {
    "subset_accuracy": (subset_accuracy, 1),
    "hamming_loss": (hamming_loss, -1),
    "example_f1": (example_f1, 1),
}


def test_every_decision_is_best_for_its_own_measure_if_the_model_is_right():
    """Labels are drawn from the model itself, so that expectations are what is measured."""
    random = np.random.default_rng(0)
    chain = RandomChain(4000, 5, 0, sharp=1.0)
    found = exact(chain, None, np.arange(4000))
    cumulated = np.cumsum(found.share.reshape(4000, 32), axis=1)
    drawn = (cumulated < random.random((4000, 1))).sum(axis=1).clip(max=31)
    Y = found.labels.reshape(4000, 32, 5)[np.arange(4000), drawn]
    predicted = {
        "subset_accuracy": found.most_probable(),
        "hamming_loss": found.marginals(4000) > 0.5,
        "example_f1": found.best_for_f1(4000),
    }
    for name, (measure, sign) in MEASURES.items():
        scores = {decide: sign * measure(Y, each) for decide, each in predicted.items()}
        assert max(scores, key=scores.get) == name, scores


@pytest.mark.parametrize("decide", MEASURES)
@pytest.mark.parametrize("inference", ["auto", "beam", "epsilon", "monte-carlo"])
def test_many_labels_are_searched(many_labels, inference, decide):
    X, Y = many_labels
    model = ProbabilisticChainClassifier(
        inference=inference, decide=decide, random_state=0, order="random"
    ).fit(X, Y)
    predicted = model.predict(X)
    assert not predicted[:, 7].any()
    guess = np.tile(Y.mean(axis=0) > 0.5, (120, 1))
    measure, sign = MEASURES[decide]
    assert sign * measure(Y, predicted) > sign * measure(Y, guess)


def test_exact_inference_of_many_labels_is_refused_at_once(many_labels):
    with pytest.raises(ValueError, match=r"at most 15 labels, got 20\. Use 'auto', 'beam'"):
        ProbabilisticChainClassifier(inference="exact").fit(*many_labels)


def test_the_ensemble_of_one_chain_without_bagging_is_the_chain(problem):
    X, Y = problem
    alone = ProbabilisticChainClassifier(random_state=0).fit(X, Y)
    ensemble = EnsembleOfProbabilisticChainsClassifier(
        n_chains=1, bagging=None, order=range(5), random_state=0
    ).fit(X, Y)
    np.testing.assert_allclose(alone.predict_proba(X), ensemble.predict_proba(X))
    np.testing.assert_array_equal(alone.predict(X), ensemble.predict(X))


@pytest.mark.parametrize("bagging", [None, "bootstrap"])
def test_the_marginals_of_the_ensemble_are_the_mean_of_those_of_its_chains(problem, bagging):
    X, Y = problem
    model = EnsembleOfProbabilisticChainsClassifier(
        n_chains=3, bagging=bagging, random_state=0
    ).fit(X, Y)
    expected = np.mean(
        [
            exact(chain, chain.prepare(X), np.arange(len(X))).marginals(len(X))
            for chain in model.view_.members
        ],
        axis=0,
    )
    np.testing.assert_allclose(model.predict_proba(X), expected)
    of_votes = EnsembleOfChainsClassifier(n_chains=3, bagging=bagging, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.orders_, of_votes.orders_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decide": "micro_f1"}, "decide must be one of 'subset_accuracy', .*got 'micro_f1'"),
        ({"inference": "gibbs"}, "inference must be one of 'auto', 'exact', .*got 'gibbs'"),
        ({"beam_width": 0}, "beam_width must be an integer of at least 1, got 0"),
        ({"epsilon": 0}, "epsilon must be a number above 0 and at most 1, got 0"),
        ({"n_samples": 1.5}, "n_samples must be an integer of at least 1, got 1.5"),
        ({"order": [0, 0, 1, 2, 3]}, "order must be"),
    ],
    ids=str,
)
def test_impossible_parameters_are_refused(problem, change, message):
    for kind in (ProbabilisticChainClassifier, EnsembleOfProbabilisticChainsClassifier):
        with pytest.raises(ValueError, match=message):
            kind(**change).fit(*problem)
