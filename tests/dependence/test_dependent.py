"""Covers of the dependent labelsets only."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelcover.dependence import dependent_cover, label_dependence


def random_labels(seed, n=150, m=20):
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(n, 4)) @ random.normal(size=(4, m))
    return (hidden + random.normal(size=(n, m)) > 2).astype(np.uint8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), m=st.integers(3, 25), k=st.integers(2, 7), r=st.integers(2, 4))
def test_every_dependent_labelset_and_every_label_is_covered(seed, m, k, r):
    k = min(max(k, r), m)
    r = min(r, k)
    Y = random_labels(seed, m=m)
    cover = dependent_cover(Y, k, r)
    dependence = label_dependence(Y, r)
    assert cover.k == k
    assert dependence.covered(cover)[dependence.chi_square > 0].all()
    assert cover.label_counts.min() >= 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.integers(5, 40))
def test_a_size_is_kept_and_every_label_still_covered(seed, size):
    Y = random_labels(seed)
    cover = dependent_cover(Y, 4, size=size)
    assert len(cover) <= size
    assert cover.label_counts.min() >= 1
    larger = dependent_cover(Y, 4, size=size + 5)
    dependence = label_dependence(Y, 2)
    assert dependence.share(larger) >= dependence.share(cover) - 1e-12


def test_the_share_asked_for_is_reached_and_reported():
    Y = random_labels(1)
    dependence = label_dependence(Y, 2)
    whole = dependent_cover(Y, 4)
    most = dependent_cover(Y, 4, share=0.8)
    assert 0.8 <= dependence.share(most) < 1
    assert len(most) < len(whole)
    assert dependence.share(whole) == pytest.approx(1.0)
    assert f"{dependence.share(most):.1%}" in most.method


def test_rows_are_no_worse_than_those_of_a_plain_greedy():
    Y = random_labels(5, m=12)
    dependence = label_dependence(Y, 2)
    weights = np.zeros((12, 12))
    i, j = dependence.labelsets.T
    weights[i, j] = weights[j, i] = dependence.chi_square
    size = 0
    while weights.any():
        row = list(np.unravel_index(weights.argmax(), weights.shape))
        while len(row) < 4:
            gains = weights[row].sum(axis=0)
            gains[row] = -1
            row.append(int(gains.argmax()))
        weights[np.ix_(row, row)] = 0
        size += 1
    assert len(dependent_cover(Y, 4)) <= size + 1


def test_disjoint_blocks_get_a_row_each():
    Y = np.kron(np.eye(5, dtype=np.uint8), np.ones((6, 4), dtype=np.uint8))
    cover = dependent_cover(Y, 4)
    assert sorted(cover.labelsets.tolist()) == np.arange(20).reshape(5, 4).tolist()


def test_room_left_in_a_row_is_used_for_other_labelsets():
    Y = np.kron(np.eye(6, dtype=np.uint8), np.ones((6, 2), dtype=np.uint8))
    assert len(dependent_cover(Y, 6)) == 2


def test_a_wide_sparse_table_is_covered():
    random = np.random.default_rng(0)
    columns = (random.integers(5_000, size=(4_000, 1)) * 4 + np.arange(4)).ravel()
    rows = np.repeat(np.arange(4_000), 4)
    Y = sparse.csr_array((np.ones(16_000, dtype=np.uint8), (rows, columns)), (4_000, 20_000))
    cover = dependent_cover(Y, 4, min_count=2)
    assert cover.label_counts.min() >= 1
    assert label_dependence(Y, 2, min_count=2).share(cover) == pytest.approx(1.0)
    assert len(cover) < 5_100


@pytest.mark.parametrize(
    "Y",
    [np.zeros((10, 7)), np.ones((10, 7)), np.tile([1, 0, 1, 1, 0, 0, 1], (9, 1)), np.eye(4, 7)],
    ids=["no label", "all labels", "a single labelset", "fewer rows than labels"],
)
def test_without_dependence_every_label_is_covered_once(Y):
    cover = dependent_cover(Y, 3)
    assert cover.label_counts.min() >= 1
    assert len(cover) == 3


def test_same_table_same_cover():
    Y = random_labels(2)
    assert dependent_cover(Y, 5) == dependent_cover(sparse.csr_array(Y), 5)


def test_bad_arguments_are_named():
    Y = random_labels(0)
    with pytest.raises(ValueError, match="k must be"):
        dependent_cover(Y, 21)
    with pytest.raises(ValueError, match="k must be"):
        dependent_cover(Y, 2, r=3)
    with pytest.raises(ValueError, match="size must be"):
        dependent_cover(Y, 4, size=4)
    with pytest.raises(ValueError, match="share must be"):
        dependent_cover(Y, 4, share=1.5)
