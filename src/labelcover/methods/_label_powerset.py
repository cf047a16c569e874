"""Label powerset: every labelset that occurs in training is a class."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from labelcover.covers import Cover
from labelcover.ensemble import CoverView, LabelModel, ThresholdParameters


class LabelsetView(CoverView):
    """Members over disjoint labelsets, which also say which pattern of theirs is most probable."""

    def most_probable(self, X: Any) -> NDArray[np.bool_]:
        """Return the labels in the most probable class of every member, the first of equals."""
        voting = copy(self)
        voting.aggregate = "votes"
        return voting.confidences(X)[0] > 0.5


class LabelsetModel(LabelModel):
    """An estimator that predicts the most probable labelset, unless it is given a threshold.

    Its view has ``most_probable``, as `LabelsetView` does.
    """

    view_: Any
    cover_: Cover

    def predict(self, X: Any) -> Any:
        """Return zeros and ones, ``(n, n_labels)``; sparse if the labels were sparse in `fit`."""
        check_is_fitted(self, "view_")
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
        return LabelsetView(learner, [self.cover_])
