"""Which construction makes the fewest rows: plans for covers, compared before they are built."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from labelcover.covers._greedy_kernels import rows_label_by_label
from labelcover.covers.bounds import lower_bound

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class Plan:
    """A cover not built yet."""

    size: int  # the number of rows is at most this
    title: str  # the construction, for people to read
    build: Callable[[], Rows]  # −1 is a free place


def fewest_rows(n_labels: int, k: int, r: int) -> int:
    """Return a lower bound on the size of a cover, also where one row holds all labels or none."""
    return 1 if n_labels <= k or r == 0 else lower_bound(n_labels, k, r)


@dataclass
class Planner:
    """Finds the smallest plan for every cover that a larger one needs, each once.

    A ``rule(planner, n_labels, k, r, limit)`` yields plans; those of `limit` rows or more are of
    no use and need not be worked out. ``given(n_labels, k, r)`` returns rows known from
    elsewhere, or ``None``; it is asked for the parts of a cover, not for the cover itself.
    """

    rules: tuple[Callable, ...]
    given: Callable[[int, int, int], Rows | None] | None = None
    _smallest: dict[tuple[int, int, int], Plan] = field(default_factory=dict)

    def plans(self, n_labels: int, k: int, r: int, limit: int = 2**62) -> list[Plan]:
        """Return the plans of fewer than `limit` rows that were met, the smallest first."""
        found: list[Plan] = []
        for rule in self.rules:
            for plan in rule(self, n_labels, k, r, limit):
                if plan.size < limit:
                    found.append(plan)
                    limit = plan.size
        return sorted(found, key=lambda plan: plan.size)

    def smallest(self, n_labels: int, k: int, r: int) -> Plan:
        """Return the smallest plan for a part, made once for each cover asked for."""
        key = (n_labels, k, r)
        if key not in self._smallest:
            self._smallest[key] = self._find(*key)
        return self._smallest[key]

    def _find(self, n_labels: int, k: int, r: int) -> Plan:
        if r == 0:
            return Plan(1, "no label", lambda: np.empty((1, 0), dtype=np.int32))
        rows = None if self.given is None else self.given(n_labels, k, r)
        if rows is None or len(rows) > fewest_rows(n_labels, k, r):
            plans = self.plans(n_labels, k, r, limit=2**62 if rows is None else len(rows))
            if plans:
                return plans[0]
        if rows is None:  # no rule speaks of these
            rows = rows_label_by_label(n_labels, k, r, 0)
        return Plan(len(rows), "known", lambda: rows)


def shortened(blocks: NDArray, points: int, n_labels: int) -> NDArray[np.int32]:
    """Return a design's blocks without ``points − n_labels`` of its points; freed places are −1.

    The points of whole blocks are taken out as far as possible, so that blocks vanish.
    """
    name = np.zeros(points, dtype=np.int32)
    gone = points - n_labels
    while gone > 0:
        # The block that already lost most points, of those that have any left.
        missing = (name[blocks] < 0).sum(axis=1)
        missing[missing == blocks.shape[1]] = -1
        rest = [p for p in blocks[int(np.argmax(missing))] if name[p] >= 0][:gone]
        name[rest] = -1
        gone -= len(rest)
    name[name >= 0] = np.arange(n_labels)
    rows = name[blocks]
    return rows[(rows >= 0).sum(axis=1) > 1]
