"""Which labels occur together and how strongly they depend on each other (Section 4.4)."""

from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labelcover._arguments import check_integer
from labelcover._label_values import label_rows, split_unknown
from labelcover._table_numbers import blocks
from labelcover.covers import Cover, labelset_ranks

# Tables worked on at once: a few megabytes each time, however many labelsets there are.
BLOCK = 2**16
# So many labelsets are looked for in all rows at once.
LABELSETS_AT_ONCE = 256
# Labelsets are told apart by their colexicographic rank, which must fit 64 bits.
MOST_LABELSETS = 2**63 - 1


Counted = tuple[NDArray[np.int32], NDArray[np.int64]]  # labelsets and how often they occur


def cooccurrences(Y: Any, r: int = 2, *, min_count: int = 5) -> Counted:
    """Return the r-labelsets whose labels occur together in at least `min_count` rows.

    Labelsets grow by one label at a time, and only those that are frequent grow, so time and
    memory follow what co-occurs in `Y` and not the number of labelsets there could be.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    r : int
        Number of labels in a labelset: 2 for pairs, 3 for triples, and so on.
    min_count : int
        Labelsets that occur together in fewer rows are left out; 5 in Section 4.4.

    Returns
    -------
    labelsets : ndarray of shape (count, r), int32
        In lexicographic order, each sorted.
    counts : ndarray of shape (count,), int64
        Number of rows with all the labels.

    Examples
    --------
    >>> from labelcover.dependence import cooccurrences
    >>> labelsets, counts = cooccurrences([[1, 1, 0], [1, 1, 1], [0, 1, 1]], r=2, min_count=2)
    >>> labelsets.tolist(), counts.tolist()
    ([[0, 1], [1, 2]], [2, 2])
    """
    return _of_all_orders(label_rows(Y), check_integer("r", r, low=1), min_count)[-1]


def _of_all_orders(rows: Any, r: int, min_count: int) -> list[Counted]:
    """Return the cooccurrences of one label, two, … r labels."""
    m = rows.shape[1]
    min_count = check_integer("min_count", min_count, low=1)
    if comb(m, r) > MOST_LABELSETS:
        raise ValueError(f"r={r} is too high for {m} labels: labelsets cannot be numbered.")
    counts = np.bincount(rows.indices, minlength=m).astype(np.int64)
    labels = np.flatnonzero(counts >= min_count)
    found, rows = [(labels[:, None].astype(np.int32), counts[labels])], rows.astype(np.int64)
    for _ in range(1, r):
        found.append(_with_one_more(rows, found[-1][0], min_count))
    return found


def _with_one_more(rows: Any, labelsets: NDArray[np.int32], min_count: int) -> Counted:
    """Return the labelsets in at least `min_count` rows that are given ones and a higher label."""
    columns, size = rows.tocsc(), labelsets.shape[1]
    found = [(np.empty((0, size + 1), np.int32), np.empty(0, np.int64))]
    for block in blocks(len(labelsets), LABELSETS_AT_ONCE):
        own = labelsets[block]
        holds = columns[:, own[:, 0]]
        for place in range(1, size):
            holds = holds * columns[:, own[:, place]]
        together = (holds.T @ rows).tocoo()
        kept = (together.col > own[together.row, -1]) & (together.data >= min_count)
        first, last = own[together.row[kept]], together.col[kept, None].astype(np.int32)
        found.append((np.hstack([first, last]), together.data[kept]))
    larger, counts = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.lexsort(larger.T[::-1])
    return larger[order], counts[order]


def labelsets_by_label(
    labelsets: NDArray[np.int32], n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Return an index of labelsets by their labels: where each label's begin, which, other labels.

    The labelsets of label ``l`` are entries ``starts[l]`` to ``starts[l + 1] − 1`` of the second
    and third array, the others of its labels a row of the third.
    """
    r = labelsets.shape[1]
    by_label = np.argsort(labelsets.ravel(), kind="stable")
    degrees = np.bincount(labelsets.ravel(), minlength=n_labels)
    without = [np.delete(np.arange(r), axis) for axis in range(r)]
    others = np.stack([labelsets[:, rest] for rest in without], axis=1).reshape(-1, r - 1)
    return np.concatenate([[0], np.cumsum(degrees)]), by_label // r, others[by_label]


def contingency(Y: Any, labels: ArrayLike) -> NDArray[np.int64]:
    """Return the contingency table of `labels` in the layout of Table 5.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    labels : array-like of int
        The r different labels, an axis of the table each.

    Returns
    -------
    ndarray of shape (2, …, 2), r axes
        Along each axis index 0 counts the rows with the label and index 1 those without, so that
        ``table[0, 1, 0]`` is n₁₂₁ of Table 5: with the first and third label, without the second.

    Examples
    --------
    >>> from labelcover.dependence import contingency
    >>> contingency([[1, 1], [1, 0], [1, 0], [0, 0]], [0, 1])
    array([[1, 2],
           [0, 1]])
    """
    rows = label_rows(Y)
    chosen = np.asarray(labels)
    m = rows.shape[1]
    allowed = chosen.ndim == 1 and chosen.dtype.kind in "iu" and np.isin(chosen, range(m)).all()
    if not allowed or not 0 < len(np.unique(chosen)) == len(chosen):
        raise ValueError(
            f"labels must be different label indices between 0 and {m - 1}, got {labels!r}."
        )
    r = len(chosen)
    absent = 1 - rows[:, chosen].toarray().astype(np.int64)
    cells = absent @ (1 << np.arange(r)[::-1])
    return np.bincount(cells, minlength=1 << r).reshape((2,) * r)


def chi_square(table: ArrayLike) -> float:
    """Return χ² of a contingency table of any number of labels against full independence.

    The expected count of a cell is the product of the shares of its labels (present or absent)
    times the number of rows, as in Section 4.4. A label that is constant, and a table of no
    rows, add nothing: their empty cells are expected to be empty.

    Parameters
    ----------
    table : array-like of shape (2, …, 2)
        Counts, as `contingency` returns them.

    Examples
    --------
    >>> from labelcover.dependence import chi_square
    >>> chi_square([[30, 10], [10, 30]])
    20.0
    """
    cells = np.asarray(table, dtype=float)
    if cells.shape != (2,) * cells.ndim or cells.ndim == 0:
        raise ValueError(f"table must have two cells along every axis, got shape {cells.shape}.")
    if not np.isfinite(cells).all() or (cells < 0).any():
        raise ValueError("table must hold counts of at least 0.")
    return float(_chi_square(cells.reshape(1, -1))[0])


def phi(Y: Any) -> NDArray[np.float64]:
    """Return the φ coefficient of every pair of labels, ``(m, m)``.

    φ is the correlation of two labels, in [-1, 1]; a pair has χ² = n·φ². It is 0 where a label
    is constant, except that every label has φ = 1 with itself. Where cells of `Y` are not known
    (NaN), φ is that of the rows that know both labels.
    """
    table, known = split_unknown(Y)
    wide = label_rows(table).astype(np.int64)
    together = (wide.T @ wide).toarray().astype(float)
    n, ones = np.array(float(wide.shape[0])), np.diag(together)[:, None]
    if known is not None:
        cells = known.astype(np.float64)
        n, ones = cells.T @ cells, wide.T @ cells
    spread = np.sqrt(ones * (n - ones))
    scale = spread * spread.T
    result = np.divide(
        n * together - ones * ones.T, scale, out=np.zeros_like(together), where=scale > 0
    )
    np.fill_diagonal(result, 1.0)
    return np.clip(result, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class LabelDependence:
    """The r-labelsets that occur together in a label table, and how dependent they are.

    Attributes
    ----------
    n_labels, n_rows : int
        The shape of the label table.
    labelsets : ndarray of shape (count, r), int32
        In lexicographic order, each sorted.
    counts : ndarray of shape (count,)
        Number of rows with all the labels.
    chi_square : ndarray of shape (count,)
        χ² of each labelset against full independence.
    """

    n_labels: int
    n_rows: int
    labelsets: NDArray[np.int32]
    counts: NDArray[np.int64]
    chi_square: NDArray[np.float64]

    @property
    def r(self) -> int:
        """Number of labels in a labelset."""
        return int(self.labelsets.shape[1])

    @cached_property
    def weights(self) -> NDArray[np.float64]:
        """Weighted dependency levels of Section 4.4: χ² times the number of co-occurrences."""
        return self.chi_square * self.counts

    def covered(self, cover: Cover) -> NDArray[np.bool_]:
        """Return which of the labelsets lie inside some labelset of `cover`."""
        if cover.n_labels != self.n_labels:
            raise ValueError(f"cover must have {self.n_labels} labels, got {cover.n_labels}.")
        if self.r > cover.k or len(self.labelsets) == 0:
            return np.zeros(len(self.labelsets), dtype=bool)
        # A copy: loops would be compiled once more for labelsets that must not change.
        inside = labelset_ranks(cover.labelsets.copy(), self.r)
        return np.isin(labelset_ranks(self.labelsets, self.r), inside)

    def merit(self, cover: Cover) -> float:
        """Return the total weighted dependency that `cover` addresses (Section 4.4)."""
        return float(self.weights[self.covered(cover)].sum())

    def share(self, cover: Cover) -> float:
        """Return the share of the total χ² that `cover` addresses; 1 if there is none."""
        total = self.chi_square.sum()
        return float(self.chi_square[self.covered(cover)].sum() / total) if total > 0 else 1.0


def label_dependence(Y: Any, r: int = 2, *, min_count: int = 5) -> LabelDependence:
    """Return the dependence of all r-labelsets that occur together at least `min_count` times.

    Parameters
    ----------
    Y : array-like or sparse array of shape (n, m)
        Zeros and ones.
    r : int
        Number of labels in a labelset, at least 2.
    min_count : int
        Labelsets that occur together in fewer rows are not taken into account (Section 4.4).

    Examples
    --------
    >>> from labelcover.dependence import label_dependence
    >>> Y = [[1, 1, 0]] * 5 + [[0, 0, 1]] * 5
    >>> dependence = label_dependence(Y, r=2)
    >>> dependence.labelsets.tolist(), dependence.chi_square.tolist()
    ([[0, 1]], [10.0])
    """
    rows = label_rows(Y)
    r = check_integer("r", r, low=2)
    n, m = rows.shape
    *lower, (labelsets, counts) = _of_all_orders(rows, r, min_count)
    ranked = [_by_rank(*counted) for counted in lower if len(labelsets)]
    chi_squares = np.empty(len(labelsets))
    for block in blocks(len(labelsets), BLOCK):
        chi_squares[block] = _chi_square(_cells(labelsets[block], counts[block], n, ranked))
    return LabelDependence(m, n, labelsets, counts, chi_squares)


def _by_rank(labelsets, counts) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ranks of labelsets of one order, ascending, and their counts."""
    ranks = labelset_ranks(labelsets, labelsets.shape[1])
    by_rank = np.argsort(ranks)
    return ranks[by_rank], counts[by_rank]


def _cells(labelsets, counts, n_rows: int, lower) -> NDArray[np.float64]:
    """Contingency tables of many labelsets, flat, from co-occurrence counts alone.

    Starting from the number of rows with all labels of each part of the labelset, the absence of
    one label after the other is subtracted out. In the flat index a bit is set where the label is
    absent, the first label highest, as in `contingency`.
    """
    r = labelsets.shape[1]
    cells = np.empty((len(labelsets), 1 << r))
    for absent in range(1 << r):
        present = [axis for axis in range(r) if not absent >> (r - 1 - axis) & 1]
        if len(present) == r:
            cells[:, absent] = counts
        elif not present:
            cells[:, absent] = n_rows
        else:
            ranks, known = lower[len(present) - 1]
            part = np.ascontiguousarray(labelsets[:, present])
            cells[:, absent] = known[np.searchsorted(ranks, labelset_ranks(part, len(present)))]
    for axis in range(r):
        pairs = cells.reshape(len(cells), 1 << axis, 2, -1)
        pairs[:, :, 1] -= pairs[:, :, 0]
    return cells


def _chi_square(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """χ² of every row of `cells`, a flat 2 × … × 2 table each."""
    r = cells.shape[1].bit_length() - 1
    n = cells.sum(axis=1, keepdims=True)
    expected = n.copy()
    for axis in range(r):
        margins = cells.reshape(len(cells), 1 << axis, 2, -1).sum(axis=(1, 3))
        shares = np.divide(margins, n, out=np.zeros_like(margins), where=n > 0)
        expected = (expected[:, :, None] * shares[:, None, :]).reshape(len(cells), -1)
    excess = np.divide(
        (cells - expected) ** 2, expected, out=np.zeros_like(cells), where=expected > 0
    )
    return excess.sum(axis=1)
