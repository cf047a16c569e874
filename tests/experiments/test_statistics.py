"""The tests of Section 5.3 give what the paper's own tables imply."""

import csv

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelcover.experiments.statistics import (
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    groups,
    nemenyi,
    problem_ranks,
)

METHODS = ["RAKEL", "RAKEL++", "DD-BALANCOR", "BALANCOR", "INLAC", "BALCO"]


def paper_scores(folder, file, measure="microF1"):
    with open(folder / file, encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return np.array([[float(row[f"{measure} {name}"]) for name in METHODS] for row in rows])


def test_ranks_of_table_8_are_the_papers(paper_tables):
    ranks = average_ranks(paper_scores(paper_tables, "table8_J48.csv"))
    assert ranks.round(2).tolist() == [5.20, 4.80, 1.39, 2.52, 3.02, 4.08]


def test_critical_difference_is_the_papers():
    assert round(critical_difference(6, 64), 3) == 0.942


def test_conclusions_of_section_5_4_follow_from_tables_7_and_8(paper_tables):
    tables = [paper_scores(paper_tables, name) for name in ("table7_SMO.csv", "table8_J48.csv")]
    scores = np.vstack(tables)
    result = friedman(scores)
    assert result.degrees == (5, 315)
    assert result.p_value < 1e-4
    p = nemenyi(scores)
    best, rakel, rakel_pp = (METHODS.index(m) for m in ("DD-BALANCOR", "RAKEL", "RAKEL++"))
    assert (np.delete(p[best], best) < 0.05).all()
    assert p[rakel, rakel_pp] > 0.05
    assert p[METHODS.index("BALANCOR"), METHODS.index("INLAC")] > 0.05
    bars = groups(average_ranks(scores), critical_difference(6, 64))
    assert [{METHODS[j] for j in bar} for bar in bars] == [
        {"BALANCOR", "INLAC"},
        {"BALCO", "RAKEL++"},
        {"RAKEL++", "RAKEL"},
    ]


@given(
    arrays(np.int64, st.tuples(st.integers(2, 8), st.integers(3, 6)), elements=st.integers(-3, 3))
)
def test_ranks_of_a_problem_sum_to_the_same_whatever_ties(scores):
    k = scores.shape[1]
    ranks = problem_ranks(scores.astype(float))
    np.testing.assert_allclose(ranks.sum(axis=1), k * (k + 1) / 2)


@given(st.integers(0, 10_000))
def test_friedman_without_ties_is_that_of_scipy(seed):
    scores = np.random.default_rng(seed).permuted(np.tile(np.arange(5.0), (7, 1)), axis=1)
    expected = scipy.stats.friedmanchisquare(*scores.T).statistic
    assert friedman(scores).chi_square == pytest.approx(expected, abs=1e-9)


def test_friedman_of_methods_that_always_rank_alike_is_certain():
    result = friedman(np.tile([3.0, 2.0, 1.0], (4, 1)))
    assert result.f == np.inf
    assert result.p_value == 0


def test_friedman_example_of_demsar():
    """Four methods on 14 data sets with the mean ranks of Demšar's Table 6: F is 3.69."""
    ranks = np.array([3.143, 2.000, 2.893, 1.964])
    n, k = 14, 4
    chi = 12 * n / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4)
    assert chi == pytest.approx(9.28, abs=0.01)
    assert (n - 1) * chi / (n * (k - 1) - chi) == pytest.approx(3.69, abs=0.01)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    assert critical_difference(4, 14, alpha=0.10) == pytest.approx(1.12, abs=0.01)


def test_bonferroni_dunn_compares_with_the_control_only():
    scores = np.tile([3.0, 2.0, 1.0], (20, 1))
    p = bonferroni_dunn(scores, 0)
    assert p[0] == 1
    assert p[2] < p[1] < 0.05
    far = np.abs(np.diff(average_ranks(scores))) > critical_difference(
        3, 20, test="bonferroni-dunn"
    )
    assert far.all()


def test_groups_are_the_bars_of_the_diagram():
    assert groups([1.0, 1.5, 2.2, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert groups([1.0, 1.5, 1.9], 1.0) == [(0, 1, 2)]
    assert groups([1.0, 3.0], 1.0) == []


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [1.0, 2.0]]])
def test_too_small_or_broken_tables_are_refused(scores):
    with pytest.raises(ValueError, match="scores must be"):
        average_ranks(scores)
