"""The default predictor: several views of a table, weighed by their left-out predictions."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.utils.parallel import delayed

from labelcover._arguments import check_choice
from labelcover._table_numbers import blocks
from labelcover.covers import Cover
from labelcover.ensemble._known_rows import KnownRowsView
from labelcover.ensemble._links import Links, evidence, fit_links, surprises
from labelcover.ensemble._log_linear_pool import LogLinearPool, fit_pool, inside, useful_blocks
from labelcover.ensemble._plan import (
    AUTO,
    LEFT_OUT,
    LEFT_OUT_TREES,
    MANY_LABELS,
    MEMBERS,
    N_FOLDS,
    POOL,
    SCORE_TOLERANCE,
    Plan,
    TableFacts,
    ViewPlan,
    draw_left_out,
    most_targets,
    n_left_out_rows,
    plan_views,
)
from labelcover.ensemble._shares import Parts, Shares, Similar
from labelcover.ensemble._view import Checked, TableAnswer, TrainingRows, View, drawn_seed
from labelcover.ensemble._views import VIEWS, BlockView
from labelcover.learners import (
    LabelBoosting,
    LabelForest,
    LabelLearner,
    LeastSquaresClassifier,
    LogisticClassifier,
    in_threads,
)

# Of what other labels of a row say, no more labels, and no smaller effects on log-odds, are passed
# through to columns.
MOST_PASSED, LEAST_PASSED = 6, 0.02
# Labels are counted in blocks of so many rows.
BLOCK_ROWS = 2**18


# By the names of the parameters of `Pool`.
DEFAULT_LEARNERS: dict[str, Callable[[], Any]] = {
    "least_squares": LeastSquaresClassifier,
    "forest": LabelForest,
    "logistic": partial(LogisticClassifier, n_folds=N_FOLDS, tol=SCORE_TOLERANCE),
    "boosting": LabelBoosting,
}


class Learners(dict[str, Any]):
    """Learners that were given; others are made where they are asked for."""

    def __missing__(self, name: str) -> Any:
        return DEFAULT_LEARNERS[name]()


class Pool(LabelLearner):
    """The learners of the default, pooled by their left-out predictions.

    Which views are fitted is a matter of the table, decided by `plan_views` before the fit: least
    squares on single labels and a forest always, the labels of the nearest training rows on sparse
    tables, and on wide text logistic regression, whose scores least squares then reads instead of
    the words. Their probabilities are pooled log-linearly for each label
    (`labelcover.ensemble._log_linear_pool`), with weights from leave-one-out, out-of-fold and
    out-of-bag predictions. What labels say of each other comes last
    (`labelcover.ensemble._links`): which labelsets occur in training, and what known labels say of
    those that share a labelset of the cover with them.

    Parameters
    ----------
    least_squares : LeastSquaresClassifier, optional
    forest : LabelForest, optional
    logistic : LogisticClassifier, optional
        By default it is fitted on wide text only; one that is given is pooled on any table.
    boosting : LabelBoosting, optional
    """

    view = POOL
    reads_chunks = True

    def __init__(self, least_squares=None, forest=None, logistic=None, boosting=None):
        self.least_squares = least_squares
        self.forest = forest
        self.logistic = logistic
        self.boosting = boosting

    def learners(self) -> Learners:
        """Return all learners, by the names of the parameters."""
        given = {name: getattr(self, name) for name in DEFAULT_LEARNERS}
        return Learners({name: own for name, own in given.items() if own is not None})

    def check_parameters(self) -> None:
        """Raise a ``ValueError`` if a parameter has a value that is not accepted."""
        for learner in self.learners().values():
            learner.check_parameters()

    @property
    def categorical_features(self) -> Any:
        """The nominal features: least squares says which."""
        return self.learners()["least_squares"].categorical_features


class PooledView(View):
    """The views of a plan, fitted and pooled.

    Attributes
    ----------
    views : list of views
    pool : LogLinearPool
        The weights of the tables of confidences that the views give.
    links : Links
        What labels say of each other.
    unused : list of str
        Columns whose views were dropped, as left-out predictions are no better with them.
    """

    takes_known = True
    pool: LogLinearPool
    links: Links
    unused: list[str]

    def __init__(self, plan: Plan, views: list[Any], cover: Cover) -> None:
        self.plan, self.views, self.cover = plan, views, cover

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> "PooledView":
        """Fit all views, then their weights.

        The first view has the seed of the fit, as if it were fitted alone, the others the first
        seed that is drawn from it.
        """
        if rows.left_out is None:
            rows = rows.leaving_out(
                draw_left_out(rows, self.plan.n_left_out, None, drawn_seed(seed))
            )
        seeds = [seed] + [drawn_seed(seed)] * (len(self.views) - 1)
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        fits = zip(self.views, seeds, strict=True)
        jobs = [delayed(view.fit)(rows, own, **how) for view, own in fits]
        self.views = list(in_threads(jobs, n_jobs if self.plan.side_by_side else 1))
        tables = self._inside([view.left_out(rows)[1] for view in self.views])
        left_out, Y, frequency = rows.left_out, rows.Y, label_frequency(rows)
        own = rows.cell_weights(left_out)
        tables = self._keep_useful(tables, Y[left_out], frequency, own)
        self.pool = fit_pool(tables, Y[left_out], frequency, own)
        # Labels that are never known to be absent have their frequency.
        one_sided = None if rows.cells is None else ((rows.cells > 0) <= rows.Y).all(axis=0)
        if one_sided is not None:
            self.pool.weights[one_sided] = 0.0
            self.pool.intercept[one_sided] = 0.0
        pooled = self.pool.pool(tables)
        how = {"cells": rows.cells, "seed": seed}
        self.links, odds = fit_links(
            Y, left_out, pooled, self.cover, frequency, rows.weights, **how
        )
        if one_sided is not None:
            self.links.start[one_sided] = 0.0
            odds[:, one_sided] = logit(pooled[:, one_sided])
        self._left_out = left_out, [expit(odds)]
        return self

    def _keep_useful(self, tables: list[Any], *left_out: Any) -> list[Any]:
        """Drop the views of columns that say nothing new; return the tables of the others."""
        columns = [each.columns for each in self.plan.views]
        of_tables = [own for own, view in zip(columns, self.views, strict=True) for _ in view.names]
        blocks: dict[tuple[str, ...], list[Any]] = {own: [] for own in columns}
        for own, table in zip(of_tables, tables, strict=True):
            blocks[own].append(table)
        kept = list(blocks) if len(blocks) == 1 else useful_blocks(blocks, *left_out)
        self.unused = [", ".join(own) for own in blocks if own not in kept]
        pairs = zip(columns, self.views, strict=True)
        self.views = [view for own, view in pairs if own in kept]
        return [table for own, table in zip(of_tables, tables, strict=True) if own in kept]

    def confidences(
        self, X: Any, known: NDArray[np.int8] | None = None
    ) -> list[NDArray[np.float64]]:
        """Return the pooled confidences of new rows, ``(n, n_labels)``, given what is known."""
        return [expit(self.links.log_odds(self.pool.pool(self.confidences_of_views(X)), known))]

    def answer(self, X: Any, known: NDArray[np.int8] | None, checked: Checked) -> TableAnswer:
        """Return the answer for new rows, given what is known of them."""
        return TableAnswer(checked(self.confidences(X, known)[0]), known)

    def confidences_of_views(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the probabilities of every view for new rows, inside (0, 1), as pooled."""
        return self._inside([view.confidences(X) for view in self.views])

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums: the reason of the first view that has one."""
        return next((view.no_shares for view in self.views if view.no_shares), "")

    def shares(self, X: Any, known: NDArray[np.int8] | None = None) -> list[Shares]:
        """Return what adds up to the log-odds of the pooled confidences, given what is known."""
        found = [each for view in self.views for each in view.shares(X)]
        least = [view.least for view in self.views for _ in view.names]
        return [PooledShares(self, found, least, known)]

    def similar(self, X: Any, n: int) -> Similar | None:
        """Return the training rows most like new ones, by the first view that knows them."""
        asked = (view.similar(X, n) for view in self.views)
        return next((found for found in asked if found is not None), None)

    @property
    def n_forest_rows(self) -> int:
        """On how many rows trees were grown."""
        return max(view.n_forest_rows for view in self.views)

    def told(self) -> str:
        """Return the views with their weights for all labels together, for people to read."""
        weights = self.pool.common[:-1]
        named = zip(self.view_names, weights, strict=True)
        told = ", ".join(f"{name} {weight:.2f}" for name, weight in named)
        unused = ", ".join(own or "all columns together" for own in self.unused)
        return f"{told}; nothing new in {unused}" if unused else told

    @property
    def view_names(self) -> list[str]:
        """What the tables of the views are called, in the order of the pool's weights."""
        return [name for view in self.views for name in view.names]

    def _inside(self, found: list[list[NDArray[np.float64]]]) -> list[NDArray[np.float64]]:
        """Return the tables of all views, their probabilities inside (0, 1)."""
        return [
            inside(table, view.least)
            for view, tables in zip(self.views, found, strict=True)
            for table in tables
        ]


class PooledShares(Shares):
    """The log-odds of pooled confidences as sums of the parts of all views.

    Parameters
    ----------
    view : PooledView
    shares : list of Shares
        Of each table of the views.
    least : list of float
        How near to 0 and 1 the pool takes the confidences of each.
    known : int8 array of shape (n, n_labels), optional
    """

    scale = "log-odds"

    def __init__(
        self,
        view: PooledView,
        shares: list[Shares],
        least: list[float],
        known: NDArray[np.int8] | None,
    ) -> None:
        self.view, self.shares, self.least, self.known = view, shares, least, known
        tables = [inside(own.confidence, bound) for own, bound in zip(shares, least, strict=True)]
        starts = [inside(own.starts, bound)[None] for own, bound in zip(shares, least, strict=True)]
        pooled, start = view.pool.pool(tables), view.pool.pool(starts)
        self.odds, self.starts = view.links.log_odds(pooled, known), view.links.log_odds(start)[0]
        self.pooled, self.pooled_start = pooled, logit(start)[0]
        self.confidence = expit(self.odds)

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Parts:
        """Return the parts of the log-odds of one label: those of all views, weighted.

        What is likely of other labels counts as far as the last stage reads it, and is passed
        through to the columns that make it likely. What known labels say is theirs; what is too
        small to be passed through is left to the label itself.
        """
        pool, links, n = self.view.pool, self.view.links, len(rows)
        known = None if self.known is None else self.known[rows]
        trust, calibration, _ = (links.start[label] + links.changes_of(known, n)).T
        ends = evidence(self.pooled[rows], known)
        slopes = trust[:, None] * links.seen.slopes(label, self.pooled_start, ends)
        slopes[:, label] += 1 + calibration - trust
        effects, labels = slopes * (ends - self.pooled_start), np.zeros_like(slopes)
        if known is not None:
            labels = np.where(known < 0, 0.0, effects)
            labels += surprises(self.pooled[rows], known) * links.weights[[label]].toarray()
            slopes = np.where(known < 0, slopes, 0.0)
        sizes = np.abs(effects)
        sizes[:, label] = np.inf
        least = np.sort(sizes, axis=1)[:, [-min(len(self.starts), MOST_PASSED)]]
        slopes = np.where(sizes >= np.maximum(least, LEAST_PASSED), slopes, 0.0)
        columns: Any = None
        for v, (shares, bound) in enumerate(zip(self.shares, self.least, strict=True)):
            weights = slopes * pool.weights[:, v]
            if columns is None or weights.any():
                found = shares.of_log_odds(rows, weights, label, bound)
                columns = found if columns is None else columns + found
        parts = Parts(np.full(n, self.starts[label]), columns, labels)
        labels[:, label] += self.odds[rows, label] - parts.total()
        return parts


def label_frequency(rows: TrainingRows) -> NDArray[np.float64]:
    """Return how frequent labels are in training, inside (0, 1)."""
    n = len(rows.Y)
    if rows.cells is not None:
        cells: Any = rows.cell_weights()
        n_known, ones = cells.sum(axis=0), (cells * rows.Y).sum(axis=0)
        found = (ones + 0.5) / (n_known + 1)
        return np.where(n_known > 0, found, (ones.sum() + 0.5) / (n_known.sum() + 1))
    weights = np.ones(n) if rows.weights is None else rows.weights * n / rows.weights.sum()
    # In blocks: a product with the whole table would make a table of floats of it.
    ones = sum(weights[block] @ rows.Y[block] for block in blocks(n, BLOCK_ROWS))
    return (ones + 0.5) / (n + 1)


def plan_for(
    learner: Any, rows: TrainingRows, cover: Cover, plan: Any, aggregate: str = "mean"
) -> Plan:
    """Return the plan of a learner for training rows; `plan` is that of the estimator."""
    given = plan if isinstance(plan, Plan) else None
    only_left_out = given is None and check_choice("plan", plan, (AUTO, LEFT_OUT)) == LEFT_OUT
    if learner.view != POOL:
        if given is not None:
            raise ValueError(f'plan must be "auto" where estimator is {learner!r}, got {plan!r}.')
        n, m = rows.Y.shape
        reason = f"estimator is {getattr(learner, 'estimator', learner)!r}"
        if learner.view == MEMBERS:
            reason += f", combined by {aggregate!r}"
        n_left_out = n if only_left_out else n_left_out_rows(n, most_targets(cover, n, m))
        few_trees = learner.view == "forest" and only_left_out and m < MANY_LABELS
        view = ViewPlan(learner.view, reason, {"n_trees": LEFT_OUT_TREES} if few_trees else {})
        return Plan((view,), n_left_out, only_left_out, is_pooled=False)
    facts = TableFacts.of_rows(rows)
    if given is not None:
        return given.for_rows(facts)
    with_logistic = learner.logistic is not None
    return plan_views(facts, with_logistic=with_logistic, only_left_out=only_left_out)


def view_for(
    learner: Any, plan: Plan, cover: Cover, *, aggregate: str = "mean", unknown: bool = False
) -> Any:
    """Return the unfitted view of a plan: a pool of views, or the only one.

    Where labels are unknown, members are fitted on rows of their own.
    """
    learners = learner.learners() if plan.is_pooled else {plan.views[0].name: learner}
    made, views = {**VIEWS, MEMBERS: KnownRowsView} if unknown else VIEWS, []
    for each in plan.views:
        how = {"aggregate": aggregate, "quick": plan.quick, **each.parameters}
        view = made[each.name](learners, cover, **how)
        views.append(BlockView(view, each.columns) if each.columns else view)
    return PooledView(plan, views, cover) if plan.is_pooled else views[0]
