"""The other multi-label methods that the paper names."""

from labelcover.methods.binary_relevance import (
    BinaryRelevanceClassifier,
    StackedBinaryRelevanceClassifier,
)
from labelcover.methods.chains import EnsembleOfChainsClassifier
from labelcover.methods.dependent_subsets import (
    DependentSubsetsClassifier,
    EnsembleOfDependentSubsetsClassifier,
)
from labelcover.methods.homer import HomerClassifier
from labelcover.methods.label_powerset import LabelPowersetClassifier
from labelcover.methods.lead import LeadClassifier
from labelcover.methods.probabilistic_chains import (
    EnsembleOfProbabilisticChainsClassifier,
    ProbabilisticChainClassifier,
)
from labelcover.methods.pruned_sets import EnsembleOfPrunedSetsClassifier, PrunedSetsClassifier

__all__ = [
    "BinaryRelevanceClassifier",
    "DependentSubsetsClassifier",
    "EnsembleOfChainsClassifier",
    "EnsembleOfDependentSubsetsClassifier",
    "EnsembleOfProbabilisticChainsClassifier",
    "EnsembleOfPrunedSetsClassifier",
    "HomerClassifier",
    "LabelPowersetClassifier",
    "LeadClassifier",
    "ProbabilisticChainClassifier",
    "PrunedSetsClassifier",
    "StackedBinaryRelevanceClassifier",
]
