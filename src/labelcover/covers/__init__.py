"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names

if TYPE_CHECKING:
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

# A fitted estimator needs no more than `Cover`.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "binomial_table": "_labelset_kernels",
        "labelset_ranks": "_labelset_kernels",
        "Cover": "_cover",
        "linked_labels": "_cover",
        "balancor_cover": "_strategies",
        "balco_cover": "_strategies",
        "best_cover": "_best",
        "build_cover": "_best",
        "complete_cover": "_greedy",
        "disjoint_cover": "_strategies",
        "exact_cover": "_linear_programs",
        "greedy_cover": "_greedy",
        "inlac_cover": "_strategies",
        "orthogonal_array_cover": "_orthogonal_arrays",
        "random_cover": "_strategies",
        "randomized_greedy_cover": "_strategies",
        "rounded_cover": "_linear_programs",
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
