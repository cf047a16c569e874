"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier
from labelcover.methods.homer import HomerClassifier
from labelcover.methods.lead import LeadClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "HomerClassifier",
    "LeadClassifier",
]
