"""Covers by randomised rounding and by the randomised greedy (Section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._progress import progress_bar
from labelcover.covers._choosers import SearchChooser
from labelcover.covers._state import State, check_problem, run, start
from labelcover.covers.cover import Cover
from labelcover.covers.exact import all_labelsets, incidence
from labelcover.covers.greedy import greedy_cover
from labelcover.covers.labelset_kernels import labelset_ranks
from labelcover.covers.strategies import inlac_cover


def rounded_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    scale: float = 1.5,
    trials: int = 10,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return the smallest of several covers made by rounding the fractional solution.

    The linear relaxation of the zero-one program gives every labelset a fraction; each is
    multiplied by `scale` and is the chance of a coin that decides whether the labelset is taken.
    What is left uncovered is covered greedily, and labelsets that are not needed are dropped.

    Parameters
    ----------
    n_labels, k, r : int
        Labels m, labels in a labelset, and labels in each combination to cover: r ≤ k ≤ m.
    size : int, optional
        Number of labelsets σ: the best of the rounded ones in greedy order, and if they are
        fewer, more as INLAC would choose. By default as many as it takes.
    scale : float, default=1.5
        Factor above 1 on the fractions.
    trials : int, default=10
        How often the coins are tossed; the smallest cover is kept.
    random_state : int, RandomState or None
        Seed.
    verbose : bool, default=False
        Show a progress bar, if standard error is a terminal.

    Examples
    --------
    >>> from labelcover.covers import rounded_cover
    >>> rounded_cover(6, 3, random_state=0).coverage(2)
    1.0
    """
    n_labels, k, r, size = check_problem(n_labels, k, r, size)
    trials = check_integer("trials", trials, low=1)
    scale = check_real("scale", scale, above=1)
    rng = check_random_state(random_state)
    rows = all_labelsets(n_labels, k)
    names = rng.permutation(n_labels)
    rows = np.sort(names[rows], axis=1).astype(np.int32)
    table = incidence(rows, n_labels, r)
    # The simplex method ends in a corner, where few fractions are not zero.
    answer = linprog(
        np.ones(len(rows)), A_ub=-table, b_ub=-np.ones(table.shape[0]), method="highs-ds"
    )
    if answer.x is None:
        raise RuntimeError(f"rounded: the linear program was not solved: {answer.message}")
    chances = np.minimum(scale * np.clip(answer.x, 0, 1), 1)
    covers = []
    with progress_bar("cover (rounded)", trials, show=verbose) as bar:
        for _ in range(trials):
            taken = rows[rng.uniform(size=len(rows)) < chances]
            covers.append(_repaired(taken, (n_labels, k, r), size))
            bar.advance()
    return min(covers, key=lambda cover: (len(cover), -cover.coverage(r)))


def randomized_greedy_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    trials: int = 10,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return the smallest of several INLAC covers with ties broken at random at every step.

    Parameters are those of `rounded_cover`; with `size`, the trial that covers most is kept.
    """
    trials = check_integer("trials", trials, low=1)
    rng = check_random_state(random_state)
    covers = []
    with progress_bar("cover (randomised greedy)", trials, show=verbose) as bar:
        for _ in range(trials):
            covers.append(inlac_cover(n_labels, k, r, size=size, ties="random", random_state=rng))
            bar.advance()
    best = min(covers, key=lambda cover: (len(cover), -cover.coverage(r)))
    return Cover(best.labelsets, best.n_labels, method="randomised greedy")


def _repaired(rounded: NDArray[np.int32], problem: tuple[int, int, int], size: int | None) -> Cover:
    """Cover greedily what the rounded labelsets leave, drop what is not needed, fit the size."""
    rows = _completed(rounded, start(*problem, None)).labelsets
    rows = rows[_needed(labelset_ranks(rows, problem[2]).reshape(len(rows), -1))]
    if size is None:
        return Cover(rows, problem[0], method="rounded")
    best = greedy_cover(*problem, size=min(size, len(rows)), candidates=rows)
    return _completed(best.labelsets, start(*problem, size))


def _completed(rows: NDArray[np.int32], state: State) -> Cover:
    """Add labelsets as INLAC would until `state` is done."""
    for row in rows:
        state.add(row)
    chooser = SearchChooser(state, gain=1, balance=0, ties="first", rng=None)
    return run(state, chooser.next_labelset, method="rounded")


def _needed(ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which labelsets stay when those whose r-labelsets others hold are dropped in turn."""
    times = np.bincount(ranks.ravel())
    keep = np.ones(len(ranks), dtype=bool)
    for i in range(len(ranks)):
        if (times[ranks[i]] > 1).all():
            times[ranks[i]] -= 1
            keep[i] = False
    return keep
