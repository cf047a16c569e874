"""The greedy set-covering framework (Algorithm 3): the strategies of the paper are instances."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from labelcover._arguments import check_choice, check_random_state
from labelcover.covers._choosers import TIES, WORTHS, Cost, ScanChooser, SearchChooser
from labelcover.covers._state import run, start
from labelcover.covers.cover import Cover


def greedy_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    universe: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    cost: str | Cost = "gain",
    together: Iterable[tuple[int, int]] = (),
    apart: Iterable[tuple[int, int]] = (),
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return a cover built greedily: at each step the labelset of least cost (Algorithm 3).

    Parameters
    ----------
    n_labels, k, r : int
        Labels m, labels in a labelset, and labels in each combination to cover: r ≤ k ≤ m.
    size : int, optional
        Number of labelsets σ. By default as many as it takes to cover the universe (σ = ∞).
    universe : array-like of shape (n, r), optional
        The r-labelsets Ω to cover. By default all, but for those that `apart` rules out.
    candidates : array-like of shape (n, k), optional
        The labelsets Σ to choose from. By default all k-labelsets.
    weights : array-like of shape (n,), optional
        Positive weights w of the candidates: the cost is ``w / |S*|`` (Algorithm 3, line 6).
        Needs `candidates` and leaves `cost` at its default.
    cost : {"gain", "balance", "gain-balance"} or callable, default="gain"
        ``"gain"`` is INLAC's −|S*|, ``"balance"`` BALCO's imb(I ∪ S) and ``"gain-balance"``
        BALANCOR's imb(I ∪ S) − |S*|. A callable gets a block of labelsets ``(n, k)``, the number
        of uncovered r-labelsets |S*| of each ``(n,)`` and the label counts so far ``(m,)``, and
        returns costs ``(n,)``; infinity excludes a labelset. It is asked about every candidate
        at every step.
    together, apart : iterable of pairs of labels
        Labels that must always, or must never, be in the same labelset.
    ties : {"first", "random"}, default="first"
        Among equal costs take the lexicographically first labelset, or the first in an order of
        the labels redrawn at every step (with `candidates` or a callable: any, uniformly).
    random_state : int, RandomState or None
        Seed for ``ties="random"``.
    verbose : bool, default=False
        Show a progress bar, if standard error is a terminal.

    Returns
    -------
    Cover
        Labelsets in the order they were chosen, all different.

    Raises
    ------
    ValueError
        If an argument is out of range, or the candidates cannot cover the universe.

    Examples
    --------
    Cover only three pairs, with labels 0 and 1 in every labelset together:

    >>> from labelcover.covers import greedy_cover
    >>> pairs = [(0, 2), (1, 3), (4, 5)]
    >>> greedy_cover(6, 4, universe=pairs, together=[(0, 1)]).labelsets.tolist()
    [[0, 1, 2, 3], [0, 1, 4, 5]]
    """
    state = start(n_labels, k, r, size, universe, together, apart)
    check_choice("ties", ties, TIES)
    rng = check_random_state(random_state)
    chooser: SearchChooser | ScanChooser
    if callable(cost) or candidates is not None:
        chooser = ScanChooser.make(state, candidates, weights, cost, ties, rng)
    elif weights is not None:
        raise ValueError("weights needs candidates, one weight for each; got candidates=None.")
    else:
        gain, balance = WORTHS[check_choice("cost", cost, WORTHS)]
        chooser = SearchChooser(state, gain, balance, ties, rng)
    method = f"greedy, {_name(cost, weights)}"
    return run(state, chooser.next_labelset, method=method, verbose=verbose)


def _name(cost: str | Cost, weights) -> str:
    if weights is not None:
        return "weight / gain"
    return cost if isinstance(cost, str) else getattr(cost, "__name__", "user-defined cost")
