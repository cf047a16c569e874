"""RAKEL and RAKEL++: random labelsets (Sections 2.2 and 2.3)."""

from __future__ import annotations

from math import comb
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer
from labelcover.covers import Cover
from labelcover.ensemble.choose_cover import choose_cover
from labelcover.ensemble.label_ensemble import LabelEnsemble

TIES = ("positive", "negative")


class RakelClassifier(LabelEnsemble):
    """RAKEL (Tsoumakas and Vlahavas): random labelsets, members vote (Algorithms 1 and 2).

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    k : int, default=3
        Number of labels in a labelset.
    size : int, optional
        Number of labelsets; by default twice the number of labels, or all labelsets if fewer.
    cover : "random", Cover, callable or array-like, default="random"
        Labelsets to use instead of random ones.
    threshold : float or array-like of shape (n_labels,), default=0.5
        Share of votes from which a label is predicted.
    ties : {"positive", "negative"}, default="positive"
        What a share of exactly `threshold` means. Algorithm 2 asks for more than the threshold
        (``"negative"``); MULAN, with which the paper's tables were made, accepts equality.
    n_jobs, random_state, verbose
        As for `LabelCoverClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from labelcover import RakelClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = RakelClassifier(DecisionTreeClassifier(), k=3, size=12, random_state=0).fit(X, Y)
    >>> len(model.cover_)
    12
    """

    _votes = True
    _tunes = False

    def __init__(
        self,
        estimator=None,
        *,
        k=3,
        size=None,
        cover="random",
        threshold=0.5,
        ties="positive",
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.k = k
        self.size = size
        self.cover = cover
        self.threshold = threshold
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit all members; see `LabelCoverClassifier.fit`."""
        check_choice("ties", self.ties, TIES)
        return super().fit(X, y, **fit_params)

    def _make_cover(self, Y, seed):
        return _random_labelsets(self, Y, seed)

    def _cut(self, confidence):
        if self.ties == "positive":
            return confidence >= self.threshold_
        return super()._cut(confidence)


class RakelPlusPlusClassifier(LabelEnsemble):
    """RAKEL++: random labelsets, mean confidence, and a threshold tuned on the data (Section 2.3).

    Parameters
    ----------
    estimator, k, size, cover
        As for `RakelClassifier`.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default="cv"
        Where confidences are cut. ``"cv"`` is the paper's five-fold cross-validation; ``"loo"``
        uses leave-one-out predictions, which least squares members give without refitting;
        ``"auto"`` is ``"loo"`` where the members offer it and ``"cv"`` elsewhere.
    threshold_measure : str or callable, default="micro_f1"
        What the threshold is tuned for: a measure of predictions of `labelcover.metrics`, or
        ``f(Y, Y_pred)`` where higher is better.
    threshold_search : {"grid", "golden"}, default="grid"
        How a threshold is searched: .1 to .9 and then steps of .01, or by golden sections.
    threshold_per_label : bool, default=False
        Tune one threshold for each label.
    threshold_max_std : float, optional
        With ``threshold="cv"``: repeat the cross-validation, at most five times, until the
        standard deviation of the mean score is at most this (Kohavi and John, 1997).
    n_jobs, random_state, verbose
        As for `LabelCoverClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import RakelPlusPlusClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = RakelPlusPlusClassifier(random_state=0).fit(X, Y)
    >>> 0.1 <= model.threshold_ <= 0.9
    True
    """

    def __init__(
        self,
        estimator=None,
        *,
        k=3,
        size=None,
        cover="random",
        threshold="cv",
        threshold_measure="micro_f1",
        threshold_search="grid",
        threshold_per_label=False,
        threshold_max_std=None,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.k = k
        self.size = size
        self.cover = cover
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        return _random_labelsets(self, Y, seed)


def _random_labelsets(model: Any, Y: NDArray[np.uint8], seed: int) -> Cover:
    """Return the cover of a RAKEL: by default ``2 m`` labelsets, as its authors advise."""
    m, size = Y.shape[1], model.size
    if size is None:
        size = min(2 * m, comb(m, min(check_integer("k", model.k, low=1), m)))
    # RAKEL does not look at the order of correlations: with a size, r = 1 asks for nothing more.
    cover, _ = choose_cover(
        Y, model.cover, k=model.k, r=1, size=size, random_state=seed, verbose=model.verbose
    )
    return cover
