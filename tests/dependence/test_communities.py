import sys

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.dependence import community_cover, dependent_cover
from labelcover.learners import LeastSquaresClassifier


def grouped(groups, m, n=200, seed=0):
    """Labels that occur together inside groups often, across groups seldom."""
    random = np.random.default_rng(seed)
    Y = np.zeros((n, m), dtype=int)
    for i in range(n):
        group = groups[random.integers(len(groups))]
        Y[i, group] = random.random(len(group)) < 0.7
        Y[i, random.integers(m)] |= random.random() < 0.1
    return Y


GROUPS = [[0, 3, 6], [1, 4], [2, 5, 7, 8]]


def labelsets(cover):
    return [labels.tolist() for labels in cover]


@pytest.mark.parametrize("weighted", [True, False])
def test_groups_of_labels_that_occur_together_are_found(weighted):
    Y = grouped(GROUPS, 9)
    if not weighted:
        # Where every two labels meet once, only how often they do tells groups apart.
        Y = Y[[set(np.flatnonzero(row)) <= set(GROUPS[g]) for row in Y for g in [_group(row)]]]
    for seed in range(5):
        assert labelsets(community_cover(Y, weighted=weighted, random_state=seed)) == GROUPS


def _group(row):
    return int(np.argmax([row[group].sum() for group in GROUPS]))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 20])
def test_no_labelset_has_more_than_k_labels_and_none_is_lost(k):
    Y = grouped([[0, 1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12, 13, 14, 15], [16, 17]], 20)
    cover = community_cover(Y, k=k, random_state=1)
    assert cover.label_counts.tolist() == [1] * 20
    assert cover.k <= k
    assert cover == community_cover(Y, k=k, random_state=1)
    whole = labelsets(community_cover(Y, random_state=1))
    assert all(any(set(part) <= set(one) for one in whole) for part in labelsets(cover))


def test_a_large_community_is_divided_where_the_least_weight_is():
    Y = np.zeros((20, 4), dtype=int)
    Y[:9, :2] = Y[9:18, 2:] = Y[18:, 1:3] = 1
    for k in (2, 3):
        cover = community_cover(Y, k=k, resolution=0.01, random_state=0)
        assert labelsets(cover) == [[0, 1], [2, 3]]
    assert len(community_cover(Y, resolution=0.01, random_state=0)) == 1


def test_labels_that_occur_alone_or_never_stay_alone():
    Y = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]])
    assert labelsets(community_cover(Y, random_state=0)) == [[0, 1], [2], [3]]
    assert labelsets(community_cover(np.zeros((3, 2), int), k=1, random_state=0)) == [[0], [1]]


def test_a_higher_resolution_gives_more_communities():
    Y = grouped(GROUPS, 9, n=300)
    sizes = [len(community_cover(Y, resolution=x, random_state=0)) for x in (0.01, 1, 20)]
    assert sizes[0] == 1
    assert sizes[0] < sizes[1] < sizes[2]


def test_sparse_labels_give_the_same_cover():
    Y = grouped(GROUPS, 9)
    assert community_cover(sparse.csr_array(Y), random_state=0) == community_cover(
        Y, random_state=0
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be an integer between 1 and 9, got 0"),
        ({"k": 10}, "k must be an integer between 1 and 9, got 10"),
        ({"resolution": 0.0}, "resolution must be a number above 0, got 0.0"),
        ({"random_state": "x"}, "random_state must be an integer"),
    ],
)
def test_impossible_arguments_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        community_cover(grouped(GROUPS, 9), **options)


def test_without_networkx_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install 'labelcover\[communities\]'"):
        community_cover(grouped(GROUPS, 9))


class TestEstimators:
    """Strategies that look at the labels as `cover` of an estimator."""

    Y = grouped(GROUPS, 9)
    X = np.random.default_rng(1).normal(size=(200, 4)) + Y[:, :4]

    def fit(self, **options):
        member = LeastSquaresClassifier()
        return LabelCoverClassifier(member, random_state=0, **options).fit(self.X, self.Y)

    def test_communities_are_found_by_name(self):
        assert labelsets(self.fit(cover="communities", k=None).cover_) == GROUPS
        assert self.fit(cover="communities", k=3).cover_.k == 3
        assert self.fit(cover=community_cover, k=None).cover_.k == 4

    def test_dependent_labels_are_covered_by_name(self):
        cover = self.fit(cover="dependent", k=3, size=8).cover_
        assert cover == dependent_cover(self.Y, 3, size=8)
        assert self.fit(cover=dependent_cover, k=3, size=8).cover_ == cover

    def test_k_can_be_chosen_for_them(self):
        model = self.fit(cover="dependent", k="auto")
        (chosen,) = [c for c in model.cover_choices_ if c.chosen]
        assert dependent_cover(self.Y, chosen.k, chosen.r) == model.cover_

    def test_a_function_of_the_labels_gets_what_it_takes(self):
        seen = {}

        def mine(Y, **options):
            seen.update(options)
            return community_cover(Y, random_state=0)

        assert labelsets(self.fit(cover=mine, k=2, size=5).cover_) == GROUPS
        assert (seen["k"], seen["r"], seen["size"]) == (2, 2, 5)
        assert isinstance(seen["random_state"], int)

    def test_what_cannot_be_is_refused(self):
        with pytest.raises(ValueError, match="size must be None for community_cover"):
            self.fit(cover="communities", size=4)
        with pytest.raises(ValueError, match="k must be an integer of at least 1, got None"):
            self.fit(cover="best", k=None)
        with pytest.raises(ValueError, match=r"cover must be one of .*'dependent', 'communities'"):
            self.fit(cover="groups")
        with pytest.raises(ValueError, match="cover must return a Cover, got 3"):
            self.fit(cover=lambda Y, k: 3)
        with pytest.raises(ValueError, match="size must be None for community_cover"):
            RakelClassifier(cover="communities").fit(self.X, self.Y)
