"""The choice of k and r: the affordable cover that addresses the most dependency (Section 5.7)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._label_values import label_rows
from labelcover.covers import Cover, balancor_cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.dependence._chi_square import LabelDependence, label_dependence
from labelcover.dependence._permutation import adapt_cover

LABELSET_SIZES = (3, 4, 5, 6, 7)
ORDERS = (2, 3)
# The default budget, in binary models for each label: ten times binary relevance.
BINARY_MODELS_PER_LABEL = 10
# Labelsets looked at to learn how many classes a member has.
TRIAL_LABELSETS = 50


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
    found = []
    for k, r in pairs:
        bound = cover_size_bounds(m, k, r)[0] if size is None else size
        found.append((k, r, bound, costs[k], bound * costs[k]))
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
    columns = rows.tocsc()
    found = []
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
