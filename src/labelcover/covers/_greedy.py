"""The greedy set-covering framework (Algorithm 3), from nothing or from given labelsets.

The strategies of the paper are instances of it.
"""

from collections.abc import Iterable
from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_integer, check_random_state
from labelcover.covers._cover import Cover
from labelcover.covers._labelset_table import Labelsets
from labelcover.covers._next_labelset import Cost, labelset_search
from labelcover.covers._problem import Constraints, check_problem, except_parted, set_cover
from labelcover.covers._state import State, run


def greedy_cover(
    n_labels: int,
    k: int | None = None,
    r: int = 2,
    *,
    size: int | None = None,
    universe: Labelsets | None = None,
    candidates: Labelsets | None = None,
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
        With `candidates`, k is the most labels that one may have and can be left out; with
        `universe`, r is not used.
    size : int, optional
        Number of labelsets σ. By default as many as it takes to cover the universe (σ = ∞).
    universe : sequence of labelsets, optional
        What to cover, Ω: labelsets of one size or of several, an array of shape (n, r) or a list
        of lists. By default all r-labelsets, but for those that `apart` rules out.
    candidates : sequence of labelsets, optional
        The labelsets Σ to choose from, of one size or of several. By default all k-labelsets.
    weights : array-like of shape (n,), optional
        Positive weights w of the candidates: the cost is ``w / |S*|`` (Algorithm 3, line 6).
        Needs `candidates` and leaves `cost` at its default.
    cost : {"gain", "balance", "gain-balance"} or callable, default="gain"
        ``"gain"`` is INLAC's −|S*|, ``"balance"`` BALCO's imb(I ∪ S) and ``"gain-balance"``
        BALANCOR's imb(I ∪ S) − |S*|. A callable gets a block of labelsets ``(n, k)`` (rows of
        candidates with fewer than k labels end in −1), the number of labelsets of the universe
        |S*| that each would newly cover ``(n,)`` and the label counts so far ``(m,)``, and
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

    The weighted set cover of Algorithm 3 with candidates of different sizes:

    >>> candidates = [[0, 1, 2, 3], [0, 1], [2, 3, 4], [0, 4]]
    >>> cover = greedy_cover(
    ...     5, universe=[[0, 1], [2, 3], [4]], candidates=candidates, weights=[4, 1, 2, 1]
    ... )
    >>> [labels.tolist() for labels in cover]
    [[0, 1], [2, 3, 4]]
    """
    problem = set_cover(
        n_labels, k, r, size, universe=universe, candidates=candidates, weights=weights
    )
    rules = Constraints.of(problem, together, apart)
    if universe is None:
        problem = except_parted(problem, rules.apart)
    state = State(problem, rules)
    search = labelset_search(state, cost, ties, check_random_state(random_state))
    name = cost if isinstance(cost, str) else getattr(cost, "__name__", "user-defined cost")
    method = f"greedy, {name if weights is None else 'weight / gain'}"
    return run(state, search.next_labelset, method=method, verbose=verbose)


def complete_cover(
    start: Cover | Labelsets,
    r: int = 2,
    *,
    k: int | None = None,
    n_labels: int | None = None,
    size: int | None = None,
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return the labelsets of `start` and more, as INLAC would add them, that cover everything.

    The paper proposes to take a known matrix, such as a constant-weight code, as the starting
    point for one that covers all combinations of labels, and leaves that to future work
    (Section 2.2).

    Parameters
    ----------
    start : Cover or sequence of labelsets
        What to begin with, of one size or of several.
    r : int, default=2
        Labels in each combination to cover.
    k : int, optional
        Labels in each labelset that is added, at least `r`. By default as many as in the largest
        of `start`.
    n_labels : int, optional
        Number of labels m. Needed if `start` is no `Cover`.
    size : int, optional
        Number of labelsets σ with those of `start`. By default as many as it takes.
    ties, random_state, verbose
        As for `inlac_cover`.

    Returns
    -------
    Cover
        The labelsets of `start` in their order, then the others in the order they were chosen.
        None of the latter is the same as another one.

    Examples
    --------
    Six of the seven lines of the Fano plane miss three pairs of labels; one labelset more covers
    them:

    >>> from labelcover.covers import Cover, complete_cover
    >>> code = Cover([[0, 2, 4], [0, 1, 5], [1, 2, 6], [0, 3, 6], [2, 3, 5], [4, 5, 6]], 7)
    >>> code.uncovered(2).tolist()
    [[1, 3], [1, 4], [3, 4]]
    >>> complete = complete_cover(code)
    >>> len(complete), complete.coverage(2)
    (7, 1.0)
    """
    if not isinstance(start, Cover):
        start = Cover(start, check_integer("n_labels", n_labels, low=1))
    elif n_labels is not None and n_labels != start.n_labels:
        raise ValueError(
            f"n_labels must be {start.n_labels}, that of start, or left out, got {n_labels!r}."
        )
    m, k, r, _ = check_problem(start.n_labels, start.k if k is None else k, r, None)
    if size is not None:
        chosen = len({tuple(labels.tolist()) for labels in start if len(labels) == k})
        most = len(start) + comb(m, k) - chosen
        size = check_integer("size", size, low=len(start), high=most)
    rng = check_random_state(random_state)
    problem = replace(set_cover(m, k, r, None), size=size)
    state = State(problem, Constraints.of(problem))
    return completed(start, state, ties=ties, rng=rng, method="completed", verbose=verbose)


def completed(
    given: Iterable[NDArray[np.int32]],
    state: State,
    *,
    method: str,
    ties: str = "first",
    rng=None,
    verbose: bool = False,
) -> Cover:
    """Return given labelsets with those of greatest gain that make the problem of `state` done."""
    search = labelset_search(state, "gain", ties, rng)
    state.take(given)
    return run(state, search.next_labelset, method=method, verbose=verbose)
