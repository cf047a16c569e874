"""What must hold for every problem, whatever it is."""

from __future__ import annotations

import importlib
import inspect
import warnings
from typing import Any

import numpy as np
from random_problems import SMALL, Member, Problem
from scipy import sparse
from sklearn.base import clone

from labelcover._table_numbers import rows_of
from labelcover.ensemble._label_model import LabelModel
from labelcover.thresholds import cut_inside

# How far a row alone may be from the same row in a batch: members of other libraries may round sums
# in another order.
ALONE_TOLERANCE = 1e-9
# Rows of the largest batch that is tried.
LARGE_BATCH = 100


def check_problem(problem: Problem) -> str | None:
    """Check all that must hold; return the sentence by which a fit was refused, if it was.

    Raises
    ------
    AssertionError
        If something does not hold.
    Exception
        If anything but a ``ValueError`` with a sentence was raised.
    """
    X, new = table_of(problem, problem.X), table_of(problem, problem.new)
    how = {} if problem.weights is None else {"sample_weight": np.array(problem.weights)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if problem.member is None or not problem.member.module.startswith("sklearn"):
            warnings.simplefilter("error", RuntimeWarning)
        model = estimator_of(problem)
        Y = labels_of(problem)
        try:
            P = np.asarray(clone(model).fit(X, Y, **how).predict_proba(new))
        except ValueError as error:
            said = str(error)
            assert len(said.split()) > 3, f"no sentence: {said!r}"
            return said
        fitted = clone(model).fit(X, Y, **how)
        _check_predictions(fitted, P, new)
        _check_weights(problem, model, P, X, Y, new)
    return None


def _check_predictions(model: Any, P: np.ndarray, new: Any) -> None:
    assert np.isfinite(P).all(), "not finite"
    assert P.min() >= 0, "below 0"
    assert P.max() <= 1, "above 1"
    again = np.asarray(model.predict_proba(new))
    assert np.array_equal(again, P), f"the same seed differs by {np.abs(again - P).max():.3g}"
    predicted = _dense(model.predict(new))
    for i in range(len(P)):
        _check_batch(model, P, new, np.array([i]))
    _check_batch(model, P, new, np.arange(LARGE_BATCH) % len(P))
    if hasattr(model, "decision_") and not sparse.issparse(model.predict(new)):
        assert np.array_equal(model.decision_.decide(P), predicted), "decide and predict differ"
    elif type(model).predict is LabelModel.predict:
        decided = cut_inside(P, model.threshold_, model._cut_ties)
        assert np.array_equal(decided, predicted), "cut and predict differ"


def _check_batch(model: Any, P: np.ndarray, new: Any, rows: np.ndarray) -> None:
    """Check that some of the new rows, given as a batch of their own, are answered as before."""
    found = np.asarray(model.predict_proba(rows_of(new, rows)))
    apart = np.abs(found - P[rows]).max()
    assert apart <= ALONE_TOLERANCE, f"{len(rows)} rows from row {rows[0]} differ by {apart:.3g}"


def _check_weights(problem: Problem, model: Any, P: np.ndarray, X: Any, Y: Any, new: Any) -> None:
    """Check that weights are relative, that equal ones are none, and 0 is the row removed."""
    if problem.weights is None:
        return
    weights = np.array(problem.weights)
    kept = np.flatnonzero(weights)
    own = rows_of(X, kept)
    equal = np.ptp(weights[kept]) == 0
    how = {} if equal else {"sample_weight": 4.0 * weights[kept]}
    found = np.asarray(clone(model).fit(own, Y[kept], **how).predict_proba(new))
    assert np.array_equal(found, P), f"weights: differs by {np.abs(found - P).max():.3g}"


def _dense(table: Any) -> np.ndarray:
    return table.toarray() if sparse.issparse(table) else np.asarray(table)


def table_of(problem: Problem, rows: Any) -> Any:
    """Return rows in the form that the problem has."""
    X = np.array(rows, dtype=float)
    if problem.form == "float32":
        return X.astype(np.float32)
    if problem.form in ("csr", "csc"):
        return sparse.csr_array(X) if problem.form == "csr" else sparse.csc_array(X).tocsr()
    if problem.form == "masked":
        return np.ma.masked_invalid(X)
    if problem.form == "frame":
        return _frame(X, problem.categories)
    return X


def _frame(X: np.ndarray, categories: list[int]) -> Any:
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"x{f}" for f in range(X.shape[1])])
    for f in categories:
        names = np.array(["a", "b", "c"], dtype=object)
        numbers = np.nan_to_num(X[:, f]).astype(int) % 3
        frame[f"x{f}"] = pd.Categorical(names[numbers], categories=list("abc"))
    return frame


def labels_of(problem: Problem) -> np.ndarray:
    """Return the label table, or the classes where the estimator is a learner alone."""
    Y = np.array(problem.Y, dtype=np.uint8)
    if problem.estimator.module != "labelcover.learners":
        return Y
    return Y[:, :3] @ (2 ** np.arange(min(3, Y.shape[1])))


def estimator_of(problem: Problem) -> Any:
    """Return the estimator, not fitted."""
    kind = _kind(problem.estimator)
    params = dict(problem.estimator.params)
    accepted = inspect.signature(kind).parameters
    params |= {name: value for name, value in SMALL.items() if name in accepted}
    if "random_state" in accepted:
        params["random_state"] = problem.seed
    if problem.member is not None and "estimator" in accepted:
        params["estimator"] = _kind(problem.member)(**problem.member.params)
    return kind(**params)


def _kind(member: Member) -> Any:
    return getattr(importlib.import_module(member.module), member.name)
