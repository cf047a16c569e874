"""The estimators people use."""

from labelcover.ensemble.covering_methods import (
    BalancorClassifier,
    BalcoClassifier,
    InlacClassifier,
)
from labelcover.ensemble.label_cover import LabelCoverClassifier
from labelcover.ensemble.rakel import RakelClassifier, RakelPlusPlusClassifier

__all__ = [
    "BalancorClassifier",
    "BalcoClassifier",
    "InlacClassifier",
    "LabelCoverClassifier",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
]
