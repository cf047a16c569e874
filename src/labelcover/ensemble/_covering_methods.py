"""INLAC, BALCO, BALANCOR and DD-BALANCOR: the paper's covers of labels (Section 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labelcover._arguments import check_integer
from labelcover.ensemble._choose_cover import balancor_size, choose_cover, labelset_shape
from labelcover.ensemble._label_ensemble import LabelEnsemble
from labelcover.ensemble._model_parameters import ThresholdParameters


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

    def _annealing(self) -> dict[str, Any]:
        return {
            "decay": self.decay,
            "n_iterations": self.n_iterations,
            "first_temperature": self.first_temperature,
            "n_restarts": self.n_restarts,
        }

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        from labelcover.dependence import check_annealing

        super()._check_parameters(n_labels, weighted=weighted)
        check_integer("min_count", self.min_count, low=1)
        check_annealing(**self._annealing())

    def _make_cover(self, Y, seed):
        cover, self.cover_choices_ = choose_cover(
            Y,
            "balancor",
            k=self.k,
            r=self.r,
            size=self.size,
            adapt=True,
            min_count=self.min_count,
            annealing=self._annealing(),
            random_state=seed,
            verbose=self.verbose,
        )
        return cover
