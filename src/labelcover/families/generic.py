"""Any scikit-learn classifier: one clone per labelset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import BaseDecisionTree
from sklearn.utils.parallel import Parallel, delayed

from labelcover._progress import progress_bar
from labelcover.families._decode import add_members
from labelcover.families.base import Family, mean_confidence
from labelcover.families.encoding import Encoding

# So many members are fitted, or asked for their distributions, between two looks at the results.
BATCH = 64


class GenericFamily(Family):
    """One clone of `estimator` per labelset, fitted in parallel.

    The class distribution of a member comes from its ``predict_proba``; else from its
    ``decision_function`` (logistic for two classes, softmax for more); else the class it
    predicts gets all. Members that pose the same problem share one model.
    """

    def fit(
        self,
        X: Any,
        encoding: Encoding,
        *,
        seeds: NDArray[np.int64],
        fit_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> Self:
        """Fit a clone per distinct problem with more than one class."""
        check_classifier(self.estimator)
        self.encoding_ = encoding.without_codes()
        self.n_jobs = n_jobs
        first, self.problem_ = encoding.distinct()
        counts = np.diff(encoding.offsets)
        trained = [(p, j) for p, j in enumerate(first) if counts[j] > 1]
        X = shared_table(self.estimator, X, fitting=True)
        jobs = [
            delayed(_fit_member)(self.estimator, X, encoding.codes[j], int(seeds[j]), fit_params)
            for _, j in trained
        ]
        self.models_: list[BaseEstimator | None] = [None] * len(first)
        with progress_bar("fitting members", len(trained), show=verbose) as bar:
            for (p, _), model in zip(trained, _in_batches(jobs, n_jobs), strict=True):
                self.models_[p] = model
                bar.advance()
        return self

    def class_probabilities(self, X: Any) -> NDArray[np.float64]:
        """Return the members' class distributions side by side."""
        distributions = list(self._distributions(X))
        return np.hstack([distributions[p] for p in self.problem_])

    def confidence(self, X: Any, *, votes: bool = False) -> NDArray[np.float64]:
        """Return the mean over the members that hold a label, a few members at a time."""
        cover, offsets = self.encoding_.cover, self.encoding_.offsets
        sums = np.zeros((X.shape[0], cover.n_labels))
        for p, distribution in enumerate(self._distributions(X)):
            members = np.flatnonzero(self.problem_ == p)
            add_members(
                distribution,
                np.zeros_like(members),
                offsets[members],
                offsets[members + 1],
                self.encoding_.patterns,
                cover.labelsets[members],
                votes,
                sums,
            )
        return mean_confidence(sums, cover)

    def _distributions(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the class distribution of each distinct problem."""
        X = shared_table(self.estimator, X, fitting=False)
        jobs = [delayed(class_distribution)(model, X) for model in self.models_]
        return _in_batches(jobs, self.n_jobs)


def _in_batches(jobs: list, n_jobs: int | None) -> Iterator[Any]:
    """Yield the results of delayed calls in order, a batch at a time.

    Not every joblib backend can return a generator, and a list of all results may be large.
    """
    with Parallel(n_jobs=n_jobs) as parallel:
        for start in range(0, len(jobs), BATCH):
            yield from parallel(jobs[start : start + BATCH])


def class_distribution(model: BaseEstimator | None, X: Any) -> NDArray[np.float64]:
    """Return ``(n, n_classes)``, rows summing to one, from whatever `model` offers."""
    if model is None:
        return np.ones((X.shape[0], 1))
    with config_context(assume_finite=True):
        return _distribution(model, X)


def _distribution(model: BaseEstimator, X: Any) -> NDArray[np.float64]:
    if hasattr(model, "predict_proba"):
        return np.ascontiguousarray(model.predict_proba(X), dtype=np.float64)
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        n_classes = len(model.classes_)
        if scores.ndim == 1:
            positive = expit(scores)
            return np.column_stack([1 - positive, positive])
        if scores.shape[1] == n_classes:
            return np.ascontiguousarray(softmax(scores, axis=1))
    predicted = np.asarray(model.predict(X))
    return np.ascontiguousarray(predicted[:, None] == model.classes_, dtype=np.float64)


def shared_table(estimator: BaseEstimator, X: Any, *, fitting: bool) -> Any:
    """Return `X` once in the form to which every member would else copy it again.

    Known of scikit-learn's own trees (32-bit floats, columns side by side to fit on sparse data)
    and support vector machines (64-bit floats); other estimators get `X` as it is.
    """
    if isinstance(estimator, BaseDecisionTree):
        dtype, form = "float32", "csc" if fitting else "csr"
    elif isinstance(estimator, (SVC, LinearSVC)):
        dtype, form = "float64", "csr"
    else:
        return X
    if sparse.issparse(X):
        return X.astype(dtype, copy=False).asformat(form)
    return np.ascontiguousarray(X, dtype=dtype)


def _fit_member(estimator, X, codes, seed, fit_params):
    model = clone(estimator)
    _set_seeds(model, seed)
    # X was checked for all members; metadata was not.
    with config_context(assume_finite=True) if not fit_params else nullcontext():
        return model.fit(X, codes, **(fit_params or {}))


def _set_seeds(model: BaseEstimator, seed: int) -> None:
    """Set every ``random_state`` among the parameters that has no value, from `seed`."""
    random = np.random.default_rng(seed)
    unset = {
        name: int(random.integers(2**31))
        for name, value in sorted(model.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    if unset:
        model.set_params(**unset)


def check_classifier(estimator: object) -> None:
    """Raise a ``ValueError`` if `estimator` cannot be a member."""
    missing = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    if missing:
        raise ValueError(
            f"estimator must be a scikit-learn classifier, got {estimator!r}, which has no "
            f"{' and no '.join(missing)}."
        )
