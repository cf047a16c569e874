"""The kernels of C4.5 against plain NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover.learners._c45.growing_kernels import grow
from labelcover.learners._c45.pruning_kernels import added_errors
from labelcover.learners._c45.row_kernels import split_rows
from labelcover.learners._c45.split_kernels import (
    count_switches,
    nominal_split,
    numeric_split_weights,
    numeric_splits_counts,
    switch_splits_counts,
)
from labelcover.learners._c45.tree import FeatureTable, value_ranks

TWENTY = np.int32(20)  # values of a nominal feature


def table_of(value, n_values=0, *, weighted=False):
    """Return the table of one feature."""
    return FeatureTable.of(value[:, None], np.array([n_values], np.int32), weighted=weighted)


def information(weights):
    weights = np.asarray(weights, dtype=float)
    weights = weights[weights > 1e-6]
    return weights.sum() * np.log2(weights.sum()) - (weights * np.log2(weights)).sum()


def bags_information(bags):
    return sum(information(bag) for bag in bags if sum(bag) > 0)


def numeric_oracle(value, label, weight, n_classes, min_leaf):
    known = ~np.isnan(value)
    total, v, y, w = weight.sum(), value[known], label[known], weight[known]
    least = np.clip(0.1 * w.sum() / n_classes, min_leaf, max(25, min_leaf))
    levels = np.unique(v)
    # Of the distinct values, only those of a step above their neighbour are separated from it.
    best, n_candidates, chosen = 0.0, 0, None
    for low, high in pairwise(levels):
        if low + 1e-5 >= high:
            continue
        sides = [np.bincount(y[m], w[m], n_classes) for m in (v <= low, v > low)]
        if min(side.sum() for side in sides) < least - 1e-6:
            continue
        n_candidates += 1
        gain = (information(np.sum(sides, axis=0)) - bags_information(sides)) / total
        if gain > best + 1e-6:
            best, chosen = gain, (sides, (low + high) / 2)
    if chosen is None or best - np.log2(n_candidates) / total < 1e-6:
        return None
    gain = best - np.log2(n_candidates) / total
    parts = [side.sum() for side in chosen[0]] + [weight[~known].sum()]
    return gain, gain * total / information(parts), chosen[1]


def nominal_oracle(value, n_values, label, weight, n_classes, min_leaf):
    known = ~np.isnan(value)
    total = weight.sum()
    bags = np.zeros((n_values, n_classes))
    np.add.at(bags, (value[known].astype(int), label[known]), weight[known])
    if (bags.sum(axis=1) >= min_leaf).sum() < 2:
        return None
    gain = max(information(bags.sum(axis=0)) - bags_information(bags), 0) / total
    return gain, gain * total / information([*bags.sum(axis=1), weight[~known].sum()]), 0.0


@st.composite
def nodes(draw, missing):
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_classes = draw(st.integers(2, 5))
    value = rng.integers(0, draw(st.integers(1, 20)), n).astype(float)
    if missing:
        value[rng.random(n) < 0.2] = np.nan
    label = rng.integers(0, n_classes, n).astype(np.int32)
    weight = rng.choice([0.25, 0.5, 1.0, 2.0], n) if missing else np.ones(n)
    return value, label, weight, n_classes


def agrees(found, expected):
    if expected is None:
        return found[1] < 0
    return np.allclose(found, expected, atol=1e-9)


def table_of_xlogx(n):
    x = np.arange(n + 1.0)
    return x * np.log2(np.maximum(x, 1))


@given(nodes(missing=False), st.sampled_from([1.0, 2.0, 5.0]), st.sampled_from([1.0, 6e-6]))
def test_numeric_splits_by_counts_are_those_of_numpy(node, min_leaf, scale):
    value, label, weight, n_classes = node
    value = value * scale  # neighbours closer than 1e-5 are not separated
    order = np.argsort(value, kind="stable").astype(np.uint16)[None, :]
    rank, far = value_ranks(value[None, :], order)
    counts = np.bincount(label, minlength=n_classes)
    expected = numeric_oracle(value, label, weight, n_classes, min_leaf)
    found = np.array([[0.0, -1.0, 0.0]])
    xlogx = table_of_xlogx(len(value) + 1)
    # Two values are sorted here, too.
    own = {"sorted_features": np.zeros(1, np.int64), "order": order, "rank": rank, "far": far}
    table = table_of(value)._replace(**own)
    numeric_splits_counts(table, order, label, counts, min_leaf, xlogx, found)
    assert agrees(found[0], expected)
    by_weights = numeric_split_weights(
        value, order[0], label, weight, n_classes, weight.sum(), min_leaf
    )
    assert agrees(by_weights, expected)


@given(
    nodes(missing=False),
    st.sampled_from([1.0, 2.0, 5.0]),
    st.integers(0, 10),
    st.sampled_from([0, 2]),
)
def test_splits_of_two_values_are_those_of_numpy(node, min_leaf, n_outside, n_values):
    value, label, weight, n_classes = node
    high = value > np.median(value)
    pair = np.array([[0.0, 1.0]]) if n_values else np.array([[-1.5, 2.0]])
    value = np.where(high, pair[0, 1], pair[0, 0])
    table = table_of(value, n_values)
    inside = slice(min(n_outside, len(value) - 2), None)  # a node need not have all rows
    rows = np.arange(len(value), dtype=np.int32)[inside]
    counts = np.bincount(label[inside], minlength=n_classes)
    found = np.array([[0.0, -1.0, 0.0]])
    xlogx = table_of_xlogx(len(value) + 1)
    rare, present = np.zeros((1, n_classes + 1), np.int32), np.zeros(1, np.int32)
    n_present = count_switches(table, rows, label, 1, rare, present)
    switch_splits_counts(
        table, present[:n_present], rare, len(rows), counts, min_leaf, xlogx, found
    )
    of_node = value[inside], label[inside], weight[inside]
    if n_values:
        total = float(len(rows))
        slow = nominal_split(value, 2, rows, label, weight, n_classes, total, min_leaf, xlogx)
        np.testing.assert_allclose(found[0], slow, rtol=0, atol=1e-12)
        expected = nominal_oracle(of_node[0], 2, *of_node[1:], n_classes, min_leaf)
    else:
        expected = numeric_oracle(*of_node, n_classes, min_leaf)
    assert agrees(found[0], expected)


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_what_is_left_of_counts_is_what_the_other_rows_count(seed, n_classes):
    random = np.random.default_rng(seed)
    words = (random.random((12, 7)) < 0.3).astype(float)
    switches = FeatureTable.of(words, np.zeros(7, np.int32), weighted=False)
    dense = words == (words.mean(axis=0) <= 0.5)  # the rarer value
    dense &= switches.is_switch
    label = random.integers(n_classes, size=12).astype(np.int32)
    rows = random.permutation(12).astype(np.int32)

    def counted(rows):
        table, present = np.zeros((7, n_classes + 1), np.int32), np.zeros(7, np.int32)
        n_present = count_switches(switches, rows, label, 1, table, present)
        assert set(present[:n_present]) == set(np.flatnonzero(table[:, -1]))
        return table

    table = counted(rows)
    for c in range(n_classes):
        assert (table[:, c] == dense[label == c].sum(axis=0)).all()
    assert (table[:, -1] == dense.sum(axis=0)).all()
    count_switches(switches, rows[:5], label, -1, table, np.empty(0, np.int32))
    assert (table == counted(rows[5:])).all()


@given(nodes(missing=True), st.sampled_from([1.0, 2.0]))
def test_numeric_splits_by_weights_are_those_of_numpy(node, min_leaf):
    value, label, weight, n_classes = node
    order = np.argsort(value, kind="stable").astype(np.uint16)
    found = numeric_split_weights(value, order, label, weight, n_classes, weight.sum(), min_leaf)
    assert agrees(found, numeric_oracle(value, label, weight, n_classes, min_leaf))


@given(st.booleans().flatmap(nodes))
def test_nominal_splits_are_those_of_numpy(node):
    value, label, weight, n_classes = node
    rows = np.arange(len(value), dtype=np.int32)
    expected = nominal_oracle(value, 20, label, weight, n_classes, 2.0)
    of_node = value, TWENTY, rows, label, weight, n_classes, weight.sum(), 2.0
    assert agrees(nominal_split(*of_node, np.empty(0)), expected)
    if (weight == 1).all():
        assert nominal_split(*of_node, table_of_xlogx(len(value))) == pytest.approx(
            nominal_split(*of_node, np.empty(0))
        )


@given(nodes(missing=True))
def test_splitting_rows_keeps_all_weight(node):
    value, _, weight, _ = node
    rows = np.arange(len(value), dtype=np.int32)
    table = table_of(value, weighted=True)
    child_rows, child_weights, starts, route, _ = split_rows(table, 0, 3.0, 2, rows, weight)
    assert child_weights.sum() == pytest.approx(weight.sum())
    left = set(child_rows[: starts[1]])
    assert set(np.flatnonzero(value <= 3.0)) <= left
    assert left <= set(np.flatnonzero(~(value > 3.0)))
    np.testing.assert_array_equal(np.flatnonzero(route < 0), np.flatnonzero(np.isnan(value)))


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_grown_nodes_have_the_rows_that_their_splits_send_to_them(seed, are_words):
    random = np.random.default_rng(seed)
    X = random.integers(0, 2 if are_words else 4, (40, 5)).astype(float)
    n_values = np.array([0, 0, 0, 4, 4], np.int32)
    table = FeatureTable.of(X, n_values, weighted=False)
    label = random.integers(3, size=40).astype(np.int32)
    tree, rows_of, _ = grow(table, label, np.ones(40), 3, 2.0, np.ones(5, bool))
    feature, threshold, first, n_children, dist = tree
    for node in range(len(feature)):
        own = rows_of[node]
        assert (np.bincount(label[own], minlength=3) == dist[node]).all()
        for child in range(n_children[node]):
            rows = rows_of[first[node] + child]
            values = X[rows, feature[node]]
            is_nominal = n_values[feature[node]] > 0
            assert ((values if is_nominal else values > threshold[node]) == child).all()
            assert set(rows) <= set(own)


@pytest.mark.parametrize(
    ("n", "errors", "expected"),
    [
        (6.0, 0.0, 6 * (1 - 0.25 ** (1 / 6))),  # the examples of the book on C4.5
        (9.0, 0.0, 9 * (1 - 0.25 ** (1 / 9))),
        (2.0, 2.0, 0.0),
        (3.0, 2.6, 0.4),
    ],
)
def test_added_errors_of_known_cases(n, errors, expected):
    assert added_errors(n, errors, 0.25, 0.6744897501960817) == pytest.approx(expected)


def test_added_errors_grow_with_errors_below_one():
    added = [added_errors(10.0, e, 0.25, 0.6744897501960817) for e in (0.0, 0.5, 1.0)]
    assert added[1] == pytest.approx((added[0] + added[2]) / 2)
