"""Chains of binary models, each with the labels before it as features, and ensembles (ECC)."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._table_numbers import blocks, rows_of
from labelcover.ensemble import LabelModel, ThresholdParameters, TrainingRows, draw_seeds
from labelcover.learners import LabelSystem, Members, Problems, in_parallel, is_frame
from labelcover.methods._member_rows import (
    AGGREGATES,
    MeanOfMembers,
    values_with_labels,
    with_labels,
)

# How the rows of a chain are drawn, and which share of them by default.
BAGGING = {"bootstrap": 1.0, "subsample": 0.67}
# Rows with labels beside them are made in blocks of so many numbers (64 MB).
BLOCK_NUMBERS = 2**23

Rows = NDArray[np.int64] | None
Labels = NDArray[np.uint8]
Floats = NDArray[np.float64]


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
        share = (
            BAGGING.get(self.bagging, 1.0) if self.sample_fraction is None else self.sample_fraction
        )
        own = {"bagging": self.bagging, "fraction": float(share)}
        return {"learner": learner, "orders": self.orders_, **own}

    def _orders(self, n_labels: int, seed: int) -> NDArray[np.int64]:
        """Return the order of the labels in each chain, ``(n_chains, n_labels)``."""
        order, n_chains = self.order, self.n_chains
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

    `sample_seeds`, one for each chain, are for labelsets that are sampled from it.
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
        n, counts = len(rows.Y), []
        size, replace_rows = max(1, round(self.fraction * n)), self.bagging == "bootstrap"
        for own in of_rows.tolist():
            drawn = np.random.default_rng(own).choice(n, size, replace=replace_rows)
            counts.append(np.bincount(drawn, minlength=n))
        jobs = (
            delayed(fitted_chains)(self.learner, rows, order[None], links[None], drawn=drawn)
            for drawn, order, links in zip(counts, self.orders, of_links, strict=True)
        )
        how = {**self.learner.side_by_side, "text": "fitting chains", "verbose": verbose}
        self.members = [chain for (chain,) in in_parallel(jobs, n_jobs, **how)]
        self.keep_left_out(rows, [np.flatnonzero(drawn == 0) for drawn in counts])
        return self

    def says(self, member: "Chain", X: Any) -> NDArray[np.float64]:
        """Return the confidences of a chain, or which labels it predicts.

        Those are the probabilities along the more probable class of each link.
        """
        n, m = X.shape[0], len(member.order)
        prepared = member.prepare(X)
        confidence = np.empty((n, m))
        predicted = np.empty((n, m), np.uint8)
        for link, label in enumerate(member.order):
            confidence[:, label] = member.probability(prepared, None, link, predicted[:, :link])
            predicted[:, link] = confidence[:, label] > 0.5
        return (confidence > 0.5).astype(np.float64) if self.votes else confidence


@dataclass(frozen=True)
class Chain:
    """A fitted chain.

    Attributes
    ----------
    order : ndarray of shape (n_labels,)
        The label of each link: those that are the same in all training rows come first.
    constants : ndarray of shape (n_constant,)
        What these are.
    varying : LinkedChain, or the chain of a `LabelSystem`, optional
        The links of the others.
    """

    order: NDArray[np.int64]
    constants: NDArray[np.float64]
    varying: Any

    def prepare(self, X: Any) -> Any:
        """Return what `probability` takes: the work on new rows that all links share."""
        return None if self.varying is None else self.varying.prepare(X), X.shape[0]

    def probability(self, prepared: Any, rows: Rows, link: int, before: Labels) -> Floats:
        """Return the probability of a link's label, given ``before``, the labels before it.

        `rows` says which of the prepared rows each row of ``before`` belongs to; None: all.
        """
        of_varying, n = prepared
        first = len(self.constants)
        if link < first:
            return np.full(n if rows is None else len(rows), self.constants[link])
        return self.varying.probability(of_varying, rows, link - first, before[:, first:])


@dataclass(frozen=True)
class LinkedChain:
    """The links of a chain, each with a model of the learner for one problem."""

    links: list[Members]

    @classmethod
    def fitted(
        cls, learner: Any, training: TrainingRows, order: NDArray[np.int64], seeds: Any
    ) -> "LinkedChain":
        """Fit a link for each label: the labels before it are features, with their true values."""
        Y = training.Y[:, order]
        links = []
        is_copied = is_frame(training.X)  # other tables are looked at without further columns
        table: Any = None if is_copied else with_labels(training.X, Y)
        for link in range(len(order)):
            if is_copied:
                X = with_labels(training.X, Y[:, :link])
            else:
                X = table[:, : training.X.shape[1] + link]
            problems = Problems(
                np.ascontiguousarray(Y[None, :, link], dtype=np.int32),
                np.array([0, 2]),
                values_with_labels(training.n_values, link),
                training.weights,
                seeds[link : link + 1],
                training.metadata,
            )
            links.append(learner.fit_problems(X, problems))
        return cls(links)

    def prepare(self, X: Any) -> Any:
        """Return `X`."""
        return X

    def probability(self, prepared: Any, rows: Rows, link: int, before: Labels) -> Floats:
        """Return what `Chain.probability` does."""
        members = self.links[link]
        answers = np.empty(len(before))
        width = prepared.shape[1] + link + members.row_width
        for block in blocks(len(before), BLOCK_NUMBERS // width):
            whole = rows is None and block.stop - block.start == len(before)
            chosen = block if rows is None else rows[block]
            X = with_labels(prepared if whole else rows_of(prepared, chosen), before[block])
            answers[block] = members.distributions(members.prepare(X), slice(0, 1))[:, 1]
        return answers


def fitted_chains(
    learner: Any,
    training: TrainingRows,
    orders: NDArray[np.int64],
    seeds: NDArray[np.int64],
    *,
    drawn: NDArray[np.int64] | None = None,
) -> list[Chain]:
    """Return a chain for each of some orders, fitted on the same rows.

    A label that is the same in all rows is no problem to be fitted and no feature: it comes first
    and has probability 0 or 1. Least squares solves all labels in one factorisation, which the
    chains share; other learners fit one model per link.

    Parameters
    ----------
    seeds : ndarray of shape (n_orders, n_labels)
    drawn : ndarray of shape (n,), optional
        How often each row counts; by default once.
    """
    counted = sample = training
    if drawn is not None:
        # A row drawn twice has weight 2: leave-one-out leaves both out.
        counted = training.rows(np.flatnonzero(drawn))
        weights = drawn[drawn > 0].astype(np.float64)
        weights *= 1 if counted.weights is None else counted.weights
        counted = replace(counted, weights=None if (weights == 1).all() else weights)
    varies = np.ptp(counted.Y, axis=0) > 0
    labels = np.flatnonzero(varies)
    system: LabelSystem | None = None
    if len(labels):
        problems = Problems(
            np.ascontiguousarray(counted.Y[:, labels].T, dtype=np.int32),
            2 * np.arange(len(labels) + 1),
            counted.n_values,
            counted.weights,
            seeds[0, :1],
        )
        system = learner.label_system(counted.X, problems)
        if drawn is not None and system is None:
            sample = training.rows(np.repeat(np.arange(len(drawn)), drawn))
    chains = []
    for order, of_links in zip(orders, seeds, strict=True):
        constant, varying = order[~varies[order]], order[varies[order]]
        chain: Any = None
        if system is not None:
            chain = system.chain(np.searchsorted(labels, varying))
        elif len(labels):
            chain = LinkedChain.fitted(learner, sample, varying, of_links)
        constants = counted.Y[0, constant].astype(np.float64)
        chains.append(Chain(np.concatenate([constant, varying]), constants, chain))
    return chains
