"""Multi-label classification with label covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names

if TYPE_CHECKING:
    from labelcover.ensemble import (
        BalancorClassifier,
        BalcoClassifier,
        DDBalancorClassifier,
        InlacClassifier,
        LabelCoverClassifier,
        RakelClassifier,
        RakelPlusPlusClassifier,
    )

__version__ = "0.1.0"

__all__ = [
    "BalancorClassifier",
    "BalcoClassifier",
    "DDBalancorClassifier",
    "InlacClassifier",
    "LabelCoverClassifier",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
]

# Commands without the estimators start faster.
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "ensemble"))
