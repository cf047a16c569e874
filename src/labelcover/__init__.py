"""Multi-label classification with label covers."""

from labelcover.ensemble import (
    BalancorClassifier,
    BalcoClassifier,
    InlacClassifier,
    LabelCoverClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
)

__version__ = "0.1.0"

__all__ = [
    "BalancorClassifier",
    "BalcoClassifier",
    "InlacClassifier",
    "LabelCoverClassifier",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
]
