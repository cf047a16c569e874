"""Contingency, chi-square and phi against scipy and by hand."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.stats import chi2_contingency

from labelcover.covers import Cover
from labelcover.dependence import chi_square, contingency, label_dependence, phi


def random_labels(seed, n=300, m=6):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 2)) @ random.normal(size=(2, m))
    return (hidden + random.normal(size=(n, m)) > 0).astype(np.uint8)


def test_a_table_in_the_layout_of_table_5_computed_by_hand():
    # λi λj λk of ten rows: n111=3, n121=1, n112=0, n122=1; n211=0, n221=1, n212=1, n222=3.
    Y = np.array(
        [[1, 1, 1]] * 3 + [[1, 0, 1]] + [[1, 0, 0]] + [[0, 0, 1]] + [[0, 1, 0]] + [[0, 0, 0]] * 3
    )
    table = contingency(Y, [0, 1, 2])
    with_i, without_i = table
    # As printed: columns λj, ¬λj; rows λk, ¬λk.
    assert with_i.T.tolist() == [[3, 1], [0, 1]]
    assert without_i.T.tolist() == [[0, 1], [1, 3]]
    # Shares: λi 5/10, λj 4/10, λk 5/10, so E = 1 in cells with λj and 1.5 in cells without.
    # χ² = (3-1)² + (0-1)² + (0-1)² + (1-1)² over 1, and over 1.5: 3 × (1-1.5)² + (3-1.5)².
    by_hand = (4 + 1 + 1 + 0) / 1 + (3 * 0.25 + 2.25) / 1.5
    assert by_hand == 8.0
    assert chi_square(table) == pytest.approx(by_hand)
    assert label_dependence(Y, r=3, min_count=1).chi_square == pytest.approx([by_hand])


@pytest.mark.parametrize("r", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_chi_square_is_that_of_scipy(r, seed):
    Y = random_labels(seed)
    dependence = label_dependence(sparse.csr_array(Y), r)
    assert len(dependence.labelsets) >= 2
    known = {tuple(labels): i for i, labels in enumerate(dependence.labelsets.tolist())}
    for labels in combinations(range(Y.shape[1]), r):
        table = contingency(Y, labels)
        expected = chi2_contingency(table, correction=False).statistic
        assert chi_square(table) == pytest.approx(expected, rel=1e-12)
        assert (labels in known) == (table.flat[0] >= 5)
        if labels in known:
            i = known[labels]
            assert dependence.counts[i] == table.flat[0]
            assert dependence.chi_square[i] == pytest.approx(expected, rel=1e-10)


def test_contingency_counts_each_pattern():
    Y = random_labels(3)
    table = contingency(Y, [4, 0, 2])
    for pattern in np.ndindex(2, 2, 2):
        rows = (Y[:, [4, 0, 2]] == 1 - np.array(pattern)).all(axis=1)
        assert table[pattern] == rows.sum()


def test_phi_is_the_correlation_and_chi_square_is_n_phi_squared():
    Y = random_labels(7)
    found = phi(sparse.csr_array(Y))
    np.testing.assert_allclose(found, np.corrcoef(Y.T), atol=1e-12)
    dependence = label_dependence(Y, 2)
    i, j = dependence.labelsets.T
    np.testing.assert_allclose(dependence.chi_square, len(Y) * found[i, j] ** 2)


def test_phi_of_unknown_labels_is_that_of_the_rows_that_know_both():
    random = np.random.default_rng(0)
    Y = np.where(random.random((60, 5)) < 0.3, np.nan, random_labels(7, m=5)[:60])
    expected = pd.DataFrame(Y).corr().fillna(0).to_numpy()
    np.testing.assert_allclose(phi(Y), expected, atol=1e-12)


def test_constant_and_missing_labels_depend_on_nothing():
    Y = random_labels(1, m=4)
    Y[:, 1] = 0
    Y[:, 2] = 1
    dependence = label_dependence(Y, 2)
    assert 1 not in dependence.labelsets
    constant = (dependence.labelsets == 2).any(axis=1)
    assert dependence.chi_square[constant] == pytest.approx(0.0)
    assert chi_square(contingency(Y, [0, 1])) == 0.0
    np.testing.assert_array_equal(phi(Y)[1], [0, 1, 0, 0])
    np.testing.assert_array_equal(phi(Y)[2], [0, 0, 1, 0])


@pytest.mark.parametrize(
    "Y",
    [
        np.zeros((10, 4), dtype=int),
        np.ones((10, 4), dtype=int),
        np.tile([1, 0, 1, 0], (10, 1)),
        np.eye(4, 8, dtype=int),
        np.ones((1, 1), dtype=int),
    ],
)
@pytest.mark.parametrize("r", [2, 3])
def test_degenerate_tables_have_no_dependence_and_no_warning(Y, r):
    dependence = label_dependence(Y, r)
    assert dependence.chi_square.sum() == pytest.approx(0.0)
    assert np.isfinite(phi(Y)).all()


def test_merit_and_share_count_each_covered_labelset_once():
    Y = np.array([[1, 1, 0, 0]] * 6 + [[0, 1, 1, 0]] * 5 + [[0, 0, 0, 1]] * 9)
    dependence = label_dependence(Y, 2)
    assert dependence.labelsets.tolist() == [[0, 1], [1, 2]]
    cover = Cover([[0, 1, 3], [0, 1, 2]], n_labels=4)
    assert dependence.share(cover) == 1.0
    assert dependence.merit(cover) == pytest.approx(dependence.weights.sum())
    partial = Cover([[0, 1], [0, 1], [2, 3]], n_labels=4)
    assert dependence.merit(partial) == pytest.approx(6 * dependence.chi_square[0])


def test_bad_arguments_are_named():
    Y = random_labels(0)
    with pytest.raises(ValueError, match="labels must be"):
        contingency(Y, [0, 0])
    with pytest.raises(ValueError, match="labels must be"):
        contingency(Y, [0, 6])
    with pytest.raises(ValueError, match="table"):
        chi_square([[1, 2, 3], [1, 2, 3]])
    with pytest.raises(ValueError, match="table"):
        chi_square([[1, -2], [1, 2]])
    with pytest.raises(ValueError, match="r must be"):
        label_dependence(Y, 1)
    with pytest.raises(ValueError, match="6 labels"):
        label_dependence(Y, 2).share(Cover([[0, 1]], n_labels=2))
