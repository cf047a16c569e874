"""Compiled loops of label products: the rows that each holds, and how they make classes."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def product_rows(columns, parents, labels):
    """Return which rows each product holds, as the starts and indices of a CSR matrix.

    Parameters
    ----------
    columns : uint8 array of shape (n_labels, n)
        The label table, transposed.
    parents : int64 array of shape (n_products,)
        The product, one of those before, that is multiplied by one more label; −1 for none.
    labels : int64 array of shape (n_products,)
        That label.
    """
    n = columns.shape[1]
    starts = np.zeros(len(parents) + 1, dtype=np.int64)
    indices = np.empty(max(n, 1024), dtype=np.int32)
    size = 0
    for p in range(len(parents)):
        column, parent = columns[labels[p]], parents[p]
        most = n if parent < 0 else starts[parent + 1] - starts[parent]
        if size + most > len(indices):
            larger = np.empty(2 * (size + most), dtype=np.int32)
            for at in range(size):  # an assignment of arrays takes seconds to compile
                larger[at] = indices[at]
            indices = larger
        if parent < 0:
            for i in range(n):
                indices[size] = i
                size += column[i]
        else:
            for at in range(starts[parent], starts[parent + 1]):
                indices[size] = indices[at]
                size += column[indices[at]]
        starts[p + 1] = size
    return starts, indices[:size].copy()


@njit(cache=True, nogil=True)
def class_patterns(members, labelsets, starts, patterns, widest):
    """Return the labels of some members, how many, and the member and pattern of each class.

    Parameters
    ----------
    members : int64 array of shape (n_members,)
    labelsets : int32 array of shape (size, k)
        Rows with fewer labels end in −1.
    starts, patterns
        As in `labelcover.ensemble.encoding.Encoding`.
    widest : int
        How many labels there is room for.

    Returns
    -------
    labels, sizes, of_class, masks
        As in `product_keys` and `combined_products`.
    """
    n_classes = 0
    for member in members:
        n_classes += starts[member + 1] - starts[member]
    labels = np.zeros((len(members), widest), dtype=np.int64)
    sizes = np.zeros(len(members), dtype=np.int64)
    of_class = np.empty(n_classes, dtype=np.int64)
    masks = np.zeros(n_classes, dtype=np.int64)
    c = 0
    for p in range(len(members)):
        labelset = labelsets[members[p]]
        for position in range(len(labelset)):
            if labelset[position] >= 0:
                labels[p, position] = labelset[position]
                sizes[p] += 1
        for row in range(starts[members[p]], starts[members[p] + 1]):
            of_class[c] = p
            for position in range(len(labelset)):
                masks[c] |= np.int64(patterns[row, position]) << position
            c += 1
    return labels, sizes, of_class, masks


@njit(cache=True, nogil=True)
def product_keys(labels, sizes, of_class, masks, n_labels):
    """Return a key for each product of each problem's labels, and those of products that occur.

    A key is the labels of a product, each plus one, as digits to the base ``n_labels + 1``.

    Parameters
    ----------
    labels : int64 array of shape (n_problems, k)
    sizes, of_class, masks
        As in `combined_products`.

    Returns
    -------
    keys : int64 array of shape (n_problems, 2 ** k)
        By the subset of the problem's labels; 0 for the empty one, and for those that it lacks.
    occurring : int64 array
        The keys of products that are 1 in some class, some of them more than once.
    """
    n_problems, widest = labels.shape
    keys = np.zeros((n_problems, 1 << widest), dtype=np.int64)
    for p in range(n_problems):
        for last in range(sizes[p]):
            for rest in range(1 << last):
                keys[p, 1 << last | rest] = keys[p, rest] * (n_labels + 1) + labels[p, last] + 1
    occurs = np.zeros(keys.shape, dtype=np.bool_)
    for c in range(len(masks)):
        subset = masks[c]
        while subset:
            occurs[of_class[c], subset] = True
            subset = (subset - 1) & masks[c]
    occurring, size = np.empty(keys.size, dtype=np.int64), 0
    for p in range(n_problems):
        for subset in range(keys.shape[1]):
            occurring[size] = keys[p, subset]
            size += occurs[p, subset]
    return keys, occurring[:size].copy()


@njit(cache=True, nogil=True)
def combined_products(numbers, sizes, of_class, masks):
    """Return the combinations of products that classes are, as starts, columns and values.

    Parameters
    ----------
    numbers : int64 array of shape (n_problems, 2 ** k)
        The number of the product of each subset of a problem's labels; negative if it is 0 in all
        rows.
    sizes : int64 array of shape (n_problems,)
        How many labels each problem has.
    of_class, masks : int64 arrays of shape (n_classes,)
        The problem of each class, and which of its labels are 1: bit i tells of the i-th.
    """
    most = 0
    for c in range(len(masks)):
        most += 1 << sizes[of_class[c]]
    starts = np.zeros(len(masks) + 1, dtype=np.int32)
    columns, values = np.empty(most, dtype=np.int32), np.empty(most)
    size = 0
    for c in range(len(masks)):
        p = of_class[c]
        # Labels that are 0 in the class, and all subsets of them.
        absent = ((1 << sizes[p]) - 1) ^ masks[c]
        more = absent
        while True:
            product = masks[c] | more
            if product > 0 and numbers[p, product] >= 0:
                columns[size] = numbers[p, product]
                sign, bits = 1.0, more
                while bits:
                    bits &= bits - 1
                    sign = -sign
                values[size] = sign
                size += 1
            if more == 0:
                break
            more = (more - 1) & absent
        starts[c + 1] = size
    return starts, columns[:size].copy(), values[:size].copy()
