"""Covers by randomised rounding and by the randomised greedy (Section 3.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._progress import progress_bar
from labelcover.covers._choosers import chooser_for
from labelcover.covers._constraints import Constraints
from labelcover.covers._labelset_table import Labelsets, labelset_rows
from labelcover.covers._problem import SetCover, check_coverable, incidence, set_cover
from labelcover.covers._state import State, run
from labelcover.covers.complete import completed
from labelcover.covers.cover import Cover
from labelcover.covers.exact import candidate_rows
from labelcover.covers.strategies import inlac_cover


def rounded_cover(
    n_labels: int,
    k: int | None = None,
    r: int = 2,
    *,
    size: int | None = None,
    universe: Labelsets | None = None,
    candidates: Labelsets | None = None,
    weights: ArrayLike | None = None,
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
        With `candidates`, k is the most labels that one may have and can be left out; with
        `universe`, r is not used.
    size : int, optional
        Number of labelsets σ: the best of the rounded ones in greedy order, and if they are
        fewer, more as INLAC would choose. By default as many as it takes.
    universe : sequence of labelsets, optional
        What to cover, Ω, of one size or of several. By default all r-labelsets.
    candidates : sequence of labelsets, optional
        The labelsets Σ to choose from, of one size or of several. By default all k-labelsets.
    weights : array-like of shape (n,), optional
        Positive weights w of the candidates: the cover of the least total weight is kept instead
        of the smallest. Needs `candidates` and goes without `size`.
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
    problem = set_cover(
        n_labels, k, r, size, universe=universe, candidates=candidates, weights=weights
    )
    if size is not None and weights is not None:
        raise ValueError(f"weights do not go with a size; leave out one, got size={size}.")
    trials = check_integer("trials", trials, low=1)
    scale = check_real("scale", scale, above=1)
    rng = check_random_state(random_state)
    rows = candidate_rows(problem)
    if universe is None and candidates is None:
        rows = np.sort(rng.permutation(problem.m)[rows], axis=1).astype(np.int32)
    table = incidence(rows, problem.outside)
    if candidates is not None or universe is not None:
        check_coverable(table, problem)
    costs = np.ones(len(rows)) if problem.weights is None else problem.weights
    chances = np.minimum(scale * _fractions(table, costs), 1)
    best, least = None, (np.inf, 0)
    with progress_bar("cover (rounded)", trials, show=verbose) as bar:
        for _ in range(trials):
            taken = rows[rng.uniform(size=len(rows)) < chances]
            cover, merit = _repaired(taken, problem)
            if merit < least:
                best, least = cover, merit
            bar.advance()
    assert best is not None
    return best


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


def _fractions(table: csr_array, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much of each column the linear relaxation takes."""
    # The simplex method ends in a corner, where few fractions are not zero.
    answer = linprog(costs, A_ub=-table, b_ub=-np.ones(table.shape[0]), method="highs-ds")
    if answer.x is None:
        raise RuntimeError(f"rounded: the linear program was not solved: {answer.message}")
    return np.clip(answer.x, 0, 1)


def _repaired(rounded: NDArray[np.int32], problem: SetCover) -> tuple[Cover, tuple[float, int]]:
    """Cover greedily what the rounded labelsets leave, drop what is not needed, fit the size.

    Returns the cover, its cost and how many labelsets it leaves uncovered.
    """
    rules = Constraints.of(problem.m)
    whole = _completed(rounded, State(replace(problem, size=None), rules))
    weights = _weights(whole, problem)
    keep = _needed(incidence(whole.labelsets, problem.outside), weights)
    needed = whole.take(keep)
    if problem.size is None:
        return needed, (float(weights[keep].sum()), 0)
    size = min(problem.size, len(needed))
    some = replace(problem, k=needed.k, candidates=needed.labelsets, size=size)
    state = State(some, rules)
    best = run(state, chooser_for(state).next_labelset, method="rounded")
    state = State(problem, rules)
    cover = _completed(best.labelsets, state)
    return cover, (float(len(cover)), state.remaining)


def _completed(rows: NDArray[np.int32], state: State) -> Cover:
    """Add labelsets as the greedy would until `state` is done."""
    if len(rows) == 0:
        return run(state, chooser_for(state).next_labelset, method="rounded")
    return completed(Cover(labelset_rows(rows), state.m), state, method="rounded")


def _weights(cover: Cover, problem: SetCover) -> NDArray[np.float64]:
    """Return the weight of each labelset, which is one of the candidates."""
    if problem.weights is None or problem.candidates is None:
        return np.ones(len(cover))
    candidates = Cover(labelset_rows(problem.candidates), problem.m)
    names = [tuple(labels.tolist()) for labels in candidates]
    weight = dict(zip(names, problem.weights, strict=True))
    return np.array([weight[tuple(labels.tolist())] for labels in cover])


def _needed(table: csr_array, weights: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns stay when those whose rows others hold are dropped in turn.

    The heaviest are dropped first.
    """
    columns = table.tocsc()
    times = np.diff(table.indptr)
    keep = np.ones(table.shape[1], dtype=bool)
    for i in np.argsort(-weights, kind="stable"):
        held = columns.indices[columns.indptr[i] : columns.indptr[i + 1]]
        if (times[held] > 1).all():
            times[held] -= 1
            keep[i] = False
    return keep
