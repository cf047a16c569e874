"""The labels of the nearest training rows as a view."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import LEAST
from labelcover.ensemble._shares import Floats, Rows, Shares, Similar, labels_of
from labelcover.ensemble._view import LeftOut, TrainingRows, View, fit_in_memory
from labelcover.learners import NearestRows


class NeighboursView(View):
    """`NearestRows` of the training rows in memory."""

    names = ("neighbours",)
    least = LEAST
    nearest: NearestRows

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **_: Any) -> Self:
        """Return the view as a plan has it."""
        return cls()

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Index the rows in memory by their features."""
        self._sample = rows.sample
        self.nearest = fit_in_memory(NearestRows, rows, seed)
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the confidences of ``rows.left_out``, none its own neighbour; asked once."""
        found = self.nearest.left_out(rows.in_memory.left_out)
        self.nearest.forget_training()
        return rows.left_out, [found]

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the shares of all labels among the neighbours of new rows."""
        return [self.nearest.confidence(X)]

    no_shares = ""

    def shares(self, X: Any) -> list[Shares]:
        """Return what the columns that rows have in common with their neighbours add."""
        return [NearShares(self.nearest, X)]

    def similar(self, X: Any, n: int) -> Similar:
        """Return the nearest training rows, by the cosine."""
        places, _, cosines = self.nearest.votes(self.nearest.scaled(X), np.full(X.shape[0], -1))
        rows = self.nearest.rows[places[:, :n]]
        numbers = rows if self._sample is None else self._sample[rows]
        labels = labels_of(self.nearest.labels, rows)
        return Similar(
            np.where(places[:, :n] < 0, -1, numbers), cosines[:, :n].astype(float), labels
        )


class NearShares(Shares):
    """The votes of neighbours as sums over columns."""

    def __init__(self, nearest: NearestRows, X: Any) -> None:
        self.nearest, self.table = nearest, nearest.scaled(X)
        self.confidence, self.starts = nearest.confidence(X), nearest.frequency

    def combined(self, rows: Rows, weights: Floats) -> Any:
        """Return what columns add to a sum of the shares of all labels."""
        return self.of_log_odds(rows, weights / self.slopes(rows, LEAST), 0, LEAST)

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return what columns add to a sum of log-odds, as they bend."""
        return self.nearest.parts(self.table[rows], self.confidence[rows], weights, least)
