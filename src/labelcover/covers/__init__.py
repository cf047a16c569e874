"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from labelcover.covers.best import best_cover, build_cover
from labelcover.covers.complete import complete_cover
from labelcover.covers.cover import Cover
from labelcover.covers.disjoint import disjoint_cover
from labelcover.covers.exact import exact_cover
from labelcover.covers.greedy import greedy_cover
from labelcover.covers.orthogonal_arrays import orthogonal_array_cover
from labelcover.covers.rounded import randomized_greedy_cover, rounded_cover
from labelcover.covers.strategies import balancor_cover, balco_cover, inlac_cover, random_cover

__all__ = [
    "Cover",
    "balancor_cover",
    "balco_cover",
    "best_cover",
    "build_cover",
    "complete_cover",
    "disjoint_cover",
    "exact_cover",
    "greedy_cover",
    "inlac_cover",
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
