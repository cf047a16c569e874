"""C45Classifier answers as WEKA's J48 did, tree by tree and row by row."""

from functools import cache

import numpy as np
import pytest

from labelcover.learners import C45Classifier

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
OPTIONS = {
    "j48": {},
    "j48_unpruned": {"pruned": False},
    "j48_noraise": {"subtree_raising": False},
    "j48_laplace": {"laplace": True},
}


@pytest.fixture(scope="module")
def fitted(problem):
    @cache
    def fit(name, option):
        p = problem(name)
        tree = C45Classifier(classes=p.classes, **OPTIONS[option])
        return p, getattr(p, option), tree.fit(p.X.iloc[p.train], p.y[p.train])

    return fit


def assert_same_subtree(tree, node, theirs):
    np.testing.assert_allclose(tree.dist[node], theirs["dist"], atol=1e-9)
    if theirs["leaf"]:
        assert tree.feature[node] == -1
        return
    assert tree.feature[node] == theirs["att"]
    assert tree.n_children[node] == len(theirs["sons"])
    assert tree.nominal[node] == (theirs["split"] is None)
    if theirs["split"] is not None:
        assert tree.threshold[node] == theirs["split"]
    for branch, son in enumerate(theirs["sons"]):
        assert_same_subtree(tree, tree.first[node] + branch, son)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_trees_and_distributions_are_those_of_j48(fitted, name, option):
    p, theirs, ours = fitted(name, option)
    assert_same_subtree(ours.members_.trees[0], 0, theirs["tree"])
    assert ours.get_n_leaves() == theirs["leaves"]
    answers = ours.predict_proba(p.X.iloc[p.test])
    np.testing.assert_allclose(answers, theirs["test_dist"], atol=1e-9, rtol=0)


@pytest.mark.parametrize("option", ["j48", "j48_unpruned"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_text_is_that_of_j48(fitted, name, option):
    _, theirs, ours = fitted(name, option)
    assert ours.export_text() == theirs["text"]
