"""From a label table and a cover to single-label problems, and back to confidences per label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from labelcover._label_values import alike_rows
from labelcover.covers import Cover
from labelcover.ensemble.decoding_kernels import add_members
from labelcover.ensemble.distinct_rows import DistinctRows
from labelcover.ensemble.encoding_kernels import encode_members

# Patterns of up to this many labels are ranked by a table of all of them, longer ones by sorting.
TABLE_BITS = 12


@dataclass(frozen=True)
class Encoding:
    """The classes of all members, and which problem each member poses.

    Members pose the same problem if every row has the same class in both: the same labelset
    twice, or labels that agree in all rows.

    Attributes
    ----------
    cover : Cover
        Which labels each member holds.
    starts : ndarray of shape (size + 1,), int64
        The patterns of member ``j`` are the rows ``starts[j]:starts[j + 1]`` of `patterns`.
    patterns : ndarray of shape (n_patterns, k), uint8
        The 0/1 values of the member's labels in each class, in the order of
        ``cover.labelsets[j]``; 0 where that holds no label. Within a member, classes are in
        lexicographic order of patterns.
    problem : ndarray of shape (size,), int64
        Which problem each member poses.
    offsets : ndarray of shape (n_problems + 1,), int64
        The classes of problem ``p`` are ``offsets[p]:offsets[p + 1]`` of all classes side by side.
    """

    cover: Cover
    starts: NDArray[np.int64]
    patterns: NDArray[np.uint8]
    problem: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def add(
        self,
        distributions: NDArray[np.float64],
        problems: slice,
        sums: NDArray[np.float64],
        *,
        votes: bool = False,
    ) -> None:
        """Add to `sums`, ``(n, n_labels)``, what the members of some problems say.

        A member contributes the probability of each of its labels, or, with `votes`, the 0/1
        values in its most probable class (the first on ties).
        """
        members = np.flatnonzero((self.problem >= problems.start) & (self.problem < problems.stop))
        add_members(
            np.ascontiguousarray(distributions.T),
            self.offsets[self.problem[members]] - self.offsets[problems.start],
            self.starts[members],
            self.starts[members + 1],
            self.patterns,
            self.cover.labelsets[members],
            votes,
            sums,
        )

    def mean(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Sum_j / Votes_j`` (Algorithm 2, line 13); a label in no labelset gets 0."""
        return sums / np.maximum(self.cover.label_counts, 1)


def encode(
    rows: DistinctRows, covers: Sequence[Cover]
) -> tuple[list[Encoding], NDArray[np.int32], NDArray[np.int64]]:
    """Return the problems that the labelsets of some covers pose, each once.

    Parameters
    ----------
    rows : DistinctRows
        Of a label table of at least one row.
    covers : sequence of Cover
        Of the same number of labels.

    Returns
    -------
    encodings : list of Encoding
        One for each cover; the problems are common to all.
    classes : ndarray of shape (n_problems, n), int32
        The class of every row in every problem: the lexicographic rank of its pattern.
    first : ndarray of shape (n_problems,)
        The first member of all covers that poses each problem, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.covers import Cover
    >>> from labelcover.ensemble.distinct_rows import distinct_rows
    >>> from labelcover.ensemble.encoding import encode
    >>> Y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    >>> cover = Cover([[0, 1], [0, 2], [0, 1]], n_labels=3)
    >>> (encoding,), classes, first = encode(distinct_rows(Y), [cover])
    >>> classes
    array([[1, 0, 1, 2],
           [2, 0, 2, 1]], dtype=int32)
    >>> encoding.problem
    array([0, 1, 0])
    """
    parts = [_encoded(rows.labels, cover) for cover in covers]
    classes = parts[0][0] if len(parts) == 1 else np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    problem, first = alike_rows(classes)
    if len(first) < len(classes):
        classes = classes[first]
    offsets = np.concatenate([[0], np.cumsum(counts[first])])
    encodings, at = [], 0
    for cover, (_, own, patterns) in zip(covers, parts, strict=True):
        starts = np.concatenate([[0], np.cumsum(own)])
        own_problems = problem[at : at + len(cover)]
        encodings.append(Encoding(cover, starts, patterns, own_problems, offsets))
        at += len(cover)
    return encodings, rows.each(classes), first


def _encoded(
    Y: NDArray[np.uint8], cover: Cover
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the classes of all rows, the number of classes and the patterns of each member."""
    if cover.k <= TABLE_BITS:
        return _encoded_by_table(Y, cover)
    classes = np.empty((len(cover), len(Y)), dtype=np.int32)
    patterns: list[NDArray[np.uint8]] = [np.empty((0, 0), dtype=np.uint8)] * len(cover)
    short = np.flatnonzero(cover.labelset_sizes <= TABLE_BITS)
    if len(short):
        classes[short], counts, found = _encoded_by_table(Y, cover.take(short))
        for i, own in zip(short, np.split(found, np.cumsum(counts)[:-1]), strict=True):
            patterns[i] = own
    for j, labels in enumerate(cover):
        if len(labels) > TABLE_BITS:
            patterns[j], inverse = np.unique(Y[:, labels], axis=0, return_inverse=True)
            classes[j] = inverse.ravel()
    counts = np.array([len(own) for own in patterns])
    filled_up = [np.pad(own, ((0, 0), (0, cover.k - own.shape[1]))) for own in patterns]
    return classes, counts, np.concatenate(filled_up)


def _encoded_by_table(
    Y: NDArray[np.uint8], cover: Cover
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8]]:
    """Return the same for members of few labels, whose patterns are ranked by a table of all."""
    ranks = np.empty((len(cover), 2**cover.k), dtype=np.int32)
    columns = np.ascontiguousarray(Y.T, dtype=np.uint8)
    classes = encode_members(columns, cover.labelsets, ranks)
    return classes, (ranks >= 0).sum(axis=1), ranked_pattern_rows(ranks, cover)


def ranked_pattern_rows(ranks: NDArray[np.int32], cover: Cover) -> NDArray[np.uint8]:
    """Return the patterns of the members of a cover, one after another, a column per label.

    `ranks` are those of `labelcover.ensemble.encoding_kernels`.
    """
    member, key = np.nonzero(ranks >= 0)
    # The first label is always the highest of k bits.
    key = key << (cover.k - cover.labelset_sizes)[member]
    return (key[:, None] >> np.arange(cover.k - 1, -1, -1) & 1).astype(np.uint8)
