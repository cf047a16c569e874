"""The classes of labelsets as combinations of label products, each of which is solved once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._hash_kernels import alike_rows
from labelcover.ensemble.encoding import Encoding
from labelcover.learners.linear_targets import LinearTargets

# A labelset of more labels has more products than anyone has classes.
MOST_LABELS = 6
# The sign of a product, by which labels it has beyond those of the pattern.
SIGNS = np.array([(-1.0) ** mask.bit_count() for mask in range(1 << MOST_LABELS)])


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
    labels, sizes, of_class, masks = _patterns(encodings, first)
    m = Y.shape[1]
    if sizes.max() > MOST_LABELS or sizes.max() * np.log2(m + 1) > 62:
        return None
    product, keys = _numbered(labels, sizes, m)
    holds = _columns(keys, Y)
    occurs = np.diff(holds.indptr) > 0
    n_products = int(occurs.sum())
    if n_products >= len(masks) - len(first):
        return None
    number = np.append(np.where(occurs, np.cumsum(occurs) - 1, -1), -1)
    combine, constant = _combination(number[product], of_class, masks, n_products)
    return LinearTargets(holds[occurs], combine, constant)


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


def _numbered(labels, sizes, m):
    """Return for each problem and each subset of its labels the number of the product.

    And the keys of all products: digits to the base m + 1, each a label plus one.
    """
    n_problems, widest = labels.shape
    keys = np.zeros((n_problems, 1 << widest), dtype=np.int64)
    for mask in range(1, 1 << widest):
        inside = mask < 1 << sizes
        for i in range(widest):
            if mask >> i & 1:
                keys[inside, mask] = keys[inside, mask] * (m + 1) + labels[inside, i] + 1
    distinct, number = np.unique(keys, return_inverse=True)
    # The first key is 0, of the empty product and of subsets that a labelset does not have.
    return number.reshape(keys.shape) - 1, distinct[1:]


def _columns(keys, Y):
    """Return which rows each product holds, as a CSR array with a row per product."""
    group, first = alike_rows(np.ascontiguousarray(Y, dtype=np.int32))
    if 2 * len(first) > len(Y):
        return _columns_of(keys, Y)
    # Where labels are few, most rows are alike, and products need to be made of few.
    entries = (np.ones(len(Y)), (group, np.arange(len(Y))))
    return _columns_of(keys, Y[first]) @ sparse.csr_array(entries, (len(first), len(Y)))


def _columns_of(keys, Y):
    m = Y.shape[1]
    of_label = sparse.csr_array(np.ascontiguousarray(Y.T), dtype=np.float64)
    of_label.sort_indices()
    holds = of_label[keys % (m + 1) - 1]
    keys = keys // (m + 1)
    while keys.any():
        more = np.flatnonzero(keys)
        product = holds[more].multiply(of_label[keys[more] % (m + 1) - 1])
        keep = sparse.csr_array(
            (np.ones(len(more)), (more, np.arange(len(more)))), shape=(len(keys), len(more))
        )
        others = sparse.diags_array((keys == 0).astype(np.float64))
        holds = sparse.csr_array(others @ holds + keep @ product)
        keys = keys // (m + 1)
    holds.eliminate_zeros()
    return holds


def _combination(product, of_class, masks, n_products):
    """Return the matrix that makes classes of products, and the constant of each class."""
    rows, columns, signs = [], [], []
    for mask in range(1, product.shape[1]):
        # The products that hold all labels of the pattern, and more with alternating signs.
        held = np.flatnonzero((masks & mask == masks) & (product[of_class, mask] >= 0))
        rows.append(held)
        columns.append(product[of_class[held], mask])
        signs.append(SIGNS[masks[held] ^ mask])
    parts = np.concatenate(rows), np.concatenate(columns)
    shape = (len(masks), n_products)
    combine = sparse.csr_array((np.concatenate(signs), parts), shape=shape)
    return combine, (masks == 0).astype(np.float64)
