"""Machines of all members: one matrix of products to train on, one product to predict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover.families._members import ThreadedFamily
from labelcover.families.dispatch import family_of
from labelcover.learners._features import FeatureCoding
from labelcover.learners._smo_filter import LinearFilter
from labelcover.learners._smo_pairs import PairMachines, PairStack, TrainingTable, fit_pairs
from labelcover.learners.smo import SMOClassifier


@family_of.register(SMOClassifier)
class SMOFamily(ThreadedFamily):
    """Members like an `SMOClassifier`, with the same machines as if each were fitted alone."""

    estimator: SMOClassifier

    def _prepare(
        self, X: Any, weights: NDArray[np.float64] | None
    ) -> Callable[[NDArray[np.int32], int], PairMachines]:
        options = self.estimator.machine_options()
        coding = FeatureCoding.of(X, self.estimator.categorical_features)
        self.filter_ = LinearFilter.of(X, coding, weights)
        table = TrainingTable.of(self.filter_.columns(X))

        def fit(label: NDArray[np.int32], n_classes: int) -> PairMachines:
            return fit_pairs(table, label, n_classes, weights=weights, **options)

        return fit

    def _pack(self, models: list[PairMachines]) -> None:
        self.stack_ = PairStack(models, logistic=bool(self.estimator.logistic))

    def _distributions(self, X: Any) -> NDArray[np.float64]:
        return self.stack_.distributions(self.filter_.columns(X))
