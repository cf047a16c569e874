"""INLAC, BALCO, BALANCOR and DD-BALANCOR: the paper's covers of labels (Section 4)."""

from __future__ import annotations

from labelcover.ensemble.adapting import data_driven_cover
from labelcover.ensemble.base import LabelEnsemble
from labelcover.ensemble.covering import make_cover


class CoveringMethod(LabelEnsemble):
    """RAKEL++ on the cover of one strategy; the parameters of the paper's methods.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`. The paper used
        `SMOClassifier` and `C45Classifier`.
    k : int, default=3
        Number of labels in a labelset.
    r : int, default=2
        Order of the correlations to cover.
    size : int, optional
        Number of labelsets; by default as many as the strategy needs.
    threshold, measure, search, per_label, max_std, n_jobs, random_state, verbose
        As for `LabelCoverClassifier`; here ``threshold="cv"``, the paper's five folds.
    """

    _strategy: str

    def __init__(
        self,
        estimator=None,
        *,
        k=3,
        r=2,
        size=None,
        threshold="cv",
        measure="micro_f1",
        search="grid",
        per_label=False,
        max_std=None,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.k = k
        self.r = r
        self.size = size
        self.threshold = threshold
        self.measure = measure
        self.search = search
        self.per_label = per_label
        self.max_std = max_std
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        return make_cover(
            self._strategy, Y.shape[1], k=self.k, r=self.r, size=self.size, random_state=seed
        )


class InlacClassifier(CoveringMethod):
    """INLAC: each labelset covers as many new combinations of r labels as possible (Algorithm 4).

    The parameters are those of `BalancorClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import InlacClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> InlacClassifier(k=3, random_state=0).fit(X, Y).cover_.coverage(2)
    1.0
    """

    _strategy = "inlac"


class BalcoClassifier(CoveringMethod):
    """BALCO: every label lies in about as many labelsets (Algorithm 5).

    The parameters are those of `BalancorClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import BalcoClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> BalcoClassifier(k=3, size=8, random_state=0).fit(X, Y).cover_.imbalance
    0
    """

    _strategy = "balco"


class BalancorClassifier(CoveringMethod):
    """BALANCOR: covers all combinations of r labels, with balanced label counts (Section 4.3).

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`. The paper used
        `SMOClassifier` and `C45Classifier`.
    k : int, default=3
        Number of labels in a labelset.
    r : int, default=2
        Order of the correlations to cover.
    size : int, optional
        Number of labelsets; by default as many as it takes to cover all.
    threshold, measure, search, per_label, max_std, n_jobs, random_state, verbose
        As for `LabelCoverClassifier`; here ``threshold="cv"``, the paper's five folds.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import BalancorClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = BalancorClassifier(k=3, random_state=0).fit(X, Y)
    >>> model.cover_.coverage(2), model.cover_.imbalance
    (1.0, 1)
    """

    _strategy = "balancor"


class DDBalancorClassifier(CoveringMethod):
    """DD-BALANCOR: BALANCOR's cover with its labels permuted for the training data (Section 4.4).

    The permutation is searched so that the cover, which holds all combinations of r labels
    anyway, also holds the most dependent combinations of r + 1.

    Parameters
    ----------
    k, r : int or "auto", default=3 and 2
        As for `LabelCoverClassifier`: ``"auto"`` chooses by dependency and cost (Section 5.7).
        For a budget of one's own take
        ``LabelCoverClassifier(cover="balancor", adapt=True, budget=…)``.
    estimator, size, threshold, measure, search, per_label, max_std, n_jobs, random_state, verbose
        As for `BalancorClassifier`.

    Attributes
    ----------
    cover_choices_ : list of CoverChoice or None
        With ``k="auto"`` or ``r="auto"``: what the cover was chosen from, and why.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import BalancorClassifier, DDBalancorClassifier
    >>> from labelcover.dependence import label_dependence
    >>> X, Y = make_multilabel_classification(n_samples=300, n_classes=9, random_state=0)
    >>> plain = BalancorClassifier(k=3, random_state=0).fit(X, Y)
    >>> driven = DDBalancorClassifier(k=3, random_state=0).fit(X, Y)
    >>> triples = label_dependence(Y, r=3)
    >>> triples.merit(driven.cover_) > triples.merit(plain.cover_)
    True
    """

    def _make_cover(self, Y, seed):
        cover, self.cover_choices_ = data_driven_cover(
            Y, "balancor", k=self.k, r=self.r, size=self.size, adapt=True, random_state=seed
        )
        return cover
