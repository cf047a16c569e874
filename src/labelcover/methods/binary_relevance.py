"""Binary relevance: every label on its own."""

from __future__ import annotations

import numpy as np

from labelcover.covers import Cover
from labelcover.ensemble.base import LabelEnsemble


class BinaryRelevanceClassifier(LabelEnsemble):
    """One member for each label: a cover of single labels.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `LabelCoverClassifier`.
    measure, search, per_label, max_std, n_jobs, random_state, verbose
        As for `LabelCoverClassifier`.

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
        measure="micro_f1",
        search="grid",
        per_label=False,
        max_std=None,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.measure = measure
        self.search = search
        self.per_label = per_label
        self.max_std = max_std
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        return Cover(np.arange(Y.shape[1])[:, None], Y.shape[1], method="single labels")
