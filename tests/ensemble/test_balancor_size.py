"""balancor_size: as many labelsets as BALANCOR makes, or a warning that it is another number."""

import warnings

import pytest

from labelcover.covers import balancor_cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.ensemble import _choose_cover as choose_cover


def test_it_is_the_size_of_the_cover_and_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert choose_cover.balancor_size(9, 4, 2) == len(balancor_cover(9, 4, 2))


@pytest.mark.parametrize(("m", "made"), [(173, True), (174, False)])
def test_a_cover_of_more_than_5000_labelsets_is_not_made_and_that_is_said(m, made, monkeypatch):
    asked = []

    def counted(*problem):
        asked.append(problem)
        return 6_000

    monkeypatch.setattr(choose_cover, "_balancor_size", counted)
    fewest, _ = cover_size_bounds(m, 3, 2)
    assert (fewest <= 5_000) == made
    if made:
        assert choose_cover.balancor_size(m, 3, 2) == 6_000
        assert asked == [(m, 3, 2)]
        return
    message = rf"{m} labels with k=3 and r=2 has more than 5000 labelsets .* {fewest} are used"
    with pytest.warns(UserWarning, match=message):
        assert choose_cover.balancor_size(m, 3, 2) == fewest
    assert asked == []
