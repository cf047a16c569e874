"""Results in short: means and standard deviations, ranks, and whether differences are chance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from labelcover.experiments.results import MEASURED, TUNED
from labelcover.experiments.statistics import (
    FriedmanResult,
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
)
from labelcover.metrics import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd

# With fewer data sets than this, folds count as problems; the page says what that means.
FEWEST_DATASETS = 5
# The level of all tests.
LEVEL = 0.05


def summarize(results: pd.DataFrame) -> pd.DataFrame:
    """Return means (``mean_…``) and standard deviations (``sd_…``) over folds and seeds.

    There is a line per data set and method, in the order of the results; ``failed`` counts the
    fits that failed, ``error`` is the first of their errors, ``cut`` and ``tuning`` say how the
    method is cut by itself and on what its threshold was tuned.
    """
    import pandas as pd

    numbers = [*MEASURES, *TUNED, *MEASURED, "size", "threshold"]
    groups = results.groupby(["dataset", "method"], sort=False)
    good = results[results["error"] == ""].groupby(["dataset", "method"], sort=False)[numbers]
    table = pd.DataFrame({"fits": groups.size()})
    table["failed"] = groups["error"].agg(lambda errors: int((errors != "").sum()))
    for name in ("error", "cut", "tuning"):
        table[name] = groups[name].agg(lambda texts: next((text for text in texts if text), ""))
    table = table.join(good.mean().add_prefix("mean_")).join(good.std().add_prefix("sd_"))
    return table.reset_index()


def measure_of(column: str) -> Measure:
    """Return the measure of a column of the results, at whichever cut."""
    return MEASURES[TUNED.get(column, column)]


@dataclass(frozen=True)
class Ranking:
    """How methods rank by one measure.

    Attributes
    ----------
    measure : str
        The column of the results: a measure, or one at a tuned threshold (``"tuned_micro_f1"``).
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
    control : str or None
        The method that the others are compared with by the Bonferroni–Dunn test.
    p_values : dict of str to float
        Its p-values, for every method but the control.
    """

    measure: str
    methods: list[str]
    ranks: NDArray[np.float64]
    problems: int
    of_folds: bool
    test: FriedmanResult
    difference: float
    control: str | None = None
    p_values: dict[str, float] = field(default_factory=dict)

    def against_control(self) -> str:
        """Return the outcome of the Bonferroni–Dunn test in a sentence; empty without a control."""
        if self.control is None:
            return ""
        ranks = dict(zip(self.methods, self.ranks.tolist(), strict=True))
        said: dict[str, list[str]] = {"better": [], "worse": [], "not": []}
        for name, p in self.p_values.items():
            better = ranks[name] < ranks[self.control]
            how = "not" if p >= LEVEL else "better" if better else "worse"
            said[how].append(f"{name} ({_p_value(p)})")
        parts = [
            f"{words} {', '.join(said[how])}"
            for how, words in (
                ("worse", "significantly worse:"),
                ("better", "significantly better:"),
                ("not", "not significantly different:"),
            )
            if said[how]
        ]
        return f"Against {self.control} (Bonferroni–Dunn test at the 5 % level): {'; '.join(parts)}"

    def evidence(self) -> str:
        """Return the test and its p-value in words, such as ``exact Friedman test, p = 0.028``."""
        p = self.test.p_value
        name = "exact Friedman test" if self.test.exact else "Friedman test by its F approximation"
        return f"{name}, {_p_value(p)}"


def rank_methods(
    results: pd.DataFrame, measure: str = "micro_f1", *, control: str | None = None
) -> Ranking | None:
    """Return how the methods rank by `measure`; None if there is too little to compare.

    Measures of predictions are of the methods' own cuts, or with ``tuned_`` before their name at
    tuned thresholds. With a `control`, all others are compared with it by the Bonferroni–Dunn test,
    unless the control failed somewhere.
    """
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
    ranks = average_ranks(table, higher_is_better=measure_of(measure).higher_is_better)
    order = np.argsort(ranks, kind="stable")
    names = [str(scores.columns[j]) for j in order]
    p_values = {}
    if control in names:
        p = bonferroni_dunn(
            table[:, order],
            names.index(control),
            higher_is_better=measure_of(measure).higher_is_better,
        )
        p_values = {n: float(p[j]) for j, n in enumerate(names) if n != control}
    return Ranking(
        measure=measure,
        methods=names,
        ranks=ranks[order],
        problems=len(scores),
        of_folds=of_folds,
        test=friedman(table),
        difference=critical_difference(table.shape[1], len(scores)),
        control=control if p_values else None,
        p_values=p_values,
    )


def _p_value(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
