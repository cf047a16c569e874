from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover import LabelCoverClassifier
from labelcover.covers import disjoint_cover


@given(m=st.integers(1, 30), data=st.data(), seed=st.integers(0, 100))
def test_every_label_is_in_exactly_one_labelset(m, data, seed):
    k = data.draw(st.integers(1, m))
    cover = disjoint_cover(m, k, 1, random_state=seed)
    assert cover.label_counts.tolist() == [1] * m
    whole, rest = divmod(m, k)
    assert cover.labelset_sizes.tolist() == [k] * whole + [rest] * (rest > 0)
    assert cover == disjoint_cover(m, k, 1, random_state=seed)


@given(m=st.integers(4, 12), k=st.integers(2, 3), data=st.data())
def test_more_labelsets_are_further_partitions(m, k, data):
    parts = ceil(m / k)
    size = data.draw(st.integers(1, parts * 3))
    cover = disjoint_cover(m, k, size=size, random_state=0)
    assert len(cover) == size
    assert cover.imbalance <= 1
    partitions = []
    for begin in range(0, size - parts + 1, parts):
        part = cover.take(range(begin, begin + parts))
        assert part.label_counts.tolist() == [1] * m
        partitions.append(frozenset(tuple(labels.tolist()) for labels in part))
    assert len(set(partitions)) == len(partitions)


@pytest.mark.parametrize(("m", "k", "most"), [(4, 2, 6), (5, 3, 20), (5, 2, 45), (4, 4, 1)])
def test_all_partitions_there_are_can_be_had_and_no_more(m, k, most):
    cover = disjoint_cover(m, k, size=most, random_state=0)
    parts = ceil(m / k)
    partitions = {
        frozenset(tuple(labels.tolist()) for labels in cover.take(range(i, i + parts)))
        for i in range(0, most, parts)
    }
    assert len(partitions) * parts == most
    with pytest.raises(ValueError, match=f"size must be an integer between 1 and {most}"):
        disjoint_cover(m, k, size=most + 1)


def test_partitions_are_uniform():
    rng = np.random.RandomState(0)
    counts = {}
    for _ in range(1500):
        rows = disjoint_cover(5, 2, random_state=rng)
        name = frozenset(tuple(labels.tolist()) for labels in rows)
        counts[name] = counts.get(name, 0) + 1
    chi2 = sum((count - 100) ** 2 / 100 for count in counts.values())
    assert len(counts) == 15
    assert chi2 < 36.1  # the 0.999 quantile for fourteen degrees of freedom


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": 4, "k": 5}, "k must be an integer between 1 and 4, got 5"),
        ({"n_labels": 4, "k": 3, "r": 4}, "r must be an integer between 1 and 3, got 4"),
        ({"n_labels": 4, "k": 3, "size": 0}, "size must be an integer of at least 1, got 0"),
        ({"n_labels": 4, "k": 3, "random_state": "x"}, "random_state must be an integer"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        disjoint_cover(**arguments)


def test_estimators_take_a_partition_by_name():
    rng = np.random.default_rng(0)
    X, Y = rng.random((40, 3)), rng.integers(0, 2, (40, 5))
    model = LabelCoverClassifier(cover="disjoint", k=2, random_state=0).fit(X, Y)
    assert model.cover_.labelset_sizes.tolist() == [2, 2, 1]
