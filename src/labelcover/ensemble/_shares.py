"""Scores of labels as sums: what features, training rows and other labels add to them.

The score of the default pool is the log-odds of its confidence (`log_linear_pool`), which are
linear in the log-odds of the views. These are split further:

- least squares on single labels: two classes, so its log-odds are a sum over features (linear
  kernel) or training rows (`labelcover.learners._least_squares.score_parts`);
- logistic regressions: their log-odds are a sum over features; least squares on their scores is
  not split further;
- least squares on labelsets: its log-odds less those of the single label are the mean effect of
  the labelsets that hold the label; that of each is divided among its other labels;
- the forest: its confidence is a sum over the splits of its trees (`FeatureForest`), unless they
  split on all features at once, as those for many labels do: these are one reason;
- the nearest training rows: their confidence is a sum over these.

A function ``f`` between a sum and the log-odds (probabilities are kept inside (0, 1)) does not
break this: the shares of ``b − a`` are multiplied by ``(f(b) − f(a)) / (b − a)``. What is left is
the effect of the labelsets that occur in training.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from labelcover.ensemble._cover_view import CoverView
from labelcover.ensemble._encoding import Encoding
from labelcover.ensemble._log_linear_pool import inside as inside_by
from labelcover.ensemble._pool import PooledView
from labelcover.ensemble._views import (
    ForestView,
    LogisticView,
    NeighboursView,
    ScoresView,
)
from labelcover.ensemble._views._single_labels import LEAST
from labelcover.learners import (
    FeatureForest,
    ForestPaths,
    LeastSquaresMembers,
    LogisticWeights,
    ScoreParts,
    one_hot_columns,
)

Floats = NDArray[np.float64]


def inside(P: Floats) -> Floats:
    """Return probabilities as the pool takes those of linear views."""
    return inside_by(P, LEAST)


# Below this distance a slope is a derivative: a quotient would lose its digits.
CLOSE = 1e-7


@dataclass
class Shares:
    """The score of one label in some rows, and all that adds up to it.

    Attributes
    ----------
    start : ndarray of shape (n,)
        The score before anything of the row is known.
    features : ndarray of shape (n, n_features)
    rows : ndarray of shape (n, n_training_rows)
        Shares of training rows, or no column.
    labels : ndarray of shape (n, n_labels)
        Shares of the other labels, by the labelsets that they are in together.
    labelsets : ndarray of shape (n,)
        The share of which labelsets occur in training.
    neighbours : ndarray of shape (n, n_training_rows)
        Shares of the nearest training rows, or no column.
    views : dict of str to ndarray of shape (n,)
        Shares of views that are not split further.
    """

    start: Floats
    features: Floats
    rows: Floats
    labels: Floats
    labelsets: Floats
    neighbours: Floats
    views: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def none(cls, n: int, n_features: int, n_labels: int) -> Shares:
        """Return shares of 0."""
        empty = np.zeros((n, n_features)), np.zeros((n, 0)), np.zeros((n, n_labels))
        return cls(np.zeros(n), *empty, np.zeros(n), np.zeros((n, 0)))

    def add_parts(self, start: Floats | float, shares: Floats, *, of_rows: bool) -> None:
        """Add a start and the shares of features or training rows."""
        self.start = self.start + start
        if of_rows:
            self.rows = self.rows + shares if self.rows.shape[1] else shares
        else:
            self.features = self.features + shares

    def total(self) -> Floats:
        """Return the score that the shares add up to."""
        sums = self.start + self.labelsets
        for table in (self.features, self.rows, self.labels, self.neighbours):
            sums = sums + table.sum(axis=1)
        return sums + sum(self.views.values(), np.zeros(len(sums)))


class ShareTable:
    """The shares of any label in the scores of some rows, by a fitted view.

    Parameters
    ----------
    view : PooledView, ForestView or CoverView of least squares members
    X : ndarray or CSR matrix
        As the view reads it.
    n_labels : int

    Attributes
    ----------
    is_log_odds : bool
        Whether the score is the log-odds of the confidence, not the confidence itself.
    likeliest : ndarray of shape (n, n_labels) or None
        The likeliest labelset of each row, of those that occur in training.
    near_rows : ndarray
        The training rows that the columns of `Shares.neighbours` stand for.
    """

    def __init__(self, view: Any, X: Any, n_labels: int) -> None:
        self.view, self.n, self.n_labels = view, X.shape[0], n_labels
        self.is_log_odds = isinstance(view, PooledView)
        self.likeliest: NDArray[np.uint8] | None = None
        self.near_rows = np.empty(0, np.int64)
        views = view.views if isinstance(view, PooledView) else [view]
        self.linear = _first(views, CoverView, besides=LogisticView)
        scores = _first(views, ScoresView)
        self.logistic = scores.logistic if scores else _first(views, LogisticView)
        self.trees, self.near_view = _first(views, ForestView), _first(views, NeighboursView)
        self.parts = ScoreParts(self.linear.members, X) if _is_split(self.linear) else None
        self.paths = ForestPaths(self.trees.forest, X) if _has_paths(self.trees) else None
        n_values = self._n_values()
        source = np.arange(X.shape[1]) if sparse.issparse(X) else one_hot_columns(n_values)[0]
        # What turns columns into the features that they are made of.
        entries = (np.ones(len(source)), (np.arange(len(source)), source))
        self.to_features = sparse.csr_array(entries, shape=(len(source), X.shape[1]))
        self.weights = LogisticWeights(self.logistic.members, X) if self.logistic else None
        self.near = None
        if isinstance(view, PooledView):
            if self.near_view is not None and self.near_view.has_all_rows:
                self.near = self.near_view.nearest.votes(X)
                self.near_rows = self.near_view.nearest.rows
            self.tables = view.confidences_of_views(X)
            self.pooled = view.pool.pool(self.tables)
            self.marginals = inside(view.posterior.marginals(self.pooled))
            self.likeliest = view.posterior.likeliest(self.pooled)

    def _n_values(self) -> NDArray[np.int32]:
        if self.parts is not None:
            return self.linear.members.features.n_values
        if self.logistic is not None:
            return self.logistic.members.n_values
        return self.trees.forest.n_values

    def _table_of(self, view: Any) -> int:
        """Return the number of the first table of a view."""
        before = 0
        for each in self.view.views:
            if each is view:
                return before
            before += len(each.names)
        raise KeyError(view)

    def of_label(self, label: int, rows: NDArray[np.int64]) -> Shares:
        """Return the shares of a label in the scores of some of the rows."""
        shares = Shares.none(self.n, self.to_features.shape[1], self.n_labels)
        if isinstance(self.view, PooledView):
            self._add_pooled(shares, self.view, label)
        elif self.paths is not None:
            start, columns = self.paths.of_label(label)
            shares.add_parts(start, columns @ self.to_features, of_rows=False)
        else:
            self._add_mean(shares, self.view.encodings[0], label)
        return _taken(shares, rows)

    def _add_pooled(self, shares: Shares, view: PooledView, j: int) -> None:
        base, own = view.pool.base[j], view.correction.weights[j]
        # The marginals are those of the pool plus what labelsets change.
        pooled, marginals = logit(self.pooled[:, j]), logit(self.marginals[:, j])
        shares.labelsets += own[1] * (marginals - pooled)
        weight = float(own.sum())
        shares.start += base + view.correction.intercept[j] + weight * view.pool.intercept[j]
        weights = weight * view.pool.weights[j]
        left = set(range(len(self.tables)))
        if self.parts is not None:
            at = self._table_of(self.linear)
            covers = len(self.linear.covers)
            self._add_single(shares, view, j, weights[at : at + covers].sum())
            if covers == 2:
                self._add_labelsets(shares, self.linear.encodings[0], j, weights[at])
            left -= set(range(at, at + covers))
        if self.weights is not None:
            at = self._logistic_table()
            self._add_logistic(shares, view, j, weights[at])
            left.remove(at)
        if self.paths is not None:
            at = self._table_of(self.trees)
            self._add_forest(shares, view, j, weights[at])
            left.remove(at)
        if self.near is not None:
            at = self._table_of(self.near_view)
            self._add_neighbours(shares, j, weights[at])
            left.remove(at)
        for v in sorted(left):
            shares.views[view.view_names[v]] = weights[v] * (logit(self.tables[v][:, j]) - base)

    def _logistic_table(self) -> int:
        return [name for view in self.view.views for name in view.names].index("logistic")

    def _add_single(self, shares: Shares, view: PooledView, j: int, weight: float) -> None:
        """Add what least squares on the single label says, for every view that starts from it."""
        assert self.parts is not None
        v = self._table_of(self.linear) + len(self.linear.covers) - 1
        found = two_classes(self.linear.encodings[-1], j)
        parts = None if found is None else self.parts.of_log_odds(*found)
        self._add_odds(shares, view, j, v, weight, parts, of_rows=self.parts.of_rows)

    def _add_logistic(self, shares: Shares, view: PooledView, j: int, weight: float) -> None:
        """Add what the logistic regression of the label says."""
        assert self.weights is not None
        v = self._logistic_table()
        found = two_classes(self.logistic.encodings[0], j)
        parts = None if found is None else self.weights.of_log_odds(*found)
        self._add_odds(shares, view, j, v, weight, parts, of_rows=False)

    def _add_odds(
        self,
        shares: Shares,
        view: PooledView,
        j: int,
        v: int,
        weight: float,
        found: tuple[float, Floats] | None,
        *,
        of_rows: bool,
    ) -> None:
        """Add log-odds that are a sum of parts; None where the label is constant."""
        base, odds = view.pool.base[j], logit(self.tables[v][:, j])
        if found is None:
            shares.start += weight * (odds - base)
            return
        start, parts = found

        def inner(x: Floats) -> Floats:
            return logit(inside(expit(x)))

        first = inner(np.array(start))
        slope = _slopes(inner, np.full(self.n, start), start + parts.sum(axis=1), odds - first)
        parts = weight * slope[:, None] * (parts if of_rows else parts @ self.to_features)
        shares.add_parts(weight * (first - base), parts, of_rows=of_rows)

    def _add_labelsets(self, shares: Shares, encoding: Encoding, j: int, weight: float) -> None:
        """Add what members say beyond the single label, divided among the labels beside it."""
        single = self._single_probability(j)
        own = self.tables[self._table_of(self.linear)]
        change = logit(own[:, j]) - logit(inside(single))
        members, places = _members_of(encoding, j)
        effects = np.zeros((self.n, self.n_labels))
        for member, place in zip(members.tolist(), places.tolist(), strict=True):
            says = self._member_probability(encoding, member, place)
            labels = encoding.cover.labelsets[member]
            others = labels[(labels >= 0) & (labels != j)]
            if len(others):
                effects[:, others] += ((says - single) / len(members) / len(others))[:, None]
        mean = single + effects.sum(axis=1)
        slope = _slopes(lambda p: logit(inside(p)), single, mean, change)
        shares.labels += weight * slope[:, None] * effects
        # A label in no labelset, or alone in one, has no other label to give its change to.
        shares.labelsets += weight * (change - slope * effects.sum(axis=1))

    def _add_forest(self, shares: Shares, view: PooledView, j: int, weight: float) -> None:
        assert self.paths is not None
        trees = len(self.trees.forest.trees)
        start, columns = self.paths.of_label(j)

        def inner(f: Floats) -> Floats:
            return logit((trees * f + 1) / (trees + 2))

        first = inner(np.array(start))
        change = logit(self.tables[self._table_of(self.trees)][:, j]) - first
        slope = _slopes(inner, np.full(self.n, start), start + columns.sum(axis=1), change)
        parts = weight * slope[:, None] * (columns @ self.to_features)
        shares.add_parts(weight * (first - view.pool.base[j]), parts, of_rows=False)

    def _add_neighbours(self, shares: Shares, j: int, weight: float) -> None:
        nearest = self.near_view.nearest
        assert self.near is not None
        found, votes = self.near
        frequency = nearest.frequency[j]
        # The frequency, and what each neighbour moves it by.
        moves = votes * (nearest.having(j)[found] - frequency)
        starts = np.full(self.n, frequency)
        own = self.tables[self._table_of(self.near_view)]
        first = logit(inside(starts))
        change = logit(own[:, j]) - first
        slope = _slopes(lambda p: logit(inside(p)), starts, starts + moves.sum(axis=1), change)
        shares.neighbours = np.zeros((self.n, len(nearest.rows)))
        places = np.arange(self.n)[:, None], found
        np.add.at(shares.neighbours, places, weight * slope[:, None] * moves)
        shares.start += weight * (first - self.view.pool.base[j])

    def _add_mean(self, shares: Shares, encoding: Encoding, j: int) -> None:
        """Add the mean of the probabilities of the members that hold the label."""
        assert self.parts is not None
        members, places = _members_of(encoding, j)
        if not len(members):
            return
        holds = [_patterns(encoding, m)[:, p] for m, p in zip(members, places, strict=True)]
        start, parts = self.parts.of_probability(encoding.problem[members], holds)
        of_rows = self.parts.of_rows
        shares.add_parts(start, parts if of_rows else parts @ self.to_features, of_rows=of_rows)

    def _single_probability(self, j: int) -> Floats:
        encoding = self.linear.encodings[1]
        members, places = _members_of(encoding, j)
        return self._member_probability(encoding, int(members[0]), int(places[0]))

    def _member_probability(self, encoding: Encoding, member: int, place: int) -> Floats:
        assert self.parts is not None
        problem = int(encoding.problem[member])
        members = self.parts.members
        found = members.distributions(self.parts.prepared, slice(problem, problem + 1))
        return found @ _patterns(encoding, member)[:, place].astype(np.float64)


def check_explained(view: Any, what: str) -> None:
    """Raise a ``ValueError`` if a fitted view cannot be explained."""
    if isinstance(view, PooledView) or _has_paths(view) or _is_split(view):
        return
    raise ValueError(
        f"explain cannot split the confidences of {what}, expected the default estimator, a "
        'LabelForest(splits="features"), or LeastSquaresClassifier members with aggregate="mean".'
    )


def training_labels(view: Any) -> tuple[NDArray[np.int32], NDArray[np.int64]] | None:
    """Return the labels of all training rows, as ``(indices, starts)``, where a forest has them."""
    forest = _first(view.views if isinstance(view, PooledView) else [view], ForestView)
    return forest.forest.labels if forest is not None and forest.has_all_rows else None


def fitted_parts(view: Any) -> tuple[Any, Any]:
    """Return the logistic view and the grown forest of a fitted view; None for what it has not."""
    views = view.views if isinstance(view, PooledView) else [view]
    scores, trees = _first(views, ScoresView), _first(views, ForestView)
    logistic = scores.logistic if scores else _first(views, LogisticView)
    return logistic, None if trees is None else trees.forest


def _first(views: Any, kind: type, *, besides: Any = ()) -> Any:
    """Return the first view of a kind; None if there is none."""
    found = [view for view in views if isinstance(view, kind) and not isinstance(view, besides)]
    return found[0] if found else None


def _is_split(view: Any) -> bool:
    """Return whether confidences are plain means over least squares members."""
    return (
        isinstance(view, CoverView)
        and isinstance(view.members, LeastSquaresMembers)
        and view.aggregate == "mean"
    )


def _has_paths(view: Any) -> bool:
    """Return whether confidences are sums over the splits of single features."""
    return isinstance(view, ForestView) and isinstance(view.forest, FeatureForest)


def _members_of(encoding: Encoding, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the members that hold a label, and its place in each."""
    members, places = np.nonzero(encoding.cover.labelsets == j)
    return members.astype(np.int64), places.astype(np.int64)


def _patterns(encoding: Encoding, member: int) -> NDArray[np.uint8]:
    return encoding.patterns[encoding.starts[member] : encoding.starts[member + 1]]


def two_classes(encoding: Encoding, j: int) -> tuple[int, int] | None:
    """Return the problem of a single label and the class that has it; None with one class."""
    members, places = _members_of(encoding, j)
    values = _patterns(encoding, int(members[0]))[:, places[0]]
    return (int(encoding.problem[members[0]]), int(values.argmax())) if len(values) == 2 else None


def _slopes(f: Callable[[Floats], Floats], a: Floats, b: Floats, change: Floats) -> Floats:
    """Return ``change / (b - a)``, where change is ``f(b) - f(a)``; the derivative if they meet."""
    far = np.abs(b - a) > CLOSE
    middle = (a + b) / 2
    # Probabilities are not moved out of [0, 1], where f is not defined.
    step = np.minimum(CLOSE, np.where(middle > 0.5, np.abs(1 - middle), np.abs(middle)) / 2 + 1e-12)
    slopes = (f(middle + step) - f(middle - step)) / (2 * step)
    return np.where(far, change / np.where(far, b - a, 1.0), slopes)


def _taken(shares: Shares, rows: NDArray[np.int64]) -> Shares:
    return Shares(
        shares.start[rows],
        shares.features[rows],
        shares.rows[rows],
        shares.labels[rows],
        shares.labelsets[rows],
        shares.neighbours[rows],
        {name: values[rows] for name, values in shares.views.items()},
    )
