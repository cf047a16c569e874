"""The permutation search of DD-BALANCOR: dependent labels are brought into the same labelsets."""

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_integer, check_random_state, check_real
from labelcover.covers import Cover, binomial_table, labelset_ranks
from labelcover.dependence._chi_square import LabelDependence, labelsets_by_label
from labelcover.dependence._dependence_kernels import Problem, anneal, rank_table, swap_changes

# The search ends when the temperature has fallen to this share of where it began.
LAST_TEMPERATURE = 1e-3
# Swaps tried to learn the scale of the merit.
TRIAL_SWAPS = 200


@dataclass(frozen=True)
class Adaptation:
    """A cover permuted for a label table, and what that brought.

    Attributes
    ----------
    cover : Cover
        The permuted cover.
    permutation : ndarray of shape (n_labels,)
        Label ``j`` of the cover given is label ``permutation[j]`` of the permuted one.
    merit : float
        Total weighted dependency that the permuted cover addresses.
    merit_before : float
        The same for the cover given.
    total : float
        The weighted dependency of all labelsets together: what no cover can exceed.
    """

    cover: Cover
    permutation: NDArray[np.int64]
    merit: float
    merit_before: float
    total: float


def annealing_iterations(n_labels: int, size: int) -> int:
    """Return N = max(1368 ln m + 12 ln σ − 2179, 2000), the number of iterations of Section 4.4.

    Examples
    --------
    >>> from labelcover.dependence import annealing_iterations
    >>> annealing_iterations(6, 7), annealing_iterations(983, 32276)
    (2000, 7371)
    """
    return int(max(1368 * log(n_labels) + 12 * log(size) - 2179, 2000))


def adapt_cover(
    cover: Cover,
    dependence: LabelDependence,
    *,
    n_iterations: int | None = None,
    n_restarts: int = 10,
    decay: float = 0.85,
    first_temperature: float | None = None,
    random_state=None,
) -> Adaptation:
    """Return `cover` with its labels permuted so that it holds the most dependent labelsets.

    Simulated annealing over permutations (Section 4.4): the merit is the sum of χ² ×
    co-occurrences over the labelsets of `dependence` that the cover holds, neighbours swap two
    labels, a loss Δ is accepted with probability e^(−Δ/T), and T falls by the factor γ. The
    paper gives neither the first temperature nor how long each lasts. Here the search begins at
    the mean change of merit of 200 random swaps, because the merit has no scale of its own, and
    the temperatures share the iterations evenly down to a thousandth of the first. The best
    permutation seen is kept, and it is never worse than the cover given.

    Parameters
    ----------
    cover : Cover
        Any cover; DD-BALANCOR takes one of `balancor_cover`.
    dependence : LabelDependence
        Of the training labels, and of order r + 1 for a cover that holds all r-labelsets: those
        are covered under every permutation.
    n_iterations : int, optional
        Swaps tried in each search; `annealing_iterations` by default.
    n_restarts : int
        Number of searches, each from another random permutation; the best is kept. The N
        iterations of the paper alone are too few to be sure of the optimum even for 8 labels.
    decay : float
        γ, above 0 and below 1; the paper used 0.85.
    first_temperature : float, optional
        T₀, above 0, in units of the merit; by default the mean change of merit by a swap.
    random_state : int, RandomState or None
        Seed of the search.

    Examples
    --------
    >>> from labelcover.covers import Cover
    >>> from labelcover.dependence import adapt_cover, label_dependence
    >>> cover = Cover([[0, 1, 2], [2, 3, 4], [0, 4, 5]], n_labels=6)
    >>> Y = [[1, 0, 0, 1, 0, 1]] * 20 + [[0, 1, 0, 0, 1, 0]] * 20
    >>> adapted = adapt_cover(cover, label_dependence(Y, r=3), random_state=0)
    >>> adapted.merit_before, adapted.merit == adapted.total
    (0.0, True)
    """
    m = cover.n_labels
    settings = {"decay": decay, "n_iterations": n_iterations, "n_restarts": n_restarts}
    check_annealing(**settings, first_temperature=first_temperature)
    # NumPy's small integers overflow.
    n_restarts, decay = int(n_restarts), float(decay)
    n_iterations = (
        annealing_iterations(m, len(cover)) if n_iterations is None else int(n_iterations)
    )
    merit_before = dependence.merit(cover)
    total = float(dependence.weights.sum())
    best_merit, best = merit_before, np.arange(m)
    if len(dependence.labelsets) > 0 and dependence.r <= cover.k and m > 1:
        problem = _problem(cover, dependence)
        random = check_random_state(random_state)
        for _ in range(n_restarts):
            merit, column = _search(problem, m, n_iterations, decay, first_temperature, random)
            # The incremental merit is exact only to rounding: a real gain, not an ulp, counts.
            if merit > best_merit * (1 + 1e-12):
                best_merit, best = merit, np.argsort(column)
    adapted = cover.permute(best)
    return Adaptation(adapted, best, dependence.merit(adapted), merit_before, total)


def check_annealing(*, decay, n_iterations, first_temperature, n_restarts) -> None:
    """Raise a ``ValueError`` if a parameter of the search has a value that is not accepted."""
    check_real("decay", decay, above=0, below=1)
    if n_iterations is not None:
        check_integer("n_iterations", n_iterations, low=1)
    if first_temperature is not None:
        check_real("first_temperature", first_temperature, above=0)
    check_integer("n_restarts", n_restarts, low=1)


def _problem(cover: Cover, dependence: LabelDependence) -> Problem:
    """Return what the compiled loops need of the cover and the dependent labelsets."""
    r, labelsets = dependence.r, dependence.labelsets
    index = labelsets_by_label(labelsets, cover.n_labels)
    ranks = labelset_ranks(cover.labelsets, r)
    table = rank_table(ranks.astype(np.int32 if ranks.max() < 2**31 else np.int64))
    binomials = binomial_table(cover.n_labels, r)
    return Problem(labelsets, dependence.weights, *index, table, binomials)


def _search(
    problem: Problem, n_labels, n_iterations, decay, first_temperature, random
) -> tuple[float, NDArray]:
    """Merit and columns of the best permutation of one annealing."""
    column = random.permutation(n_labels)
    # Swaps of two labels that are in no dependent labelset change nothing and are not tried.
    active = np.unique(problem.labelsets)
    swaps = _random_swaps(active, n_labels, TRIAL_SWAPS + n_iterations, random)
    draws = random.random_sample(n_iterations)
    if first_temperature is None:
        changes = np.abs(swap_changes(problem, column, swaps[:TRIAL_SWAPS]))
        changed = changes[changes > 0]
        first_temperature = float(changed.mean()) if len(changed) else 1.0
    levels = int(np.ceil(log(LAST_TEMPERATURE) / log(decay)))
    level = np.arange(n_iterations) * levels // n_iterations
    temperatures = first_temperature * decay**level
    best_column, best, _, _ = anneal(problem, column, swaps[TRIAL_SWAPS:], draws, temperatures)
    return best, best_column


def _random_swaps(active: NDArray, n_labels: int, count: int, random) -> NDArray[np.int64]:
    """`count` pairs of different labels, the first of them active."""
    one = active[random.randint(len(active), size=count)]
    other = random.randint(n_labels - 1, size=count)
    other += other >= one
    return np.column_stack([one, other]).astype(np.int64)
