"""Probabilistic classifier chains (PCC) and their ensemble (EPCC)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover.ensemble import ModelParameters
from labelcover.methods._chain_inference import (
    INFERENCES,
    MOST_EXACT_LABELS,
    Inference,
)
from labelcover.methods._chains import ChainModel, ChainsView, chain_orders

DECISIONS = ("subset_accuracy", "hamming_loss", "example_f1")


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticChainsView(ChainsView):
    """The view of probabilistic chains: marginals, and the best labelset for a measure.

    Parameters
    ----------
    learner, orders, bagging, fraction
        As for `ChainsView`.
    decide : str
        The measure for which `decided` is best.
    inference : Inference
    """

    decide: str
    inference: Inference

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the marginal probability of every label."""
        marginals = np.empty((X.shape[0], self.orders.shape[1]))
        of_chains = self.members, self.sample_seeds, X
        for rows, found in self.inference.labelsets("hamming_loss", *of_chains):
            marginals[rows] = found.marginals(rows.stop - rows.start)
        return [marginals]

    def decided(self, X: Any) -> NDArray[np.bool_]:
        """Return the best labels of each row for the measure."""
        decide = self.decide
        if decide == "hamming_loss":
            return self.confidences(X)[0] > 0.5
        chosen = np.empty((X.shape[0], self.orders.shape[1]), bool)
        of_chains = self.members, self.sample_seeds, X
        for rows, found in self.inference.labelsets(decide, *of_chains):
            if decide == "subset_accuracy":
                chosen[rows] = found.most_probable()
            else:
                chosen[rows] = found.best_for_f1(rows.stop - rows.start)
        return chosen


@dataclass(eq=False, repr=False, kw_only=True)
class _ProbabilisticChains(ModelParameters, ChainModel):
    """What one probabilistic chain and an ensemble of them have in common."""

    decide: str = "subset_accuracy"
    inference: str = "auto"
    beam_width: int = 15
    epsilon: float = 0.01
    n_samples: int = 200

    # Marginals are cut at ½, which is best for the Hamming loss.
    threshold = 0.5

    def predict(self, X: Any) -> Any:
        """Return zeros and ones, ``(n, n_labels)``: the best labels for the measure of `decide`."""
        check_is_fitted(self, "view_")
        view: Any = self.view_
        return self._predicted(view.decided(self._coding.read(self, X)), X)

    def _make_view(self, learner, training, seed):
        inference = Inference(
            self.inference, int(self.beam_width), float(self.epsilon), int(self.n_samples)
        )
        return ProbabilisticChainsView(
            **self._bags(learner, training, seed), decide=self.decide, inference=inference
        )

    def _check_parameters(self, n_labels, *, weighted):
        check_choice("decide", self.decide, DECISIONS)
        check_choice("inference", self.inference, INFERENCES)
        check_integer("beam_width", self.beam_width, low=1)
        check_real("epsilon", self.epsilon, above=0, high=1)
        check_integer("n_samples", self.n_samples, low=1)
        if self.inference == "exact" and n_labels > MOST_EXACT_LABELS:
            raise ValueError(
                f"inference='exact' goes through all labelsets and takes at most "
                f"{MOST_EXACT_LABELS} labels, got {n_labels}. Use 'auto', 'beam', 'epsilon' or "
                f"'monte-carlo'."
            )
        super()._check_parameters(n_labels, weighted=weighted)


@dataclass(eq=False, repr=False, kw_only=True)
class ProbabilisticChainClassifier(_ProbabilisticChains):
    """A classifier chain read as a joint distribution of the labels (PCC).

    Every link gives the probability of its label given X and the labels before it; their product
    is the probability of a labelset. `predict` returns the best labels for a measure, and
    `predict_proba` the marginal probability of each label.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the links are clones of; by default a `LeastSquaresClassifier`. It should have
        calibrated probabilities.
    order : array-like of shape (n_labels,), "random" or None, default=None
        The order of the labels in the chain, by their numbers; None keeps that of Y.
    decide : {"subset_accuracy", "hamming_loss", "example_f1"}, default="subset_accuracy"
        The measure for which `predict` is best in expectation: the most probable labelset, the
        labels with marginals above ½, or the labels with the largest expected F1 of the row (the
        general F-maximiser).
    inference : {"auto", "exact", "beam", "epsilon", "monte-carlo"}, default="auto"
        Which labelsets of a row are looked at. ``"exact"``: all of them, for up to 15 labels.
        ``"beam"``: those that remain if only the `beam_width` most probable beginnings are
        continued at each link. ``"epsilon"``: all whose probability is at least `epsilon`, or, if
        there are none, greedy continuations of the beginnings that were. ``"monte-carlo"``: a
        sample of `n_samples`. ``"auto"`` is ``"exact"`` for up to 15 labels; for more, the most
        probable labelset is found by ``"beam"``, marginals and F1 by ``"monte-carlo"``.
    beam_width : int, default=15
    epsilon : float, default=0.01
        If some labelset is at least this probable, the most probable one is found.
    n_samples : int, default=200
    n_jobs, verbose
        As for `LabelCoverClassifier`. A single chain is fitted in one process.
    random_state : int, RandomState or None, default=None
        Seed of a random order, of the links and of samples. Predictions of a fitted model are
        the same at each call.

    Attributes
    ----------
    orders_ : ndarray of shape (1, n_labels)
        The order of the labels.

    Notes
    -----
    ``"beam"`` and ``"epsilon"`` search for the most probable labelset. Marginals and expected F1
    are then taken over the labelsets found, with their probabilities scaled to sum to one.

    References
    ----------
    K. Dembczyński, W. Cheng, E. Hüllermeier: Bayes optimal multilabel classification via
    probabilistic classifier chains. ICML 2010.

    K. Dembczyński, W. Waegeman, W. Cheng, E. Hüllermeier: An exact algorithm for F-measure
    maximization. NIPS 2011.

    K. Dembczyński, W. Waegeman, E. Hüllermeier: An analysis of chaining in multi-label
    classification. ECAI 2012.

    A. Kumar, S. Vembu, A. K. Menon, C. Elkan: Beam search algorithms for multilabel learning.
    Machine Learning 92 (2013), 65–89.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import ProbabilisticChainClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = ProbabilisticChainClassifier(decide="example_f1", random_state=0).fit(X, Y)
    >>> model.predict(X).shape
    (100, 6)
    """

    order: Any = None

    def _orders(self, n_labels, seed):
        order = np.arange(n_labels) if self.order is None else self.order
        return chain_orders(order, 1, n_labels, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleOfProbabilisticChainsClassifier(_ProbabilisticChains):
    """Probabilistic chains in random orders, each on its own sample of the rows (EPCC).

    The distribution of the labels is the mean over the chains of their joint distributions, of
    which `predict` returns the best labels for a measure and `predict_proba` the marginals.

    Parameters
    ----------
    estimator, decide, inference, beam_width, epsilon, n_samples, random_state
        As for `ProbabilisticChainClassifier`.
    n_chains, order, bagging, sample_fraction, n_jobs, verbose
        As for `EnsembleOfChainsClassifier`.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
        The labels of each chain, in order.

    Notes
    -----
    Without exact inference, the chains look at different labelsets, and one that a chain has not
    found counts as impossible in that chain.

    References
    ----------
    K. Dembczyński, W. Cheng, E. Hüllermeier: Bayes optimal multilabel classification via
    probabilistic classifier chains. ICML 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import EnsembleOfProbabilisticChainsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> EnsembleOfProbabilisticChainsClassifier(random_state=0).fit(X, Y).predict(X).shape
    (100, 6)
    """

    n_chains: int = 10
    order: Any = "random"
    bagging: Any = "bootstrap"
    sample_fraction: Any = None
