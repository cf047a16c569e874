"""Local search for fewer and better balanced rows: annealing, spare labels freed and exchanged."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._progress import Progress
from labelcover.covers._labelset_kernels import labelset_ranks
from labelcover.covers._labelset_table import times_covered
from labelcover.covers._local_search_kernels import (
    anneal_rows,
    exchange_spare,
    fill_places,
    free_places,
)

Rows = NDArray[np.int32]

# Temperatures in uncovered r-labelsets. Rows drawn at random are heated enough to forget where
# they came from; rows of a design only enough to mend it.
HOT, WARM, COOL, COLD = 0.5, 0.3, 0.2, 0.12
# Weight of the soft balance term beside uncovered r-labelsets.
BALANCE = 0.05
# Rounds over all rows in which spare labels are exchanged for rarer ones.
BALANCE_ROUNDS = 60


class Budget:
    """Steps of annealing that may still be spent: work, not time, so that results repeat."""

    def __init__(self, steps: int, progress: Progress | None = None) -> None:
        self.left = steps
        self._progress = progress

    def anneal(self, rows, n_labels, r, steps, hot, balance, seed) -> tuple[Rows, int]:
        """Anneal with at most `steps` of what is left; return the rows and what they miss."""
        steps = min(steps, self.left)
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        count = times_covered(rows, n_labels, r)
        found, uncovered, spent = anneal_rows(
            rows, count, n_labels, r, steps, hot, COLD, balance, seed
        )
        self.left -= spent
        if self._progress is not None:
            self._progress.advance(spent)
        return found, uncovered


def annealed_cover(
    n_labels: int, k: int, r: int, least: int, most: int, steps: int, budget: Budget, rng
) -> Rows | None:
    """Return a cover of `least` to ``most − 1`` rows annealed from random ones, or ``None``.

    Sizes are tried upwards from `least`, `steps` for each, until half of the budget is spent; one
    that misses much is followed by one that is larger by as many rows as could mend it.
    """
    size = least
    reserve = budget.left // 2
    while size < most and budget.left > reserve:
        rows = rng.permuted(np.tile(np.arange(n_labels), (size, 1)), axis=1)[:, :k]
        seed = int(rng.integers(2**31))
        found, uncovered = budget.anneal(rows, n_labels, r, steps, HOT, 0.0, seed)
        if uncovered == 0:
            return found
        size += max(1, uncovered // (k * (k - 1)))
    return None


def fewer_rows(
    rows: Rows, n_labels: int, r: int, least: int, steps: int, budget: Budget, rng
) -> Rows:
    """Return a cover of fewer rows than `rows`, dropping one at a time while the rest can mend.

    The row that covers least alone goes; the others are annealed, warm enough to mend what it
    covered and too cold to forget the design they come from.
    """
    while len(rows) > least and budget.left > 0:
        seed = int(rng.integers(2**31))
        full = filled(rows, n_labels, seed)
        rest = np.delete(full, _least_needed(full, n_labels, r), axis=0)
        found, uncovered = budget.anneal(rest, n_labels, r, steps, WARM, 0.0, seed)
        if uncovered > 0:
            break
        rows = without_spare_rows(found, n_labels, r)
    return rows


def levelled(rows: Rows, n_labels: int, r: int, steps: int, budget: Budget, rng) -> Rows:
    """Return as many rows that cover all, annealed towards labels that are equally frequent."""
    best, lowest = rows, _spread(rows)
    for hot in (COOL, WARM):
        seed = int(rng.integers(2**31))
        found, uncovered = budget.anneal(rows, n_labels, r, steps // 2, hot, BALANCE, seed)
        if uncovered == 0 and _spread(found) < lowest:
            best, lowest = found, _spread(found)
    return best


def _spread(rows: Rows) -> int:
    return int((np.bincount(rows.ravel()) ** 2).sum())


def with_size(rows: Rows, n_labels: int, r: int, size: int, steps: int, rng) -> Rows:
    """Return `size` rows: more of the rarest labels, or fewer that cover as much as was found."""
    k = rows.shape[1]
    seed = int(rng.integers(2**31))
    if size >= len(rows):
        free = np.full((size - len(rows), k), -1, dtype=np.int32)
        return filled(np.vstack([rows, free]), n_labels, seed)
    while len(rows) > size:
        rows = np.delete(rows, _least_needed(rows, n_labels, r), axis=0)
    return Budget(steps).anneal(rows, n_labels, r, steps, HOT, 0.0, seed)[0]


def _least_needed(rows: Rows, n_labels: int, r: int) -> int:
    """Which row covers the fewest r-labelsets alone."""
    ranks = labelset_ranks(np.sort(rows, axis=1), r).reshape(len(rows), -1)
    return int(np.argmin((times_covered(rows, n_labels, r)[ranks] == 1).sum(axis=1)))


def without_spare_rows(rows: ArrayLike, n_labels: int, r: int) -> Rows:
    """Return fewer rows that still cover every r-labelset that `rows` cover.

    Labels that cover nothing alone are taken out of their rows, the short rows first, and the
    remnants are packed together. Free places are −1.
    """
    table = np.asarray(rows, dtype=np.int32)
    table = np.take_along_axis(table, np.argsort(table < 0, axis=1, kind="stable"), axis=1)
    while True:
        # The shortest rows first: they are the likeliest to vanish.
        order = np.argsort((table >= 0).sum(axis=1), kind="stable")
        count = times_covered(table, n_labels, r)
        packed = pack_rows(free_places(table, count, n_labels, r, order))
        if len(packed) == len(table):
            return packed
        table = packed


def pack_rows(rows: Rows) -> Rows:
    """Put the labels of rows with free places together in fewer rows; empty rows are dropped.

    Longest first, each takes the longest others that fit beside it (by their lengths alone).
    """
    lengths, k = (rows >= 0).sum(axis=1), rows.shape[1]
    waiting = [rows[lengths == n, :n].tolist()[::-1] for n in range(k)]
    packed = []
    for n in range(k - 1, 0, -1):
        while waiting[n]:
            row = waiting[n].pop()
            room = min(k - n, n)
            while room > 0:
                if waiting[room]:
                    row += [label for label in waiting[room].pop() if label not in row]
                    room = min(k - len(row), room)
                else:
                    room -= 1
            packed.append(row + [-1] * (k - len(row)))
    return np.vstack([rows[lengths == k], np.array(packed, dtype=np.int32).reshape(-1, k)])


def filled(rows: ArrayLike, n_labels: int, seed: int = 0) -> Rows:
    """Return the rows with each free place (−1) given to the rarest label it can hold."""
    return fill_places(np.ascontiguousarray(rows, dtype=np.int32), n_labels, seed)


def balanced(rows: ArrayLike, n_labels: int, r: int, seed: int = 0) -> Rows:
    """Return as many rows that cover the same, their labels' counts as equal as was found."""
    table = np.ascontiguousarray(rows, dtype=np.int32)
    count = times_covered(table, n_labels, r)
    return exchange_spare(table, count, n_labels, r, BALANCE_ROUNDS, seed)
