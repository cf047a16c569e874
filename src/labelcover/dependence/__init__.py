"""Which labels depend on each other, and the covers that follow from it."""

from labelcover.dependence.affordable_covers import CoverChoice, cover_choices
from labelcover.dependence.chi_square import (
    LabelDependence,
    chi_square,
    contingency,
    cooccurrences,
    label_dependence,
    phi,
)
from labelcover.dependence.dependence_plot import plot_dependence
from labelcover.dependence.dependent_covers import community_cover, dependent_cover
from labelcover.dependence.permutation import Adaptation, adapt_cover, annealing_iterations

__all__ = [
    "Adaptation",
    "CoverChoice",
    "LabelDependence",
    "adapt_cover",
    "annealing_iterations",
    "chi_square",
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
