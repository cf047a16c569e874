"""BR, LP and EPS with J48 members score as MULAN's did, on the same folds."""

import csv
import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from labelcover.datasets import load
from labelcover.learners import C45Classifier
from labelcover.methods import (
    BinaryRelevanceClassifier,
    EnsembleOfPrunedSetsClassifier,
    LabelPowersetClassifier,
)
from labelcover.metrics import micro_f1

ARFF = {"scene": "scene-train"}
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def table(shared_data):
    """Return a reader of data sets as MULAN saw them: all attributes, labels in ARFF order."""

    @cache
    def read(name):
        data = load(name, identifiers=True)
        text = (shared_data / name / f"{ARFF.get(name, name)}.arff").read_text(encoding="utf-8")
        names = re.findall(r"(?im)^@attribute\s+['\"]?([^\s'\"]+)", text)
        order = sorted(range(len(data.label_names)), key=lambda j: names.index(data.label_names[j]))
        return replace(data, Y=data.Y[:, order], label_names=[data.label_names[j] for j in order])

    return read


def reference(golden, name, method):
    """Return on how many folds MULAN was run, and its mean micro-F1."""
    with open(golden / "mulan_reference.csv", newline="") as file:
        for row in csv.DictReader(file):
            if (row["dataset"], row["method"]) == (name, method):
                return int(row["folds_run"]), float(row["micro_f1"])
    raise LookupError(f"no reference for {method} on {name}")


def predicted_labels(model, X, Y):
    """Return micro-F1 of the predictions."""
    return micro_f1(Y, model.predict(X))


def with_random_ties(model, X, Y):
    """Return the mean micro-F1 of label powerset if equally probable labelsets are drawn from.

    So does MULAN; on emotions a tree has such labelsets in one row of six.
    """
    view = model.view_
    prepared = view.members.prepare(model._coding.read(model, X))
    distribution = view.members.distributions(prepared, slice(0, 1))
    best = distribution > distribution.max(axis=1, keepdims=True) - 1e-9
    patterns = view.encoding.patterns
    np.testing.assert_array_equal(model.predict(X), patterns[np.argmax(best, axis=1)])
    random = np.random.default_rng(0)
    draws = (np.argmax(best * random.random(best.shape), axis=1) for _ in range(20))
    return np.mean([micro_f1(Y, patterns[drawn]) for drawn in draws])


def cross_validated(golden, data, model, n_folds, score=predicted_labels):
    """Return the mean score over MULAN's first folds."""
    rows = np.loadtxt(golden / "folds" / f"folds_{data.name}.csv", delimiter=",", dtype=int)
    scores = []
    for fold in range(n_folds):
        test, train = rows[rows[:, 0] == fold, 1], rows[rows[:, 0] != fold, 1]
        model.fit(data.X[train], data.Y[train])
        scores.append(score(model, data.X[test], data.Y[test]))
    return float(np.mean(scores))


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("emotions", "BR:J48"),
        ("emotions", "LP:J48"),
        pytest.param("scene", "BR:J48", marks=slow),
        pytest.param("scene", "LP:J48", marks=slow),
        pytest.param("yeast", "BR:J48", marks=slow),
        pytest.param("yeast", "LP:J48", marks=slow),
    ],
)
def test_binary_relevance_and_label_powerset_score_as_in_mulan(golden, table, name, method):
    kind, score = {
        "BR": (BinaryRelevanceClassifier, predicted_labels),
        "LP": (LabelPowersetClassifier, with_random_ties),
    }[method[:2]]
    n_folds, theirs = reference(golden, name, method)
    data = table(name)
    model = kind(C45Classifier(categorical_features=data.categorical))
    ours = cross_validated(golden, data, model, n_folds, score)
    print(f"{name} {method}: micro-F1 {ours:.4f} ({theirs:.4f})")
    assert ours == pytest.approx(theirs, abs=0.003)


@slow
@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_ensembles_of_pruned_sets_score_as_in_mulan(golden, table, name):
    """The reference does not say its settings: these are MULAN's defaults."""
    n_folds, theirs = reference(golden, name, "EPS:J48")
    data = table(name)
    scores = []
    for seed in range(5):
        model = EnsembleOfPrunedSetsClassifier(
            C45Classifier(categorical_features=data.categorical),
            n_members=10,
            subsample=0.66,
            p=2,
            strategy="A",
            b=3,
            aggregate="votes",
            # Of ten votes, five are enough in MULAN.
            threshold=0.45,
            random_state=seed,
        )
        scores.append(cross_validated(golden, data, model, n_folds))
    print(f"{name} EPS:J48: micro-F1 {np.round(scores, 4)}, mean {np.mean(scores):.4f} ({theirs})")
    assert np.mean(scores) == pytest.approx(theirs, abs=0.02)
