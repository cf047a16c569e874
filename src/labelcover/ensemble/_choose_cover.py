"""Which cover an estimator uses for the training labels at hand."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover import covers, dependence
from labelcover._arguments import check_choice, check_integer, is_auto
from labelcover.covers import Cover
from labelcover.covers.bounds import cover_size_bounds
from labelcover.ensemble._plan import AUTO

Strategy = Callable[..., Cover]

# A cover of all pairs grows with the square of the number of labels. Where even the smallest
# possible one is larger than this, the default is a balanced cover of single labels instead.
MOST_MEMBERS = 5_000
# Its size, in labelsets for each label.
LABELSETS_PER_LABEL = 4
# The labels of a labelset, unless a user says otherwise: with fewer labels in all, nobody is told.
DEFAULT_K = 3


def choose_cover(
    Y: Any,
    cover: str | Cover | Strategy | ArrayLike,
    *,
    k: Any,
    r: Any = 2,
    size: Any = None,
    adapt: bool = False,
    budget: Any = None,
    min_count: int = 5,
    annealing: Mapping[str, Any] | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> tuple[Cover, list[dependence.CoverChoice] | None]:
    """Return the cover that the parameters of an estimator describe for the labels `Y`.

    Parameters
    ----------
    cover, k, r, size, adapt, budget
        As for `LabelCoverClassifier`. A function is called with
        ``(n_labels, k, r, size=size, random_state=random_state)``, or, if its first parameter is
        called ``Y``, with `Y` and what else of these it takes. `k` may be None for a strategy that
        looks at the labels and needs none.
    min_count, annealing
        As for `label_dependence`, and for `adapt_cover`.

    Returns
    -------
    cover : Cover
    choices : list of CoverChoice or None
        What the cover was chosen from, with ``k="auto"`` or ``r="auto"``.
    """
    m = Y.shape[1]
    size = None if size is None else check_integer("size", size, low=1)
    strategy, looks_at_labels = _strategy(cover, Y, bool(verbose))
    if strategy is not None and (is_auto(k) or is_auto(r)):
        choices = dependence.cover_choices(
            Y,
            dependence.LABELSET_SIZES if is_auto(k) else [k],
            dependence.ORDERS if is_auto(r) else [r],
            strategy=strategy,
            size=size,
            adapt=adapt,
            budget=budget,
            min_count=min_count,
            annealing=annealing,
            random_state=random_state,
        )
        (chosen,) = [choice.cover for choice in choices if choice.cover and choice.chosen]
        return chosen, choices
    r = 2 if is_auto(r) else check_integer("r", r, low=1)
    made: Any = cover
    if strategy is not None:
        if k is not None or not looks_at_labels:
            k, r = labelset_shape(k, r, m)
        made = strategy(m, k, r, size=size, random_state=random_state)
    try:
        made = Cover.of(made, m)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cover must be a strategy or labelsets: {error}") from error
    if made.n_labels != m:
        raise ValueError(
            f"cover must be for the {m} labels of Y, got one for {made.n_labels} labels."
        )
    order = min(r + 1, made.k)
    if adapt and order >= 2:
        found = dependence.label_dependence(Y, order, min_count=min_count)
        how = annealing or {}
        made = dependence.adapt_cover(made, found, **how, random_state=random_state).cover
    return made, None


def default_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Cover:
    """Return the cover of members that serves best where nobody asked for a certain one.

    All r-labelsets are covered by the fewest labelsets known, with balanced label counts. Where
    that would take more than 5,000 members and no `size` is given, labels are only balanced, in
    4 labelsets for each label, from random partitions: of so many labels, pairs that depend on each
    other hardly meet by any design.
    """
    strategy: Strategy = covers.best_cover
    if size is None and comb(n_labels, r) / comb(k, r) > MOST_MEMBERS:
        strategy, size = covers.disjoint_cover, LABELSETS_PER_LABEL * n_labels
    return strategy(n_labels, k, r, size=size, random_state=random_state, verbose=verbose)


def linking_cover(Y: Any, k: int, r: int = 2, *, size: int | None = None) -> Cover:
    """Return the cover whose labelsets link labels: those that depend on each other.

    It has at most 4 labelsets for each label. With ``k=1`` there is nothing to link.
    """
    m = Y.shape[1]
    if k < 2 or r < 2:
        return single_labels(np.arange(m), m)
    size = LABELSETS_PER_LABEL * m if size is None else size
    return dependence.dependent_cover(Y, k, r, size=size)


def single_labels(labels: NDArray[np.int64], n_labels: int) -> Cover:
    """Return the cover of some labels, a labelset each."""
    return Cover(labels[:, None], n_labels, method="single labels")


def balancor_size(n_labels: int, k: int, r: int) -> int:
    """Return the number of labelsets of BALANCOR's cover, or fewer where it is too large to make.

    Warns
    -----
    UserWarning
        If the least number that Lemma 2 allows is above 5,000; that number is then returned, and
        is not the size of BALANCOR's cover.
    """
    fewest, _ = cover_size_bounds(n_labels, k, r)
    if fewest <= MOST_MEMBERS:
        return _balancor_size(n_labels, k, r)
    warnings.warn(
        f"BALANCOR's cover of {n_labels} labels with k={k} and r={r} has more than {MOST_MEMBERS} "
        f"labelsets and is not made to count them; {fewest} are used, the least that Lemma 2 "
        "allows. Give all methods the same `size` to compare them at equal size.",
        UserWarning,
        stacklevel=3,
    )
    return fewest


@cache
def _balancor_size(n_labels: int, k: int, r: int) -> int:
    return len(covers.balancor_cover(n_labels, k, r, random_state=0))


def labelset_shape(k: Any, r: Any, n_labels: int) -> tuple[int, int]:
    """Return `k` and `r`, both at most the number of labels, with a warning if `k` was not.

    There is none for the default.
    """
    k, r = check_integer("k", k, low=1), check_integer("r", r, low=1)
    if k == 1:
        return 1, 1
    if r > k:
        raise ValueError(f"r must be at most k={k}, the labels in a labelset, got {r}.")
    if k > n_labels and k != DEFAULT_K:
        warnings.warn(
            f"k={k} is larger than the number of labels; k={n_labels} is used: one labelset of "
            "all.",
            UserWarning,
            stacklevel=7,
        )
    return min(k, n_labels), min(r, n_labels)


def _strategy(cover: Any, Y: NDArray[np.uint8], verbose: bool) -> tuple[Strategy | None, bool]:
    """Return the function that makes the cover, and whether it looks at the labels.

    The function is None if the labelsets themselves are given. One that looks at the labels has the
    label table, called Y, as its first parameter.
    """
    if isinstance(cover, str):
        known = {AUTO: default_cover, **covers.strategies_by_name()}
        own = dependence.strategies_by_name()
        if check_choice("cover", cover, [*known, *own]) in known:
            return partial(known[cover], verbose=verbose), False
        cover = own[cover]
    if not callable(cover):
        return None, False
    try:
        taken: Mapping[str, Any] = inspect.signature(cover).parameters
    except (TypeError, ValueError):  # some compiled functions do not say what they take
        taken = {}
    takes_all = any(each.kind is each.VAR_KEYWORD for each in taken.values())
    looks_at_labels = next(iter(taken), None) == "Y"

    def strategy(*shape: int, size: Any, **options: Any) -> Cover:
        if not looks_at_labels:
            made = cover(*shape, size=size, **options)
        elif size is None or takes_all or "size" in taken:
            options |= dict(zip(("k", "r"), shape[1:], strict=True)) | {"size": size}
            made = cover(Y, **{x: v for x, v in options.items() if takes_all or x in taken})
        else:
            raise ValueError(
                f"size must be None for {getattr(cover, '__name__', repr(cover))}: the number "
                f"of labelsets follows from the labels, got {size!r}."
            )
        try:
            return Cover.of(made, Y.shape[1])
        except (TypeError, ValueError) as error:
            told = f"cover must return a Cover, got {made!r} from {cover!r}."
            raise ValueError(told) from error

    return strategy, looks_at_labels
