"""Results in short: means and standard deviations, ranks, and whether differences are chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelcover.experiments.statistics import (
    FriedmanResult,
    average_ranks,
    critical_difference,
    friedman,
)
from labelcover.metrics import MEASURES

if TYPE_CHECKING:
    import pandas as pd

# With fewer data sets than this, folds count as problems; the page says what that means.
FEWEST_DATASETS = 5


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Return means (``mean_…``) and standard deviations (``sd_…``) over folds and seeds.

    There is a line per data set and method, in the order of the results; ``failed`` counts the
    fits that failed, ``error`` is the first of their errors.
    """
    import pandas as pd

    numbers = [*MEASURES, "fit_seconds", "predict_seconds", "peak_mb", "size"]
    groups = results.groupby(["dataset", "method"], sort=False)
    good = results[results["error"] == ""].groupby(["dataset", "method"], sort=False)[numbers]
    table = pd.DataFrame({"fits": groups.size()})
    table["failed"] = groups["error"].agg(lambda errors: int((errors != "").sum()))
    table["error"] = groups["error"].agg(lambda errors: next((e for e in errors if e), ""))
    table = table.join(good.mean().add_prefix("mean_")).join(good.std().add_prefix("sd_"))
    return table.reset_index()


@dataclass(frozen=True)
class Ranking:
    """How methods rank by one measure.

    Attributes
    ----------
    measure : str
        The measure.
    methods : list of str
        Methods without failures, best mean rank first.
    ranks : ndarray
        Their mean ranks.
    problems : int
        Number of problems over which ranks are averaged.
    of_folds : bool
        Whether the problems are folds rather than data sets.
    test : FriedmanResult
        Whether all methods perform alike.
    difference : float
        The critical difference of the Nemenyi test at 5 %.
    """

    measure: str
    methods: list[str]
    ranks: NDArray[np.float64]
    problems: int
    of_folds: bool
    test: FriedmanResult
    difference: float

    def evidence(self) -> str:
        """Return the test and its p-value in words, such as ``exact Friedman test, p = 0.028``."""
        p = self.test.p_value
        name = "exact Friedman test" if self.test.exact else "Friedman test by its F approximation"
        return f"{name}, {'p < 0.0001' if p < 1e-4 else f'p = {p:.2g}'}"


def rank_methods(results: pd.DataFrame, measure: str = "micro_f1") -> Ranking | None:
    """Return how the methods rank by `measure`; None if there is too little to compare."""
    of_folds = results["dataset"].nunique() < FEWEST_DATASETS
    problem = ["dataset", "folds", "fold", "seed"] if of_folds else ["dataset"]
    scores = results.pivot_table(
        index=problem, columns="method", values=measure, aggfunc="mean", sort=False
    )
    failed = set(results.loc[results["error"] != "", "method"])
    scores = scores[[m for m in scores.columns if m not in failed]].dropna(axis="index")
    if len(scores) < 2 or scores.shape[1] < 2:
        return None
    table = scores.to_numpy()
    ranks = average_ranks(table, higher_is_better=MEASURES[measure].higher_is_better)
    order = np.argsort(ranks, kind="stable")
    return Ranking(
        measure=measure,
        methods=[str(scores.columns[j]) for j in order],
        ranks=ranks[order],
        problems=len(scores),
        of_folds=of_folds,
        test=friedman(table),
        difference=critical_difference(table.shape[1], len(scores)),
    )
