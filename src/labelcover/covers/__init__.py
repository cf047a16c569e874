"""Which label groups? Covers of labels by k-labelsets, and the bounds on their size."""

from labelcover.covers.cover import Cover
from labelcover.covers.greedy import greedy_cover
from labelcover.covers.strategies import balancor_cover, balco_cover, inlac_cover, random_cover

__all__ = [
    "Cover",
    "balancor_cover",
    "balco_cover",
    "greedy_cover",
    "inlac_cover",
    "random_cover",
]
