import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.covers import Cover
from labelcover.families import encode


def reference(Y, cover):
    """The plain NumPy twin of `encode`."""
    codes, patterns = [], []
    for labels in cover.labelsets:
        found, inverse = np.unique(Y[:, labels], axis=0, return_inverse=True)
        codes.append(inverse.ravel())
        patterns.append(found)
    offsets = np.cumsum([0] + [len(found) for found in patterns])
    return np.array(codes), offsets, np.concatenate(patterns)


def random_problem(seed, n, m, k, size):
    random = np.random.default_rng(seed)
    Y = (random.random((n, m)) < random.random(m)).astype(np.uint8)
    rows = [random.choice(m, k, replace=False) for _ in range(size)]
    return Y, Cover(rows, m)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    m=st.integers(1, 20),
    size=st.integers(1, 6),
    data=st.data(),
)
def test_encoding_equals_the_plain_one(seed, n, m, size, data):
    k = data.draw(st.integers(1, m))
    Y, cover = random_problem(seed, n, m, k, size)
    encoding = encode(Y, cover)
    for got, expected in zip(
        (encoding.codes, encoding.offsets, encoding.patterns), reference(Y, cover), strict=True
    ):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("m", "k"), [(70, 70), (200, 150), (64, 63), (40, 31), (40, 32), (13, 13)])
def test_labelsets_longer_than_a_machine_word_are_encoded(m, k):
    Y, cover = random_problem(0, 60, m, k, 3)
    Y[1::2] = Y[::2]
    encoding = encode(Y, cover)
    codes, offsets, patterns = reference(Y, cover)
    np.testing.assert_array_equal(encoding.codes, codes)
    np.testing.assert_array_equal(encoding.offsets, offsets)
    np.testing.assert_array_equal(encoding.patterns, patterns)


def test_the_pattern_of_the_class_of_a_row_is_what_the_row_says():
    Y, cover = random_problem(1, 50, 8, 3, 10)
    encoding = encode(Y, cover)
    for j, labels in enumerate(cover.labelsets):
        rows = encoding.patterns[encoding.offsets[j] + encoding.codes[j]]
        np.testing.assert_array_equal(rows, Y[:, labels])


def test_read_only_labels_are_accepted():
    Y, cover = random_problem(2, 20, 5, 2, 4)
    Y.setflags(write=False)
    assert encode(Y, cover).codes.shape == (4, 20)


def test_members_that_pose_the_same_problem_are_found():
    Y = np.array([[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 1]], dtype=np.uint8)
    cover = Cover([[0, 2], [0, 1], [1, 2], [0, 2]], n_labels=3)
    first, problem = encode(Y, cover).distinct()
    np.testing.assert_array_equal(first, [0, 1])
    np.testing.assert_array_equal(problem, [0, 1, 0, 0])


def test_labels_that_never_change_make_a_member_of_one_class():
    Y = np.zeros((5, 3), dtype=np.uint8)
    encoding = encode(Y, Cover([[0, 1], [1, 2]], n_labels=3))
    np.testing.assert_array_equal(np.diff(encoding.offsets), [1, 1])
