"""Batch learners: classifiers, of use alone too with a batch of one, and clones of any other."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from labelcover._arguments import check_seed
from labelcover._label_values import checked_probabilities
from labelcover._progress import each_warning_once
from labelcover._table_numbers import unmasked, weighted_rows
from labelcover.learners._features import (
    TableLearner,
    checked_table,
    columns_without_numbers,
    is_frame,
)
from labelcover.learners._problems import Members, Problems, in_parallel
from labelcover.learners._products import filled_up


class BatchLearner(TableLearner, ABC):
    """What solves many problems of one table together.

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

    @abstractmethod
    def fit_problems(
        self, X: Any, problems: Problems, *, n_jobs: int | None = None, verbose: bool = False
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


class BatchClassifier(ClassifierMixin, BatchLearner):
    """A batch learner that is a classifier too.

    A subclass has the parameter ``categorical_features`` and defines `fit_problems` and `_options`.
    It may have ``random_state``, and ``classes``: all classes, in order.
    """

    members_: Any
    random_state: Any = None

    @abstractmethod
    def _options(self) -> dict[str, Any]:
        """Return the parameters of a fit but for the seed, checked."""

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        check_seed(self.random_state)
        self._options()

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


class WekaClassifier(BatchClassifier):
    """A classifier of WEKA's, which takes missing and nominal values and fits each problem alone.

    A subclass defines `fit_problems`, by `_fitted`.
    """

    keeps_nominal = True  # asked by the encoder of a table

    def _fitted(
        self, fit: Callable[..., Any], table: Any, problems: Problems, n_jobs: Any, **how: Any
    ) -> list[Any]:
        """Return ``fit(table, classes, n_classes, weights=weights, **options)`` of every problem.

        On a Dask cluster its workers take the place of threads. `fit` is a function of a module,
        which is sent by name: of a class method Dask would send the code, and workers would compile
        it anew.
        """
        options = {"weights": problems.weights, **self._options()}
        jobs = (
            delayed(fit)(table, classes, int(n_classes), **options)
            for classes, n_classes in zip(problems.classes, problems.n_classes, strict=True)
        )
        return list(in_parallel(jobs, n_jobs, shared=[table], require="sharedmem", **how))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


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


class AnyClassifier(BatchLearner):
    """A batch learner that fits one clone of a scikit-learn classifier per problem, in parallel.

    Parameters
    ----------
    estimator : scikit-learn classifier
    """

    side_by_side: Mapping[str, str] = {}

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    @property
    def gives_probabilities(self) -> bool:
        """Whether the estimator has ``predict_proba``; scores made to sum to one do not count."""
        return hasattr(self.estimator, "predict_proba")

    def __repr__(self) -> str:
        return repr(self.estimator)

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if the estimator cannot be a member."""
        check_classifier(self.estimator)

    @property
    def reads_frames(self) -> bool:
        """Whether the classifier is given data frames as they are: not if it is scikit-learn's.

        One of scikit-learn takes numbers, unless there is a ``Pipeline`` in it.
        """
        parts = [self.estimator, *self.estimator.get_params().values()]
        own = type(self.estimator).__module__.startswith("sklearn.")
        return not own or any(hasattr(part, "steps") for part in parts)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def warning_once(self) -> AbstractContextManager:
        """Return the context of a fit, in which what many clones warn of is told once."""
        return each_warning_once()

    def read_table(self, owner: BaseEstimator, X: Any) -> "tuple[AsItIs, Any]":
        """Return the table as clones take it: a data frame stays one, other tables are checked."""
        self.check_parameters()
        coding = AsItIs(get_tags(self.estimator).input_tags.allow_nan)
        return coding, coding.read(owner, X, reset=True)

    def fit_problems(
        self, X: Any, problems: Problems, *, n_jobs: int | None = None, verbose: bool = False
    ) -> "Clones":
        """Fit a clone per problem of more than one class."""
        weights = {} if problems.weights is None else {"sample_weight": problems.weights}
        params = {**problems.metadata, **weights}
        trained = np.flatnonzero(problems.n_classes > 1).tolist()
        seeds = np.zeros(len(problems), np.int64) if problems.seeds is None else problems.seeds
        unset = _unset_seeds(self.estimator)
        jobs = (
            delayed(_fit_member)(
                self.estimator, X, problems.classes[p], unset, int(seeds[p]), params
            )
            for p in trained
        )
        models: list[BaseEstimator | None] = [None] * len(problems)
        fitted = in_parallel(jobs, n_jobs, text="fitting members", verbose=verbose, shared=[X])
        for p, model in zip(trained, fitted, strict=True):
            models[p] = model
        return Clones(models, problems.offsets, n_jobs)


class Clones(Members):
    """Fitted clones of a scikit-learn classifier, None for a problem of one class.

    The class distribution comes from ``predict_proba``; else from ``decision_function`` (logistic
    for two classes, softmax for more, as long as the class that is predicted has the most); else
    the class that is predicted gets all.
    """

    def __init__(
        self, models: list[BaseEstimator | None], offsets: NDArray[np.int64], n_jobs: int | None
    ) -> None:
        self.models, self.offsets, self.n_jobs = models, offsets, n_jobs

    def distributions(self, prepared: Any, problems: slice) -> NDArray[np.float64]:
        """Return the class distributions of some problems side by side."""
        rows = filled_up(prepared)
        jobs = (delayed(class_distribution)(model, rows) for model in self.models[problems])
        found = np.hstack(list(in_parallel(jobs, self.n_jobs, shared=[rows])))
        return found[: prepared.shape[0]]


@dataclass(frozen=True)
class AsItIs:
    """Tables as scikit-learn's classifiers take them."""

    allow_nan: bool
    n_values = np.empty(0, np.int32)  # what is nominal is the classifier's business

    def read(self, owner: BaseEstimator, X: Any, *, reset: bool = False) -> Any:
        """Return `X` after scikit-learn's checks; data frames are left to the classifier."""
        dtypes = [np.float64, np.float32]
        return checked_table(owner, X, reset=reset, dtype=dtypes, allow_nan=self.allow_nan)


def class_distribution(model: BaseEstimator | None, X: Any) -> NDArray[np.float64]:
    """Return ``(n, n_classes)``, rows summing to one, from whatever `model` offers."""
    if model is None:
        return np.ones((X.shape[0], 1))
    with _already_checked(X), _naming_columns(model, X):
        found = _distribution(model, X)
    # Here, too: what methods make of them may hide that they are not numbers.
    return checked_probabilities(found, getattr(model, "classes_", range(found.shape[1])), model)


def _distribution(model: BaseEstimator, X: Any) -> NDArray[np.float64]:
    if hasattr(model, "predict_proba"):
        return np.ascontiguousarray(model.predict_proba(X), dtype=np.float64)
    scores = np.empty((0, 0))
    if hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            positive = expit(scores)
            return np.column_stack([1 - positive, positive])
    predicted = np.asarray(model.predict(X))
    is_class = predicted.reshape(X.shape[0], -1) == model.classes_
    if is_class.shape[1] != len(model.classes_) or not is_class.any(axis=1).all():
        raise ValueError(
            "estimator must give classes or probabilities, got "
            f"{model!r}, which has no predict_proba and whose predict gives other values than "
            "its classes_."
        )
    sure = is_class.astype(np.float64)
    if scores.shape != sure.shape:
        return sure
    # Scores of three pairs of three classes look like those of classes.
    agrees = scores.argmax(axis=1) == is_class.argmax(axis=1)
    return np.where(agrees[:, None], softmax(scores, axis=1), sure)


def _already_checked(X: Any) -> AbstractContextManager:
    """Spare classifiers a second look at `X`, unless it is a data frame, which nobody checked."""
    return nullcontext() if is_frame(X) else config_context(assume_finite=True)


def _fit_member(estimator, X, classes, unset, seed, params):
    model = clone(estimator)
    if unset:
        random = np.random.default_rng(seed)
        model.set_params(**{name: int(random.integers(2**31)) for name in unset})
    # X was checked for all members; metadata was not.
    with nullcontext() if params else _already_checked(X), _naming_columns(estimator, X):
        model = model.fit(X, classes, **params)
    if not hasattr(model, "predict_proba") and not hasattr(model, "classes_"):
        raise ValueError(
            f"estimator must give classes or probabilities, got {estimator!r}, which has no "
            "predict_proba, and no classes_ after fit."
        )
    return model


@contextmanager
def _naming_columns(estimator: BaseEstimator, X: Any) -> Iterator[None]:
    """Name the columns of a data frame that are not numbers, where a classifier fails on them."""
    try:
        yield
    except (TypeError, ValueError) as error:
        odd = columns_without_numbers(X) if is_frame(X) else {}
        if not odd:
            raise
        shown = ", ".join(f"{name!r} ({dtype})" for name, dtype in list(odd.items())[:5])
        more = f" and {len(odd) - 5:,} more" if len(odd) > 5 else ""
        raise ValueError(
            f"{type(estimator).__name__} failed on X, in which {shown}{more} do not hold numbers: "
            f"{error}. Encode such columns first, for instance with "
            "sklearn.preprocessing.OneHotEncoder in a pipeline; the learners of labelcover take "
            "columns of categorical dtype as they are."
        ) from error


def _unset_seeds(estimator: BaseEstimator) -> list[str]:
    """Return every ``random_state`` among the parameters that has no value."""
    return [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]


def check_classifier(estimator: object) -> None:
    """Raise a ``ValueError`` if `estimator` cannot be a member."""
    wanted = "estimator must be a scikit-learn classifier"
    missing = [name for name in ("fit", "predict", "get_params") if not hasattr(estimator, name)]
    if missing == ["predict"] and hasattr(estimator, "predict_proba"):
        missing = []
    if missing or isinstance(estimator, type):
        lacks = f"has no {' and no '.join(missing)}" if missing else "is a class: call it"
        if missing == ["predict"]:
            lacks += " and no predict_proba: it gives neither classes nor probabilities"
        raise ValueError(f"{wanted}, got {estimator!r}, which {lacks}.")
    kind = get_tags(estimator).estimator_type
    if kind not in ("classifier", None):
        raise ValueError(f"{wanted}, got {estimator!r}, which is a {kind}.")
