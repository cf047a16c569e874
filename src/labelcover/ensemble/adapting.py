"""Which cover an estimator uses for the training labels at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover.covers import Cover
from labelcover.dependence import CoverChoice, adapt_cover, cover_choices, label_dependence
from labelcover.dependence.choice import LABELSET_SIZES, ORDERS
from labelcover.ensemble.covering import Strategy, make_cover

AUTO = "auto"


def data_driven_cover(
    Y: NDArray[np.uint8],
    cover: str | Cover | Strategy | ArrayLike,
    *,
    k: Any,
    r: Any,
    size: int | None = None,
    adapt: bool = False,
    budget: float | None = None,
    random_state: Any = None,
) -> tuple[Cover, list[CoverChoice] | None]:
    """Return the cover for the labels `Y`, and the table it was chosen from if it was.

    Parameters
    ----------
    cover, size
        As for `make_cover`.
    k, r : int or "auto"
        "auto" leaves it to `cover_choices`. Labelsets that are given need no choice.
    adapt : bool
        Permute the cover for `Y`, as DD-BALANCOR does (Section 4.4).
    """

    def strategy(n_labels, k, r, *, size, random_state):
        return make_cover(cover, n_labels, k=k, r=r, size=size, random_state=random_state)

    m = Y.shape[1]
    by_name = isinstance(cover, str) or callable(cover)
    if by_name and AUTO in (k, r):
        choices = cover_choices(
            Y,
            LABELSET_SIZES if k == AUTO else [k],
            ORDERS if r == AUTO else [r],
            strategy=strategy,
            size=size,
            adapt=adapt,
            budget=budget,
            random_state=random_state,
        )
        (chosen,) = [choice.cover for choice in choices if choice.cover and choice.chosen]
        return chosen, choices
    k, r = (min(3, m) if k == AUTO else k), (2 if r == AUTO else r)
    made = strategy(m, k, r, size=size, random_state=random_state)
    order = min(r + 1, made.k)
    if adapt and order >= 2:
        dependence = label_dependence(Y, order)
        made = adapt_cover(made, dependence, random_state=random_state).cover
    return made, None
