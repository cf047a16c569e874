"""Covers by programs that HiGHS solves (Section 3): zero-one, and relaxed and rounded."""

from dataclasses import replace
from math import comb, floor

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, eye_array, hstack

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._progress import progress_bar
from labelcover.covers._cover import Cover
from labelcover.covers._greedy import completed
from labelcover.covers._labelset_table import Labelsets, labelset_rows, labelsets_in_order
from labelcover.covers._problem import SetCover, State, check_covered, incidence, set_cover
from labelcover.covers.bounds import schonheim_bound

#: A zero-one program with more k-labelsets than this is refused.
MOST_CANDIDATES = 1_000_000


def exact_cover(
    n_labels: int,
    k: int | None = None,
    r: int = 2,
    *,
    size: int | None = None,
    universe: Labelsets | None = None,
    candidates: Labelsets | None = None,
    weights: ArrayLike | None = None,
    node_limit: int | None = None,
    gap: float = 0.0,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return a cover of the least possible size, with the proven bound in ``lower_bound``.

    Parameters
    ----------
    n_labels, k, r, universe, candidates
        As for `greedy_cover`. Practical for some hundred thousand k-labelsets at most.
    size : int, optional
        Instead of the least size, take this many labelsets and cover as much as possible.
    weights : array-like of shape (n,), optional
        Positive weights w of the candidates: the total weight is made least instead of the size.
        Needs `candidates` and goes without `size`.
    node_limit : int, optional
        Stop after this many nodes of the search tree.
    gap : float, default=0
        Stop when the size is proven to be within this share of the least.
    random_state : int, RandomState or None
        If given, the labels are renamed at random: every renaming is as small. Not used with
        `universe` or `candidates`.
    verbose : bool, default=False
        Show a progress bar.

    Returns
    -------
    Cover
        ``cover.lower_bound`` is what has been proven and ``cover.gap`` is 0 if that is its size.
        With `weights`, ``cover.method`` says the total weight and the bound proven on it.

    Raises
    ------
    ValueError
        If an argument is out of range, the candidates cannot cover the universe or the program
        would be too large.
    RuntimeError
        If `node_limit` was reached before any cover was found.

    Notes
    -----
    The program is that of Section 3.1. Where all r-labelsets are covered by k-labelsets, it is
    tightened by what Schönheim's bound says of such covers: at least so many labelsets in all and
    at least so many with any one label. By symmetry the first labelset may be taken as given.

    Examples
    --------
    >>> from labelcover.covers import exact_cover
    >>> cover = exact_cover(6, 4)
    >>> len(cover), cover.lower_bound, cover.gap
    (3, 3, 0.0)

    The cheapest cover by candidates of different sizes:

    >>> candidates = [[0, 1, 2, 3], [0, 1], [2, 3, 4], [0, 4]]
    >>> cover = exact_cover(
    ...     5, universe=[[0, 1], [2, 3], [4]], candidates=candidates, weights=[4, 1, 2, 1]
    ... )
    >>> [labels.tolist() for labels in cover]
    [[0, 1], [2, 3, 4]]
    >>> cover.method
    'exact, weight 3, at least 3'
    """
    problem, rows, costs = _program(n_labels, k, r, size, universe, candidates, weights)
    rng = None if random_state is None else check_random_state(random_state)
    if node_limit is not None:
        node_limit = check_integer("node_limit", node_limit, low=0)
    gap = check_real("gap", gap, low=0, below=1)
    options = {"mip_rel_gap": gap} | ({} if node_limit is None else {"node_limit": node_limit})
    table = incidence(rows, problem.outside)
    symmetric = universe is None and candidates is None
    method, bound = "exact", None
    with progress_bar("cover (exact)", show=verbose):
        if problem.size is not None:
            chosen = _most_covered(table, problem.size, symmetric, options)
        else:
            check_covered(problem.covered_by(rows), problem.m)
            least, more = _schonheim(rows, problem) if symmetric else (1, [])
            constraints = [LinearConstraint(table, lb=1), *more]
            answer = _solve(costs, constraints, symmetric, options)
            chosen = answer.x > 0.5
            proven = 0.0 if answer.mip_dual_bound is None else answer.mip_dual_bound
            if problem.weights is None:
                bound = max(least, -floor(-proven + 1e-6))
            else:
                method = f"exact, weight {costs[chosen].sum():g}, at least {proven:g}"
    cover = Cover(labelset_rows(rows[chosen]), problem.m, method=method, lower_bound=bound)
    if problem.size is None and (table[:, chosen].sum(axis=1) == 0).any():
        raise RuntimeError("exact: the solver's answer leaves labelsets uncovered")
    return cover if rng is None or not symmetric else cover.permute(rng.permutation(problem.m))


def _program(
    n_labels, k, r, size, universe, candidates, weights
) -> tuple[SetCover, NDArray[np.int32], NDArray[np.float64]]:
    """Return the problem, its variables if not too many: the labelsets, and what they cost."""
    given = {"universe": universe, "candidates": candidates, "weights": weights}
    problem = set_cover(n_labels, k, r, size, **given)
    if size is not None and weights is not None:
        raise ValueError(f"weights do not go with a size; leave out one, got size={size}.")
    rows, m, k = problem.candidates, problem.m, problem.k
    count = comb(m, k) if rows is None else len(rows)
    if count > MOST_CANDIDATES:
        raise ValueError(
            f"n_labels={m} with k={k} has {count} labelsets; the zero-one program takes at most "
            f"{MOST_CANDIDATES}."
        )
    rows = labelsets_in_order(m, k, 0, count) if rows is None else rows
    return problem, rows, np.ones(count) if problem.weights is None else problem.weights


def _schonheim(rows: NDArray[np.int32], problem: SetCover) -> tuple[int, list[LinearConstraint]]:
    """Return Schönheim's bound on the number of labelsets, and what it says of them."""
    (r,) = problem.outside
    least = schonheim_bound(problem.m, problem.k, r)
    constraints = [LinearConstraint(np.ones((1, len(rows))), lb=least)]
    if r > 1:
        each = schonheim_bound(problem.m - 1, problem.k - 1, r - 1)
        with_label = incidence(rows, {1: np.zeros(problem.m, dtype=bool)})
        constraints.append(LinearConstraint(with_label, lb=each))
    return least, constraints


def _most_covered(table: csr_array, size: int, symmetric: bool, options: dict) -> NDArray[np.bool_]:
    """Maximise the number of rows covered by `size` columns."""
    elements, n = table.shape
    constraints = [
        LinearConstraint(hstack([table, -eye_array(elements)]), lb=0),
        LinearConstraint(np.concatenate([np.ones(n), np.zeros(elements)])[None], size, size),
    ]
    objective = np.concatenate([np.zeros(n), -np.ones(elements)])
    return _solve(objective, constraints, symmetric, options).x[:n] > 0.5


def _solve(objective, constraints, symmetric: bool, options):
    given = np.zeros(len(objective))
    given[0] = symmetric
    answer = milp(
        objective,
        constraints=constraints,
        integrality=np.ones(len(objective)),
        bounds=Bounds(given, np.ones(len(objective))),
        options=options,
    )
    if answer.x is None:
        raise RuntimeError(
            f"exact: no cover found within node_limit={options.get('node_limit')}: {answer.message}"
        )
    return answer


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
    n_labels, k, r, universe, candidates
        As for `greedy_cover`.
    size : int, optional
        Number of labelsets σ: the best of the rounded ones in greedy order, and if they are
        fewer, more as INLAC would choose. By default as many as it takes.
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
        Show a progress bar.

    Examples
    --------
    >>> from labelcover.covers import rounded_cover
    >>> rounded_cover(6, 3, random_state=0).coverage(2)
    1.0
    """
    problem, rows, costs = _program(n_labels, k, r, size, universe, candidates, weights)
    trials = check_integer("trials", trials, low=1)
    scale = check_real("scale", scale, above=1)
    rng = check_random_state(random_state)
    if universe is None and candidates is None:
        rows = np.sort(rng.permutation(problem.m)[rows], axis=1).astype(np.int32)
    table = incidence(rows, problem.outside)
    check_covered(problem.covered_by(rows), problem.m)
    # The simplex method ends in a corner, where few fractions are not zero.
    answer = linprog(costs, A_ub=-table, b_ub=-np.ones(table.shape[0]), method="highs-ds")
    if answer.x is None:
        raise RuntimeError(f"rounded: the linear program was not solved: {answer.message}")
    chances = np.minimum(scale * np.clip(answer.x, 0, 1), 1)
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


def _repaired(rounded: NDArray[np.int32], problem: SetCover) -> tuple[Cover, tuple[float, int]]:
    """Cover greedily what the rounded labelsets leave, drop what is not needed, fit the size.

    Returns the cover, its cost and how many labelsets it leaves uncovered.
    """
    whole = completed(State(replace(problem, size=None), rounded), method="rounded")
    weights = np.ones(len(whole))
    if problem.candidates is not None and problem.weights is not None:
        pairs = zip(problem.candidates, problem.weights, strict=True)
        weight_of = {row[row >= 0].tobytes(): weight for row, weight in pairs}
        weights = np.array([weight_of[labels.tobytes()] for labels in whole])
    keep = _needed(incidence(whole.labelsets, problem.outside), weights)
    needed = whole.take(keep)
    if problem.size is None:
        return needed, (float(weights[keep].sum()), 0)
    size = min(problem.size, len(needed))
    some = replace(problem, k=needed.k, candidates=needed.labelsets, size=size)
    state = State(problem, completed(State(some), method="rounded"))
    cover = completed(state, method="rounded")
    return cover, (float(len(cover)), state.remaining)


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
