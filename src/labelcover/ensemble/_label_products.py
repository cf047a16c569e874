"""The classes of labelsets as combinations of label products, each of which is solved once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import alike_labelsets
from labelcover.ensemble._encoding import Encoding
from labelcover.ensemble._encoding_kernels import product_rows
from labelcover.learners import LinearTargets, TargetRows

# A labelset of more labels has more products than anyone has classes.
MOST_LABELS = 6
# Whether the subset that a number stands for has an odd number of labels.
ODD = np.array([subset.bit_count() % 2 for subset in range(2**MOST_LABELS)])
# Rows with the same labels are one group, unless there are more groups than this: sums of features
# by group are held for all groups.
MOST_GROUPS = 8_192


def label_products(
    Y: NDArray[np.uint8], encodings: Sequence[Encoding], first: NDArray[np.int64]
) -> LinearTargets | None:
    """Return the products of labels that all problems are linear in, if they are few enough.

    A class is a pattern: some labels of the labelset are 1 and the others 0. Its one-hot column is
    ``Π y_a · Π (1 - y_b)``, a sum of products with signs. Labelsets share products, and products
    that are 0 in all rows are left out. The patterns of a labelset that occur say which these are.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    encodings, first
        From `labelcover.ensemble._encoding.encode`.

    Returns
    -------
    LinearTargets or None
        None if there are no fewer products than classes, or labelsets are too long.
    """
    labels, sizes, of_class, masks = _patterns(encodings, first)
    m = Y.shape[1]
    if sizes.max() > MOST_LABELS or sizes.max() * np.log2(m + 1) > 62:
        return None
    keys = _product_keys(labels[:, : sizes.max()], sizes, m)
    # A product occurs if it is 1 in some class.
    within = [of_class[subset & masks == subset] for subset in range(1, keys.shape[1])]
    kept = np.unique(np.concatenate([keys[own, s] for s, own in enumerate(within, 1)]))
    n_products = len(kept)
    if n_products >= len(masks) - len(first):
        return None
    number = np.searchsorted(kept, keys)
    number[np.append(kept, -1)[number] != keys] = -1
    # A product is one of fewer labels, which occurs if it does, times its last.
    parents = np.searchsorted(kept, kept // (m + 1))
    parents[kept <= m] = -1
    rule = ProductRows(parents, kept % (m + 1) - 1)
    combine = _combined_products(number, of_class, masks, n_products)
    constant = (masks == 0).astype(np.float64)
    return LinearTargets(rule, Y, combine, constant, np.arange(n_products))


@dataclass(frozen=True)
class ProductRows:
    """Which rows of a label table each product of labels holds.

    Attributes
    ----------
    parents : ndarray of shape (n_products,)
        The product, one of those before, that is multiplied by one more label; −1 for none.
    labels : ndarray of shape (n_products,)
        That label.
    """

    parents: NDArray[np.int64]
    labels: NDArray[np.int64]

    def __call__(self, Y: NDArray[np.uint8]) -> TargetRows:
        """Return the rows, in groups of the same labels if these are few."""
        group, first = alike_labelsets(Y)
        is_grouped = 2 * len(first) <= len(Y) and len(first) <= MOST_GROUPS
        columns = np.ascontiguousarray((Y[first] if is_grouped else Y).T)
        starts, indices = product_rows(columns, self.parents, self.labels)
        held = np.ones(len(indices)), indices, starts
        holds = sparse.csr_array(held, shape=(len(self.labels), columns.shape[1]))
        return TargetRows(holds, group if is_grouped else None)


def _patterns(
    encodings: Sequence[Encoding], first: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels of each problem, how many, and the problem and pattern of each class.

    A pattern is a number whose bit i tells of the i-th label.
    """
    widest = max(encoding.cover.k for encoding in encodings)
    labels = np.zeros((len(first), widest), dtype=np.int64)
    sizes = np.zeros(len(first), dtype=np.int64)
    of_class, masks, low = [], [], 0
    # `first` ascends, so problems and their classes are in order already.
    for encoding in encodings:
        cover = encoding.cover
        problems = np.flatnonzero((first >= low) & (first < low + len(cover)))
        members = first[problems] - low
        labels[problems, : cover.k] = np.maximum(cover.labelsets[members], 0)
        sizes[problems] = cover.labelset_sizes[members]
        counts = np.diff(encoding.starts)[members]
        of_class.append(np.repeat(problems, counts))
        rows = np.arange(counts.sum()) + np.repeat(
            encoding.starts[members] - np.cumsum(counts) + counts, counts
        )
        masks.append(encoding.patterns[rows].astype(np.int64) @ (1 << np.arange(cover.k)))
        low += len(cover)
    return labels, sizes, np.concatenate(of_class), np.concatenate(masks)


def _product_keys(
    labels: NDArray[np.int64], sizes: NDArray[np.int64], n_labels: int
) -> NDArray[np.int64]:
    """Return a key for each product of each problem's labels, ``(n_problems, 2 ** k)``.

    By the subset of the problem's labels; 0 for the empty one, and for those that it lacks. A key
    is the labels of a product, each plus one, as digits to the base ``n_labels + 1``.
    """
    keys = np.zeros((len(labels), 1 << labels.shape[1]), dtype=np.int64)
    for last in range(labels.shape[1]):
        longer = keys[:, : 1 << last] * (n_labels + 1) + labels[:, last, None] + 1
        keys[:, 1 << last : 2 << last] = np.where(sizes[:, None] > last, longer, 0)
    return keys


def _combined_products(
    number: NDArray[np.int64],
    of_class: NDArray[np.int64],
    masks: NDArray[np.int64],
    n_products: int,
) -> sparse.csr_array:
    """Return the combinations of products that classes are, ``(n_classes, n_products)``.

    Each has the products of its labels and any of those that are 0 in it, with the sign of their
    number. `number` is that of the product of each subset of a problem's labels; negative if it is
    0 in all rows.
    """
    parts = []
    for subset in range(1, number.shape[1]):
        own = np.flatnonzero((subset & masks == masks) & (number[of_class, subset] >= 0))
        signs = 1.0 - 2.0 * ODD[subset & ~masks[own]]
        parts.append((signs, own, number[of_class[own], subset]))
    values, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return sparse.csr_array((values, (rows, columns)), shape=(len(masks), n_products))
