"""Learners of many single-label problems on one table; the classifiers are useful alone too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._imports import lazy_names
from labelcover.learners._batch_classifier import AnyClassifier, BatchClassifier
from labelcover.learners._chunked_table import ChunkedTable
from labelcover.learners._features import (
    PLAIN,
    FeatureCoding,
    csr_arrays,
    is_frame,
    numeric,
    one_hot_columns,
)
from labelcover.learners._forest.boosted_trees import BoostedTrees, LabelBoosting
from labelcover.learners._forest.feature_forest import ReadTable
from labelcover.learners._forest.grown_forest import (
    GrownForest,
    are_few_nonzeros,
    in_threads,
    is_mostly_zero,
)
from labelcover.learners._forest.label_forest import LabelForest, LabelLearner
from labelcover.learners._forest.mean_forest import MeanForest
from labelcover.learners._least_squares.choosing import EXACT_ROWS
from labelcover.learners._least_squares.label_chains import LabelSystem
from labelcover.learners._least_squares.least_squares_classifier import LeastSquaresClassifier
from labelcover.learners._least_squares.softmax_members import ScorePaths
from labelcover.learners._logistic.logistic_classifier import LogisticClassifier
from labelcover.learners._nearest_rows import NearestRows
from labelcover.learners._problems import (
    FEW_ROWS,
    LinearTargets,
    Members,
    Problems,
    TargetRows,
    in_parallel,
    problem_blocks,
    random_order,
)
from labelcover.learners._products import blas_threads, row_products

if TYPE_CHECKING:
    from labelcover.learners._c45.c45_classifier import C45Classifier
    from labelcover.learners._smo.smo_classifier import SMOClassifier

__all__ = [
    "EXACT_ROWS",
    "FEW_ROWS",
    "PLAIN",
    "AnyClassifier",
    "BatchClassifier",
    "BoostedTrees",
    "C45Classifier",
    "ChunkedTable",
    "FeatureCoding",
    "GrownForest",
    "LabelBoosting",
    "LabelForest",
    "LabelLearner",
    "LabelSystem",
    "LeastSquaresClassifier",
    "LinearTargets",
    "LogisticClassifier",
    "MeanForest",
    "Members",
    "NearestRows",
    "Problems",
    "ReadTable",
    "SMOClassifier",
    "ScorePaths",
    "TargetRows",
    "are_few_nonzeros",
    "blas_threads",
    "csr_arrays",
    "in_parallel",
    "in_threads",
    "is_frame",
    "is_mostly_zero",
    "numeric",
    "one_hot_columns",
    "problem_blocks",
    "random_order",
    "row_products",
]

# No default has these members, whose compiled loops take long to declare.
__getattr__, __dir__ = lazy_names(
    __name__,
    {"C45Classifier": "_c45.c45_classifier", "SMOClassifier": "_smo.smo_classifier"},
)
