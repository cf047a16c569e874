"""The labels of the nearest training rows as a view."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import LEAST
from labelcover.ensemble._shares import Parts, Shares, Similar, labels_of
from labelcover.ensemble._view import LeftOut, TrainingRows, View, fit_in_memory
from labelcover.learners import NearestRows, Nearness


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
        return [NearShares(self.nearest.nearness(X))]

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

    def __init__(self, nearness: Nearness) -> None:
        self.nearness, self.confidence = nearness, nearness.confidence
        self.starts = nearness.nearest.frequency

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the frequency of a label, and what columns move it by."""
        return Parts(*self.nearness.of_label(label, rows))
