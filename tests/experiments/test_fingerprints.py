"""Fingerprints are equal if and only if the content is, in every process."""

import functools
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.covers import Cover, balancor_cover, inlac_cover
from labelcover.datasets import Dataset, load
from labelcover.experiments._fingerprints import (
    data_fingerprint,
    fold_fingerprint,
    method_fingerprint,
)
from labelcover.experiments._folds import Fold
from labelcover.methods import PrunedSetsClassifier
from labelcover.metrics import hamming_loss, micro_f1


@dataclass(frozen=True)
class Strategy:
    """A strategy with a parameter of its own."""

    shift: int

    def __call__(self, n_labels, k, r, *, size=None, random_state=None):
        return balancor_cover(n_labels, k, r).permute(np.roll(np.arange(n_labels), self.shift))


def shifted(shift):
    """Return functions of one name and one code that differ in what they close over."""

    def strategy(n_labels, k, r, *, size=None, random_state=None):
        return Strategy(shift)(n_labels, k, r)

    return strategy


def endless(shift):
    """Return a function that refers to itself."""

    def strategy(n):
        return strategy(n - shift) if n > 0 else n

    return strategy


def toy(**changes):
    dataset = Dataset(
        "toy",
        np.array([[0.0, 1.5], [1.0, np.nan], [2.0, 0.0]]),
        np.array([[0, 1], [1, 0], [1, 1]], dtype=np.uint8),
        ["colour", "height"],
        ["a", "b"],
        np.array([True, False]),
        categories={"colour": ("red", "green", "blue")},
    )
    return replace(dataset, **changes)


CHANGES = {
    "a cell of X": {"X": np.array([[0.0, 1.5], [1.0, np.nan], [2.0, 1e-300]])},
    "a missing value": {"X": np.array([[0.0, 1.5], [1.0, 0.0], [2.0, 0.0]])},
    "a label": {"Y": np.array([[0, 1], [1, 0], [1, 0]], dtype=np.uint8)},
    "the name of a feature": {"feature_names": ["color", "height"]},
    "the order of names": {"label_names": ["b", "a"]},
    "where names part": {"label_names": ["ab", ""]},
    "what is nominal": {"categorical": np.array([False, False])},
    "the values of a nominal feature": {"categories": {"colour": ("red", "blue", "green")}},
}


@pytest.mark.parametrize("change", CHANGES)
def test_changed_data_have_another_fingerprint(change):
    assert data_fingerprint(toy(**CHANGES[change])) != data_fingerprint(toy())


def test_the_same_data_have_the_same_fingerprint_however_they_are_stored():
    X, Y = toy().X, toy().Y
    same = toy(
        name="other",
        description="elsewhere",
        X=np.asfortranarray(X).astype(">f8"),
        Y=np.asfortranarray(Y),
        train_rows=np.arange(2),
    )
    assert data_fingerprint(same) == data_fingerprint(toy())
    assert data_fingerprint(toy(X=np.where(X == 0, -0.0, X))) == data_fingerprint(toy())
    table = sparse.csr_array(np.nan_to_num(X))
    shuffled = sparse.coo_array(([2.0, 1.5, 0.0, 1.0], ([2, 0, 2, 1], [0, 1, 1, 0])), shape=(3, 2))
    assert data_fingerprint(toy(X=shuffled)) == data_fingerprint(toy(X=table))
    assert data_fingerprint(toy(X=table * 2)) != data_fingerprint(toy(X=table))


def test_folds_of_other_rows_have_another_fingerprint():
    one = Fold(np.array([0, 1, 2]), np.array([3]))
    assert fold_fingerprint(one) == fold_fingerprint(Fold(one.train.astype(np.int32), one.test))
    assert fold_fingerprint(one) != fold_fingerprint(Fold(np.array([0, 1]), np.array([2, 3])))
    assert fold_fingerprint(one) != fold_fingerprint(Fold(np.array([0, 1, 3]), np.array([2])))


def tree(**parameters):
    return RakelClassifier(DecisionTreeClassifier(**parameters))


# Pairs that a repr or a name does not tell apart, or only some of the time.
DIFFERENT = {
    "covers": (
        RakelClassifier(cover=Cover([[0, 1], [2, 3]], 4)),
        RakelClassifier(cover=Cover([[0, 2], [1, 3]], 4)),
    ),
    "large arrays": (
        RakelClassifier(threshold=np.linspace(0, 1, 5000)),
        RakelClassifier(threshold=np.linspace(0, 1, 5000) ** 1.001),
    ),
    "classes": (RakelClassifier(), LabelCoverClassifier()),
    "numbers": (RakelClassifier(k=2), RakelClassifier(k=3)),
    "truth and number": (RakelClassifier(k=1), RakelClassifier(k=True)),
    "nested parameters": (tree(max_depth=3), tree(max_depth=4)),
    "nested seeds": (tree(random_state=0), tree(random_state=1)),
    "nested deeper": (
        RakelClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier())),
        RakelClassifier(make_pipeline(StandardScaler(with_mean=False), DecisionTreeClassifier())),
    ),
    "functions": (
        LabelCoverClassifier(decide=micro_f1),
        LabelCoverClassifier(decide=hamming_loss),
    ),
    "lambdas of one line": tuple(
        LabelCoverClassifier(decide=f) for f in (lambda Y, P: 1, lambda Y, P: 2)
    ),
    "closures": tuple(LabelCoverClassifier(cover=shifted(shift)) for shift in (1, 2)),
    "functions that call themselves": tuple(
        LabelCoverClassifier(cover=endless(shift)) for shift in (1, 2)
    ),
    "partial functions": tuple(
        LabelCoverClassifier(cover=functools.partial(inlac_cover, ties=ties))
        for ties in ("first", "random")
    ),
    "objects": tuple(LabelCoverClassifier(cover=Strategy(shift)) for shift in (1, 2)),
    "patterns": tuple(LabelCoverClassifier(cover=re.compile(text)) for text in "ab"),
    "errors": (ValueError("a"), ValueError("b")),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_other_parameters_have_another_fingerprint(what):
    one, other = DIFFERENT[what]
    assert method_fingerprint(one) != method_fingerprint(other)


SAME = {
    "seeds, which are set by the run": (
        RakelClassifier(random_state=0),
        RakelClassifier(random_state=1),
    ),
    "numbers of NumPy": (RakelClassifier(k=np.int64(3)), RakelClassifier(k=3)),
    "equal covers": tuple(RakelClassifier(cover=Cover([[0, 1], [2, 3]], 4)) for _ in "ab"),
    "equal closures": tuple(LabelCoverClassifier(cover=shifted(1)) for _ in "ab"),
    "the order of a dictionary": (
        LabelCoverClassifier(cover={"a": 1, "b": 2}),
        LabelCoverClassifier(cover={"b": 2, "a": 1}),
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_equal_parameters_have_the_same_fingerprint(what):
    one, other = SAME[what]
    assert method_fingerprint(one) == method_fingerprint(other)


SCRIPT = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from labelcover import LabelCoverClassifier
from labelcover.covers import Cover
from labelcover.datasets import load
from labelcover.experiments._fingerprints import data_fingerprint, method_fingerprint
def strategy(n_labels, k, r, *, size=None, random_state=None):
    return k in {"a", "b", "c"}
method = LabelCoverClassifier(
    DecisionTreeClassifier(class_weight={0: 1.0, 1: 2.5}),
    cover=strategy, threshold=np.linspace(0, 1, 7), decide=frozenset("xyz"),
)
print(data_fingerprint(load("debtags")), method_fingerprint(method))
"""


def test_fingerprints_are_the_same_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1
    assert data_fingerprint(load("debtags")) in found.pop()


def test_the_fingerprint_of_a_known_set_is_on_record():
    """The same on every platform: files written on one are resumed on another."""
    assert data_fingerprint(load("debtags")) == "0b0d45ba36a401ee"


def test_a_class_that_moved_keeps_its_fingerprint():
    assert method_fingerprint(PrunedSetsClassifier()) == "dcc968f0423f3d53"


def test_an_object_without_visible_content_is_refused():
    with pytest.raises(ValueError, match=r"object of the type .*generator.* expected numbers"):
        method_fingerprint(RakelClassifier(cover=(row for row in [[0, 1]])))


def test_a_module_of_labelcover_may_become_private():
    one, other = (
        type("Kind", (), {"__module__": f"labelcover.ensemble.{module}"})
        for module in ("kinds", "_kinds")
    )
    assert method_fingerprint(one) == method_fingerprint(other)
    other.__module__ = "elsewhere._kinds"
    assert method_fingerprint(one) != method_fingerprint(other)


def test_a_parameter_that_came_later_changes_nothing_unless_it_is_given():
    class Older(RakelClassifier):
        def get_params(self, deep=True):
            found = super().get_params(deep)
            return {name: found[name] for name in found if name != "columns"}

    Older.__qualname__, Older.__module__ = RakelClassifier.__qualname__, RakelClassifier.__module__
    assert method_fingerprint(Older()) == method_fingerprint(RakelClassifier())
    given = RakelClassifier(columns={"price": "number"})
    assert method_fingerprint(Older()) != method_fingerprint(given)
