"""The paper's methods: RAKEL and RAKEL++ on random labelsets, and those with covers of labels.

Sections 2.2, 2.3 and 4.
"""

from dataclasses import dataclass
from math import comb
from typing import Any

from labelcover._arguments import check_integer
from labelcover.dependence import check_annealing
from labelcover.ensemble._choose_cover import balancor_size, labelset_shape
from labelcover.ensemble._label_ensemble import LabelEnsemble, ThresholdParameters


@dataclass(eq=False, repr=False, kw_only=True)
class RandomLabelsets(LabelEnsemble):
    """What both RAKELs have in common: by default ``2 m`` random labelsets."""

    k: int = 3
    size: int | None = None
    cover: Any = "random"

    def _make_cover(self, Y, seed):
        m, size = Y.shape[1], self.size
        if size is None:  # as the authors of RAKEL advise
            size = min(2 * m, comb(m, min(check_integer("k", self.k, low=1), m)))
        # RAKEL does not look at the order of correlations: with a size, r = 1 asks for no more.
        return self._chosen_cover(Y, seed, self.cover, r=1, size=size)


@dataclass(eq=False, repr=False, kw_only=True)
class RakelClassifier(RandomLabelsets):
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
    aggregate : {"votes", "auto", "mean", "winner", "weighted"}, default="votes"
        How members are combined; see `RakelPlusPlusClassifier`.
    threshold : float or array-like of shape (n_labels,), default=0.5
        Share of votes from which a label is predicted. `RakelPlusPlusClassifier` with
        ``aggregate="votes"`` tunes it.
    ties : {"auto", "positive", "negative"}, default="positive"
        What a share of exactly `threshold` means. Algorithm 2 asks for more than the threshold
        (``"negative"``, which ``"auto"`` is); MULAN, with which the paper's tables were made,
        accepts equality.
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

    aggregate: str = "votes"
    threshold: Any = 0.5
    ties: str = "positive"


@dataclass(eq=False, repr=False, kw_only=True)
class RakelPlusPlusClassifier(ThresholdParameters, RandomLabelsets):
    """RAKEL++: random labelsets, mean confidence, and a threshold tuned on the data (Section 2.3).

    Parameters
    ----------
    estimator, k, size, cover
        As for `RakelClassifier`.
    aggregate : {"auto", "mean", "votes", "winner", "weighted"}, default="auto"
        What becomes the confidence of a label: the mean of the probabilities of the members that
        hold it; the share of these members that predict it, as in RAKEL; the mean of p where a
        member's most probable class, of probability p, has the label, and of 1 − p where not; or a
        mean with weights. ``"auto"`` is ``"mean"`` where members give probabilities, and
        ``"votes"`` where they do not, such as `SMOClassifier` without ``logistic=True`` and
        classifiers without ``predict_proba``.
        The weights of a label's members are above 0, sum to 1 and minimise the log-loss of their
        weighted mean on leave-one-out predictions. They are shrunk towards equal weights, as if
        each member had been the only right one in one further row (stacking; Yao et al., 2018).
        Only members that give leave-one-out predictions, such as the default ones, can be weighted.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default="cv"
        Where confidences are cut. ``"cv"`` is the paper's five-fold cross-validation; ``"loo"``
        uses leave-one-out predictions, which least squares members give without refitting;
        ``"auto"`` is ``"loo"`` where the members offer it and ``"cv"`` elsewhere.
    threshold_measure : str or callable, default="auto"
        What the threshold is tuned for: a measure of predictions of `labelcover.metrics`, or
        ``f(Y, Y_pred)`` where higher is better. ``"auto"`` is ``"micro_f1"``, or
        ``"hamming_loss"`` with ``threshold_search="mulan"``.
    threshold_search : {"grid", "golden", "mulan"}, default="grid"
        How a threshold is searched: .1 to .9 and then steps of .01; by golden sections; or as
        MULAN's OneThreshold does: 0 to 1 in steps of .1, then ±.05 in steps of .01, the lowest of
        equally good thresholds, and in a cross-validation three folds of consecutive rows and all
        members.
    threshold_per_label : bool, default=False
        Tune one threshold for each label.
    threshold_max_std : float, optional
        With ``threshold="cv"``: repeat the cross-validation, at most five times, until the
        standard deviation of the mean score is at most this (Kohavi and John, 1997).
    ties : {"auto", "positive", "negative"}, default="auto"
        What a confidence of exactly the threshold means, in the search too. ``"auto"`` is
        ``"negative"``, as in Algorithm 2, or ``"positive"`` for a threshold tuned with
        ``threshold_search="mulan"``, as in MULAN.
    n_jobs, random_state, verbose
        As for `LabelCoverClassifier`.

    Attributes
    ----------
    aggregate_ : str
        What `aggregate` comes to; ``repr`` and ``plan_`` say it too.
    member_weights_ : ndarray of shape (size, k) or None
        With ``aggregate="weighted"``: the weight of each member in each of its labels, in the order
        of ``cover_.labelsets``.

    References
    ----------
    R. Kohavi and G. John (1997). Wrappers for feature subset selection. Artificial Intelligence
    97(1–2), 273–324.

    Y. Yao, A. Vehtari, D. Simpson and A. Gelman (2018). Using stacking to average Bayesian
    predictive distributions. Bayesian Analysis 13(3), 917–1007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover import RakelPlusPlusClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = RakelPlusPlusClassifier(random_state=0).fit(X, Y)
    >>> 0.1 <= model.threshold_ <= 0.9
    True
    """

    aggregate: str = "auto"
    threshold: Any = "cv"


@dataclass(eq=False, repr=False, kw_only=True)
class CoveringMethod(ThresholdParameters, LabelEnsemble):
    """RAKEL++ on the cover of one strategy, with the parameters of `BalancorClassifier`."""

    k: Any = 3
    r: Any = 2
    size: int | None = None
    aggregate: str = "auto"
    threshold: Any = "cv"

    _strategy = ""

    def _make_cover(self, Y, seed):
        return self._chosen_cover(Y, seed, self._strategy)


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
        return self._chosen_cover(Y, seed, "balco", size=size)


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
    aggregate, threshold, threshold_measure, threshold_search, threshold_per_label,
    threshold_max_std, ties, n_jobs, random_state, verbose
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


@dataclass(eq=False, repr=False, kw_only=True)
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
    min_count : int, default=5
        The least number of training rows in which r + 1 labels must occur together for their
        dependence to count.
    decay : float, default=0.85
        γ, the factor by which the temperature of the search falls, above 0 and below 1.
    n_iterations : int, optional
        N, the number of swaps that a search tries; by default that of Section 4.4
        (`labelcover.dependence.annealing_iterations`).
    first_temperature : float, optional
        T₀, in units of the merit: a swap that loses as much is accepted with probability 1/e in
        the beginning. The paper gives none; by default it is the mean change of merit by a swap.
    n_restarts : int, default=10
        Number of searches, each from another random permutation; the best result is kept.
    estimator, size, aggregate, threshold, threshold_measure, threshold_search,
    threshold_per_label, threshold_max_std, ties, n_jobs, random_state, verbose
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

    min_count: int = 5
    decay: float = 0.85
    n_iterations: int | None = None
    first_temperature: float | None = None
    n_restarts: int = 10

    _strategy = "balancor"

    def _annealing(self) -> dict[str, Any]:
        names = "decay", "n_iterations", "first_temperature", "n_restarts"
        return {name: getattr(self, name) for name in names}

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        check_integer("min_count", self.min_count, low=1)
        check_annealing(**self._annealing())

    def _make_cover(self, Y, seed):
        how = {"adapt": True, "min_count": self.min_count, "annealing": self._annealing()}
        return self._chosen_cover(Y, seed, self._strategy, **how)
