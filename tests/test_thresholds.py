import numpy as np
import pytest

from labelcover.metrics import hamming_loss, micro_f1
from labelcover.thresholds import best_threshold, best_thresholds_per_label, score_function


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
@pytest.mark.parametrize("search", ["grid", "golden"])
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
        score_function(lambda Y, predicted: 0.0, weighted=True)
