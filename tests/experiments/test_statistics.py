"""The tests of Section 5.3 give what the paper's own tables imply."""

import csv
import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labelcover.experiments._statistics import (
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    groups,
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
    for row in scores:
        ranks = average_ranks(np.tile(row, (2, 1)))
        np.testing.assert_allclose(ranks.sum(), k * (k + 1) / 2)


@given(st.integers(0, 10_000))
def test_friedman_without_ties_is_that_of_scipy(seed):
    scores = np.random.default_rng(seed).permuted(np.tile(np.arange(5.0), (12, 1)), axis=1)
    expected = scipy.stats.friedmanchisquare(*scores.T).statistic
    assert friedman(scores).chi_square == pytest.approx(expected, abs=1e-9)


def test_friedman_of_methods_that_always_rank_alike_is_not_certain():
    """Any of the 3! orders in the first of four problems, and the same in the other three."""
    result = friedman(np.tile([3.0, 2.0, 1.0], (4, 1)))
    assert result.f == np.inf
    assert result.p_value == pytest.approx(1 / 6**3)


# The exact distribution in the tables of Friedman (1937) and Siegel (1956): for so many methods
# and problems, the probability that chi-square is at least so large.
PUBLISHED = {
    (3, 2): {0: 1.0, 1: 0.833, 3: 0.5, 4: 0.167},
    (3, 3): {0: 1.0, 0.667: 0.944, 2: 0.528, 2.667: 0.361, 4.667: 0.194, 6: 0.028},
    (3, 4): {0.5: 0.931, 1.5: 0.653, 2: 0.431, 3.5: 0.273, 4.5: 0.125, 6: 0.069, 6.5: 0.042},
    (3, 9): {6.222: 0.048, 8.667: 0.010},
    (4, 2): {0.6: 0.958, 1.2: 0.834, 1.8: 0.792, 3: 0.542, 4.8: 0.208, 5.4: 0.167, 6: 0.042},
    (4, 3): {5.8: 0.148, 6.6: 0.075, 7: 0.054, 7.4: 0.033, 8.2: 0.017, 9: 0.0017},
    (4, 4): {6.3: 0.094, 7.5: 0.052, 7.8: 0.036, 9.6: 0.0069},
}


@pytest.mark.parametrize(("k", "n"), PUBLISHED)
def test_exact_friedman_is_that_of_the_published_tables(k, n):
    tables = np.random.default_rng(0).permuted(np.tile(np.arange(k), (20_000, n, 1)), axis=2)
    tables[10_000:, 1:-1] = np.arange(k)  # large values are rare among random orders
    sums = (tables + 1).sum(axis=1)
    chi_squares = 12 / (n * k * (k + 1)) * np.square(sums).sum(axis=1) - 3 * n * (k + 1)
    for chi_square, p_value in PUBLISHED[k, n].items():
        at = int(np.argmin(np.abs(chi_squares - chi_square)))
        result = friedman(tables[at])
        assert result.exact
        assert result.chi_square == pytest.approx(chi_square, abs=6e-4)
        assert result.p_value == pytest.approx(p_value, abs=1e-3 if p_value >= 0.01 else 6e-5)


def enumerated_p(scores):
    """Return the p-value by all orders within the rows, one by one."""
    ranks = scipy.stats.rankdata(-np.asarray(scores), axis=1)
    observed = np.square(ranks.sum(axis=0)).sum()
    orders = [list(itertools.permutations(row)) for row in ranks.tolist()]
    spreads = [np.square(np.sum(rows, axis=0)).sum() for rows in itertools.product(*orders)]
    return float(np.mean(np.array(spreads) >= observed - 1e-9))


@given(
    st.sampled_from([(2, 2), (5, 2), (2, 3), (3, 3), (4, 3), (2, 4), (3, 4), (2, 5)]).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]))
    )
)
def test_exact_friedman_is_that_of_all_orders_ties_or_not(scores):
    assert friedman(scores).p_value == pytest.approx(enumerated_p(scores), abs=1e-12)


def test_three_folds_and_three_methods_are_never_beyond_doubt():
    result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5]])
    assert result.exact
    assert result.p_value == pytest.approx(0.028, abs=5e-4)


def test_many_problems_or_methods_take_the_f_distribution():
    scores = np.random.default_rng(0).random((10, 8))
    result = friedman(scores)
    assert not result.exact
    assert result.p_value == pytest.approx(scipy.stats.f.sf(result.f, 7, 63))


def test_exact_and_approximate_p_values_agree_where_one_becomes_the_other():
    for n, k in ((100, 3), (25, 4), (9, 5)):
        scores = np.random.default_rng(n).random((n, k))
        result = friedman(scores)
        assert result.exact
        assert result.p_value == pytest.approx(
            scipy.stats.f.sf(result.f, *result.degrees), abs=0.02
        )


def test_friedman_example_of_demsar():
    """Four methods on 14 data sets with the mean ranks of Demšar's Table 6: F is 3.69."""
    ranks = np.array([3.143, 2.000, 2.893, 1.964])
    n, k = 14, 4
    chi = 12 * n / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4)
    assert chi == pytest.approx(9.28, abs=0.01)
    assert (n - 1) * chi / (n * (k - 1) - chi) == pytest.approx(3.69, abs=0.01)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)


def test_bonferroni_dunn_compares_with_the_control_only():
    scores = np.tile([3.0, 2.0, 1.0], (20, 1))
    p = bonferroni_dunn(scores, 0)
    assert p[0] == 1
    assert p[2] < p[1] < 0.05


def test_groups_are_the_bars_of_the_diagram():
    assert groups([1.0, 1.5, 2.2, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert groups([1.0, 1.5, 1.9], 1.0) == [(0, 1, 2)]
    assert groups([1.0, 3.0], 1.0) == []


@pytest.mark.parametrize("scores", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [1.0, 2.0]]])
def test_too_small_or_broken_tables_are_refused(scores):
    with pytest.raises(ValueError, match="scores must be"):
        average_ranks(scores)
