"""From a label table and a cover to single-label problems, and back to confidences per label.

The classes of labelsets are combinations of label products, each of which is solved once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import alike_rows
from labelcover._table_numbers import blocks
from labelcover.covers import Cover
from labelcover.ensemble._confidence_kernels import MARGINAL, add_members
from labelcover.learners import LinearTargets, TargetRows

# Patterns of up to this many labels are ranked by a table of all of them, longer ones by sorting.
TABLE_BITS = 12
# Problems are compared, and classes counted, on so many rows at a time.
BLOCK_ROWS = 2**14
# Patterns of so many rows and problems are held at once (2 MB, which stay in the cache).
BLOCK_NUMBERS = 2**20
# A labelset of more labels has more products than anyone has classes.
MOST_LABELS = 6
# Whether the subset that a number stands for has an odd number of labels.
ODD = np.array([subset.bit_count() % 2 for subset in range(2**MOST_LABELS)])
# Rows with the same labels are one group, unless there are more groups than this: sums of features
# by group are held for all groups.
MOST_GROUPS = 8_192


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
    patterns : ndarray of shape (n_patterns, k)
        The 0/1 values of the member's labels in each class, in the order of
        ``cover.labelsets[j]``; 0 where that holds no label. Within a member, classes are in
        lexicographic order of patterns. Where members have weights, these stand for ones.
    problem : ndarray of shape (size,), int64
        Which problem each member poses.
    offsets : ndarray of shape (n_problems + 1,), int64
        The classes of problem ``p`` are ``offsets[p]:offsets[p + 1]`` of all classes side by side.
    weights : ndarray of shape (size, k), optional
        The weight of each member in each of its labels; by default all are equal.
    """

    cover: Cover
    starts: NDArray[np.int64]
    patterns: NDArray[Any]
    problem: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None

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
        its class distribution makes of them
        (`labelcover.ensemble._confidence_kernels.add_members`).
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
        if self.weights is not None:
            return sums
        return sums / np.maximum(self.cover.label_counts, 1)

    def weighted(self, weights: NDArray[np.float64]) -> "Encoding":
        """Return the same members with weights."""
        patterns = self.patterns * np.repeat(weights, np.diff(self.starts), axis=0)
        return replace(self, patterns=patterns, weights=weights)

    def of_pairs(self) -> "Encoding":
        """Return the same members as if each label of each were one of its own."""
        sizes = self.cover.labelset_sizes
        numbers = np.split(np.arange(sizes.sum()), np.cumsum(sizes)[:-1])
        return replace(self, cover=Cover(numbers, int(sizes.sum())))


@dataclass(frozen=True)
class RowClasses:
    """The classes of all rows in some problems of labels, worked out when somebody asks for them.

    It is indexed like an array: by problems, or by all problems and some rows.

    Attributes
    ----------
    labelsets : int32 array of shape (n_problems, k)
        The labels of each problem; rows with fewer labels end in −1.
    ranks : int32 array of shape (n_problems, 2 ** width)
        The class of each pattern of a problem of up to `width` labels, −1 for patterns that do not
        occur.
    patterns : object array of shape (n_problems,)
        Of problems with more labels, the patterns that occur as sorted bytes; else None.
    Y : ndarray of shape (n, n_labels), uint8
        The labels of the rows; of a rule that is given the rows it is about, none.
    """

    labelsets: NDArray[np.int32]
    ranks: NDArray[np.int32]
    patterns: NDArray[np.object_]
    Y: NDArray[np.uint8]

    @classmethod
    def of_rows(cls, Y: NDArray[np.uint8], labelsets: NDArray[np.int32]) -> "RowClasses":
        """Return the classes that the patterns of the rows of `Y` are."""
        width = min(labelsets.shape[1], TABLE_BITS)
        ranks = np.empty((len(labelsets), 2**width), dtype=np.int32)
        for problems, keys in _keys(Y, labelsets, width):
            occurs = np.zeros((len(keys), 2**width), dtype=bool)
            np.put_along_axis(occurs, keys, True, axis=1)
            ranks[problems] = np.where(occurs, np.cumsum(occurs, axis=1) - 1, -1)
        patterns = np.full(len(labelsets), None, dtype=object)
        for j in np.flatnonzero((labelsets >= 0).sum(axis=1) > width):
            patterns[j] = np.unique(_packed(Y, labelsets[j]))
        return cls(labelsets, ranks, patterns, Y)

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

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many labels each problem has."""
        return (self.labelsets >= 0).sum(axis=1)

    def pattern_rows(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Return how many classes each problem has, and the patterns of all, a column per label."""
        k, sizes = self.labelsets.shape[1], self.sizes
        is_long = np.array([own is not None for own in self.patterns])
        member, key = np.nonzero((self.ranks >= 0) & ~is_long[:, None])
        # The first label is always the highest of k bits.
        short = min(k, TABLE_BITS)
        key = key << (short - sizes[member])
        bits = (key[:, None] >> np.arange(short - 1, -1, -1) & 1).astype(np.uint8)
        rows = np.pad(bits, ((0, 0), (0, k - short)))
        counts = np.bincount(member, minlength=len(sizes))
        if not is_long.any():
            return counts, rows
        parts = np.split(rows, np.cumsum(counts)[:-1])
        for j in np.flatnonzero(is_long):
            packed = self.patterns[j].view(np.uint8).reshape(len(self.patterns[j]), -1)
            own = np.unpackbits(packed, axis=1)[:, : sizes[j]]
            parts[j] = np.pad(own, ((0, 0), (0, k - sizes[j])))
        return np.array([len(own) for own in parts]), np.concatenate(parts)

    def __len__(self) -> int:
        return len(self.labelsets)

    @property
    def shape(self) -> tuple[int, int]:
        """Problems and rows."""
        return len(self), len(self.Y)

    def __getitem__(self, at: Any) -> Any:
        """Return the classes of some problems, or of some rows as an array."""
        if isinstance(at, tuple):
            problems, rows = at
            return self[problems](self.Y[rows])
        own = self.labelsets[at], self.ranks[at], self.patterns[at]
        return RowClasses(*own, self.Y)

    @property
    def rule(self) -> "RowClasses":
        """What gives the classes of any rows, without these."""
        return replace(self, Y=self.Y[:0])

    def array(self) -> NDArray[np.int32]:
        """Return the classes of all rows, ``(n_problems, n)``."""
        return self(self.Y)

    def counts(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many rows each class holds."""
        counts = np.zeros(int(offsets[-1]), dtype=np.int64)
        for block in blocks(len(self.Y), BLOCK_ROWS):
            found = self(self.Y[block]) + offsets[:-1, None]
            counts += np.bincount(found.ravel(), minlength=len(counts))
        return counts


def encode(
    Y: NDArray[np.uint8], covers: Sequence[Cover]
) -> tuple[Encoding, RowClasses, NDArray[np.int64]]:
    """Return the problems that the labelsets of some covers pose, each once.

    Returns
    -------
    encoding : Encoding
        Of the members of all covers; the labels of one follow those of the one before.
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
    >>> encoding, classes, first = encode(Y, [cover])
    >>> classes.array()
    array([[1, 0, 1, 2],
           [2, 0, 2, 1]], dtype=int32)
    >>> encoding.problem
    array([0, 1, 0])
    """
    every, m = covers[0], Y.shape[1]
    if len(covers) > 1:
        numbered = (own + m * c for c, cover in enumerate(covers) for own in cover)
        every = Cover(list(numbered), m * len(covers))
    distinct = Y[alike_rows(np.packbits(Y, axis=1))[1]]
    labels = np.where(every.labelsets < 0, -1, every.labelsets % m)
    found = RowClasses.of_rows(distinct, labels.astype(np.int32))
    # Members are one problem as long as no row tells them apart; most are told apart by few.
    problem, first = np.zeros(len(found), dtype=np.int64), np.zeros(1, dtype=np.int64)
    for block in blocks(len(distinct), BLOCK_ROWS):
        group, _ = alike_rows(found(distinct[block]))
        problem, first = alike_rows(np.column_stack([problem, group]))
        if len(first) == len(problem):
            break
    counts, patterns = found.pattern_rows()
    starts, offsets = (np.append(0, np.cumsum(each)) for each in (counts, counts[first]))
    encoding = Encoding(every, starts, patterns, problem, offsets)
    return encoding, replace(found[first], Y=Y), first


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


def label_products(classes: RowClasses) -> LinearTargets | None:
    """Return the products of labels that all problems are linear in.

    A class is a pattern: some labels of the labelset are 1 and the others 0. Its one-hot column is
    ``Π y_a · Π (1 - y_b)``, a sum of products with signs. Labelsets share products, and products
    that are 0 in all rows are left out. The patterns of a labelset that occur say which these are.

    There are none if they would be no fewer than classes, or labelsets are too long.
    """
    sizes, m = classes.sizes, classes.Y.shape[1]
    longest = sizes.max()
    if longest > MOST_LABELS or longest * np.log2(m + 1) > 62:
        return None
    counts, patterns = classes.pattern_rows()
    of_class = np.repeat(np.arange(len(counts)), counts)
    # A pattern is a number whose bit i tells of the i-th label.
    masks = patterns.astype(np.int64) @ (1 << np.arange(patterns.shape[1]))
    labels = np.maximum(classes.labelsets[:, :longest], 0).astype(np.int64)
    # A subset of a problem's labels has as key the labels, each plus one, as digits to the base
    # m + 1; 0 for the empty one, and for those that the problem lacks.
    keys = np.zeros((len(labels), 1 << longest), dtype=np.int64)
    for last in range(longest):
        longer = keys[:, : 1 << last] * (m + 1) + labels[:, last, None] + 1
        keys[:, 1 << last : 2 << last] = np.where(sizes[:, None] > last, longer, 0)
    # A product occurs if it is 1 in some class.
    within = [of_class[subset & masks == subset] for subset in range(1, keys.shape[1])]
    kept = np.unique(np.concatenate([keys[own, s] for s, own in enumerate(within, 1)]))
    n_products = len(kept)
    if n_products >= len(masks) - len(counts):
        return None
    number = np.searchsorted(kept, keys)
    number[np.append(kept, -1)[number] != keys] = -1
    # A product is one of fewer labels, which occurs if it does, times its last.
    parents = np.searchsorted(kept, kept // (m + 1))
    parents[kept <= m] = -1
    rule = partial(product_rows, parents, kept % (m + 1) - 1)
    # A class has the products of its labels and any of those that are 0 in it, with the sign of
    # their number.
    parts = []
    for subset in range(1, keys.shape[1]):
        own = np.flatnonzero((subset & masks == masks) & (number[of_class, subset] >= 0))
        signs = 1.0 - 2.0 * ODD[subset & ~masks[own]]
        parts.append((signs, own, number[of_class[own], subset]))
    values, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    combine = sparse.csr_array((values, (rows, columns)), shape=(len(masks), n_products))
    constant = (masks == 0).astype(np.float64)
    return LinearTargets(rule, classes.Y, combine, constant, np.arange(n_products))


def product_rows(
    parents: NDArray[np.int64], labels: NDArray[np.int64], Y: NDArray[np.uint8]
) -> TargetRows:
    """Return which rows of a label table products hold, in groups of equal labels if these are few.

    Each product is one of those before, its parent (−1 for none), times one more label.
    """
    group, first = alike_rows(np.packbits(Y, axis=1))
    is_grouped = 2 * len(first) <= len(Y) and len(first) <= MOST_GROUPS
    columns = np.ascontiguousarray((Y[first] if is_grouped else Y).T).astype(bool)
    held: list[NDArray[np.int32]] = []
    for parent, label in zip(parents.tolist(), labels.tolist(), strict=True):
        column, rows = columns[label], held[parent] if parent >= 0 else None
        own = np.flatnonzero(column).astype(np.int32) if rows is None else rows[column[rows]]
        held.append(own)
    indices, starts = np.concatenate(held), np.cumsum([0, *map(len, held)])
    entries = np.ones(len(indices)), indices, starts
    holds = sparse.csr_array(entries, shape=(len(labels), columns.shape[1]))
    return TargetRows(holds, group if is_grouped else None)
