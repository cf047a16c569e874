"""The label groups of the paper: RAKEL's, overlapping or disjoint, INLAC, BALCO and BALANCOR."""

from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_random_state
from labelcover._progress import progress_bar
from labelcover.covers._cover import Cover
from labelcover.covers._greedy import completed, labelset_search
from labelcover.covers._labelset_kernels import unrank_labelsets
from labelcover.covers._problem import check_problem, run, start, swap_to_balance

#: Up to this many labelsets their order is drawn at once; among more, a repeat is drawn again.
ORDER_LIMIT = 1 << 16


def random_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return distinct labelsets drawn uniformly without replacement, as RAKEL does.

    Parameters
    ----------
    n_labels, k, r, random_state, verbose
        As for `inlac_cover`. RAKEL does not look at r, which only says when to stop if `size` is
        not given.
    size : int, optional
        Number of labelsets σ. By default labelsets are drawn until all r-labelsets are covered.

    Examples
    --------
    >>> from labelcover.covers import random_cover
    >>> random_cover(6, 3, size=7, random_state=0)
    Cover(n_labels=6, k=3, size=7, imbalance=3, method='random')
    """
    rng = check_random_state(random_state)
    state = start(n_labels, k, _stopping_order(r, size), size)
    n_all = comb(state.m, state.k)
    if n_all <= ORDER_LIMIT:
        rows = iter(unrank_labelsets(rng.permutation(n_all), state.m, state.k))
        return run(state, lambda: next(rows), method="random", verbose=verbose)

    def draw() -> NDArray[np.int32]:
        while True:
            labels = np.sort(rng.choice(state.m, state.k, replace=False)).astype(np.int32)
            if not state.has(labels[None])[0]:
                return labels

    return run(state, draw, method="random", verbose=verbose)


def disjoint_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return a random partition of the labels into labelsets of k, as RAkELd does.

    Every label is in exactly one labelset. If k does not divide the number of labels, the last
    labelset of the partition holds the remainder.

    Parameters
    ----------
    n_labels, k, r, random_state, verbose
        As for `inlac_cover`, but r is not looked at: a partition covers single labels, and only
        the combinations that lie inside its parts.
    size : int, optional
        Number of labelsets σ. By default ⌈m/k⌉, one partition. More labelsets are those of
        further partitions, drawn independently but all different, and the last one is cut off
        where the size is reached: the imbalance is never more than 1.

    References
    ----------
    Tsoumakas, G., Katakis, I., & Vlahavas, I. (2011). Random k-labelsets for multilabel
    classification. IEEE Transactions on Knowledge and Data Engineering 23(7), 1079-1089.

    Examples
    --------
    >>> from labelcover.covers import disjoint_cover
    >>> cover = disjoint_cover(8, 3, random_state=0)
    >>> [labels.tolist() for labels in cover]
    [[1, 2, 6], [0, 3, 7], [4, 5]]
    >>> disjoint_cover(8, 3, size=7, random_state=0)
    Cover(n_labels=8, k=2 to 3, size=7, imbalance=1, method='disjoint')
    """
    m, k, _, _ = check_problem(n_labels, k, r, None)
    parts = -(-m // k)
    size = parts if size is None else check_integer("size", size, low=1)
    if size > parts:
        whole, rest = divmod(m, k)
        partitions = factorial(m) // (factorial(k) ** whole * factorial(whole) * factorial(rest))
        check_integer("size", size, low=1, high=parts * partitions)
    rng = check_random_state(random_state)
    rows: list[NDArray] = []
    seen: set[frozenset[tuple[int, ...]]] = set()
    with progress_bar("cover (disjoint)", size, show=verbose) as bar:
        while len(rows) < size:
            order = rng.permutation(m)
            partition = [np.sort(order[begin : begin + k]) for begin in range(0, m, k)]
            name = frozenset(tuple(part.tolist()) for part in partition)
            if name not in seen:
                seen.add(name)
                rows += partition
                bar.advance(parts)
    return Cover(rows[:size], m, method="disjoint")


def inlac_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return INLAC's cover: each labelset covers as many new r-labelsets as possible.

    This is Algorithm 4 with the exact arg-max over all k-labelsets.

    Parameters
    ----------
    n_labels, k, r : int
        Labels m, labels in a labelset, and labels in each combination to cover: r ≤ k ≤ m.
    size : int, optional
        Number of labelsets σ; labelsets beyond what it takes are the first not chosen yet. By
        default (σ = ∞) the algorithm stops when all r-labelsets are covered.
    ties : {"first", "random"}, default="first"
        Among the best labelsets take the lexicographically first, or the first in an order of
        the labels redrawn at every step (the randomised greedy of Section 3.2).
    random_state : int, RandomState or None
        Seed for ``ties="random"``.
    verbose : bool, default=False
        Show a progress bar, if standard error is a terminal.

    Examples
    --------
    Table 4 of the paper:

    >>> from labelcover.covers import inlac_cover
    >>> inlac_cover(4, 3, 2).matrix().astype(int)
    array([[1, 1, 1, 0],
           [1, 1, 0, 1],
           [1, 0, 1, 1]])
    """
    rng = check_random_state(random_state)
    state = start(n_labels, k, r, size)
    return completed(state, "gain", method="inlac", ties=ties, rng=rng, verbose=verbose)


def randomized_greedy_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    trials: int = 10,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return the smallest of several INLAC covers with ties broken at random at every step.

    Parameters are those of `inlac_cover`, and `trials`, the number of covers; with `size`, the
    one that covers most is kept (the randomised greedy of Section 3.2).
    """
    trials = check_integer("trials", trials, low=1)
    rng = check_random_state(random_state)
    covers = []
    with progress_bar("cover (randomised greedy)", trials, show=verbose) as bar:
        for _ in range(trials):
            covers.append(inlac_cover(n_labels, k, r, size=size, ties="random", random_state=rng))
            bar.advance()
    best = min(covers, key=lambda cover: (len(cover), -cover.coverage(r)))
    return Cover(best.labelsets, best.n_labels, method="randomised greedy")


def balancor_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return BALANCOR's cover: the best of |S*| − imb(I ∪ S) at each step (Section 4.3).

    Parameters are those of `inlac_cover`.

    Examples
    --------
    >>> from labelcover.covers import balancor_cover
    >>> balancor_cover(14, 4)
    Cover(n_labels=14, k=4, size=20, imbalance=1, method='balancor')
    """
    rng = check_random_state(random_state)
    state = start(n_labels, k, r, size)
    return completed(state, "gain-balance", method="balancor", ties=ties, rng=rng, verbose=verbose)


def balco_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    balanced: bool = True,
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return BALCO's cover: at each step the labelset that leaves the least imbalance.

    Algorithm 5 with the exact arg-min over the labelsets not chosen yet. The paper says that the
    imbalance never exceeds 1, but the greedy does not keep that: a choice may leave only labels
    that were together before. By default the cover is then mended by swaps (see Notes).

    Parameters
    ----------
    n_labels, k, r, ties, random_state, verbose
        As for `inlac_cover`. BALCO itself does not look at r, which only says when to stop if
        `size` is not given.
    size : int, optional
        Number of labelsets σ. By default as many as it takes to cover all r-labelsets.
    balanced : bool, default=True
        Keep the imbalance at most 1, and so at 0 whenever m divides σ·k. False is the literal
        algorithm.

    Notes
    -----
    A mending swap always exists. Let label a be in two or more labelsets than label b. More
    labelsets then hold a without b than b without a, so at least one of the former can exchange
    a for b and become a labelset that is not chosen yet. Each such swap brings the counts closer.

    Examples
    --------
    >>> from labelcover.covers import balco_cover
    >>> balco_cover(9, 3, size=6)
    Cover(n_labels=9, k=3, size=6, imbalance=0, method='balco')
    >>> balco_cover(9, 3, size=6, balanced=False).imbalance
    2
    """
    state = start(n_labels, k, _stopping_order(r, size), size)
    search = labelset_search(state, "balance", ties, check_random_state(random_state))

    def next_labelset() -> NDArray[np.int32]:
        if balanced:
            swap_to_balance(state)
        return search()

    cover = run(state, next_labelset, method="balco", verbose=verbose)
    while balanced and cover.imbalance > 1:
        # The last labelset is mended too; without a size that may uncover something again.
        swap_to_balance(state)
        cover = run(state, next_labelset, method="balco", verbose=verbose)
    return cover


def _stopping_order(r: int, size: int | None) -> int:
    """Return r, or 1 where a size says when to stop."""
    return r if size is None else min(check_integer("r", r, low=1), 1)
