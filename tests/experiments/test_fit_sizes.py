"""The sizes of a fit before it is started: counts are exact, and memory is a bound."""

import json
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.experiments.fit_sizes import fit_sizes
from labelcover.learners import LeastSquaresClassifier

MEASURED_FIT = """
from labelcover import LabelCoverClassifier
from labelcover.datasets import load
from labelcover.experiments._running import peak_mb, reset_peak
from labelcover.experiments.fit_sizes import fit_sizes
data = load("debtags")
model = LabelCoverClassifier(random_state=0)
reset_peak()
model.fit(data.X, data.Y)
print(peak_mb() / 1e3, fit_sizes(model, data.X, data.Y).memory_gb)
"""


def test_sizes_are_those_of_the_fit():
    data = load("debtags")
    X, Y = data.X[:300], data.Y[:300]
    model = LabelCoverClassifier(random_state=0).fit(X, Y)
    sizes = fit_sizes(LabelCoverClassifier(random_state=0), X, Y)
    assert (sizes.rows, sizes.labels, sizes.labelsets) == (300, 24, len(model.cover_))
    linked = {
        pair for row in model.cover_.labelsets.tolist() for pair in combinations(sorted(row), 2)
    }
    assert sizes.links == len(linked)


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is known on Linux only")
def test_memory_is_a_bound_and_not_far_above():
    done = subprocess.run(
        [sys.executable, "-c", MEASURED_FIT], capture_output=True, text=True, check=True
    )
    peak, bound = map(float, done.stdout.split())
    assert peak <= bound <= 4 * peak


def test_memory_grows_with_the_table():
    rng = np.random.default_rng(0)
    X, Y = rng.random((50, 8)), (rng.random((50, 4)) < 0.5).astype(np.uint8)
    small = fit_sizes(LabelCoverClassifier(), X, Y).memory_gb
    large = fit_sizes(LabelCoverClassifier(), np.tile(X, (400, 50)), np.tile(Y, (400, 1)))
    assert large.memory_gb > small + np.tile(X, (400, 50)).nbytes / 1e9


def test_many_labels_are_planned_without_a_table():
    Y = sparse.csr_array((np.ones(900), (np.arange(900), np.arange(900))), (60_000, 30_000))
    X = sparse.csr_array((np.ones(900), (np.arange(900), np.arange(900))), (60_000, 1_000))
    sizes = fit_sizes(LabelCoverClassifier(), X, Y)
    assert sizes.labels == 30_000
    assert sizes.memory_gb < 1


def test_other_estimators_are_refused():
    with pytest.raises(ValueError, match="estimator must be the default"):
        fit_sizes(LabelCoverClassifier(LeastSquaresClassifier()), np.eye(9), np.eye(9))


def test_the_command_prints_the_sizes(command):
    code, out, _ = command("plan", "debtags", "--json")
    assert code == 0
    facts = json.loads(out)
    assert facts["labels"] == 24
    assert 8 <= facts["labelsets"] <= 96
    assert 24 <= facts["links"] <= 276
    assert facts["memory at most, GB"] > 0
    code, _, err = command("plan", "debtags", "-k", "2", "-r", "3")
    assert code == 2
    assert "r must be" in err
