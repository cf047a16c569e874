"""From a label table and a cover to single-label problems, and back to confidences per label."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from labelcover._label_values import alike_labelsets, alike_rows
from labelcover._table_numbers import blocks
from labelcover.covers import Cover
from labelcover.ensemble._encoding_kernels import MARGINAL, add_members

# Patterns of up to this many labels are ranked by a table of all of them, longer ones by sorting.
TABLE_BITS = 12
# Problems are compared, and classes counted, on so many rows at a time.
BLOCK_ROWS = 2**14
# Patterns of so many rows and problems are held at once (2 MB, which stay in the cache).
BLOCK_NUMBERS = 2**20


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
        reading: int = MARGINAL,
    ) -> None:
        """Add to `sums`, ``(n, n_labels)``, what the members of some problems say.

        A member contributes the probability of each of its labels, or what another `reading` of
        its class distribution makes of them (`labelcover.ensemble._encoding_kernels.add_members`).
        """
        members = np.flatnonzero((self.problem >= problems.start) & (self.problem < problems.stop))
        add_members(
            np.ascontiguousarray(distributions.T),
            self.offsets[self.problem[members]] - self.offsets[problems.start],
            self.starts[members],
            self.starts[members + 1],
            self.patterns,
            self.cover.labelsets[members],
            reading,
            sums,
        )

    def mean(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``Sum_j / Votes_j`` (Algorithm 2, line 13); a label in no labelset gets 0."""
        return sums / np.maximum(self.cover.label_counts, 1)


@dataclass(frozen=True)
class ClassRule:
    """What makes the classes of some problems of labels.

    Attributes
    ----------
    labelsets : int32 array of shape (n_problems, k)
        The labels of each problem; rows with fewer labels end in −1.
    ranks : int32 array of shape (n_problems, 2 ** width)
        The class of each pattern of a problem of up to `width` labels, −1 for patterns that do not
        occur.
    patterns : object array of shape (n_problems,)
        Of problems with more labels, the patterns that occur as sorted bytes; else None.
    """

    labelsets: NDArray[np.int32]
    ranks: NDArray[np.int32]
    patterns: NDArray[np.object_]

    @classmethod
    def of_rows(cls, Y: NDArray[np.uint8], labelsets: NDArray[np.int32]) -> "ClassRule":
        """Return the rule of the patterns that occur in the rows of `Y`."""
        width = min(labelsets.shape[1], TABLE_BITS)
        ranks = np.empty((len(labelsets), 2**width), dtype=np.int32)
        for problems, keys in _keys(Y, labelsets, width):
            occurs = np.zeros((len(keys), 2**width), dtype=bool)
            np.put_along_axis(occurs, keys, True, axis=1)
            ranks[problems] = np.where(occurs, np.cumsum(occurs, axis=1) - 1, -1)
        patterns = np.full(len(labelsets), None, dtype=object)
        for j in np.flatnonzero((labelsets >= 0).sum(axis=1) > width):
            patterns[j] = np.unique(_packed(Y, labelsets[j]))
        return cls(labelsets, ranks, patterns)

    def __call__(self, Y: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the classes of the rows of `Y`, ``(n_problems, n)``."""
        width = int(self.ranks.shape[1]).bit_length() - 1
        classes = np.empty((len(self.labelsets), len(Y)), dtype=np.int32)
        for problems, keys in _keys(Y, self.labelsets, width):
            classes[problems] = np.take_along_axis(self.ranks[problems], keys, axis=1)
        for j, own in enumerate(self.patterns):
            if own is not None:
                classes[j] = np.searchsorted(own, _packed(Y, self.labelsets[j]))
        return classes

    def of(self, problems: Any) -> "ClassRule":
        """Return the rule of some problems."""
        return ClassRule(self.labelsets[problems], self.ranks[problems], self.patterns[problems])

    def pattern_rows(self, cover: Cover) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return how many classes each problem has, and the patterns of all, a column per label.

        The problems are those of the members of `cover`, in order.
        """
        is_long = np.array([own is not None for own in self.patterns])
        member, key = np.nonzero((self.ranks >= 0) & ~is_long[:, None])
        # The first label is always the highest of k bits.
        short = np.minimum(cover.k, TABLE_BITS)
        key = key << (short - cover.labelset_sizes[member])
        bits = (key[:, None] >> np.arange(short - 1, -1, -1) & 1).astype(np.uint8)
        rows = np.pad(bits, ((0, 0), (0, cover.k - short)))
        counts = np.bincount(member, minlength=len(cover))
        if not is_long.any():
            return counts, rows
        parts = np.split(rows, np.cumsum(counts)[:-1])
        for j in np.flatnonzero(is_long):
            size = int(cover.labelset_sizes[j])
            packed = self.patterns[j].view(np.uint8).reshape(len(self.patterns[j]), -1)
            own = np.unpackbits(packed, axis=1)[:, :size]
            parts[j] = np.pad(own, ((0, 0), (0, cover.k - size)))
        return np.array([len(own) for own in parts]), np.concatenate(parts)


@dataclass(frozen=True)
class RowClasses:
    """The classes of all rows in all problems, worked out when somebody asks for them.

    It is indexed like an array: by problems, or by all problems and some rows.
    """

    rule: ClassRule
    Y: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.rule.labelsets)

    @property
    def shape(self) -> tuple[int, int]:
        """Problems and rows."""
        return len(self), len(self.Y)

    def __getitem__(self, at: Any) -> Any:
        """Return the classes of some problems, or of some rows as an array."""
        if not isinstance(at, tuple):
            return replace(self, rule=self.rule.of(at))
        problems, rows = at
        return self.rule.of(problems)(self.Y[rows])

    def array(self) -> NDArray[np.int32]:
        """Return the classes of all rows, ``(n_problems, n)``."""
        return self.rule(self.Y)

    def counts(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows each class holds."""
        counts = np.zeros(int(offsets[-1]), dtype=np.int64)
        for block in blocks(len(self.Y), BLOCK_ROWS):
            found = self.rule(self.Y[block]) + offsets[:-1, None]
            counts += np.bincount(found.ravel(), minlength=len(counts))
        return counts


def encode(
    Y: NDArray[np.uint8], covers: Sequence[Cover]
) -> tuple[list[Encoding], RowClasses, NDArray[np.int64]]:
    """Return the problems that the labelsets of some covers pose, each once.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels), uint8
        At least one row.
    covers : sequence of Cover
        Of the same number of labels.

    Returns
    -------
    encodings : list of Encoding
        One for each cover; the problems are common to all.
    classes : RowClasses
        The class of every row in every problem: the lexicographic rank of its pattern.
    first : ndarray of shape (n_problems,)
        The first member of all covers that poses each problem, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.covers import Cover
    >>> from labelcover.ensemble._encoding import encode
    >>> Y = np.array([[1, 0, 1], [0, 0, 1], [1, 0, 1], [1, 1, 0]], dtype=np.uint8)
    >>> cover = Cover([[0, 1], [0, 2], [0, 1]], n_labels=3)
    >>> (encoding,), classes, first = encode(Y, [cover])
    >>> classes.array()
    array([[1, 0, 1, 2],
           [2, 0, 2, 1]], dtype=int32)
    >>> encoding.problem
    array([0, 1, 0])
    """
    distinct = Y[alike_labelsets(Y)[1]]
    widest = max(cover.k for cover in covers)
    labelsets = np.concatenate([_widened(cover.labelsets, widest) for cover in covers])
    rule = ClassRule.of_rows(distinct, labelsets)
    problem, first = _distinct_problems(distinct, rule)
    parts, at = [], 0
    for cover in covers:
        parts.append(rule.of(slice(at, at + len(cover))).pattern_rows(cover))
        at += len(cover)
    counts = np.concatenate([own for own, _ in parts])
    offsets = np.concatenate([[0], np.cumsum(counts[first])])
    encodings, at = [], 0
    for cover, (own, patterns) in zip(covers, parts, strict=True):
        starts = np.concatenate([[0], np.cumsum(own)])
        problems = problem[at : at + len(cover)]
        encodings.append(Encoding(cover, starts, patterns, problems, offsets))
        at += len(cover)
    return encodings, RowClasses(rule.of(first), Y), first


def known_labels_encoding(cover: Cover) -> Encoding:
    """Return the problems of single labels of which some cells are not known.

    Labels that agree where both are known need not agree elsewhere: each is a problem of its own,
    with two classes whatever is known of it.
    """
    numbers = np.arange(len(cover) + 1)
    patterns = np.tile(np.array([[0], [1]], dtype=np.uint8), (len(cover), 1))
    return Encoding(cover, 2 * numbers, patterns, numbers[:-1], 2 * numbers)


def _distinct_problems(
    distinct: NDArray[np.uint8], rule: ClassRule
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the problem of each member, and the first member of each problem.

    Members are one problem as long as no row tells them apart; most are told apart by few.
    """
    problem = np.zeros(len(rule.labelsets), dtype=np.int64)
    first = np.zeros(1, dtype=np.int64)
    for block in blocks(len(distinct), BLOCK_ROWS):
        group, _ = alike_rows(rule(distinct[block]))
        problem, first = alike_rows(np.column_stack([problem, group]))
        if len(first) == len(problem):
            break
    return problem, first


def _keys(
    Y: NDArray[np.uint8], labelsets: NDArray[np.int32], width: int
) -> Iterator[tuple[slice, NDArray[np.uint16]]]:
    """Yield blocks of problems, and the patterns of their first labels as binary numbers."""
    columns = np.ascontiguousarray(Y.T)
    for problems in blocks(len(labelsets), BLOCK_NUMBERS // max(1, len(Y))):
        own = labelsets[problems, :width]
        keys = np.zeros((len(own), len(Y)), dtype=np.uint16)
        for labels in own.T:
            has = np.flatnonzero(labels >= 0)
            keys[has] = keys[has] << 1 | columns[labels[has]]
        yield problems, keys


def _packed(Y: NDArray[np.uint8], labelset: NDArray[np.int32]) -> NDArray[np.bytes_]:
    """Return the pattern of each row as bytes, in the order of patterns."""
    packed = np.ascontiguousarray(np.packbits(Y[:, labelset[labelset >= 0]], axis=1))
    return packed.view(f"S{packed.shape[1]}").ravel()


def _widened(labelsets: NDArray[np.int32], width: int) -> NDArray[np.int32]:
    more = width - labelsets.shape[1]
    return np.pad(labelsets, ((0, 0), (0, more)), constant_values=-1).astype(np.int32)
