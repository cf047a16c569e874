"""Members where labels of some rows are not known: each has the rows that know all its labels."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from labelcover.covers import Cover
from labelcover.ensemble._cover_view import CoverView
from labelcover.ensemble._plan import MEMBERS
from labelcover.ensemble._view import TrainingRows, View, draw_seeds
from labelcover.learners import in_parallel


class KnownRowsView(View):
    """A member per labelset of a cover, fitted on the rows in which all of its labels are known.

    What members say of a label is averaged, as in `CoverView`, whose parameters these are.

    Attributes
    ----------
    members : list of CoverView
        One for each labelset, whose labels are numbered from 0.
    """

    members: list[CoverView]

    def __init__(self, learners: Any, cover: Cover, *, aggregate: str, **_: Any) -> None:
        self.learner, self.cover, self.aggregate = learners[MEMBERS], cover, aggregate

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit the members one by one."""
        self.labelsets = [own[own >= 0].astype(np.int64) for own in self.cover.labelsets]
        seeds = draw_seeds(seed, len(self.labelsets))
        parts = [self._rows_of(rows, labels) for labels in self.labelsets]
        covers = [[Cover([range(len(labels))], len(labels))] for labels in self.labelsets]
        jobs = (
            delayed(CoverView(self.learner, cover, aggregate=self.aggregate).fit)(own, int(each))
            for cover, own, each in zip(covers, parts, seeds, strict=True)
        )
        how: dict[str, Any] = {"text": "fitting members", "verbose": verbose}
        self.members = list(in_parallel(jobs, n_jobs, require="sharedmem", **how))
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return ``(n, n_labels)``: the mean over the members that hold a label."""
        sums = np.zeros((X.shape[0], self.cover.n_labels))
        for labels, member in zip(self.labelsets, self.members, strict=True):
            sums[:, labels] += member.confidences(X)[0]
        return [sums / np.maximum(self.cover.label_counts, 1)]

    no_shares = "members were fitted on rows of their own, where labels are not known"

    def _rows_of(self, rows: TrainingRows, labels: NDArray[np.int64]) -> TrainingRows:
        """Return the rows that know all of some labels, with these labels only."""
        assert rows.cells is not None
        cells = rows.cells[:, labels].min(axis=1)
        known = np.flatnonzero(cells > 0)
        if not len(known):
            raise ValueError(
                f"cover must have labelsets whose labels are all known in some row, which the "
                f"labels {labels.tolist()} are not: choose a smaller k."
            )
        own, weights = rows.rows(known), cells[known]
        if own.weights is not None:
            weights = weights * own.weights
        equal = bool((weights == weights[0]).all())
        return replace(
            own,
            Y=np.ascontiguousarray(own.Y[:, labels]),
            weights=None if equal else weights / weights.mean(),
            cells=None,
        )
