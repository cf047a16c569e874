"""Compiled hash tables against dictionaries."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelcover._hash_kernels import (
    FREE,
    alike_rows,
    mixed,
    new_slots,
    place_of_integer,
    place_of_row,
    row_key,
)


def place_of(slots, number):
    # Out of compiled code, a key comes back as a Python integer.
    return place_of_integer(slots, number, np.uint64(mixed(number)))


@given(st.lists(st.integers(0, 2**62), max_size=80), st.integers(0, 2**62))
def test_integers_are_found_where_they_were_put(numbers, other):
    slots = new_slots(len(numbers))
    for number in numbers:
        slots[place_of(slots, number)] = number
    assert sorted(slots[slots != FREE].tolist()) == sorted(set(numbers))
    for number in [*numbers, other]:
        found = slots[place_of(slots, number)]
        assert found == (number if number in numbers else FREE)


def test_rows_with_the_same_key_are_told_apart():
    rows = np.array([[0, 1], [2, 3], [4, 5]], dtype=np.int32)
    key = np.uint64(row_key(rows[0]))
    keys = np.full(3, key)  # as if the keys had collided
    slots = new_slots(3)
    for i in range(3):
        place = place_of_row(slots, keys, rows, rows, i, key)
        assert slots[place] == FREE
        slots[place] = i
    assert [slots[place_of_row(slots, keys, rows, rows, i, key)] for i in range(3)] == [0, 1, 2]


def groups_by_dictionary(rows):
    numbers, first = {}, []
    for i, row in enumerate(map(tuple, rows.tolist())):
        if row not in numbers:
            numbers[row] = len(first)
            first.append(i)
    return [numbers[row] for row in map(tuple, rows.tolist())], first


@given(st.integers(0, 10**6), st.integers(0, 60), st.integers(1, 5), st.integers(1, 4))
def test_alike_rows_are_grouped_in_the_order_of_their_first(seed, n, width, n_values):
    rows = np.random.default_rng(seed).integers(-1, n_values, size=(n, width), dtype=np.int32)
    expected = groups_by_dictionary(rows)
    group, first = alike_rows(rows)
    assert group.dtype == first.dtype == np.int64
    assert (group.tolist(), first.tolist()) == expected


@pytest.mark.parametrize("step", [1, 2**20, 2**40])
def test_regular_integers_stay_near_where_they_belong(step):
    numbers = step * np.arange(4096)
    slots = new_slots(len(numbers))
    for number in numbers:
        slots[place_of(slots, number)] = number
    taken = np.flatnonzero(slots != FREE)
    belongs = [int(mixed(number)) & (len(slots) - 1) for number in slots[taken]]
    assert np.mean((taken - belongs) % len(slots)) < 2
