"""Linear support vector machines, one against one, as WEKA's SMO."""

from dataclasses import dataclass
from typing import Any

from labelcover._arguments import check_real
from labelcover.learners._batch_classifier import BatchClassifier
from labelcover.learners._problems import Problems, fitted_in_threads
from labelcover.learners._smo.pair_svms import LinearFilter, PairStack, TrainingTable, fit_pairs


@dataclass(eq=False, repr=False)
class SMOClassifier(BatchClassifier):
    """Linear support vector machine of every pair of classes, with the answers of WEKA's SMO.

    Missing values are imputed, nominal features become 0/1 columns and everything is scaled to
    [0, 1]; then a binary SVM is trained for every pair of classes. The class distribution is each
    class's share of the votes of all pairs, which is not a probability (of c classes the winner
    has 2/c), or, with ``logistic=True``, couples probabilities fitted to the outputs.

    Parameters
    ----------
    C : float, default=1.0
        How much a training row outside the margin costs.
    tol : float, default=1e-3
        How closely the optimum is approached.
    logistic : bool, default=False
        Fit a logistic function to the outputs of each pair on its training rows and couple the
        pairs' probabilities (WEKA's option -M).
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features: the columns of categorical dtype, none, or a mask, indices or names.
    classes : array-like, optional
        All classes, in order, if some may be absent from training: such a class loses every vote
        but takes part in the count. By default those of `y`, sorted.

    Attributes
    ----------
    classes_ : ndarray
        The classes in the order of the columns of `predict_proba`.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    members_ : PairStack
        The binary SVMs, as the members of an ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import SMOClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> SMOClassifier().fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.67, 0.33, 0.  ]])
    """

    keeps_nominal = True

    C: float = 1.0
    tol: float = 1e-3
    logistic: bool = False
    categorical_features: Any = "from_dtype"
    classes: Any = None

    @property
    def gives_probabilities(self) -> bool:
        """Whether class distributions are probabilities: shares of votes are not."""
        return bool(self.logistic)

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        self._options()

    def fit_problems(
        self,
        X: Any,
        problems: Problems,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> PairStack:
        """Return the binary SVMs of all problems, trained on one matrix of products."""
        features = LinearFilter.of(X, problems.n_values, problems.weights)
        table = TrainingTable.of(features.columns(X))
        svms = fitted_in_threads(
            fit_pairs,
            table,
            problems,
            self._options(),
            n_jobs=n_jobs,
            text="training SVMs",
            verbose=verbose,
        )
        return PairStack(features, svms, logistic=bool(self.logistic))

    def _options(self) -> dict[str, Any]:
        return {
            "C": check_real("C", self.C, above=0.0),
            "tol": check_real("tol", self.tol, above=0.0),
            "logistic": bool(self.logistic),
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
