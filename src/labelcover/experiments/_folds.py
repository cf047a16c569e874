"""Which rows are for training and which for testing: the same for every method."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import KFold

from labelcover._arguments import check_integer
from labelcover.datasets import CsvFile, DataError, Dataset, numbered_rows

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
        if how == "kfold":
            split = KFold(k, shuffle=True, random_state=random_state).split(np.empty(n))
            return [Fold(train, test) for train, test in split]
        return _folds_of(iterative_stratification(dataset.Y, k, random_state=random_state), k)
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
    return _folds_of(fold_of, int(fold_of.max()) + 1)


def iterative_stratification(
    Y: ArrayLike, n_folds: int, *, random_state: int = 0
) -> NDArray[np.intp]:
    """Return the fold of every row such that each label is spread evenly over the folds.

    Sechidis, Tsoumakas and Vlahavas (2011): the label with the fewest rows left goes first, and
    each of its rows to the fold that wants that label most, then to the one that wants most rows,
    then to one of these at random. Rows without labels fill the folds up.
    """
    Y = np.asarray(Y).astype(bool)
    n = len(Y)
    random = np.random.default_rng(random_state)
    wanted_rows = np.full(n_folds, n / n_folds)
    wanted = np.tile(Y.sum(axis=0) / n_folds, (n_folds, 1))
    fold_of = np.full(n, -1)
    left = Y.sum(axis=0)
    while left.any():
        label = min(np.flatnonzero(left), key=lambda j: left[j])
        for row in np.flatnonzero(Y[:, label] & (fold_of < 0)):
            fold = _neediest(wanted[:, label], wanted_rows, random)
            fold_of[row] = fold
            wanted[fold] -= Y[row]
            wanted_rows[fold] -= 1
            left = left - Y[row]
    for row in np.flatnonzero(fold_of < 0):
        fold = _neediest(wanted_rows, wanted_rows, random)
        fold_of[row] = fold
        wanted_rows[fold] -= 1
    return fold_of


def _neediest(first, second, random):
    best = np.flatnonzero(first >= first.max() - 1e-9)
    best = best[second[best] >= second[best].max() - 1e-9]
    return best[0] if len(best) == 1 else random.choice(best)


def _folds_of(fold_of, n_folds):
    return [
        Fold(np.flatnonzero(fold_of != f), np.flatnonzero(fold_of == f)) for f in range(n_folds)
    ]
