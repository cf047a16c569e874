"""C4.5 decision trees as WEKA's J48 grows and prunes them."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from labelcover._arguments import check_integer, check_real
from labelcover.learners._batch_classifier import WekaClassifier
from labelcover.learners._c45.split_kernels import VALUE_STEP
from labelcover.learners._c45.tree import FeatureTable, Tree, TreeStack, grown_tree, tree_text
from labelcover.learners._problems import Problems


@dataclass(eq=False, repr=False)
class C45Classifier(WekaClassifier):
    """C4.5 decision tree, with the answers of WEKA's J48.

    Splits maximise the gain ratio among the features of at least average information gain;
    numeric cuts pay for the number of cuts tried. The tree is then pruned by pessimistic error
    estimates. Missing values (NaN) send a row down every branch in proportion to the training
    weights. A nominal value that no training row had gets the distribution at its node.

    As in J48, numbers that differ by less than 1e-5 are never separated. A column that varies by
    no more is not used, which a warning says: multiply such columns by a constant.

    Parameters
    ----------
    confidence : float, default=0.25
        Level of the pessimistic error estimate, above 0 and up to 0.5; smaller prunes more.
    min_leaf : int, default=2
        Least weight of at least two branches of every split.
    pruned : bool, default=True
        Whether the grown tree is pruned. Subtrees that save no training error go in any case.
    subtree_raising : bool, default=True
        Whether pruning may also replace a node by its largest branch.
    laplace : bool, default=False
        Whether leaves add one to the weight of every class.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        The nominal features: the columns of categorical dtype (whose categories are then the
        declared values), none, or a mask, indices or names.
    classes : array-like, optional
        All classes, in order, if some may be absent from training: the least size of a branch
        depends on how many are declared. By default those of `y`, sorted.

    Attributes
    ----------
    classes_ : ndarray
        The classes in the order of the columns of `predict_proba`.
    feature_importances_ : ndarray
        Each feature's part of the information that the splits of the tree gain.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    members_ : TreeStack
        The tree, as the members of an ensemble.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import C45Classifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = C45Classifier().fit(iris.data, iris.target)
    >>> tree.get_n_leaves()
    5
    """

    confidence: float = 0.25
    min_leaf: int = 2
    pruned: bool = True
    subtree_raising: bool = True
    laplace: bool = False
    categorical_features: Any = "from_dtype"
    classes: Any = None

    def fit_problems(
        self,
        X: Any,
        problems: Problems,
        *,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> TreeStack:
        """Return the trees of all problems; every feature is sorted once."""
        numbers = X.toarray() if sparse.issparse(X) else X
        _warn_of_narrow_columns(numbers, problems.n_values)
        weighted = problems.weights is not None
        table = FeatureTable.of(numbers, problems.n_values, weighted=weighted)
        how = {"text": "growing trees", "verbose": verbose}
        trees = self._fitted(grown_tree, table, problems, n_jobs, **how)
        return TreeStack(trees, laplace=bool(self.laplace))

    def _options(self) -> dict[str, Any]:
        return {
            "confidence": check_real("confidence", self.confidence, above=0.0, high=0.5),
            "min_leaf": check_integer("min_leaf", self.min_leaf, low=1),
            "pruned": bool(self.pruned),
            "subtree_raising": bool(self.subtree_raising),
        }

    def get_depth(self) -> int:
        """Return the number of splits on the longest way from the root to a leaf."""
        return self._tree().depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves, empty ones included."""
        return self._tree().n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's part of the information gained; all zero for a tree of one leaf."""
        gains = self._tree().gains(self.n_features_in_)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the tree in the layout of J48: a line per branch, ``class (weight/errors)``."""
        tree = self._tree()
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        if feature_names is None:
            feature_names = [f"x{f}" for f in range(self.n_features_in_)]
        if len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must have {self.n_features_in_} names, got {len(feature_names)}."
            )
        return tree_text(
            tree,
            pruned=self.pruned,
            feature_names=feature_names,
            categories=self._coding.categories,
            classes=self.classes_,
        )

    def _tree(self) -> Tree:
        check_is_fitted(self)
        return self.members_.trees[0]


def _warn_of_narrow_columns(X: NDArray[np.float64], n_values: NDArray[np.int32]) -> None:
    """Warn of numeric columns whose values are all too near to each other to be separated."""
    lowest, highest = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    narrow = (lowest < highest) & ~(lowest + VALUE_STEP < highest) & (n_values == 0)
    if narrow.any():
        columns = np.flatnonzero(narrow).tolist()
        shown = ", ".join(map(str, columns[:5])) + (", …" if len(columns) > 5 else "")
        warnings.warn(
            f"C4.5 uses {len(columns)} of {len(narrow)} columns of X not at all ({shown}): they "
            f"vary by no more than {VALUE_STEP:g}, and like WEKA's J48 it separates no nearer "
            "numbers. Multiply them by a constant.",
            UserWarning,
            stacklevel=2,
        )
