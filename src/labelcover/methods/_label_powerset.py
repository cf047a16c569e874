"""Label powerset: labelsets of training are classes; pruned sets, those that occur often."""

import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover.covers import Cover
from labelcover.ensemble import (
    MOST_SEED,
    CoverView,
    LabelModel,
    ThresholdParameters,
    TrainingRows,
    draw_seeds,
)
from labelcover.learners import in_parallel
from labelcover.methods._member_rows import AGGREGATES, MeanOfMembers


@dataclass(frozen=True)
class Pruning:
    """Which labelsets are pruned, and with which of their subsets the rows are kept.

    `p`, `strategy` and `b` are those of `PrunedSetsClassifier`.
    """

    p: int
    strategy: str
    b: int

    def __post_init__(self) -> None:
        check_integer("p", self.p, low=0)
        check_choice("strategy", self.strategy, ("A", "B"))
        check_integer("b", self.b, low=0)

    def rows(
        self, Y: NDArray[np.uint8], weights: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the rows to train on, some of them repeatedly, and the labels each then has.

        Subsets with equally many labels and rows are ranked by the lexicographic order of their
        patterns of zeros and ones.
        """
        labelsets, labelset_of = np.unique(Y, axis=0, return_inverse=True)
        labelset_of = labelset_of.ravel()
        counts = np.bincount(labelset_of, weights=weights)
        is_frequent = counts > self.p
        if not is_frequent.any():
            warnings.warn(
                f"p={self.p} prunes every labelset; those that occur most often, "
                f"{counts.max():g} times, are kept.",
                UserWarning,
                stacklevel=2,
            )
            is_frequent = counts == counts.max()
        frequent, rare = np.flatnonzero(is_frequent), np.flatnonzero(~is_frequent)
        sizes = labelsets.sum(axis=1, dtype=np.int64)
        best_first = frequent[np.lexsort((-counts[frequent], -sizes[frequent]))]
        # The empty labelset is a subset of all and says nothing of a row: it is left out.
        common = labelsets[rare].astype(np.float32) @ labelsets[best_first].T.astype(np.float32)
        subsets = (common == sizes[best_first]) & (sizes[best_first] > 0)
        if self.strategy == "A":
            subsets &= np.cumsum(subsets, axis=1) <= self.b
        else:
            subsets &= sizes[best_first] > self.b
        # As which frequent labelsets, the best first, rows are kept; sparse, as all may be so.
        own = sparse.identity(len(best_first), dtype=bool, format="csr")
        kept = sparse.vstack([own, sparse.csr_matrix(subsets)], format="csr")
        of_rows = kept[np.argsort(np.concatenate([best_first, rare]))[labelset_of]]
        rows = np.repeat(np.arange(len(Y)), np.diff(of_rows.indptr))
        return rows, labelsets[best_first[of_rows.indices]]

    def training_rows(self, training: TrainingRows) -> TrainingRows:
        """Return what a member is trained on in place of `training`."""
        rows, Y = self.rows(training.Y, training.weights)
        unchanged = len(rows) == len(training.Y) and np.array_equal(Y, training.Y)
        return training if unchanged else replace(training.rows(rows), Y=Y)


class LabelsetView(CoverView):
    """Members over disjoint labelsets, of which the most probable patterns can be asked for.

    With a `Pruning`, they are fitted on what that makes of the rows.
    """

    def __init__(
        self, learner: Any, cover: Cover, pruning: Pruning | None = None, aggregate: str = "mean"
    ) -> None:
        super().__init__(learner, [cover], aggregate=aggregate)
        self.pruning = pruning

    def fit(self, rows: TrainingRows, seed: int, **how: Any) -> Self:
        """Fit the members."""
        rows = rows if self.pruning is None else self.pruning.training_rows(rows)
        return super().fit(rows, seed, **how)

    def most_probable(self, X: Any) -> NDArray[np.bool_]:
        """Return the labels in the most probable class of every member, the first of equals."""
        voting = copy(self)
        voting.aggregate = "votes"
        return voting.confidences(X)[0] > 0.5


class LabelsetModel(LabelModel):
    """An estimator that predicts what is ``most_probable`` to its view, if it has no threshold."""

    view_: Any
    cover_: Cover

    def predict(self, X: Any) -> Any:
        """Return zeros and ones, ``(n, n_labels)``; sparse if the labels were sparse in `fit`."""
        self._check_fitted()
        if self.threshold_ is not None:
            return super().predict(X)
        return self._predicted(self.view_.most_probable(self._coding.read(self, X)), X)

    def _decided(self, read: Any, confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        if self.threshold_ is not None:
            return super()._decided(read, confidence)
        return self.view_.most_probable(read)

    def _check_threshold(self, m: int) -> None:
        if self.threshold is not None:
            super()._check_threshold(m)

    def _given_threshold(self) -> Any:
        return None if self.threshold is None else super()._given_threshold()

    def _gives_left_out(self) -> bool:
        return bool(self._learner().gives_left_out)


def one_labelset(n_labels: int) -> Cover:
    """Return the cover of one labelset that holds all labels."""
    return Cover(np.arange(n_labels)[None, :], n_labels, method="one labelset")


@dataclass(eq=False, repr=False, kw_only=True)
class LabelPowersetClassifier(ThresholdParameters, LabelsetModel):
    """Label powerset (LP): one member, whose classes are the labelsets that occur in training.

    This is the cover with k = m. Only labelsets seen in training are predicted, so that all
    dependence between the labels is kept; with many labels, most classes have few rows.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the member is a clone of; by default a `LeastSquaresClassifier`.
    threshold : None, {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=None
        None predicts the most probable labelset (the first of equals, in lexicographic order of
        the patterns of zeros and ones). Anything else cuts `predict_proba` instead, as for
        `RakelPlusPlusClassifier`, and may then predict labelsets that training does not have.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    cover_ : Cover
        The one labelset of all labels.

    Notes
    -----
    `predict_proba` returns the marginals of the distribution over labelsets: the confidence of a
    label is the total probability of the labelsets that hold it.

    References
    ----------
    Tsoumakas, G., Katakis, I. and Vlahavas, I. (2010). Mining multi-label data. Data Mining and
    Knowledge Discovery Handbook, 667-685.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import LabelPowersetClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> predicted = LabelPowersetClassifier().fit(X, Y).predict(X)
    >>> {tuple(row) for row in predicted} <= {tuple(row) for row in Y}
    True
    """

    threshold: Any = None

    def _make_view(self, learner, training, seed):
        self.cover_ = one_labelset(training.Y.shape[1])
        return LabelsetView(learner, self.cover_)


@dataclass(eq=False, repr=False, kw_only=True)
class PrunedSetsClassifier(ThresholdParameters, LabelsetModel):
    """Pruned sets (PS): label powerset on the labelsets that occur more than `p` times.

    A row whose labelset is pruned is kept with frequent subsets of its labelset instead, once
    for each: the row is repeated.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the member is a clone of; by default a `LeastSquaresClassifier`.
    p : int, default=3
        Labelsets that occur at most `p` times are pruned; 0 prunes none, which is
        `LabelPowersetClassifier`. Rows count by their weights. If all labelsets would be pruned,
        those that occur most often are kept, with a warning.
    strategy : {"A", "B"}, default="A"
        ``"A"`` keeps the row with its `b` best frequent subsets, ranked by their number of labels,
        then by how often they occur. ``"B"`` keeps it with all frequent subsets of more than `b`
        labels. A subset is frequent if it occurs more than `p` times as the labelset of a row.
    b : int, default=2
        With ``strategy="A"``, 0 drops the rows of pruned labelsets.
    threshold : None, {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=None
        As for `LabelPowersetClassifier`. A number is the publication's variant that can predict
        labelsets not seen in training. There are no leave-one-out predictions unless ``p=0``, as
        the copies of a row would stay in training.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    cover_ : Cover
        The one labelset of all labels.

    Notes
    -----
    The defaults of `p`, `strategy` and `b` are those of MULAN.

    References
    ----------
    Read, J., Pfahringer, B. and Holmes, G. (2008). Multi-label classification using ensembles of
    pruned sets. IEEE International Conference on Data Mining, 995-1000.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import PrunedSetsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> predicted = PrunedSetsClassifier(p=2).fit(X, Y).predict(X)
    >>> len({tuple(row) for row in Y}), len({tuple(row) for row in predicted})
    (44, 9)
    """

    p: int = 3
    strategy: str = "A"
    b: int = 2
    threshold: Any = None

    def _check_parameters(self, n_labels, *, weighted):
        Pruning(self.p, self.strategy, self.b)
        super()._check_parameters(n_labels, weighted=weighted)

    def _make_view(self, learner, training, seed):
        self.cover_ = one_labelset(training.Y.shape[1])
        return LabelsetView(learner, self.cover_, Pruning(self.p, self.strategy, self.b))

    def _gives_left_out(self) -> bool:
        return self.p == 0 and super()._gives_left_out()


class SubsampledView(MeanOfMembers):
    """Pruned sets, each on a sample of the rows, and the mean of what they say."""

    def __init__(self, members: list[LabelsetView], subsample: float) -> None:
        self.members, self.subsample = members, subsample

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit every member on a sample without replacement."""
        n = len(rows.Y)
        size = sample_size(n, self.subsample)
        randoms = [np.random.default_rng(own) for own in draw_seeds(seed, len(self.members))]
        samples = [np.sort(random.choice(n, size, replace=False)) for random in randoms]
        jobs = (
            delayed(_fitted)(member, rows, sample, int(random.integers(MOST_SEED)))
            for member, sample, random in zip(self.members, samples, randoms, strict=True)
        )
        self.members = list(in_parallel(jobs, n_jobs, text="fitting members", verbose=verbose))
        self.keep_left_out(rows, [np.setdiff1d(np.arange(n), sample) for sample in samples])
        return self

    def says(self, member: LabelsetView, X: Any) -> NDArray[np.float64]:
        """Return the confidences of a member."""
        return member.confidences(X)[0]


def sample_size(n: int, subsample: float) -> int:
    """Return how many of `n` rows a member is trained on: fewer than all if `subsample` < 1."""
    return max(1, int(subsample * n))


def _fitted(
    view: LabelsetView, training: TrainingRows, sample: NDArray[np.int64], seed: int
) -> LabelsetView:
    return view.fit(training.rows(sample), seed)


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleOfPrunedSetsClassifier(ThresholdParameters, LabelModel):
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

    n_members: int = 10
    subsample: float = 0.63
    p: int = 2
    strategy: str = "A"
    b: int = 3
    aggregate: str = "mean"
    threshold: Any = "auto"

    def _check_parameters(self, n_labels, *, weighted):
        check_integer("n_members", self.n_members, low=1)
        check_real("subsample", self.subsample, above=0, high=1)
        Pruning(self.p, self.strategy, self.b)
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
        own = learner, cover, Pruning(self.p, self.strategy, self.b), self.aggregate
        members = [LabelsetView(*own) for _ in range(self.n_members)]
        return SubsampledView(members, float(self.subsample))

    def _gives_left_out(self) -> bool:
        return self.subsample < 1
