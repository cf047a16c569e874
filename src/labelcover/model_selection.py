"""Splits of rows that keep the shares of labels: splitters for scikit-learn's `cv`.

Both spread the rows of each label evenly by iterative stratification (Sechidis, Tsoumakas and
Vlahavas 2011): rare labels first, as they have the fewest rows to spread.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.utils import check_random_state

from labelcover._label_values import label_pair, label_rows, split_unknown
from labelcover._stratification_kernels import spread_rows
from labelcover._tags import read_tags, tag_table

__all__ = ["StratifiedLabelKFold", "StratifiedLabelShuffleSplit"]


class StratifiedLabelKFold(KFold):
    """Folds over which the rows of every label are spread evenly.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2.
    shuffle : bool
        Whether rows are put in a random order first. Without it the folds follow from the rows.
    random_state : int, RandomState or None
        Seed of that order.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.model_selection import StratifiedLabelKFold
    >>> Y = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1], [1, 1]])
    >>> [Y[test].sum(axis=0).tolist() for _, test in StratifiedLabelKFold(2).split(Y, Y)]
    [[2, 2], [2, 2]]
    """

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield the training and the test rows of each fold.

        Parameters
        ----------
        X : object
            Not looked at.
        y : label table of shape (n, n_labels), dense or sparse, or tags
            Cells may be unknown (NaN, None): what is spread is the rows known to have a label.
        groups : object
            Not looked at.

        Raises
        ------
        ValueError
            If there are fewer rows than folds.
        """
        Y = rows_having(y)
        if self.n_splits > Y.shape[0]:
            raise ValueError(
                f"n_splits must be at most the number of rows, {Y.shape[0]}, got {self.n_splits}."
            )
        random = check_random_state(self.random_state) if self.shuffle else None
        fold_of = spread(Y, np.full(self.n_splits, 1 / self.n_splits), random)
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)


class StratifiedLabelShuffleSplit(ShuffleSplit):
    """Random splits into training and test rows that keep the share of every label.

    Parameters
    ----------
    n_splits, test_size, train_size, random_state
        As of scikit-learn's ShuffleSplit: a tenth of the rows is for testing where neither size
        is given.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover.model_selection import StratifiedLabelShuffleSplit
    >>> Y = np.repeat([[1, 0], [0, 1]], [90, 10], axis=0)
    >>> split = StratifiedLabelShuffleSplit(1, test_size=0.2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for _, test in split.split(Y, Y)]
    [[18, 2]]
    """

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[NDArray, NDArray]]:
        """Yield training and test rows, in order; see `StratifiedLabelKFold.split`."""
        Y = rows_having(y)
        n = Y.shape[0]
        train, test = next(super().split(np.empty(n)))  # their numbers, and errors about sizes
        shares = np.array([len(train), len(test), n - len(train) - len(test)]) / n
        random = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part_of = spread(Y, shares, random)
            yield np.flatnonzero(part_of == 0), np.flatnonzero(part_of == 1)


def rows_having(Y: Any) -> sparse.csr_array:
    """Return which rows are known to have which labels: a label table with zeros for unknown."""
    tags = read_tags(Y)
    if tags is not None:
        return tag_table(tags, as_sparse=True)[0]
    table, _ = split_unknown(Y)
    return label_rows(table, pair=label_pair(table))


def spread(
    Y: sparse.csr_array, shares: NDArray[np.float64], random: np.random.RandomState | None
) -> NDArray[np.int64]:
    """Return the part of every row, parts being the `shares` of rows and of each label.

    `random` puts rows in another order and breaks ties; without it the first one is taken.
    """
    n = Y.shape[0]
    order = np.arange(n) if random is None else random.permutation(n)
    ties = np.zeros(n) if random is None else random.uniform(size=n)
    rows = sparse.csr_array(Y[order])
    columns = rows.tocsc()
    wanted = np.outer(np.diff(columns.indptr), shares)
    starts, labels = rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
    row_starts, of_label = columns.indptr.astype(np.int64), columns.indices.astype(np.int64)
    found = spread_rows(starts, labels, row_starts, of_label, wanted, n * shares, ties)
    part_of = np.empty(n, dtype=np.int64)
    part_of[order] = found
    return part_of
