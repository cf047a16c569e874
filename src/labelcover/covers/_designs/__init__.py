"""Covers by algebra: designs over finite fields, and covers put together from smaller ones."""

from labelcover.covers._designs.difference import quadruple_families
from labelcover.covers._designs.higher import circles, doubled_quadruples, multiplied, two_halves
from labelcover.covers._designs.pairs import (
    all_pairs,
    filled_transversals,
    one_point_more,
    shortened_designs,
    single_row,
    triples,
)
from labelcover.covers._designs.plans import Plan, Planner, Rows

#: The constructions, in the order in which a `Planner` tries them: those that settle it first.
RULES = (
    single_row,
    all_pairs,
    triples,
    shortened_designs,
    filled_transversals,
    circles,
    doubled_quadruples,
    multiplied,
    two_halves,
    quadruple_families,
    one_point_more,
)

__all__ = ["RULES", "Plan", "Planner", "Rows"]
