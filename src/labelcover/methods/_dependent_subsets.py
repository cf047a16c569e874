"""Dependent subsets: label powerset within subsets of dependent labels, and ensembles of such."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelcover._arguments import check_choice, check_integer, check_real
from labelcover._progress import tell
from labelcover.covers import Cover
from labelcover.ensemble import CoverView, ThresholdParameters, TrainingRows
from labelcover.methods._label_partitions import (
    Trials,
    best_partitions,
    cluster_labels,
    diverse_partitions,
    unconditional_dependence,
)
from labelcover.methods._label_powerset import LabelsetModel, LabelsetView
from labelcover.methods._member_rows import AGGREGATES


@dataclass(eq=False, repr=False, kw_only=True)
class DependenceModel(ThresholdParameters):
    """An estimator that looks at the dependence of pairs of labels."""

    dependence: str = "unconditional"
    alpha: float = 0.01
    n_folds: int = 10

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        check_choice("dependence", self.dependence, ("unconditional", "conditional"))
        check_real("alpha", self.alpha, above=0, below=1)
        check_integer("n_folds", self.n_folds, low=2)
        super()._check_parameters(n_labels, weighted=weighted)

    def _check_rows(self, training: TrainingRows) -> None:
        super()._check_rows(training)
        if self._needs_folds(training) and len(training.Y) < self.n_folds:
            raise ValueError(
                f"n_folds must be at most the number of rows, got n_folds={self.n_folds} and "
                f"n_samples={len(training.Y)}."
            )

    def _needs_folds(self, training: TrainingRows) -> bool:
        return training.Y.shape[1] > 1 and self.dependence == "conditional"

    def _gives_left_out(self) -> bool:
        return bool(self._learner().gives_left_out)

    @abstractmethod
    def _view(self, learner: Any) -> CoverView:
        """Return the view over the subsets that were found."""

    def _views_to_tune(self, learner, training, random, *, whole):
        return lambda: self._view(learner), np.arange(training.Y.shape[1])

    def _measured(self, learner: Any, training: TrainingRows, seed: int) -> Trials:
        """Set ``dependence_``; return what it was tried by."""
        random = np.random.default_rng(seed)
        trials = Trials(learner, training, int(self.n_folds), random, self.n_jobs)
        if self.dependence == "unconditional":
            self.dependence_ = unconditional_dependence(training.Y, float(self.alpha))
        else:
            self.dependence_ = trials.conditional_dependence(float(self.alpha))
        return trials


@dataclass(eq=False, repr=False, kw_only=True)
class DependentSubsetsClassifier(DependenceModel, LabelsetModel):
    """Label powerset within disjoint subsets of dependent labels (Tenenboim-Chekina et al.).

    Starting from single labels, which is binary relevance, the subsets of the most dependent pair
    of labels are united, then those of the next pair, and so on. A union stays if the subset
    accuracy for left-out training rows does not fall by it.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    dependence : {"unconditional", "conditional"}, default="unconditional"
        ``"unconditional"`` is χ² of the two labels. ``"conditional"`` tests whether one label is
        predicted better if the other is a feature: a paired t-test over `n_folds` folds on the
        accuracies of the two binary models, which fits the members of all labels once more for
        each label and fold.
    alpha : float, default=0.01
        Level of the test. Pairs that are not significantly dependent are never united.
    max_failures : int, default=10
        The search ends after more than so many unions in a row that lower the score.
    n_folds : int, default=10
        Folds of cross-validation, for the conditional test and for the score of unions. Members
        with leave-one-out predictions, such as least squares, need none for the score.
    threshold : None, {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=None
        As for `LabelPowersetClassifier`: None predicts the most probable pattern of each subset.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    cover_ : Cover
        The subsets, one per member.
    dependence_ : LabelPairDependence
        The scores of all pairs of labels and the critical value.
    score_ : float
        Subset accuracy of the subsets for left-out rows; NaN if no pair is dependent.
    n_tried_ : int
        How many unions were tried.

    Notes
    -----
    Predictions of a subset do not depend on the other subsets, so that a union costs the fit of
    one member (in each fold), and the next unions are fitted together. χ² counts rows, whatever
    their weights; the score counts weights.

    References
    ----------
    Tenenboim-Chekina, L., Rokach, L. and Shapira, B. (2010). Identification of label dependencies
    for multi-label classification. ICML Workshop on Learning from Multi-Label Data, 53-60.

    Chekina, L., Gutfreund, D., Kontorovich, A., Rokach, L. and Shapira, B. (2013). Exploiting label
    dependencies for improved sample complexity. Machine Learning 91, 1-42.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.methods import DependentSubsetsClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(200, 3))
    >>> noisy = X + random.normal(size=(200, 3)) > 0
    >>> Y = np.column_stack([noisy, ~noisy[:, 0]])  # the last label is the first one reversed
    >>> [labels.tolist() for labels in DependentSubsetsClassifier().fit(X, Y).cover_]
    [[0, 3], [1], [2]]
    """

    max_failures: int = 10
    threshold: Any = None

    def _check_parameters(self, n_labels, *, weighted):
        check_integer("max_failures", self.max_failures, low=0)
        super()._check_parameters(n_labels, weighted=weighted)

    def _needs_folds(self, training):
        several = training.Y.shape[1] > 1
        return several and (super()._needs_folds(training) or not self._gives_left_out())

    def _make_view(self, learner, training, seed):
        m, trials = training.Y.shape[1], self._measured(learner, training, seed)
        pairs, most = self.dependence_.pairs(), int(self.max_failures)
        subsets, self.score_, self.n_tried_ = cluster_labels(
            pairs, m, trials.rows_right, trials.share, max_failures=most
        )
        self.cover_ = Cover(subsets, m, method="dependent subsets")
        tell(
            f"{len(subsets)} subsets of {m} labels after {self.n_tried_} unions tried, "
            f"subset accuracy {self.score_:.3f} for left-out rows",
            show=bool(self.verbose),
        )
        return self._view(learner)

    def _view(self, learner):
        return LabelsetView(learner, self.cover_)


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleOfDependentSubsetsClassifier(DependenceModel):
    """Label powerset within the subsets of several partitions of the labels, averaged per label.

    Random partitions are weighted by the dependence of the pairs of labels that they keep
    together, less that of the pairs that they take apart. Of those of highest weight, different
    ones become members.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    n_members : int, default=10
        Number of partitions; fewer if there are not so many different ones.
    n_partitions : int, default=50000
        Number of random partitions to choose from.
    dependence, alpha, n_folds
        As for `DependentSubsetsClassifier`; the critical value at the level `alpha` is subtracted
        from the score of every pair, and `n_folds` counts for ``dependence="conditional"`` only.
    aggregate : {"votes", "mean"}, default="votes"
        What a partition says of a label: whether the most probable pattern of the label's subset
        has it, as published, or how probable it is.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where the mean over the partitions is cut; see `RakelPlusPlusClassifier`.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    cover_ : Cover
        The subsets of all partitions, one after the other.
    partitions_ : list of Cover
        The partitions, that of highest weight first.
    dependence_ : LabelPairDependence
        The scores of all pairs of labels and the critical value.

    Notes
    -----
    All subsets are fitted together, each different one once. Candidates are the 100 partitions of
    highest weight; the next member is the best of the fifth of them that is most different from
    the members so far. These numbers, `n_members` and `n_partitions` are MULAN's.

    References
    ----------
    Tenenboim-Chekina, L., Rokach, L. and Shapira, B. (2010). Identification of label dependencies
    for multi-label classification. ICML Workshop on Learning from Multi-Label Data, 53-60.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import EnsembleOfDependentSubsetsClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = EnsembleOfDependentSubsetsClassifier(n_members=5, random_state=0).fit(X, Y)
    >>> len(model.partitions_), model.cover_.label_counts.tolist()
    (5, [5, 5, 5, 5, 5, 5])
    """

    n_members: int = 10
    n_partitions: int = 50000
    aggregate: str = "votes"

    def _check_parameters(self, n_labels, *, weighted):
        check_integer("n_members", self.n_members, low=1)
        check_integer("n_partitions", self.n_partitions, low=1)
        check_choice("aggregate", self.aggregate, AGGREGATES)
        super()._check_parameters(n_labels, weighted=weighted)

    def _make_view(self, learner, training, seed):
        m, random = training.Y.shape[1], self._measured(learner, training, seed).random
        excess = self.dependence_.scores - self.dependence_.critical_value
        best = best_partitions(excess, int(self.n_partitions), random)
        of_each = (
            [np.flatnonzero(partition == first).tolist() for first in np.unique(partition)]
            for partition in diverse_partitions(best, int(self.n_members))
        )
        self.partitions_ = [Cover(each, m, method="dependent subsets") for each in of_each]
        subsets = [labels.tolist() for partition in self.partitions_ for labels in partition]
        self.cover_ = Cover(subsets, m, method="dependent subsets")
        return self._view(learner)

    def _view(self, learner):
        return CoverView(learner, [self.cover_], aggregate=self.aggregate)
