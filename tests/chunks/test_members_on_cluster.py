"""Members that are fitted one by one, and the fits of a comparison, on a Dask cluster."""

import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from labelcover import BalancorClassifier, RakelClassifier
from labelcover.chunks import cluster as on_cluster
from labelcover.datasets import load
from labelcover.experiments._running import run
from labelcover.experiments.results import MEASURED
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier
from labelcover.models import load_model


@pytest.fixture(scope="module")
def table():
    data = load("debtags")
    return data.X[:300], data.Y[:300, :9]


def watched_tree():
    """Return a tree that remembers in which process it was fitted; sent by value."""

    class WatchedTree(DecisionTreeClassifier):
        def fit(self, X, y, sample_weight=None):
            self.process_ = os.getpid()
            return super().fit(X, y, sample_weight)

    return WatchedTree(max_depth=2)


def test_clones_are_fitted_by_the_workers_and_the_table_is_sent_once(client, table, monkeypatch):
    from distributed import Client

    X, Y = table
    model = RakelClassifier(watched_tree(), k=3, size=70, random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    sent, scatter = [], Client.scatter

    def watched(self, data, *args, **named):
        sent.extend(data if isinstance(data, list) else [data])
        return scatter(self, data, *args, **named)

    monkeypatch.setattr(Client, "scatter", watched)
    with on_cluster(client.scheduler.address):
        model.fit(X, Y)
    processes = {tree.process_ for tree in model.view_.members.models if tree is not None}
    assert len(processes) > 1
    assert os.getpid() not in processes
    tables = [getattr(each, "value", each) for each in sent]
    assert sum(np.ndim(each) == 2 or sparse.issparse(each) for each in tables) == 1
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.slow
@pytest.mark.parametrize("member", [C45Classifier(), SMOClassifier()], ids=["c45", "smo"])
def test_wekas_members_are_the_same_on_a_cluster(client, table, member):
    X, Y = table
    model = BalancorClassifier(member, k=3, threshold=0.5, random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    before = tasks_done(client)
    with on_cluster(client.scheduler.address):
        model.fit(X, Y)
    assert tasks_done(client) - before > 1  # joblib hands out short calls several at a time
    np.testing.assert_array_equal(model.predict_proba(X), expected)


def tasks_done(client):
    """Return how many calls of joblib the workers have ever finished."""

    def count(dask_scheduler=None):
        names = (prefix for prefix in dask_scheduler.task_prefixes.items())
        # joblib names its tasks by the function and the number of calls in them.
        return sum(
            prefix.state_counts["memory"] for name, prefix in names if "batch" in name.lower()
        )

    return client.run_on_scheduler(count)


@pytest.mark.slow
def test_a_comparison_on_a_cluster_has_the_same_results(client, tmp_path):
    methods = {
        "BALANCOR": BalancorClassifier(LeastSquaresClassifier(kernel="linear"), threshold=0.5),
        "RAKEL": RakelClassifier(DecisionTreeClassifier(max_depth=3), size=5),
        "wrong": BalancorClassifier(k=-1),
    }
    data = load("debtags")
    data = replace(data, X=data.X[:200], Y=data.Y[:200, :6], label_names=data.label_names[:6])
    how = {"n_folds": 3, "verbose": False}
    run(methods, [data], tmp_path / "here.csv", **how)
    with on_cluster(client.scheduler.address):
        run(methods, [data], tmp_path / "there.csv", **how)
    here, there = (pd.read_csv(tmp_path / f"{name}.csv") for name in ("here", "there"))
    assert len(here) == 9
    pd.testing.assert_frame_equal(
        here.drop(columns=list(MEASURED)), there.drop(columns=list(MEASURED)), check_exact=False
    )


@pytest.mark.slow
def test_the_command_trains_and_compares_on_a_cluster(client, tmp_path, command, table):
    X, Y = table
    names = [*(f"x{j}" for j in range(X.shape[1])), *(f"y{j}" for j in range(Y.shape[1]))]
    dense = X.toarray() if hasattr(X, "toarray") else X
    pd.DataFrame(np.hstack([dense, Y]), columns=names).to_csv(tmp_path / "rows.csv", index=False)
    scheduler = client.scheduler.address
    words = ["train", tmp_path / "rows.csv", "--label-prefix", "y", "--member", "least-squares"]
    for where, more in {"here": [], "there": ["--scheduler", scheduler]}.items():
        code, _, said = command(*words, *more, "-o", tmp_path / f"{where}.skops")
        assert code == 0, said
    here, there = (load_model(tmp_path / f"{name}.skops") for name in ("here", "there"))
    rows = pd.read_csv(tmp_path / "rows.csv")
    expected = here.predict_proba(rows)
    np.testing.assert_allclose(there.predict_proba(rows), expected, atol=1e-8)
    words = ["compare", tmp_path / "rows.csv", "--label-prefix", "y", "--methods", "BR"]
    words += ["--member", "least-squares", "--n-folds", "2", "--scheduler", scheduler]
    code, _, said = command(*words, "-o", tmp_path / "comparison")
    assert code == 0, said
    assert len(pd.read_csv(tmp_path / "comparison" / "results.csv")) == 2


def test_the_command_says_that_a_scheduler_does_not_answer(tmp_path, command, monkeypatch):
    from labelcover.chunks import _dask as clusters

    monkeypatch.setattr(clusters, "TIMEOUT", 1.0)
    words = ["train", "debtags", "--scheduler", "tcp://127.0.0.1:9", "-o", tmp_path / "m.skops"]
    code, _, said = command(*words)
    assert code == 2
    assert "got 'tcp://127.0.0.1:9', where nothing answered within 1 seconds" in said
    assert not (tmp_path / "m.skops").exists()
