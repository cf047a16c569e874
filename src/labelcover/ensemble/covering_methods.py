"""INLAC, BALCO, BALANCOR and DD-BALANCOR: the paper's covers of labels (Section 4)."""

from __future__ import annotations

from labelcover.ensemble.choose_cover import balancor_size, choose_cover, labelset_shape
from labelcover.ensemble.label_ensemble import LabelEnsemble


class CoveringMethod(LabelEnsemble):
    """RAKEL++ on the cover of one strategy, with the parameters of `BalancorClassifier`."""

    _strategy: str

    def __init__(
        self,
        estimator=None,
        *,
        k=3,
        r=2,
        size=None,
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
        self.r = r
        self.size = size
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        cover, _ = choose_cover(
            Y,
            self._strategy,
            k=self.k,
            r=self.r,
            size=self.size,
            random_state=seed,
            verbose=self.verbose,
        )
        return cover


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

    The parameters are those of `BalancorClassifier`. By default there are as many labelsets as
    BALANCOR takes for the same k and r.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import BalcoClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> BalcoClassifier(k=3, size=8, random_state=0).fit(X, Y).cover_.imbalance
    0
    """

    _strategy = "balco"

    def _make_cover(self, Y, seed):
        size = self.size
        if size is None:
            size = balancor_size(Y.shape[1], *labelset_shape(self.k, self.r, Y.shape[1]))
        cover, _ = choose_cover(
            Y, "balco", k=self.k, r=self.r, size=size, random_state=seed, verbose=self.verbose
        )
        return cover


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
    threshold, threshold_measure, threshold_search, threshold_per_label, threshold_max_std,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

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
    estimator, size, threshold, threshold_measure, threshold_search, threshold_per_label,
    threshold_max_std, n_jobs, random_state, verbose
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
        cover, self.cover_choices_ = choose_cover(
            Y,
            "balancor",
            k=self.k,
            r=self.r,
            size=self.size,
            adapt=True,
            random_state=seed,
            verbose=self.verbose,
        )
        return cover
