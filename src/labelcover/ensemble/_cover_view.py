"""One learner over all labelsets of a cover: pose problems, fit members, combine confidences."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from labelcover._progress import tell
from labelcover._table_numbers import blocks, rows_of
from labelcover.covers import Cover
from labelcover.ensemble._choose_cover import single_labels
from labelcover.ensemble._confidence_kernels import MARGINAL, VOTES, WINNER
from labelcover.ensemble._encoding import Encoding, encode, label_products
from labelcover.ensemble._member_weights import weigh_members
from labelcover.ensemble._plan import draw_left_out, most_targets, n_left_out_rows
from labelcover.ensemble._shares import Floats, Rows, Shares, probability_slopes
from labelcover.ensemble._view import TrainingRows, View, draw_seeds
from labelcover.learners import (
    LinearTargets,
    Members,
    Problems,
    ScorePaths,
    blas_threads,
    problem_blocks,
)

# How members are combined, and the reading of their class distributions; weights are apart.
READINGS = {"mean": MARGINAL, "votes": VOTES, "winner": WINNER}
# Class distributions, and what members make of rows, are held in blocks of so many numbers (64 MB),
# but of no fewer rows than these; nor of more, which would not stay in the cache.
BLOCK_NUMBERS = 2**23
BLOCK_ROWS, MOST_BLOCK_ROWS = 256, 2_048
# Those of rows left out, of so many numbers (8 MB).
LEFT_OUT_BLOCK = 2**20
# Probabilities of linear members are never surer than this.
LEAST = 0.0005


class CoverView(View):
    """The members of one learner, one per labelset of a cover, or of several covers.

    Several covers share one fit, and one de-duplication of problems; each has confidences of its
    own.

    Parameters
    ----------
    learner : batch learner
    covers : sequence of Cover
    aggregate : {"mean", "votes", "winner", "weighted"}
        What becomes the confidence of a label: the mean of the probabilities of the members that
        hold it (RAKEL++), the share of them that predict it (RAKEL), the mean of the probabilities
        of their most probable classes, or the mean with weights
        (`labelcover.ensemble._member_weights`), which the learner must give left-out predictions
        for.

    quick : bool
        Whether `fit` is for left-out confidences alone, so that learners approximate where it pays.

    Attributes
    ----------
    members : Members
    encoding : Encoding
        Of all covers, with the weights of members if they have some.
    """

    members: Members
    encoding: Encoding

    def __init__(
        self, learner: Any, covers: Sequence[Cover], *, aggregate: str = "mean", quick: bool = False
    ) -> None:
        self.learner, self.covers = learner, list(covers)
        self.aggregate, self.quick = aggregate, quick

    def fit(
        self, rows: TrainingRows, seed: int, *, n_jobs: int | None = None, verbose: bool = False
    ) -> Self:
        """Fit every distinct problem once."""
        seeds = draw_seeds(seed, sum(map(len, self.covers)))
        classes, targets, first = self._posed(rows)
        left_out = rows.left_out
        if left_out is None and self.aggregate == "weighted":
            left_out = leaving_out_some(rows, self.learner, self.covers, int(seeds[0])).left_out
        problems = Problems(
            classes,
            self.encoding.offsets,
            rows.n_values,
            rows.weights,
            seeds[first],
            rows.metadata,
            targets,
            left_out,
            self.quick,
            None if rows.cells is None else np.ascontiguousarray(rows.cells.T),
        )
        self.members = self.learner.fit_problems(rows.X, problems, n_jobs=n_jobs, verbose=verbose)
        if left_out is not None:
            means = self._left_out_means(rows, left_out, verbose)
            self.members.forget_training()
            if rows.left_out is not None:
                self._left_out = left_out, means
        return self

    def _posed(self, rows: TrainingRows) -> tuple[Any, LinearTargets | None, NDArray[np.int64]]:
        """Return the classes and targets of all problems, and the first member of each."""
        if rows.cells is not None:
            # Labels that agree where both are known need not agree elsewhere: each is a problem of
            # its own, with two classes whatever is known of it.
            numbers = np.arange(len(self.covers[0]) + 1)
            patterns = np.tile(np.array([[0], [1]], dtype=np.uint8), (len(numbers) - 1, 1))
            own = self.covers[0], 2 * numbers, patterns, numbers[:-1], 2 * numbers
            self.encoding = Encoding(*own)
            classes = np.ascontiguousarray(rows.Y.T, dtype=np.int32)
            return classes, None, np.arange(len(classes))
        self.encoding, found, first = encode(rows.Y, self.covers)
        if not self.learner.is_linear:
            return found.array(), None, first
        targets = label_products(found)
        if targets is None:
            offsets = self.encoding.offsets
            counts = found.counts(offsets)
            targets = LinearTargets.of_class_rule(found.rule, rows.Y, counts, offsets)
        return found, targets, first

    def _left_out_means(
        self, training: TrainingRows, rows: NDArray[np.int64], verbose: bool
    ) -> list[NDArray[np.float64]]:
        is_weighted = self.aggregate == "weighted"
        encoding = self.encoding.of_pairs() if is_weighted else self.encoding
        sums = np.zeros((len(rows), encoding.cover.n_labels))
        for problems in problem_blocks(self.members.offsets, max(1, LEFT_OUT_BLOCK // len(rows))):
            encoding.add(self.members.left_out(problems), problems, sums, reading=self._reading)
        if is_weighted:
            weights = None if training.weights is None else training.weights[rows]
            self.encoding, sums = weigh_members(self.encoding, sums, training.Y[rows], weights)
            own: Any = self.member_weights
            ratio = (own * self.covers[0].label_counts[self.covers[0].labelsets])[own > 0]
            told = f"weights of members {ratio.min():.2f} to {ratio.max():.2f} times equal weights"
            tell(f"{told}, on {len(rows)} left-out rows", show=verbose)
        return self._means(sums)

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return for each cover ``(n, n_labels)``: the mean over the members that hold a label.

        This is Algorithm 2, but for weights. A label in no labelset gets 0. Works in blocks of rows
        and problems of bounded memory.
        """
        sums = np.zeros((X.shape[0], self.encoding.cover.n_labels))
        members, offsets = self.members, self.members.offsets
        width = max(1, members.row_width, int(offsets[-1]))
        step = min(max(BLOCK_ROWS, BLOCK_NUMBERS // width), MOST_BLOCK_ROWS)
        with blas_threads(X.shape[0], members.row_width, int(offsets[-1])):
            for rows in blocks(X.shape[0], step):
                block = X if rows.stop - rows.start == X.shape[0] else rows_of(X, rows)
                self._add_rows(members.prepare(block), sums[rows])
        return self._means(sums)

    @property
    def no_shares(self) -> str:
        """Why confidences are no sums over columns: votes, or members that have no such scores."""
        if self.aggregate not in ("mean", "weighted"):
            return f"{self.aggregate} of members are no sums"
        if not self.members.has_paths:
            return f"{self.learner!r} has no scores that are sums over the columns of the table"
        return ""

    def shares(self, X: Any, origin: NDArray[np.float64] | None = None) -> list[Any]:
        """Return what adds up to the confidences; parts are 0 at an origin as members scale it."""
        sums = np.zeros((X.shape[0], self.encoding.cover.n_labels))
        with blas_threads(X.shape[0], self.members.row_width, int(self.members.offsets[-1])):
            paths = self.members.paths(X, origin)
            self._add_rows(paths.prepared, sums)
        return [CoverShares(paths, self.encoding, self.encoding.mean(sums))]

    @property
    def member_weights(self) -> NDArray[np.float64] | None:
        """The weight of each member in each of its labels; None if there are none."""
        return self.encoding.weights

    @property
    def _reading(self) -> int:
        return READINGS.get(self.aggregate, MARGINAL)

    def _add_rows(self, prepared: Any, sums: NDArray[np.float64]) -> None:
        """Add what all members say of some rows."""
        for problems in problem_blocks(self.members.offsets, BLOCK_NUMBERS // max(1, len(sums))):
            distributions = self.members.distributions(prepared, problems)
            self.encoding.add(distributions, problems, sums, reading=self._reading)

    def _means(self, sums: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the means of each cover."""
        return np.split(self.encoding.mean(sums), len(self.covers), axis=1)


class CoverShares(Shares):
    """The means over the members of a cover as sums over columns.

    `paths` are those of the scores of the classes of all problems.
    """

    def __init__(
        self, paths: ScorePaths, encoding: Encoding, confidence: NDArray[np.float64]
    ) -> None:
        self.paths, self.encoding, self.confidence = paths, encoding, confidence
        self.starts = np.zeros(confidence.shape[1])
        for label in range(len(self.starts)):
            for problem, holds, weight in self.members_with(label):
                self.starts[label] += weight * (softmax(paths.start(problem)) @ holds)

    def combined(self, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> Any:
        """Return what columns add to a sum of the confidences of all labels, in one step."""
        slopes = []
        for label in np.flatnonzero(weights.any(axis=0)).tolist():
            for problem, holds, weight in self.members_with(label):
                start, end = self.paths.start(problem), self.paths.scores(problem, rows)
                own = probability_slopes(start, end, holds)
                slopes.append((problem, (weight * weights[:, label])[:, None] * own))
        return self.paths.parts(rows, slopes)

    def of_log_odds(self, rows: Rows, weights: Floats, label: int, least: float) -> Any:
        """Return the same of log-odds, of `label` as they bend if one member on it says all."""
        found = super().of_log_odds(rows, weights, label, least)
        (problem, holds, _), *others = self.members_with(label)
        if others or len(holds) != 2:
            return found
        return found + self.paths.bends(rows, problem, 2.0 * holds - 1, weights[:, label], least)

    def members_with(self, label: int) -> Iterator[tuple[int, NDArray[np.bool_], float]]:
        """Yield the problems of the members that hold a label, their classes with it, weights."""
        encoding, weights = self.encoding, self.encoding.weights
        members, places = np.nonzero(encoding.cover.labelsets == label)
        for member, place in zip(members.tolist(), places.tolist(), strict=True):
            weight = 1 / len(members) if weights is None else weights[member, place]
            holds = encoding.patterns[slice(*encoding.starts[member : member + 2]), place] > 0
            yield int(encoding.problem[member]), holds, float(weight)


def leaving_out_some(
    rows: TrainingRows, learner: Any, covers: Sequence[Cover | None], seed: int
) -> TrainingRows:
    """Return training rows with as many left out as members over some covers are asked for."""
    n, m = rows.Y.shape
    n_targets = sum(most_targets(cover, n, m) for cover in covers)
    return rows.leaving_out(draw_left_out(rows, n_left_out_rows(n, n_targets), learner, seed))


class SingleLabelsView(CoverView):
    """A linear learner on single labels.

    Attributes
    ----------
    names : sequence of str
        What the tables of confidences are called.
    least : float
        How near to 0 and 1 the pool takes probabilities.
    """

    least = LEAST

    def __init__(self, name: str, learners: Any, cover: Cover, *, quick: bool, **_: Any) -> None:
        every = single_labels(np.arange(cover.n_labels), cover.n_labels)
        super().__init__(learners[name.replace(" ", "_")], [every], quick=quick)
        self.names = (name,)
