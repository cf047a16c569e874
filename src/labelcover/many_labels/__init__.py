"""Labels so many that only some candidates of each row are looked at."""

from labelcover.many_labels._candidate_model import CandidateModel
from labelcover.many_labels._candidates import (
    Candidates,
    RankedLabels,
    check_candidate_decision,
    check_fits,
    ranked_labels,
)

__all__ = [
    "CandidateModel",
    "Candidates",
    "RankedLabels",
    "check_candidate_decision",
    "check_fits",
    "ranked_labels",
]
