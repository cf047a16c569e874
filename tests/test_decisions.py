"""Decisions do what they say, against enumeration, and serve their measure on left-out rows."""

import pickle
import tracemalloc
from itertools import product

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelcover import _decision_kernels as decision_kernels
from labelcover import decisions
from labelcover.decisions import MEASURES_OF_DECISIONS, check_decision, fit_decision
from labelcover.metrics import MEASURES, example_accuracy, micro_f1
from labelcover.models import is_trusted
from labelcover.thresholds import best_threshold

ALL = [*MEASURES_OF_DECISIONS, 2, example_accuracy]


def rows(n=200, m=5, seed=0):
    """Labels and noisy probabilities of them."""
    random = np.random.default_rng(seed)
    P = random.beta(0.5, 1.2, size=(n, m))
    Y = (random.random((n, m)) < P).astype(np.uint8)
    return Y, np.clip(P + 0.1 * random.normal(size=(n, m)), 0.001, 0.999)


def labelled_rows(n, seed, m=8, n_labelsets=25, noise=0.8):
    """Rows of dependent labels with their true probabilities, by Bayes' rule."""
    world = np.random.default_rng(0)
    labelsets = np.unique(world.random((n_labelsets, m)) < np.linspace(0.05, 0.5, m), axis=0)
    prior = world.dirichlet(np.full(len(labelsets), 0.7))
    centres = world.normal(size=(len(labelsets), 3))
    random = np.random.default_rng(seed)
    own = random.choice(len(labelsets), n, p=prior)
    X = centres[own] + noise * random.normal(size=(n, 3))
    distance = ((X[:, None] - centres) ** 2).sum(axis=2)
    weights = prior * np.exp(-distance / (2 * noise**2))
    P = (weights / weights.sum(axis=1, keepdims=True)) @ labelsets
    return labelsets[own].astype(np.uint8), np.clip(P, 1e-6, 1 - 1e-6)


def every_labelset(m):
    return np.array(list(product([0, 1], repeat=m)), dtype=np.uint8)


# What is accepted


@pytest.mark.parametrize("decide", [*MEASURES_OF_DECISIONS, 1, 4, np.int32(3), micro_f1])
def test_names_numbers_and_functions_are_accepted(decide):
    check_decision(decide, 4)


@pytest.mark.parametrize("decide", ["accuracy", 0, 5, np.int64(5), 1.0, True, None, ["micro_f1"]])
def test_other_values_are_refused_with_what_is_accepted(decide):
    with pytest.raises(ValueError, match=r"decide must be one of 'micro_f1'.* got ") as error:
        check_decision(decide, 4)
    assert repr(decide) in str(error.value)
    assert "between 1 and 4" in str(error.value)


def test_a_function_without_weights_is_refused_where_rows_have_them():
    Y, P = rows()
    with pytest.raises(ValueError, match="decide must be a function that takes sample_weight"):
        fit_decision(lambda Y, guess: 0.0, Y, P, sample_weight=np.ones(len(Y)))


# One threshold, and one for each label


def mixed_f1(y, p, threshold):
    """F1 of counts observed and expected, where the expected ones count as 10 positive rows."""
    trust = 10 / (10 + y.sum())
    belief = (1 - trust) * y + trust * p
    guess = p > threshold
    if not guess.any():
        return trust * (1 - p).prod()  # if the label is true in no row, predicting none is perfect
    return 2 * belief[guess].sum() / (guess.sum() + belief.sum())


@given(st.data())
def test_no_threshold_has_a_greater_f1(data):
    n = data.draw(st.integers(1, 12))
    y = data.draw(arrays(np.uint8, (n, 1), elements=st.integers(0, 1)))
    levels = st.sampled_from([0.0, 0.01, 0.1, 0.2, 0.45, 0.7, np.nextafter(0.7, 1), 0.9, 1.0])
    p = data.draw(arrays(np.float64, (n, 1), elements=levels))
    seen = np.ones((1, 1), dtype=np.uint8)
    found = fit_decision("micro_f1", y, p, seen=seen).threshold
    best = max(mixed_f1(y, p, t) for t in [-1.0, *p.ravel()])
    assert mixed_f1(y, p, found) == pytest.approx(best)
    each = fit_decision("macro_f1", y, p, seen=seen).threshold
    assert each.tolist() == [found]


def test_micro_f1_is_cut_nearly_where_the_rows_say():
    Y, P = labelled_rows(800, 1)
    found = fit_decision("micro_f1", Y, P)
    best = max(micro_f1(Y, t < P) for t in np.linspace(0.01, 0.99, 99))
    assert micro_f1(Y, found.decide(P)) > best - 0.002


def test_the_threshold_of_a_rare_label_is_not_that_of_its_only_row():
    random = np.random.default_rng(0)
    P = np.sort(random.beta(1, 30, size=(400, 1)), axis=0)
    Y = np.zeros((400, 1), dtype=np.uint8)
    Y[50] = 1  # an unlikely row: the observed F1 alone would predict nearly all rows
    assert fit_decision("macro_f1", Y, P).decide(P).mean() < 0.5


def test_a_label_that_no_row_is_expected_to_have_is_not_predicted_for_macro_f1():
    Y, P = rows(n=300)
    P[:, 2] = 0.001
    P[0, 2] = 0.05
    Y[:, 2] = 0
    Y[7, 2] = 1
    assert fit_decision("macro_f1", Y, P).threshold[2] == 1
    # If it is expected in a few rows, they are predicted.
    P[7:10, 2] = 0.5
    assert fit_decision("macro_f1", Y, P).decide(P)[:, 2].nonzero()[0].tolist() == [7, 8, 9]


def test_a_label_that_is_never_true_is_never_predicted_for_macro_f1():
    Y, P = rows()
    Y[:, 1] = 0
    P[:, 1] = 0.3
    found = fit_decision("macro_f1", Y, P)
    assert found.threshold[1] == 1
    assert not found.decide(np.ones_like(P))[:, 1].any()
    # It is cut by its probabilities if it is true in another training row.
    seen = np.vstack([Y, np.ones((1, 5), dtype=np.uint8)])
    assert fit_decision("macro_f1", Y, P, seen=seen).threshold[1] < 0.3


def test_a_function_gets_the_threshold_that_is_best_for_it():
    Y, P = rows()
    found = fit_decision(example_accuracy, Y, P)
    assert found.threshold == best_threshold(Y, P, measure=example_accuracy)[0]
    assert found.measure == "example_accuracy"


# Sets of greatest expected F1


def chances_by_enumeration(p, lift):
    sets = every_labelset(len(p))
    return sets, np.where(sets, p, 1 - p).prod(axis=1) * lift[sets.sum(axis=1)]


def expected_f1(guess, sets, chances):
    both = guess.sum() + sets.sum(axis=1)
    f1 = np.where(both == 0, 1.0, 2 * (sets & guess).sum(axis=1) / np.maximum(both, 1))
    return chances @ f1


@given(st.data())
def test_no_set_has_a_greater_expected_f1(data):
    m = data.draw(st.integers(1, 6))
    p = data.draw(arrays(np.float64, m, elements=st.floats(0.0, 1.0)))
    lift = data.draw(arrays(np.float64, m + 1, elements=st.floats(0.01, 100.0)))
    sets, chances = chances_by_enumeration(p, lift)
    best = max(expected_f1(guess, sets, chances) for guess in sets)
    decision = decisions.ExpectedF1(measure="example_f1", count_lift=lift)
    guess = decision.decide(p[None])[0]
    assert expected_f1(guess, sets, chances) == pytest.approx(best, rel=1e-6)


def test_numbers_of_labels_beyond_those_of_the_fit_have_a_lift_of_1():
    """As where known labels become candidates beside those that the fit had."""
    lift, P = np.array([0.5, 2.0, 1.5]), np.full((1, 9), 0.6)
    few, all_ = (
        decisions.ExpectedF1(measure="example_f1", count_lift=np.pad(lift, (0, more)) + ones)
        for more, ones in ((0, 0.0), (7, np.repeat([0.0, 1.0], [3, 7])))
    )
    np.testing.assert_array_equal(few.decide(P), all_.decide(P))


def test_the_lift_is_the_quotient_of_observed_and_expected_numbers_of_rows():
    Y, P = rows(n=30, m=4)
    observed, expected = np.zeros(5), np.zeros(5)
    for y, p in zip(Y, P, strict=True):
        sets, chances = chances_by_enumeration(p, np.ones(5))
        observed[y.sum()] += 1
        np.add.at(expected, sets.sum(axis=1), chances)
    found = fit_decision("example_f1", Y, P).count_lift
    np.testing.assert_allclose(found, (observed + 1) / (expected + 1))


def test_the_numbers_of_labels_of_wide_rows_are_right_where_they_are_cut_off():
    random = np.random.default_rng(0)
    for p in (random.beta(0.05, 5, 1000), random.random(300), np.full(50, 0.999)):
        plain = np.ones(1)
        for x in p:
            plain = np.convolve(plain, [1 - x, x])
        most = decision_kernels.most_labels(p)
        assert plain[most + 1 :].sum() < 1e-13
        found = decision_kernels.count_chances(p, most)
        np.testing.assert_allclose(found, plain[: most + 1], atol=1e-15)


def test_a_label_can_be_taken_out_of_the_number_of_labels():
    p = np.random.default_rng(0).beta(0.3, 0.3, 40)
    chances = decision_kernels.count_chances(p, 40)
    for j in range(40):
        without = decision_kernels.count_chances(np.delete(p, j), 39)
        found = decision_kernels.chances_without(chances, p[j])
        np.testing.assert_allclose(found, np.append(without, 0), atol=1e-13)


# The likeliest labelset


def plain_labelset_choice(Y, P, new):
    """The same rule in loops over rows and labelsets, for one new row."""
    seen = sorted({tuple(y) for y in Y.tolist()})
    count = {L: sum(tuple(y) == L for y in Y.tolist()) for L in seen}
    chance = {L: np.where(L, P, 1 - P).prod(axis=1) for L in seen}
    unseen = 0.0
    for i, y in enumerate(Y.tolist()):
        others = [L for L in seen if count[L] > 1 or tuple(y) != L]
        unseen += 1 - sum(chance[L][i] for L in others)
    once = sum(count[L] == 1 for L in seen)
    score = {
        L: np.where(L, new, 1 - new).prod() * (count[L] + 0.5) / (chance[L].sum() + 0.5)
        for L in seen
    }
    cut = tuple((new > 0.5).astype(int).tolist())
    if cut not in score:
        score[cut] = np.where(cut, new, 1 - new).prod() * (once + 0.5) / (unseen + 0.5)
    return max(score, key=lambda L: score[L])


@pytest.mark.parametrize("seed", range(5))
def test_no_labelset_seen_is_likelier_nor_is_the_cut(seed):
    Y, P = rows(n=25, m=5, seed=seed)
    new = np.random.default_rng(seed).random((40, 5))
    found = fit_decision("subset_accuracy", Y, P).decide(new)
    expected = [plain_labelset_choice(Y, P, p) for p in new]
    assert found.astype(int).tolist() == [list(labelset) for labelset in expected]


def test_labelsets_of_other_training_rows_may_be_predicted():
    Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]], dtype=np.uint8)
    P = np.where(Y, 0.8, 0.1)
    new = np.array([[0.1, 0.3, 0.49]])
    assert fit_decision("subset_accuracy", Y, P).decide(new).tolist() == [[False, True, False]]
    seen = np.vstack([Y, [[0, 0, 1]]]).astype(np.uint8)
    found = fit_decision("subset_accuracy", Y, P, seen=seen).decide(new)
    assert found.tolist() == [[False, False, True]]


def test_blocks_of_rows_change_nothing(monkeypatch):
    Y, P = rows()
    whole = fit_decision("subset_accuracy", Y, P)
    monkeypatch.setattr(decisions, "CELLS_AT_ONCE", 100)
    blocks = fit_decision("subset_accuracy", Y, P)
    np.testing.assert_allclose(blocks.log_lift, whole.log_lift)
    np.testing.assert_array_equal(blocks.decide(P), whole.decide(P))


def test_many_labelsets_of_many_labels_need_little_memory():
    random = np.random.default_rng(0)
    seen = (random.random((5000, 1000)) < 0.004).astype(np.uint8)
    P = random.beta(0.05, 10, size=(5000, 1000))
    Y = seen[random.integers(5000, size=5000)]
    tracemalloc.start()
    fit_decision("subset_accuracy", Y, P, seen=seen).decide(P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The whole table of rows and labelsets alone would have 200 MB.
    assert peak < 180e6


# A number of labels


def test_the_likeliest_labels_are_predicted_and_the_first_of_equal_ones():
    P = np.array([[0.1, 0.4, 0.4, 0.2], [0.3, 0.3, 0.3, 0.3]])
    found = fit_decision(2, np.zeros((1, 4), dtype=np.uint8), P[:1]).decide(P)
    assert found.tolist() == [[False, True, True, False], [True, True, False, False]]


# All decisions


@pytest.mark.parametrize("decide", ALL)
def test_a_weight_is_how_many_rows_a_row_stands_for(decide):
    Y, P = rows(n=80)
    times = np.random.default_rng(1).integers(0, 4, size=80)
    new = rows(seed=2)[1]
    weighted = fit_decision(decide, Y, P, sample_weight=times.astype(float))
    repeated = fit_decision(decide, np.repeat(Y, times, axis=0), np.repeat(P, times, axis=0))
    np.testing.assert_array_equal(weighted.decide(new), repeated.decide(new))
    if weighted.threshold is not None:
        np.testing.assert_allclose(weighted.threshold, repeated.threshold)


@pytest.mark.parametrize("decide", [*MEASURES_OF_DECISIONS, 1, example_accuracy])
@pytest.mark.parametrize(
    ("Y", "P"),
    [
        (np.zeros((6, 3)), np.full((6, 3), 0.2)),
        (np.ones((6, 3)), np.full((6, 3), 0.9)),
        (np.array([[1, 0, 1]]), np.array([[0.5, 0.5, 0.5]])),
        (np.array([[1], [0], [0]]), np.array([[0.4], [0.3], [0.2]])),
        (np.eye(3), np.eye(3)),
        (np.eye(3), 1 - np.eye(3)),
        (np.zeros((4, 2)), np.zeros((4, 2))),
    ],
    ids=["never true", "always true", "one row", "one label", "0 and 1", "wrong", "all 0"],
)
def test_degenerate_tables_give_decisions(decide, Y, P):
    found = fit_decision(decide, Y.astype(np.uint8), P)
    for new in (P, np.zeros_like(P), np.ones_like(P)):
        decided = found.decide(new)
        assert decided.dtype == bool
        assert decided.shape == P.shape
    assert found.threshold is None or np.all((found.threshold >= 0) & (found.threshold <= 1))


@pytest.mark.parametrize("decide", [*MEASURES_OF_DECISIONS])
def test_nothing_is_predicted_where_nothing_is_ever_true(decide):
    Y, P = np.zeros((50, 4), dtype=np.uint8), np.full((50, 4), 0.01)
    assert not fit_decision(decide, Y, P).decide(P).any()


@pytest.mark.parametrize("decide", [name for name in MEASURES_OF_DECISIONS if "ham" not in name])
def test_a_decision_beats_the_cut_at_one_half_on_rows_not_seen(decide):
    measure = MEASURES[decide].function
    Y, P = labelled_rows(1000, 1)
    Y_new, P_new = labelled_rows(1000, 2)
    decided = fit_decision(decide, Y, P).decide(P_new)
    assert measure(Y_new, decided) > measure(Y_new, P_new > 0.5) + 0.01


@pytest.mark.parametrize("decide", MEASURES_OF_DECISIONS)
def test_no_other_decision_serves_a_measure_better(decide):
    measure = MEASURES[decide]
    sign = 1 if measure.higher_is_better else -1
    Y, P = labelled_rows(1000, 1)
    Y_new, P_new = labelled_rows(1000, 2)
    scores = {
        name: sign * measure.function(Y_new, fit_decision(name, Y, P).decide(P_new))
        for name in MEASURES_OF_DECISIONS
    }
    # Two decisions may be equally good but for chance.
    assert scores[decide] > max(scores.values()) - 0.005


@pytest.mark.parametrize("decide", ALL)
def test_decisions_are_stored_with_models(decide, tmp_path):
    Y, P = rows()
    found = fit_decision(decide, Y, P)
    file = tmp_path / "decision.skops"
    skops.io.dump(found, file)
    foreign = skops.io.get_untrusted_types(file=file)
    assert all(is_trusted(name) for name in foreign)
    for loaded in (skops.io.load(file, trusted=foreign), pickle.loads(pickle.dumps(found))):
        assert loaded.measure == found.measure
        np.testing.assert_array_equal(loaded.decide(P), found.decide(P))


@pytest.mark.parametrize("decide", ALL)
def test_tables_may_be_read_only_and_stored_by_columns(decide):
    Y, P = rows()
    found = fit_decision(decide, Y, P)
    Y_other, P_other = np.asfortranarray(Y), np.asfortranarray(P)
    Y_other.flags.writeable = P_other.flags.writeable = False
    other = fit_decision(decide, Y_other, P_other)
    np.testing.assert_array_equal(other.decide(P_other), found.decide(P))


@pytest.mark.parametrize("decide", ["micro_f1", "macro_f1", "hamming_loss", micro_f1])
def test_ties_of_a_cut_are_what_is_asked_for(decide):
    random = np.random.default_rng(0)
    Y = random.integers(0, 2, (80, 3)).astype(np.uint8)
    P = np.round(0.3 * Y + 0.6 * random.random((80, 3)), 1)
    for ties in ("positive", "negative"):
        decision = fit_decision(decide, Y, P, ties=ties)
        at_threshold = np.broadcast_to(decision.threshold, (1, 3))
        assert decision.decide(at_threshold).all() == (ties == "positive")
        assert decision.decide(at_threshold).any() == (ties == "positive")


def test_positive_ties_separate_neighbouring_probabilities():
    low = 0.5
    high = np.nextafter(low, 1)
    P = np.array([[high]] * 20 + [[low]] * 20)
    Y = np.array([[1]] * 20 + [[0]] * 20, dtype=np.uint8)
    for ties in ("positive", "negative"):
        np.testing.assert_array_equal(fit_decision("micro_f1", Y, P, ties=ties).decide(P), Y == 1)


@pytest.mark.parametrize("decide", ["micro_f1", "macro_f1"])
def test_labels_never_seen_are_not_predicted_even_if_ties_are_positive(decide):
    Y = np.zeros((5, 2), dtype=np.uint8)
    decision = fit_decision(decide, Y, np.full((5, 2), 0.5), ties="positive")
    assert not decision.decide(np.ones((1, 2))).any()
