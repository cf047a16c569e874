"""Partitions of the labels: RAKEL's disjoint labelsets (RAkELd)."""

from __future__ import annotations

from math import factorial

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_random_state
from labelcover._progress import progress_bar
from labelcover.covers._problem import check_problem
from labelcover.covers.cover import Cover


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
    n_labels, k, r : int
        Labels m, labels in a labelset, and an order r ≤ k ≤ m, which is not looked at: a
        partition covers single labels, and only the combinations that lie inside its parts.
    size : int, optional
        Number of labelsets σ. By default ⌈m/k⌉, one partition. More labelsets are those of
        further partitions, drawn independently but all different, and the last one is cut off
        where the size is reached: the imbalance is never more than 1.
    random_state : int, RandomState or None
        Seed.
    verbose : bool, default=False
        Show a progress bar, if standard error is a terminal.

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
        check_integer("size", size, low=1, high=parts * _n_partitions(m, k))
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


def _n_partitions(m: int, k: int) -> int:
    """Return the number of partitions of m labels into parts of k and one of the remainder."""
    whole, rest = divmod(m, k)
    return factorial(m) // (factorial(k) ** whole * factorial(whole) * factorial(rest))
