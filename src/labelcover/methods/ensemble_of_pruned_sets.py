"""Ensemble of pruned sets: pruned sets on samples of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._table_numbers import rows_of
from labelcover.ensemble.label_model import MOST_SEED, LabelModel
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.problems import in_parallel
from labelcover.methods.label_powerset import one_labelset
from labelcover.methods.pruned_sets import PrunedSetsView, Pruning

AGGREGATES = ("mean", "votes")


class SubsampledView:
    """Pruned sets on several samples of the rows, and the mean of what they say.

    Attributes
    ----------
    members : list of PrunedSetsView
    left_out : tuple or None
        The rows that some member has not seen and the mean confidences of those members, if kept.
    """

    members: list[PrunedSetsView]

    def __init__(self, members: list[PrunedSetsView], subsample: float) -> None:
        self.members, self.subsample = members, subsample
        self.left_out: tuple[NDArray[np.int64], list[NDArray[np.float64]]] | None = None

    @property
    def n_seeds(self) -> int:
        """One for each member."""
        return len(self.members)

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> SubsampledView:
        """Fit every member on a sample without replacement."""
        n = len(training.Y)
        size = sample_size(n, self.subsample)
        randoms = [np.random.default_rng(seed) for seed in seeds]
        # In their own order: a sample of all rows is then the table itself.
        samples = [np.sort(random.choice(n, size, replace=False)) for random in randoms]
        jobs = (
            delayed(_fitted)(member, training, sample, random.integers(MOST_SEED, size=1))
            for member, sample, random in zip(self.members, samples, randoms, strict=True)
        )
        self.members = list(in_parallel(jobs, n_jobs, text="fitting members", verbose=verbose))
        if keep_left_out:
            self.left_out = self._out_of_bag(training, samples)
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the mean over the members, ``(n, n_labels)``."""
        return [np.mean([member.confidences(X)[0] for member in self.members], axis=0)]

    def _out_of_bag(
        self, training: TrainingRows, samples: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], list[NDArray[np.float64]]]:
        sums = np.zeros(training.Y.shape)
        times = np.zeros(len(sums))
        for member, sample in zip(self.members, samples, strict=True):
            held = np.setdiff1d(np.arange(len(sums)), sample, assume_unique=True)
            sums[held] += member.confidences(rows_of(training.X, held))[0]
            times[held] += 1
        rows = np.flatnonzero(times)
        return rows, [sums[rows] / times[rows, None]]


def sample_size(n: int, subsample: float) -> int:
    """Return how many of `n` rows a member is trained on: fewer than all if `subsample` < 1."""
    return max(1, int(subsample * n))


def _fitted(
    view: PrunedSetsView,
    training: TrainingRows,
    sample: NDArray[np.int64],
    seeds: NDArray[np.int64],
) -> PrunedSetsView:
    all_rows = len(sample) == len(training.Y)
    return view.fit(training if all_rows else training.rows(sample), seeds)


class EnsembleOfPrunedSetsClassifier(LabelModel):
    """Ensemble of pruned sets (EPS): pruned sets on samples of the rows, averaged per label.

    Members see different rows and prune different labelsets, so that together they can predict
    labelsets that no training row has.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    n_members : int, default=10
        Number of members.
    subsample : float, default=0.63
        The part of the rows that each member is trained on, drawn without replacement; above 0
        and at most 1.
    p, strategy, b : default=2, "A", 3
        As for `PrunedSetsClassifier`; labelsets are counted among the rows of the member.
    aggregate : {"mean", "votes"}, default="mean"
        What a member says of a label: the total probability of the labelsets that hold it, or 1 if
        the most probable labelset (the first of equals) holds it and 0 if not, as in MULAN.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default="auto"
        Where the mean over the members is cut. ``"loo"`` tunes it on out-of-bag predictions: what
        those members say of a row that have not seen it. This needs no refits with any learner, but
        `subsample` below 1. ``"cv"`` is five-fold cross-validation; ``"auto"`` is ``"loo"`` if
        `subsample` is below 1, else ``"cv"``.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties
        As for `RakelPlusPlusClassifier`.
    n_jobs : int, optional
        Number of members fitted in parallel.
    random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Notes
    -----
    Members are fitted separately, as each has rows (and repeated rows) of its own. The defaults of
    `n_members`, `p`, `strategy` and `b` are MULAN's; MULAN samples 66 % of the rows and cuts votes
    at ½. The publication chooses the threshold whose predictions have as many labels in all as the
    training rows: ``threshold_measure=lambda Y, Y_pred: -abs(Y.sum() - Y_pred.sum())``.

    References
    ----------
    Read, J., Pfahringer, B. and Holmes, G. (2008). Multi-label classification using ensembles of
    pruned sets. IEEE International Conference on Data Mining, 995-1000.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from labelcover.methods import EnsembleOfPrunedSetsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = EnsembleOfPrunedSetsClassifier(DecisionTreeClassifier(), random_state=0).fit(X, Y)
    >>> len(model.view_.members), model.n_threshold_rows_
    (10, 100)
    """

    def __init__(
        self,
        estimator=None,
        *,
        n_members=10,
        subsample=0.63,
        p=2,
        strategy="A",
        b=3,
        aggregate="mean",
        threshold="auto",
        threshold_measure="auto",
        threshold_search="grid",
        threshold_per_label=False,
        threshold_max_std=None,
        ties="auto",
        n_jobs=None,
        random_state=None,
        verbose=False,
    ):
        self.estimator = estimator
        self.n_members = n_members
        self.subsample = subsample
        self.p = p
        self.strategy = strategy
        self.b = b
        self.aggregate = aggregate
        self.threshold = threshold
        self.threshold_measure = threshold_measure
        self.threshold_search = threshold_search
        self.threshold_per_label = threshold_per_label
        self.threshold_max_std = threshold_max_std
        self.ties = ties
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self, n_labels, *, weighted):
        check_integer("n_members", self.n_members, low=1)
        check_real("subsample", self.subsample, above=0, high=1)
        Pruning(self.p, self.strategy, self.b).check()
        check_choice("aggregate", self.aggregate, AGGREGATES)
        super()._check_parameters(n_labels, weighted=weighted)

    def _check_rows(self, training):
        super()._check_rows(training)
        n = len(training.Y)
        if self._tuning() == "loo" and sample_size(n, self.subsample) == n:
            raise ValueError(
                f"threshold={self.threshold!r} needs rows that a member has not seen, got "
                f"n_samples={n}. Give a number instead."
            )

    def _make_view(self, learner, training, seed):
        cover = one_labelset(training.Y.shape[1])
        pruning = Pruning(int(self.p), self.strategy, int(self.b))
        members = [
            PrunedSetsView(learner, cover, pruning, aggregate=self.aggregate)
            for _ in range(self.n_members)
        ]
        return SubsampledView(members, float(self.subsample))

    def _gives_left_out(self) -> bool:
        return self.subsample < 1
