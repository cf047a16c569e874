"""The tests of Sections 5.4 and 5.5, on the paper's printed scores and on ours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from labelcover.experiments.paper.printed import METHODS, printed_table
from labelcover.experiments.statistics import (
    average_ranks,
    bonferroni_dunn,
    critical_difference,
    friedman,
    groups,
)
from labelcover.metrics import MEASURES

#: The methods of Table 9, the control first.
ENSEMBLES = ("DD-BALANCOR", "ECC", "EPS")
LEVEL = 0.05


def printed_scores(
    tables: Sequence[str], measure: str, methods: Sequence[str] = METHODS
) -> NDArray[np.float64]:
    """Return what the paper prints, a row per data set and k, a column per method.

    Examples
    --------
    >>> from labelcover.experiments.paper.significance import printed_scores
    >>> printed_scores(["table7", "table8"], "micro_f1").shape
    (64, 6)
    """
    rows = [row for table in tables for row in printed_table(table)]
    return np.array([[row.score(measure, method) for method in methods] for row in rows])


def all_pairs(scores: NDArray[np.float64], measure: str, methods: Sequence[str] = METHODS) -> str:
    """Return mean ranks, Friedman's test and Nemenyi's critical difference in a sentence.

    This is the procedure of Section 5.4.

    Examples
    --------
    >>> from labelcover.experiments.paper.significance import all_pairs, printed_scores
    >>> text = all_pairs(printed_scores(["table7", "table8"], "micro_f1"), "micro_f1")
    >>> "F(5, 315) = 127.3" in text
    True
    """
    higher = MEASURES[measure].higher_is_better
    if len(scores) < 2:
        return "too few rows for a test"
    ranks = average_ranks(scores, higher_is_better=higher)
    difference = critical_difference(len(methods), len(scores))
    said = f"{_ranks(ranks, methods)}; {_friedman(scores, higher)}"
    bars = groups(ranks, difference)
    joined = "; ".join(" and ".join(methods[j] for j in bar) for bar in bars)
    same = f"do not differ: {joined}" if joined else "all differ"
    return f"{said}; critical difference {difference:.3f} (Nemenyi); {same}"


def against_first(
    scores: NDArray[np.float64], measure: str, methods: Sequence[str] = ENSEMBLES
) -> str:
    """Return mean ranks, Friedman's test and Bonferroni–Dunn's against the first method.

    This is the procedure of Section 5.5.

    Examples
    --------
    >>> from labelcover.experiments.paper.significance import against_first, printed_scores
    >>> scores = printed_scores(["table9"], "hamming_loss", ["DD-BALANCOR", "ECC", "EPS"])
    >>> "F(2, 18) = 20.75" in against_first(scores, "hamming_loss")
    True
    """
    higher = MEASURES[measure].higher_is_better
    if len(scores) < 2:
        return "too few rows for a test"
    ranks = average_ranks(scores, higher_is_better=higher)
    p = bonferroni_dunn(scores, 0, higher_is_better=higher)
    others = ", ".join(
        f"{name} {_p(value)}" for name, value in zip(methods[1:], p[1:], strict=True)
    )
    said = f"{_ranks(ranks, methods)}; {_friedman(scores, higher)}"
    return f"{said}; against {methods[0]} (Bonferroni–Dunn): {others}"


def _ranks(ranks, methods):
    order = np.argsort(ranks, kind="stable")
    return "mean ranks " + ", ".join(f"{methods[j]} {ranks[j]:.2f}" for j in order)


def _friedman(scores, higher):
    test = friedman(scores if higher else -scores)
    return f"F({test.degrees[0]}, {test.degrees[1]}) = {test.f:.4g}, {_p(test.p_value)}"


def _p(p: float) -> str:
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"
