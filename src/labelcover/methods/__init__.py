"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier

__all__ = ["BinaryRelevanceClassifier"]
