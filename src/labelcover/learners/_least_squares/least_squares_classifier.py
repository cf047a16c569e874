"""Regularised least squares on one-hot classes, in closed form."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from labelcover._arguments import (
    check_choice,
    check_integer,
    check_positive,
    check_random_state,
)
from labelcover._progress import progress_bar
from labelcover.learners._batch_classifier import BatchClassifier
from labelcover.learners._least_squares.choosing import Settings
from labelcover.learners._least_squares.label_chains import LabelSystem
from labelcover.learners._least_squares.least_squares_members import (
    LeastSquaresMembers,
    solve,
)
from labelcover.learners._problems import Problems
from labelcover.learners._products import blas_threads

KERNELS = ("auto", "linear", "rbf")
SCALES = ("auto", "standard", "rows", "none")


@dataclass(eq=False, repr=False, kw_only=True)
class LeastSquaresClassifier(BatchClassifier):
    """Kernel ridge regression on one-hot classes, with probabilities and no cross-validation.

    The scores of the classes are those of ridge regression with an intercept; a softmax makes
    them probabilities. Leave-one-out predictions in closed form choose what is not given: the
    scale, the kernel and its width, the ridge (by the Brier score) and the temperature of the
    softmax (by the log-loss).

    Parameters
    ----------
    kernel : {"auto", "linear", "rbf"}, default="auto"
        ``"auto"`` compares the linear and the Gaussian kernel on a Nyström approximation of up to
        2,048 rows with 300 landmarks. Where the linear kernel is better than the mean of three
        widths, it is taken: a single wide Gaussian is nearly linear, and takes longer.
    gamma : float or sequence of floats, optional
        The Gaussian kernel is ``exp(-gamma |x - z|²)``, or the mean of several. By default
        the best of widths ``1 / sqrt(2 gamma)`` of ½, 1 and 2 median distances between rows, and of
        the mean of those three.
    alpha : float, optional
        The ridge, as in scikit-learn's ``Ridge``. By default the best of eleven, searched, with
        the Gaussian kernel, from where it is best with 300 landmarks; none is tried that is smaller
        than one that is as good as none.
    scale : {"auto", "standard", "rows", "none"}, default="auto"
        How features are brought to one scale first. ``"standard"`` standardises numbers; if at
        least half of the columns hold only 0 and 1, those are divided by the length of the row,
        like bags of words. ``"rows"`` divides every row by its length, ``"none"`` does nothing.
        ``"auto"`` is ``"standard"``, except where numbers are mostly 0, as counts of words and
        TF-IDF are: there it is the best of the three. Unless features are left as they are, each
        0/1 column is read by its rarer value. True means ``"auto"``, False ``"none"``.
    n_landmarks : int, default=1000
        Above 4,000 rows (and, for the linear kernel, features) the kernel is approximated with so
        many landmarks (Nyström); the Gaussian kernel, unless `alpha` is given, above 2,000 rows and
        1.5 for each landmark. They are twice as many where 300 landmarks are crowded: where the
        sum of all leverages is above 180.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features: the columns of categorical dtype, none, or a mask, indices or names.
        Each value becomes a 0/1 column; missing and unseen values are 0 in all of them.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks and of the samples of rows. With up to 512 rows nothing is sampled.
        The members of an ensemble take it from the ensemble unless it is given.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    scale_ : {"standard", "rows", "none"}
    kernel_ : {"linear", "rbf"}
    gamma_ : tuple of floats
        Empty for the linear kernel.
    alpha_ : float
    inverse_temperature_ : float
        Probabilities are ``softmax(inverse_temperature_ * decision scores)``.
    coef_, intercept_ : ndarray of shape (n_classes, n_features) and (n_classes,)
        Scores are ``features @ coef_.T + intercept_``, with features scaled, or kernel values.
    n_scale_rows_, n_choice_rows_, n_temperature_rows_ : int
        On how many rows the scale (at most 512; 0 if there was no choice), the kernel and the
        ridge (at most 512, and classes up to 256 in all) and the temperature (at most 512) were
        chosen.
    members_ : LeastSquaresMembers
        The model, as the members of an ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import LeastSquaresClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.kernel_
    'rbf'
    >>> model.predict_proba(X[:1]).round(1)
    array([[1., 0., 0.]])
    """

    gives_left_out = True
    is_linear = True
    reads_chunks = True

    kernel: Any = "auto"
    gamma: Any = None
    alpha: Any = None
    scale: Any = "auto"
    n_landmarks: Any = 1000
    categorical_features: Any = "from_dtype"
    random_state: Any = None

    def _describe_fit(self) -> None:
        members = self.members_
        self.scale_ = members.scaling.scale
        self.kernel_ = "linear" if members.kernel.is_linear else "rbf"
        self.gamma_, self.alpha_ = members.kernel.gammas, members.ridge
        self.coef_, self.intercept_ = members.of_classes()
        self.inverse_temperature_ = float(members.inverse_temperature[0])
        self.n_scale_rows_ = members.n_scale_rows
        self.n_choice_rows_ = members.n_choice_rows
        self.n_temperature_rows_ = members.n_temperature_rows

    def fit_problems(
        self, X: Any, problems: Problems, *, n_jobs: int | None = None, verbose: bool = False
    ) -> LeastSquaresMembers:
        """Return the members of all problems, solved jointly.

        Temperatures are tuned on the first 512 of ``problems.left_out_rows``, or of all rows in
        random order. With ``problems.quick``, kernels are approximated above 1,000 rows.
        """
        return self._solved(X, problems, self._seed(problems), verbose=verbose)

    def with_choices_of(self, members: Any) -> "LeastSquaresClassifier":
        """Return a learner with the scale, kernel and ridge that were chosen for `members`.

        Choosing takes longer than the fit, and a few labels more among the features leave the
        choice as it is.
        """
        return clone(self).set_params(
            scale=members.scaling.scale,
            kernel="linear" if members.kernel.is_linear else "rbf",
            gamma=members.kernel.gammas or None,
            alpha=members.ridge,
        )

    def label_system(self, X: Any, problems: Problems) -> LabelSystem:
        """Return all labels solved from the features, from which chains of labels are made.

        Each problem is a label that has both values. Scale, kernel and ridge are chosen once, for
        all labels, and labels as features are left out of that choice: in every link of a chain
        the kernel of the features is the same, to which the products of labels are added.
        """
        seed = self._seed(problems)
        every = replace(problems, left_out_rows=np.arange(X.shape[0]))
        members = self._solved(X, every, seed, scores_only=True)
        return LabelSystem(members, problems.weights, self.alpha, seed)

    def _solved(
        self, X: Any, problems: Problems, seed: int, *, verbose: bool = False, **how: bool
    ) -> LeastSquaresMembers:
        settings = Settings(**self._options(), seed=seed)
        bar_of = progress_bar("solving members", len(problems), show=verbose)
        with bar_of as bar, blas_threads(X.shape[0], min(X.shape), int(problems.offsets[-1])):
            return solve(X, problems, settings, bar, **how)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes; the score of the second less the first for two."""
        prepared = self._prepared(X)
        scores = self.members_.scores(prepared, slice(0, 1))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _seed(self, problems: Problems) -> int:
        if self.random_state is None and problems.seeds is not None:
            return int(problems.seeds[0])
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _options(self) -> dict[str, Any]:
        return {
            "kernel": check_choice("kernel", self.kernel, KERNELS),
            "gammas": _gammas(self.gamma),
            "alpha": None if self.alpha is None else check_positive("alpha", self.alpha),
            "scale": _scale(self.scale),
            "n_landmarks": check_integer("n_landmarks", self.n_landmarks, low=1),
        }


def _scale(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "auto" if value else "none"
    return check_choice("scale", value, SCALES)


def _gammas(value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    values = tuple(value) if isinstance(value, Iterable) else (value,)
    if not values:
        raise ValueError(f"gamma must be None or one or more numbers above 0, got {value!r}.")
    return tuple(check_positive("gamma", each) for each in values)
