"""RAKEL and RAKEL++: random labelsets."""

from __future__ import annotations

from labelcover._arguments import check_choice
from labelcover.ensemble.base import LabelEnsemble
from labelcover.ensemble.covering import make_cover

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

    def fit(self, X, Y, sample_weight=None, **fit_params):
        """Fit all members; see `LabelCoverClassifier.fit`."""
        check_choice("ties", self.ties, TIES)
        return super().fit(X, Y, sample_weight, **fit_params)

    def _make_cover(self, Y, seed):
        m = Y.shape[1]
        return make_cover(self.cover, m, k=self.k, size=self.size, random_state=seed)

    def _cut(self, confidence):
        if self.ties == "positive":
            return confidence >= self.threshold_
        return confidence > self.threshold_
