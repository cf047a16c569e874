"""The template of every ensemble over a cover: one member per labelset."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.covers import Cover
from labelcover.ensemble.cover_view import CoverView
from labelcover.ensemble.label_model import LabelModel
from labelcover.ensemble.label_tables import warn_of_left_out
from labelcover.ensemble.pooled_view import Pool, view_of
from labelcover.learners.forest.label_forest import LabelForest

# Section 2.3: above so many members, cross-validation uses only a tenth of them.
MANY_MEMBERS = 100


class LabelEnsemble(LabelModel):
    """An ensemble of members, each of which holds a labelset.

    A subclass says which cover it uses (`_make_cover`), and has the parameters of `LabelModel`.

    Attributes
    ----------
    cover_ : Cover
        The labelsets, one per member.
    """

    # Whether members vote (RAKEL) or say how sure they are (RAKEL++).
    _votes = False
    cover_: Cover

    @abstractmethod
    def _make_cover(self, Y: NDArray[np.uint8], seed: int) -> Cover:
        """Return the cover for the training labels."""

    def _make_view(self, learner, training, seed):
        self.cover_ = self._make_cover(training.Y, seed)
        view = view_of(learner, self.cover_, votes=self._votes)
        if isinstance(view, CoverView):
            warn_of_left_out(self.cover_, self.label_names_in_)
        return view

    def _views_to_tune(self, learner, training, random):
        cover = self.cover_
        if len(cover) > MANY_MEMBERS:
            chosen = np.sort(random.choice(len(cover), len(cover) // 10, replace=False))
            cover = Cover(cover.labelsets[chosen], cover.n_labels)
        return lambda: view_of(learner, cover), np.flatnonzero(cover.label_counts)

    def _learner(self) -> Any:
        member = self._member()
        if not isinstance(member, LabelForest | Pool):
            return super()._learner()
        member.check_parameters()
        return member

    def _gives_left_out(self) -> bool:
        return bool(self._learner().gives_left_out)
