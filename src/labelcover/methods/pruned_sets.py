"""Pruned sets: label powerset on the labelsets that occur often."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_integer
from labelcover.covers import Cover
from labelcover.ensemble.view import TrainingRows
from labelcover.methods.label_powerset import LabelsetModel, LabelsetView, one_labelset

STRATEGIES = ("A", "B")


@dataclass(frozen=True)
class Pruning:
    """Which labelsets are pruned, and with which of their subsets the rows are kept.

    Attributes
    ----------
    p, strategy, b
        As for `PrunedSetsClassifier`.
    """

    p: int
    strategy: str
    b: int

    def check(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_integer("p", self.p, low=0)
        check_choice("strategy", self.strategy, STRATEGIES)
        check_integer("b", self.b, low=0)

    def rows(
        self, Y: NDArray[np.uint8], weights: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return the rows to train on, some of them repeatedly, and the labels each then has.

        Subsets with equally many labels and rows are ranked by the lexicographic order of their
        patterns of zeros and ones.

        Examples
        --------
        >>> import numpy as np
        >>> from labelcover.methods.pruned_sets import Pruning
        >>> Y = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
        >>> rows, labels = Pruning(p=1, strategy="A", b=2).rows(Y.astype(np.uint8))
        >>> rows
        array([0, 1, 2, 3, 4, 4])
        >>> labels[4:].tolist()
        [[0, 1, 0], [1, 0, 0]]
        """
        labelsets, labelset_of = np.unique(Y, axis=0, return_inverse=True)
        labelset_of = labelset_of.ravel()
        counts = np.bincount(labelset_of, weights=weights)
        is_frequent = self._frequent(counts)
        frequent, rare = np.flatnonzero(is_frequent), np.flatnonzero(~is_frequent)
        sizes = labelsets.sum(axis=1, dtype=np.int64)
        best_first = frequent[np.lexsort((-counts[frequent], -sizes[frequent]))]
        of_rare, subset = np.nonzero(self._kept_subsets(labelsets[rare], labelsets[best_first]))

        # Pairs (labelset, what its rows are trained as), grouped by labelset.
        source = np.concatenate([frequent, rare[of_rare]])
        target = np.concatenate([frequent, best_first[subset]])
        by_source = np.argsort(source, kind="stable")
        target = target[by_source]
        starts = np.searchsorted(source[by_source], np.arange(len(labelsets) + 1))
        times = np.diff(starts)[labelset_of]
        rows = np.repeat(np.arange(len(Y)), times)
        copy = np.arange(len(rows)) - np.repeat(np.cumsum(times) - times, times)
        return rows, labelsets[target[starts[labelset_of[rows]] + copy]]

    def training_rows(self, training: TrainingRows) -> TrainingRows:
        """Return what a member is trained on in place of `training`."""
        rows, Y = self.rows(training.Y, training.weights)
        unchanged = len(rows) == len(training.Y) and np.array_equal(Y, training.Y)
        return training if unchanged else replace(training.rows(rows), Y=Y)

    def _frequent(self, counts: NDArray) -> NDArray[np.bool_]:
        frequent = counts > self.p
        if frequent.any():
            return frequent
        warnings.warn(
            f"p={self.p} prunes every labelset; those that occur most often, "
            f"{counts.max():g} times, are kept.",
            UserWarning,
            stacklevel=2,
        )
        return counts == counts.max()

    def _kept_subsets(
        self, rare: NDArray[np.uint8], best_first: NDArray[np.uint8]
    ) -> NDArray[np.bool_]:
        """Return which frequent labelsets, ranked, the rows of each pruned one are kept with.

        The empty labelset is a subset of all and says nothing of a row: it is left out.
        """
        sizes = best_first.sum(axis=1, dtype=np.int64)
        common = rare.astype(np.float32) @ best_first.T.astype(np.float32)
        subsets = (common == sizes) & (sizes > 0)
        if self.strategy == "A":
            return subsets & (np.cumsum(subsets, axis=1) <= self.b)
        return subsets & (sizes > self.b)


class PrunedSetsView(LabelsetView):
    """Label powerset on pruned rows."""

    def __init__(
        self, learner: Any, cover: Cover, pruning: Pruning, *, aggregate: str = "mean"
    ) -> None:
        super().__init__(learner, [cover], aggregate=aggregate)
        self.pruning = pruning

    def fit(self, training: TrainingRows, seeds: NDArray[np.int64], **how: Any) -> PrunedSetsView:
        """Fit the member on what pruning makes of the rows."""
        super().fit(self.pruning.training_rows(training), seeds, **how)
        return self


class PrunedSetsClassifier(LabelsetModel):
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

    cover_: Cover

    def __init__(
        self,
        estimator=None,
        *,
        p=3,
        strategy="A",
        b=2,
        threshold=None,
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
        self.p = p
        self.strategy = strategy
        self.b = b
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
        Pruning(self.p, self.strategy, self.b).check()
        super()._check_parameters(n_labels, weighted=weighted)

    def _make_view(self, learner, training, seed):
        self.cover_ = one_labelset(training.Y.shape[1])
        pruning = Pruning(int(self.p), self.strategy, int(self.b))
        return PrunedSetsView(learner, self.cover_, pruning)

    def _gives_left_out(self) -> bool:
        return self.p == 0 and bool(self._learner().gives_left_out)
