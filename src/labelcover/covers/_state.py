"""A cover in the making, and the loop that completes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from labelcover._arguments import check_integer
from labelcover._hash_kernels import new_slots
from labelcover._progress import progress_bar
from labelcover.covers.branch_and_bound_kernels import is_chosen, remember_chosen
from labelcover.covers.cover import TABLE_LIMIT, Cover
from labelcover.covers.labelset_kernels import (
    count_new,
    labelset_ranks,
    mark_covered,
    unrank_labelsets,
)

BLOCK = 1 << 16


@dataclass
class State:
    """A cover in the making: what is chosen, what is covered, and the rules."""

    m: int
    k: int
    r: int
    size: int | None
    covered: NDArray[np.bool_]  # by rank; true outside the universe
    outside: NDArray[np.bool_]  # what was true at the start
    together: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    counts: NDArray[np.int64]
    rows: NDArray[np.int32] = field(init=False)
    keys: NDArray[np.uint64] = field(init=False)  # of the rows, for the hash table
    slots: NDArray[np.int64] = field(init=False)
    n_rows: int = 0
    remaining: int = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.empty((16, self.k), dtype=np.int32)
        self.keys = np.empty(16, dtype=np.uint64)
        self.slots = new_slots(16)
        self.remaining = int(self.covered.size - np.count_nonzero(self.covered))

    @property
    def constrained(self) -> bool:
        """Whether any two labels must be together or apart."""
        return bool(self.together.any() or self.apart.any())

    @property
    def imbalance(self) -> int:
        """Count of the most frequent label minus that of the least frequent."""
        return int(np.ptp(self.counts))

    @property
    def chosen(self) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.int32]]:
        """The chosen labelsets as the compiled search looks them up: slots, keys and rows."""
        return self.slots, self.keys, self.rows

    @property
    def done(self) -> bool:
        """Whether the size is reached or, without one, all is covered by at least one labelset."""
        if self.size is None:
            return self.n_rows > 0 and self.remaining == 0
        return self.n_rows >= self.size

    def add(self, labels: NDArray[np.int32]) -> None:
        """Choose a labelset."""
        if self.n_rows == len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self.keys = np.concatenate([self.keys, np.empty_like(self.keys)])
            self._fill_slots()
        self.rows[self.n_rows] = labels
        remember_chosen(self.chosen, self.n_rows, self.n_rows + 1)
        self.n_rows += 1
        self.counts[labels] += 1
        row = self.rows[self.n_rows - 1 : self.n_rows]
        self.remaining -= int(count_new(row, self.r, self.covered)[0])
        mark_covered(row, self.r, self.covered)

    def replace(self, index: int, labels: NDArray[np.int32]) -> None:
        """Put another labelset in the place of one."""
        self.counts[self.rows[index]] -= 1
        self.rows[index] = labels
        self.counts[labels] += 1
        self._fill_slots()
        self.covered[:] = self.outside
        mark_covered(self.rows[: self.n_rows], self.r, self.covered)
        self.remaining = int(self.covered.size - np.count_nonzero(self.covered))

    def _fill_slots(self) -> None:
        """Rebuild the hash table, with room for as many labelsets as `rows`."""
        self.slots = new_slots(len(self.rows))
        remember_chosen(self.chosen, 0, self.n_rows)

    def has(self, labels: NDArray[np.int32]) -> bool:
        """Whether a labelset is chosen already."""
        return bool(is_chosen(self.chosen, labels))


def start(
    n_labels: int,
    k: int,
    r: int,
    size: int | None,
    universe: ArrayLike | None = None,
    together: Iterable[tuple[int, int]] = (),
    apart: Iterable[tuple[int, int]] = (),
) -> State:
    """Return the empty cover of a checked problem."""
    m, k, r, size = check_problem(n_labels, k, r, size)
    if comb(m, r) > TABLE_LIMIT:
        raise ValueError(
            f"n_labels={m} with r={r} has {comb(m, r)} r-labelsets to cover, "
            f"at most {TABLE_LIMIT} are accepted."
        )
    united = _transitive(_pairs("together", together, m))
    parted = _pairs("apart", apart, m)
    clash = np.argwhere(united & parted)
    if len(clash):
        a, b = sorted(clash[0].tolist())
        raise ValueError(f"together and apart contradict each other for labels {a} and {b}.")
    largest = int(united.sum(axis=1).max()) + 1
    if largest > k:
        raise ValueError(f"together ties {largest} labels to each other, more than k={k}.")
    covered = _outside(universe, parted, m, r)
    return State(m, k, r, size, covered, covered.copy(), united, parted, np.zeros(m, np.int64))


def check_problem(
    n_labels: int, k: int, r: int, size: int | None
) -> tuple[int, int, int, int | None]:
    """Return the arguments as integers if 1 ≤ r ≤ k ≤ n_labels and size ≤ C(n_labels, k)."""
    m = check_integer("n_labels", n_labels, low=1)
    k = check_integer("k", k, low=1, high=m)
    r = check_integer("r", r, low=1, high=k)
    if size is not None:
        size = check_integer("size", size, low=1, high=comb(m, k))
    return m, k, r, size


def run(
    state: State,
    next_labelset: Callable[[], NDArray[np.int32]],
    method: str,
    verbose: bool = False,
) -> Cover:
    """Choose labelsets until the size is reached or, without one, all is covered."""
    total = state.remaining if state.size is None else state.size
    with progress_bar(f"cover ({method})", total, show=verbose) as bar:
        while not state.done:
            before = state.remaining
            state.add(next_labelset())
            bar.advance(before - state.remaining if state.size is None else 1)
    return finish(state, method)


def swap_to_balance(state: State, first: int = 0) -> None:
    """Swap labels in the rows from `first` on until the imbalance is at most 1.

    In all rows there is always a swap that helps (see `balco_cover`); in some of them there may
    be none, and the imbalance stays.
    """
    swapped = True
    while swapped and state.imbalance > 1:
        often, rarely = int(state.counts.argmax()), int(state.counts.argmin())
        swapped = False
        for index in range(state.n_rows - 1, first - 1, -1):
            row = state.rows[index]
            if often in row and rarely not in row:
                other = np.sort(np.where(row == often, rarely, row))
                if not state.has(other):
                    state.replace(index, other)
                    swapped = True
                    break


def finish(state: State, method: str) -> Cover:
    """Return the cover, after checking independently that it covers what it should."""
    cover = Cover(state.rows[: state.n_rows], state.m, method=method)
    covered = state.outside.copy()
    mark_covered(cover.labelsets, state.r, covered)
    if state.size is None and not covered.all():
        raise RuntimeError(f"{method}: {np.count_nonzero(~covered)} labelsets left uncovered")
    return cover


def nothing_left(state: State) -> ValueError:
    """Return the error for a universe that the candidates cannot cover, or a size too large."""
    if state.size is not None:
        return ValueError(
            f"size={state.size} labelsets were asked for, but the constraints and candidates "
            f"allow only {state.n_rows}."
        )
    rank = np.flatnonzero(~state.covered)[:1]
    missing = unrank_labelsets(rank, state.m, state.r)[0].tolist()
    return ValueError(
        f"the labelset {missing} of the universe lies in none of the labelsets that the "
        "constraints (together, apart) and candidates allow."
    )


def _pairs(name: str, pairs: Iterable[tuple[int, int]], m: int) -> NDArray[np.bool_]:
    table = np.zeros((m, m), dtype=bool)
    for pair in pairs:
        try:
            a, b = pair
        except (TypeError, ValueError):
            raise ValueError(f"{name} must hold pairs of labels, got {pair!r}.") from None
        a = check_integer(f"{name}: a label", a, low=0, high=m - 1)
        b = check_integer(f"{name}: a label", b, low=0, high=m - 1)
        if a == b:
            raise ValueError(f"{name} must hold pairs of different labels, got ({a}, {b}).")
        table[a, b] = table[b, a] = True
    return table


def _transitive(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not table.any():
        return table
    group = connected_components(table, directed=False)[1]
    joined = group[:, None] == group[None, :]
    np.fill_diagonal(joined, False)
    return joined


def _outside(universe, apart, m: int, r: int) -> NDArray[np.bool_]:
    """Return, by rank, which r-labelsets need not be covered."""
    if universe is not None:
        wanted = Cover(universe, m)
        if wanted.k != r:
            raise ValueError(f"universe must have r={r} labels in a row, got {wanted.k}.")
        outside = np.ones(comb(m, r), dtype=bool)
        outside[labelset_ranks(wanted.labelsets, r)] = False
        return outside
    outside = np.zeros(comb(m, r), dtype=bool)
    for begin in range(0, len(outside) if apart.any() else 0, BLOCK):
        ranks = np.arange(begin, min(begin + BLOCK, len(outside)))
        rows = unrank_labelsets(ranks, m, r)
        outside[ranks] = apart[rows[:, :, None], rows[:, None, :]].any(axis=(1, 2))
    return outside
