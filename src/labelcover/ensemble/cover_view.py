"""One learner over all labelsets of a cover: pose problems, fit members, combine confidences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._arguments import check_random_state
from labelcover._progress import tell
from labelcover._table_numbers import rows_of
from labelcover.covers import Cover
from labelcover.ensemble.encoding import Encoding, encode
from labelcover.ensemble.label_products import label_products
from labelcover.ensemble.member_weights import StackedMembers
from labelcover.ensemble.view import TrainingRows
from labelcover.learners.blas_threads import blas_threads
from labelcover.learners.linear_targets import LinearTargets
from labelcover.learners.problems import (
    Members,
    Problems,
    draw_left_out_rows,
    problem_blocks,
    random_order,
)

AGGREGATES = ("mean", "votes", "weighted")
# Class distributions, and what members make of rows, are held in blocks of so many numbers (64 MB),
# but of no fewer rows than these; nor of more, which would not stay in the cache.
BLOCK_NUMBERS = 2**23
BLOCK_ROWS, MOST_BLOCK_ROWS = 256, 2_048
# Those of rows left out, of so many numbers (8 MB).
LEFT_OUT_BLOCK = 2**20


class CoverView:
    """The members of one learner, one per labelset of a cover, or of several covers.

    Several covers share one fit, and one de-duplication of problems; each has confidences of its
    own.

    Parameters
    ----------
    learner : batch learner
    covers : sequence of Cover
    aggregate : {"mean", "votes", "weighted"}
        What becomes the confidence of a label: the mean of the probabilities of the members that
        hold it (RAKEL++), the share of them that predict it (RAKEL), or the mean with weights
        (`labelcover.ensemble.member_weights`), which the learner must give left-out predictions
        for.

    Attributes
    ----------
    members : Members
    encodings : list of Encoding
    stacked : list of StackedMembers
        The weighted members of each cover, with ``aggregate="weighted"``; else empty.
    left_out_rows : ndarray or None
        The training rows that were left out, if any.
    quick : bool
        Whether `fit` is for the confidences of these rows alone.
    """

    members: Members
    encodings: list[Encoding]
    stacked: list[StackedMembers]
    left_out_rows: NDArray[np.int64] | None = None
    quick = False

    def __init__(self, learner: Any, covers: Sequence[Cover], *, aggregate: str = "mean") -> None:
        self.learner, self.covers, self.aggregate = learner, list(covers), aggregate
        self._left_out: list[NDArray[np.float64]] = []

    def fit(
        self,
        training: TrainingRows,
        seeds: NDArray[np.int64],
        *,
        left_out_rows: NDArray[np.int64] | None = None,
        keep_left_out: bool = False,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> CoverView:
        """Fit every distinct problem once; `seeds` has one for each labelset, drawn beforehand.

        Confidences of `left_out_rows` by members fitted without them are kept until
        `forget_training`. Such rows are drawn here where weights of members need them, or with
        `keep_left_out`.
        """
        self.encodings, found, first = encode(training.Y, self.covers)
        offsets = self.encodings[0].offsets
        classes: Any = found
        targets = None
        if self.learner.is_linear:
            targets = label_products(training.Y, self.encodings, first)
        else:
            classes = found.array()
        if self.learner.is_linear and targets is None:
            counts = found.counts(offsets)
            targets = LinearTargets.of_class_rule(found.rule, training.Y, counts, offsets)
        is_weighted = self.aggregate == "weighted"
        self.stacked = [StackedMembers(each) for each in self.encodings] if is_weighted else []
        asked = left_out_rows
        if asked is None and (keep_left_out or is_weighted):
            asked = self.drawn_rows(len(training.Y), int(seeds[0]))
        problems = Problems(
            classes,
            offsets,
            training.n_values,
            training.weights,
            seeds[first],
            training.metadata,
            targets,
            asked,
            self.quick,
        )
        self.members = self.learner.fit_problems(
            training.X, problems, n_jobs=n_jobs, verbose=verbose
        )
        if asked is not None:
            means = self._left_out_means(training, asked, verbose)
            self.members.forget_training()
            if left_out_rows is not None or keep_left_out:
                self.left_out_rows, self._left_out = asked, means
        return self

    def left_out(self) -> list[NDArray[np.float64]]:
        """Return for each cover the confidences of `left_out_rows` by members without them."""
        return self._left_out

    def forget_training(self) -> None:
        """Free the confidences of rows left out."""
        self.left_out_rows, self._left_out = None, []

    def drawn_rows(self, n: int, seed: int) -> NDArray[np.int64]:
        """Return the training rows to leave out; a seed of the learner's own decides first."""
        own = getattr(self.learner, "random_state", None)
        seed = seed if own is None else int(check_random_state(own).randint(2**31 - 1))
        if self.quick:
            return random_order(n, seed)
        return draw_left_out_rows(n, most_targets(self.covers), seed)

    def _left_out_means(
        self, training: TrainingRows, rows: NDArray[np.int64], verbose: bool
    ) -> list[NDArray[np.float64]]:
        sums = self._no_sums(len(rows))
        for problems in problem_blocks(self.members.offsets, max(1, LEFT_OUT_BLOCK // len(rows))):
            distributions = self.members.left_out(problems)
            if self.stacked:
                for stacked in self.stacked:
                    stacked.gather(distributions, problems)
            else:
                self._add(distributions, problems, sums)
        return self._weighted(training, rows, verbose) if self.stacked else self._means(sums)

    def confidences(self, X: Any) -> list[NDArray[np.float64]]:
        """Return for each cover ``(n, n_labels)``: the mean over the members that hold a label.

        This is Algorithm 2, but for weights. A label in no labelset gets 0. Works in blocks of rows
        and problems of bounded memory.
        """
        sums = self._no_sums(X.shape[0])
        members, offsets = self.members, self.members.offsets
        with blas_threads(X.shape[0], members.row_width, int(offsets[-1])):
            for rows in row_blocks(X.shape[0], max(members.row_width, int(offsets[-1]))):
                block = X if rows.stop - rows.start == X.shape[0] else rows_of(X, rows)
                prepared = members.prepare(block)
                for problems in problem_blocks(offsets, BLOCK_NUMBERS // (rows.stop - rows.start)):
                    distributions = members.distributions(prepared, problems)
                    self._add(distributions, problems, [each[rows] for each in sums])
        return self._means(sums)

    @property
    def n_seeds(self) -> int:
        """One for each labelset."""
        return sum(map(len, self.covers))

    def _no_sums(self, n: int) -> list[NDArray[np.float64]]:
        return [np.zeros((n, cover.n_labels)) for cover in self.covers]

    def _add(
        self, distributions: NDArray[np.float64], problems: slice, sums: list[NDArray[np.float64]]
    ) -> None:
        if self.stacked:
            for stacked, each in zip(self.stacked, sums, strict=True):
                each += stacked.confidences(distributions, problems)
            return
        for encoding, each in zip(self.encodings, sums, strict=True):
            encoding.add(distributions, problems, each, votes=self.aggregate == "votes")

    def _weighted(
        self, training: TrainingRows, rows: NDArray[np.int64], verbose: bool
    ) -> list[NDArray[np.float64]]:
        """Fit the weights of members; return the confidences of the rows left out."""
        weights = None if training.weights is None else training.weights[rows]
        means = [stacked.fit(training.Y[rows], weights) for stacked in self.stacked]
        tell(f"{self.stacked[0].told()}, on {len(rows)} rows not seen", show=verbose)
        return means

    def _means(self, sums: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        if self.stacked:
            return sums
        return [encoding.mean(each) for encoding, each in zip(self.encodings, sums, strict=True)]


def row_blocks(n: int, width: int) -> Iterator[slice]:
    """Yield slices of ``range(n)`` so that a block of `width` numbers a row stays bounded."""
    step = min(max(BLOCK_ROWS, BLOCK_NUMBERS // max(1, width)), MOST_BLOCK_ROWS)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


def most_targets(covers: Sequence[Cover]) -> int:
    """Return how many targets the labelsets of some covers have at most (`LinearTargets`)."""
    products = [2.0**cover.labelset_sizes - 1 - cover.labelset_sizes for cover in covers]
    return covers[0].n_labels + int(sum(each.sum() for each in products))
