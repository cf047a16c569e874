from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover.covers import Cover, complete_cover, inlac_cover


def plain_completion(start, m, k, r, size=None):
    """Algorithm 4 from a given start by listing everything; ties to the first."""
    uncovered = set(combinations(range(m), r))
    for labels in start:
        uncovered.difference_update(combinations(sorted(labels), r))
    chosen = [sorted(labels) for labels in start]
    left = [list(s) for s in combinations(range(m), k) if list(s) not in chosen]
    while uncovered if size is None else len(chosen) < size:
        new = [len(uncovered.intersection(combinations(s, r))) for s in left]
        best = left.pop(int(np.argmax(new)))
        uncovered.difference_update(combinations(best, r))
        chosen.append(best)
    return chosen


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_what_is_given_is_completed_as_inlac_would(data):
    m = data.draw(st.integers(2, 7))
    labelset = st.sets(st.integers(0, m - 1), min_size=1).map(sorted)
    start = data.draw(st.lists(labelset, min_size=1, max_size=5))
    k = data.draw(st.integers(1, m))
    r = data.draw(st.integers(1, k))
    cover = complete_cover(start, r, k=k, n_labels=m)
    assert [labels.tolist() for labels in cover] == plain_completion(start, m, k, r)
    assert cover.coverage(r) == 1


def test_by_default_labelsets_are_as_large_as_the_largest_given():
    start = Cover([[0, 1], [2, 3, 4], [5, 6]], 7)
    cover = complete_cover(start)
    assert cover.labelset_sizes.tolist() == [2, 3, 2] + [3] * (len(cover) - 3)
    assert cover.take(range(3)) == start
    assert cover.coverage(2) == 1


def test_the_code_of_table_3_is_completed_by_two_labelsets(table_3):
    code = Cover.from_matrix(table_3)
    cover = complete_cover(code)
    assert (len(cover), cover.k, cover.coverage(2)) == (13, 8, 1.0)
    assert complete_cover(cover) == cover


def test_from_the_first_labelset_of_inlac_on_it_is_inlac():
    inlac = inlac_cover(11, 4, 3)
    assert complete_cover(inlac.take([0]), 3) == inlac
    assert complete_cover(inlac.take(range(9)), 3) == inlac


@pytest.mark.parametrize("size", [3, 4, 10])
def test_a_size_counts_what_is_given(size):
    start = [[0, 1, 2], [3, 4], [0, 1, 2]]
    cover = complete_cover(start, n_labels=5, size=size)
    assert [labels.tolist() for labels in cover] == plain_completion(start, 5, 3, 2, size)


def test_random_ties_differ_between_seeds_and_repeat_with_them():
    start = [[0, 1, 2, 3]]
    made = [complete_cover(start, n_labels=12, ties="random", random_state=s) for s in range(4)]
    assert len(set(made)) > 1
    assert made[1] == complete_cover(start, n_labels=12, ties="random", random_state=1)
    assert all(cover.coverage(2) == 1 for cover in made)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"start": [[0, 1]]}, "n_labels must be an integer of at least 1, got None"),
        ({"start": Cover([[0, 1]], 4), "n_labels": 5}, "n_labels must be 4, that of start"),
        ({"start": Cover([[0]], 4)}, "r must be an integer between 1 and 1, got 2"),
        ({"start": Cover([[0, 1]], 4), "k": 5}, "k must be an integer between 1 and 4, got 5"),
        ({"start": Cover([[0, 1]], 4), "size": 0}, "size must be an integer between 1 and 6"),
        ({"start": Cover([[0, 1]] * 2, 4), "size": 8}, "size must be an integer between 2 and 7"),
        ({"start": Cover([[0, 1]], 4), "ties": "last"}, "ties must be one of"),
        ({"start": [[0, 9]], "n_labels": 4}, "between 0 and 3, got 9"),
    ],
)
def test_what_cannot_be_completed_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        complete_cover(**arguments)
