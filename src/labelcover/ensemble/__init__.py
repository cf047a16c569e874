"""The estimators people use."""

from labelcover.ensemble._plan import Plan, TableFacts, ViewPlan, labels_are_many, plan_views
from labelcover.ensemble._pool import Pool
from labelcover.ensemble.covering_methods import (
    BalancorClassifier,
    BalcoClassifier,
    DDBalancorClassifier,
    InlacClassifier,
)
from labelcover.ensemble.label_cover import LabelCoverClassifier
from labelcover.ensemble.many_label_pool import ManyLabelPool
from labelcover.ensemble.out_of_fold_scores import OutOfFoldScores
from labelcover.ensemble.rakel import RakelClassifier, RakelPlusPlusClassifier

__all__ = [
    "BalancorClassifier",
    "BalcoClassifier",
    "DDBalancorClassifier",
    "InlacClassifier",
    "LabelCoverClassifier",
    "ManyLabelPool",
    "OutOfFoldScores",
    "Plan",
    "Pool",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
    "TableFacts",
    "ViewPlan",
    "labels_are_many",
    "plan_views",
]
