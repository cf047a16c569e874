"""Candidates of rows with their probabilities, by means, trees and linear SVMs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.parallel import delayed

from labelcover.covers import Cover
from labelcover.learners import MeanForest, ReadTable, csr_arrays, in_threads
from labelcover.many_labels._candidate_kernels import candidate_shares
from labelcover.many_labels._candidate_links import (
    ODDS_OF_SHARES,
    CandidateLinks,
    CellRegression,
    cell_inputs,
    fit_candidate_links,
    fit_cells,
    log_loss_of_cells,
    one_input,
)
from labelcover.many_labels._candidate_views import (
    NOTHING,
    LabelMeans,
    svm_scores,
    train_on_candidates,
)
from labelcover.many_labels._candidates import Candidates, joined, true_candidates

# Of the candidates of a row, this share comes from the means of labels.
SHARE_OF_MEANS = 0.6
# Rows that are looked at in one call.
BLOCK_ROWS = 4_096
# Scores of linear SVMs for training rows come from so many folds.
N_FOLDS = 3
# The weights of the views, and the decision, are fitted on no more rows than these.
MOST_LEFT_OUT = 5_000
# The cost of errors that is tried first, the factor of the next ones, and the greatest and least;
# the SVMs of no more labels than these are trained for it.
FIRST_COST, COST_STEP, COSTS = 1.0, 10.0**0.5, (0.01, 100.0)
CHOICE_LABELS = 5_000
# A tree is grown without so many of its training rows, on average.
OUT_OF_BAG = 0.37
# Least number of draws in a leaf.
MIN_LEAF = 2


class Found(NamedTuple):
    """The candidates of some rows, with what means and forest say of them."""

    candidates: NDArray[np.int32]
    shares: NDArray[np.float32]
    cosines: NDArray[np.float32]


class CandidateModel:
    """Candidate labels of rows, and how likely they are.

    Parameters
    ----------
    cover : Cover
        Known labels speak for and against those that share a labelset with them.
    n_candidates : int
        Candidates of a row. Of these, six in ten come from the means, the others from the forest.
    n_trees : int
    C : float, optional
        Cost of an error of the linear SVMs; by default the one with the least log-loss on left-out
        rows, for a part of the labels.

    Attributes
    ----------
    forest : MeanForest
        Asked for the likeliest labels of rows.
    means : LabelMeans
    svms : tuple
        The weights of linear SVMs, from `train_on_candidates`.
    cells : CellRegression
        How likely candidates are, by means, trees and SVMs.
    links : CandidateLinks
        What known labels say of candidates.
    counts : ndarray of shape (n_labels,)
        How many training rows each label has.
    recall : float
        The share of true labels that are candidates, of left-out training rows.
    """

    forest: MeanForest
    means: LabelMeans
    svms: tuple[NDArray[Any], ...]
    cells: CellRegression
    links: CandidateLinks
    counts: NDArray[np.float64]
    recall: float

    def __init__(
        self, cover: Cover, n_candidates: int, n_trees: int, C: float | None = None
    ) -> None:
        self.cover, self.n_candidates, self.n_trees, self.C = cover, n_candidates, n_trees, C

    def fit(
        self,
        X: Any,
        Y: sparse.csr_array,
        n_values: NDArray[np.int32],
        *,
        weights: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64],
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> tuple[NDArray[np.int64], Candidates]:
        """Fit means, trees and SVMs, then what they are worth on rows left out.

        Return some training rows, and their candidates by models fitted without them.

        Parameters
        ----------
        X : ndarray or CSR array of shape (n, features)
            Nominal features as numbers of their values.
        Y : CSR array of shape (n, n_labels)
            Ones, and sorted labels.
        n_values : ndarray of shape (features,)
            How many values a nominal feature has, 0 for a numeric one.
        weights : ndarray of shape (n,), optional
        seeds : ndarray of shape (2,)
            One for the forest, and one for folds and SVMs.
        """
        how: dict[str, Any] = {"n_jobs": n_jobs, "verbose": verbose}
        n = Y.shape[0]
        drawn = None
        if weights is not None and np.ptp(weights) > 0:
            drawn = weights / weights.mean()
        weights = np.ones(n) if drawn is None else drawn
        self.counts = np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.float64)
        self.forest = MeanForest(ReadTable(X, n_values), Y)
        trees = np.random.SeedSequence(int(seeds[0])).spawn(self.n_trees)
        self.forest.grow(trees, drawn, 1, MIN_LEAF, text="growing trees", **how)
        rows = self._rows(self.forest.table)
        self.means = LabelMeans(rows, Y, weights)
        found = self._found(rows, (Y, weights), **how)
        truth = true_candidates(found.candidates, Y)

        random = np.random.default_rng(seeds[1])
        left = np.sort(random.permutation(n)[:MOST_LEFT_OUT])
        scores = self._fit_svms(rows, found.candidates, truth, Y, weights, random, how)
        found, truth_left = Found(*(each[left] for each in found)), truth[left]
        alike = not (rows.max(axis=0) - rows.min(axis=0)).toarray().any()
        P = self._fit_cells(found, scores[left], truth_left, weights[left], alike)
        own = left, found.candidates, P, truth_left, weights[left]
        self.links = fit_candidate_links(Y, self.cover, *own, random)
        self.forest.forget_training()

        labels_of = np.diff(Y.indptr)[left]
        hits = float(weights[left] @ truth_left.sum(axis=1))
        self.recall = (hits + 0.5) / (float(weights[left] @ labels_of) + 1)
        frequency = (weights @ Y + 0.5) / (n + 1)
        self.others = np.clip(frequency * (1 - self.recall), 1e-12, 0.5)
        return left, Candidates.ranked(found.candidates, P, self.others)

    def candidates(self, X: Any, known: NDArray[np.int8] | None = None) -> Candidates:
        """Return the candidates of new rows, with their confidences.

        Parameters
        ----------
        X : table of shape (n, features)
        known : int8 array of shape (n, n_labels), optional
            0 and 1 where a label is known, -1 elsewhere.
        """
        parts = []
        for rows in gen_batches(X.shape[0], BLOCK_ROWS):
            some = self._rows(self.forest.read(X[rows]))
            found = self._found(some)
            scores = svm_scores(self.svms, some, found.candidates)
            P = self.cells.probability(self._inputs(found, scores))
            labels = found.candidates
            if known is not None:
                labels, P = self.links.given(labels, P, known[rows], self.others)
            parts.append(Candidates.ranked(labels, P, self.others))
        return joined(parts, self.others)

    def told(self) -> str:
        """Return in words what was found, for people to read."""
        linked = self.links.weights.nnz / len(self.counts)
        return (
            f"{self.n_candidates} candidates (with {self.recall:.0%} of the true labels), "
            f"means, {self.forest.n_trees} trees and linear SVMs (C: {self.C:.3g}), "
            f"links to {linked:.1f} labels each"
        )

    def _rows(self, table: tuple[NDArray[Any], ...]) -> sparse.csr_array:
        """Return rows as the forest reads them as a CSR array."""
        return sparse.csr_array(table, shape=(len(table[2]) - 1, self.forest.n_features))

    def _found(self, X: sparse.csr_array, own: Any = None, n_jobs: Any = 1, **how: Any) -> Found:
        """Return the candidates of rows; training rows, with `own`, are left out of all views."""
        most, table = self.n_candidates, csr_arrays(X)
        from_means = max(1, int(SHARE_OF_MEANS * most))
        held = self.forest.held, self.forest.labels, self.forest.n_labels

        def find(rows: slice) -> Found:
            some = X[rows], NOTHING if own is None else (own[0][rows], own[1][rows])
            given = self.means.likeliest(some[0], from_means, some[1])
            which = np.arange(rows.start, rows.stop)
            leaves = self.forest.leaves(table, which, out_of_bag=own is not None)
            candidates, shares = candidate_shares(leaves, *held, given, most)
            return Found(candidates, shares, self.means.cosines(some[0], candidates, some[1]))

        jobs = (delayed(find)(rows) for rows in gen_batches(X.shape[0], BLOCK_ROWS))
        parts = in_threads(jobs, n_jobs, text="finding candidates", **how)
        return Found(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    def _fit_svms(self, X, candidates, truth, Y, weights, random, how):
        """Fit the SVMs; return the scores of training rows by SVMs trained without their fold."""
        n = len(candidates)
        fold = random.permutation(n) % min(N_FOLDS, n)
        seed, some = int(random.integers(2**31 - 1)), random.permutation(Y.shape[1])

        def trained(asked, labels, costs):
            return train_on_candidates(X, asked, labels, costs, seed, **how)

        if self.C is None:
            chosen = np.sort(some[:CHOICE_LABELS])
            number = np.full(Y.shape[1] + 1, -1, dtype=np.int32)
            number[chosen] = np.arange(len(chosen))
            asked, few = number[candidates], Y[:, chosen]
            left = np.flatnonzero(fold == 0)
            cells = asked[left] >= 0
            y, w = truth[left][cells], np.repeat(weights[left], cells.sum(axis=1))

            def loss(C: float) -> float:
                svms = trained(asked, few, np.where(fold == 0, 0, C * weights))
                scores = svm_scores(svms, X[left], asked[left])[cells]
                return log_loss_of_cells(scores[:, None].astype(np.float64), y, w)

            self.C = _least(loss) if len(y) else FIRST_COST
        scores = np.zeros(candidates.shape, np.float32)
        for one in range(int(fold.max()) + 1):
            left = np.flatnonzero(fold == one)
            svms = trained(candidates, Y, np.where(fold == one, 0, self.C * weights))
            scores[left] = svm_scores(svms, X[left], candidates[left])
        self.svms = trained(candidates, Y, self.C * weights)
        return scores

    def _inputs(self, found: Found, scores: NDArray[np.float32]) -> NDArray[np.float64]:
        counts = self.counts[np.maximum(found.candidates, 0)]
        n_votes = OUT_OF_BAG * self.forest.n_trees
        return cell_inputs(found.cosines, found.shares, scores, counts, n_votes)

    def _fit_cells(self, found, scores, truth, weights, alike):
        """Fit the regression of views on left-out rows; return their probabilities.

        Where all rows are alike, views of a row left out tell only that it is: the shares in the
        leaves, which are frequencies, are the answer.
        """
        inputs, cells = self._inputs(found, scores), found.candidates >= 0
        if alike:
            self.cells = one_input(ODDS_OF_SHARES, inputs.shape[-1])
        else:
            w = np.repeat(weights, cells.sum(axis=1))
            self.cells = fit_cells(inputs[cells], truth[cells], w)
        return self.cells.probability(inputs)


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
