"""The views of the pool: what says of a row how likely each label is."""

from functools import partial
from typing import Any

from labelcover.ensemble._cover_view import CoverView, SingleLabelsView
from labelcover.ensemble._many_label_pool import ManyLabelView
from labelcover.ensemble._plan import CANDIDATES, MEMBERS
from labelcover.ensemble._views._rows_in_memory import BoostedView, ForestView, NeighboursView
from labelcover.ensemble._views._scores import ScoresView

# By the names that a plan has for them.
VIEWS: dict[str, Any] = {
    "least squares": partial(SingleLabelsView, "least squares"),
    "scores": ScoresView,
    "logistic": partial(SingleLabelsView, "logistic"),
    "neighbours": NeighboursView,
    "forest": ForestView,
    "boosted trees": BoostedView,
    MEMBERS: lambda learners, cover, **how: CoverView(learners[MEMBERS], [cover], **how),
    CANDIDATES: ManyLabelView,
}
