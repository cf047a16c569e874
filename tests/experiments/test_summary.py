"""Means, ranks and verdicts over results."""

import pandas as pd
import pytest

from labelcover.experiments._statistics import rank_methods, summarize
from labelcover.experiments.results import COLUMNS


def results(scores):
    """Lines of a results file from ``(dataset, method, fold, micro-F1 or None if it failed)``."""
    lines = []
    for dataset, method, fold, score in scores:
        line = dict.fromkeys(COLUMNS, 0.0)
        line |= {"dataset": dataset, "method": method, "fold": fold, "folds": "kfold-2", "seed": 0}
        line |= {"micro_f1": float("nan") if score is None else score, "label_f1": ""}
        line |= {"error": "ValueError: no" if score is None else "", "parameters": method}
        lines.append(line)
    return pd.DataFrame(lines)


def test_means_and_spreads_are_over_folds_that_went_well():
    frame = results(
        [("d", "a", 0, 0.5), ("d", "a", 1, 0.7), ("d", "b", 0, 0.4), ("d", "b", 1, None)]
    )
    table = summarize(frame).set_index("method")
    assert table.loc["a", "mean_micro_f1"] == pytest.approx(0.6)
    assert table.loc["a", "sd_micro_f1"] == pytest.approx(0.1414, abs=1e-4)
    assert table.loc["b", ["fits", "failed", "error"]].tolist() == [2, 1, "ValueError: no"]
    assert table.loc["b", "mean_micro_f1"] == pytest.approx(0.4)


def test_few_data_sets_are_ranked_by_fold():
    frame = results(
        [("d", m, f, s + f / 10) for f in (0, 1, 2) for m, s in (("a", 0.5), ("b", 0.6))]
    )
    ranking = rank_methods(frame)
    assert ranking.of_folds
    assert ranking.problems == 3
    assert ranking.methods == ["b", "a"]
    assert ranking.ranks.tolist() == [1, 2]


def test_many_data_sets_are_ranked_by_their_means():
    frame = results(
        [
            (f"d{i}", m, f, s)
            for i in range(6)
            for f in (0, 1)
            for m, s in (("a", 0.5), ("b", 0.4 + i / 20))
        ]
    )
    ranking = rank_methods(frame)
    assert not ranking.of_folds
    assert ranking.problems == 6
    assert dict(zip(ranking.methods, ranking.ranks.tolist(), strict=True))["a"] == pytest.approx(
        (1 + 1 + 1.5 + 2 + 2 + 2) / 6
    )


def test_methods_that_failed_are_not_ranked_and_one_method_has_no_rank():
    lines = [("d", m, f, 0.5) for f in (0, 1) for m in ("a", "b")]
    assert rank_methods(results([*lines, ("d", "c", 0, None)])).methods == ["a", "b"]
    assert rank_methods(results(lines[::2])) is None


def test_of_a_loss_the_smallest_ranks_first():
    frame = results([("d", m, f, s) for f in (0, 1) for m, s in (("a", 0.5), ("b", 0.6))])
    frame["hamming_loss"] = frame["micro_f1"]
    assert rank_methods(frame, "hamming_loss").methods == ["a", "b"]


def test_others_are_compared_with_the_control_only():
    frame = results(
        [
            (f"d{i}", m, 0, s + i / 100)
            for i in range(12)
            for m, s in (("a", 0.5), ("b", 0.49), ("c", 0.3), ("d", 0.505 if i % 2 else 0.48))
        ]
    )
    ranking = rank_methods(frame, control="a")
    assert ranking.control == "a"
    assert set(ranking.p_values) == {"b", "c", "d"}
    assert ranking.p_values["c"] < 0.05 < ranking.p_values["d"]
    sentence = ranking.against_control()
    assert "significantly worse: c (p < 0.0001)" in sentence
    assert "not significantly different: " in sentence
    assert rank_methods(frame).against_control() == ""


def test_a_control_that_failed_is_compared_with_nothing():
    lines = [("d", m, f, 0.5) for f in (0, 1) for m in ("a", "b")]
    ranking = rank_methods(results([*lines, ("d", "c", 0, None)]), control="c")
    assert ranking.methods == ["a", "b"]
    assert ranking.control is None
