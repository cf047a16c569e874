"""Covers that follow a label table: of dependent labelsets, by communities, or the affordable one.

The last is a choice of k and r: what addresses the most dependency (Section 5.7).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from scipy import sparse

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._label_values import label_rows
from labelcover.covers import Cover, balancor_cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.dependence._chi_square import LabelDependence, label_dependence, labelsets_by_label
from labelcover.dependence._dependence_kernels import lazy_greedy, seed_gains
from labelcover.dependence._permutation import adapt_cover

#: By what factor the resolution rises to divide a community.
FINER = 1.25
LABELSET_SIZES = (3, 4, 5, 6, 7)
ORDERS = (2, 3)
# The default budget, in binary models for each label: ten times binary relevance.
BINARY_MODELS_PER_LABEL = 10
# Labelsets looked at to learn how many classes a member has.
TRIAL_LABELSETS = 50


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


@dataclass(frozen=True)
class CoverChoice:
    """One way to cover the labels, what it costs and what it brings.

    Attributes
    ----------
    k, r : int
        Labels in a labelset, and the order that is covered.
    size_bound : int
        The fewest labelsets of such a cover by Lemma 2, or the size that was asked for.
    member_cost : float
        The cost of one member, in binary models.
    cost : float
        ``size_bound`` × ``member_cost``.
    affordable : bool
        Whether the cost is within the budget.
    cover : Cover or None
        The cover, permuted for the labels if that was asked for; None if not affordable.
    dependency : float
        The total weighted dependency that the cover addresses, of labelsets of the order on
        which covers are compared; NaN if not affordable.
    share : float
        The same as a share of all there is; NaN if not affordable or there is none.
    chosen : bool
        Whether this is the one to take.
    """

    k: int
    r: int
    size_bound: int
    member_cost: float
    cost: float
    affordable: bool
    cover: Cover | None = None
    dependency: float = np.nan
    share: float = np.nan
    chosen: bool = False


def cover_choices(
    Y: Any,
    k: Sequence[int] = LABELSET_SIZES,
    r: Sequence[int] = ORDERS,
    *,
    strategy: Callable[..., Cover] = balancor_cover,
    size: int | None = None,
    adapt: bool = True,
    budget: float | None = None,
    member_cost: Callable[[int], float] | None = None,
    min_count: int = 5,
    annealing: Mapping[str, Any] | None = None,
    random_state=None,
) -> list[CoverChoice]:
    """Return all combinations of `k` and `r` with their cost and dependency, one of them chosen.

    Chosen is the cover that addresses the greatest total dependency (Section 4.4) among those
    whose Lemma 2 lower bound times the cost of a member is within the budget (Section 5.7); of
    equals the one with the fewest labelsets. Each cover is permuted for labelsets of r + 1
    labels. Covers of different r are compared on labelsets of the same order: one above the
    highest r that is affordable. Where no labels occur together at an order, the next lower one
    takes its place.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    k, r : sequence of int
        What to choose from. Only ``r < k < m`` makes sense; where nothing is left, one labelset
        size is tried that fits.
    strategy : callable
        Makes the covers: ``strategy(n_labels, k, r, size=size, random_state=random_state)``.
    size : int, optional
        Number of labelsets, handed to the strategy.
    adapt : bool
        Permute each cover for the labels before it is judged (`adapt_cover`).
    budget : float, optional
        The greatest cost, in binary models: binary relevance costs one for each label. By default
        ten times that, or the cheapest choice if none is within that.
    member_cost : callable, optional
        The cost of a member of k labels, in binary models. By default half the number of classes
        that a member has on average in `Y`: training takes time at least linear in the classes.
    min_count : int
        As for `label_dependence`.
    annealing : mapping, optional
        How permutations are searched: keyword arguments of `adapt_cover`.
    random_state : int, RandomState or None
        Seed of covers and permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.dependence import cover_choices
    >>> Y = (np.random.default_rng(0).random((200, 6)) < 0.4).astype(int)
    >>> for choice in cover_choices(Y, k=[3, 4], r=[2], random_state=0):
    ...     print(choice.k, choice.size_bound, choice.affordable, choice.chosen)
    3 5 True False
    4 3 True True
    """
    rows = label_rows(Y)
    random = check_random_state(random_state)
    if size is not None:
        size = check_integer("size", size, low=1)
    if budget is not None:
        budget = check_real("budget", budget, above=0)
    choices = _costs(rows, k, r, size, budget, member_cost, random)
    orders = {choice.r for choice in choices if choice.affordable}
    dependences = {order: _highest_dependence(rows, order + 1, min_count) for order in orders}
    compared = dependences[max(orders)]
    total = float(compared.weights.sum())
    for i, choice in enumerate(choices):
        seed = int(random.randint(2**31 - 1))
        if not choice.affordable:
            continue
        cover = strategy(rows.shape[1], choice.k, choice.r, size=size, random_state=seed)
        if adapt:
            how = annealing or {}
            cover = adapt_cover(cover, dependences[choice.r], **how, random_state=seed).cover
        merit = compared.merit(cover)
        share = merit / total if total > 0 else np.nan
        choices[i] = replace(choice, cover=cover, dependency=merit, share=share)
    made = [i for i, choice in enumerate(choices) if choice.cover is not None]
    best = max(made, key=lambda i: (choices[i].dependency, -len(choices[i].cover or ())))
    choices[best] = replace(choices[best], chosen=True)
    return choices


def _costs(rows, ks, rs, size, budget, member_cost, random) -> list[CoverChoice]:
    """All combinations that fit the number of labels, not yet with covers."""
    m = rows.shape[1]
    ks = [check_integer("k", k, low=1) for k in ks]
    rs = [check_integer("r", r, low=1) for r in rs]
    pairs = [(k, r) for k in ks for r in rs if r < k < m]
    if not pairs:
        # Too few labels for any choice: the nearest thing there is.
        k = min(min(ks), m)
        pairs = [(k, min(min(rs), k))]
    cost_of = member_cost or (lambda k: _mean_classes(rows, k, random) / 2)
    costs = {k: float(cost_of(k)) for k, _ in pairs}
    bounds = [cover_size_bounds(m, *pair)[0] if size is None else size for pair in pairs]
    found = [(k, r, b, costs[k], b * costs[k]) for (k, r), b in zip(pairs, bounds, strict=True)]
    cheapest = min(choice[-1] for choice in found)
    if budget is None:
        limit = max(BINARY_MODELS_PER_LABEL * m, cheapest)
    elif budget < cheapest:
        raise ValueError(
            f"budget must be at least {cheapest:.6g} binary models, the cost of the cheapest "
            f"cover, got {budget!r}. dependent_cover makes smaller covers."
        )
    else:
        limit = budget
    return [CoverChoice(*choice, affordable=choice[-1] <= limit) for choice in found]


def _mean_classes(rows, k: int, random) -> float:
    """Mean number of different label patterns that a member of k random labels meets."""
    columns, found = rows.tocsc(), []
    for _ in range(TRIAL_LABELSETS):
        patterns = columns[:, random.permutation(rows.shape[1])[:k]].toarray()
        found.append(len(np.unique(np.packbits(patterns > 0, axis=1), axis=0)))
    return float(np.mean(found))


def _highest_dependence(rows, order: int, min_count: int) -> LabelDependence:
    for r in range(order, 2, -1):
        dependence = label_dependence(rows, r, min_count=min_count)
        if dependence.weights.sum() > 0:
            return dependence
    return label_dependence(rows, 2, min_count=min_count)
