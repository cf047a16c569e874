"""The plan of a fit: sizes are exact, and costs come from the measurements."""

import json
import sys
from importlib import import_module
from importlib.resources import files
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.experiments.planning import KINDS, plan_fit, sizes
from labelcover.learners import LeastSquaresClassifier

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
costs = import_module("benchmarks.fit_plan_costs")
sys.path.remove(str(ROOT))


@pytest.mark.parametrize("name", costs.KNOWN)
def test_costs_are_within_a_factor_of_two_on_sets_left_out(name):
    (plan,) = [plan for known, plan in costs.read() if known == name]
    others = [p for other, p in costs.read() if other != name and p.kind == plan.kind]
    seconds, memory = costs.planned(plan, costs.fitted_costs(others))
    assert 0.5 <= seconds / plan.seconds <= 2
    assert 0.5 <= memory / plan.memory_gb <= 2


def test_costs_are_those_of_the_measurements():
    text = files("labelcover.experiments").joinpath("plan_costs.json").read_text(encoding="utf-8")
    for kind, found in json.loads(text).items():
        expected = costs.fitted_costs([p for _, p in costs.read() if p.kind == kind])
        assert found.keys() == expected.keys()
        for what in found:
            assert found[what] == pytest.approx(expected[what], rel=1e-3)


def test_all_kinds_were_measured():
    assert {plan.kind for _, plan in costs.read()} == set(KINDS)


def test_sizes_are_those_of_the_fit():
    data = load("debtags")
    X, Y = data.X[:300], data.Y[:300]
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    plan = plan_fit(LabelCoverClassifier(random_state=0), X, Y)
    assert plan.kind == "sparse pool"
    # Zeros and ones are read by their rarer value.
    assert sizes(LabelCoverClassifier(), 1 - X, Y).kind == "sparse pool"
    assert sizes(LabelCoverClassifier(), X + 0.5, Y).kind == "pool"
    assert (plan.rows, plan.labels, plan.members) == (300, 24, len(model.cover_))
    products = {
        some
        for row in model.cover_.labelsets.tolist()
        for size in (1, 2, 3)
        for some in combinations(row, size)
        if Y[:, some].all(axis=1).any()
    }
    assert plan.products == len(products)
    assert plan.labelsets == len(np.unique(Y, axis=0))
    assert plan.seconds > 0
    assert plan.memory_gb > 0


def test_many_labels_are_planned_without_a_table():
    Y = sparse.csr_array((np.ones(900), (np.arange(900), np.arange(900))), (60_000, 30_000))
    X = sparse.csr_array((np.ones(900), (np.arange(900), np.arange(900))), (60_000, 1_000))
    plan = plan_fit(LabelCoverClassifier(), X, Y)
    assert plan.kind == "many labels"
    assert plan.labels == 30_000


def test_other_estimators_are_refused():
    with pytest.raises(ValueError, match="default estimator only"):
        sizes(LabelCoverClassifier(LeastSquaresClassifier()), np.eye(9), np.eye(9))


def test_the_command_prints_the_plan(command):
    code, out, _ = command("plan", "debtags", "--json")
    assert code == 0
    facts = json.loads(out)
    assert (facts["labels"], facts["members"]) == (24, 96)
    assert facts["CPU seconds"] > 0
    code, _, err = command("plan", "debtags", "-k", "2", "-r", "3")
    assert code == 2
    assert "r must be" in err
