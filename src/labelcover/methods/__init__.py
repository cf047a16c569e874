"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier
from labelcover.methods.homer import HomerClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "HomerClassifier",
]
