"""The default predictor: several views of a table, weighed by their left-out predictions."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import compress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit
from sklearn.utils.parallel import delayed

from labelcover._table_numbers import blocks
from labelcover.covers import Cover
from labelcover.ensemble._cover_view import CoverView
from labelcover.ensemble._links import Links, evidence, fit_links, surprises
from labelcover.ensemble._log_linear_pool import LogLinearPool, fit_pool, inside, useful_blocks
from labelcover.ensemble._plan import MEMBERS, N_FOLDS, POOL, SCORE_TOLERANCE, Plan, draw_left_out
from labelcover.ensemble._shares import Parts, Shares, Similar
from labelcover.ensemble._view import (
    Block,
    Checked,
    TableAnswer,
    TrainingRows,
    View,
    draw_seeds,
    drawn_seed,
)
from labelcover.ensemble._views import VIEWS
from labelcover.learners import (
    LabelBoosting,
    LabelForest,
    LabelLearner,
    LeastSquaresClassifier,
    LogisticClassifier,
    in_parallel,
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
    blocks : list of Block or None
        The columns that each of these reads; None for all.
    view_names : list of str
        What the tables of the views are called, in the order of the pool's weights.
    pool : LogLinearPool
        The weights of the tables of confidences that the views give.
    links : Links
        What labels say of each other.
    unused : list of str
        Columns whose views were dropped, as left-out predictions are no better with them.
    """

    takes_known = True
    blocks: list[Block | None]
    view_names: list[str]
    pool: LogLinearPool
    links: Links
    unused: list[str]

    def __init__(self, plan: Plan, views: list[Any], cover: Cover) -> None:
        self.plan, self.views, self.cover = plan, views, cover

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
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
        columns = [each.columns for each in self.plan.views]
        read = [rows.of_columns(own) if own else (None, rows) for own in columns]
        self.blocks = [block for block, _ in read]
        fits = zip(self.views, read, seeds, strict=True)
        jobs = [delayed(view.fit)(table, own, **how) for view, (_, table), own in fits]
        self.views = list(in_threads(jobs, n_jobs if self.plan.side_by_side else 1))
        left_out, Y, frequency = rows.left_out, rows.Y, label_frequency(rows)
        own = rows.cell_weights(left_out)
        tables = self._keep_useful(rows, Y[left_out], frequency, own)
        self.pool = fit_pool(tables, Y[left_out], frequency, own)
        # Labels that are never known to be absent have their frequency.
        one_sided = np.zeros(Y.shape[1], dtype=bool)
        if rows.cells is not None:
            one_sided = ((rows.cells > 0) <= Y).all(axis=0)
        self.pool.weights[one_sided] = 0.0
        self.pool.intercept[one_sided] = 0.0
        pooled = self.pool.pool(tables)
        how = {"cells": rows.cells, "seed": seed}
        self.links, odds = fit_links(
            Y, left_out, pooled, self.cover, frequency, rows.weights, **how
        )
        self.links.start[one_sided] = 0.0
        odds[:, one_sided] = logit(pooled[:, one_sided])
        self._left_out = left_out, [expit(odds)]
        return self

    def _keep_useful(self, rows: TrainingRows, *left_out: Any) -> list[Any]:
        """Drop views of columns that say nothing new; return the left-out tables of the others."""
        columns = [each.columns for each in self.plan.views]
        tables = [[inside(P, view.least) for P in view.left_out(rows)[1]] for view in self.views]
        of_columns: dict[tuple[str, ...], list[Any]] = {own: [] for own in columns}
        for own, found in zip(columns, tables, strict=True):
            of_columns[own] += found
        kept = list(of_columns) if len(of_columns) == 1 else useful_blocks(of_columns, *left_out)
        self.unused = [", ".join(own) for own in of_columns if own not in kept]
        useful = [own in kept for own in columns]
        every = (columns, self.views, self.blocks, tables)
        columns, self.views, self.blocks, tables = (list(compress(each, useful)) for each in every)
        named = [
            (name, own)
            for own, view in zip(columns, self.views, strict=True)
            for name in view.names
        ]
        self.view_names = [f"{name} on {', '.join(own)}" if own else name for name, own in named]
        return [table for found in tables for table in found]

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
        read = self.read_by_views(X)
        return [inside(P, view.least) for view, own, _ in read for P in view.confidences(own)]

    def read_by_views(self, X: Any) -> Iterator[tuple[Any, Any, Block | None]]:
        """Yield the views, each with the table as it reads it, and with its columns."""
        for view, block in zip(self.views, self.blocks, strict=True):
            yield view, X if block is None else block.read(X), block

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums: the reason of the first view that has one."""
        return next((view.no_shares for view in self.views if view.no_shares), "")

    def shares(self, X: Any, known: NDArray[np.int8] | None = None) -> list[Shares]:
        """Return what adds up to the log-odds of the pooled confidences, given what is known."""
        return [PooledShares(self, X, known)]

    def similar(self, X: Any, n: int) -> Similar | None:
        """Return the training rows most like new ones, by the first view that knows them."""
        asked = (view.similar(own, n) for view, own, _ in self.read_by_views(X))
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


class PooledShares(Shares):
    """The log-odds of pooled confidences as sums of the parts of all views.

    Of each table of the views there are its shares, how near to 0 and 1 the pool takes its
    confidences, and the columns that it is of.
    """

    scale = "log-odds"

    def __init__(self, view: PooledView, X: Any, known: NDArray[np.int8] | None) -> None:
        self.view, self.known, self.n_columns = view, known, X.shape[1]
        read = view.read_by_views(X)
        self.tables: list[tuple[Shares, float, Block | None]] = [
            (shares, each.least, block) for each, own, block in read for shares in each.shares(own)
        ]
        ends = [inside(shares.confidence, least) for shares, least, _ in self.tables]
        starts = [inside(shares.starts, least)[None] for shares, least, _ in self.tables]
        pooled, start = view.pool.pool(ends), view.pool.pool(starts)
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
        for v, (shares, bound, block) in enumerate(self.tables):
            weights = slopes * pool.weights[:, v]
            if columns is None or weights.any():
                found = shares.of_log_odds(rows, weights, label, bound)
                if block is not None:  # all other columns add nothing
                    own, shape = sparse.csr_array(found), (n, self.n_columns)
                    at = block.features[own.indices]
                    found = sparse.csr_array((own.data, at, own.indptr), shape=shape)
                columns = found if columns is None else columns + found
        parts = Parts(np.full(n, self.starts[label]), columns, labels)
        labels[:, label] += self.odds[rows, label] - parts.total()
        return parts


class KnownRowsView(View):
    """A member per labelset of a cover, fitted on the rows in which all of its labels are known.

    What members say of a label is averaged, as in `CoverView`.

    Attributes
    ----------
    members : list of CoverView
        One for each labelset, whose labels are numbered from 0.
    """

    members: list[CoverView]

    def __init__(self, learners: Any, cover: Cover, *, aggregate: str, **_: Any) -> None:
        self.learner, self.cover, self.aggregate = learners[MEMBERS], cover, aggregate

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit the members one by one."""
        self.labelsets = [own[own >= 0].astype(np.int64) for own in self.cover.labelsets]
        seeds = draw_seeds(seed, len(self.labelsets))
        parts = [self._rows_of(rows, labels) for labels in self.labelsets]
        covers = [[Cover([range(len(labels))], len(labels))] for labels in self.labelsets]
        jobs = (
            delayed(CoverView(self.learner, cover, aggregate=self.aggregate).fit)(own, int(each))
            for cover, own, each in zip(covers, parts, seeds, strict=True)
        )
        how: dict[str, Any] = {"text": "fitting members", "verbose": verbose}
        self.members = list(in_parallel(jobs, n_jobs, require="sharedmem", **how))
        return self

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return ``(n, n_labels)``: the mean over the members that hold a label."""
        sums = np.zeros((X.shape[0], self.cover.n_labels))
        for labels, member in zip(self.labelsets, self.members, strict=True):
            sums[:, labels] += member.confidences(X)[0]
        return [sums / np.maximum(self.cover.label_counts, 1)]

    no_shares = "members were fitted on rows of their own, where labels are not known"

    def _rows_of(self, rows: TrainingRows, labels: NDArray[np.int64]) -> TrainingRows:
        """Return the rows that know all of some labels, with these labels only."""
        assert rows.cells is not None
        cells = rows.cells[:, labels].min(axis=1)
        known = np.flatnonzero(cells > 0)
        if not len(known):
            raise ValueError(
                f"cover must have labelsets whose labels are all known in some row, which the "
                f"labels {labels.tolist()} are not: choose a smaller k."
            )
        own, weights = rows.rows(known), cells[known]
        if own.weights is not None:
            weights = weights * own.weights
        equal = bool((weights == weights[0]).all())
        return replace(
            own,
            Y=np.ascontiguousarray(own.Y[:, labels]),
            weights=None if equal else weights / weights.mean(),
            cells=None,
        )


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
        views.append(made[each.name](learners, cover, **how))
    return PooledView(plan, views, cover) if plan.is_pooled else views[0]
