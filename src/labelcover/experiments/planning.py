"""What a fit of the default will take, before it is started: members, products, memory, time.

The costs are sums of a few quantities that the work is proportional to, such as rows times labels,
with coefficients that were fitted on measurements (``benchmarks/fit_plan_costs.py`` writes them to
``plan_costs.json``): CPU seconds on one thread of the machine where they were measured, and the
greatest memory of the process in GB.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._label_values import label_rows
from labelcover.covers import Cover
from labelcover.ensemble import LabelCoverClassifier, ManyLabelPool
from labelcover.ensemble.choose_cover import choose_cover, cover_of_many
from labelcover.ensemble.many_labels import are_many
from labelcover.ensemble.wide_text import is_wide_text
from labelcover.learners.forest.grown_forest import SPARSE_SHARE
from labelcover.learners.rare_values import RareValues

COSTS = "plan_costs.json"
# What the default takes no more of, whatever the table has: rows whose kernel is exact, rows that
# are predicted left out, distinct labelsets that correct the pool.
EXACT_ROWS, LEFT_OUT_ROWS, MOST_LABELSETS = 1_000, 2_048, 5_000
# Two kinds of trees are tried from so many labels on, on so many rows at most. Trees on a sparse
# table see a part of its rows and features: from so many rows on they take this share of the work,
# by the measurements.
TRIED_LABELS, TRIED_ROWS = 100, 4_000
MANY_ROWS, SHARE_OF_MANY = 2_000, 0.5 * 0.625
KINDS = ("pool", "sparse pool", "wide text", "many labels")


@dataclass(frozen=True)
class Plan:
    """What a fit will take.

    Attributes
    ----------
    kind : {"pool", "sparse pool", "wide text", "many labels"}
        Which views the default has on such a table, and whether its trees are those of a sparse
        one.
    rows, features, labels : int
    cells : int
        Cells of X that are not 0, with 0/1 columns read by their rarer value.
    label_cells : int
        Ones of Y.
    labelsets : int
        Different rows of Y, at most `MOST_LABELSETS`.
    members : int
        Labelsets of the cover.
    products : int
        Label products that these make and that occur: those are solved.
    seconds : float
        CPU seconds of the fit on one thread.
    memory_gb : float
        Greatest memory of the process, with the table.
    """

    kind: str
    rows: int
    features: int
    labels: int
    cells: int
    label_cells: int
    labelsets: int
    members: int
    products: int
    seconds: float = float("nan")
    memory_gb: float = float("nan")


def plan_fit(estimator: LabelCoverClassifier, X: Any, Y: Any) -> Plan:
    """Return what fitting the default estimator on a table will take.

    The cover is made, nothing else.

    Parameters
    ----------
    estimator : LabelCoverClassifier
        With the default ``estimator="auto"``; its cover, `k`, `r` and `size` count.
    X : array or sparse matrix of shape (n, d)
    Y : array or sparse matrix of shape (n, n_labels)

    Examples
    --------
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.datasets import load
    >>> from labelcover.experiments.planning import plan_fit
    >>> data = load("debtags")
    >>> plan = plan_fit(LabelCoverClassifier(random_state=0), data.X, data.Y)
    >>> plan.members, plan.products <= 24 + 7 * plan.members
    (96, True)
    """
    plan = sizes(estimator, X, Y)
    costs = json.loads(files(__package__).joinpath(COSTS).read_text(encoding="utf-8"))[plan.kind]
    found = {
        name: sum(costs[name].get(term, 0.0) * value for term, value in terms.items())
        for name, terms in (("seconds", time_terms(plan)), ("memory_gb", memory_terms(plan)))
    }
    return Plan(**{**vars(plan), **found})


def sizes(estimator: LabelCoverClassifier, X: Any, Y: Any) -> Plan:
    """Return what the costs follow from: the sizes of a table, of its cover and its products."""
    many = isinstance(estimator.estimator, ManyLabelPool) or are_many(Y)
    default = many or estimator.estimator in (None, "auto")
    if not default:
        raise ValueError(
            f"plan knows the costs of the default estimator only, got {estimator.estimator!r}."
        )
    labels = label_rows(Y)
    given: Any = labels if many else labels.toarray()
    by_default = many and isinstance(estimator.cover, str) and estimator.cover == "auto"
    cover, _ = choose_cover(
        given,
        cover_of_many if by_default else estimator.cover,
        k=estimator.k,
        r=estimator.r,
        size=estimator.size,
        random_state=0,
    )
    read = X if many else RareValues().fit(X).transform(X)
    cells = read.nnz if sparse.issparse(read) else np.count_nonzero(read)
    few = sparse.issparse(X) or cells < SPARSE_SHARE * np.prod(X.shape)
    kind = "sparse pool" if few else "pool"
    kind = "many labels" if many else "wide text" if is_wide_text(X) else kind
    patterns = {row.tobytes() for row in np.split(labels.indices, labels.indptr[1:-1])}
    return Plan(
        kind,
        rows=X.shape[0],
        features=X.shape[1],
        labels=labels.shape[1],
        cells=int(cells),
        label_cells=labels.nnz,
        labelsets=min(len(patterns), MOST_LABELSETS),
        members=len(cover),
        products=n_products(cover, labels),
    )


def n_products(cover: Cover, Y: sparse.csr_array) -> int:
    """Return how many different products the labels of the labelsets have that are 1 in some row.

    Examples
    --------
    >>> from scipy import sparse
    >>> from labelcover.covers import Cover
    >>> from labelcover.experiments.planning import n_products
    >>> Y = sparse.csr_array([[1, 1, 1, 0], [1, 0, 0, 1]])
    >>> n_products(Cover([[0, 1, 2], [0, 1, 3]], n_labels=4), Y)
    9
    """
    columns = Y.tocsc()
    rows = [frozenset(each.tolist()) for each in np.split(columns.indices, columns.indptr[1:-1])]
    found: dict[tuple[int, ...], frozenset[int]] = {}
    for labelset in cover.labelsets.tolist():
        own = [j for j in labelset if j >= 0]
        for size in range(1, len(own) + 1):
            for labels in combinations(own, size):
                if labels not in found:
                    others = found[labels[:-1]] if size > 1 else rows[labels[0]]
                    found[labels] = others & rows[labels[-1]]
    return sum(map(bool, found.values()))


def time_terms(plan: Plan) -> dict[str, float]:
    """Return the quantities that seconds are a sum of, in millions."""
    n, m = plan.rows, plan.labels
    exact, left_out = min(n, EXACT_ROWS), min(n, LEFT_OUT_ROWS)
    if plan.kind == "sparse pool":  # mostly a line is chosen, whose system is of features
        exact = min(exact, plan.features)
    depth = np.log2(n + 1)
    in_trees = SHARE_OF_MANY if plan.kind != "pool" and n >= MANY_ROWS else 1.0
    terms = {
        "1": 1e6,
        "rows in trees × depth × √features": in_trees * n * depth * np.sqrt(plan.features),
        "ones of Y in trees × depth": in_trees * plan.label_cells * depth,
        "cells": plan.cells,
        "rows × labels": n * m,
    }
    if plan.kind == "many labels":
        terms["cells × depth"] = plan.cells * depth
    else:
        terms |= {
            "exact rows² × rows": exact**2 * n,
            "exact rows × products": exact * plan.products,
            "left-out rows × products": left_out * plan.products,
            "left-out rows × labelsets": left_out * plan.labelsets,
            "left-out rows × labelsets × labels": left_out * plan.labelsets * m,
        }
    if plan.kind == "pool":
        tried = min(n, TRIED_ROWS) / n if m >= TRIED_LABELS else 0
        terms["tried ones of Y"] = tried * plan.label_cells
    if plan.kind == "wide text":
        terms["cells × labels"] = plan.cells * m
    return {name: float(value) / 1e6 for name, value in terms.items()}


def memory_terms(plan: Plan) -> dict[str, float]:
    """Return the quantities that memory is a sum of, in millions."""
    n, m = plan.rows, plan.labels
    exact, left_out = min(n, EXACT_ROWS), min(n, LEFT_OUT_ROWS)
    terms = {"1": 1e6, "cells": plan.cells, "rows": n, "ones of Y": plan.label_cells, "labels": m}
    if plan.kind != "many labels":
        terms |= {
            "rows × features": n * plan.features,
            "rows × labels": n * m,
            "rows × products": n * plan.products,
            "rows × exact rows": n * exact,
            "left-out rows × labelsets": left_out * plan.labelsets,
            "exact rows × products": exact * plan.products,
        }
    return {name: float(value) / 1e6 for name, value in terms.items()}
