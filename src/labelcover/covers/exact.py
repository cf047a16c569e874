"""The smallest cover, as a zero-one program (Section 3.1), solved by HiGHS."""

from __future__ import annotations

from math import comb, floor

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover._progress import progress_bar
from labelcover.covers._state import check_problem
from labelcover.covers.bounds import schonheim_bound
from labelcover.covers.cover import Cover
from labelcover.covers.labelset_kernels import labelset_ranks, take_combinations

#: A zero-one program with more k-labelsets than this is refused.
MOST_CANDIDATES = 1_000_000


def exact_cover(
    n_labels: int,
    k: int,
    r: int = 2,
    *,
    size: int | None = None,
    node_limit: int | None = None,
    gap: float = 0.0,
    random_state=None,
    verbose: bool = False,
) -> Cover:
    """Return a cover of the least possible size, with the proven bound in ``lower_bound``.

    Parameters
    ----------
    n_labels, k, r : int
        Labels m, labels in a labelset, and labels in each combination to cover: r ≤ k ≤ m.
        Practical for some hundred thousand k-labelsets at most.
    size : int, optional
        Instead of the least size, take this many labelsets and cover as many r-labelsets as
        possible.
    node_limit : int, optional
        Stop after this many nodes of the search tree.
    gap : float, default=0
        Stop when the size is proven to be within this share of the least.
    random_state : int, RandomState or None
        If given, the labels are renamed at random: every renaming is as small.
    verbose : bool, default=False
        Show a progress bar, if standard error is a terminal.

    Returns
    -------
    Cover
        ``cover.lower_bound`` is what has been proven and ``cover.gap`` is 0 if that is its size.

    Raises
    ------
    ValueError
        If an argument is out of range or the program would be too large.
    RuntimeError
        If `node_limit` was reached before any cover was found.

    Notes
    -----
    The program is that of Section 3.1 with unit weights, tightened by what Schönheim's bound
    says of covers: at least so many labelsets in all and at least so many with any one label.
    By symmetry the first labelset may be taken as given.

    Examples
    --------
    >>> from labelcover.covers import exact_cover
    >>> cover = exact_cover(6, 4)
    >>> len(cover), cover.lower_bound, cover.gap
    (3, 3, 0.0)
    """
    m, k, r, size = check_problem(n_labels, k, r, size)
    rng = None if random_state is None else check_random_state(random_state)
    rows = all_labelsets(m, k)
    if node_limit is not None:
        node_limit = check_integer("node_limit", node_limit, low=0)
    gap = check_real("gap", gap, low=0, below=1)
    options = {"mip_rel_gap": gap, "node_limit": node_limit}
    options = {name: value for name, value in options.items() if value is not None}
    bound = None
    with progress_bar("cover (exact)", show=verbose):
        if size is None:
            chosen, bound = _least(rows, m, r, options)
        else:
            chosen = _most_covered(rows, m, r, size, options)
    cover = Cover(rows[chosen], m, method="exact", lower_bound=bound)
    if size is None and cover.coverage(r) < 1:
        raise RuntimeError("exact: the solver's answer leaves labelsets uncovered")
    return cover if rng is None else cover.permute(rng.permutation(m))


def all_labelsets(n_labels: int, k: int) -> NDArray[np.int32]:
    """Return all k-labelsets, the variables of the program, if they are not too many."""
    count = comb(n_labels, k)
    if count > MOST_CANDIDATES:
        raise ValueError(
            f"n_labels={n_labels} with k={k} has {count} labelsets; the zero-one program takes "
            f"at most {MOST_CANDIDATES}."
        )
    return take_combinations(np.arange(k), n_labels, count)


def incidence(rows: NDArray[np.int32], n_labels: int, r: int) -> csr_array:
    """Return the matrix a of Section 3.1: whether labelset j holds the r-labelset of rank i."""
    per_row = comb(rows.shape[1], r)
    ranks = labelset_ranks(rows, r)
    columns = np.repeat(np.arange(len(rows)), per_row)
    shape = (comb(n_labels, r), len(rows))
    return csr_array((np.ones(len(ranks)), (ranks, columns)), shape=shape)


def _least(rows, m: int, r: int, options) -> tuple[NDArray[np.bool_], int]:
    k = rows.shape[1]
    lower = schonheim_bound(m, k, r)
    constraints = [
        LinearConstraint(incidence(rows, m, r), lb=1),
        LinearConstraint(np.ones((1, len(rows))), lb=lower),
    ]
    if r > 1:
        each = schonheim_bound(m - 1, k - 1, r - 1)
        constraints.append(LinearConstraint(incidence(rows, m, 1), lb=each))
    given = np.zeros(len(rows))
    given[0] = 1
    answer = _solve(np.ones(len(rows)), constraints, given, options)
    bound = answer.mip_dual_bound
    proven = max(lower, -floor(-bound + 1e-6)) if bound is not None else lower
    return answer.x > 0.5, proven


def _most_covered(rows, m: int, r: int, size: int, options) -> NDArray[np.bool_]:
    """Maximise the number of r-labelsets covered by `size` labelsets."""
    table = incidence(rows, m, r)
    n, elements = len(rows), table.shape[0]
    constraints = [
        LinearConstraint(hstack([table, -eye_array(elements)]), lb=0),
        LinearConstraint(np.concatenate([np.ones(n), np.zeros(elements)])[None], size, size),
    ]
    objective = np.concatenate([np.zeros(n), -np.ones(elements)])
    given = np.zeros(n + elements)
    given[0] = 1
    return _solve(objective, constraints, given, options).x[:n] > 0.5


def _solve(objective, constraints, given, options):
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
