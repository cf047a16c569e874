"""Logistic regression for sparse tables, all problems of an ensemble fitted together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import (
    check_choice,
    check_integer,
    check_positive,
    check_random_state,
    check_real,
)
from labelcover.learners._batch_classifier import BatchClassifier
from labelcover.learners._logistic.logistic_members import LogisticMembers, solve
from labelcover.learners._problems import Problems

SCALES = ("auto", "rows", "standard", "none")


@dataclass(eq=False, repr=False, kw_only=True)
class LogisticClassifier(BatchClassifier):
    """Logistic regression (softmax for more than two classes) with an L2 penalty, for wide text.

    The objective is that of scikit-learn's ``LogisticRegression``: ``C`` times the weighted
    log-loss plus half the squared coefficients, intercepts free. The members of an ensemble are
    solved side by side by Newton's method with conjugate gradients, 32 columns of coefficients at
    a time, so that the table is read once for all of them.

    Parameters
    ----------
    C : float, optional
        By default the best of a grid, by the log-loss of one fold of the training rows that is
        left out: 3, then times or over √10 while that helps. All members of an ensemble have one.
    scale : {"auto", "rows", "standard", "none"}, default="auto"
        ``"rows"`` divides each row by its length, after each 0/1 column was read by its rarer
        value. That is for text, and loses what a length says: numbers far from 0 all become
        nearly the same. ``"standard"`` centres and divides numbers by their standard deviation
        (columns of a sparse table are divided by their root mean square, which keeps zeros), as
        for `LeastSquaresClassifier`. ``"auto"`` is ``"rows"`` for a sparse table and for one whose
        numbers are mostly 0, else ``"standard"``. ``"none"`` leaves the table as it is.
    tol : float, default=0.01
        A problem is solved when its gradient is less than `tol` times that at the frequencies of
        its classes. A smaller one hardly changes predictions.
    n_folds : int, default=5
        Left-out predictions, which ensembles use, come from so many folds.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features, as for `LeastSquaresClassifier`.
    random_state : int, RandomState or None, default=None
        Seed of the folds. The members of an ensemble take it from the ensemble unless it is given.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
    C_path_ : list of (float, float)
        Each C that was tried and its log-loss; empty if it was given.
    coef_, intercept_ : ndarray of shape (n_columns, n_features) and (n_columns,)
        As in scikit-learn: one column for two classes, else one for each.
    members_ : LogisticMembers
        The model, as the members of an ensemble.

    References
    ----------
    R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang and C.-J. Lin (2008). LIBLINEAR: A library for
    large linear classification. Journal of Machine Learning Research 9.

    Examples
    --------
    >>> from scipy import sparse
    >>> from sklearn.datasets import load_digits
    >>> from labelcover.learners import LogisticClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LogisticClassifier(random_state=0).fit(sparse.csr_array(X[:900]), y[:900])
    >>> model.coef_.shape
    (10, 64)
    >>> bool(model.score(sparse.csr_array(X[900:]), y[900:]) > 0.9)
    True
    """

    gives_left_out = True

    C: Any = None
    scale: Any = "auto"
    tol: Any = 0.01
    n_folds: Any = 5
    categorical_features: Any = "from_dtype"
    random_state: Any = None

    def _describe_fit(self) -> None:
        members = self.members_
        self.C_, self.C_path_ = members.C, members.path
        self.coef_ = members.weights_of(np.arange(len(members.intercept)))
        self.intercept_ = members.intercept

    def fit_problems(
        self, X: Any, problems: Problems, *, n_jobs: int | None = None, verbose: bool = False
    ) -> LogisticMembers:
        """Return the members of all problems, solved side by side.

        Out-of-sample predictions of training rows are out-of-fold. `n_jobs` is the number of blocks
        solved in parallel, by default as many as numba has threads.
        """
        seed = self.random_state
        if seed is None and problems.seeds is not None:
            seed = int(problems.seeds[0])
        seed = int(check_random_state(seed).randint(2**31 - 1))
        return solve(X, problems, **self._options(), seed=seed, n_jobs=n_jobs, verbose=verbose)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes; one column, the log-odds of the second, for two."""
        scores = self._prepared(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _options(self) -> dict[str, Any]:
        return {
            "C": None if self.C is None else check_positive("C", self.C),
            "scale": check_choice("scale", self.scale, SCALES),
            "tol": check_real("tol", self.tol, above=0),
            "n_folds": check_integer("n_folds", self.n_folds, low=2),
        }
