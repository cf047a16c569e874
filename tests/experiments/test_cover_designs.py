"""Labelsets that an estimator makes have a time of their own."""

import pytest

from labelcover import (
    BalancorClassifier,
    BalcoClassifier,
    DDBalancorClassifier,
    InlacClassifier,
    LabelCoverClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
)
from labelcover.datasets import load
from labelcover.experiments._paper.printed import METHODS as PAPER_METHODS
from labelcover.experiments._paper.printed import paper_size, paper_sizes
from labelcover.experiments._running import design_seconds
from labelcover.experiments.named_methods import METHODS, named_method, named_methods
from labelcover.methods import BinaryRelevanceClassifier


def test_given_labelsets_have_no_design():
    model = RakelPlusPlusClassifier(cover=[[0, 1, 2], [3, 4, 5], [5, 6, 7]])
    assert design_seconds(model, 8) is None


def test_the_time_of_a_design_is_there_where_labelsets_are_made():
    for model in (
        InlacClassifier(k=3),
        BalcoClassifier(k=4, size=9),
        BalancorClassifier(k=4, r=3),
        DDBalancorClassifier(k=3, size=7),
        RakelClassifier(size=9),
        LabelCoverClassifier(cover="best"),
    ):
        assert design_seconds(model, 9) >= 0
    # BR has no labelsets to make; the others have a size, a k or a cover that only the fit knows.
    for model in (
        BinaryRelevanceClassifier(),
        RakelClassifier(),
        BalcoClassifier(),
        LabelCoverClassifier(),
        LabelCoverClassifier(k="auto"),
    ):
        assert design_seconds(model, 9) is None


def test_all_methods_of_the_paper_have_a_design():
    for name in PAPER_METHODS:
        assert design_seconds(METHODS[name](size=9), 9) >= 0


@pytest.mark.parametrize("name", PAPER_METHODS)
def test_the_protocol_of_the_paper_can_be_asked_for(shared_data, name):
    dataset = load("emotions")
    model = named_method(name, k=4, size="paper", threshold="cv", member="smo")(dataset)
    assert model.size == 3
    assert model.threshold == (0.5 if name == "RAKEL" else "cv")
    # Which is micro-F1, but for MULAN's search; the threshold of RAKEL is not searched for.
    searched = ("auto", "grid") if name != "RAKEL" else (None, None)
    given = model.get_params()
    assert (given.get("threshold_measure"), given.get("threshold_search")) == searched


def test_sizes_of_the_paper():
    assert len(paper_sizes(2)) == 32
    assert len(paper_sizes(3)) == 14
    assert paper_size("mediamill-subset", 5) == 1187
    assert paper_size("ohsumed", 7, r=3) == 51
    message = r"needs a data set, k and r of the paper, got data set 'flags' with k=3 and r=2; with"
    with pytest.raises(ValueError, match=message):
        paper_size("flags", 3)
    with pytest.raises(ValueError, match=r"emotions \(k = 3, 4\)"):
        paper_size("emotions", 5)
    with pytest.raises(ValueError, match="it has r=2 and r=3"):
        paper_size("emotions", 4, r=4)


def test_a_method_without_labelsets_is_there_once_whatever_k():
    assert list(named_methods(["BR", "INLAC"], [3, 4])) == ["BR", "INLAC k=3", "INLAC k=4"]
    assert list(named_methods(["BR", "INLAC"], [4])) == ["BR", "INLAC"]
