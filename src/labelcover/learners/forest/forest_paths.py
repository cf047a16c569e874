"""Why a forest is as sure of a label as it is: the splits on the way to the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.learners.forest.feature_forest import FeatureForest
from labelcover.learners.forest.path_kernels import add_directions, add_paths, node_shares


class ForestPaths:
    """The shares of columns in the confidences of some rows.

    The confidence of a tree is the share of the label in its root plus what every split on the way
    to the leaf changes (Palczewska et al., 2014); that of the forest is the mean.

    Parameters
    ----------
    forest : FeatureForest
    X : ndarray or CSR matrix
        The rows, nominal features as numbers of their values.

    References
    ----------
    A. Palczewska, J. Palczewski, R. Marchese Robinson and D. Neagu (2014). Interpreting random
    forest classification models using a feature contribution method. Integration of Reusable
    Systems, 193–218.
    """

    def __init__(self, forest: FeatureForest, X: Any) -> None:
        self.forest, self.n = forest, X.shape[0]
        self.table = forest.read(X)

    def of_label(self, label: int) -> tuple[float, NDArray[np.float64]]:
        """Return the mean share of the label in the roots, and the shares, ``(n, n_columns)``."""
        forest, holds = self.forest, _holds(self.forest, label)
        start, sums = 0.0, np.zeros((self.n, forest.n_features))
        for tree, rows, counts in forest.trees:
            shares, _ = node_shares(tree, rows, counts, holds)
            start += shares[0]
            add_paths(self.table, forest.n_features, tree, shares, sums)
        return start / len(forest.trees), sums / len(forest.trees)


def directions(forest: FeatureForest, label: int) -> NDArray[np.float64]:
    """Return for each column how far higher values speak for (or against) a label.

    The mean over trees of the covariance of the label with the sides of all splits on the column.
    """
    holds, sums = _holds(forest, label), np.zeros(forest.n_features)
    for tree, rows, counts in forest.trees:
        shares, weights = node_shares(tree, rows, counts, holds)
        add_directions(tree, shares, weights, sums)
    return np.where(forest.rare.flipped, -sums, sums) / len(forest.trees)


def _holds(forest: FeatureForest, label: int) -> NDArray[np.bool_]:
    """Return which training rows have the label."""
    indices, starts = forest.labels
    holds = np.zeros(len(starts) - 1, dtype=bool)
    holds[np.searchsorted(starts, np.flatnonzero(indices == label), side="right") - 1] = True
    return holds
