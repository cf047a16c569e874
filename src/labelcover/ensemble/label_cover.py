"""The general estimator."""

from __future__ import annotations

from labelcover.ensemble.choose_cover import choose_cover
from labelcover.ensemble.label_ensemble import LabelEnsemble


class LabelCoverClassifier(LabelEnsemble):
    """A multi-label classifier: one member per labelset of a cover, confidences averaged and cut.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of. By default a `LeastSquaresClassifier`, which trains all
        members at once in closed form.
    cover : str, Cover, callable or array-like, default="auto"
        Which labels each member holds: the name of a strategy of `labelcover.covers`
        (``"best"``, ``"random"``, ``"inlac"``, ``"balco"``, ``"balancor"``, …), a function like
        those, or the labelsets themselves. ``"auto"`` is ``"best"``, which covers all r-labelsets;
        where that takes more than 5,000 members (at ``k=3``, above some 170 labels) and no `size`
        is given, it takes 4 balanced labelsets for each label.
    k : int or "auto", default=3
        Number of labels in a labelset. If there are fewer labels, all of them, with a warning.
        With ``k=1``, which is binary relevance, there are no correlations to cover.
        ``"auto"`` takes the affordable cover that addresses the most dependency among the
        training labels (see `labelcover.dependence.cover_choices`).
    r : int or "auto", default=2
        Order of the correlations to cover: every r labels lie together in some labelset.
    size : int, optional
        Number of labelsets σ. By default as many as the strategy needs.
    adapt : bool, default=False
        Permute the labels of the cover so that it holds as many dependent labels as possible, as
        DD-BALANCOR does; see `labelcover.dependence.adapt_cover`.
    budget : float, optional
        With ``k="auto"`` or ``r="auto"``: the greatest cost of the ensemble, in binary models. By
        default ten for each label.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default="auto"
        Where confidences are cut. ``"cv"`` is the paper's five-fold cross-validation; ``"loo"``
        uses leave-one-out predictions, which the default members give without refitting;
        ``"auto"`` is ``"loo"`` where the members offer it and ``"cv"`` elsewhere.
    threshold_measure : str or callable, default="micro_f1"
        What the threshold is tuned for: a measure of `labelcover.metrics`, or ``f(Y, Y_pred)``
        where higher is better.
    threshold_search : {"grid", "golden"}, default="grid"
        How a threshold is searched: .1 to .9 and then steps of .01, or by golden sections.
    threshold_per_label : bool, default=False
        Tune one threshold for each label.
    threshold_max_std : float, optional
        With ``threshold="cv"``: repeat the cross-validation, at most five times, until the
        standard deviation of the mean score is at most this (Kohavi and John, 1997).
    n_jobs : int, optional
        Number of members fitted in parallel; ignored by members that are solved jointly. Never
        changes results.
    random_state : int, RandomState or None
        Seed of the cover, the members and the folds.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    cover_choices_ : list of CoverChoice or None
        With ``k="auto"`` or ``r="auto"``: what the cover was chosen from, and why.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import LabelCoverClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = LabelCoverClassifier(random_state=0).fit(X, Y)
    >>> model.cover_.coverage(2)
    1.0
    >>> model.predict(X).shape
    (100, 6)
    """

    def __init__(
        self,
        estimator=None,
        *,
        cover="auto",
        k=3,
        r=2,
        size=None,
        adapt=False,
        budget=None,
        threshold="auto",
        threshold_measure="micro_f1",
        threshold_search="grid",
        threshold_per_label=False,
        threshold_max_std=None,
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.cover = cover
        self.k = k
        self.r = r
        self.size = size
        self.adapt = adapt
        self.budget = budget
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_cover(self, Y, seed):
        cover, self.cover_choices_ = choose_cover(
            Y,
            self.cover,
            k=self.k,
            r=self.r,
            size=self.size,
            adapt=self.adapt,
            budget=self.budget,
            random_state=seed,
            verbose=self.verbose,
        )
        return cover
