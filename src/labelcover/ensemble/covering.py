"""Which cover an estimator uses."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import comb
from typing import Any

from numpy.typing import ArrayLike

from labelcover._arguments import check_choice, check_integer
from labelcover.covers import Cover, balco_cover, best_cover, strategies_by_name

Strategy = Callable[..., Cover]

# A cover of all pairs grows with the square of the number of labels. Where even the smallest
# possible one is larger than this, the default is a balanced cover of single labels instead.
MOST_MEMBERS = 5_000
# Its size, in labelsets for each label.
LABELSETS_PER_LABEL = 4


def default_cover(
    n_labels: int, k: int, r: int = 2, *, size: int | None = None, random_state: Any = None
) -> Cover:
    """Return the cover that serves best where nobody asked for a certain one.

    All r-labelsets are covered by the fewest labelsets known, with balanced label counts. Where
    that would take more than 5,000 members and no `size` is given, labels are only balanced, in
    4 labelsets for each label.
    """
    fewest = comb(n_labels, r) / comb(k, r)
    if size is None and fewest > MOST_MEMBERS:
        size = LABELSETS_PER_LABEL * n_labels
        return balco_cover(n_labels, k, r, size=size, random_state=random_state)
    return best_cover(n_labels, k, r, size=size, random_state=random_state)


def make_cover(
    cover: str | Cover | Strategy | ArrayLike,
    n_labels: int,
    *,
    k: int,
    r: int = 2,
    size: int | None = None,
    random_state: Any = None,
) -> Cover:
    """Return the cover that the parameters of an estimator describe.

    Parameters
    ----------
    cover : str, Cover, callable or array-like
        "auto" or the name of a strategy ("best", "random", "inlac", "balco", "balancor" and the
        others of `labelcover.covers`); or a function like those, called with
        ``(n_labels, k, r, size=size, random_state=random_state)``; or the labelsets themselves.
    """
    if not isinstance(cover, str) and not callable(cover):
        return fixed_cover(cover, n_labels)
    asked, k = k, labelset_size(k, n_labels)
    if callable(cover):
        strategy = cover
    else:
        known = {"auto": default_cover, **strategies_by_name()}
        strategy = known[check_choice("cover", cover, list(known))]
    r = check_integer("r", r, low=1)
    if k < asked or k == 1:
        r = min(r, k)
    made = strategy(n_labels, k, r, size=size, random_state=random_state)
    if not isinstance(made, Cover):
        raise ValueError(f"cover must return a Cover, got {made!r} from {cover!r}.")
    return fixed_cover(made, n_labels)


def fixed_cover(cover: Cover | ArrayLike, n_labels: int) -> Cover:
    """Return `cover` if it is for `n_labels` labels; rows of label indices become a `Cover`."""
    if not isinstance(cover, Cover):
        return Cover(cover, n_labels)
    if cover.n_labels != n_labels:
        raise ValueError(
            f"cover must be for the {n_labels} labels of Y, got one for {cover.n_labels} labels."
        )
    return cover


def labelset_size(k: int, n_labels: int) -> int:
    """Return `k`, or the number of labels with a warning if that is less."""
    k = check_integer("k", k, low=1)
    if k <= n_labels:
        return k
    warnings.warn(
        f"k={k} is larger than the number of labels; k={n_labels} is used: one labelset of all.",
        UserWarning,
        stacklevel=4,
    )
    return n_labels
