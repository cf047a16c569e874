"""Given labelsets, completed to a cover (the future work of Section 2.2)."""

from __future__ import annotations

from dataclasses import replace
from math import comb

from labelcover._arguments import check_integer, check_random_state
from labelcover.covers._choosers import chooser_for
from labelcover.covers._constraints import Constraints
from labelcover.covers._labelset_table import Labelsets
from labelcover.covers._problem import check_problem, set_cover
from labelcover.covers._state import State, run
from labelcover.covers.cover import Cover


def complete_cover(
    start: Cover | Labelsets,
    r: int = 2,
    *,
    k: int | None = None,
    n_labels: int | None = None,
    size: int | None = None,
    ties: str = "first",
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return the labelsets of `start` and more, as INLAC would add them, that cover everything.

    The paper proposes to take a known matrix, such as a constant-weight code, as the starting
    point for one that covers all combinations of labels, and leaves that to future work
    (Section 2.2).

    Parameters
    ----------
    start : Cover or sequence of labelsets
        What to begin with, of one size or of several.
    r : int, default=2
        Labels in each combination to cover.
    k : int, optional
        Labels in each labelset that is added, at least `r`. By default as many as in the largest
        of `start`.
    n_labels : int, optional
        Number of labels m. Needed if `start` is no `Cover`.
    size : int, optional
        Number of labelsets σ with those of `start`. By default as many as it takes.
    ties, random_state, verbose
        As for `inlac_cover`.

    Returns
    -------
    Cover
        The labelsets of `start` in their order, then the others in the order they were chosen.
        None of the latter is the same as another one.

    Examples
    --------
    Table 3 of the paper misses ten pairs of labels; two labelsets more cover them:

    >>> from labelcover.covers import Cover, complete_cover
    >>> from labelcover.covers.codes import A_19_10_8
    >>> code = Cover.from_matrix(A_19_10_8)
    >>> len(code), len(code.uncovered(2))
    (11, 10)
    >>> complete = complete_cover(code)
    >>> len(complete), complete.coverage(2)
    (13, 1.0)
    """
    if not isinstance(start, Cover):
        start = Cover(start, check_integer("n_labels", n_labels, low=1))
    elif n_labels is not None and n_labels != start.n_labels:
        raise ValueError(
            f"n_labels must be {start.n_labels}, that of start, or left out, got {n_labels!r}."
        )
    m, k, r, _ = check_problem(start.n_labels, start.k if k is None else k, r, None)
    if size is not None:
        chosen = len({tuple(labels.tolist()) for labels in start if len(labels) == k})
        most = len(start) + comb(m, k) - chosen
        size = check_integer("size", size, low=len(start), high=most)
    rng = check_random_state(random_state)
    problem = replace(set_cover(m, k, r, None), size=size)
    state = State(problem, Constraints.of(m))
    return completed(start, state, ties=ties, rng=rng, method="completed", verbose=verbose)


def completed(
    given: Cover, state: State, *, method: str, ties: str = "first", rng=None, verbose: bool = False
) -> Cover:
    """Return `given` with the labelsets of greatest gain that make the problem of `state` done."""
    chooser = chooser_for(state, "gain", ties, rng)
    state.take(given)
    return run(state, chooser.next_labelset, method=method, verbose=verbose)
