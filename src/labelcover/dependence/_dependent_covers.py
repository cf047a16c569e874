"""Covers that follow a label table: of its dependent labelsets, or by its communities of labels."""

from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._label_values import label_rows
from labelcover.covers import Cover
from labelcover.dependence._chi_square import label_dependence, labelsets_by_label
from labelcover.dependence._dependence_kernels import lazy_greedy, seed_gains

#: By what factor the resolution rises to divide a community.
FINER = 1.25


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
        most = min(most, check_integer("size", size, low=least))
    share = check_real("share", share, low=0, high=1)

    by_weight = np.argsort(-dependence.chi_square, kind="stable")
    by_weight = by_weight[dependence.chi_square[by_weight] > 0]
    labelsets = dependence.labelsets[by_weight]
    weights = dependence.chi_square[by_weight]
    starts, which, others = labelsets_by_label(labelsets, m)
    entries = starts, starts[1:].copy(), which, others, weights[which]
    gains = seed_gains(labelsets, entries, k)
    rows = lazy_greedy(
        labelsets,
        weights,
        entries,
        gains,
        np.argsort(-gains, kind="stable"),
        k,
        # Summed in another order than the covered weight, hence the rounding.
        weights.sum() * share * (1 - 1e-12) if share < 1 else np.inf,
        most,
    )
    cover = Cover(rows, m)
    covered = dependence.share(cover)
    method = f"dependent cover: {covered:.1%} of the χ² of {len(labelsets)} labelsets of {r}"
    return Cover(rows, m, method=method)


def community_cover(
    Y: Any,
    k: int | None = None,
    *,
    weighted: bool = True,
    resolution: float = 1.0,
    random_state=None,
) -> Cover:
    """Return a partition of the labels in which labels that occur together are together.

    The labels are the nodes of a graph; two that occur together in a row of `Y` are joined. Its
    communities are found by Louvain's method, which maximises modularity, and each is a labelset.
    A label that occurs with no other one is a labelset of its own.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    k : int, optional
        The most labels in a labelset. The communities of a larger community are found in turn, at
        a resolution that rises until it falls apart. By default communities stay as they are.
    weighted : bool, default=True
        Weight an edge by the number of rows in which the two labels occur together; otherwise
        all edges count the same.
    resolution : float, default=1
        Above 1 there are more and smaller communities, below 1 fewer and larger ones.
    random_state : int, RandomState or None
        Seed of the order in which labels are visited.

    Returns
    -------
    Cover
        Disjoint labelsets that hold every label, the first labels first.

    Raises
    ------
    ImportError
        If networkx is not installed (the ``communities`` extra).

    References
    ----------
    Szymański, P., Kajdanowicz, T., & Kersting, K. (2016). How is a data-driven approach better
    than random choice in label space division for multi-label classification? Entropy 18(8), 282.

    Blondel, V. D., Guillaume, J.-L., Lambiotte, R., & Lefebvre, E. (2008). Fast unfolding of
    communities in large networks. Journal of Statistical Mechanics, P10008.

    Examples
    --------
    >>> from labelcover.dependence import community_cover
    >>> Y = [[1, 1, 0, 1, 0]] * 5 + [[0, 0, 1, 0, 1]] * 5 + [[1, 0, 0, 1, 0]] * 5
    >>> [labels.tolist() for labels in community_cover(Y, random_state=0)]
    [[0, 1, 3], [2, 4]]
    >>> [labels.tolist() for labels in community_cover(Y, k=2, random_state=0)]
    [[0, 3], [1], [2, 4]]
    """
    rows = label_rows(Y)
    m = rows.shape[1]
    if k is not None:
        k = check_integer("k", k, low=1, high=m)
    resolution = check_real("resolution", resolution, above=0)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "community_cover needs networkx: pip install 'labelcover[communities]'."
        ) from None
    graph = networkx.from_scipy_sparse_array(_together(rows, weighted=bool(weighted)))
    parts: list[list[int]] = []
    waiting = [(list(range(m)), resolution)]
    while waiting:
        labels, finer = waiting.pop()
        found = networkx.community.louvain_communities(
            graph.subgraph(labels), resolution=finer, seed=seed
        )
        for part in found:
            if k is None or len(part) <= k:
                parts.append(sorted(part))
            else:
                waiting.append((sorted(part), finer * FINER))
    return Cover(sorted(parts), m, method="communities")


def _together(rows: Any, *, weighted: bool) -> sparse.csr_array:
    """Return in how many rows every two labels occur together, or whether they do."""
    counts = rows.astype(np.int64)
    table = sparse.csr_array(counts.T @ counts)
    table.setdiag(0)
    table.eliminate_zeros()
    if not weighted:
        table.data[:] = 1
    return table
