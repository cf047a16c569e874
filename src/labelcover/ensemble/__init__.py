"""The estimators people use."""

from labelcover.ensemble.label_cover import LabelCoverClassifier
from labelcover.ensemble.rakel import RakelClassifier

__all__ = ["LabelCoverClassifier", "RakelClassifier"]
