"""The rows of a label table, those with the same labels once: most tables have few labelsets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from labelcover._label_values import alike_labelsets

# Rows with the same labels are one group, unless there are more groups than this: sums of features
# by group are held for all groups.
MOST_GROUPS = 8_192


class DistinctRows(NamedTuple):
    """Rows of labels and, where rows with the same labels were taken once, the group of each.

    Attributes
    ----------
    labels : ndarray of shape (n_groups, n_labels), uint8
    group : ndarray of shape (n,) or None
        None if each row is a group of its own.
    """

    labels: NDArray[np.uint8]
    group: NDArray[np.int64] | None

    def each(self, of_groups: NDArray) -> NDArray:
        """Return for each row, in a column, what `of_groups` has for its group."""
        return of_groups if self.group is None else np.take(of_groups, self.group, axis=1)


def distinct_rows(Y: NDArray[np.uint8]) -> DistinctRows:
    """Return the rows of a label table, grouped if they are at least twice as many as groups.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.ensemble.distinct_rows import distinct_rows
    >>> distinct_rows(np.array([[0, 1], [1, 1], [0, 1], [0, 1]], dtype=np.uint8))
    DistinctRows(labels=array([[0, 1],
           [1, 1]], dtype=uint8), group=array([0, 1, 0, 0]))
    """
    group, first = alike_labelsets(Y)
    if 2 * len(first) > len(Y) or len(first) > MOST_GROUPS:
        return DistinctRows(Y, None)
    return DistinctRows(Y[first], group)
