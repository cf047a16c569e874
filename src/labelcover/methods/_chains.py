"""Ensembles of classifier chains (ECC)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover.ensemble import LabelModel, ThresholdParameters, TrainingRows, draw_seeds
from labelcover.learners import in_parallel
from labelcover.methods._chain_models import Chain, fitted_chains
from labelcover.methods._member_rows import AGGREGATES, MeanOfMembers

# How the rows of a chain are drawn, and which share of them by default.
BAGGING = {"bootstrap": 1.0, "subsample": 0.67}


class ChainModel(LabelModel):
    """An estimator of chains: one on all rows, unless a subclass has parameters that say more.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
        The labels of each chain, in order.
    """

    n_chains: Any = 1
    order: Any
    bagging: Any = None
    sample_fraction: Any = None

    def _bags(self, learner: Any, training: TrainingRows, seed: int) -> dict[str, Any]:
        """Return the parameters of `ChainsView`."""
        self.orders_ = self._orders(training.Y.shape[1], seed)
        share = 1.0 if self.bagging is None else BAGGING[self.bagging]
        return {
            "learner": learner,
            "orders": self.orders_,
            "bagging": self.bagging,
            "fraction": share if self.sample_fraction is None else float(self.sample_fraction),
        }

    def _orders(self, n_labels: int, seed: int) -> NDArray[np.int64]:
        return chain_orders(self.order, self.n_chains, n_labels, seed)

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        check_integer("n_chains", self.n_chains, low=1)
        self._orders(n_labels, 0)
        if self.bagging is not None:
            check_choice("bagging", self.bagging, (*BAGGING, None))
        if self.sample_fraction is not None:
            check_real("sample_fraction", self.sample_fraction, above=0, high=1)
        super()._check_parameters(n_labels, weighted=weighted)


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleOfChainsClassifier(ThresholdParameters, ChainModel):
    """Classifier chains in random orders, each on its own sample of the rows (ECC).

    A chain has a binary model for each label, whose features are X and the labels that come before
    it in the chain: their true values in training, the predicted ones afterwards. The chains of
    the ensemble differ in the order of the labels and in the rows they are trained on.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the models are clones of; by default a `LeastSquaresClassifier`, which solves all
        chains on the same rows in one factorisation.
    n_chains : int, default=10
        Number of chains.
    order : "random" or array-like of shape (n_labels,) or (n_chains, n_labels), default="random"
        The order of the labels in the chains: the numbers of the labels, one order for all chains
        or one for each.
    bagging : {"bootstrap", "subsample"} or None, default="bootstrap"
        How the rows of a chain are drawn: with replacement (Read et al., 2011; MULAN), without
        (Read et al., 2009), or not at all.
    sample_fraction : float, optional
        How many rows are drawn, as a share of all; by default 1 with replacement and .67 without.
    aggregate : {"mean", "votes"}, default="mean"
        The confidence of a label is the mean probability over the chains, or the share of chains
        that predict it.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`. With bagging, ``"loo"`` uses
        out-of-bag predictions: for each row, those of the chains trained without it.
    ties : {"auto", "positive", "negative"}, default="positive"
        What a confidence of exactly the threshold means; half of an even number of votes is
        common. MULAN predicts the label.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, random_state
        As for `RakelPlusPlusClassifier`.
    n_jobs : int, optional
        Number of chains fitted in parallel.
    verbose : bool, default=False
        Show a progress bar.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
        The labels of each chain, in order.

    Notes
    -----
    A single chain without bagging is scikit-learn's `ClassifierChain`: links hand on the class
    that is more probable.

    References
    ----------
    J. Read, B. Pfahringer, G. Holmes, E. Frank: Classifier chains for multi-label classification.
    ECML PKDD 2009; Machine Learning 85 (2011), 333–359.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import EnsembleOfChainsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = EnsembleOfChainsClassifier(random_state=0).fit(X, Y)
    >>> model.orders_.shape
    (10, 6)
    >>> model.predict_proba(X).shape
    (100, 6)
    """

    n_chains: int = 10
    order: Any = "random"
    bagging: Any = "bootstrap"
    sample_fraction: Any = None
    aggregate: str = "mean"
    ties: str = "positive"

    def _make_view(self, learner, training, seed):
        bags = self._bags(learner, training, seed)
        return ChainsView(**bags, votes=self.aggregate == "votes")

    def _check_parameters(self, n_labels, *, weighted):
        check_choice("aggregate", self.aggregate, AGGREGATES)
        super()._check_parameters(n_labels, weighted=weighted)

    def _gives_left_out(self):
        return self.bagging is not None


@dataclass(eq=False, repr=False, kw_only=True)
class ChainsView(MeanOfMembers):
    """Chains, each fitted on its own sample of the rows: mean confidences, or votes.

    Parameters
    ----------
    learner : batch learner
    orders : ndarray of shape (n_chains, n_labels)
    bagging : {"bootstrap", "subsample"} or None
    fraction : float
        Rows drawn, as a share of all.
    votes : bool
        Whether a chain says which labels it predicts, or how sure it is of each.

    Attributes
    ----------
    members : list of Chain
    sample_seeds : ndarray of shape (n_chains,)
        For labelsets that are sampled from each chain.
    """

    no_shares = "each label of a chain is predicted from those before it"

    learner: Any
    orders: NDArray[np.int64]
    bagging: str | None
    fraction: float
    votes: bool = False

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit all chains."""
        n_chains, n_labels = self.orders.shape
        seeds = draw_seeds(seed, n_chains * (n_labels + 2)).reshape(-1, n_chains)
        of_rows, self.sample_seeds = seeds[0], seeds[-1]
        of_links = seeds[1:-1].reshape(n_chains, n_labels)
        if self.bagging is None:
            # All chains have the same rows, so they may share work.
            self.members = fitted_chains(self.learner, rows, self.orders, of_links)
            return self
        counts = [self._drawn(len(rows.Y), int(own)) for own in of_rows]
        jobs = (
            delayed(_fitted_chain)(self.learner, rows, drawn, order[None], links[None])
            for drawn, order, links in zip(counts, self.orders, of_links, strict=True)
        )
        how = {**self.learner.side_by_side, "verbose": verbose}
        self.members = list(in_parallel(jobs, n_jobs, text="fitting chains", **how))
        self.keep_left_out(rows, [np.flatnonzero(drawn == 0) for drawn in counts])
        return self

    def _drawn(self, n: int, seed: int) -> NDArray[np.int64]:
        """Return how often each of `n` rows is drawn."""
        random, size = np.random.default_rng(seed), max(1, round(self.fraction * n))
        rows = random.choice(n, size, replace=self.bagging == "bootstrap")
        return np.bincount(rows, minlength=n)

    def says(self, member: Chain, X: Any) -> NDArray[np.float64]:
        """Return the confidences of a chain, or which labels it predicts."""
        confidence = chain_confidence(member, X)
        return (confidence > 0.5).astype(np.float64) if self.votes else confidence


def chain_confidence(chain: Chain, X: Any) -> NDArray[np.float64]:
    """Return the probabilities of all labels along the more probable class of each link."""
    n, m = X.shape[0], len(chain.order)
    prepared = chain.prepare(X)
    confidence = np.empty((n, m))
    predicted = np.empty((n, m), np.uint8)
    for link, label in enumerate(chain.order):
        confidence[:, label] = chain.probability(prepared, None, link, predicted[:, :link])
        predicted[:, link] = confidence[:, label] > 0.5
    return confidence


def _fitted_chain(learner, training, drawn, order, seeds):
    """Return a chain fitted on a sample of the rows."""
    return fitted_chains(learner, training, order, seeds, drawn=drawn)[0]


def chain_orders(order: Any, n_chains: int, n_labels: int, seed: int) -> NDArray[np.int64]:
    """Return the order of the labels in each chain, ``(n_chains, n_labels)``.

    Raises
    ------
    ValueError
        If `order` is neither ``"random"`` nor one or `n_chains` permutations of the labels.
    """
    if isinstance(order, str) and order == "random":
        random = np.random.default_rng(seed)
        return np.array([random.permutation(n_labels) for _ in range(n_chains)])
    try:
        given = np.atleast_2d(np.asarray(order))
    except ValueError:  # lists of different lengths
        given = np.empty((0, 0))
    wanted = np.arange(n_labels)
    if (
        given.dtype.kind not in "iu"
        or given.shape not in ((1, n_labels), (n_chains, n_labels))
        or not (np.sort(given, axis=1) == wanted).all()
    ):
        raise ValueError(
            f"order must be 'random' or the numbers 0 to {n_labels - 1} of the labels in some "
            f"order, once or for each of n_chains={n_chains} chains, got {order!r}."
        )
    return np.ascontiguousarray(np.broadcast_to(given, (n_chains, n_labels)), dtype=np.int64)
