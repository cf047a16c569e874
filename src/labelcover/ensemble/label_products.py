"""The classes of labelsets as combinations of label products, each of which is solved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import alike_labelsets
from labelcover.ensemble.encoding import Encoding
from labelcover.ensemble.label_product_kernels import (
    combined_products,
    product_keys,
    product_rows,
)
from labelcover.learners.linear_targets import LinearTargets, TargetRows

# A labelset of more labels has more products than anyone has classes.
MOST_LABELS = 6
# Rows with the same labels are one group, unless there are more groups than this: sums of features
# by group are held for all groups.
MOST_GROUPS = 8_192


def label_products(
    Y: NDArray[np.uint8], encodings: Sequence[Encoding], first: NDArray[np.int64]
) -> LinearTargets | None:
    """Return the products of labels that all problems are linear in, if they are few enough.

    A class is a pattern: some labels of the labelset are 1 and the others 0. Its one-hot column is
    ``Π y_a · Π (1 - y_b)``, a sum of products with signs. Labelsets share products, and products
    that are 0 in all rows are left out.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    encodings, first
        From `labelcover.ensemble.encoding.encode`.

    Returns
    -------
    LinearTargets or None
        None if there are no fewer products than classes.
    """
    products = occurring_products(encodings, first, Y.shape[1])
    if products is None:
        return None
    held = products.rows(Y)
    return LinearTargets(held.holds, products.combine, products.constant, held.group)


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
        group, of_group = alike_labelsets(Y)
        is_grouped = 2 * len(of_group) <= len(Y) and len(of_group) <= MOST_GROUPS
        rows = Y[of_group] if is_grouped else Y
        starts, indices = product_rows(np.ascontiguousarray(rows.T), self.parents, self.labels)
        held = np.ones(len(indices)), indices, starts
        holds = sparse.csr_array(held, shape=(len(self.labels), len(rows)))
        return TargetRows(holds, group if is_grouped else None)


@dataclass(frozen=True)
class Products:
    """The products of labels that the classes of all problems are combinations of.

    Attributes
    ----------
    rows : ProductRows
    keys : ndarray of shape (n_products,)
        A number for each product, ascending, the same among those of other classes.
    combine, constant
        As in `LinearTargets`.
    """

    rows: ProductRows
    keys: NDArray[np.int64]
    combine: sparse.csr_array
    constant: NDArray[np.float64]


def occurring_products(
    encodings: Sequence[Encoding],
    first: NDArray[np.int64],
    n_labels: int,
    *,
    if_fewer: bool = True,
) -> Products | None:
    """Return the products that are 1 in some row; None if labelsets are too long.

    Also with `if_fewer`, where there are no fewer products than classes. The patterns of a labelset
    that occur say which products of its labels do.
    """
    labels, sizes, of_class, masks = _patterns(encodings, first)
    m = n_labels
    if sizes.max() > MOST_LABELS or sizes.max() * np.log2(m + 1) > 62:
        return None
    keys, occurring = product_keys(labels, sizes, of_class, masks, m)
    kept = np.unique(occurring)
    n_products = len(kept)
    if if_fewer and n_products >= len(masks) - len(first):
        return None
    number = np.searchsorted(kept, keys)
    number[np.append(kept, -1)[number] != keys] = -1
    # A product is one of fewer labels, which occurs if it does, times its last.
    parents = np.searchsorted(kept, kept // (m + 1))
    parents[kept <= m] = -1
    rows = ProductRows(parents, kept % (m + 1) - 1)
    starts, columns, values = combined_products(number, sizes, of_class, masks)
    combine = sparse.csr_array((values, columns, starts), shape=(len(masks), n_products))
    return Products(rows, kept, combine, (masks == 0).astype(np.float64))


def _patterns(encodings, first):
    """Return the labels of each problem, how many, and the problem and pattern of each class.

    A pattern is a number whose bit i tells of the i-th label.
    """
    member_starts = np.concatenate([[0], np.cumsum([len(e.cover) for e in encodings])])
    widest = max(encoding.cover.k for encoding in encodings)
    labels = np.zeros((len(first), widest), dtype=np.int64)
    sizes = np.zeros(len(first), dtype=np.int64)
    of_class, masks = [], []
    for encoding, low, high in zip(encodings, member_starts, member_starts[1:], strict=False):
        problems = np.flatnonzero((first >= low) & (first < high))
        members = first[problems] - low
        k = encoding.cover.k
        labels[problems, :k] = encoding.cover.labelsets[members]
        sizes[problems] = encoding.cover.labelset_sizes[members]
        counts = encoding.starts[members + 1] - encoding.starts[members]
        rows = np.repeat(encoding.starts[members] - np.cumsum(counts) + counts, counts)
        rows += np.arange(len(rows))
        of_class.append(np.repeat(problems, counts))
        masks.append(encoding.patterns[rows] @ (1 << np.arange(k)))
    # `first` ascends, so problems and their classes are in order already.
    return labels, sizes, np.concatenate(of_class), np.concatenate(masks).astype(np.int64)
