"""C4.5 trees of all members: every feature is sorted once, members grow in parallel threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.families._members import ThreadedFamily
from labelcover.families.dispatch import family_of
from labelcover.learners._c45_tree import FeatureTable, Tree, TreeStack
from labelcover.learners._features import FeatureCoding
from labelcover.learners.c45 import C45Classifier


@family_of.register(C45Classifier)
class C45Family(ThreadedFamily):
    """Members like a `C45Classifier`, with the same trees as if each were fitted alone."""

    estimator: C45Classifier

    def _prepare(
        self, X: Any, weights: NDArray[np.float64] | None
    ) -> Callable[[NDArray[np.int32], int], Tree]:
        options = self.estimator.tree_options()
        self.coding_ = FeatureCoding.of(X, self.estimator.categorical_features)
        table = FeatureTable.of(
            self.coding_.numbers(X), self.coding_.n_values, weighted=weights is not None
        )

        def grow(label: NDArray[np.int32], n_classes: int) -> Tree:
            return Tree.grown(table, label, n_classes, weights=weights, **options)

        return grow

    def _pack(self, models: list[Tree]) -> None:
        self.trees_ = models
        self.stack_ = TreeStack(models, laplace=bool(self.estimator.laplace))

    def _distributions(self, X: Any) -> NDArray[np.float64]:
        return self.stack_.distributions(self.coding_.numbers(X))
