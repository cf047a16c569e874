"""Which rows are for training and which for testing: the same for every method."""

import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from labelcover._arguments import check_integer
from labelcover.datasets import CsvFile, DataError, Dataset, numbered_rows
from labelcover.model_selection import StratifiedLabelKFold

KINDS = ("kfold", "stratified", "own")


class Fold(NamedTuple):
    """Rows to train on and rows to test on."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def make_folds(
    dataset: Dataset, how: str = "kfold", *, n_folds: int = 10, random_state: int = 0
) -> list[Fold]:
    """Return the folds of a data set.

    Parameters
    ----------
    dataset : Dataset
        The data set.
    how : str
        ``"kfold"``: at random, of equal size. ``"stratified"``: by iterative stratification, so
        that each label is spread evenly. ``"own"``: the split that the data set comes with.
        Otherwise the path of a CSV file with lines ``fold,row``.
    n_folds : int
        Number of folds of the first two.
    random_state : int
        Their seed.
    """
    n = len(dataset.Y)
    if how == "own":
        if dataset.train_rows is None or dataset.test_rows is None:
            raise ValueError(f"data set {dataset.name!r} has no split of its own; use 'kfold'.")
        return [Fold(dataset.train_rows, dataset.test_rows)]
    if how in ("kfold", "stratified"):
        k = check_integer("n_folds", n_folds, low=2, high=n)
        splitter = KFold if how == "kfold" else StratifiedLabelKFold
        folds = splitter(k, shuffle=True, random_state=random_state)
        return [Fold(train, test) for train, test in folds.split(np.empty(n), dataset.Y)]
    if not Path(how).exists():
        kinds = ", ".join(map(repr, KINDS))
        raise ValueError(f"folds must be one of {kinds} or a file of folds, got {how!r}.")
    return read_folds(how, n)


def read_folds(path: str | os.PathLike[str], n: int) -> list[Fold]:
    """Return the folds in a CSV file with lines ``fold,row``: every one of `n` rows once."""
    fold_of = np.full(n, -1)
    with closing(numbered_rows(CsvFile(path))) as rows:
        for cells, line in rows:
            try:
                fold, row = map(int, cells)
            except ValueError:
                found = repr(",".join(cells)[:40])
                raise DataError(path, f"{found}, expected fold,row.", line) from None
            if not (0 <= fold < n and 0 <= row < n):
                said = f"fold {fold}, row {row}, expected folds and rows of 0 to {n - 1}."
                raise DataError(path, said, line)
            if fold_of[row] >= 0:
                raise DataError(path, f"row {row} is already in fold {fold_of[row]}.", line)
            fold_of[row] = fold
    if (fold_of < 0).any():
        raise DataError(path, f"row {int(np.argmin(fold_of))} is in no fold, expected {n} rows.")
    folds = range(int(fold_of.max()) + 1)
    return [Fold(np.flatnonzero(fold_of != f), np.flatnonzero(fold_of == f)) for f in folds]
