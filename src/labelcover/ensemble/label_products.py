"""The classes of labelsets as combinations of label products, each of which is solved once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover.ensemble.distinct_rows import DistinctRows, distinct_rows
from labelcover.ensemble.encoding import Encoding
from labelcover.ensemble.label_product_kernels import (
    class_patterns,
    combined_products,
    product_keys,
    product_rows,
)
from labelcover.learners.linear_targets import LinearTargets, TargetRows

# A labelset of more labels has more products than anyone has classes.
MOST_LABELS = 6


def label_products(
    rows: DistinctRows, encodings: Sequence[Encoding], first: NDArray[np.int64]
) -> LinearTargets | None:
    """Return the products of labels that all problems are linear in, if they are few enough.

    A class is a pattern: some labels of the labelset are 1 and the others 0. Its one-hot column is
    ``Π y_a · Π (1 - y_b)``, a sum of products with signs. Labelsets share products, and products
    that are 0 in all rows are left out.

    Parameters
    ----------
    rows : DistinctRows
        Of the label table.
    encodings, first
        From `labelcover.ensemble.encoding.encode`.

    Returns
    -------
    LinearTargets or None
        None if there are no fewer products than classes.
    """
    products = occurring_products(encodings, first, rows.labels.shape[1])
    if products is None:
        return None
    held = products.rows.among(rows)
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
        return self.among(distinct_rows(Y))

    def among(self, rows: DistinctRows) -> TargetRows:
        """Return the same for rows that are grouped already."""
        columns = np.ascontiguousarray(rows.labels.T)
        starts, indices = product_rows(columns, self.parents, self.labels)
        held = np.ones(len(indices)), indices, starts
        holds = sparse.csr_array(held, shape=(len(self.labels), columns.shape[1]))
        return TargetRows(holds, rows.group)


@dataclass(frozen=True)
class Products:
    """The products of labels that the classes of all problems are combinations of.

    Attributes
    ----------
    rows : ProductRows
    combine, constant
        As in `LinearTargets`.
    """

    rows: ProductRows
    combine: sparse.csr_array
    constant: NDArray[np.float64]


def occurring_products(
    encodings: Sequence[Encoding],
    first: NDArray[np.int64],
    n_labels: int,
) -> Products | None:
    """Return the products that are 1 in some row; None if they are no fewer than the classes.

    Also if labelsets are too long. The patterns of a labelset that occur say which products of its
    labels do.
    """
    labels, sizes, of_class, masks = _patterns(encodings, first)
    m = n_labels
    if sizes.max() > MOST_LABELS or sizes.max() * np.log2(m + 1) > 62:
        return None
    keys, occurring = product_keys(labels, sizes, of_class, masks, m)
    kept = np.unique(occurring)
    n_products = len(kept)
    if n_products >= len(masks) - len(first):
        return None
    number = np.searchsorted(kept, keys)
    number[np.append(kept, -1)[number] != keys] = -1
    # A product is one of fewer labels, which occurs if it does, times its last.
    parents = np.searchsorted(kept, kept // (m + 1))
    parents[kept <= m] = -1
    rows = ProductRows(parents, kept % (m + 1) - 1)
    starts, columns, values = combined_products(number, sizes, of_class, masks)
    combine = sparse.csr_array((values, columns, starts), shape=(len(masks), n_products))
    return Products(rows, combine, (masks == 0).astype(np.float64))


def _patterns(encodings, first):
    """Return the labels of each problem, how many, and the problem and pattern of each class.

    A pattern is a number whose bit i tells of the i-th label.
    """
    widest = max(encoding.cover.k for encoding in encodings)
    low, n_problems, found = 0, 0, []
    # `first` ascends, so problems and their classes are in order already.
    for encoding in encodings:
        cover = encoding.cover
        members = first[(first >= low) & (first < low + len(cover))] - low
        labels, sizes, of_class, masks = class_patterns(
            members, cover.labelsets, encoding.starts, encoding.patterns, widest
        )
        found.append((labels, sizes, of_class + n_problems, masks))
        low, n_problems = low + len(cover), n_problems + len(members)
    return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))
