"""What holds for every strategy of the command: sizes, NumPy integers, silence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelcover import _progress
from labelcover.covers import Cover, build_cover, greedy_cover, strategies_by_name

STRATEGIES = {**strategies_by_name(), "greedy": greedy_cover}
each_strategy = pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
# A partition has a labelset that is not of k labels; tests/covers/test_disjoint.py has its sizes.
OF_ONE_SIZE = {name: strategy for name, strategy in STRATEGIES.items() if name != "disjoint"}
each_of_one_size = pytest.mark.parametrize("strategy", OF_ONE_SIZE.values(), ids=OF_ONE_SIZE)


@each_of_one_size
def test_more_labelsets_than_there_are_is_refused(strategy):
    with pytest.raises(ValueError, match="size must be an integer between 1 and 4, got 10"):
        strategy(4, 3, size=10)


@each_of_one_size
def test_all_labelsets_there_are_can_be_had(strategy):
    cover = strategy(5, 3, size=10, random_state=0)
    assert len(set(map(tuple, cover.labelsets.tolist()))) == 10


@each_strategy
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_cover_has_a_labelset_twice(strategy, data):
    m = data.draw(st.integers(2, 9))
    k = data.draw(st.integers(1, min(4, m)))
    r = data.draw(st.integers(1, min(3, k)))
    labelsets = strategy(m, k, r, random_state=0).labelsets
    assert len(np.unique(labelsets, axis=0)) == len(labelsets)


@each_strategy
def test_numpy_integers_are_integers(strategy, tmp_path):
    m, k, r, size, seed = map(np.int64, (7, 3, 2, 9, 1))
    cover = strategy(m, k, r, size=size, random_state=seed)
    assert cover == strategy(7, 3, 2, size=9, random_state=1)
    cover.save(tmp_path / "cover.json")


def test_a_lower_bound_may_be_a_numpy_integer(tmp_path):
    Cover([[0, 1]], np.int32(2), lower_bound=np.int64(1)).save(tmp_path / "cover.json")
    assert Cover.load(tmp_path / "cover.json").lower_bound == 1


@pytest.mark.parametrize(
    "strategy", [*STRATEGIES.values(), build_cover], ids=[*STRATEGIES, "from scratch"]
)
def test_a_bar_is_shown_only_when_asked_for(strategy, monkeypatch):
    asked = []

    class Bar(_progress._Delayed):
        def __init__(self, text, total):
            asked.append(text)
            super().__init__(text, total)

    monkeypatch.setattr(_progress, "_Delayed", Bar)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    strategy(12, 3, 1, random_state=0)
    assert asked == []
    strategy(12, 3, 1, random_state=0, verbose=True)
    assert len(asked) == 1
