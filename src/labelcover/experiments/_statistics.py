"""Tests of whether differences between methods are significant (Section 5.3; Demšar, 2006).

Scores come as a table with a row per problem (a data set, or a fold of it) and a column per
method.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from labelcover._arguments import check_integer
from labelcover.experiments.results import MEASURED, TUNED
from labelcover.metrics import MEASURES, Measure

if TYPE_CHECKING:
    import pandas as pd

# Number of methods to the largest number of problems with an exact test: about a second's work.
LARGEST_EXACT = {2: 1000, 3: 100, 4: 25, 5: 9, 6: 4, 7: 2, 8: 2}
# With fewer data sets than this, folds count as problems; the page says what that means.
FEWEST_DATASETS = 5
# The level of all tests.
LEVEL = 0.05


def average_ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> NDArray[np.float64]:
    """Return the mean rank of each method over the problems; 1 is best, equals share their ranks.

    Examples
    --------
    >>> from labelcover.experiments._statistics import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.9, 0.9, 0.7]])
    array([1.25, 1.75, 3.  ])
    """
    table = _check_scores(scores)
    return stats.rankdata(-table if higher_is_better else table, axis=1).mean(axis=0)


class FriedmanResult(NamedTuple):
    """The outcome of the Friedman test of whether all methods perform alike.

    `f` is Iman and Davenport's, less conservative than Friedman's `chi_square`, with its degrees of
    freedom; it is infinite if every problem has the same ranks. `p_value` is the probability of
    ranks as different as these, or more, if all methods perform alike.
    """

    chi_square: float
    f: float
    degrees: tuple[int, int]
    p_value: float
    exact: bool


def friedman(scores: ArrayLike) -> FriedmanResult:
    """Test whether all methods perform alike.

    For few problems and methods the p-value is exact: the share of all orders of the scores
    within each problem, each equally likely, whose mean ranks differ as much or more. This holds
    with ties too. It is computed for up to 100 problems with three methods, 25 with four, 9 with
    five, 4 with six, and 2 with seven or eight.

    Beyond that the p-value is that of Iman and Davenport's F, which is slightly optimistic: a
    test at the 5 % level is truly one at up to 6.6 % (two problems and nine methods; 6.1 % with
    three and seven, 5.1 % with ten and eight, by simulation). Its statistic is not corrected for
    ties, as in Demšar's formulas and in the paper, which makes the test more conservative.

    Examples
    --------
    >>> from labelcover.experiments._statistics import friedman
    >>> result = friedman([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.7, 0.6, 0.5]])
    >>> round(result.p_value, 3), result.exact
    (0.028, True)
    """
    ranks = stats.rankdata(-_check_scores(scores), axis=1)
    n, k = ranks.shape
    chi_square = (
        12 * n / (k * (k + 1)) * (np.square(ranks.mean(axis=0)).sum() - k * (k + 1) ** 2 / 4)
    )
    room = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / room if room > 1e-12 else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    exact = n <= LARGEST_EXACT.get(k, 0)
    p_value = _exact_p(ranks) if exact else float(stats.f.sf(f, *degrees))
    return FriedmanResult(float(chi_square), float(f), degrees, p_value, exact)


def _exact_p(ranks: NDArray[np.float64]) -> float:
    """Return the share of all orders within the problems whose mean ranks differ as much or more.

    Problems are added one by one to the distribution of the rank sums. As any order of the methods
    is equally likely, only the sorted rank sums matter, and there are few of those.
    """
    n, k = ranks.shape
    # Mean ranks are multiples of a half: twice the ranks are integers, and sums of them exact.
    doubled = np.rint(2 * ranks).astype(np.int64)
    sums, probability = np.sort(doubled[:1], axis=1), np.ones(1)
    for row in doubled[1:]:
        orders = np.array(list(set(permutations(row.tolist()))))
        sums = np.sort((sums[:, None] + orders).reshape(-1, k), axis=1)
        # No sum exceeds 2nk, so that the first k - 1 of them (the last follows) are one number.
        keys = sums[:, :-1] @ (2 * n * k + 1) ** np.arange(k - 1)
        _, first, at = np.unique(keys, return_index=True, return_inverse=True)
        sums = sums[first]
        share = np.repeat(probability / len(orders), len(orders))
        probability = np.bincount(at, weights=share).astype(np.float64)
    spread = np.square(sums).sum(axis=1)
    return float(probability[spread >= np.square(doubled.sum(axis=0)).sum()].sum())


def critical_difference(n_methods: int, n_problems: int) -> float:
    """Return by how much two mean ranks must differ to be significantly different.

    This is Nemenyi's test of all pairs of methods, at the 5 % level.

    Examples
    --------
    >>> from labelcover.experiments._statistics import critical_difference
    >>> round(critical_difference(6, 64), 3)
    0.942
    """
    k = check_integer("n_methods", n_methods, low=2)
    n = check_integer("n_problems", n_problems, low=1)
    q = stats.studentized_range.ppf(1 - LEVEL, k, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def bonferroni_dunn(
    scores: ArrayLike, control: int, *, higher_is_better: bool = True
) -> NDArray[np.float64]:
    """Return the corrected p-value of each method against that of a column, whose own is 1."""
    n, k = _check_scores(scores).shape
    check_integer("control", control, low=0, high=k - 1)
    ranks = average_ranks(scores, higher_is_better=higher_is_better)
    z = np.abs(ranks - ranks[control]) / np.sqrt(k * (k + 1) / (6 * n))
    return np.minimum(1.0, 2 * stats.norm.sf(z) * (k - 1))


def groups(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of methods whose mean ranks all lie within `difference`.

    These are the bars of a critical-difference diagram, which join methods that do not differ
    significantly.
    """
    order = np.argsort(np.asarray(ranks, dtype=float), kind="stable")
    increasing = np.asarray(ranks, dtype=float)[order]
    ends = np.searchsorted(increasing, increasing + difference, side="right").tolist()
    # One that ends where the one before it does is a part of it.
    starts = [j for j, end in enumerate(ends) if end > max(j + 1, *ends[:j], 0)]
    return [tuple(order[j : ends[j]].tolist()) for j in starts]


def _check_scores(scores):
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            "scores must be a table of at least two problems (rows) and two methods (columns), "
            f"got shape {table.shape}."
        )
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity.")
    return table


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
    """How methods rank by one measure, a column of the results.

    The methods are those without failures, best mean rank first; ranks are averaged over so many
    `problems`, which are folds or data sets. Two differ by Nemenyi's test where their ranks are
    further apart than `difference`; `p_values` are those against the `control`, if there is one, by
    the Bonferroni–Dunn test.
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

    @property
    def by_method(self) -> dict[str, float]:
        """The mean rank of each method."""
        return dict(zip(self.methods, self.ranks.tolist(), strict=True))

    def ranks_told(self) -> str:
        """Return the methods with their mean ranks, best first."""
        return ", ".join(f"{name} {rank:.2f}" for name, rank in self.by_method.items())

    def against_control(self) -> str:
        """Return the outcome of the Bonferroni–Dunn test in a sentence; empty without a control."""
        if self.control is None:
            return ""
        ranks = self.by_method
        said: dict[str, list[str]] = {
            "significantly worse": [],
            "significantly better": [],
            "not significantly different": [],
        }
        worse, better, same = said.values()
        for name, p in self.p_values.items():
            how = better if ranks[name] < ranks[self.control] else worse
            (same if p >= LEVEL else how).append(f"{name} ({p_value(p)})")
        parts = [f"{how}: {', '.join(names)}" for how, names in said.items() if names]
        return f"Against {self.control} (Bonferroni–Dunn test at the 5 % level): {'; '.join(parts)}"

    def evidence(self) -> str:
        """Return the test and its p-value in words, such as ``exact Friedman test, p = 0.028``."""
        name = "exact Friedman test" if self.test.exact else "Friedman test by its F approximation"
        return f"{name}, {p_value(self.test.p_value)}"


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
    higher = measure_of(measure).higher_is_better
    ranks = average_ranks(table, higher_is_better=higher)
    order = np.argsort(ranks, kind="stable")
    names = [str(scores.columns[j]) for j in order]
    p_values = {}
    if control in names:
        p = bonferroni_dunn(table[:, order], names.index(control), higher_is_better=higher)
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


def p_value(p: float) -> str:
    """Return a p-value in words.

    Examples
    --------
    >>> from labelcover.experiments._statistics import p_value
    >>> p_value(0.0279), p_value(1e-9)
    ('p = 0.028', 'p < 0.0001')
    """
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
