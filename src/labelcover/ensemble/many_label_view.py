"""The views of `ManyLabelPool`, fitted: candidates of rows with their probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray
from sklearn.utils.parallel import delayed

from labelcover.covers import Cover
from labelcover.ensemble.candidate_kernels import true_candidates
from labelcover.ensemble.candidate_labels import Candidates, check_fits
from labelcover.ensemble.cell_regression import (
    ODDS_OF_SHARES,
    CellRegression,
    cell_inputs,
    fit_cells,
    log_loss_of_cells,
    one_input,
)
from labelcover.ensemble.labelset_lifts import LabelsetLifts, fit_lifts
from labelcover.ensemble.many_labels import ManyLabelPool
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.candidates.candidate_forest import CandidateForest, csr_of
from labelcover.learners.candidates.candidate_machines import (
    CandidateMachines,
    train_on_candidates,
)
from labelcover.learners.candidates.label_means import NOTHING, LabelMeans
from labelcover.learners.problems import in_parallel

# Of the candidates of a row, this share comes from the means of labels.
SHARE_OF_MEANS = 0.6
# Rows that are looked at in one call.
BLOCK_ROWS = 4_096
# Scores of machines for training rows come from so many folds.
N_FOLDS = 3
# The weights of the views, and the decision, are fitted on no more rows than these.
MOST_UNSEEN = 5_000
# The cost of errors that is tried first, the factor of the next ones, and the greatest and least;
# the machines of no more labels than these are trained for it.
FIRST_COST, COST_STEP, COSTS = 1.0, 10.0**0.5, (0.01, 100.0)
CHOICE_LABELS = 5_000
# A tree is grown without so many of its training rows, on average.
OUT_OF_BAG = 0.37


class Found(NamedTuple):
    """The candidates of some rows, with what means and forest say of them."""

    candidates: NDArray[np.int32]
    shares: NDArray[np.float32]
    cosines: NDArray[np.float32]


class ManyLabelView:
    """A `ManyLabelPool`, fitted.

    Attributes
    ----------
    forest : CandidateForest
    means : LabelMeans
    machines : CandidateMachines
    C : float
        The cost of an error of the machines.
    cells : CellRegression
        How likely candidates are, by all views.
    lifts : LabelsetLifts
    correction : CellRegression
        On the log-odds by `cells` and their change by `lifts`.
    counts : ndarray of shape (n_labels,)
        How many training rows each label has.
    recall : float
        The share of true labels that are candidates, of training rows not seen.
    left_out : tuple or None
        Some training rows, and their candidates by models fitted without them, if kept.
    """

    forest: CandidateForest
    means: LabelMeans
    machines: CandidateMachines
    C: float
    cells: CellRegression
    lifts: LabelsetLifts
    correction: CellRegression
    counts: NDArray[np.float64]
    recall: float
    left_out: Any

    def __init__(self, learner: ManyLabelPool, cover: Cover) -> None:
        self.learner, self.cover = learner, cover

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> ManyLabelView:
        """Fit all views, then their weights on rows they have not seen."""
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        Y, n = training.Y, training.Y.shape[0]
        weights, drawn = np.ones(n), None
        if training.weights is not None and np.ptp(training.weights) > 0:
            drawn = weights = training.weights / training.weights.mean()
        self.counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
        self.forest = CandidateForest(training.X, Y, training.n_values)
        self.forest.grow_all(int(self.learner.n_trees), drawn, int(seeds[0]), **how)
        table = self.forest.table
        self.means = LabelMeans(csr_of(table, self.forest.n_features), Y, weights)
        found = self._found(table, (self.forest.labels, weights), **how)
        truth = true_candidates(found.candidates, Y.indices, Y.indptr)

        random = np.random.default_rng(seeds[1])
        unseen = np.sort(random.permutation(n)[:MOST_UNSEEN])
        scores = self._fit_machines(table, found.candidates, truth, Y, weights, random, how)
        alike = _rows_are_alike(table)
        P = self._fit_cells(found, scores, truth, weights, unseen, alike)
        self.lifts = fit_lifts(self.cover, found.candidates, P, truth, weights)
        own = found.candidates[unseen], truth[unseen], weights[unseen]
        P = self._fit_correction(P[unseen], *own, alike)
        del self.forest.table

        labels_of = np.diff(Y.indptr)[unseen]
        hits = float(weights[unseen] @ truth[unseen].sum(axis=1))
        self.recall = (hits + 0.5) / (float(weights[unseen] @ labels_of) + 1)
        frequency = (weights @ Y + 0.5) / (n + 1)
        self.others = np.clip(frequency * (1 - self.recall), 1e-12, 0.5)
        kept = Candidates.ranked(own[0], P, self.others)
        self.left_out = (unseen, kept) if keep_left_out else None
        return self

    @property
    def n_seeds(self) -> int:
        """One for the forest, and one for folds and machines."""
        return 2

    def candidates(self, X: Any) -> Candidates:
        """Return the candidates of new rows, with their confidences."""
        parts = []
        for rows in _blocks(X.shape[0]):
            table = self.forest.read(X[rows])
            found = self._found(table, NOTHING)
            every = np.arange(len(found.candidates))
            scores = self.machines.scores(table, self.forest.n_features, every, found.candidates)
            P = self.cells.probability(self._inputs(found, scores))
            P = self.correction.probability(self._changed(P, found.candidates))
            parts.append(Candidates.ranked(found.candidates, P, self.others))
        most = int(self.learner.n_candidates)
        labels = [np.zeros((0, most), np.int32), *(part.labels for part in parts)]
        confidence = [np.zeros((0, most)), *(part.confidence for part in parts)]
        return Candidates(np.concatenate(labels), np.concatenate(confidence), self.others)

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the confidences of all labels of new rows, if they fit into memory."""
        check_fits(X.shape[0], len(self.others))
        return [self.candidates(X).dense_table()]

    def told(self) -> str:
        """Return in words what was found, for people to read."""
        weight = self.correction.weights[1]
        return (
            f"{self.learner.n_candidates} candidates (with {self.recall:.0%} of the true labels), "
            f"means, {len(self.forest.trees)} trees and machines (C: {self.C:.3g}), "
            f"labelsets with weight {weight:.2f}"
        )

    def _found(self, table: Any, own: Any, n_jobs: int | None = 1, verbose: bool = False) -> Found:
        """Return the candidates of all rows of a table; training rows are left out of all views."""
        n, most = len(table[2]) - 1, int(self.learner.n_candidates)
        from_means = max(1, int(SHARE_OF_MEANS * most))
        leaves = self.forest.leaves(table, training=len(own[1]) > 0)

        def find(rows: slice) -> Found:
            which = np.arange(rows.start, rows.stop)
            given = self.means.likeliest(table, which, from_means, own)
            candidates, shares = self.forest.shares(leaves[rows], given, most)
            return Found(candidates, shares, self.means.cosines(table, which, candidates, own))

        parts = in_parallel(
            (delayed(find)(rows) for rows in _blocks(n)),
            get_num_threads() if n_jobs is None else n_jobs,
            text="finding candidates",
            verbose=verbose,
            require="sharedmem",
        )
        return Found(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _fit_machines(self, table, candidates, truth, Y, weights, random, how):
        """Fit the machines; return the scores of training rows by machines without their fold."""
        n, d = len(candidates), self.forest.n_features
        fold = random.permutation(n) % min(N_FOLDS, n)
        seed, some = int(random.integers(2**31 - 1)), random.permutation(Y.shape[1])

        def trained(asked, labels, costs):
            return train_on_candidates(table, d, asked, labels, costs, seed, **how)

        if self.learner.C is None:
            asked, few = _some_labels(candidates, Y, np.sort(some[:CHOICE_LABELS]))
            left = np.flatnonzero(fold == 0)
            cells = asked[left] >= 0
            y, w = truth[left][cells], np.repeat(weights[left], cells.sum(axis=1))

            def loss(C: float) -> float:
                machines = trained(asked, few, np.where(fold == 0, 0, C * weights))
                scores = machines.scores(table, d, left, asked[left])[cells]
                return log_loss_of_cells(scores[:, None].astype(np.float64), y, w)

            self.C = _least(loss) if len(y) else FIRST_COST
        else:
            self.C = float(self.learner.C)
        scores = np.zeros(candidates.shape, np.float32)
        for one in range(int(fold.max()) + 1):
            left = np.flatnonzero(fold == one)
            machines = trained(candidates, Y, np.where(fold == one, 0, self.C * weights))
            scores[left] = machines.scores(table, d, left, candidates[left])
        self.machines = trained(candidates, Y, self.C * weights)
        return scores

    def _inputs(self, found: Found, scores: NDArray[np.float32]) -> NDArray[np.float64]:
        counts = self.counts[np.maximum(found.candidates, 0)]
        n_votes = OUT_OF_BAG * len(self.forest.trees)
        return cell_inputs(found.cosines, found.shares, scores, counts, n_votes)

    def _fit_cells(self, found, scores, truth, weights, unseen, alike):
        """Fit the regression of views on some rows; return the probabilities of all.

        Where all rows are alike, views of a row left out tell only that it is: the shares in the
        leaves, which are frequencies, are the answer.
        """
        some = Found(*(each[unseen] for each in found))
        cells = some.candidates >= 0
        w = np.repeat(weights[unseen], cells.sum(axis=1))
        inputs = self._inputs(some, scores[unseen])[cells]
        if alike:
            self.cells = one_input(ODDS_OF_SHARES, inputs.shape[1])
        else:
            self.cells = fit_cells(inputs, truth[unseen][cells], w)
        P = np.empty(scores.shape)
        for rows in _blocks(len(P)):
            part = Found(*(each[rows] for each in found))
            P[rows] = self.cells.probability(self._inputs(part, scores[rows]))
        return P

    def _fit_correction(self, P, candidates, truth, weights, alike):
        """Fit how far labelsets change the probabilities; return the changed ones."""
        inputs = self._changed(P, candidates, (truth, weights))
        cells = candidates >= 0
        w = np.repeat(weights, cells.sum(axis=1))
        self.correction = one_input(0, 2) if alike else fit_cells(inputs[cells], truth[cells], w)
        return self.correction.probability(inputs)

    def _changed(self, P, candidates, own=None):
        """Return log-odds, and what labelsets would change in them."""
        odds = np.log(P) - np.log1p(-P)
        return np.stack([odds, self.lifts.changes(candidates, P, own)], axis=-1)


def _rows_are_alike(table: tuple[NDArray, NDArray, NDArray]) -> bool:
    """Tell whether all rows of a CSR table are the same."""
    data, indices, starts = table
    widths = np.diff(starts)
    if np.ptp(widths) > 0:
        return False
    values, columns = (each.reshape(len(widths), -1) for each in (data, indices))
    return bool((values == values[0]).all() and (columns == columns[0]).all())


def _some_labels(candidates, Y, labels):
    """Return candidates and label table with some of the labels only, numbered anew."""
    number = np.full(Y.shape[1] + 1, -1, dtype=np.int32)
    number[labels] = np.arange(len(labels))
    return number[candidates], Y[:, labels]


def _least(loss: Any) -> float:
    """Return the cost with the least loss; the search goes up while that helps, else down."""
    best = FIRST_COST
    least = loss(best)
    for step in (COST_STEP, 1 / COST_STEP):
        moved = False
        while COSTS[0] < best * step < COSTS[1]:
            value = loss(best * step)
            if value >= least:
                break
            best, least, moved = best * step, value, True
        if moved:
            break
    return best


def _blocks(n: int) -> Iterator[slice]:
    for start in range(0, n, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, n))
