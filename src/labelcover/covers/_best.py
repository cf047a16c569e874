"""The smallest cover that the library knows or can make."""

import warnings
from collections.abc import Callable
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer, check_random_state
from labelcover._progress import progress_bar
from labelcover.covers._catalogue import DamagedEntry, catalogued_cover
from labelcover.covers._cover import Cover
from labelcover.covers._designs.constructions import RULES
from labelcover.covers._designs.cyclic import cyclic_cover
from labelcover.covers._designs.plans import Planner, Rows
from labelcover.covers._greedy import labelset_search
from labelcover.covers._greedy_kernels import rows_label_by_label
from labelcover.covers._local_search import Annealer, balanced, filled, without_spare_rows
from labelcover.covers._problem import State, check_problem, set_cover, swap_to_balance
from labelcover.covers.bounds import lower_bound

#: Steps of annealing that each effort may take.
EFFORTS = {"instant": 0, "seconds": 10_000_000, "minutes": 400_000_000}

# A balanced cover is preferred to a smaller one that is not, if that saves less than this share.
BALANCE_WORTH = 0.01
# How many of the smallest plans are built and compared; of larger covers only the first.
PLANS_BUILT, MOST_COMPARED_ROWS = 3, 20_000
# Annealing keeps a table of rows by labels, of at most so many bytes. Of larger covers it would
# take off no more than a row or two a second.
MOST_TABLE = 2**24
# The label-by-label greedy is run where plans are this far above the lower bound, and for at
# most so many r-labelsets.
GREEDY_ABOVE, GREEDY_LABELSETS = 1.1, 2_000_000
# Random rows are annealed where the lower bound is at most this; larger covers start from plans.
MOST_RANDOM_ROWS = 100
# Shares of the effort: for one size of cover; for balance.
SIZE_SHARE, BALANCE_SHARE = 12, 4
# Parts with a symmetry are looked for where the whole cover has at most so many labels; a few
# rows less in a part gain nothing where remnants of thousands of rows are packed together.
MOST_SYMMETRIC = 200
# Steps of the search for base blocks, for each step of the effort, as they are the lighter ones:
# on the labels themselves, and on one label more, which is then taken out.
CYCLIC_STEPS = (2, 1)
# Covers that are parts of a larger one: annealed up to this many rows and labels in a row, with
# these steps a size.
MOST_PART_ROWS, MOST_PART_K, PART_STEPS = 40, 16, 300_000


#: What returns the rows of a smaller cover that may be used as a part, or None.
Parts = Callable[[int, int, int], Rows | None] | None
Made = tuple[Rows, str]  # and what made them


def best_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    effort: str | int = "seconds",
    random_state: Any = None,
    verbose: bool = False,
) -> Cover:
    """Return the smallest cover known to the library, verified and balanced.

    It is the best of the catalogue, of designs from algebra, of a greedy that builds labelsets
    label by label, of base blocks moved by a cyclic group, and of annealing that drops labelsets
    and mends the rest.

    Parameters
    ----------
    n_labels, k, r : int
        Labels m, labels in a labelset, and labels in each combination to cover: r ≤ k ≤ m.
    size : int, optional
        Number of labelsets σ. By default as few as are known to cover everything; with more,
        the rest even out how often labels occur; with fewer, as much as possible is covered.
    effort : {"instant", "seconds", "minutes"} or int, default="seconds"
        How much work may go into a cover that the catalogue does not hold: steps of annealing,
        none, ten million or four hundred million, so that results do not depend on the clock.
        With more than "seconds", covers of the catalogue that may not be the smallest are
        worked on too.
    random_state : int, RandomState or None
        Seed of the annealing. The catalogue and algebra do not depend on it.
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    Cover
        With its ``method``, ``lower_bound`` and ``gap``. All labelsets are different.

    Warns
    -----
    UserWarning
        If the catalogue's entry is damaged; the cover is then built.

    Examples
    --------
    >>> from labelcover.covers import best_cover
    >>> cover = best_cover(45, 5)
    >>> len(cover), cover.imbalance, cover.gap, cover.coverage(2)
    (99, 0, 0.0, 1.0)
    """
    m, k, r, size = check_problem(n_labels, k, r, size)
    steps, rng = _effort(effort, random_state)
    known = _known(m, k, r)
    if known is None or (known.gap != 0.0 and steps > EFFORTS["seconds"]):
        made = _built(m, k, r, steps, rng, parts=_known_rows, known=known, verbose=verbose)
        covers = [made] if known is None else [known, made]
        # The one in balance, if it has few labelsets more.
        worth = [len(cover) * (1.0 + BALANCE_WORTH * (cover.imbalance > 1)) for cover in covers]
        known = covers[int(np.argmin(worth))]
    if size is None or size == len(known):
        return known
    rows = Annealer(m, r, rng, steps // SIZE_SHARE).with_size(known.labelsets, size)
    rows = _different(rows, m, r, len(known))
    return Cover(rows, m, method=known.method, lower_bound=known.lower_bound)


def build_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    effort: str | int = "seconds",
    random_state: Any = None,
    parts: Parts = None,
    verbose: bool = False,
) -> Cover:
    """Return the smallest cover that can be made from scratch, without the catalogue.

    Parameters
    ----------
    n_labels, k, r, effort, random_state, verbose
        As for `best_cover`.
    parts : callable, optional
        ``parts(n_labels, k, r)`` returns the rows of a smaller cover that may be used as a part,
        or ``None``. By default parts are made from scratch too.
    """
    m, k, r, _ = check_problem(n_labels, k, r, None)
    steps, rng = _effort(effort, random_state)
    return _built(m, k, r, steps, rng, parts=parts, verbose=verbose)


def _effort(effort: str | int, random_state: Any) -> tuple[int, np.random.Generator]:
    if isinstance(effort, str):
        steps = EFFORTS[check_choice("effort", effort, EFFORTS)]
    else:
        steps = check_integer("effort", effort, low=0)
    return steps, np.random.default_rng(check_random_state(random_state).randint(2**31))


def _distinct(rows: Rows) -> NDArray[np.intp]:
    """Return which rows repeat no earlier one; the table has no gaps in memory."""
    return np.sort(np.unique(rows.view(f"V{rows[0].nbytes}"), return_index=True)[1])


def _known(m: int, k: int, r: int) -> Cover | None:
    """Return the catalogue's cover; a damaged entry is warned of and counts as none."""
    try:
        return catalogued_cover(m, k, r)
    except DamagedEntry as error:
        warnings.warn(f"{error} The cover is built instead.", UserWarning, stacklevel=3)
        return None


def _different(rows: Rows, m: int, r: int, n_known: int) -> Rows:
    """Return the rows with others in the place of those that repeat an earlier one.

    The first `n_known` rows cover everything. If there are more, the others are chosen for
    balance; if there are fewer, they cover as many new r-labelsets as possible.
    """
    rows = np.sort(rows, axis=1)
    first = _distinct(rows)
    if len(first) == len(rows):
        return rows
    surplus = len(rows) > n_known
    problem = set_cover(m, rows.shape[1], 1 if surplus else r, len(rows))
    state = State(problem, rows[first])
    search = labelset_search(state, "balance" if surplus else "gain")
    while not state.done:
        state.add(search())
        if surplus:
            swap_to_balance(state, first=n_known)
    return state.rows


@lru_cache(maxsize=256)
def _annealed_part(m: int, k: int, r: int, symmetric: bool) -> Rows | None:
    """Return a small cover annealed from scratch with a fixed seed; ``None`` if it is not small.

    With `symmetric`, covers with a cyclic symmetry are looked for too.
    """
    if m <= k or not 3 < k <= MOST_PART_K or r < 2 or lower_bound(m, k, r) > MOST_PART_ROWS:
        return None
    least = lower_bound(m, k, r)
    # A step looks at C(k−1, r−1) labelsets.
    steps = 8 * PART_STEPS // max(8, comb(k - 1, r - 1))
    annealer = Annealer(m, r, np.random.default_rng(0), 2**62)
    rows = annealer.from_random(k, least, 2**31, steps)
    assert rows is not None  # some size covers everything
    found = cyclic_cover(m, k, r, least, len(rows), steps) if symmetric else None
    return rows if found is None else found[0]


def _known_rows(m: int, k: int, r: int) -> Rows | None:
    known = _known(m, k, r)
    return None if known is None else known.labelsets


def _built(m, k, r, steps, rng, *, parts: Parts, known: Cover | None = None, verbose) -> Cover:
    least = lower_bound(m, k, r)
    made = _started(m, k, r, least, parts, known)
    if len(made[0]) * m > MOST_TABLE:
        steps = 0
    with progress_bar(f"cover of {m} labels", steps or None, show=verbose) as bar:
        if len(made[0]) > least and steps > 0:
            annealer, share = Annealer(m, r, rng, steps, bar), max(steps // SIZE_SHARE, 1)
            made = _symmetric(*_mended(*made, least, share, annealer), steps, annealer)
            made = _annealed(*made, least, share, annealer)
        rows, method = made
        rows = _level_and_different(rows, m, r, steps // BALANCE_SHARE, rng)
    cover = Cover(rows, m, method=method, lower_bound=least)
    if cover.coverage(r) < 1.0:
        raise RuntimeError(f"{method}: the cover of ({m}, {k}, {r}) misses some labelsets.")
    return cover


def _level_and_different(rows: Rows, m: int, r: int, steps: int, rng) -> Rows:
    """Return the rows with spare places filled and labels balanced, none of them twice."""
    while True:
        full = balanced(filled(rows, m), m, r)
        if np.ptp(np.bincount(full.ravel(), minlength=m)) > 1:
            full = Annealer(m, r, rng, steps).levelled(full)
        full = np.sort(full, axis=1)
        first = _distinct(full)
        if len(first) == len(full):
            return full
        # Two rows may have become one in balancing: what is left covers everything too.
        rows = full[first]


def _started(m, k, r, least, parts: Parts, known: Cover | None) -> Made:
    """Return the fewest rows that need no annealing, and what made them."""

    def given(*part: int) -> Rows | None:
        rows = parts(*part) if parts is not None and part[0] > part[1] else None
        return _annealed_part(*part, m <= MOST_SYMMETRIC) if rows is None else rows

    plans = Planner(RULES, given).plans(m, k, r)
    compared = 1 if plans and plans[0].size > MOST_COMPARED_ROWS else PLANS_BUILT
    made = [(without_spare_rows(p.build(), m, r), p.title) for p in plans[:compared]]
    fewest = min((len(rows) for rows, _ in made), default=2**62)
    if (fewest > GREEDY_ABOVE * least and comb(m, r) <= GREEDY_LABELSETS) or not made:
        rows = without_spare_rows(rows_label_by_label(m, k, r, 0), m, r)
        made.append((rows, "greedy, label by label"))
    if known is not None:
        made.append((np.asarray(known.labelsets), known.method or "catalogue"))
    return min(made, key=lambda pair: len(pair[0]))


def _mended(rows: Rows, method: str, least: int, share: int, annealer: Annealer) -> Made:
    """Return fewer rows, by annealing from those given."""
    mended = annealer.fewer_rows(rows, least, share)
    if len(mended) < len(rows) and "annealed" not in method:
        method += ", annealed"
    return mended, method


def _symmetric(rows: Rows, method: str, steps: int, annealer: Annealer) -> Made:
    """Return fewer rows that a cyclic group leaves as they are, or those given."""
    m, k, r = annealer.n_labels, rows.shape[1], annealer.r
    for more, times in enumerate(CYCLIC_STEPS):
        seed = int(annealer.rng.integers(2**31))
        fewest = lower_bound(m + more, k, r)
        found = cyclic_cover(m + more, k, r, fewest, len(rows), times * steps, seed)
        if found is not None:
            rows = without_spare_rows(np.where(found[0] < m, found[0], -1), m, r)
            method = found[1] + (", shortened" if more else "")
    return rows, method


def _annealed(rows: Rows, method: str, least: int, share: int, annealer: Annealer) -> Made:
    """Return fewer rows, by annealing from random ones and from those given."""
    while annealer.left > 0 and len(rows) > least:
        rows, method = _mended(rows, method, least, share, annealer)
        if least <= MOST_RANDOM_ROWS and annealer.left > 1:
            found = annealer.from_random(rows.shape[1], least, len(rows), share)
            if found is not None:
                rows, method = found, "annealed"
        share = 2 * share  # what was not found so needs slower cooling
    return rows, method
