"""The methods and members that the command knows by name, as they are compared."""

import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

import labelcover
from labelcover import methods
from labelcover._arguments import check_choice, check_integer
from labelcover._words import WORDS
from labelcover.datasets import Dataset
from labelcover.ensemble import balancor_size
from labelcover.experiments._paper.printed import paper_size
from labelcover.learners import C45Classifier, LeastSquaresClassifier, SMOClassifier

METHODS: dict[str, Any] = {
    "RAKEL": labelcover.RakelClassifier,
    "RAKEL++": labelcover.RakelPlusPlusClassifier,
    "INLAC": labelcover.InlacClassifier,
    "BALCO": labelcover.BalcoClassifier,
    "BALANCOR": labelcover.BalancorClassifier,
    "DD-BALANCOR": labelcover.DDBalancorClassifier,
    "BR": methods.BinaryRelevanceClassifier,
    "LabelCover": labelcover.LabelCoverClassifier,
    "LP": methods.LabelPowersetClassifier,
    "PS": methods.PrunedSetsClassifier,
    "EPS": methods.EnsembleOfPrunedSetsClassifier,
    "DS": methods.DependentSubsetsClassifier,
    "EDS": methods.EnsembleOfDependentSubsetsClassifier,
    "ECC": methods.EnsembleOfChainsClassifier,
    "PCC": methods.ProbabilisticChainClassifier,
    "EPCC": methods.EnsembleOfProbabilisticChainsClassifier,
    "2BR": methods.StackedBinaryRelevanceClassifier,
    "LEAD": methods.LeadClassifier,
    "HOMER": methods.HomerClassifier,
}
#: What each name stands for.
TITLES: dict[str, str] = WORDS["methods"]
#: Stands for all of them.
ALL = "all"
MEMBERS = ("auto", "least-squares", "c45", "smo", "logistic")
# Section 5.3: these get the size of BALANCOR, so that only the choice of labelsets differs.
SIZED_AS_BALANCOR = ("RAKEL", "RAKEL++", "INLAC", "BALCO")
# These tune one threshold. The paper does so by cross-validation; members with leave-one-out
# predictions need no refits for it, and all methods are then cut in the same way.
TUNED = ("RAKEL++", "INLAC", "BALCO", "BALANCOR", "DD-BALANCOR")
THRESHOLDS = ("auto", "cv")
# A size that stands for the paper's σ of each data set and k.
PAPER = "paper"


def named_methods(
    names: Sequence[str], k: Sequence[int] = (3,), **options: Any
) -> dict[str, Callable[[Dataset], Any]]:
    """Return methods by name, each as `named_method` makes it, for one or several k.

    With several k, a method that has labelsets is there once for each, as ``"BALANCOR k=4"``.

    Parameters
    ----------
    names : sequence of str
        Some of `METHODS`; ``"all"`` stands for all.
    k : sequence of int
        Labels in a labelset.
    **options
        The other parameters of `named_method`.

    Examples
    --------
    >>> from labelcover.experiments.named_methods import named_methods
    >>> list(named_methods(["BALANCOR", "BR"], [3, 4]))
    ['BALANCOR k=3', 'BALANCOR k=4', 'BR']
    """
    made = {}
    chosen = [each for name in names for each in (METHODS if name == ALL else [name])]
    for name in chosen:
        check_choice("method", name, METHODS)
        several = len(k) > 1 and "k" in inspect.signature(METHODS[name]).parameters
        for each in k if several else k[:1]:
            title = f"{name} k={each}" if several else name
            made[title] = named_method(name, k=each, **options)
    return made


def named_method(
    name: str,
    *,
    k: int = 3,
    r: int | None = None,
    size: int | str | None = None,
    threshold: str = "auto",
    member: str = "auto",
    n_jobs: int | None = None,
) -> Callable[[Dataset], Any]:
    """Return a function that makes the method `name` for a data set.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    k : int
        Labels in a labelset, where the method has labelsets. For a data set with fewer labels it
        is their number, with a warning.
    r : int, optional
        Order of the correlations to cover, at most `k`. By default 2, or 1 if `k` is 1.
    size : int or "paper", optional
        Number of labelsets, where the method has labelsets; ``"paper"`` is the σ that the paper
        has for the data set, `k` and `r`. By default RAKEL, RAKEL++, INLAC and BALCO have as many
        as BALANCOR, and every other method as many as it needs.
    threshold : {"auto", "cv"}
        How RAKEL++, INLAC, BALCO, BALANCOR and DD-BALANCOR tune their threshold for micro-F1:
        ``"cv"`` as the paper, by five-fold cross-validation; ``"auto"`` on leave-one-out
        predictions where members have them.
    member : {"auto", "least-squares", "c45", "smo", "logistic"}
        What the members of the ensemble are. ``"auto"`` is the method's own default: a pool of
        least squares and a forest for LabelCover, least squares for all others.
    n_jobs : int, optional
        As in the estimators.

    Raises
    ------
    ValueError
        If there is no such method, member, size or threshold, or if `r` is larger than `k`.
    """
    check_choice("method", name, METHODS)
    check_choice("member", member, MEMBERS)
    check_choice("threshold", threshold, THRESHOLDS)
    if isinstance(size, str):
        check_choice("size", size, (PAPER,))
    elif size is not None:
        size = check_integer("size", size, low=1)
    k = check_integer("k", k, low=1)
    r = min(2, k) if r is None else check_integer("r", r, low=1)
    if r > k:
        raise ValueError(
            f"r must be at most k, got r={r} and k={k}: a labelset of {k} labels holds no "
            f"combination of {r}."
        )
    kind = METHODS[name]
    offered = inspect.signature(kind).parameters

    def make(dataset: Dataset) -> Any:
        m = dataset.Y.shape[1]
        if k > m and "k" in offered:
            warnings.warn(
                f"k={k} is larger than the number of labels of data set {dataset.name!r}, which is "
                f"{m}; k={m} and r={min(r, m)} are used: one labelset of all.",
                UserWarning,
                stacklevel=2,
            )
        wanted: dict[str, Any] = {"k": min(k, m), "r": min(r, m), "n_jobs": n_jobs}
        if size is not None and "size" in offered:
            wanted["size"] = paper_size(dataset.name, k, r) if size == PAPER else size
        elif name in SIZED_AS_BALANCOR:
            wanted["size"] = balancor_size(m, wanted["k"], wanted["r"])
        if name in TUNED:
            wanted["threshold"] = threshold
        parameters = {key: value for key, value in wanted.items() if key in offered}
        if member != "auto":
            parameters["estimator"] = member_of(member, dataset)
        return kind(**parameters)

    return make


def member_of(name: str, dataset: Dataset) -> Any:
    """Return the member of a name; trees and SVMs are told which features are nominal.

    Other members see it where features have more than two values (`Dataset.rows`); logistic
    regression has a column for each value of these.
    """
    if name == "least-squares":
        return LeastSquaresClassifier()
    if name != "logistic":
        nominal: Any = dataset.categorical if dataset.categorical.any() else "from_dtype"
        return {"c45": C45Classifier, "smo": SMOClassifier}[name](categorical_features=nominal)

    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    regression = LogisticRegression(max_iter=1000)
    many_valued = np.flatnonzero(dataset.many_valued)
    if not len(many_valued):
        return regression
    if sparse.issparse(dataset.X):
        raise ValueError(
            f"member 'logistic' does not take data set {dataset.name!r}, whose features are "
            "sparse and nominal with more than two values, expected one of 'least-squares', "
            "'c45', 'smo'."
        )
    coded = ("nominal", OneHotEncoder(handle_unknown="ignore"), many_valued)
    return make_pipeline(ColumnTransformer([coded], remainder="passthrough"), regression)
