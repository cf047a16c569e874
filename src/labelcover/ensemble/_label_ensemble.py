"""Ensembles over a cover, one member per labelset, and thresholds tuned on training data."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_choice, check_real, is_auto
from labelcover._label_values import drawn_by_frequency
from labelcover._progress import tell
from labelcover._table_numbers import rows_of
from labelcover.covers import Cover
from labelcover.ensemble._choose_cover import choose_cover
from labelcover.ensemble._cover_view import READINGS
from labelcover.ensemble._label_model import LabelModel
from labelcover.ensemble._plan import AUTO, MEMBERS, Plan, draw_left_out, plan_for
from labelcover.ensemble._pool import label_frequency, view_for
from labelcover.ensemble._view import TrainingRows, View, drawn_seed
from labelcover.learners import BatchClassifier, LabelLearner
from labelcover.thresholds import (
    MEASURES_OF_PREDICTIONS,
    SEARCHES,
    Score,
    best_threshold,
    best_thresholds_per_label,
    score_function,
)

# Section 2.3: above so many members, cross-validation uses only a tenth of them.
MANY_MEMBERS = 100
AGGREGATES = (AUTO, *READINGS, "weighted")
# How a threshold is found that is not given; see `LabelCoverClassifier`.
THRESHOLDS = ("auto", "cv", "loo")
# Kohavi and John (1997) stop after five cross-validations even if the spread stays large.
MOST_REPEATS = 5


class LabelEnsemble(LabelModel):
    """An ensemble of members, each of which holds a labelset.

    A subclass says which cover it uses (`_make_cover`), and has the parameters of `LabelModel`;
    ``aggregate`` if it offers it.

    Attributes
    ----------
    cover_ : Cover
        The labelsets, one per member.
    plan_ : Plan
        What was fitted for the table, and why.
    aggregate_ : str
        How members are combined: `aggregate`, or what ``"auto"`` comes to.
    """

    # What holds where a subclass does not have the parameter.
    aggregate: Any = AUTO
    plan: Any = AUTO
    cover_: Cover
    plan_: Plan
    aggregate_: str

    _learners = (BatchClassifier, LabelLearner)
    _reads_chunks = True
    _takes_unknown = True

    if not TYPE_CHECKING:  # else every name would be taken for an attribute

        def __getattr__(self, name):
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name == "partial_fit":
                missing += (
                    ": fit takes seconds on rows in memory, and rows in chunks beyond it; see "
                    "docs/large-data.md"
                )
            raise AttributeError(missing)

    @abstractmethod
    def _make_cover(self, Y: NDArray[np.uint8], seed: int) -> Cover:
        """Return the cover for the training labels."""

    def _chosen_cover(self, Y: NDArray[np.uint8], seed: int, strategy: Any, **how: Any) -> Cover:
        """Return what `choose_cover` does with the parameters of the estimator, but for `how`."""
        model: Any = self
        how = {"k": model.k, "r": getattr(model, "r", 2), "size": model.size, **how}
        how |= {"random_state": seed, "verbose": self.verbose}
        cover, self.cover_choices_ = choose_cover(Y, strategy, **how)
        return cover

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        # What "auto" comes to is shown as if it had been asked for; a mean goes without saying.
        shown, own = copy(self), combined_by(self.aggregate, self._member())
        if own != "mean" or type(self).aggregate != AUTO:
            shown.aggregate = own
        return super(LabelEnsemble, shown).__repr__(N_CHAR_MAX)

    def _make_view(self, learner, training, seed):
        self.cover_ = self._make_cover(drawn_by_frequency(training.Y, training.cells, seed), seed)
        self.aggregate_ = combined_by(self.aggregate, learner)
        self.plan_ = plan_for(learner, training, self.cover_, self.plan, self.aggregate_)
        tell(str(self.plan_), show=bool(self.verbose))
        missing = self.label_names_in_[self.cover_.label_counts == 0]
        if self.plan_.has_members and len(missing):
            shown = ", ".join(map(str, missing[:10])) + (", …" if len(missing) > 10 else "")
            warnings.warn(
                f"cover leaves out {len(missing)} of {self.cover_.n_labels} labels, which will "
                f"never be predicted: {shown}.",
                UserWarning,
                stacklevel=3,
            )
        return self._planned_view(learner, self.cover_)

    def _planned_view(self, learner: Any, cover: Cover) -> Any:
        how: dict[str, Any] = {"aggregate": self.aggregate_, "unknown": self._has_unknown}
        return view_for(learner, self.plan_, cover, **how)

    def _leaving_out(self, training: TrainingRows, seed: int) -> TrainingRows:
        if self._tuning() != "loo":
            return training
        n_left_out = self.plan_.n_left_out
        own = draw_left_out(training, n_left_out, self._learner(), drawn_seed(seed))
        return training.leaving_out(own)

    def _views_to_tune(self, learner, training, random, *, whole):
        cover = self.cover_
        if len(cover) > MANY_MEMBERS and not whole:
            chosen = random.choice(len(cover), len(cover) // 10, replace=False)
            cover = cover.take(np.sort(chosen))
        return partial(self._planned_view, learner, cover), np.flatnonzero(cover.label_counts)

    def _cross_validated(
        self, training: TrainingRows, random: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return the confidences of all training rows by members fitted without their fold.

        Above 100 members, a tenth of them is used (Section 2.3), but of enough labelsets that
        every label is in about four; a label that is in none of these gets its frequency.
        """
        cover, confidence = self.cover_, np.empty(training.Y.shape)
        if len(cover) > MANY_MEMBERS:
            # Four times each label, at the mean number of labels in a labelset.
            enough = -(-4 * cover.n_labels * len(cover) // int(cover.labelset_sizes.sum()))
            size = max(len(cover) // 10, enough)
            cover = cover.take(np.sort(random.permutation(len(cover))[:size]))
        learner, seed = self._learner(), int(random.integers(2**31))
        make_view = partial(self._planned_view, learner, cover)
        for rows, found in folded(self, make_view, training, random, seed):
            confidence[rows] = found
        missing = (self.cover_.label_counts > 0) & (cover.label_counts == 0)
        confidence[:, missing] = label_frequency(training)[missing]
        return confidence

    @property
    def member_weights_(self) -> NDArray[np.float64] | None:
        """The weight of each member in each of its labels, ``(size, k)``; None if there are none.

        Those of a member are in the order of its row of ``cover_.labelsets``.
        """
        return self.view_.member_weights

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        check_choice("aggregate", self.aggregate, AGGREGATES)
        learner = self._learner()
        aggregate = combined_by(self.aggregate, learner)
        if aggregate != "mean" and not self._has_members():
            raise ValueError(
                'aggregate must be "mean" unless estimator names what the members over the '
                f"labelsets are, got {aggregate!r} with {learner!r}."
            )
        if self.aggregate == "weighted" and self._has_unknown:
            raise ValueError(
                'aggregate must be "auto", "mean", "votes" or "winner" where labels of Y are not '
                'known, got "weighted".'
            )
        if self.aggregate == "weighted" and not learner.gives_left_out:
            raise ValueError(
                'aggregate="weighted" needs members with leave-one-out predictions, which '
                f'{self._member()!r} has not. Use "auto", "mean", "votes" or "winner".'
            )

    def _has_members(self) -> bool:
        """Return whether there are members over the labelsets, not the views of a plan."""
        return self._learner().view == MEMBERS

    def _gives_left_out(self) -> bool:
        known = not (self._has_unknown and self._has_members())
        return known and bool(self._learner().gives_left_out)


@dataclass(eq=False, repr=False, kw_only=True)
class ThresholdParameters(LabelModel):
    """An estimator whose confidences are cut at a threshold that may be tuned, and how.

    A subclass says it before other bases.
    """

    threshold: Any = 0.5
    threshold_measure: Any = "auto"
    threshold_search: str = "grid"
    threshold_per_label: bool = False
    threshold_max_std: float | None = None
    ties: str = "auto"

    _thresholds = THRESHOLDS

    @property
    def _tuned_measure(self) -> str | Score:
        """What the threshold is tuned for: micro-F1, or Hamming loss, the default of MULAN."""
        if is_auto(self.threshold_measure):
            return "hamming_loss" if self.tunes_as_mulan else "micro_f1"
        return self.threshold_measure

    def best_threshold(
        self,
        Y: NDArray[np.uint8],
        confidence: NDArray[np.float64],
        labels: NDArray[np.int64] | None = None,
        weights: NDArray[np.float64] | None = None,
    ) -> tuple[Any, float]:
        """Return the best threshold (or one per label) and its score, seen on `labels` only."""
        labels = np.arange(Y.shape[1]) if labels is None else labels
        how: dict[str, Any] = {"measure": self._tuned_measure, "search": self.threshold_search}
        how |= {"sample_weight": weights, "ties": self._ties()}
        tables = Y[:, labels], confidence[:, labels]
        if not self.threshold_per_label:
            return best_threshold(*tables, **how)
        # A label that no member holds is never predicted, whatever its threshold.
        thresholds = np.full(Y.shape[1], 0.5)
        thresholds[labels], score = best_thresholds_per_label(*tables, **how)
        return thresholds, score

    def _check_parameters(self, n_labels: int, *, weighted: bool) -> None:
        super()._check_parameters(n_labels, weighted=weighted)
        if self._tuning() is None:
            return
        check_choice("threshold_search", self.threshold_search, SEARCHES)
        if not callable(self.threshold_measure):
            accepted = "auto", *MEASURES_OF_PREDICTIONS
            check_choice("threshold_measure", self.threshold_measure, accepted)
        score_function(self._tuned_measure, 1.0 if weighted else None)
        if self.threshold_max_std is not None:
            check_real("threshold_max_std", self.threshold_max_std, above=0)
            if self.tunes_as_mulan:
                raise ValueError(
                    'threshold_max_std must be None with threshold_search="mulan", whose folds '
                    f"are always the same, got {self.threshold_max_std!r}."
                )

    def _found_threshold(self, training: TrainingRows, seed: int) -> tuple[Any, int]:
        """Return the threshold, and on how many rows it was tuned.

        In a cross-validation it is the mean over folds of the one that is best on each (Section
        2.3). With `threshold_max_std`, this is repeated, at most five times in all, until the
        standard deviation of the mean score is at most that (Kohavi and John).
        """
        how, most_std = self._tuning(), self.threshold_max_std
        if how is None:
            return super()._found_threshold(training, seed)
        if how == "loo":
            rows, (confidence, *_) = self.view_.left_out(training)
            return self._best_on(training, rows, confidence)[0], len(rows)
        random, learner = np.random.default_rng(seed), self._learner()
        whole, thresholds, scores = self.tunes_as_mulan, [], []
        make_view, labels = self._views_to_tune(learner, training, random, whole=whole)
        for _ in range(1 if most_std is None else MOST_REPEATS):
            own = None if whole else int(random.integers(2**31))
            for rows, confidence in folded(self, make_view, training, random, own):
                threshold, score = self._best_on(training, rows, confidence, labels)
                thresholds.append(threshold)
                scores.append(score)
            spread = np.std(scores, ddof=1) / np.sqrt(len(scores))
            if most_std is not None and spread <= most_std:
                break
        mean = np.mean(thresholds, axis=0)
        return mean if self.threshold_per_label else float(mean), len(training.Y)

    def _best_on(
        self, training: TrainingRows, rows: Any, confidence: Any, labels: Any = None
    ) -> tuple[Any, float]:
        """Return the best threshold on some rows, and its score."""
        weights = None if training.weights is None else training.weights[rows]
        return self.best_threshold(training.labels(rows), confidence, labels, weights)


def folded(
    model: LabelModel, make_view: Callable[[], View], training: TrainingRows, random: Any, seed: Any
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Yield the rows of each fold, and their confidences by a view fitted without them.

    Without a seed, each fold holds consecutive rows.
    """
    from sklearn.model_selection import KFold  # slow to import

    folds = KFold(model._n_folds, shuffle=seed is not None, random_state=seed)
    for train, test in folds.split(np.empty(len(training.Y))):
        own = int(random.integers(2**31))
        view = make_view().fit(training.rows(train), own, n_jobs=model.n_jobs)
        yield test, view.confidences(rows_of(training.X, test))[0]


def combined_by(aggregate: str, learner: Any) -> str:
    """Return how members are combined: ``"auto"`` takes probabilities where there are some.

    Section 2.3: confidences count where the base classifier provides them. Other members vote.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from labelcover.ensemble._label_ensemble import combined_by
    >>> from labelcover.learners import C45Classifier, SMOClassifier
    >>> [combined_by("auto", each) for each in (C45Classifier(), SMOClassifier(), LinearSVC())]
    ['mean', 'votes', 'votes']
    """
    if aggregate != AUTO:
        return aggregate
    own = getattr(learner, "gives_probabilities", None)
    gives = hasattr(learner, "predict_proba") if own is None else own
    return "mean" if gives else "votes"
