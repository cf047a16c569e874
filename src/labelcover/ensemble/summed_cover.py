"""The members of a cover over a stream of rows: what is summed, and the problems it poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._label_values import alike_labelsets
from labelcover.covers import Cover
from labelcover.ensemble.distinct_rows import distinct_rows
from labelcover.ensemble.encoding import Encoding, encode
from labelcover.ensemble.encoding_kernels import occurring_patterns
from labelcover.ensemble.label_products import MOST_LABELS, label_products, occurring_products
from labelcover.ensemble.row_classes import (
    ClassRule,
    RowClasses,
    labelset_rows,
    ranked_encodings,
)
from labelcover.ensemble.view import TrainingRows
from labelcover.learners import LeastSquaresClassifier
from labelcover.learners.chunked_targets import SummedTargets
from labelcover.learners.least_squares.summed_features import SummedTable
from labelcover.learners.problems import Problems


class SummedCover:
    """Sums over all rows of a stream for least squares members over some covers.

    Features are summed by every product of labels of a labelset, whether it has occurred or not,
    so that patterns of labels may come up at any time.

    Parameters
    ----------
    learner : LeastSquaresClassifier
    covers : sequence of Cover
    training : TrainingRows
        The first rows, on which features are settled; the sums hold them.
    seed : int

    Raises
    ------
    ValueError
        If a labelset has more than 6 labels.
    """

    def __init__(
        self,
        learner: LeastSquaresClassifier,
        covers: Sequence[Cover],
        training: TrainingRows,
        seed: int,
    ) -> None:
        widest = max(cover.k for cover in covers)
        if widest > MOST_LABELS:
            raise ValueError(
                f"k must be at most {MOST_LABELS} for more than {len(training.Y)} rows in "
                f"partial_fit, got a labelset of {widest} labels."
            )
        self.covers = list(covers)
        self.labelsets = labelset_rows(covers)
        sizes = (self.labelsets >= 0).sum(axis=1)
        # Which patterns of each labelset occur: at first all that there are.
        self.occurs = np.arange(2**widest) < 2 ** sizes[:, None]
        self.products = self._products(self._encodings())
        self.occurs = np.zeros_like(self.occurs)
        rows = distinct_rows(training.Y)
        encodings, classes, first = encode(rows, covers)
        problems = Problems(
            classes,
            encodings[0].offsets,
            training.n_values,
            training.weights,
            np.array([seed]),
            targets=label_products(rows, encodings, first),
        )
        self.sums = learner.feature_sums(training.X, problems)
        self.add(training)

    def add(self, training: TrainingRows) -> None:
        """Add rows to the sums."""
        Y = training.Y
        ranks = np.empty(self.occurs.shape, dtype=np.int32)
        distinct = np.ascontiguousarray(Y[alike_labelsets(Y)[1]].T)
        occurring_patterns(distinct, self.labelsets, ranks)
        weights = np.ones(len(Y)) if training.weights is None else training.weights
        self.sums.add(training.X, Y, weights, self.products.rows)
        self.occurs |= ranks >= 0

    def posed(
        self, Y: NDArray[np.uint8]
    ) -> tuple[list[Encoding], RowClasses, NDArray[np.int64], SummedTargets]:
        """Return encodings, the classes of some rows, the member of each problem, and targets.

        Every member poses a problem of its own.
        """
        encodings = self._encodings()
        products = self._products(encodings)
        assert self.sums.summed is not None
        targets = SummedTargets(
            self.products.rows,
            Y,
            products.combine,
            products.constant,
            np.searchsorted(self.products.keys, products.keys),
            self.sums.summed.counts,
        )
        rule = ClassRule(self.labelsets, self._ranks())
        return encodings, RowClasses(rule, Y), np.arange(len(self.labelsets)), targets

    def table(self, X: Any) -> SummedTable:
        """Return some rows of the stream with the sums over all, as the learner takes them."""
        return SummedTable(X, self.sums)

    def _encodings(self) -> list[Encoding]:
        every = np.arange(len(self.labelsets))
        return ranked_encodings(self.covers, self._ranks(), every, every)

    def _ranks(self) -> NDArray[np.int32]:
        ranks = np.cumsum(self.occurs, axis=1, dtype=np.int32) - 1
        return np.where(self.occurs, ranks, np.int32(-1))

    def _products(self, encodings: list[Encoding]) -> Any:
        members = np.arange(len(self.labelsets))
        n_labels = self.covers[0].n_labels
        return occurring_products(encodings, members, n_labels, if_fewer=False)
