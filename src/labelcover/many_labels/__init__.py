"""Labels so many that only some candidates of each row are looked at."""

from labelcover.many_labels._candidate_model import CandidateModel
from labelcover.many_labels._candidate_probabilities import MOST_K
from labelcover.many_labels._candidates import (
    Candidates,
    RankedLabels,
    check_candidate_decision,
    check_fits,
    ranked_labels,
)

__all__ = [
    "MOST_K",
    "CandidateModel",
    "Candidates",
    "RankedLabels",
    "check_candidate_decision",
    "check_fits",
    "ranked_labels",
]
