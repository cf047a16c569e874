"""A cover in the making, and the loop that completes it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labelcover._progress import progress_bar
from labelcover.covers._cover import Cover
from labelcover.covers._greedy_kernels import is_chosen, remember_chosen
from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import (
    NO_LABEL,
    labelset_rows,
    mark_covered,
    rows_of_ranks,
)
from labelcover.covers._problem import (
    Constraints,
    SetCover,
    cannot_be_covered,
    check_problem,
    set_cover,
)


@dataclass
class State:
    """A cover in the making: what is chosen, what is covered, and the rules."""

    problem: SetCover
    constraints: Constraints
    covered_by_order: dict[int, NDArray[np.bool_]] = field(init=False)  # true outside Ω
    counts: NDArray[np.int64] = field(init=False)
    rows: NDArray[np.int32] = field(init=False)
    slots: NDArray[np.int64] = field(init=False)  # a hash table of the rows
    n_rows: int = 0
    remaining: int = field(init=False)

    def __post_init__(self) -> None:
        self.covered_by_order = {r: free.copy() for r, free in self.problem.outside.items()}
        self.counts = np.zeros(self.m, np.int64)
        self.rows = np.empty((16, self.k), dtype=np.int32)
        self._fill_slots()
        self._count_remaining()

    @property
    def m(self) -> int:
        """Number of labels."""
        return self.problem.m

    @property
    def k(self) -> int:
        """Number of labels in a labelset, at most."""
        return self.problem.k

    @property
    def size(self) -> int | None:
        """Number of labelsets asked for."""
        return self.problem.size

    @property
    def r(self) -> int:
        """The order of what is to be covered, the lowest if there are several."""
        return next(iter(self.covered_by_order))

    @property
    def covered(self) -> NDArray[np.bool_]:
        """By rank, which r-labelsets are covered or need no cover."""
        return self.covered_by_order[self.r]

    @property
    def imbalance(self) -> int:
        """Count of the most frequent label minus that of the least frequent."""
        return int(np.ptp(self.counts))

    @property
    def chosen(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The chosen labelsets as the compiled search looks them up: slots and rows."""
        return self.slots, self.rows

    @property
    def done(self) -> bool:
        """Whether the size is reached or, without one, all is covered by at least one labelset."""
        if self.size is None:
            return self.n_rows > 0 and self.remaining == 0
        return self.n_rows >= self.size

    def take(self, given: Iterable[NDArray[np.int32]]) -> None:
        """Begin with labelsets of any sizes."""
        labelsets = list(given)
        self.rows = np.empty((16, max([self.k, *map(len, labelsets)])), dtype=np.int32)
        for labels in labelsets:
            self.add(labels)

    def add(self, labels: NDArray[np.int32]) -> None:
        """Choose a labelset: its labels, filled up with −1 or not."""
        if self.n_rows == len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self._fill_slots()
        self.rows[self.n_rows, : len(labels)] = labels
        self.rows[self.n_rows, len(labels) :] = NO_LABEL
        remember_chosen(self.chosen, self.n_rows, self.n_rows + 1)
        self.n_rows += 1
        self._cover(labels)

    def replace(self, index: int, labels: NDArray[np.int32]) -> None:
        """Put another labelset in the place of one; all must have k labels."""
        self.counts[self.rows[index]] -= 1
        self.rows[index] = labels
        self.counts[labels] += 1
        self._fill_slots()
        for r, covered in self.covered_by_order.items():
            covered[:] = self.problem.outside[r]
            mark_covered(self.rows[: self.n_rows], r, covered)
        self._count_remaining()

    def gains(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return how many labelsets not covered yet each row holds."""
        gains = np.zeros(len(rows), dtype=np.int64)
        for r, covered in self.covered_by_order.items():
            new = rows_of_ranks(rows, r)[~covered[labelset_ranks(rows, r)]]
            gains += np.bincount(new, minlength=len(rows))
        return gains

    def has(self, labels: NDArray[np.int32]) -> bool:
        """Whether a labelset, filled up to k places, is chosen already."""
        return bool(is_chosen(self.chosen, labels))

    def _cover(self, labels: NDArray[np.int32]) -> None:
        self.counts[labels[labels >= 0]] += 1
        row = np.ascontiguousarray(labels)[None]
        for r, covered in self.covered_by_order.items():
            ranks = labelset_ranks(row, r)
            self.remaining -= int(np.count_nonzero(~covered[ranks]))
            covered[ranks] = True

    def _count_remaining(self) -> None:
        self.remaining = sum(
            int(covered.size - np.count_nonzero(covered))
            for covered in self.covered_by_order.values()
        )

    def _fill_slots(self) -> None:
        """Rebuild the hash table, with room for as many labelsets as `rows`."""
        self.slots = np.full(2 * len(self.rows), -1, dtype=np.int64)
        remember_chosen(self.chosen, 0, self.n_rows)


def start(n_labels: int, k: int, r: int, size: int | None) -> State:
    """Return the empty cover of a checked problem: all r-labelsets by all k-labelsets."""
    problem = set_cover(*check_problem(n_labels, k, r, size))
    return State(problem, Constraints.of(problem))


def run(
    state: State,
    next_labelset: Callable[[], NDArray[np.int32]],
    method: str,
    verbose: bool = False,
) -> Cover:
    """Choose labelsets until the size is reached or, without one, all is covered; check that."""
    total = state.remaining if state.size is None else state.size - state.n_rows
    with progress_bar(f"cover ({method})", total, show=verbose) as bar:
        while not state.done:
            before = state.remaining
            state.add(next_labelset())
            bar.advance(before - state.remaining if state.size is None else 1)
    cover = Cover(labelset_rows(state.rows[: state.n_rows]), state.m, method=method)
    if state.size is None:
        # Checked independently: by the labelsets alone.
        covered = {r: free.copy() for r, free in state.problem.outside.items()}
        for r, table in covered.items():
            mark_covered(cover.labelsets, r, table)
        missing = sum(np.count_nonzero(~table) for table in covered.values())
        if missing:
            raise RuntimeError(f"{method}: {missing} labelsets left uncovered")
    return cover


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


def nothing_left(state: State) -> ValueError:
    """Return the error for a universe that the candidates cannot cover, or a size too large."""
    if state.size is not None:
        return ValueError(
            f"size={state.size} labelsets were asked for, but the constraints and candidates "
            f"allow only {state.n_rows}."
        )
    for r, covered in state.covered_by_order.items():
        if not covered.all():
            missing = np.flatnonzero(~covered)[:1]
            return cannot_be_covered(unrank_labelsets(missing, state.m, r)[0])
    return ValueError(
        f"no cover exists: the constraints (together, apart) and candidates allow no labelset of "
        f"k={state.k} out of {state.m} labels."
    )
