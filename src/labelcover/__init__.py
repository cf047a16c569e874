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
    from labelcover.models import load_model, save_model, trusted_types

__version__ = "0.1.0"

__all__ = [
    "BalancorClassifier",
    "BalcoClassifier",
    "DDBalancorClassifier",
    "InlacClassifier",
    "LabelCoverClassifier",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
    "load_model",
    "save_model",
    "trusted_types",
]

# Commands without the estimators start faster.
_FILES = dict.fromkeys(["load_model", "save_model", "trusted_types"], "models")
__getattr__, __dir__ = lazy_names(__name__, dict.fromkeys(__all__, "ensemble") | _FILES)
