"""Training rows that come portion by portion: what is kept of them in bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.ensemble import chunked_training
from labelcover.ensemble.summed_cover import SummedCover
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.features import FeatureCoding
from labelcover.learners.least_squares import choosing

# Rows to choose from are held until there are so many times more than are to be kept.
SLACK = 1.25


class RowStream:
    """The rows of a stream: all of them as long as they fit in memory, then a sample, and sums.

    As many rows are kept as hold 2²⁵ numbers (features, or cells that are not 0, and labels), but
    more than least squares solves without approximation. Afterwards they are a uniform sample of
    all rows. Which rows it holds depends on the seeds and on the order of rows, not on the portions
    in which they come: every row draws a number, and those with the least numbers stay.

    Parameters
    ----------
    seeds : ndarray
        Those of the fit.

    Attributes
    ----------
    n_rows : int
        How many rows have come.
    most : int or None
        How many are kept; None as long as all are.
    summed : SummedCover or None
        Sums over all rows, once not all are kept, if members are made of sums.
    """

    def __init__(self, seeds: NDArray[np.int64]) -> None:
        self.seeds = seeds
        self.random = np.random.default_rng(seeds)
        self.n_rows = self.n_numbers = 0
        self.most: int | None = None
        self.summed: SummedCover | None = None
        self._blocks: list[TrainingRows] = []
        self._draws: list[NDArray[np.float64]] = []
        # No row that draws more is kept.
        self._bound = 1.0

    def add(self, rows: TrainingRows, settle: Callable[[TrainingRows], SummedCover | None]) -> None:
        """Add rows, which have weights above 0.

        Parameters
        ----------
        rows : TrainingRows
        settle : callable
            Is called once, with the first rows, when no further ones can be kept; it returns what
            sums those that follow, and holds the first rows already. If it fails, nothing has
            changed.
        """
        n = len(rows.Y)
        rest = rows
        if self.most is None:
            fitting = self._n_fitting(rows)
            if fitting < n:
                first = _joined([*self._blocks, rows.rows(np.arange(fitting))])
                self.summed = settle(_unweighted(first))
                self.most = len(first.Y)
                rest = rows.rows(np.arange(fitting, n))
        if self.summed is not None:
            self.summed.add(rest)
        self._keep(rows)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are sparse tables."""
        return sparse.issparse(self._blocks[0].X)

    def training(self) -> TrainingRows:
        """Return the rows that are kept, in the order in which they came, with the sums."""
        self._shrink()
        return replace(_unweighted(self._blocks[0]), summed=self.summed)

    def _n_fitting(self, rows: TrainingRows) -> int:
        """Return how many of the rows can be kept beside those that are."""
        n, m = rows.Y.shape
        least = choosing.EXACT_ROWS + 1 - self.n_rows
        numbers = self.n_numbers + np.cumsum(_filled(rows.X) + m)
        fitting = np.searchsorted(numbers, chunked_training.SAMPLE_NUMBERS, side="right")
        return min(n, max(int(fitting), least))

    def _keep(self, rows: TrainingRows) -> None:
        n = len(rows.Y)
        draws = self.random.random(n)
        kept = np.flatnonzero(draws <= self._bound)
        if len(kept):
            self._blocks.append(rows.rows(kept))
            self._draws.append(draws[kept])
        self.n_rows += n
        self.n_numbers += int(_filled(rows.X).sum()) + rows.Y.size
        if self.most is not None and sum(map(len, self._draws)) > SLACK * self.most:
            self._shrink()

    def _shrink(self) -> None:
        """Make one block of all, and keep no more rows than are to be kept."""
        if len(self._blocks) > 1:
            self._blocks, self._draws = [_joined(self._blocks)], [np.concatenate(self._draws)]
        (draws,) = self._draws
        if self.most is not None and len(draws) > self.most:
            kept = np.sort(np.argpartition(draws, self.most)[: self.most])
            self._blocks, self._draws = [self._blocks[0].rows(kept)], [draws[kept]]
            self._bound = float(draws[kept].max())


def _filled(X: Any) -> NDArray[np.int64]:
    """Return how many numbers each row takes."""
    return np.diff(X.indptr) if sparse.issparse(X) else np.full(X.shape[0], X.shape[1])


def _unweighted(rows: TrainingRows) -> TrainingRows:
    """Return the rows without weights, if all are 1."""
    assert rows.weights is not None
    return replace(rows, weights=None) if (rows.weights == 1).all() else rows


def _joined(blocks: list[TrainingRows]) -> TrainingRows:
    tables = [block.X for block in blocks]
    is_sparse = sparse.issparse(tables[0])
    return replace(
        blocks[0],
        X=sparse.vstack(tables, format="csr") if is_sparse else np.concatenate(tables),
        Y=np.concatenate([block.Y for block in blocks]),
        weights=np.concatenate([block.weights for block in blocks]),
    )


def check_same_labels(
    known: NDArray[np.object_], names: NDArray[np.object_] | None, n_labels: int
) -> None:
    """Raise a ``ValueError`` if labels are not those of the first rows.

    Parameters
    ----------
    known : ndarray
        The names of the labels of the first rows.
    names : ndarray or None
        Those of further rows, if they have names.
    n_labels : int
        How many labels these have.
    """
    if n_labels != len(known):
        raise ValueError(f"y must have {len(known)} labels, as in the first call, got {n_labels}.")
    if names is None or np.array_equal(names, known):
        return
    new = sorted(set(names) - set(known))
    got = f"a column {new[0]!r}" if new else "them in another order"
    raise ValueError(
        f"y must have the columns of the first call, {', '.join(map(repr, known))}, got {got}."
    )


def check_same_table(
    stream: RowStream, coding: FeatureCoding, X: Any, names: NDArray[np.object_] | None
) -> None:
    """Raise a ``ValueError`` if features cannot be joined to those of the first rows."""
    kind = {True: "sparse", False: "dense"}
    if sparse.issparse(X) != stream.is_sparse:
        raise ValueError(
            f"X must be a {kind[stream.is_sparse]} table, as in the first call, got a "
            f"{kind[not stream.is_sparse]} one."
        )
    for f in [] if stream.is_sparse else np.flatnonzero(coding.nominal):
        if (X[:, f] < 0).any():
            name = f if names is None else repr(names[f])
            raise ValueError(
                f"X must hold in nominal column {name} only values of the first call, got another: "
                "declare all of them by a categorical dtype."
            )
