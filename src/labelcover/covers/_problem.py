"""The set cover problem of Section 3, checked, and a cover in the making that solves it.

What to cover (Ω) is kept by order: for every number r of labels in a labelset to cover, a table
by rank says which r-labelsets need no cover. Usually there is one order and nothing is excepted.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from labelcover._arguments import check_integer
from labelcover._progress import progress_bar
from labelcover._table_numbers import blocks
from labelcover.covers._cover import TABLE_LIMIT, Cover
from labelcover.covers._labelset_kernels import binomial_table, labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import (
    NO_LABEL,
    Labelsets,
    label_matrix,
    labelset_rows,
    marked,
    rows_of_ranks,
)
from labelcover.covers.bounds import check_order

Pairs = Iterable[tuple[int, int]]
Tables = dict[int, NDArray[np.bool_]]

BLOCK = 1 << 16


@dataclass(frozen=True)
class SetCover:
    """A set cover problem."""

    m: int
    k: int  # labels in a labelset, at most
    size: int | None  # number of labelsets σ; None for as many as it takes
    outside: Tables  # for each order r, by rank, which r-labelsets need no cover
    together: NDArray[np.bool_]  # which two labels must be in the same labelset, (m, m)
    apart: NDArray[np.bool_]  # which two must not
    # The labelsets Σ to choose from, all different, rows filled up with −1; None for all of k.
    candidates: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None  # one for each candidate; None for equal ones

    @cached_property
    def constrained(self) -> bool:
        """Whether any labels must be together or apart."""
        return bool(self.together.any() or self.apart.any())

    def allowed(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which rows of a table of labelsets keep the constraints."""
        member = label_matrix(rows, self.m).astype(np.int64)
        clash = (member @ self.apart) * member
        lonely = (member @ self.together) * (1 - member)
        return np.asarray((clash + lonely).sum(axis=1) == 0)

    def covered_by(self, rows: NDArray[np.int32]) -> Tables:
        """Return for each order, by rank, what some row holds or needs no cover."""
        return {r: marked(rows, r, free.copy()) for r, free in self.outside.items()}


def check_problem(n_labels, k, r, size) -> tuple[int, int, int, int | None]:
    """Return the arguments as integers if 1 ≤ r ≤ k ≤ n_labels and size ≤ C(n_labels, k)."""
    m, k, r = check_order(n_labels, k, r)
    if size is not None:
        size = check_integer("size", size, low=1, high=comb(m, k))
    return m, k, r, size


def set_cover(
    n_labels: int,
    k: int | None,
    r: int,
    size: int | None,
    *,
    universe: Labelsets | None = None,
    candidates: Labelsets | None = None,
    weights: ArrayLike | None = None,
    together: Pairs = (),
    apart: Pairs = (),
) -> SetCover:
    """Return the problem that the arguments of a strategy describe.

    With `universe`, `r` is not looked at; without, labelsets of two labels that are apart need no
    cover. With `candidates`, `k` is the most labels that one may have, or None.
    """
    m = check_integer("n_labels", n_labels, low=1)
    rows, costs = None, None
    if candidates is not None:
        rows, costs, k = _candidates(candidates, weights, m, k)
    elif weights is not None:
        raise ValueError("weights needs candidates, one weight for each; got candidates=None.")
    elif k is None:
        raise ValueError("k must be an integer unless candidates are given, got None.")
    else:
        k = check_integer("k", k, low=1, high=m)
    if universe is not None:
        outside = _around(Cover(universe, m))
    else:
        r = check_integer("r", r, low=1, high=k)
        outside = {r: _table(m, r, False)}
    if size is not None:
        high = comb(m, k) if rows is None else len(rows)
        size = check_integer("size", size, low=1, high=high)
    united, parted = _constraints(together, apart, m, k)
    if universe is None and parted.any():
        for block in blocks(comb(m, r), BLOCK):
            labels = unrank_labelsets(np.arange(block.start, block.stop), m, r)
            outside[r][block] = parted[labels[:, :, None], labels[:, None, :]].any(axis=(1, 2))
    return SetCover(m, k, size, outside, united, parted, rows, costs)


def incidence(rows: NDArray[np.int32], outside: Tables) -> csr_array:
    """Return the matrix a of Section 3.1: whether row j holds the i-th labelset to cover.

    Labelsets to cover are in the order of their sizes, those of one size in that of their ranks.
    """
    parts = []
    for r, free in outside.items():
        ranks = labelset_ranks(rows, r)
        wanted = ~free[ranks]
        places = (np.cumsum(~free) - 1)[ranks[wanted]]
        entries = np.ones(len(places)), (places, rows_of_ranks(rows, r)[wanted])
        parts.append(csr_array(entries, shape=(np.count_nonzero(~free), len(rows))))
    return vstack(parts, format="csr")


def check_covered(covered: Tables, m: int) -> None:
    """Raise a ``ValueError`` if some labelset of the universe is not covered."""
    for r, table in covered.items():
        missing = np.flatnonzero(~table)[:1]
        if len(missing):
            raise ValueError(
                f"the labelset {unrank_labelsets(missing, m, r)[0].tolist()} of the universe lies "
                "in none of the labelsets that the constraints (together, apart) and candidates "
                "allow."
            )


def _candidates(candidates, weights, m: int, k: int | None):
    """Return the distinct candidates, their weights, and the number of labels in the largest."""
    cover = Cover(candidates, m)
    rows = cover.labelsets
    if k is not None and cover.k > check_integer("k", k, low=1, high=m):
        raise ValueError(f"candidates must have at most k={k} labels in a row, got {cover.k}.")
    order = np.arange(len(rows))
    if weights is not None:
        weights = np.asarray(weights, dtype=float)
        if weights.shape != (len(rows),) or not ((weights > 0) & (weights < np.inf)).all():
            raise ValueError(
                "weights must hold one positive number for each candidate, got shape "
                f"{weights.shape}."
            )
        # Of equal candidates the cheapest, which comes first in the order of weights, is kept.
        order = np.argsort(weights, kind="stable")
    _, first = np.unique(rows[order], axis=0, return_index=True)
    kept = np.sort(order[first])
    return rows[kept], None if weights is None else weights[kept], cover.k


def _around(universe: Cover) -> Tables:
    """Return for every order what is not in a universe."""
    outside = {}
    sizes = universe.labelset_sizes
    for r in np.unique(sizes).tolist():
        outside[r] = _table(universe.n_labels, r, True)
        wanted = np.ascontiguousarray(universe.labelsets[sizes == r, :r])
        outside[r][labelset_ranks(wanted, r)] = False
    return outside


def _table(m: int, r: int, value: bool) -> NDArray[np.bool_]:
    """Return a table of one value by rank of r-labelset, if there are not too many."""
    if comb(m, r) > TABLE_LIMIT:
        raise ValueError(
            f"n_labels={m} with r={r} has {comb(m, r)} r-labelsets to cover, "
            f"at most {TABLE_LIMIT} are accepted."
        )
    return np.full(comb(m, r), value)


def _constraints(together: Pairs, apart: Pairs, m: int, k: int) -> list[NDArray[np.bool_]]:
    """Return which two labels must be together or apart, if labelsets can keep that."""
    united, parted = _pairs("together", together, m), _pairs("apart", apart, m)
    if united.any():
        group = connected_components(united, directed=False)[1]
        united = group[:, None] == group
        np.fill_diagonal(united, False)
    clash = np.argwhere(united & parted)
    if len(clash):
        a, b = sorted(clash[0].tolist())
        raise ValueError(f"together and apart contradict each other for labels {a} and {b}.")
    largest = int(united.sum(axis=1).max()) + 1
    if largest > k:
        raise ValueError(f"together ties {largest} labels to each other, more than k={k}.")
    return [united, parted]


def _pairs(name: str, pairs: Pairs, m: int) -> NDArray[np.bool_]:
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


class State:
    """A cover in the making: what is chosen, and what that covers.

    It may begin with `given` labelsets of any sizes. The labelsets of at most k labels have
    numbers, those of k labels their ranks, by which it is known what is chosen.
    """

    def __init__(self, problem: SetCover, given: Iterable[NDArray[np.int32]] = ()) -> None:
        given = list(given)
        self.problem = problem
        self.m, self.k, self.size = problem.m, problem.k, problem.size
        self._table = np.empty((16, max([self.k, *map(len, given)])), dtype=np.int32)
        self._binomials = binomial_table(self.m, self.k)
        self.n_rows = 0
        self.counts = np.zeros(self.m, dtype=np.int64)  # in how many labelsets each label is
        self.chosen = np.array([-1])  # and the numbers of what is chosen, ascending
        self.covered = problem.covered_by(self.rows)
        self.remaining = _count_missing(self.covered)
        for labels in given:
            self.add(labels)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The chosen labelsets, filled up with −1."""
        return self._table[: self.n_rows]

    @property
    def imbalance(self) -> int:
        """Count of the most frequent label minus that of the least frequent."""
        return int(np.ptp(self.counts))

    @property
    def done(self) -> bool:
        """Whether the size is reached or, without one, all is covered by at least one labelset."""
        if self.size is None:
            return self.n_rows > 0 and self.remaining == 0
        return self.n_rows >= self.size

    def add(self, labels: NDArray[np.int32]) -> None:
        """Choose a labelset: its labels, filled up with −1 or not."""
        if self.n_rows == len(self._table):
            self._table = np.concatenate([self._table, np.empty_like(self._table)])
        row = self._table[self.n_rows : self.n_rows + 1]
        row[:] = NO_LABEL
        row[0, : len(labels)] = labels
        self.n_rows += 1
        self.counts[labels[labels >= 0]] += 1
        for r, covered in self.covered.items():
            ranks = labelset_ranks(row, r)
            self.remaining -= int(np.count_nonzero(~covered[ranks]))
            covered[ranks] = True
        if (labels[self.k :] < 0).all():
            number = self._numbers(row[:, : self.k])
            self.chosen = np.insert(self.chosen, self.chosen.searchsorted(number), number)

    def replace(self, index: int, labels: NDArray[np.int32]) -> None:
        """Put another labelset in the place of one; both have k labels."""
        self.counts[self.rows[index]] -= 1
        self.counts[labels] += 1
        self.rows[index] = labels
        self.chosen = np.sort(np.append(self._numbers(self.rows), -1))
        self.covered = self.problem.covered_by(self.rows)
        self.remaining = _count_missing(self.covered)

    def gains(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return how many labelsets not covered yet each row holds."""
        gains = np.zeros(len(rows), dtype=np.int64)
        for r, covered in self.covered.items():
            new = rows_of_ranks(rows, r)[~covered[labelset_ranks(rows, r)]]
            gains += np.bincount(new, minlength=len(rows))
        return gains

    def has(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which labelsets, rows filled up to k places, are chosen already."""
        numbers = self._numbers(rows)
        return self.chosen.take(self.chosen.searchsorted(numbers), mode="clip") == numbers

    def _numbers(self, rows: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return a number for each labelset, rows filled up to k places.

        Those of fewer than k labels follow the ranks, since −1 stands for the last row of the
        binomials. (More than 2⁶³ share numbers, some below 0, but are never all chosen.)
        """
        return self._binomials[rows, np.arange(1, self.k + 1)].sum(axis=1)


def _count_missing(covered: Tables) -> int:
    return sum(table.size - int(np.count_nonzero(table)) for table in covered.values())


def start(n_labels: int, k: int, r: int, size: int | None) -> State:
    """Return the empty cover of a checked problem: all r-labelsets by all k-labelsets."""
    return State(set_cover(*check_problem(n_labels, k, r, size)))


def run(
    state: State, next_labelset: Callable[[], NDArray[np.int32]], method: str, verbose: bool
) -> Cover:
    """Choose labelsets until the size is reached or, without one, all is covered; check that."""
    total = state.remaining if state.size is None else state.size - state.n_rows
    with progress_bar(f"cover ({method})", total, show=verbose) as bar:
        while not state.done:
            before = state.remaining
            state.add(next_labelset())
            bar.advance(before - state.remaining if state.size is None else 1)
    cover = Cover(labelset_rows(state.rows), state.m, method=method)
    if state.size is None:
        # Checked independently: by the labelsets alone.
        missing = _count_missing(state.problem.covered_by(cover.labelsets))
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
                if not state.has(other[None])[0]:
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
    check_covered(state.covered, state.m)
    return ValueError(
        f"no cover exists: the constraints (together, apart) and candidates allow no labelset of "
        f"k={state.k} out of {state.m} labels."
    )
