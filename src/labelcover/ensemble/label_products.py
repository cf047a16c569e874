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
    class_patterns,
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
    that are 0 in all rows are left out. The patterns of a labelset that occur say which these are.

    Parameters
    ----------
    Y : ndarray of shape (n, n_labels)
    encodings, first
        From `labelcover.ensemble.encoding.encode`.

    Returns
    -------
    LinearTargets or None
        None if there are no fewer products than classes, or labelsets are too long.
    """
    labels, sizes, of_class, masks = _patterns(encodings, first)
    m = Y.shape[1]
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
    rule = ProductRows(parents, kept % (m + 1) - 1)
    starts, columns, values = combined_products(number, sizes, of_class, masks)
    combine = sparse.csr_array((values, columns, starts), shape=(len(masks), n_products))
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
