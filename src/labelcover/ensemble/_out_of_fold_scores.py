"""Scores of any model as features: the first of two stages."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import check_array
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted

from labelcover._arguments import check_integer, check_jobs, check_random_state
from labelcover._label_values import label_pair
from labelcover._table_numbers import rows_of
from labelcover.ensemble._label_tables import label_table, named_labels, numbered_labels
from labelcover.learners import in_parallel

# Probabilities are kept this far from 0 and 1, where their log-odds would be infinite.
LEAST = 0.0005


@dataclass(eq=False, repr=False)
class OutOfFoldScores(TransformerMixin, MetaEstimatorMixin, BaseEstimator):
    """A column of scores for each label, by any multi-label model: features for a second stage.

    In `fit_transform`, as a pipeline calls it, each training row gets the scores of a model fitted
    without its fold. What is fitted on these, such as `LabelCoverClassifier`, so sees the errors
    that the model makes on new rows, and learns from them which labels go together. New rows get
    the mean of the scores of all folds' models (stacking, or cross-fitting).

    Probabilities become log-odds, to which is added what a fold's share of positive rows differs
    by from that of all rows: a label that is frequent in a fold is rare in the others, so that
    models that know little would be right with the opposite of what they say.

    Parameters
    ----------
    estimator : estimator
        Fits a table of zeros and ones, a column per label, and has ``predict_proba`` (one array, or
        a list of arrays as scikit-learn's forests have) or ``decision_function``. It may be a
        pipeline, so that rows are whatever it takes, such as strings.
    n_folds : int, default=3
    n_jobs : int, optional
        Number of folds fitted in parallel.
    random_state : int, RandomState or None, default=None
        Seed of the folds.

    Attributes
    ----------
    estimators_ : list of estimators
        One for each fold.
    shifts_ : ndarray of shape (n_folds, n_labels)
        What is added to the log-odds of each; 0 where the models give no probabilities.
    label_names_in_ : ndarray of shape (n_labels,)
        The column names of Y; ``"label0"``, ``"label1"``, … if it had none.

    References
    ----------
    D. H. Wolpert (1992). Stacked generalization. Neural Networks 5.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multioutput import MultiOutputClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.ensemble import OutOfFoldScores
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> first = OutOfFoldScores(MultiOutputClassifier(LogisticRegression()), random_state=0)
    >>> model = make_pipeline(first, LabelCoverClassifier(random_state=0)).fit(X, Y)
    >>> model.predict(X).shape
    (100, 6)
    """

    estimator: Any
    _: KW_ONLY
    n_folds: int = 3
    n_jobs: int | None = None
    random_state: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit a model without each fold.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or sequence of n rows
        y : array-like, sparse matrix or data frame of shape (n, n_labels), or tags
            Zeros and ones, or another pair of values; or lists of tags, or a column of separated
            ones.
        sample_weight : array-like of shape (n,), optional
            Given to the ``fit`` of the models.
        """
        self._fit(X, y, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Fit a model without each fold; return the scores of its rows, ``(n, n_labels)``."""
        folds = self._fit(X, y, sample_weight)
        scores = np.empty((_num_samples(X), len(self.label_names_in_)))
        for model, shift, (_, rows) in zip(self.estimators_, self.shifts_, folds, strict=True):
            scores[rows] = _scores(model, rows_of(X, rows), scores.shape[1])
            scores[rows] += shift
        return scores

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of new rows, ``(n, n_labels)``: the mean over the models."""
        check_is_fitted(self)
        n_labels = len(self.label_names_in_)
        scores = np.mean([_scores(model, X, n_labels) for model in self.estimators_], axis=0)
        return scores + self.shifts_.mean(axis=0)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the labels."""
        check_is_fitted(self)
        return self.label_names_in_

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> list[tuple[NDArray, NDArray]]:
        n_folds = check_integer("n_folds", self.n_folds, low=2)
        check_jobs(self.n_jobs)
        random = check_random_state(self.random_state)
        n = _num_samples(X)
        check_consistent_length(X, y)
        if n < n_folds:
            raise ValueError(
                f"n_folds must be at most the number of rows, got n_folds={n_folds} and {n} rows."
            )
        y, names = named_labels(y)
        table = check_array(y, accept_sparse="csr", dtype=None, ensure_2d=False)
        Y = label_table(table, label_pair(table))
        self.label_names_in_ = numbered_labels(Y.shape[1]) if names is None else names
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        from sklearn.model_selection import KFold  # slow to import

        folds = list(KFold(n_folds, shuffle=True, random_state=random).split(np.empty(n)))
        jobs = (
            delayed(clone(self.estimator).fit)(
                rows_of(X, rows), Y[rows], **{name: own[rows] for name, own in weights.items()}
            )
            for rows, _ in folds
        )
        self.estimators_ = list(in_parallel(jobs, self.n_jobs))
        self.shifts_ = np.array([_log_odds(Y) - _log_odds(Y[rows]) for rows, _ in folds])
        if not hasattr(self.estimators_[0], "predict_proba"):
            self.shifts_[:] = 0.0
        return folds

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def _log_odds(Y: NDArray[np.uint8]) -> NDArray[np.float64]:
    return logit((Y.sum(axis=0) + 0.5) / (len(Y) + 1))


def _scores(model: Any, X: Any, n_labels: int) -> NDArray[np.float64]:
    """Return log-odds, or what the model has as decision function."""
    if not hasattr(model, "predict_proba"):
        found = np.reshape(model.decision_function(X), (_num_samples(X), -1))
    else:
        found = model.predict_proba(X)
        if isinstance(found, list):  # a table for each label, which may be constant in a fold
            pairs = zip(found, model.classes_, strict=True)
            found = np.column_stack([(P * (np.asarray(own) == 1)).sum(axis=1) for P, own in pairs])
    scores = np.asarray(found, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[1] != n_labels:
        raise ValueError(
            "estimator must give one probability or score for each label, expected "
            f"{n_labels} columns, got an array of shape {scores.shape}."
        )
    if not hasattr(model, "predict_proba"):
        return scores
    return logit((np.clip(scores, 0, 1) + LEAST) / (1 + 2 * LEAST))
