"""What learns all labels at once from rows in memory: forest, boosted trees, nearest rows."""

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from labelcover._table_numbers import blocks, rows_of
from labelcover.covers import Cover
from labelcover.ensemble._cover_view import LEAST
from labelcover.ensemble._shares import CLOSE, Floats, Parts, Rows, Shares, Similar, labels_of
from labelcover.ensemble._view import LeftOut, TrainingRows, View, fit_in_memory
from labelcover.learners import BoostedTrees, GrownForest, LabelBoosting, NearestRows

# How near to 0 and 1 the pool takes shares, of however many trees (benchmarks/bench_quality.py).
LEAST_SHARE = 0.002
# Shares of training rows in leaves of so many numbers are held at once (32 MB).
BLOCK_NUMBERS = 2**22


class ForestView(View):
    """A `LabelForest`, fitted.

    Parameters
    ----------
    learner : LabelForest
    n_trees : int, optional
        What ``n_trees="auto"`` is where trees split by features; by default as many as of a forest
        alone.
    least : float
        How near to 0 and 1 the pool takes shares.

    Attributes
    ----------
    forest : GrownForest
    """

    names = ("forest",)
    forest: GrownForest

    def __init__(self, learners, cover, *, n_trees=None, least=LEAST_SHARE, **_):
        self.learner, self.n_trees, self.least = learners["forest"], n_trees, least

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Grow the forest on the rows in memory."""
        self._n_rows, self._sample = len(rows.in_memory.Y), rows.sample
        how = {"n_jobs": n_jobs, "verbose": verbose, "left_out": rows.in_memory.left_out}
        fit = partial(self.learner.fit_labels, n_feature_trees=self.n_trees)
        self.forest, found = fit_in_memory(fit, rows, seed, **how)
        self._left_out = rows.left_out, [found]
        return self

    @property
    def n_forest_rows(self) -> int:
        """On how many training rows it was grown: all, or of rows in chunks a sample."""
        return self._n_rows

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [self.forest.confidence(X)]

    no_shares = ""

    def shares(self, X: Any) -> list[Shares]:
        """Return what columns add to the confidences of rows."""
        return [ForestShares(self.forest, X)]

    def similar(self, X: Any, n: int) -> Similar:
        """Return the training rows that share the most leaves with new rows."""
        step = BLOCK_NUMBERS // max(1, self._n_rows)
        found = [self._similar(rows_of(X, block), n) for block in blocks(X.shape[0], step)]
        rows, similarity, labels = zip(*found, strict=True)
        every = [own for each in labels for own in each]
        return Similar(np.concatenate(rows), np.concatenate(similarity), every)

    def _similar(self, X: Any, n: int) -> Similar:
        shares = self.forest.row_shares(X)
        rows = np.argsort(-shares, axis=1, kind="stable")[:, :n]
        own = np.take_along_axis(shares, rows, axis=1)
        numbers = rows if self._sample is None else self._sample[rows]
        return Similar(
            np.where(own > 0, numbers, -1), own, labels_of(self.forest.labels_held, rows)
        )


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


class BoostedView(View):
    """`LabelBoosting`, fitted.

    Attributes
    ----------
    trees : BoostedTrees
    """

    names = ("boosted trees",)
    least = LEAST
    trees: BoostedTrees

    def __init__(self, learners: Any, cover: Cover, **_: Any) -> None:
        self.learner: LabelBoosting = learners["boosting"]

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Boost trees on the rows in memory."""
        how = {"n_jobs": n_jobs, "verbose": verbose, "left_out": rows.in_memory.left_out}
        self.trees, found = fit_in_memory(self.learner.fit_labels, rows, seed, **how)
        self._left_out = rows.left_out, [found]
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of new rows, ``(n, n_labels)``."""
        return [expit(self.trees.scores(self.trees.read(X), X.shape[0]))]

    no_shares = ""

    def shares(self, X: Any) -> list[Shares]:
        """Return what columns add to the confidences of rows."""
        return [BoostedShares(self.trees, X)]


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


class NeighboursView(View):
    """`NearestRows` of the training rows in memory."""

    names = ("neighbours",)
    least = LEAST
    nearest: NearestRows

    @classmethod
    def planned(cls, learners: Any, cover: Cover, **_: Any) -> Self:
        """Return the view as a plan has it."""
        return cls()

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Index the rows in memory by their features."""
        self._sample = rows.sample
        self.nearest = fit_in_memory(NearestRows, rows, seed)
        return self

    def left_out(self, rows: TrainingRows) -> LeftOut:
        """Return the confidences of ``rows.left_out``, none its own neighbour; asked once."""
        found = self.nearest.left_out(rows.in_memory.left_out)
        self.nearest.forget_training()
        return rows.left_out, [found]

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the shares of all labels among the neighbours of new rows."""
        return [self.nearest.confidence(X)]

    no_shares = ""

    def shares(self, X: Any) -> list[Shares]:
        """Return what the columns that rows have in common with their neighbours add."""
        return [NearShares(self.nearest, X)]

    def similar(self, X: Any, n: int) -> Similar:
        """Return the nearest training rows, by the cosine."""
        places, _, cosines = self.nearest.votes(self.nearest.scaled(X), np.full(X.shape[0], -1))
        rows = self.nearest.rows[places[:, :n]]
        numbers = rows if self._sample is None else self._sample[rows]
        labels = labels_of(self.nearest.labels, rows)
        return Similar(
            np.where(places[:, :n] < 0, -1, numbers), cosines[:, :n].astype(float), labels
        )


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
