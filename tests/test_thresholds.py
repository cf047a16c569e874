import numpy as np
import pytest

from labelcover.metrics import hamming_loss, micro_f1
from labelcover.thresholds import (
    best_threshold,
    best_thresholds_per_label,
    cut,
    score_function,
)


def problem(seed=0, n=200, m=4):
    random = np.random.default_rng(seed)
    Y = (random.random((n, m)) < [0.1, 0.3, 0.5, 0.7]).astype(np.uint8)
    return Y, np.clip(0.3 * Y + 0.5 * random.random((n, m)), 0.001, 0.999)


def test_the_grid_search_is_the_papers():
    Y, confidence = problem()

    def score(t):
        return micro_f1(Y, confidence > t)

    coarse = max(np.arange(1, 10) / 10, key=score)
    around = np.round(coarse + np.arange(-9, 10) / 100, 2)
    found, value = best_threshold(Y, confidence)
    assert value == max(score(t) for t in around)
    assert value == score(found)
    assert np.isclose(found, around).any()


def test_of_equal_thresholds_the_one_nearest_to_a_half_wins():
    Y = np.array([[1], [0]], dtype=np.uint8)
    assert best_threshold(Y, np.array([[0.95], [0.05]]))[0] == 0.5
    assert best_threshold(Y, np.array([[0.4], [0.05]]))[0] == 0.39


def test_golden_sections_do_as_well_as_the_first_grid_or_better():
    Y, confidence = problem()
    coarse = max(micro_f1(Y, confidence > t) for t in np.arange(1, 10) / 10)
    found, value = best_threshold(Y, confidence, search="golden")
    assert value >= coarse
    assert value == micro_f1(Y, confidence > found)


def test_golden_sections_find_the_top_of_a_smooth_measure():
    Y = np.ones((1000, 1), dtype=np.uint8)
    confidence = np.linspace(0.0005, 0.9995, 1000)[:, None]

    def measure(Y, predicted):
        return -abs(predicted.mean() - 0.377)

    found, _ = best_threshold(Y, confidence, measure=measure, search="golden")
    assert found == pytest.approx(0.623, abs=0.003)


def test_losses_are_made_small():
    Y, confidence = problem()
    found, value = best_threshold(Y, confidence, measure="hamming_loss")
    assert -value == hamming_loss(Y, confidence > found)
    assert -value <= min(hamming_loss(Y, confidence > t) for t in np.arange(1, 10) / 10)


def test_each_label_gets_its_own_threshold():
    Y, confidence = problem()
    Y[:, 3] = 0
    thresholds, value = best_thresholds_per_label(Y, confidence, measure="macro_f1")
    for j in range(3):
        one = slice(j, j + 1)
        assert thresholds[j] == best_threshold(Y[:, one], confidence[:, one])[0]
    assert thresholds[3] == best_threshold(Y, confidence, measure="macro_f1")[0]
    shared = best_threshold(Y, confidence, measure="macro_f1")[1]
    assert value >= shared


def test_measures_of_rankings_are_refused():
    with pytest.raises(ValueError, match=r"threshold_measure must be one of .*got 'ranking_loss'"):
        score_function("ranking_loss")


@pytest.mark.parametrize("measure", ["micro_f1", "macro_f1", "example_f1", "hamming_loss"])
@pytest.mark.parametrize("search", ["grid", "golden", "mulan"])
@pytest.mark.parametrize("find", [best_threshold, best_thresholds_per_label])
def test_weights_of_rows_count_as_often(find, search, measure):
    Y, confidence = problem(n=60)
    times = np.random.default_rng(0).integers(1, 5, size=60)
    weighted = find(
        Y, confidence, measure=measure, search=search, sample_weight=times.astype(float)
    )
    repeated = find(
        np.repeat(Y, times, axis=0),
        np.repeat(confidence, times, axis=0),
        measure=measure,
        search=search,
    )
    np.testing.assert_allclose(weighted[0], repeated[0])
    assert weighted[1] == pytest.approx(repeated[1])


def test_a_function_without_weights_is_refused_where_rows_have_them():
    with pytest.raises(ValueError, match="threshold_measure must take sample_weight"):
        score_function(lambda Y, predicted: 0.0, np.ones(3))


# MULAN's OneThreshold


def tried_by(search, best_first):
    """Return the thresholds tried, in the first stage and in the second, where one is best."""
    tried = []

    def measure(Y, predicted):
        # One row for each hundredth, so that the number of rows predicted tells the threshold.
        tried.append(predicted.sum())
        return -abs(int(predicted.sum()) - best_first)

    confidence = (np.arange(-20, 121) / 100 + 0.005)[:, None]
    found, _ = best_threshold(
        np.ones((141, 1), dtype=np.uint8), confidence, measure=measure, search=search
    )
    return found, [round((120 - int(count)) / 100 + 0.01, 2) for count in tried]


@pytest.mark.parametrize("tenths", range(11))
def test_mulans_search_tries_its_two_grids_and_leaves_the_same_points_out(tenths):
    """Its rounding leaves out the last point around 0, .2, .3 and .4, as the programme itself."""
    best = tenths / 10
    _, tried = tried_by("mulan", best_first=121 - 10 * tenths)
    assert tried[:11] == [round(t / 10, 2) for t in range(11)]
    around = [round(best + step / 100, 2) for step in range(-5, 6)]
    assert tried[11:] == (around[:-1] if tenths in (0, 2, 3, 4) else around)


def test_mulans_search_takes_the_first_of_equals():
    Y = np.array([[1], [0]], dtype=np.uint8)
    found, loss = best_threshold(
        Y, np.array([[0.95], [0.12]]), measure="hamming_loss", search="mulan", ties="positive"
    )
    # .2 is the first of the tenths between both, .15 the first around it.
    assert found == pytest.approx(0.15)
    assert loss == 0
    everything = best_threshold(Y | 1, np.array([[0.9], [0.1]]), search="mulan", ties="positive")
    assert everything[0] == pytest.approx(-0.05)


# Ties


def test_ties_are_positive_or_negative():
    confidence = np.array([[0.2, 0.5, 0.7]])
    np.testing.assert_array_equal(cut(confidence, 0.5), [[False, False, True]])
    np.testing.assert_array_equal(cut(confidence, 0.5, "positive"), [[False, True, True]])
    each = np.array([0.2, 0.6, 0.7])
    np.testing.assert_array_equal(cut(confidence, each, "positive"), [[True, False, True]])
    np.testing.assert_array_equal(cut(confidence, each), [[False, False, False]])


@pytest.mark.parametrize("search", ["grid", "golden", "mulan"])
@pytest.mark.parametrize("find", [best_threshold, best_thresholds_per_label])
def test_the_score_is_that_of_cutting_with_the_same_ties(find, search):
    random = np.random.default_rng(0)
    Y = random.integers(0, 2, (100, 3)).astype(np.uint8)
    # Confidences on the grid itself, so that ties are frequent.
    confidence = np.round(0.3 * Y + 0.6 * random.random((100, 3)), 1)
    for ties in ("positive", "negative"):
        found, score = find(Y, confidence, search=search, ties=ties)
        near = np.asarray(found) + (1e-9 if ties == "negative" else -1e-9)
        assert score == pytest.approx(micro_f1(Y, cut(confidence, near, ties)))


def test_unknown_ties_are_refused():
    Y, confidence = problem()
    with pytest.raises(ValueError, match="ties must be one of 'positive', 'negative', got 'up'"):
        best_threshold(Y, confidence, ties="up")
