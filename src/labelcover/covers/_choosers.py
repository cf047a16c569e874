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
from labelcover.covers._state import BLOCK, State, nothing_left
from labelcover.covers.branch_and_bound_kernels import first_labelset
from labelcover.covers.cover import Cover
from labelcover.covers.labelset_kernels import count_new, rename_table, take_combinations

Cost = Callable[[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]], ArrayLike]

#: Weights of gain and balance in the worth of a labelset.
WORTHS = {"gain": (1, 0), "balance": (0, 1), "gain-balance": (1, 1)}
TIES = ("first", "random")


class SearchChooser:
    """The exact best of all k-labelsets for the worths of the paper, by branch and bound."""

    def __init__(self, state: State, gain: int, balance: int, ties: str, rng) -> None:
        self.state, self.gain, self.balance, self.ties, self.rng = state, gain, balance, ties, rng
        self.most = comb(state.k, state.r)
        self.names = np.arange(state.m)
        self._forget_bounds()

    def next_labelset(self) -> NDArray[np.int32]:
        """Return the best labelset that is not chosen yet."""
        state = self.state
        covered, counts = state.covered, state.counts
        together, apart = state.together, state.apart
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
                state.chosen, self.names, together, apart, state.constrained,
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
    candidates: NDArray[np.int32] | None
    cost: Cost
    weights: NDArray[np.float64] | None
    random_ties: np.random.RandomState | None

    @classmethod
    def make(cls, state: State, candidates, weights, cost, ties, rng) -> ScanChooser:
        """Check user-defined candidates, weights and cost."""
        rows = None
        if candidates is not None:
            rows = Cover(candidates, state.m).labelsets
            if rows.shape[1] != state.k:
                raise ValueError(
                    f"candidates must have k={state.k} labels in a row, got {rows.shape[1]}."
                )
        if weights is not None:
            weights = np.asarray(weights, dtype=float)
            if cost != "gain":
                raise ValueError("weights do not go with a user-defined cost; leave out one.")
            if rows is None or weights.shape != (len(rows),) or not (weights > 0).all():
                raise ValueError(
                    "weights must hold one positive number for each candidate, "
                    f"got shape {weights.shape}."
                )
        function = (
            cost if callable(cost) else named_cost(*WORTHS[check_choice("cost", cost, WORTHS)])
        )
        return cls(state, rows, function, weights, rng if ties == "random" else None)

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
        new = count_new(block, state.r, state.covered)
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
        if state.constrained:
            costs[~_allowed(block, state)] = np.inf
        return costs

    def _blocks(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float64] | None]]:
        if self.candidates is None:
            positions = np.arange(self.state.k)
            while positions[0] >= 0:
                yield take_combinations(positions, self.state.m, BLOCK), None
            return
        for begin in range(0, len(self.candidates), BLOCK):
            part = slice(begin, begin + BLOCK)
            yield self.candidates[part], None if self.weights is None else self.weights[part]


def named_cost(gain: int, balance: int) -> Cost:
    """Return the cost function that is minus the worth used by the search."""

    def cost(labelsets, new, counts):
        after = np.tile(counts, (len(labelsets), 1))
        np.put_along_axis(after, labelsets, np.take_along_axis(after, labelsets, 1) + 1, axis=1)
        return balance * np.ptp(after, axis=1) - gain * new

    return cost


def _allowed(block, state: State) -> NDArray[np.bool_]:
    member = np.zeros((len(block), state.m), dtype=np.int64)
    np.put_along_axis(member, block.astype(np.intp), 1, axis=1)
    clash = (member @ state.apart) * member
    lonely = (member @ state.together) * (1 - member)
    return np.asarray((clash + lonely).sum(axis=1) == 0)
