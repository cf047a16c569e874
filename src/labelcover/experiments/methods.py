"""The methods that the command knows by name, as they are compared."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from labelcover._arguments import check_choice
from labelcover.covers import balancor_cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.datasets import Dataset

#: Name of a method to the class that does it.
METHODS = {
    "LabelCover": "labelcover.LabelCoverClassifier",
    "RAKEL": "labelcover.RakelClassifier",
    "RAKEL++": "labelcover.RakelPlusPlusClassifier",
    "INLAC": "labelcover.InlacClassifier",
    "BALCO": "labelcover.BalcoClassifier",
    "BALANCOR": "labelcover.BalancorClassifier",
    "DD-BALANCOR": "labelcover.DDBalancorClassifier",
    "BR": "labelcover.methods.BinaryRelevanceClassifier",
    "LP": "labelcover.methods.LabelPowersetClassifier",
    "PS": "labelcover.methods.PrunedSetsClassifier",
    "EPS": "labelcover.methods.EnsembleOfPrunedSetsClassifier",
    "HOMER": "labelcover.methods.HomerClassifier",
    "ECC": "labelcover.methods.EnsembleOfChainsClassifier",
    "PCC": "labelcover.methods.ProbabilisticChainClassifier",
    "2BR": "labelcover.methods.StackedBinaryRelevanceClassifier",
    "LEAD": "labelcover.methods.LeadClassifier",
    "DS": "labelcover.methods.DependentSubsetsClassifier",
}
MEMBERS = ("least-squares", "c45", "smo", "logistic")
# Section 5.3: these get the size of BALANCOR, so that only the choice of labelsets differs.
SIZED_AS_BALANCOR = ("RAKEL", "RAKEL++", "INLAC", "BALCO")
# These tune one threshold. The paper does so by cross-validation; members that know their
# leave-one-out predictions do it at once, and all methods are then cut in the same way.
TUNED = ("RAKEL++", "INLAC", "BALCO", "BALANCOR", "DD-BALANCOR")
# Above so many labelsets even the smallest cover is out of reach, and methods keep their own size.
MOST_LABELSETS = 5000


def named_method(
    name: str, *, k: int = 3, r: int = 2, member: str = "least-squares", n_jobs: int | None = None
) -> Callable[[Dataset], Any]:
    """Return a function that makes the method `name` for a data set.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    k, r : int
        Labels in a labelset, and order of the correlations to cover, where the method has them.
        A data set of fewer labels gets labelsets of them all.
    member : {"least-squares", "c45", "smo", "logistic"}
        What the members of the ensemble are.
    n_jobs : int, optional
        As in the estimators.
    """
    class_of(name)
    check_choice("member", member, MEMBERS)
    return partial(_make, name, k, r, member, n_jobs)


def class_of(name: str) -> type:
    """Return the class of the method `name`."""
    module, _, attribute = METHODS[check_choice("method", name, METHODS)].rpartition(".")
    found = getattr(importlib.import_module(module), attribute, None)
    if found is None:
        raise ValueError(f"method {name!r} is not part of this version.")
    return found


def _make(name: str, k: int, r: int, member: str, n_jobs: int | None, dataset: Dataset) -> Any:
    kind, m = class_of(name), dataset.Y.shape[1]
    offered = inspect.signature(kind).parameters
    wanted: dict[str, Any] = {"k": min(k, m), "r": min(r, k, m), "n_jobs": n_jobs}
    if name in SIZED_AS_BALANCOR:
        wanted["size"] = balancor_size(m, wanted["k"], wanted["r"])
    if name in TUNED:
        wanted["threshold"] = "auto"
    parameters = {key: value for key, value in wanted.items() if key in offered}
    return kind(_member(member, dataset), **parameters)


@cache
def balancor_size(m: int, k: int, r: int) -> int | None:
    """Return the number of labelsets of BALANCOR's cover; None if it is too large to make."""
    lower, _ = cover_size_bounds(m, k, r)
    return None if lower > MOST_LABELSETS else len(balancor_cover(m, k, r, random_state=0))


def _member(name: str, dataset: Dataset) -> Any:
    if name == "least-squares":
        return None
    if name == "logistic":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=1000)
    from labelcover import learners

    kind = learners.C45Classifier if name == "c45" else learners.SMOClassifier
    return kind(categorical_features=dataset.categorical if dataset.categorical.any() else None)
