"""Binary relevance: every label on its own."""

from __future__ import annotations

import numpy as np

from labelcover.covers import Cover
from labelcover.ensemble.label_ensemble import LabelEnsemble


class BinaryRelevanceClassifier(LabelEnsemble):
    """One member for each label: a cover of single labels.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import BinaryRelevanceClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> BinaryRelevanceClassifier().fit(X, Y).predict_proba(X).shape
    (100, 6)
    """

    def __init__(
        self,
        estimator=None,
        *,
        threshold=0.5,
        threshold_measure="auto",
        threshold_search="grid",
        threshold_per_label=False,
        threshold_max_std=None,
        ties="auto",
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        return Cover(np.arange(Y.shape[1])[:, None], Y.shape[1], method="single labels")
