"""Local search for fewer and better balanced rows: annealing, spare labels freed and exchanged."""

from dataclasses import dataclass, field

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


@dataclass
class Annealer:
    """Annealing of rows that are to cover all r-labelsets, while there are steps left.

    Steps count work, not time, so that results repeat; `progress` is told of those spent.
    """

    n_labels: int
    r: int
    rng: np.random.Generator
    left: int
    progress: Progress = field(default_factory=Progress)

    def anneal(self, rows, steps, hot, seed, balance=0.0) -> tuple[Rows, int]:
        """Anneal with at most `steps` of what is left; return the rows and what they miss."""
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        count = times_covered(rows, self.n_labels, self.r)
        how = min(steps, self.left), hot, COLD, balance, seed
        found, uncovered, spent = anneal_rows(rows, count, self.n_labels, self.r, *how)
        self.left -= spent
        self.progress.advance(spent)
        return found, uncovered

    def from_random(self, k: int, least: int, most: int, steps: int) -> Rows | None:
        """Return a cover of `least` to ``most − 1`` rows annealed from random ones, or ``None``.

        Sizes are tried upwards from `least`, `steps` for each, until half of what is left is
        spent; one that misses much is followed by one that is larger by as many rows as could
        mend it.
        """
        size = least
        reserve = self.left // 2
        while size < most and self.left > reserve:
            labels = np.tile(np.arange(self.n_labels), (size, 1))
            rows = self.rng.permuted(labels, axis=1)[:, :k]
            found, uncovered = self.anneal(rows, steps, HOT, self._seed())
            if uncovered == 0:
                return found
            size += max(1, uncovered // (k * (k - 1)))
        return None

    def fewer_rows(self, rows: Rows, least: int, steps: int) -> Rows:
        """Return a cover of fewer rows, dropping one at a time while the rest can mend.

        The row that covers least alone goes; the others are annealed, warm enough to mend what it
        covered and too cold to forget the design they come from.
        """
        while len(rows) > least and self.left > 0:
            seed = self._seed()
            rest = _without_least_needed(filled(rows, self.n_labels, seed), self.n_labels, self.r)
            found, uncovered = self.anneal(rest, steps, WARM, seed)
            if uncovered > 0:
                break
            rows = without_spare_rows(found, self.n_labels, self.r)
        return rows

    def levelled(self, rows: Rows) -> Rows:
        """Return as many rows that cover all, annealed towards labels equally frequent."""
        best, lowest, steps = rows, _spread(rows), self.left // 2
        for hot in (COOL, WARM):
            found, uncovered = self.anneal(rows, steps, hot, self._seed(), BALANCE)
            if uncovered == 0 and _spread(found) < lowest:
                best, lowest = found, _spread(found)
        return best

    def with_size(self, rows: Rows, size: int) -> Rows:
        """Return `size` rows: more of the rarest labels, or fewer that cover what they can."""
        seed = self._seed()
        if size >= len(rows):
            free = np.full((size - len(rows), rows.shape[1]), -1, dtype=np.int32)
            return filled(np.vstack([rows, free]), self.n_labels, seed)
        while len(rows) > size:
            rows = _without_least_needed(rows, self.n_labels, self.r)
        return self.anneal(rows, self.left, HOT, seed)[0]

    def _seed(self) -> int:
        return int(self.rng.integers(2**31))


def _spread(rows: Rows) -> int:
    return int((np.bincount(rows.ravel()) ** 2).sum())


def _without_least_needed(rows: Rows, n_labels: int, r: int) -> Rows:
    """Return all rows but the one that covers the fewest r-labelsets alone."""
    ranks = labelset_ranks(np.sort(rows, axis=1), r).reshape(len(rows), -1)
    alone = (times_covered(rows, n_labels, r)[ranks] == 1).sum(axis=1)
    return np.delete(rows, int(np.argmin(alone)), axis=0)


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
