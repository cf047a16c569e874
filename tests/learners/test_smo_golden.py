"""SMOClassifier has the binary SVMs of WEKA's SMO: weights, thresholds, votes and winners."""

from functools import cache

import numpy as np
import pytest

from labelcover.learners import SMOClassifier

PROBLEMS = [
    # in tests/golden
    "weather_mixed",
    "debtags_numeric",
    "debtags_nominal",
    "debtags_missing",
    # outside the project
    "weather",
    "flags_k3_012",
    "emotions_k3_012",
    "emotions_k4_1245",
    "emotions_k3_345_missing",
    "genbase_k3_top",
    "medical_k3_top",
    "yeast_k3_012",
    "scene_k3_035",
]


@pytest.fixture(scope="module")
def fitted(problem):
    """Return a reader of problems with the classifier fitted on its training rows."""

    @cache
    def fit(name):
        p = problem(name)
        return p, SMOClassifier(classes=p.classes).fit(p.X.iloc[p.train], p.y[p.train])

    return fit


def winners(dist):
    return dist > dist.max(axis=1, keepdims=True) - 1e-9


@pytest.mark.parametrize("name", PROBLEMS)
def test_svms_are_those_of_smo_to_the_last_bit(fitted, name):
    p, ours = fitted(name)
    n_columns = p.smo["dim_after_filters"]  # WEKA counts the class, which comes last
    theirs = np.zeros((len(p.smo["pairs"]), n_columns))
    for weights, pair in zip(theirs, p.smo["pairs"], strict=True):
        weights[pair["widx"]] = pair["w"]
    stack = ours.members_
    np.testing.assert_array_equal(stack.first, [pair["i"] for pair in p.smo["pairs"]])
    np.testing.assert_array_equal(stack.second, [pair["j"] for pair in p.smo["pairs"]])
    np.testing.assert_array_equal(stack.weights, theirs[:, :-1])
    np.testing.assert_array_equal(stack.bias, [-pair["b"] for pair in p.smo["pairs"]])


@pytest.mark.parametrize("name", PROBLEMS)
def test_winners_and_votes_are_those_of_smo(fitted, name):
    p, ours = fitted(name)
    test = p.X.iloc[p.test]
    dist = np.array(p.smo["test_dist"])
    np.testing.assert_array_equal(winners(ours.predict_proba(test)), winners(dist))
    outputs = ours._prepared(test) @ ours.members_.weights.T + ours.members_.bias
    theirs = np.array([pair["test_out"] for pair in p.smo["pairs"]]).T
    np.testing.assert_array_equal(outputs > 0, theirs > 0)
