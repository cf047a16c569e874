"""Where all training rows are alike, the frequencies of the labels are the answer."""

import inspect

import numpy as np
import pytest
from scipy import sparse

import labelcover
from labelcover import LabelCoverClassifier, methods
from labelcover.ensemble import ManyLabelPool
from labelcover.learners import (
    C45Classifier,
    LabelForest,
    LeastSquaresClassifier,
    LogisticClassifier,
)

Y = (np.random.default_rng(0).random((48, 3)) < [0.375, 0.1, 0.9]).astype(np.uint8)
TABLES = {
    "zeros": np.zeros((48, 4)),
    "numbers": np.tile(np.random.default_rng(1).normal(size=4), (48, 1)),
    "tenths": np.full((48, 60), 0.1),
    "large": np.full((48, 2), 1e30),
    "flags": np.tile([0.0, 1.0, 1.0], (48, 1)),
}
# What votes, or draws its own rows and labels, is only near the frequencies, or decides.
EXACT = [
    (LabelCoverClassifier, LeastSquaresClassifier()),
    (LabelCoverClassifier, C45Classifier()),
    (labelcover.RakelPlusPlusClassifier, None),
    (labelcover.BalancorClassifier, None),
    (methods.BinaryRelevanceClassifier, None),
    (methods.LabelPowersetClassifier, None),
    (methods.StackedBinaryRelevanceClassifier, None),
]
NEAR = [
    (LabelCoverClassifier, "auto"),
    (LabelCoverClassifier, LabelForest(n_trees=50)),
    (LabelCoverClassifier, LabelForest(n_trees=50, splits="means")),
    (LabelCoverClassifier, ManyLabelPool()),
    (LabelCoverClassifier, LogisticClassifier()),
    (methods.StackedBinaryRelevanceClassifier, LogisticClassifier()),
    (methods.LeadClassifier, None),
    (methods.ProbabilisticChainClassifier, None),
]


def answers(kind, member, X):
    with_seed = {"random_state": 0} if "random_state" in inspect.signature(kind).parameters else {}
    model = kind(estimator=member, **with_seed).fit(X, Y)
    batch = model.predict_proba(X)
    alone = model.predict_proba(X[:1])
    np.testing.assert_allclose(batch, np.tile(alone, (48, 1)), atol=1e-9)
    return alone[0]


@pytest.mark.parametrize("as_sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", TABLES)
def test_frequencies_are_the_answer_alone_and_in_a_batch(name, as_sparse):
    X = sparse.csr_array(TABLES[name]) if as_sparse else TABLES[name]
    for kind, member in EXACT:
        np.testing.assert_allclose(answers(kind, member, X), Y.mean(axis=0), atol=1e-9)
    for kind, member in NEAR:
        np.testing.assert_allclose(answers(kind, member, X), Y.mean(axis=0), atol=0.04)


def test_a_row_that_differs_changes_nothing_that_training_has_not_seen():
    X = TABLES["tenths"]
    model = LabelCoverClassifier(LeastSquaresClassifier(), random_state=0).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X[:1] + 3)[0], Y.mean(axis=0), atol=1e-9)


@pytest.mark.parametrize("member", [LeastSquaresClassifier(), LogisticClassifier(), LabelForest()])
@pytest.mark.parametrize("offset", [1e8, 1e12])
def test_columns_far_from_zero_are_not_lost(member, offset):
    X = np.random.default_rng(0).normal(size=(200, 3))
    labels = (X > 0).astype(np.uint8)
    far = LabelCoverClassifier(member, random_state=0).fit(X + offset, labels)
    assert (far.predict(X + offset) == labels).mean() > 0.9
