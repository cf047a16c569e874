"""A forest of extremely randomised trees on all labels at once, with out-of-bag predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice, check_integer, check_random_state
from labelcover.learners.features import FeatureCoding
from labelcover.learners.forest.feature_forest import FeatureForest
from labelcover.learners.forest.grown_forest import GrownForest
from labelcover.learners.forest.mean_forest import MeanForest
from labelcover.learners.problems import in_parallel

SPLITS = ("auto", "features", "means")
# From this many labels on, means split.
MANY_LABELS = 150


class LabelForest(BaseEstimator):
    """Extremely randomised trees whose leaves hold the labels of their training rows.

    Every tree is grown on a bootstrap sample; in each node the best of √d random cuts, the one
    that leaves the labels least varied, splits the rows. The confidence of a label is its mean
    share in the leaves that a row falls into. One tree serves all labels, however many: the cost
    grows with the labels that rows have. What a training row gets from the trees that were grown
    without it (out-of-bag) needs no refit.

    As ``estimator`` of `LabelCoverClassifier` it is used alone, without labelsets.

    Parameters
    ----------
    n_trees : int, default=100
    min_leaf : int, default=2
        Least number of draws in a leaf; a row that was drawn twice counts twice.
    max_features : int, optional
        Number of features tried in a node, by default the square root of their number.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features, as for `LeastSquaresClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of samples and cuts; the forest of an ensemble takes it from the ensemble unless given.
    """

    gives_left_out = True

    def __init__(
        self,
        n_trees=100,
        *,
        min_leaf=2,
        max_features=None,
        splits="auto",
        categorical_features="from_dtype",
        random_state=None,
    ):
        self.n_trees = n_trees
        self.min_leaf = min_leaf
        self.max_features = max_features
        self.splits = splits
        self.categorical_features = categorical_features
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_integer("n_trees", self.n_trees, low=1)
        check_integer("min_leaf", self.min_leaf, low=1)
        if self.max_features is not None:
            check_integer("max_features", self.max_features, low=1)
        check_choice("splits", self.splits, SPLITS)
        check_random_state(self.random_state)

    def read_table(self, owner: BaseEstimator, X: Any) -> tuple[FeatureCoding, Any]:
        """Return how a training table is coded, and the table as `fit_labels` takes it."""
        self.check_parameters()
        return FeatureCoding.fitted(owner, X, self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Say that weights of rows are taken: the forest is grown by `LabelCoverClassifier`."""
        raise TypeError("LabelForest is an estimator of LabelCoverClassifier, not fitted alone.")

    def fit_labels(
        self,
        X: Any,
        Y: NDArray[np.uint8],
        n_values: NDArray[np.int32],
        *,
        weights: NDArray[np.float64] | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> GrownForest:
        """Return the forest of a table and its labels.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, features)
            Nominal features as numbers of their values.
        Y : ndarray of shape (n, n_labels)
        n_values : ndarray of shape (features,)
            How many values a nominal feature has, 0 for a numeric one.
        weights : ndarray of shape (n,), optional
            How likely rows are to be drawn.
        seed : int
            Used unless ``random_state`` is given.
        n_jobs : int, optional
            Number of trees grown in parallel; by default as many as numba has threads, which
            joblib limits in its workers.
        """
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if weights is not None and np.ptp(weights) == 0:
            weights = None  # equal weights draw the same rows as none
        seeds = np.random.SeedSequence(seed).spawn(int(self.n_trees))
        forest = self._kind(Y.shape[1])(X, Y, n_values)
        n_features = forest.n_features
        wanted = int(self.max_features or max(1, int(np.sqrt(n_features))))
        jobs = (
            delayed(forest.grow)(weights, min(wanted, n_features), int(self.min_leaf), one)
            for one in seeds
        )
        forest.trees = list(
            in_parallel(
                jobs,
                get_num_threads() if n_jobs is None else n_jobs,
                text="growing trees",
                verbose=verbose,
                require="sharedmem",
            )
        )
        forest.finish()
        return forest

    def _kind(self, n_labels: int) -> type[GrownForest]:
        many = n_labels >= MANY_LABELS if self.splits == "auto" else self.splits == "means"
        return MeanForest if many else FeatureForest

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
