"""The default predictor: least squares, a forest and nearest neighbours, pooled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from labelcover.covers import Cover
from labelcover.ensemble.chunked_training import sampled_rows
from labelcover.ensemble.cover_view import CoverView
from labelcover.ensemble.forest_view import ForestView
from labelcover.ensemble.labelset_posterior import LabelsetPosterior, fit_posterior
from labelcover.ensemble.log_linear_pool import LogLinearPool, fit_pool
from labelcover.ensemble.view import TrainingRows
from labelcover.ensemble.wide_text import is_wide_text, on_scores, reading_scores
from labelcover.learners import LeastSquaresClassifier, LogisticClassifier
from labelcover.learners.chunked_table import ChunkedTable
from labelcover.learners.forest.feature_forest import FeatureForest
from labelcover.learners.forest.label_forest import LabelForest
from labelcover.learners.nearest_rows import NearestRows

# Probabilities of linear members and of labelsets are never surer than this.
LEAST = 0.0005
# Labels are counted in blocks of so many rows.
BLOCK_ROWS = 2**18
# Scores of logistic regressions for rows not seen come from so many folds.
N_FOLDS = 3
# Trees on a sparse table with many rows, fewer than those of a forest alone: neighbours stand in
# for the rest.
SPARSE_TREES = 80


class Pool(BaseEstimator):
    """Least squares members and a forest, pooled by their predictions for rows not seen.

    There are three views: least squares over the labelsets of the cover, least squares over single
    labels (in the same factorisation), and the forest. Where less than a quarter of the cells are
    not 0, and trees split by features, a fourth is the labels of the nearest training rows, by the
    cosine (`labelcover.learners.nearest_rows`), and from 1,000 rows on the forest has 80 trees,
    except on wide text. Their probabilities are pooled log-linearly for each label
    (`labelcover.ensemble.log_linear_pool`), with weights from leave-one-out and out-of-bag
    predictions, which cost no refit. What the pool says is then corrected by which labelsets occur
    in training (`labelcover.ensemble.labelset_posterior`): the marginals over these are pooled with
    it in the same way.

    On wide text (more than 4,000 rows and columns, at most a tenth of the cells not 0) another
    view is logistic regression on single labels, and both least squares views read its
    out-of-fold scores instead of the words (`labelcover.ensemble.wide_text`). Wide text in chunks
    is fitted on all rows up to 2²⁵ cells that are not 0, else on a sample of as many.

    Parameters
    ----------
    least_squares : LeastSquaresClassifier, optional
        Its parameters may also be set on the pool itself: ``set_params(alpha=1)``.
    forest : LabelForest, optional
    logistic : LogisticClassifier, optional
        By default it is fitted on wide text only; one that is given is pooled on any table.
    """

    gives_left_out = True
    reads_chunks = True

    def __init__(self, least_squares=None, forest=None, logistic=None):
        self.least_squares = least_squares
        self.forest = forest
        self.logistic = logistic

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, those of all learners too."""
        params = super().get_params(deep)
        if deep:
            for name, learner in self.learners().items():
                params |= {f"{name}__{key}": value for key, value in learner.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Pool:
        """Set parameters; those of a default learner make it a learner of the pool's own."""
        of_least_squares = LeastSquaresClassifier().get_params()
        params = {
            f"least_squares__{name}" if name in of_least_squares else name: value
            for name, value in params.items()
        }
        for name, learner in self.learners().items():
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and getattr(self, name) is None and params.get(name) is None:
                params[name] = learner
        super().set_params(**params)
        return self

    def learners(self) -> dict[str, Any]:
        """Return all learners, by the names of the parameters."""
        return {
            "least_squares": self.least_squares or LeastSquaresClassifier(),
            "forest": self.forest or LabelForest(),
            "logistic": self.logistic or LogisticClassifier(n_folds=N_FOLDS),
        }

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        for learner in self.learners().values():
            learner.check_parameters()

    def read_table(self, owner: BaseEstimator, X: Any) -> tuple[Any, Any]:
        """Return how a training table is coded, and the table as all learners take it."""
        self.check_parameters()
        return self.learners()["least_squares"].read_table(owner, X)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        """Say that weights of rows are taken: the pool is fitted by `LabelCoverClassifier`."""
        raise TypeError("Pool is an estimator of LabelCoverClassifier and is not fitted alone.")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(LeastSquaresClassifier()).input_tags
        return tags


class PooledView:
    """A `Pool`, fitted.

    Attributes
    ----------
    pool : LogLinearPool
        The weights of the views.
    posterior : LabelsetPosterior
    correction : LogLinearPool
        The weights of the pool and of the marginals over the labelsets that occur.
    covers : CoverView
    forest : ForestView
    neighbours : NearestRows or None
        If the table is sparse, and trees split by features, not by likeness to means.
    logistic : CoverView or None
        Logistic regressions on single labels, if they are used.
    reads_scores : bool
        Whether `covers` reads the scores of `logistic` instead of the table.
    left_out : tuple
        Rows of the training set and their pooled confidences by models fitted without them.
    """

    pool: LogLinearPool
    posterior: LabelsetPosterior
    correction: LogLinearPool

    logistic: CoverView | None
    neighbours: NearestRows | None
    reads_scores: bool

    def __init__(self, learner: Pool, cover: Cover, *, aggregate: str = "mean") -> None:
        learners = learner.learners()
        numbers = np.arange(cover.n_labels)[:, None]
        singles = Cover(numbers, cover.n_labels, method="single labels")
        covers = [cover, singles] if cover.k > 1 else [cover]
        self.covers = CoverView(learners["least_squares"], covers, aggregate=aggregate)
        self.forest = ForestView(learners["forest"])
        self.logistic = CoverView(learners["logistic"], [singles])
        self.always_logistic = learner.logistic is not None

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> PooledView:
        """Fit all views, then their weights."""
        n_labels = training.Y.shape[1]
        more = np.random.default_rng(seeds[0]).integers(2**31 - 1, size=n_labels + 1)
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        seeds = np.concatenate([seeds, more[1:]])
        self.reads_scores = is_wide_text(training.X)
        self.forest.sparse_trees = None if self.reads_scores else SPARSE_TREES
        all_rows, sample = training, np.arange(len(training.Y))
        if self.reads_scores and isinstance(training.X, ChunkedTable):
            sample = sampled_rows(training.X, int(more[0]))
            training = training.rows(sample)
        if not (self.reads_scores or self.always_logistic):
            self.logistic = None
        rows = self.covers.drawn_rows(len(training.Y), int(seeds[0]))
        tables = self._fit_linear(training, rows, seeds, more[1:], how)
        views = self._inside(
            [*tables, *self._fit_by_rows(training, more[:1], rows, n_jobs, verbose)]
        )
        rows = sample[rows]
        Y, weights = all_rows.Y, all_rows.weights
        own = None if weights is None else weights[rows]
        frequency = _frequency(all_rows)
        self.pool = fit_pool(views, Y[rows], frequency, own)
        pooled = self.pool.pool(views)
        self.posterior, marginals = fit_posterior(Y, rows, pooled, weights)
        stages = [pooled, inside(marginals)]
        self.correction = fit_pool(stages, Y[rows], frequency, own)
        self.left_out = (rows, [self.correction.pool(stages)]) if keep_left_out else None
        return self

    def _fit_linear(
        self,
        training: TrainingRows,
        rows: NDArray[np.int64],
        seeds: NDArray[np.int64],
        of_singles: NDArray[np.int64],
        how: dict[str, Any],
    ) -> list[NDArray[np.float64]]:
        """Fit the linear views; return the left-out confidences of some rows by each."""
        unseen: list[NDArray[np.float64]] = []
        if self.logistic is not None:
            all_rows = np.arange(len(training.Y))
            self.logistic.fit(training, of_singles, left_out_rows=all_rows, **how)
            unseen = self.logistic.left_out()
            self.logistic.forget_training()
        table = training
        if self.reads_scores:
            self.covers.learner = reading_scores(self.covers.learner)
            table = on_scores(training, inside(unseen[0]))
        self.covers.fit(table, seeds, left_out_rows=rows, **how)
        tables = self.covers.left_out()
        self.covers.forget_training()
        return [*tables, *(each[rows] for each in unseen)]

    def _fit_by_rows(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        rows: NDArray[np.int64],
        n_jobs: int | None,
        verbose: bool,
    ) -> list[NDArray[np.float64]]:
        """Fit neighbours and the forest; return what they say of left-out rows."""
        among = self.forest.grow(training, seeds, n_jobs=n_jobs, verbose=verbose, among=rows)
        places = np.searchsorted(among, rows)
        forest, held = self.forest.forest, self.forest.training
        left_out = [forest.left_out(places, n_jobs)]
        forest.forget_training()
        del self.forest.training
        self.neighbours = None
        if forest.is_sparse and isinstance(forest, FeatureForest):
            self.neighbours = NearestRows(
                held.X, held.Y, held.n_values, weights=held.weights, seed=int(seeds[0])
            )
            left_out = [self.neighbours.left_out(places), *left_out]
            self.neighbours.forget_training()
        return left_out

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the pooled confidences of new rows, ``(n, n_labels)``."""
        pooled = self.pool.pool(self.confidences_of_views(X))
        return [self.correction.pool([pooled, inside(self.posterior.marginals(pooled))])]

    def confidences_of_views(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the probabilities of every view for new rows, inside (0, 1), as pooled."""
        logistic = [] if self.logistic is None else self.logistic.confidences(X)
        table = logit(inside(logistic[0])) if self.reads_scores else X
        near = [] if self.neighbours is None else [self.neighbours.confidence(X)]
        return self._inside(
            [*self.covers.confidences(table), *logistic, *near, *self.forest.confidences(X)]
        )

    @property
    def n_seeds(self) -> int:
        """One for each labelset of the cover; those of the other views are drawn from the first."""
        return len(self.covers.covers[0])

    def told(self) -> str:
        """Return the views with their weights for all labels together, for people to read."""
        weights = self.pool.common[:-1]
        named = zip(self.view_names, weights, strict=True)
        return ", ".join(f"{name} {weight:.2f}" for name, weight in named)

    @property
    def view_names(self) -> list[str]:
        """What the views are called, in the order of the pool's weights."""
        names = ["labelsets", "single labels"][-len(self.covers.covers) :]
        read = "least squares on scores of" if self.reads_scores else "least squares on"
        logistic = [] if self.logistic is None else ["logistic"]
        near = [] if self.neighbours is None else ["neighbours"]
        return [*(f"{read} {name}" for name in names), *logistic, *near, "forest"]

    def _inside(self, views: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Return the probabilities of all views inside (0, 1).

        Those of the forest are counted as if one tree more had voted each way.
        """
        trees = len(self.forest.forest.trees)
        *linear, forest = views
        return [*map(inside, linear), (trees * forest + 1) / (trees + 2)]


def view_of(learner: Any, cover: Cover, *, aggregate: str = "mean") -> Any:
    """Return the unfitted view of a learner: a pool, a forest, or members over the cover."""
    if isinstance(learner, Pool):
        return PooledView(learner, cover, aggregate=aggregate)
    if isinstance(learner, LabelForest):
        return ForestView(learner)
    return CoverView(learner, [cover], aggregate=aggregate)


def inside(P: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities a little inside (0, 1)."""
    return (np.clip(P, 0, 1) + LEAST) / (1 + 2 * LEAST)


def _frequency(training: TrainingRows) -> NDArray[np.float64]:
    n = len(training.Y)
    if training.weights is None:
        return (training.Y.sum(axis=0) + 0.5) / (n + 1)
    weights = training.weights * n / training.weights.sum()
    # In blocks: a product with the whole table would make a table of floats of it.
    blocks = [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
    return (sum(weights[block] @ training.Y[block] for block in blocks) + 0.5) / (n + 1)
