"""Label products: what least squares solves instead of the classes of labelsets."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover import LabelCoverClassifier
from labelcover.covers import Cover, random_cover
from labelcover.ensemble import _cover_view as cover_view
from labelcover.ensemble._encoding import encode, label_products, product_rows
from labelcover.learners import LeastSquaresClassifier


def labels(seed, n, m):
    random = np.random.default_rng(seed)
    groups = random.random((n, 2))[:, random.integers(0, 2, m)]
    return (groups * random.random((n, m)) > random.uniform(0.2, 0.7, m)).astype(np.uint8)


def one_hot_classes(targets):
    return targets.combine @ targets.dense() + targets.constant[:, None]


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(4, 8), st.integers(1, 4))
def test_classes_are_combinations_of_products(seed, n, m, k):
    Y = labels(seed, n, m)
    size = min(4, comb(m, k))
    covers = [random_cover(m, k, 1, size=size, random_state=seed)]
    if seed % 2:
        covers.append(Cover(np.arange(m)[:, None], m))
    encoding, classes, first = encode(Y, covers)
    products = label_products(classes)
    offsets = encoding.offsets
    if products is None:
        return
    assert len(products) < offsets[-1] - len(first)
    found = one_hot_classes(products).T
    expected = np.zeros_like(found)
    for p, own in enumerate(classes.array()):
        expected[np.arange(n), offsets[p] + own] = 1
    np.testing.assert_array_equal(found, expected)


def test_products_are_shared_by_labelsets_and_vanish_where_labels_never_meet():
    Y = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0]] * 4, dtype=np.uint8)
    _, classes, _ = encode(Y, [Cover([[0, 1], [0, 2], [1, 2]], 3)])
    products = label_products(classes)
    # Three labels, and the one pair that occurs; there are 4 + 3 + 3 classes.
    assert sorted(products.dense().sum(axis=1)) == [4, 4, 8, 8]


def test_products_of_labelsets_of_different_sizes():
    Y = labels(1, 150, 6)
    encoding, classes, _ = encode(Y, [Cover([[0, 1, 2], [3, 4], [1, 2, 3], [0, 1]], 6)])
    products = label_products(classes)
    found = one_hot_classes(products).T
    expected = encoding.offsets[:-1][:, None] + classes.array()
    assert (found.sum(axis=1) == len(classes)).all()
    assert all((found[np.arange(150), own] == 1).all() for own in expected)


def test_labelsets_of_many_labels_are_solved_by_their_classes():
    Y = labels(0, 200, 9)
    _, classes, _ = encode(Y, [random_cover(9, 7, 1, size=3, random_state=0)])
    assert label_products(classes) is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_members_solved_by_products_are_those_solved_by_classes(
    seed, kernel, weighted, monkeypatch
):
    random = np.random.default_rng(seed)
    n, m = 120, 7
    Y = labels(seed, n, m)
    X = random.normal(size=(n, 5)) + Y[:, :5]
    weights = random.uniform(0.5, 2, n) if weighted else None
    cover = random_cover(m, 3, 1, size=12, random_state=seed)
    model = LabelCoverClassifier(
        LeastSquaresClassifier(kernel=kernel), cover=cover, threshold=0.5, random_state=0
    )
    by_products = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    monkeypatch.setattr(cover_view, "label_products", lambda *_: None)
    by_classes = model.fit(X, Y, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(by_products, by_classes, atol=1e-8)


@pytest.mark.parametrize("n", [9, 2000])
def test_rows_of_a_product_have_all_its_labels(n):
    Y = (np.random.default_rng(0).random((n, 4)) < 0.7).astype(np.uint8)
    products = [(0,), (0, 1), (0, 1, 3), (2,), (2, 3)]
    parents, labels = np.array([-1, 0, 1, -1, 3]), np.array([0, 1, 3, 2, 3])
    found = product_rows(parents, labels, Y)
    holds = found.holds.toarray()
    holds = holds if found.group is None else holds[:, found.group]
    np.testing.assert_array_equal(holds, [Y[:, product].all(axis=1) for product in products])
