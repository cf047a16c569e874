"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from labelcover.covers._best import best_cover, build_cover
from labelcover.covers._cover import Cover, linked_labels
from labelcover.covers._greedy import complete_cover, greedy_cover
from labelcover.covers._labelset_kernels import binomial_table, labelset_ranks
from labelcover.covers._linear_programs import exact_cover, rounded_cover
from labelcover.covers._orthogonal_arrays import orthogonal_array_cover
from labelcover.covers._strategies import (
    balancor_cover,
    balco_cover,
    disjoint_cover,
    inlac_cover,
    random_cover,
    randomized_greedy_cover,
)

__all__ = [
    "Cover",
    "balancor_cover",
    "balco_cover",
    "best_cover",
    "binomial_table",
    "build_cover",
    "complete_cover",
    "disjoint_cover",
    "exact_cover",
    "greedy_cover",
    "inlac_cover",
    "labelset_ranks",
    "linked_labels",
    "orthogonal_array_cover",
    "random_cover",
    "randomized_greedy_cover",
    "rounded_cover",
]


def strategies_by_name() -> dict:
    """Return by name the strategies ``f(n_labels, k, r, *, size, random_state, verbose)``."""
    return {
        "best": best_cover,
        "balancor": balancor_cover,
        "inlac": inlac_cover,
        "balco": balco_cover,
        "random": random_cover,
        "disjoint": disjoint_cover,
        "exact": exact_cover,
        "rounded": rounded_cover,
        "randomized": randomized_greedy_cover,
    }
