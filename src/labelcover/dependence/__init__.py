"""Which labels depend on each other, and the covers that follow from it."""

from labelcover.dependence._chi_square import (
    LabelDependence,
    chi_square,
    contingency,
    cooccurrences,
    label_dependence,
    phi,
)
from labelcover.dependence._dependence_plot import clustered_order, plot_dependence
from labelcover.dependence._dependent_covers import (
    LABELSET_SIZES,
    ORDERS,
    CoverChoice,
    community_cover,
    cover_choices,
    dependent_cover,
)
from labelcover.dependence._permutation import (
    Adaptation,
    adapt_cover,
    annealing_iterations,
    check_annealing,
)

__all__ = [
    "LABELSET_SIZES",
    "ORDERS",
    "Adaptation",
    "CoverChoice",
    "LabelDependence",
    "adapt_cover",
    "annealing_iterations",
    "check_annealing",
    "chi_square",
    "clustered_order",
    "community_cover",
    "contingency",
    "cooccurrences",
    "cover_choices",
    "dependent_cover",
    "label_dependence",
    "phi",
    "plot_dependence",
]


def strategies_by_name() -> dict:
    """Return by name the strategies that look at the label table: ``f(Y, k, …)``."""
    return {"dependent": dependent_cover, "communities": community_cover}
