"""Ensembles that are fitted together answer exactly as each does alone."""

import numpy as np
import pytest

from labelcover import (
    DDBalancorClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
)
from labelcover.datasets import load
from labelcover.experiments._paper.joint_fits import fit_together
from labelcover.experiments._paper.printed import METHODS as NAMES
from labelcover.experiments.named_methods import METHODS
from labelcover.learners import C45Classifier, SMOClassifier


@pytest.fixture(scope="module")
def words():
    full = load("debtags-words")
    return full.X[:260], full.Y[:260]


@pytest.mark.parametrize("member", [C45Classifier, SMOClassifier], ids=["c45", "smo"])
@pytest.mark.parametrize(("m", "size"), [(6, 7), (14, 104)], ids=["all members", "a tenth"])
def test_answers_are_those_of_the_estimators(words, member, m, size):
    X, Y = words
    models = [METHODS[name](member(), k=3, size=size, random_state=3) for name in NAMES]
    train, test = slice(0, 140), slice(200, 260)
    together = fit_together(models, X[train], Y[train, :m], X[test])
    for model, answer in zip(models, together, strict=True):
        model.fit(X[train], Y[train, :m])
        np.testing.assert_array_equal(answer.cover.labelsets, model.cover_.labelsets)
        assert answer.threshold == model.threshold_
        np.testing.assert_array_equal(answer.confidence, model.predict_proba(X[test]))
        np.testing.assert_array_equal(answer.predicted, model.predict(X[test]))


def test_other_parameters_of_the_methods_count(words):
    X, Y = words
    models = [
        RakelPlusPlusClassifier(C45Classifier(), size=9, aggregate="votes", ties="positive"),
        RakelPlusPlusClassifier(C45Classifier(), size=9, threshold_measure="hamming_loss"),
        DDBalancorClassifier(C45Classifier(), size=9, min_count=2, n_iterations=30, n_restarts=1),
    ]
    for model in models:
        model.set_params(random_state=1)
    together = fit_together(models, X[:200], Y[:200, :6], X[200:])
    for model, answer in zip(models, together, strict=True):
        model.fit(X[:200], Y[:200, :6])
        assert answer.threshold == model.threshold_
        np.testing.assert_array_equal(answer.confidence, model.predict_proba(X[200:]))
        np.testing.assert_array_equal(answer.predicted, model.predict(X[200:]))


def test_given_labelsets_and_ties_are_kept(words):
    X, Y = words
    sets = [[0, 1, 2], [2, 3, 4], [0, 3, 5], [1, 2, 5]]
    models = [
        RakelClassifier(C45Classifier(), cover=sets, ties=ties, random_state=0)
        for ties in ("positive", "negative")
    ]
    together = fit_together(models, X[:200], Y[:200, :6], X[200:])
    assert (together[0].predicted != together[1].predicted).any()
    for model, answer in zip(models, together, strict=True):
        expected = model.fit(X[:200], Y[:200, :6]).predict(X[200:])
        np.testing.assert_array_equal(answer.predicted, expected)
