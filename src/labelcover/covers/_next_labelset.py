"""How a greedy cover chooses its next labelset.

There are two ways. For the costs of the paper, a branch and bound (`greedy_kernels`)
finds the exact arg-max without listing the k-labelsets. For a user-defined cost function or
user-defined candidates, all candidates are scanned, a block at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_choice
from labelcover.covers._greedy_kernels import first_labelset
from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import label_matrix, labelsets_in_order
from labelcover.covers._problem import BLOCK
from labelcover.covers._state import State, nothing_left

Cost = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], ArrayLike]

#: Weights of gain and balance in the worth of a labelset.
WORTHS = {"gain": (1, 0), "balance": (0, 1), "gain-balance": (1, 1)}
TIES = ("first", "random")


def labelset_search(
    state: State,
    cost: str | Cost = "gain",
    ties: str = "first",
    rng: np.random.RandomState | None = None,
) -> "ExactSearch | CandidateScan":
    """Return what finds the next labelset of the problem of `state` at a cost.

    The search knows the costs of the paper, all k-labelsets and one order; a scan all else.
    """
    check_choice("ties", ties, TIES)
    if state.problem.weights is not None and (callable(cost) or cost != "gain"):
        raise ValueError("weights do not go with a user-defined cost; leave out one.")
    if not callable(cost):
        gain, balance = WORTHS[check_choice("cost", cost, WORTHS)]
        if state.problem.candidates is None and len(state.problem.outside) == 1:
            return ExactSearch(state, gain, balance, ties, rng)
        cost = named_cost(gain, balance)
    return CandidateScan(state, cost, rng if ties == "random" else None)


class ExactSearch:
    """The exact best of all k-labelsets for the worths of the paper, by branch and bound.

    A labelset S is worth ``gain · |S*| − balance · imb(I ∪ S)``, where ``imb(I ∪ S)`` is the
    imbalance after adding S: the present one, one more if S holds a most frequent label, one
    less if S holds all of the least frequent ones. There are so four kinds of labelsets: with
    most frequent labels or without, with all least frequent ones or not. For a worth, each kind
    needs a gain of its own, and `first_labelset` finds the first labelset of a kind with it.
    """

    def __init__(self, state: State, gain: int, balance: int, ties: str, rng) -> None:
        self.state, self.gain, self.balance, self.ties, self.rng = state, gain, balance, ties, rng
        self.most = comb(state.k, state.r)
        self.names = np.arange(state.m)
        self.constrained = bool(state.constraints)
        # What the bounds of two kinds hold for: the greatest count, and the least frequent labels.
        self._highest: int | None = None
        self._least: tuple[int, tuple[int, ...]] | None = None
        self._forget_bounds()

    def next_labelset(self) -> NDArray[np.int32]:
        """Return the best labelset that is not chosen yet."""
        state = self.state
        covered = state.covered
        rules = [state.constraints.together, state.constraints.apart]
        if self.ties == "random":
            names = self.names = self.rng.permutation(state.m)
            self._forget_bounds()
            rules = [table[np.ix_(names, names)] for table in rules]
            if self.gain:
                covered = renamed(covered, names, state.r)
        kinds = self._kinds(state.counts[self.names])
        for target in self._targets():
            found = [self._first(covered, rules, kind, target) for kind in kinds]
            if any(found):
                return np.sort(self.names[min(filter(None, found))]).astype(np.int32)
        raise nothing_left(state)

    def _kinds(self, counts: NDArray[np.int64]) -> "list[_Kind]":
        """Return the kinds of labelsets that there are, with the bounds that hold for them."""
        labels = np.arange(len(counts))
        everything = _Kind(0, labels, labels[:0], *self._bounds)
        if not self.balance:
            return [everything]
        highest, lowest = int(counts.max()), int(counts.min())
        seldom = labels[counts < highest]
        if self._highest != highest:
            # More labels become most frequent until the greatest count grows; so far, bounds hold.
            self._highest = highest
            self._seldom_bounds = tuple(bound.copy() for bound in self._bounds)
        kinds = [
            _Kind(1, labels, labels[:0], *self._bounds),
            _Kind(0, seldom, labels[:0], *self._seldom_bounds),
        ]
        least = labels[counts == lowest]
        if len(least) <= self.state.k:
            key = (highest, tuple(least.tolist()))
            if self._least != key:
                self._least = key
                self._least_bounds = [self._no_bounds() for _ in range(2)]
            with_top, without_top = self._least_bounds
            kinds.append(_Kind(0, labels[counts > lowest], least, *with_top))
            if lowest < highest:
                rest = labels[(counts > lowest) & (counts < highest)]
                kinds.append(_Kind(-1, rest, least, *without_top))
        return kinds

    def _first(self, covered, rules, kind: "_Kind", target: int) -> list[int] | None:
        """Return the first labelset of a kind that is worth at least `target`, if there is one."""
        state = self.state
        needed = target + self.balance * (state.imbalance + kind.imbalance)
        if needed > (self.most if self.gain else 0):
            return None
        if len(kind.labels) + len(kind.required) < state.k:
            return None
        out = np.empty(state.k, dtype=np.int64)
        found = first_labelset(
            covered, state.k, state.r, self.gain > 0, max(needed, 0), kind.labels, kind.required,
            state.chosen, self.names, *rules, self.constrained, kind.bound_1, kind.bound_2, out,
        )  # fmt: skip
        return sorted(out.tolist()) if found else None

    def _targets(self) -> Iterator[int]:
        """Worths from the best conceivable down to the least acceptable."""
        imbalance = self.state.imbalance
        self.most = min(self.most, int(self._bounds[0].max()))
        best = self.gain * self.most - self.balance * max(imbalance - 1, 0)
        # Without balance, a labelset that covers nothing new is taken only as surplus.
        least = 1 if not self.balance and self.state.remaining and self.state.size is None else 0
        worst = least - self.balance * (imbalance + 1)
        yield from range(best, worst - 1, -1)

    def _forget_bounds(self) -> None:
        self._bounds = self._no_bounds()
        self._highest = self._least = None

    def _no_bounds(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        m = self.state.m
        return np.full(m, self.most, np.int32), np.full((m, m), self.most, np.int32)


@dataclass
class _Kind:
    """Labelsets that change the imbalance alike: labels they may hold, and those they must."""

    imbalance: int
    labels: NDArray[np.int64]
    required: NDArray[np.int64]
    bound_1: NDArray[np.int32]
    bound_2: NDArray[np.int32]


def renamed(covered: NDArray[np.bool_], names: NDArray[np.int64], r: int) -> NDArray[np.bool_]:
    """Return by rank which r-labelsets are covered, with label ``names[i]`` called ``i``."""
    named = names[unrank_labelsets(np.arange(len(covered)), len(names), r)]
    return covered[labelset_ranks(np.sort(named, axis=1).astype(np.int32), r)]


@dataclass
class CandidateScan:
    """The candidate of least cost, by looking at every one."""

    state: State
    cost: Cost
    random_ties: np.random.RandomState | None = None

    def next_labelset(self) -> NDArray[np.int32]:
        """Return the cheapest candidate that is not chosen yet."""
        best, winner, n_tied = np.inf, None, 0
        for block, weights in self._blocks():
            costs = self._costs(block, weights)
            low = costs.min(initial=np.inf)
            if low > best or low == np.inf:
                continue
            tied = np.flatnonzero(costs == low)
            if low < best:
                best, winner, n_tied = low, None, 0
            n_tied += len(tied)
            if self.random_ties is None:
                winner = block[tied[0]] if winner is None else winner
            elif self.random_ties.randint(n_tied) < len(tied):
                winner = block[tied[self.random_ties.randint(len(tied))]]
        if winner is None:
            raise nothing_left(self.state)
        return winner

    def _costs(self, block, weights) -> NDArray[np.float64]:
        state = self.state
        new = state.gains(block)
        if weights is not None:
            costs = np.divide(weights, new, out=np.full(len(new), np.inf), where=new > 0)
        else:
            costs = np.array(self.cost(block, new, state.counts.copy()), dtype=float)
            if costs.shape != (len(block),) or np.isnan(costs).any():
                raise ValueError(
                    f"cost must return one number for each of {len(block)} labelsets and no NaN, "
                    f"got shape {costs.shape}."
                )
        for i in np.flatnonzero(np.isfinite(costs) & (new == 0)):
            if state.has(block[i]):
                costs[i] = np.inf
        if state.constraints:
            costs[~state.constraints.allow(block)] = np.inf
        return costs

    def _blocks(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64] | None]]:
        candidates, weights = self.state.problem.candidates, self.state.problem.weights
        m, k = self.state.m, self.state.k
        count = comb(m, k) if candidates is None else len(candidates)
        for begin in range(0, count, BLOCK):
            end = min(begin + BLOCK, count)
            if candidates is None:
                yield labelsets_in_order(m, k, begin, end), None
            else:
                yield candidates[begin:end], None if weights is None else weights[begin:end]


def named_cost(gain: int, balance: int) -> Cost:
    """Return the cost function that is minus the worth used by the search."""

    def cost(labelsets, new, counts):
        after = counts + label_matrix(labelsets, len(counts))
        return balance * np.ptp(after, axis=1) - gain * new

    return cost
