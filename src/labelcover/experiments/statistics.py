"""Which differences between methods are more than chance (Section 5.3, after Demšar, 2006).

Scores come as a table with a row per problem (a data set, or a fold of it) and a column per
method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from labelcover._arguments import check_choice, check_integer


def average_ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> NDArray[np.float64]:
    """Return the mean rank of each method over the problems; 1 is best, equals share their ranks.

    Examples
    --------
    >>> from labelcover.experiments.statistics import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.9, 0.9, 0.7]])
    array([1.25, 1.75, 3.  ])
    """
    return problem_ranks(scores, higher_is_better=higher_is_better).mean(axis=0)


def problem_ranks(scores: ArrayLike, *, higher_is_better: bool = True) -> NDArray[np.float64]:
    """Return the rank of each method in each problem, in the shape of `scores`."""
    table = _check_scores(scores)
    return stats.rankdata(-table if higher_is_better else table, axis=1)


@dataclass(frozen=True)
class FriedmanResult:
    """The outcome of the Friedman test, whether the methods are all the same.

    Attributes
    ----------
    chi_square : float
        Friedman's statistic.
    f : float
        Iman and Davenport's F, less conservative; infinite if every problem ranks alike.
    degrees : tuple of int
        Degrees of freedom of `f`.
    p_value : float
        Of `f`.
    """

    chi_square: float
    f: float
    degrees: tuple[int, int]
    p_value: float


def friedman(scores: ArrayLike) -> FriedmanResult:
    """Test whether all methods do the same, with the Iman–Davenport correction.

    Ties are not corrected for, as in Demšar's formulas and in the paper: the statistic is then
    a little too small and the test errs on the side of caution. With two methods this is the test
    of their mean ranks.
    """
    n, k = _check_scores(scores).shape
    ranks = average_ranks(scores)
    chi_square = 12 * n / (k * (k + 1)) * (np.square(ranks).sum() - k * (k + 1) ** 2 / 4)
    room = n * (k - 1) - chi_square
    f = (n - 1) * chi_square / room if room > 1e-12 else np.inf
    degrees = (k - 1, (k - 1) * (n - 1))
    return FriedmanResult(float(chi_square), float(f), degrees, float(stats.f.sf(f, *degrees)))


def critical_difference(
    n_methods: int, n_problems: int, *, alpha: float = 0.05, test: str = "nemenyi"
) -> float:
    """Return by how much two mean ranks must differ to be called different.

    Parameters
    ----------
    n_methods, n_problems : int
        Size of the comparison.
    alpha : float
        Level of the test.
    test : {"nemenyi", "bonferroni-dunn"}
        All pairs of methods, or all against one control.

    Examples
    --------
    >>> from labelcover.experiments.statistics import critical_difference
    >>> round(critical_difference(6, 64), 3)
    0.942
    """
    k = check_integer("n_methods", n_methods, low=2)
    n = check_integer("n_problems", n_problems, low=1)
    if check_choice("test", test, ("nemenyi", "bonferroni-dunn")) == "nemenyi":
        q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    else:
        q = stats.norm.isf(alpha / (2 * (k - 1)))
    return float(q * np.sqrt(k * (k + 1) / (6 * n)))


def nemenyi(scores: ArrayLike) -> NDArray[np.float64]:
    """Return the p-value of each pair of methods, corrected for all pairs, ``(k, k)``."""
    import scikit_posthocs

    return scikit_posthocs.posthoc_nemenyi_friedman(_check_scores(scores)).to_numpy()


def bonferroni_dunn(
    scores: ArrayLike, control: int, *, higher_is_better: bool = True
) -> NDArray[np.float64]:
    """Return the corrected p-value of each method against the control, whose own is 1.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        Scores.
    control : int
        Column of the method that the others are compared with.
    higher_is_better : bool
        Whether greater scores are better.
    """
    n, k = _check_scores(scores).shape
    check_integer("control", control, low=0, high=k - 1)
    ranks = average_ranks(scores, higher_is_better=higher_is_better)
    z = np.abs(ranks - ranks[control]) / np.sqrt(k * (k + 1) / (6 * n))
    return np.minimum(1.0, 2 * stats.norm.sf(z) * (k - 1))


def groups(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Return the largest groups of methods whose mean ranks all lie within `difference`.

    These are the bars of a critical-difference diagram: methods under one bar are not different.
    """
    order = np.argsort(np.asarray(ranks, dtype=float), kind="stable")
    sorted_ranks = np.asarray(ranks, dtype=float)[order]
    found: list[tuple[int, ...]] = []
    last_end = -1
    for start in range(len(order)):
        end = int(np.searchsorted(sorted_ranks, sorted_ranks[start] + difference, side="right")) - 1
        if end > max(start, last_end):
            found.append(tuple(int(j) for j in order[start : end + 1]))
            last_end = end
    return found


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
