"""The template of every ensemble: cover, encode, family, confidence, threshold."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from labelcover._arguments import check_choice
from labelcover.covers import Cover
from labelcover.ensemble.labels import label_names, label_table, labelled
from labelcover.ensemble.tuning import (
    ThresholdSearch,
    cross_validated_threshold,
    leave_one_out_threshold,
)
from labelcover.families import encode, family_of
from labelcover.families.generic import check_classifier
from labelcover.learners import LeastSquaresClassifier

THRESHOLDS = ("auto", "cv", "loo")
CONTAINERS = ("default", "pandas", "polars")
MOST_SEED = 2**31 - 1


class LabelEnsemble(ClassifierMixin, MetaEstimatorMixin, BaseEstimator, ABC):
    """An ensemble of members, each of which holds a labelset.

    A subclass says which cover it uses (`_make_cover`) and has the parameters ``estimator``,
    ``threshold``, ``n_jobs``, ``random_state`` and ``verbose``; those of the search for a
    threshold (``measure``, ``search``, ``per_label``, ``max_std``) if it offers one.

    Attributes
    ----------
    cover_ : Cover
        The labelsets, one per member.
    family_ : Family
        The fitted members.
    threshold_ : float or ndarray of shape (n_labels,)
        Where confidences are cut.
    label_names_in_ : ndarray of shape (n_labels,)
        The column names of Y; ``"label0"``, ``"label1"``, … if it had none.
    classes_ : ndarray of shape (n_labels, 2)
        0 and 1 for every label: scikit-learn's scorers and ``cross_val_predict`` look here.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    # Whether members vote (RAKEL) or say how sure they are (RAKEL++).
    _votes = False

    @abstractmethod
    def _make_cover(self, Y: NDArray[np.uint8], seed: int) -> Cover:
        """Return the cover for the training labels."""

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit all members and the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        y : array-like, sparse matrix or data frame of shape (n, n_labels)
            The label table Y: zeros and ones, a column per label. Names of columns are kept as
            ``label_names_in_``. Sets of label names become such a table by scikit-learn's
            ``MultiLabelBinarizer``.
        **fit_params
            Metadata for the ``fit`` of every member, such as ``sample_weight``, routed as
            scikit-learn does.
        """
        check_classifier(self._member())
        params = self._route(fit_params)
        names = label_names(y)
        X, y = validate_data(self, X, y, multi_output=True, **self._table_rules())
        Y = label_table(y)
        self._sparse_output = sparse.issparse(y)
        m = Y.shape[1]
        self.label_names_in_ = names if names is not None else _numbered(m)
        self.classes_ = np.tile([0, 1], (m, 1))
        self._check_threshold(m)
        seeds = check_random_state(self.random_state).randint(MOST_SEED, size=3)
        self.cover_ = self._make_cover(Y, int(seeds[0]))
        family = family_of(self._member())
        family.wants_leave_one_out = isinstance(self.threshold, str) and self.threshold != "cv"
        self.family_ = family.fit(
            X,
            encode(Y, self.cover_),
            seeds=np.random.default_rng(seeds[1]).integers(MOST_SEED, size=len(self.cover_)),
            fit_params=params,
            n_jobs=self.n_jobs,
            verbose=bool(self.verbose),
        )
        self.threshold_ = self._tune(X, Y, params, int(seeds[2]))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the confidence of every label, ``(n, n_labels)``, strictly inside (0, 1)."""
        tiny = np.finfo(np.float64).eps
        return self._labelled(np.clip(self._confidence(X), tiny, 1 - tiny), X)

    def decision_function(self, X: Any) -> Any:
        """Return how far every confidence is above its threshold, ``(n, n_labels)``."""
        return self._labelled(self._confidence(X) - self.threshold_, X)

    def predict(self, X: Any) -> Any:
        """Return zeros and ones, ``(n, n_labels)``; sparse if the labels were sparse in `fit`."""
        predicted = self._cut(self._confidence(X)).astype(np.int64)
        if self._sparse_output:
            return sparse.csr_matrix(predicted)
        return self._labelled(predicted, X)

    def set_output(self, *, predict: str | None = None) -> Self:
        """Say what `predict`, `predict_proba` and `decision_function` return.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"}, optional
            An array, or a data frame whose columns are ``label_names_in_``. Unless set, the
            ``transform_output`` of scikit-learn's configuration holds. None changes nothing.
        """
        if predict is not None:
            self._container = check_choice("predict", predict, CONTAINERS)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return that metadata given to `fit` goes to the ``fit`` of the members."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self._member(), method_mapping=mapping)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        member = get_tags(self._member()).input_tags
        tags.input_tags.sparse = member.sparse
        tags.input_tags.allow_nan = member.allow_nan
        return tags

    def _member(self) -> BaseEstimator:
        """Return what the members are clones of."""
        return LeastSquaresClassifier() if self.estimator is None else self.estimator

    def _table_rules(self) -> dict[str, Any]:
        tags = get_tags(self).input_tags
        return {
            "accept_sparse": "csr",
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if tags.allow_nan else True,
        }

    def _route(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata for the members."""
        fit_params = {name: value for name, value in fit_params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **fit_params)["estimator"]["fit"])
        unknown = [name for name in fit_params if not has_fit_parameter(self._member(), name)]
        if unknown:
            raise ValueError(
                f"{unknown[0]} must not be given: the fit of {self._member()!r} does not take it."
            )
        return fit_params

    def _check_threshold(self, m: int) -> None:
        if isinstance(self.threshold, str):
            check_choice("threshold", self.threshold, THRESHOLDS)
            return
        values = np.asarray(self.threshold)
        numbers = values.dtype.kind in "iuf" and values.shape in ((), (m,))
        if not numbers or not ((values >= 0) & (values <= 1)).all():
            raise ValueError(
                f"threshold must be one of {', '.join(map(repr, THRESHOLDS))}, a number between 0 "
                f"and 1, or {m} of them, one for each label, got {self.threshold!r}."
            )

    def _tune(
        self, X: Any, Y: NDArray[np.uint8], params: dict[str, Any], seed: int
    ) -> float | NDArray[np.float64]:
        if not isinstance(self.threshold, str):
            given = np.asarray(self.threshold, dtype=np.float64)
            return float(given) if given.ndim == 0 else given
        how = self.threshold
        offered = self.family_.has_leave_one_out
        if how == "loo" and not offered:
            raise ValueError(
                f'threshold="loo" needs members with leave-one-out predictions, which '
                f'{self._member()!r} has not. Use "cv".'
            )
        search = ThresholdSearch(self.measure, self.search, self.per_label)
        if how == "loo" or (how == "auto" and offered):
            return leave_one_out_threshold(self.family_, Y, search)
        return cross_validated_threshold(
            lambda: family_of(self._member()),
            X,
            Y,
            self.cover_,
            search,
            seed=seed,
            max_std=self.max_std,
            fit_params=params,
            votes=self._votes,
            n_jobs=self.n_jobs,
        )

    def _confidence(self, X: Any) -> NDArray[np.float64]:
        check_is_fitted(self, "family_")
        X = validate_data(self, X, reset=False, **self._table_rules())
        return self.family_.confidence(X, votes=self._votes)

    def _cut(self, confidence: NDArray[np.float64]) -> NDArray[np.bool_]:
        return confidence > self.threshold_

    def _labelled(self, table: NDArray, X: Any) -> Any:
        container = getattr(self, "_container", get_config()["transform_output"])
        return labelled(table, container, self.label_names_in_, X)


def _numbered(m: int) -> NDArray[np.object_]:
    return np.array([f"label{j}" for j in range(m)], dtype=object)
