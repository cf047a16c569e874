"""Multi-label classification with label covers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

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


def __getattr__(name: str):
    """Import the estimators when first asked for, so that commands without them start fast."""
    if name in __all__:
        return getattr(import_module("labelcover.ensemble"), name)
    raise AttributeError(f"module 'labelcover' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
