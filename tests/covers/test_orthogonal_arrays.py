from itertools import combinations

import numpy as np
import pytest

from labelcover.covers import orthogonal_array_cover
from labelcover.covers._orthogonal_arrays import hadamard_matrix, orthogonal_array


def has_strength(array, t):
    """Whether all 2^t rows appear the same number of times in any t columns."""
    weights = 1 << np.arange(t)
    return all(
        len(set(np.bincount(array[:, columns] @ weights, minlength=2**t).tolist())) == 1
        for columns in combinations(range(array.shape[1]), t)
    )


@pytest.mark.parametrize("strength", [1, 2, 3, 4, 5, 6])
def test_every_combination_of_values_appears_equally_often(strength):
    largest = 17 if strength < 5 else 11
    for m in [m for m in (1, 2, 3, 4, 5, 7, 8, 11, 16, 17) if strength <= m <= largest]:
        array = orthogonal_array(m, strength)
        assert array.shape[1] == m
        assert has_strength(array, strength)
        assert not array[0].any()


def test_a_strength_that_is_not_there_is_noticed():
    assert not has_strength(orthogonal_array(8, 2), 3)
    assert not has_strength(orthogonal_array(15, 4), 5)


def test_arrays_are_as_small_as_known():
    runs = {(m, t): len(orthogonal_array(m, t)) for m, t in [(3, 2), (11, 2), (12, 3), (5, 4)]}
    assert runs == {(3, 2): 4, (11, 2): 12, (12, 3): 24, (5, 4): 16}
    assert len(orthogonal_array(9, 9)) == 512


@pytest.mark.parametrize("order", [1, 2, *range(4, 92, 4), 96, 100])
def test_hadamard_matrices_have_orthogonal_rows(order):
    signs = hadamard_matrix(order)
    assert np.array_equal(signs @ signs.T, order * np.eye(order))
    assert set(np.unique(signs)) <= {-1, 1}
    assert (signs[0] == 1).all()
    assert (signs[:, 0] == 1).all()


@pytest.mark.parametrize("order", [3, 6, 92])
def test_an_unknown_order_has_no_matrix(order):
    assert hadamard_matrix(order) is None


@pytest.mark.parametrize(("m", "t"), [(1, 1), (5, 2), (9, 2), (9, 3), (10, 4), (4, 4)])
def test_rows_of_an_array_cover_all_combinations_equally_often(m, t):
    cover = orthogonal_array_cover(m, t)
    assert cover.imbalance == 0
    array = cover.matrix().astype(int)
    for r in range(1, t + 1):
        assert cover.coverage(r) == 1
        times = {array[:, columns].all(axis=1).sum() for columns in combinations(range(m), r)}
        assert len(times) == 1


def test_impossible_arrays_are_refused():
    with pytest.raises(ValueError, match="strength must be an integer between 1 and 4, got 5"):
        orthogonal_array(4, 5)
    with pytest.raises(ValueError, match=r"n_labels=300 at this strength needs 2\^36 runs"):
        orthogonal_array_cover(300, 8)
