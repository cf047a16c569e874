"""Multi-label classification with label covers."""

from labelcover.ensemble import LabelCoverClassifier, RakelClassifier

__version__ = "0.1.0"

__all__ = ["LabelCoverClassifier", "RakelClassifier"]
