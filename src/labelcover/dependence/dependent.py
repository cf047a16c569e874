"""Covers of the dependent labelsets only, for label tables of any width."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from labelcover._arguments import check_integer, check_real
from labelcover.covers import Cover
from labelcover.dependence.chi_square import label_dependence
from labelcover.dependence.lazy_greedy_kernels import lazy_greedy


def dependent_cover(
    Y: Any,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    share: float = 1.0,
    min_count: int = 5,
) -> Cover:
    """Return a cover of the r-labelsets that depend on each other in `Y`, and of every label.

    A cover of all pairs of a thousand labels needs tens of thousands of labelsets, most of them
    for pairs that never occur together. This one covers the labelsets that do, weighted by their
    χ²: rows are made greedily, the greatest uncovered weight first.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    k : int
        Labels in each labelset of the cover, at least `r`.
    r : int
        Order of the dependence to cover.
    size : int, optional
        At most so many labelsets, at least m/k: every label is covered first of all. By default
        as many as it takes.
    share : float
        Stop when this share of the total χ² is covered, between 0 and 1.
    min_count : int
        Labelsets that occur together in fewer rows do not count as dependent (Section 4.4).

    Returns
    -------
    Cover
        ``label_dependence(Y, r).share(cover)`` is the share of the total χ² that it covers;
        its `method` says so too.

    Examples
    --------
    >>> from labelcover.dependence import dependent_cover
    >>> Y = [[1, 1, 0, 0, 0]] * 5 + [[0, 0, 1, 0, 1]] * 5 + [[0, 0, 0, 1, 0]] * 5
    >>> dependent_cover(Y, k=2).labelsets.tolist()
    [[0, 1], [2, 4], [0, 3]]
    """
    r = check_integer("r", r, low=2)
    dependence = label_dependence(Y, r, min_count=min_count)
    m = dependence.n_labels
    k = check_integer("k", k, low=min(r, m), high=m)
    least = ceil(m / k)
    # As many rows as there are labelsets and labels are always enough.
    most = len(dependence.labelsets) + least
    if size is not None:
        most = check_integer("size", size, low=least)
    share = check_real("share", share, low=0, high=1)

    by_weight = np.argsort(-dependence.chi_square, kind="stable")
    by_weight = by_weight[dependence.chi_square[by_weight] > 0]
    labelsets = dependence.labelsets[by_weight]
    weights = dependence.chi_square[by_weight]
    rows = lazy_greedy(
        labelsets,
        weights,
        m,
        k,
        # Summed in another order than the covered weight, hence the rounding.
        weights.sum() * share * (1 - 1e-12) if share < 1 else np.inf,
        most,
    )
    cover = Cover(rows, m)
    covered = dependence.share(cover)
    method = f"dependent cover: {covered:.1%} of the χ² of {len(labelsets)} labelsets of {r}"
    return Cover(rows, m, method=method)
