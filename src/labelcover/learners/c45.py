"""C4.5 decision trees as WEKA's J48 grows and prunes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from labelcover._arguments import check_integer, check_real
from labelcover.learners._c45_text import tree_text
from labelcover.learners._c45_tree import FeatureTable, Tree, TreeStack
from labelcover.learners._features import FeatureCoding, checked_table
from labelcover.learners._targets import check_weights, encode_classes


class C45Classifier(ClassifierMixin, BaseEstimator):
    """C4.5 decision tree, with the answers of WEKA's J48.

    Splits maximise the gain ratio among the features of at least average information gain;
    numeric cuts pay for the number of cuts tried. The tree is then pruned by pessimistic error
    estimates. Missing values (NaN) send a row down every branch in proportion to the training
    weights. A nominal value that no training row had gets the distribution at its node.

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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelcover.learners import C45Classifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = C45Classifier().fit(iris.data, iris.target)
    >>> tree.get_n_leaves()
    5
    """

    def __init__(
        self,
        confidence: float = 0.25,
        min_leaf: int = 2,
        pruned: bool = True,
        subtree_raising: bool = True,
        laplace: bool = False,
        categorical_features: Any = "from_dtype",
        classes: Any = None,
    ) -> None:
        self.confidence = confidence
        self.min_leaf = min_leaf
        self.pruned = pruned
        self.subtree_raising = subtree_raising
        self.laplace = laplace
        self.categorical_features = categorical_features
        self.classes = classes

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, features)
            NaN is missing.
        y : array-like of shape (n,)
        sample_weight : array-like of shape (n,), optional
            Rows of weight 0 are left out.
        """
        options = self.tree_options()
        X = checked_table(self, X, reset=True)
        coding = FeatureCoding.of(X, self.categorical_features)
        numbers = coding.numbers(X)
        self.classes_, label = encode_classes(self, y, len(numbers))
        weights = check_weights(sample_weight, len(numbers))
        if weights is not None and not weights.all():
            kept = weights > 0
            numbers, label, weights = numbers[kept], label[kept], weights[kept]
        self._coding = coding
        self._tree = Tree.grown(
            FeatureTable.of(numbers, coding.n_values, weighted=weights is not None),
            label,
            len(self.classes_),
            weights=weights,
            **options,
        )
        self._stack = TreeStack([self._tree], laplace=self.laplace)
        return self

    def tree_options(self) -> dict[str, Any]:
        """Return the checked parameters of growing and pruning."""
        return {
            "confidence": check_real("confidence", self.confidence, above=0.0, high=0.5),
            "min_leaf": check_integer("min_leaf", self.min_leaf, low=1),
            "pruned": bool(self.pruned),
            "subtree_raising": bool(self.subtree_raising),
        }

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the class distribution of every row."""
        check_is_fitted(self)
        X = checked_table(self, X, reset=False)
        return self._stack.distributions(self._coding.numbers(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of every row, the first of equals."""
        most_probable = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[most_probable]

    def get_depth(self) -> int:
        """Return the number of splits on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return self._tree.depth()

    def get_n_leaves(self) -> int:
        """Return the number of leaves, empty ones included."""
        check_is_fitted(self)
        return self._tree.n_leaves

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each feature's part of the information gained; all zero for a tree of one leaf."""
        check_is_fitted(self)
        gains = self._tree.gains(self.n_features_in_)
        return gains / gains.sum() if gains.sum() > 0 else gains

    def export_text(self, feature_names: Sequence[str] | None = None) -> str:
        """Return the tree in the layout of J48: a line per branch, ``class (weight/errors)``."""
        check_is_fitted(self)
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        if feature_names is None:
            feature_names = [f"x{f}" for f in range(self.n_features_in_)]
        if len(feature_names) != self.n_features_in_:
            raise ValueError(
                f"feature_names must have {self.n_features_in_} names, got {len(feature_names)}."
            )
        return tree_text(
            self._tree,
            pruned=self.pruned,
            feature_names=feature_names,
            categories=self._coding.categories,
            classes=self.classes_,
        )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
