"""The set cover problem of Section 3, checked: what to cover, by what, at what weight, under rules.

What to cover (Ω) is kept by order: for every number r of labels in a labelset to cover, a table
by rank says which r-labelsets need no cover. Usually there is one order and nothing is excepted.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import comb

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack
from scipy.sparse.csgraph import connected_components

from labelcover._arguments import check_integer
from labelcover.covers._cover import TABLE_LIMIT, Cover
from labelcover.covers._labelset_kernels import labelset_ranks, unrank_labelsets
from labelcover.covers._labelset_table import Labelsets, label_matrix, rows_of_ranks
from labelcover.covers.bounds import check_order

Pairs = Iterable[tuple[int, int]]

BLOCK = 1 << 16


@dataclass(frozen=True)
class SetCover:
    """A set cover problem.

    Attributes
    ----------
    m, k : int
        Number of labels, and of labels in a labelset, at most.
    size : int or None
        Number of labelsets σ; None for as many as it takes.
    outside : dict of int to bool array
        For each order r, by rank, which r-labelsets need no cover.
    candidates : int32 array of shape (n, k) or None
        The labelsets Σ to choose from, all different, rows filled up with −1; None for all
        k-labelsets.
    weights : float64 array of shape (n,) or None
        One for each candidate; None for equal weights.
    """

    m: int
    k: int
    size: int | None
    outside: dict[int, NDArray[np.bool_]]
    candidates: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None


def check_problem(
    n_labels: int, k: int, r: int, size: int | None
) -> tuple[int, int, int, int | None]:
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
) -> SetCover:
    """Return the problem that the arguments of a strategy describe.

    With `universe`, `r` is not looked at. With `candidates`, `k` is the most labels that one may
    have, or None.
    """
    m = check_integer("n_labels", n_labels, low=1)
    rows = None
    if candidates is not None:
        rows, chosen_weights, k = _candidates(candidates, weights, m, k)
    elif weights is not None:
        raise ValueError("weights needs candidates, one weight for each; got candidates=None.")
    elif k is None:
        raise ValueError("k must be an integer unless candidates are given, got None.")
    else:
        chosen_weights, k = None, check_integer("k", k, low=1, high=m)
    if universe is not None:
        outside = _around(Cover(universe, m))
    else:
        r = check_integer("r", r, low=1, high=k)
        _check_table(m, r)
        outside = {r: np.zeros(comb(m, r), dtype=bool)}
    if size is not None:
        high = comb(m, k) if rows is None else len(rows)
        size = check_integer("size", size, low=1, high=high)
    return SetCover(m, k, size, outside, rows, chosen_weights)


def except_parted(problem: SetCover, apart: NDArray[np.bool_]) -> SetCover:
    """Return the problem in which a labelset of two labels that are apart needs no cover."""
    if not apart.any():
        return problem
    outside = {}
    for r, free in problem.outside.items():
        outside[r] = free.copy()
        for begin in range(0, len(free), BLOCK):
            ranks = np.arange(begin, min(begin + BLOCK, len(free)))
            rows = unrank_labelsets(ranks, problem.m, r)
            outside[r][ranks] |= apart[rows[:, :, None], rows[:, None, :]].any(axis=(1, 2))
    return replace(problem, outside=outside)


def incidence(rows: NDArray[np.int32], outside: dict[int, NDArray[np.bool_]]) -> csr_array:
    """Return the matrix a of Section 3.1: whether row j holds the i-th labelset to cover.

    Labelsets to cover are in the order of their sizes, those of one size in that of their ranks.
    """
    parts = []
    for r, free in outside.items():
        ranks = labelset_ranks(rows, r)
        columns = rows_of_ranks(rows, r)
        wanted = ~free[ranks]
        places = (np.cumsum(~free) - 1)[ranks[wanted]]
        shape = (np.count_nonzero(~free), len(rows))
        parts.append(csr_array((np.ones(len(places)), (places, columns[wanted])), shape=shape))
    return vstack(parts, format="csr") if len(parts) > 1 else parts[0]


def check_coverable(table: csr_array, problem: SetCover) -> None:
    """Raise a ``ValueError`` if no candidate holds some labelset to cover (a row of `table`)."""
    held = np.diff(table.indptr) > 0
    if not held.all():
        at = int(np.argmin(held))
        for r, free in problem.outside.items():
            ranks = np.flatnonzero(~free)
            if at < len(ranks):
                raise cannot_be_covered(unrank_labelsets(ranks[at : at + 1], problem.m, r)[0])
            at -= len(ranks)


def cannot_be_covered(labels: NDArray[np.int32]) -> ValueError:
    """Return the error for a labelset of the universe that no candidate holds."""
    return ValueError(
        f"the labelset {labels.tolist()} of the universe lies in none of the labelsets that the "
        "constraints (together, apart) and candidates allow."
    )


def _candidates(candidates, weights, m: int, k: int | None):
    """Return the distinct candidates, their weights, and the number of labels in the largest."""
    cover = Cover(candidates, m)
    rows = cover.labelsets
    if k is not None and cover.k > check_integer("k", k, low=1, high=m):
        raise ValueError(f"candidates must have at most k={k} labels in a row, got {cover.k}.")
    if weights is None:
        _, first = np.unique(rows, axis=0, return_index=True)
        return rows[np.sort(first)], None, cover.k
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(rows),) or not ((weights > 0) & (weights < np.inf)).all():
        raise ValueError(
            f"weights must hold one positive number for each candidate, got shape {weights.shape}."
        )
    # Of equal candidates the cheapest, which comes first in the order of weights, is kept.
    by_weight = np.argsort(weights, kind="stable")
    _, first = np.unique(rows[by_weight], axis=0, return_index=True)
    kept = np.sort(by_weight[first])
    return rows[kept], weights[kept], cover.k


def _around(universe: Cover) -> dict[int, NDArray[np.bool_]]:
    """Return for every order what is not in a universe."""
    outside = {}
    sizes = universe.labelset_sizes
    for r in np.unique(sizes).tolist():
        _check_table(universe.n_labels, r)
        outside[r] = np.ones(comb(universe.n_labels, r), dtype=bool)
        wanted = np.ascontiguousarray(universe.labelsets[sizes == r, :r])
        outside[r][labelset_ranks(wanted, r)] = False
    return outside


def _check_table(m: int, r: int) -> None:
    if comb(m, r) > TABLE_LIMIT:
        raise ValueError(
            f"n_labels={m} with r={r} has {comb(m, r)} r-labelsets to cover, "
            f"at most {TABLE_LIMIT} are accepted."
        )


@dataclass(frozen=True)
class Constraints:
    """Which two labels must be together or apart, as symmetric tables ``(m, m)``."""

    together: NDArray[np.bool_]
    apart: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: SetCover, together: Pairs = (), apart: Pairs = ()) -> "Constraints":
        """Return the constraints of some pairs of labels, if labelsets can keep them."""
        united = _pairs("together", together, problem.m)
        if united.any():
            group = connected_components(united, directed=False)[1]
            united = group[:, None] == group
            np.fill_diagonal(united, False)
        parted = _pairs("apart", apart, problem.m)
        clash = np.argwhere(united & parted)
        if len(clash):
            a, b = sorted(clash[0].tolist())
            raise ValueError(f"together and apart contradict each other for labels {a} and {b}.")
        largest = int(united.sum(axis=1).max()) + 1
        if largest > problem.k:
            raise ValueError(
                f"together ties {largest} labels to each other, more than k={problem.k}."
            )
        return cls(united, parted)

    def __bool__(self) -> bool:
        return bool(self.together.any() or self.apart.any())

    def allow(self, rows: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which rows of a table of labelsets keep the constraints."""
        member = label_matrix(rows, len(self.together)).astype(np.int64)
        clash = (member @ self.apart) * member
        lonely = (member @ self.together) * (1 - member)
        return np.asarray((clash + lonely).sum(axis=1) == 0)


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
