"""Labels that must always, or must never, be in the same labelset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from labelcover._arguments import check_integer
from labelcover.covers._labelset_table import label_matrix

Pairs = Iterable[tuple[int, int]]


@dataclass(frozen=True)
class Constraints:
    """Which two labels must be together or apart, as symmetric tables ``(m, m)``."""

    together: NDArray[np.bool_]
    apart: NDArray[np.bool_]

    @classmethod
    def of(cls, m: int, together: Pairs = (), apart: Pairs = ()) -> Constraints:
        """Return the constraints of some pairs of labels, if they do not contradict each other."""
        united = _transitive(_pairs("together", together, m))
        parted = _pairs("apart", apart, m)
        clash = np.argwhere(united & parted)
        if len(clash):
            a, b = sorted(clash[0].tolist())
            raise ValueError(f"together and apart contradict each other for labels {a} and {b}.")
        return cls(united, parted)

    def check(self, k: int) -> None:
        """Raise a ``ValueError`` if labels tied to each other do not fit into k places."""
        largest = int(self.together.sum(axis=1).max()) + 1
        if largest > k:
            raise ValueError(f"together ties {largest} labels to each other, more than k={k}.")

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


def _transitive(table: NDArray[np.bool_]) -> NDArray[np.bool_]:
    if not table.any():
        return table
    group = connected_components(table, directed=False)[1]
    joined = group[:, None] == group[None, :]
    np.fill_diagonal(joined, False)
    return joined
