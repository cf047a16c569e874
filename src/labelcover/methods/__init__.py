"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import BinaryRelevanceClassifier
from labelcover.methods.ensemble_of_pruned_sets import EnsembleOfPrunedSetsClassifier
from labelcover.methods.label_powerset import LabelPowersetClassifier
from labelcover.methods.pruned_sets import PrunedSetsClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "EnsembleOfPrunedSetsClassifier",
    "LabelPowersetClassifier",
    "PrunedSetsClassifier",
]
