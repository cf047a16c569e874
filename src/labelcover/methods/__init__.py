"""The other multi-label methods that the paper names."""

from labelcover.methods._binary_relevance import (
    BinaryRelevanceClassifier,
    StackedBinaryRelevanceClassifier,
)
from labelcover.methods._chains import EnsembleOfChainsClassifier
from labelcover.methods._dependent_subsets import (
    DependentSubsetsClassifier,
    EnsembleOfDependentSubsetsClassifier,
)
from labelcover.methods._homer import HomerClassifier
from labelcover.methods._label_powerset import (
    EnsembleOfPrunedSetsClassifier,
    LabelPowersetClassifier,
    PrunedSetsClassifier,
)
from labelcover.methods._lead import LeadClassifier
from labelcover.methods._probabilistic_chains import (
    EnsembleOfProbabilisticChainsClassifier,
    ProbabilisticChainClassifier,
)

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
