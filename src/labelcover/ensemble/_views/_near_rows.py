"""The labels of the nearest training rows as a view."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble._view import LeftOut, TrainingRows, View, drawn_seed
from labelcover.ensemble._views._single_labels import LEAST
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
        sample = rows.in_memory
        self.has_all_rows = len(sample.Y) == len(rows.Y)
        self.nearest = NearestRows(
            sample.X, sample.Y, sample.n_values, weights=sample.weights, seed=drawn_seed(seed)
        )
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the confidences of ``rows.left_out``, none its own neighbour; asked once."""
        found = self.nearest.left_out(rows.in_memory.left_out)
        self.nearest.forget_training()
        return rows.left_out, [found]

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the shares of all labels among the neighbours of new rows."""
        return [self.nearest.confidence(X)]
