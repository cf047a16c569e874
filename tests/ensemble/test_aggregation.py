"""Mean, votes, winners and weights of members, and which of them members ask for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from labelcover import (
    BalancorClassifier,
    InlacClassifier,
    LabelCoverClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
)
from labelcover.covers import Cover
from labelcover.ensemble._encoding import encode
from labelcover.ensemble._member_weights import LEAST_PROBABILITY, stacking_weights, weigh_members
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier
from labelcover.models import load_model, save_model


def table(n=120, m=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 5))
    return X, (X @ random.normal(size=(5, m)) + random.normal(size=(n, m)) > 0.3).astype(np.uint8)


def members_say(random, n, c):
    """Return a label and the probabilities of members that know more or less about it."""
    truth = random.uniform(0.05, 0.95, n)
    y = (random.random(n) < truth).astype(np.uint8)
    noise = random.uniform(0, 2, c)
    odds = np.log(truth / (1 - truth))[:, None] + noise * random.normal(size=(n, c))
    return 1 / (1 + np.exp(-odds)), y


def penalised_loss(w, P, y, weights):
    right = np.clip(np.where(y[:, None] == 1, P, 1 - P), LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return -(weights / weights.mean()) @ np.log(right @ w) - np.log(w).sum()


@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_that_a_general_optimiser_finds(weighted):
    random = np.random.default_rng(0)
    for n, c in [(10, 3), (200, 2), (200, 5), (50, 1)]:
        P, y = members_say(random, n, c)
        rows = random.uniform(0.1, 3, n) if weighted else np.ones(n)
        found = stacking_weights(P, y, rows if weighted else None)
        best = minimize(
            lambda v, P=P, y=y, rows=rows: penalised_loss(np.exp(v) / np.exp(v).sum(), P, y, rows),
            np.zeros(c),
        )
        expected = np.exp(best.x) / np.exp(best.x).sum()
        np.testing.assert_allclose(found, expected, atol=2e-3)
        assert penalised_loss(found, P, y, rows) <= best.fun + 1e-6


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), c=st.integers(1, 8), sure=st.booleans())
def test_weights_are_positive_sum_to_one_and_are_no_worse_than_equal_ones(seed, n, c, sure):
    random = np.random.default_rng(seed)
    P, y = members_say(random, n, c)
    if sure:
        P = np.round(P)
    w = stacking_weights(P, y)
    assert (w > 0).all()
    assert w.sum() == pytest.approx(1)
    equal = np.full(c, 1 / c)
    assert penalised_loss(w, P, y, np.ones(n)) <= penalised_loss(equal, P, y, np.ones(n)) + 1e-9


def test_the_fewer_rows_the_nearer_to_equal_weights():
    P, y = members_say(np.random.default_rng(3), 2000, 4)
    far = [np.abs(stacking_weights(P[:n], y[:n]) - 0.25).max() for n in (1, 20, 2000)]
    assert far[0] < far[1] < far[2]
    np.testing.assert_allclose(stacking_weights(np.repeat(P[:, :1], 3, axis=1), y), 1 / 3)


def test_rows_may_count_several_times():
    P, y = members_say(np.random.default_rng(4), 300, 3)
    times = np.random.default_rng(5).integers(1, 4, 300)
    # Weights are relative, so that a common factor changes nothing.
    one, other = (stacking_weights(P, y, times * factor) for factor in (1.0, 7.0))
    np.testing.assert_allclose(one, other, rtol=1e-6)
    repeated = stacking_weights(np.repeat(P, times, axis=0), np.repeat(y, times))
    assert np.abs(one - repeated).max() < 0.05


def weighted_by_hand(encoding, distributions, weights):
    """Sum what each member says of each of its labels, times its weight: the plain twin."""
    confidence = np.zeros((len(distributions), encoding.cover.n_labels))
    for j, labels in enumerate(encoding.cover.labelsets):
        patterns = encoding.patterns[encoding.starts[j] : encoding.starts[j + 1]]
        start = encoding.offsets[encoding.problem[j]]
        said = distributions[:, start : start + len(patterns)] @ patterns
        for position, label in enumerate(labels):
            confidence[:, label] += weights[j, position] * said[:, position]
    return confidence


def test_weighted_members_are_summed_as_by_hand_whatever_the_blocks():
    random = np.random.default_rng(0)
    Y = (random.random((40, 6)) < 0.4).astype(np.uint8)
    # The last member poses the same problem as the first.
    cover = Cover([[0, 1, 2], [1, 2, 3], [0, 3, 4], [2, 3, 4], [0, 1, 2]], n_labels=6)
    encoding, _, _ = encode(Y, [cover])
    distributions = random.random((40, int(encoding.offsets[-1])))
    for low, high in zip(encoding.offsets, encoding.offsets[1:], strict=False):
        distributions[:, low:high] /= distributions[:, low:high].sum(axis=1, keepdims=True)
    n_problems = len(encoding.offsets) - 1
    blocks = [slice(0, 1), slice(1, n_problems)]

    def added(own):
        sums = np.zeros((40, own.cover.n_labels))
        for block in blocks:
            columns = slice(encoding.offsets[block.start], encoding.offsets[block.stop])
            own.add(distributions[:, columns], block, sums)
        return own.mean(sums)

    said = added(encoding.of_pairs())
    assert said.shape == (40, 15)
    weighted, left_out = weigh_members(encoding, said, Y, None)
    expected = weighted_by_hand(encoding, distributions, weighted.weights)
    np.testing.assert_allclose(left_out, expected)
    np.testing.assert_allclose(added(weighted), expected)
    # Label 5 is in no labelset.
    assert (expected[:, 5] == 0).all()
    per_label = np.bincount(cover.labelsets.ravel(), weighted.weights.ravel(), minlength=6)
    np.testing.assert_allclose(per_label, [1, 1, 1, 1, 1, 0])


def test_the_weights_of_an_ensemble_are_those_of_its_left_out_predictions():
    X, Y = table()
    options = {"threshold": "loo", "random_state": 0}
    model = BalancorClassifier(aggregate="weighted", **options).fit(X, Y)
    plain = BalancorClassifier(**options).fit(X, Y)
    assert plain.member_weights_ is None
    assert model.member_weights_.shape == model.cover_.labelsets.shape
    per_label = np.bincount(model.cover_.labelsets.ravel(), model.member_weights_.ravel())
    np.testing.assert_allclose(per_label, 1)
    assert not np.allclose(model.predict_proba(X), plain.predict_proba(X))
    how = {"cover": model.cover_, "random_state": 0}
    (rows, _, confidence), (_, _, mean) = (
        LabelCoverClassifier(LeastSquaresClassifier(), aggregate=each, **how)
        .fit(X, Y)
        .left_out_predictions_
        for each in ("weighted", "mean")
    )
    np.testing.assert_array_equal(rows, np.arange(len(Y)))

    def loss(P):
        P = np.clip(P, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
        return -np.log(np.where(Y == 1, P, 1 - P)).mean()

    assert loss(confidence) < loss(mean)


def test_left_out_predictions_are_not_kept_where_nobody_asks_for_them():
    X, Y = table()
    model = BalancorClassifier(aggregate="weighted", threshold=0.5, random_state=0).fit(X, Y)
    assert "_left_out" not in vars(model.view_)
    assert model.member_weights_ is not None


@pytest.mark.parametrize("threshold", ["cv", 0.5])
def test_votes_of_rakel_plus_plus_are_those_of_rakel(threshold):
    X, Y = table()
    cover = [[0, 1, 2], [1, 2, 3], [3, 4, 5], [0, 4, 5]]
    options = {"cover": cover, "random_state": 0}
    votes = RakelPlusPlusClassifier(aggregate="votes", threshold=threshold, **options).fit(X, Y)
    rakel = RakelClassifier(**options).fit(X, Y)
    np.testing.assert_array_equal(votes.predict_proba(X), rakel.predict_proba(X))
    shares = np.unique(votes.predict_proba(X).round(9))
    assert set(shares) <= {0, 0.5, 1}
    mean = RakelClassifier(aggregate="mean", **options).fit(X, Y)
    assert len(np.unique(mean.predict_proba(X))) > 100


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (None, "mean"),
        (C45Classifier(), "mean"),
        (SMOClassifier(), "votes"),
        (SMOClassifier(logistic=True), "mean"),
        (LogisticRegression(), "mean"),
        (SVC(), "votes"),
        (LinearSVC(), "votes"),
        (RidgeClassifier(), "votes"),
        (make_pipeline(StandardScaler(), RidgeClassifier()), "votes"),
        (make_pipeline(StandardScaler(), LogisticRegression()), "mean"),
    ],
    ids=lambda each: type(each).__name__ if not isinstance(each, str) else each,
)
def test_members_without_probabilities_vote(member, expected):
    X, Y = table(400, 4)
    options = {"size": 4, "threshold": 0.5, "random_state": 0}
    model, asked = (
        InlacClassifier(member, aggregate=each, **options).fit(X, Y) for each in ("auto", expected)
    )
    assert model.aggregate_ == asked.aggregate_ == expected
    np.testing.assert_array_equal(model.predict_proba(X), asked.predict_proba(X))
    assert f"combined by '{expected}'" in str(model.plan_)
    assert ("aggregate='votes'" in repr(model)) == (expected == "votes")
    assert model.aggregate == "auto"  # what is shown is not set


def test_what_was_asked_for_is_shown():
    assert "aggregate='mean'" in repr(InlacClassifier(SMOClassifier(), aggregate="mean"))
    assert "aggregate='mean'" in repr(RakelClassifier(aggregate="auto"))
    assert repr(InlacClassifier(C45Classifier())) == "InlacClassifier(estimator=C45Classifier())"


def test_the_winner_speaks_with_its_probability():
    X, Y = table()
    options = {"cover": [[0, 1, 2], [3, 4, 5]], "threshold": 0.5, "random_state": 0}
    # With one member for each label, confidences are what this member says.
    votes, winner = (
        RakelPlusPlusClassifier(C45Classifier(), aggregate=each, **options).fit(X, Y)
        for each in ("votes", "winner")
    )
    said, sure = votes.predict_proba(X), winner.predict_proba(X)
    own = np.where(said > 0.5, sure, 1 - sure)
    for labels in ([0, 1, 2], [3, 4, 5]):
        np.testing.assert_allclose(own[:, labels].min(axis=1), own[:, labels].max(axis=1))
    assert own.min() > 1 / 8
    assert len(np.unique(own.round(6))) > 2


@pytest.mark.parametrize("aggregate", ["votes", "weighted"])
def test_the_default_has_no_members_to_combine(aggregate):
    with pytest.raises(ValueError, match=f'aggregate must be "mean" unless .*got {aggregate!r}'):
        LabelCoverClassifier(aggregate=aggregate).fit(*table())


@pytest.mark.parametrize("aggregate", ["votes", "weighted"])
def test_the_general_estimator_combines_the_members_that_are_named(aggregate):
    X, Y = table()
    member = LeastSquaresClassifier()
    plain = LabelCoverClassifier(member, random_state=0).fit(X, Y)
    model = LabelCoverClassifier(member, aggregate=aggregate, random_state=0).fit(X, Y)
    assert not np.allclose(model.predict_proba(X), plain.predict_proba(X))
    assert (model.member_weights_ is not None) == (aggregate == "weighted")


def test_weights_survive_storage(tmp_path):
    X, Y = table()
    model = BalancorClassifier(aggregate="weighted", threshold="loo", random_state=0).fit(X, Y)
    path = tmp_path / "model.skops"
    save_model(model, path)
    again = load_model(path)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_same_seed_gives_the_same_weights():
    X, Y = table()
    one, other = (
        RakelPlusPlusClassifier(aggregate="weighted", random_state=4).fit(X, Y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.member_weights_, other.member_weights_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
