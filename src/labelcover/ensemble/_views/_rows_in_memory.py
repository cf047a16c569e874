"""What learns all labels at once from rows in memory: forest, boosted trees, nearest rows."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelcover._table_numbers import blocks, rows_of
from labelcover.ensemble._cover_view import LEAST
from labelcover.ensemble._shares import CLOSE, Floats, Parts, Rows, Shares, Similar, labels_of
from labelcover.ensemble._view import TrainingRows, View, fit_in_memory
from labelcover.learners import BoostedTrees, GrownForest, NearestRows

# How near to 0 and 1 the pool takes shares, of however many trees (benchmarks/bench_quality.py).
LEAST_SHARE = 0.002
# Shares of training rows in leaves of so many numbers are held at once (32 MB).
BLOCK_NUMBERS = 2**22


class RowsInMemoryView(View):
    """What a learner of all labels at once makes of the rows in memory.

    Attributes
    ----------
    model
        What ``learner.fit_labels`` returns beside left-out confidences.
    """

    # How near to 0 and 1 the pool takes confidences, and how these are sums over columns.
    least = LEAST
    parts: Callable[[Any, Any], Shares]
    no_shares = ""
    learner: Any
    model: Any

    def __init__(self, learners: Any, cover: Any, **_: Any) -> None:
        self._how: dict[str, Any] = {}

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Learn the labels of the rows in memory."""
        own, self._sample = rows.in_memory, rows.sample
        how = {"n_jobs": n_jobs, "verbose": verbose, "left_out": own.left_out, **self._how}
        self.model, found = fit_in_memory(self.learner.fit_labels, rows, seed, **how)
        self._left_out = rows.left_out, [found]
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [self.model.confidence(X)]

    def shares(self, X: Any) -> list[Shares]:
        """Return what columns add to the confidences of rows."""
        return [self.parts(self.model, X)]

    def _training_rows(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of rows in memory among all training rows."""
        return rows if self._sample is None else self._sample[rows]


class ForestShares(Shares):
    """The confidences of a forest as sums over columns."""

    def __init__(self, forest: GrownForest, X: Any) -> None:
        self.paths, self.confidence = forest.paths(X), forest.confidence(X)
        self.starts = self.paths.starts
        # Shares among known cells are quotients, to which the parts of each label are stretched.
        self.is_linear = forest.known is None

    def combined(self, rows: Rows, weights: Floats, bent: Any = None) -> Any:
        """Return what columns add to a sum of the confidences of all labels."""
        found = self.paths.combined(rows, weights, bent) if self.is_linear else None
        return super().combined(rows, weights) if found is None else found

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return the same of log-odds, of `label` as they bend where most columns are 0."""
        slopes = self.slopes(rows, least)
        bent = label, weights[:, label].copy(), slopes[:, label].copy(), least
        return self.combined(rows, weights * slopes, bent)

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the confidence of a label at the start, and what columns add."""
        parts = Parts(*self.paths.of_label(label, rows))
        # A correction keeps shares between 0 and 1, in single precision.
        way, value = parts.total() - parts.start, self.confidence[rows, label]
        far = np.abs(way) > CLOSE
        factors = np.where(far, (value - parts.start) / np.where(far, way, 1.0), 1.0)
        return replace(parts.times(factors), start=value - factors * way)


class ForestView(RowsInMemoryView):
    """A `LabelForest`, fitted.

    Parameters
    ----------
    learners : mapping
    n_trees : int, optional
        What ``n_trees="auto"`` is where trees split by features; by default as many as of a forest
        alone.
    least : float
        How near to 0 and 1 the pool takes shares.
    """

    names = ("forest",)
    parts = ForestShares

    def __init__(self, learners, cover, *, n_trees=None, least=LEAST_SHARE, **_):
        self.learner, self.least = learners["forest"], least
        self._how = {"n_feature_trees": n_trees}

    @property
    def n_forest_rows(self) -> int:
        """On how many training rows it was grown: all, or of rows in chunks a sample."""
        return self.model.n_rows

    def similar(self, X: Any, n: int) -> Similar:
        """Return the training rows that share the most leaves with new rows."""
        found = []
        for block in blocks(X.shape[0], BLOCK_NUMBERS // self.model.n_rows):
            shares = self.model.row_shares(rows_of(X, block))
            rows = np.argsort(-shares, axis=1, kind="stable")[:, :n]
            own = np.take_along_axis(shares, rows, axis=1)
            numbers = np.where(own > 0, self._training_rows(rows), -1)
            found.append((numbers, own, labels_of(self.model.labels_held, rows)))
        every, similarity, labels = zip(*found, strict=True)
        tags = [own for each in labels for own in each]
        return Similar(np.concatenate(every), np.concatenate(similarity), tags)


class BoostedShares(Shares):
    """The confidences of boosted trees as sums over columns."""

    def __init__(self, trees: BoostedTrees, X: Any) -> None:
        self.trees, self.table = trees, trees.read(X)
        self.scores, self.origin = trees.scores(self.table, X.shape[0]), trees.origin_scores
        self.confidence, self.starts = expit(self.scores), expit(self.origin)

    def combined(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Return what columns add to a sum of the confidences of all labels."""
        way = self.scores[rows] - self.origin
        far = np.abs(way) > CLOSE
        slopes = np.where(far, self.confidence[rows] - self.starts, 0) / np.where(far, way, 1.0)
        return self.trees.swap_parts(self.table, rows, weights * slopes)


class BoostedView(RowsInMemoryView):
    """`LabelBoosting`, fitted."""

    names = ("boosted trees",)
    parts = BoostedShares

    def __init__(self, learners, cover, **_):
        super().__init__(learners, cover)
        self.learner = learners["boosting"]


class NearShares(Shares):
    """The votes of neighbours as sums over columns."""

    def __init__(self, nearest: NearestRows, X: Any) -> None:
        self.nearest, self.table = nearest, nearest.scaled(X)
        self.confidence, self.starts = nearest.confidence(X), nearest.frequency

    def combined(self, rows: Rows, weights: Floats) -> Any:
        """Return what columns add to a sum of the shares of all labels."""
        return self.of_log_odds(rows, weights / self.slopes(rows, LEAST), 0, LEAST)

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return what columns add to a sum of log-odds, as they bend."""
        return self.nearest.parts(self.table[rows], self.confidence[rows], weights, least)


class NeighboursView(RowsInMemoryView):
    """`NearestRows` of the training rows in memory."""

    names = ("neighbours",)
    parts = NearShares
    learner = NearestRows

    def similar(self, X: Any, n: int) -> Similar:
        """Return the nearest training rows, by the cosine."""
        near = self.model
        places, _, cosines = near.votes(near.scaled(X), np.full(X.shape[0], -1))
        places, cosines = places[:, :n], cosines[:, :n].astype(float)
        rows = near.rows[places]
        numbers = np.where(places < 0, -1, self._training_rows(rows))
        return Similar(numbers, cosines, labels_of(near.labels, rows))
