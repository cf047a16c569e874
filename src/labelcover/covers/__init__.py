"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names

if TYPE_CHECKING:
    from labelcover.covers.best import best_cover, build_cover
    from labelcover.covers.cover import Cover
    from labelcover.covers.greedy import complete_cover, greedy_cover
    from labelcover.covers.linear_programs import exact_cover, rounded_cover
    from labelcover.covers.orthogonal_arrays import orthogonal_array_cover
    from labelcover.covers.strategies import (
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

# A fitted estimator needs no more than `Cover`.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Cover": "cover",
        "balancor_cover": "strategies",
        "balco_cover": "strategies",
        "best_cover": "best",
        "build_cover": "best",
        "complete_cover": "greedy",
        "disjoint_cover": "strategies",
        "exact_cover": "linear_programs",
        "greedy_cover": "greedy",
        "inlac_cover": "strategies",
        "orthogonal_array_cover": "orthogonal_arrays",
        "random_cover": "strategies",
        "randomized_greedy_cover": "strategies",
        "rounded_cover": "linear_programs",
    },
)


def strategies_by_name() -> dict:
    """Return by name the strategies ``f(n_labels, k, r, *, size, random_state, verbose)``."""
    from labelcover import covers

    return {
        "best": covers.best_cover,
        "balancor": covers.balancor_cover,
        "inlac": covers.inlac_cover,
        "balco": covers.balco_cover,
        "random": covers.random_cover,
        "disjoint": covers.disjoint_cover,
        "exact": covers.exact_cover,
        "rounded": covers.rounded_cover,
        "randomized": covers.randomized_greedy_cover,
    }
