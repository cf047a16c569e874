"""The classifiers people use alone: a batch learner with a batch of one, its target and weights."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from labelcover._label_values import checked_probabilities
from labelcover._table_numbers import unmasked, weighted_rows
from labelcover.learners._features import TableLearner
from labelcover.learners._problems import Members, Problems


class BatchClassifier(ClassifierMixin, TableLearner, ABC):
    """A classifier that can also solve many problems of one table together.

    A subclass has the parameter ``categorical_features`` and defines `fit_problems`. It may have
    ``classes``: all classes, in order.

    Attributes
    ----------
    is_linear : bool
        Whether `fit_problems` solves ``problems.targets`` instead of classes.
    side_by_side : dict
        How joblib is to run several fits: in threads, which share the table.
    """

    is_linear = False
    side_by_side: Mapping[str, str] = {"require": "sharedmem"}
    view = "members"
    members_: Any

    @abstractmethod
    def fit_problems(
        self,
        X: Any,
        problems: Problems,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Members:
        """Return the fitted models of all problems.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, features), float64
            Nominal features as numbers of their values; shared by all problems, never changed.
        problems : Problems
        n_jobs : int, optional
            Number of problems solved in parallel; ignored where they are solved jointly.
        """

    def with_choices_of(self, members: Any) -> Any:
        """Return a learner that does not choose again what was chosen for `members`."""
        return self

    def label_system(self, X: Any, problems: Problems) -> Any:
        """Return what chains of labels are made of, solved together; None if it is not offered."""
        return None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, features)
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Only their proportions count: they are divided by their mean. Rows of weight 0 are
            left out.
        """
        X, y, weights, _ = weighted_rows(X, y, sample_weight)
        self._coding, X = self.read_table(self, X)
        self.classes_, classes = encode_classes(self, y, X.shape[0])
        offsets = np.array([0, len(self.classes_)])
        alone = np.ascontiguousarray(classes[None])
        problem = Problems(alone, offsets, self._coding.n_values, weights)
        self.members_ = self.fit_problems(X, problem)
        self._describe_fit()
        return self

    def _describe_fit(self) -> None:
        """Keep what `members_` tell as attributes, where a classifier has some."""

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class distribution of every row, ``(n, n_classes)``."""
        prepared = self._prepared(X)
        distributions = self.members_.distributions(prepared, slice(0, 1))
        return checked_probabilities(distributions, self.classes_, self)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row, the first of equals."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]

    def _prepared(self, X: Any) -> Any:
        check_is_fitted(self)
        return self.members_.prepare(self._coding.read(self, X))


def encode_classes(classifier: Any, y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the classes and the class number of each of the `n` rows.

    The classes are ``classifier.classes`` in their order if given, else those of `y`, sorted.
    """
    if y is None:
        raise ValueError(
            f"{type(classifier).__name__} requires y to be passed, but the target y is None."
        )
    y = column_or_1d(unmasked(y, "y"), warn=True)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    if len(y) != n:
        check_consistent_length(np.empty(n), y)
    found, label = np.unique(y, return_inverse=True)
    wanted = getattr(classifier, "classes", None)
    if wanted is None:
        return found, label.astype(np.int32)
    declared = np.asarray(wanted)
    if len(np.unique(declared)) != len(declared):
        raise ValueError(f"classes must be distinct, got {wanted!r}.")
    number = {value: i for i, value in enumerate(declared.tolist())}
    unknown = [value for value in found.tolist() if value not in number]
    if unknown:
        raise ValueError(f"classes must contain every class of y, but lacks {unknown}.")
    return declared, np.array([number[v] for v in found.tolist()], dtype=np.int32)[label]
