"""How a greedy cover chooses its next labelset.

There are two ways. For the costs of the paper, a branch and bound (`branch_and_bound_kernels`)
finds the exact arg-max without listing the k-labelsets. For a user-defined cost function or
user-defined candidates, all candidates are scanned, a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_choice
from labelcover.covers._labelset_table import label_matrix
from labelcover.covers._problem import BLOCK
from labelcover.covers._state import State, nothing_left
from labelcover.covers.branch_and_bound_kernels import first_labelset
from labelcover.covers.labelset_kernels import rename_table, take_combinations

Cost = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], ArrayLike]

#: Weights of gain and balance in the worth of a labelset.
WORTHS = {"gain": (1, 0), "balance": (0, 1), "gain-balance": (1, 1)}
TIES = ("first", "random")


def chooser_for(
    state: State,
    cost: str | Cost = "gain",
    ties: str = "first",
    rng: np.random.RandomState | None = None,
) -> SearchChooser | ScanChooser:
    """Return what finds the next labelset of the problem of `state` at a cost.

    The search knows the costs of the paper, all k-labelsets and one order; a scan all else.
    """
    check_choice("ties", ties, TIES)
    if state.problem.weights is not None and (callable(cost) or cost != "gain"):
        raise ValueError("weights do not go with a user-defined cost; leave out one.")
    if not callable(cost):
        gain, balance = WORTHS[check_choice("cost", cost, WORTHS)]
        if state.problem.candidates is None and len(state.problem.outside) == 1:
            return SearchChooser(state, gain, balance, ties, rng)
        cost = named_cost(gain, balance)
    return ScanChooser(state, cost, rng if ties == "random" else None)


class SearchChooser:
    """The exact best of all k-labelsets for the worths of the paper, by branch and bound."""

    def __init__(self, state: State, gain: int, balance: int, ties: str, rng) -> None:
        self.state, self.gain, self.balance, self.ties, self.rng = state, gain, balance, ties, rng
        self.most = comb(state.k, state.r)
        self.names = np.arange(state.m)
        self.constrained = bool(state.constraints)
        self._forget_bounds()

    def next_labelset(self) -> NDArray[np.int32]:
        """Return the best labelset that is not chosen yet."""
        state = self.state
        covered, counts = state.covered, state.counts
        together, apart = state.constraints.together, state.constraints.apart
        if self.ties == "random":
            self.names = self.rng.permutation(state.m)
            self._forget_bounds()
            covered = rename_table(covered, self.names, state.r) if self.gain else covered
            counts = counts[self.names]
            together = together[np.ix_(self.names, self.names)]
            apart = apart[np.ix_(self.names, self.names)]
        found = np.empty(state.k, dtype=np.int64)
        for target in self._targets():
            if first_labelset(
                covered, counts, state.k, state.r, self.gain, self.balance, target,
                state.chosen, self.names, together, apart, self.constrained,
                self.bound_1, self.bound_2, found,
            ):  # fmt: skip
                return np.sort(self.names[found]).astype(np.int32)
            if self.gain:
                self.most = min(self.most, int(self.bound_1.max()))
        raise nothing_left(state)

    def _targets(self) -> Iterator[int]:
        """Worths from the best conceivable down to the least acceptable."""
        imbalance = self.state.imbalance
        best = self.gain * self.most - self.balance * max(imbalance - 1, 0)
        # Without balance, a labelset that covers nothing new is taken only as surplus.
        least = 1 if not self.balance and self.state.remaining and self.state.size is None else 0
        worst = least - self.balance * (imbalance + 1)
        yield from range(best, worst - 1, -1)

    def _forget_bounds(self) -> None:
        m = self.state.m
        self.bound_1 = np.full(m, self.most, dtype=np.int32)
        self.bound_2 = np.full((m, m), self.most, dtype=np.int32)


@dataclass
class ScanChooser:
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
        if candidates is None:
            positions = np.arange(self.state.k)
            while positions[0] >= 0:
                yield take_combinations(positions, self.state.m, BLOCK), None
            return
        for begin in range(0, len(candidates), BLOCK):
            part = slice(begin, begin + BLOCK)
            yield candidates[part], None if weights is None else weights[part]


def named_cost(gain: int, balance: int) -> Cost:
    """Return the cost function that is minus the worth used by the search."""

    def cost(labelsets, new, counts):
        after = counts + label_matrix(labelsets, len(counts))
        return balance * np.ptp(after, axis=1) - gain * new

    return cost
