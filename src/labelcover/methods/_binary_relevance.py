"""Binary relevance, every label on its own, and stacked: once more, from the first outputs."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from labelcover._arguments import check_integer, check_real
from labelcover._table_numbers import rows_of
from labelcover.ensemble import (
    LabelEnsemble,
    LabelModel,
    ThresholdParameters,
    TrainingRows,
    View,
    draw_seeds,
    drawn_seed,
    single_labels,
)
from labelcover.methods._lead import correlations
from labelcover.methods._member_rows import (
    fitted,
    fitted_leaving_out,
    fitted_singles,
    with_labels,
)

# Confidences that differ by no more are the same but for rounding.
ALIKE = 1e-9


class BinaryRelevanceClassifier(ThresholdParameters, LabelEnsemble):
    """One member for each label: a cover of single labels.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the members are clones of; by default a `LeastSquaresClassifier`.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import BinaryRelevanceClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> BinaryRelevanceClassifier().fit(X, Y).predict_proba(X).shape
    (100, 6)
    """

    def _make_cover(self, Y, seed):
        return single_labels(np.arange(Y.shape[1]), Y.shape[1])


@dataclass(eq=False, repr=False, kw_only=True)
class StackedBinaryRelevanceClassifier(ThresholdParameters, LabelModel):
    """Binary relevance twice: the outputs of the first models are features of the second (2BR).

    The second model of a label sees the confidences of that label and of those that are
    correlated with it in training, so it can correct what the first model, which knows nothing of
    other labels, gets wrong.

    Parameters
    ----------
    estimator : scikit-learn classifier, optional
        What the models of both levels are clones of; by default a `LeastSquaresClassifier`.
    phi : float, default=0.0
        Labels whose correlation (φ coefficient) with a label is at least this, in absolute value,
        are seen by its second model. With 0 it sees all labels, as Godbole and Sarawagi have it;
        Tsoumakas et al. leave out those of weak correlation. Second models that see the same
        labels are solved together: all of them with 0, each on its own with most other values.
    passthrough : bool, default=False
        Whether second models see X too (Godbole and Sarawagi), or outputs only (Tsoumakas et al.).
    n_folds : int, default=5
        Second models are trained on predictions for rows that the first models have not seen:
        leave-one-out predictions where the estimator gives them for all rows, as least squares
        does for up to 2,048, and those of so many folds elsewhere.
    threshold : {"auto", "cv", "loo"}, float or array-like of shape (n_labels,), default=0.5
        Where confidences are cut; see `RakelPlusPlusClassifier`. ``"loo"`` is not offered.
    threshold_measure, threshold_search, threshold_per_label, threshold_max_std, ties,
    n_jobs, random_state, verbose
        As for `RakelPlusPlusClassifier`.

    Attributes
    ----------
    correlated_ : ndarray of shape (n_labels, n_labels), bool
        Row ``j``: the labels that the second model of label ``j`` sees.

    References
    ----------
    S. Godbole, S. Sarawagi: Discriminative methods for multi-labeled classification. PAKDD 2004.

    G. Tsoumakas, A. Dimou, E. Spyromitros, V. Mezaris, I. Kompatsiaris, I. Vlahavas:
    Correlation-based pruning of stacked binary relevance models for multi-label learning.
    Workshop on learning from multi-label data, ECML PKDD 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from labelcover.methods import StackedBinaryRelevanceClassifier
    >>> X, Y = make_multilabel_classification(n_classes=6, random_state=0)
    >>> model = StackedBinaryRelevanceClassifier(phi=0.2, random_state=0).fit(X, Y)
    >>> model.predict_proba(X).shape
    (100, 6)
    >>> bool(model.correlated_.diagonal().all())
    True
    """

    phi: float = 0.0
    passthrough: bool = False
    n_folds: int = 5

    correlated_ = fitted("correlated", "Row ``j``: the labels that the model of ``j`` sees.")

    def _make_view(self, learner, training, seed):
        own = float(self.phi), bool(self.passthrough), int(self.n_folds)
        return StackedView(learner, *own, seed)

    def _check_parameters(self, n_labels, *, weighted):
        check_real("phi", self.phi, low=0, high=1)
        check_integer("n_folds", self.n_folds, low=2)
        super()._check_parameters(n_labels, weighted=weighted)

    def _check_rows(self, training):
        super()._check_rows(training)
        if len(training.Y) < self.n_folds:
            raise ValueError(
                f"n_folds={self.n_folds} needs at least as many rows, got "
                f"n_samples={len(training.Y)}."
            )


@dataclass(eq=False, repr=False)
class StackedView(View):
    """Two levels of members for single labels.

    The `first` go from X to the outputs of all labels. The `second` are trained on `outputs` for
    left-out rows: for each set of outputs, which these are, the labels that see them, and a view.
    """

    no_shares = "each label is predicted from others"

    learner: Any
    phi: float
    passthrough: bool
    n_folds: int
    seed: int

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit the first level, predict left-out rows, and fit the second level on that."""
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        training, self.first = fitted_leaving_out(self.learner, rows, seed, **how)
        self.outputs = self._unseen_outputs(training, seed, n_jobs)
        self.correlated = np.abs(correlations(training.Y, training.weights)) >= self.phi
        np.fill_diagonal(self.correlated, True)
        seen_by, group = np.unique(self.correlated, axis=0, return_inverse=True)
        seeds = draw_seeds(drawn_seed(seed), len(seen_by)).tolist()
        self.second = []
        for g, (seen, own) in enumerate(zip(seen_by, seeds, strict=True)):
            labels = np.flatnonzero(group == g)
            table = self._second_rows(rows, self.outputs[:, seen])
            view = fitted_singles(self.learner, labels, table, own, n_jobs=n_jobs)
            self.second.append((seen, labels, view))
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of the second level, ``(n, n_labels)``."""
        outputs = self.first.confidences(X)[0]
        confidence = np.empty_like(outputs)
        for seen, labels, view in self.second:
            table = self._table(X, outputs[:, seen])
            confidence[:, labels] = view.confidences(table)[0][:, labels]
        return [confidence]

    def _unseen_outputs(
        self, training: TrainingRows, seed: int, n_jobs: int | None
    ) -> NDArray[np.float64]:
        n, every = len(training.Y), np.arange(training.Y.shape[1])
        outputs, found = np.empty(training.Y.shape), training.Y[:0, 0]
        if training.left_out is not None:
            found, (confidence,) = self.first.left_out(training)
            outputs[found] = confidence
        if len(found) < n:
            folds = KFold(min(self.n_folds, n), shuffle=True, random_state=self.seed)
            for train, test in folds.split(outputs):
                kept = training.rows(train)
                view = fitted_singles(self.learner, every, kept, seed, n_jobs=n_jobs)
                outputs[test] = view.confidences(rows_of(training.X, test))[0]
        # Where the first level says the same of all rows, it would say of a row left out only
        # that it was left out, and so which labels it has.
        fitted = self.first.confidences(training.X)[0]
        alike = np.ptp(fitted, axis=0) <= ALIKE
        outputs[:, alike] = fitted[0, alike]
        return outputs

    def _second_rows(self, training: TrainingRows, outputs: NDArray[np.float64]) -> TrainingRows:
        n_values = training.n_values
        if len(n_values):  # not for classifiers that are not told what is nominal
            of_outputs = np.zeros(outputs.shape[1], np.int32)
            n_values = np.r_[n_values, of_outputs] if self.passthrough else of_outputs
        return replace(training, X=self._table(training.X, outputs), n_values=n_values)

    def _table(self, X: Any, outputs: NDArray[np.float64]) -> Any:
        """Return what second members see of rows: outputs, after X if it is passed through."""
        return with_labels(X, outputs) if self.passthrough else np.ascontiguousarray(outputs)
