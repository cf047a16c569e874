"""The greedy set-covering framework (Algorithm 3), from nothing or from given labelsets.

The strategies of the paper are instances of it. There are two ways to find the next labelset. For
the costs of the paper, a branch and bound (`greedy_kernels`) finds the exact arg-max without
listing the k-labelsets. For a user-defined cost function or user-defined candidates, all
candidates are scanned, a block at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_choice, check_integer, check_random_state
from labelcover._table_numbers import blocks
from labelcover.covers._cover import Cover
from labelcover.covers._greedy_kernels import Kind, Task, first_labelset
from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import Labelsets, label_matrix, labelsets_in_order
from labelcover.covers._problem import (
    BLOCK,
    Pairs,
    SetCover,
    State,
    check_problem,
    nothing_left,
    run,
    set_cover,
)

Cost = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], ArrayLike]
Random = np.random.RandomState | None

#: Weights of gain and balance in the worth of a labelset.
WORTHS = {"gain": (1, 0), "balance": (0, 1), "gain-balance": (1, 1)}
TIES = ("first", "random")


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
    together: Pairs = (),
    apart: Pairs = (),
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
    random_state, verbose
        As for `inlac_cover`.

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
        n_labels,
        k,
        r,
        size,
        universe=universe,
        candidates=candidates,
        weights=weights,
        together=together,
        apart=apart,
    )
    name = cost if isinstance(cost, str) else getattr(cost, "__name__", "user-defined cost")
    method = f"greedy, {name if weights is None else 'weight / gain'}"
    rng = check_random_state(random_state)
    return completed(State(problem), cost, method=method, ties=ties, rng=rng, verbose=verbose)


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
    state = State(replace(set_cover(m, k, r, None), size=size), start)
    return completed(state, method="completed", ties=ties, rng=rng, verbose=verbose)


def completed(
    state: State, cost: str | Cost = "gain", *, method: str, ties="first", rng=None, verbose=False
) -> Cover:
    """Return the labelsets of `state` and those of least cost that solve its problem."""
    return run(state, labelset_search(state, cost, ties, rng), method, verbose)


def labelset_search(
    state: State, cost: str | Cost = "gain", ties: str = "first", rng: Random = None
) -> Callable[[], NDArray[np.int32]]:
    """Return what finds the next labelset of the problem of `state` at a cost.

    The search knows the costs of the paper, all k-labelsets and one order; a scan all else.
    """
    rng = rng if check_choice("ties", ties, TIES) == "random" else None
    if state.problem.weights is not None and (callable(cost) or cost != "gain"):
        raise ValueError("weights do not go with a user-defined cost; leave out one.")
    if not callable(cost):
        gain, balance = WORTHS[check_choice("cost", cost, WORTHS)]
        if state.problem.candidates is None and len(state.covered) == 1:
            return ExactSearch(state, gain, balance, rng).next_labelset

        def cost(labelsets, new, counts):
            after = counts + label_matrix(labelsets, len(counts))
            return balance * np.ptp(after, axis=1) - gain * new

    return partial(cheapest_candidate, state, cost, rng)


class ExactSearch:
    """The exact best of all k-labelsets for the worths of the paper, by branch and bound.

    A labelset S is worth ``gain · |S*| − balance · imb(I ∪ S)``, where ``imb(I ∪ S)`` is the
    imbalance after adding S: the present one, one more if S holds a most frequent label, one
    less if S holds all of the least frequent ones. There are so four kinds of labelsets: with
    most frequent labels or without, with all least frequent ones or not. For a worth, each kind
    needs a gain of its own, and `first_labelset` finds the first labelset of a kind with it.
    """

    def __init__(self, state: State, gain: int, balance: int, rng: Random) -> None:
        self.state, self.gain, self.balance, self.rng = state, gain, balance, rng
        (self.r,) = state.covered
        self.most = comb(state.k, self.r)
        self.names = np.arange(state.m)
        self._kept: dict[str, tuple[Any, Any]] = {}

    def next_labelset(self) -> NDArray[np.int32]:
        """Return the best labelset that is not chosen yet, the first of equals."""
        state, problem = self.state, self.state.problem
        covered, rules = state.covered[self.r], [problem.together, problem.apart]
        if self.rng is not None:
            names = self.names = self.rng.permutation(state.m)
            self._kept = {}
            rules = [table[np.ix_(names, names)] for table in rules]
            if self.gain:
                covered = renamed(covered, names, self.r)
        how = covered, state.k, self.r, self.gain > 0, state.chosen, self.names
        task = Task(*how, problem.constrained, *rules)
        kinds = self._kinds(state.counts[self.names])
        for target in self._targets():
            found = [self._first(task, kind, target) for kind in kinds]
            if any(found):
                return np.sort(self.names[min(filter(None, found))]).astype(np.int32)
        raise nothing_left(state)

    def _kinds(self, counts: NDArray[np.int64]) -> list[Kind]:
        """Return the kinds of labelsets that there are, with the bounds that hold for them."""
        labels = np.arange(len(counts))
        everything = self._bounds("everything")
        if not self.balance:
            return [Kind(0, labels, labels[:0], everything)]
        highest, lowest = int(counts.max()), int(counts.min())
        imbalance = highest - lowest
        # More labels become most frequent until the greatest count grows; so far, bounds hold.
        seldom = self._bounds("without most frequent", highest, everything)
        kinds = [
            Kind(imbalance + 1, labels, labels[:0], everything),
            Kind(imbalance, labels[counts < highest], labels[:0], seldom),
        ]
        least = labels[counts == lowest]
        if len(least) <= self.state.k:
            key = highest, tuple(least.tolist())
            bounds = self._bounds("with all least frequent", key)
            kinds.append(Kind(imbalance, labels[counts > lowest], least, bounds))
            if lowest < highest:
                rest = labels[(counts > lowest) & (counts < highest)]
                kinds.append(Kind(imbalance - 1, rest, least, self._bounds("with these only", key)))
        return kinds

    def _bounds(self, kind: str, key: Any = None, known: Any = None) -> NDArray[np.int32]:
        """Return the bounds of a kind, kept until its key changes; at first those known, if any."""
        if kind not in self._kept or self._kept[kind][0] != key:
            fresh = np.full(self.state.m, self.most, np.int32) if known is None else known.copy()
            self._kept[kind] = key, fresh
        return self._kept[kind][1]

    def _first(self, task: Task, kind: Kind, target: int) -> list[int]:
        """Return the first labelset of a kind that is worth at least `target`, if there is one."""
        needed = target + self.balance * kind.imbalance
        too_few = len(kind.labels) + len(kind.required) < self.state.k
        if too_few or needed > (self.most if self.gain else 0):
            return []
        return sorted(first_labelset(task, max(needed, 0), kind).tolist())

    def _targets(self) -> range:
        """Worths from the best conceivable down to the least acceptable."""
        imbalance = self.state.imbalance
        self.most = min(self.most, int(self._bounds("everything").max()))
        best = self.gain * self.most - self.balance * max(imbalance - 1, 0)
        # Without balance, a labelset that covers nothing new is taken only as surplus.
        least = 1 if not self.balance and self.state.remaining and self.state.size is None else 0
        worst = least - self.balance * (imbalance + 1)
        return range(best, worst - 1, -1)


def renamed(covered: NDArray[np.bool_], names: NDArray[np.int64], r: int) -> NDArray[np.bool_]:
    """Return by rank which r-labelsets are covered, with label ``names[i]`` called ``i``."""
    named = names[unrank_labelsets(np.arange(len(covered)), len(names), r)]
    return covered[labelset_ranks(np.sort(named, axis=1).astype(np.int32), r)]


def cheapest_candidate(state: State, cost: Cost, rng: Random) -> NDArray[np.int32]:
    """Return the candidate of least cost that is not chosen yet, by looking at every one.

    Of equals the first, or any if there is a random state.
    """
    best, winner, n_tied = np.inf, None, 0
    for rows, weights in _candidate_blocks(state.problem):
        costs = _costs(state, cost, rows, weights)
        low = costs.min(initial=np.inf)
        if low > best or low == np.inf:
            continue
        tied = np.flatnonzero(costs == low)
        if low < best:
            best, winner, n_tied = low, None, 0
        n_tied += len(tied)
        if rng is None:
            winner = rows[tied[0]] if winner is None else winner
        elif rng.randint(n_tied) < len(tied):
            winner = rows[tied[rng.randint(len(tied))]]
    if winner is None:
        raise nothing_left(state)
    return winner


def _costs(state: State, cost: Cost, rows, weights) -> NDArray[np.float64]:
    """Return the costs of candidates, infinite for those that are chosen or not allowed."""
    new = state.gains(rows)
    if weights is not None:
        costs = np.divide(weights, new, out=np.full(len(new), np.inf), where=new > 0)
    else:
        costs = np.array(cost(rows, new, state.counts.copy()), dtype=float)
        if costs.shape != (len(rows),) or np.isnan(costs).any():
            raise ValueError(
                f"cost must return one number for each of {len(rows)} labelsets and no NaN, "
                f"got shape {costs.shape}."
            )
    covered = np.flatnonzero(new == 0)
    costs[covered[state.has(rows[covered])]] = np.inf
    if state.problem.constrained:
        costs[~state.problem.allowed(rows)] = np.inf
    return costs


def _candidate_blocks(problem: SetCover) -> Iterator[tuple[NDArray[np.int32], Any]]:
    """Yield the candidates with their weights, if they have any."""
    rows, weights = problem.candidates, problem.weights
    for block in blocks(comb(problem.m, problem.k) if rows is None else len(rows), BLOCK):
        if rows is None:
            yield labelsets_in_order(problem.m, problem.k, block.start, block.stop), None
        else:
            yield rows[block], None if weights is None else weights[block]
