"""The estimators are imported, and fit, without `scipy.stats`, which is then what it always is.

Every case takes a fresh interpreter, so most of them are slow tests.
"""

import subprocess
import sys

import pytest

ESTIMATORS = "from labelcover import LabelCoverClassifier"
NOT_LOADED = "import sys; assert not [m for m in sys.modules if m.startswith('scipy.stats')]"
FIT = """
import numpy as np
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 4)), rng.random((60, 3)) < 0.4
LabelCoverClassifier(random_state=0).fit(X, Y).predict(X)
"""
ALL_USES = """
import importlib, pickle, scipy.stats
assert "norm" in dir(scipy.stats)
assert importlib.reload(scipy.stats) is scipy.stats
assert pickle.loads(pickle.dumps(scipy.stats.norm(1, 2))).mean() == 1
scipy.stats.norm = "patched"
from scipy.stats import norm
assert norm == "patched"
"""
PLAIN = """
import types
assert type(scipy.stats) is types.ModuleType and sys.modules["scipy.stats"] is scipy.stats
"""
THREADS = """
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Barrier

wait = Barrier(4).wait

def quantile(module):
    wait()
    import_module(module)
    from scipy.stats import norm
    return norm.ppf(0.5)

with ThreadPoolExecutor(4) as pool:
    modules = ["labelcover.ensemble", "labelcover.learners", "scipy.stats", "scipy.stats.qmc"]
    assert list(pool.map(quantile, modules)) == [0.0] * 4
"""
SEEN_BY_OTHERS = """
import builtins, sys
usual = builtins.__import__
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "sklearn.base":
            assert builtins.__import__ is not usual
            IMPORT
sys.meta_path.insert(0, Watch())
import labelcover.ensemble
assert "scipy.stats" in sys.modules and builtins.__import__ is usual
"""
FAILURE = """
import builtins, sys
usual = builtins.__import__
class Broken:
    def find_spec(self, name, path=None, target=None):
        if name == BROKEN:
            raise ImportError("broken for the test")
def fails(statement):
    try:
        exec(statement)
    except ImportError as error:
        assert str(error) == "broken for the test"
        return True
sys.meta_path.insert(0, Broken())
"""
FAILED_SKLEARN = """
BROKEN = "sklearn.utils.fixes"
assert fails("from labelcover import LabelCoverClassifier")
assert builtins.__import__ is usual
del sys.meta_path[0]
from labelcover import LabelCoverClassifier
"""
FAILED_STATS = """
BROKEN = "scipy.stats._stats_py"
from labelcover import LabelCoverClassifier
import sklearn.utils.fixes
assert fails("import scipy.stats")
assert fails("sklearn.utils.fixes._mode([1, 1, 2], axis=None)")
del sys.meta_path[0]
assert sklearn.utils.fixes._mode([1, 1, 2], axis=None)[0] == 1
import scipy.stats
"""


def run(*code):
    """Run code in a fresh interpreter in which warnings are errors."""
    command = [sys.executable, "-W", "error", "-c", "\n".join(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_estimators_are_imported_and_fit_without_scipy_stats():
    run(
        "import builtins; usual = builtins.__import__",
        ESTIMATORS,
        NOT_LOADED,
        "assert builtins.__import__ is usual",
        FIT,
        NOT_LOADED,
    )


@pytest.mark.slow
def test_learners_are_imported_without_scipy_stats():
    run("from labelcover.learners import LeastSquaresClassifier", NOT_LOADED)


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(ALL_USES, marks=pytest.mark.slow),
        pytest.param("from scipy import stats; stats.norm", marks=pytest.mark.slow),
        pytest.param("import scipy.stats.qmc; scipy.stats.qmc.Sobol", marks=pytest.mark.slow),
        "import sklearn.utils.fixes as f; assert f._mode([1, 1, 2], axis=None)[0] == 1",
    ],
)
def test_scipy_stats_is_itself_when_it_is_used(use):
    run(ESTIMATORS, NOT_LOADED, use, "import scipy.stats", PLAIN)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["import scipy.stats", "import sklearn"])
def test_nothing_changes_for_who_has_imported_it_before(first):
    run(
        first,
        "import builtins, sys; usual, stats = builtins.__import__, sys.modules['scipy.stats']",
        ESTIMATORS,
        "assert builtins.__import__ is usual and sys.modules['scipy.stats'] is stats",
        "import scipy.stats",
        PLAIN,
    )


@pytest.mark.slow
def test_threads_that_import_at_the_same_time_get_all_of_it():
    run(THREADS, "import scipy.stats, sys", PLAIN)


@pytest.mark.slow
def test_names_of_it_are_imported_as_ever_while_scikit_learn_is_imported():
    statements = "from scipy import stats", "from scipy.stats import norm"
    own = f"exec({'; '.join(statements)!r}, {{'__name__': 'sklearn.utils.fixes'}})"
    run(SEEN_BY_OTHERS.replace("IMPORT", own))


@pytest.mark.slow
@pytest.mark.parametrize("case", [FAILED_SKLEARN, FAILED_STATS])
def test_a_failed_import_has_its_usual_error_and_is_tried_again(case):
    run(FAILURE, case)
