"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier
from labelcover.methods.chains import EnsembleOfChainsClassifier
from labelcover.methods.homer import HomerClassifier
from labelcover.methods.lead import LeadClassifier
from labelcover.methods.probabilistic_chains import (
    EnsembleOfProbabilisticChainsClassifier,
    ProbabilisticChainClassifier,
)
from labelcover.methods.stacked_binary_relevance import StackedBinaryRelevanceClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "EnsembleOfChainsClassifier",
    "EnsembleOfProbabilisticChainsClassifier",
    "HomerClassifier",
    "LeadClassifier",
    "ProbabilisticChainClassifier",
    "StackedBinaryRelevanceClassifier",
]
