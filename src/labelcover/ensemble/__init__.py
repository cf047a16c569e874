"""The estimators people use."""

from labelcover.ensemble._choose_cover import (
    balancor_size,
    choose_cover,
    default_cover,
    linking_cover,
    single_labels,
)
from labelcover.ensemble._cover_view import READINGS, CoverView, leaving_out_some
from labelcover.ensemble._explanation import Explanation, Reason, SimilarRow
from labelcover.ensemble._label_cover import LabelCoverClassifier
from labelcover.ensemble._label_ensemble import (
    MANY_MEMBERS,
    LabelEnsemble,
    ThresholdParameters,
    combined_by,
)
from labelcover.ensemble._label_model import FOLDS, LabelModel
from labelcover.ensemble._label_tables import named_labels
from labelcover.ensemble._links import effects_of_labels, given_others
from labelcover.ensemble._many_label_pool import ManyLabelPool
from labelcover.ensemble._out_of_fold_scores import OutOfFoldScores
from labelcover.ensemble._paper_methods import (
    BalancorClassifier,
    BalcoClassifier,
    DDBalancorClassifier,
    InlacClassifier,
    RakelClassifier,
    RakelPlusPlusClassifier,
)
from labelcover.ensemble._plan import Plan, TableFacts, ViewPlan, labels_are_many, plan_views
from labelcover.ensemble._pool import Pool
from labelcover.ensemble._telling import FeatureNames, label_words, speaking_features, words_of_rows
from labelcover.ensemble._view import MOST_SEED, TrainingRows, View, draw_seeds, drawn_seed

__all__ = [
    "FOLDS",
    "MANY_MEMBERS",
    "MOST_SEED",
    "READINGS",
    "BalancorClassifier",
    "BalcoClassifier",
    "CoverView",
    "DDBalancorClassifier",
    "Explanation",
    "FeatureNames",
    "InlacClassifier",
    "LabelCoverClassifier",
    "LabelEnsemble",
    "LabelModel",
    "ManyLabelPool",
    "OutOfFoldScores",
    "Plan",
    "Pool",
    "RakelClassifier",
    "RakelPlusPlusClassifier",
    "Reason",
    "SimilarRow",
    "TableFacts",
    "ThresholdParameters",
    "TrainingRows",
    "View",
    "ViewPlan",
    "balancor_size",
    "choose_cover",
    "combined_by",
    "default_cover",
    "draw_seeds",
    "drawn_seed",
    "effects_of_labels",
    "given_others",
    "label_words",
    "labels_are_many",
    "leaving_out_some",
    "linking_cover",
    "named_labels",
    "plan_views",
    "single_labels",
    "speaking_features",
    "words_of_rows",
]
