"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier
from labelcover.methods.chains import EnsembleOfChainsClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "EnsembleOfChainsClassifier",
]
