"""Members that warn alike are heard once."""

import threading
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from labelcover import LabelCoverClassifier
from labelcover._progress import each_warning_once

OPTIONS = {"threshold": "cv", "random_state": 0}


@pytest.fixture(scope="module")
def problem():
    random = np.random.default_rng(0)
    X = 100 * random.normal(size=(60, 4))
    return X, (X[:, :3] + 50 * random.normal(size=(60, 3)) > 0).astype(int)


def caught(action, run):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action)
        run()
    return found


def test_members_that_do_not_converge_are_told_once_for_a_fit(problem):
    model = LabelCoverClassifier(LogisticRegression(max_iter=1), **OPTIONS)
    found = caught("always", lambda: model.fit(*problem))
    assert [each.category for each in found] == [ConvergenceWarning]
    assert "logistic" in found[0].filename
    assert len(caught("always", lambda: model.fit(*problem))) == 1


def test_filters_hold_for_members(problem):
    model = LabelCoverClassifier(LogisticRegression(max_iter=1), **OPTIONS)
    assert not caught("ignore", lambda: model.fit(*problem))
    with pytest.raises(ConvergenceWarning):
        caught("error", lambda: model.fit(*problem))


def test_different_warnings_are_shown_in_order_also_where_a_fit_fails():
    def run():
        with each_warning_once():
            for text in ("first", "second", "first"):
                warnings.warn(text, stacklevel=1)
            warnings.warn("second", DeprecationWarning, stacklevel=1)
            raise KeyError("failed")

    def failing():
        with pytest.raises(KeyError, match="failed"):
            run()

    found = caught("always", failing)
    assert [str(each.message) for each in found] == ["first", "second", "second"]
    assert found[-1].category is DeprecationWarning


def test_other_threads_leave_the_record_of_warnings_alone():
    seen = []

    def work():
        shown = warnings.showwarning
        with each_warning_once():
            seen.append(warnings.showwarning is shown)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [True]
