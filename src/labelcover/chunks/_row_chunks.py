"""A table in chunks of rows that can be read several times, and sums over them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from operator import iadd
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._label_values import as_booleans, unknown_cells
from labelcover._table_numbers import canonical_rows, check_size

T = TypeVar("T")
# Where a chunk was when chunks were read before: its first row, how many, their weights.
Place = tuple[int, int, NDArray[np.float64] | None]

# Sums are made of so many consecutive chunks first, then of those sums: the same order here and on
# a cluster, where it leaves workers something to do at the same time.
RUN = 16


class ChunkError(ValueError):
    """Something is wrong with one chunk of a table; the message says which and what."""


@dataclass(frozen=True)
class Chunk:
    """Some consecutive rows of a table.

    Attributes
    ----------
    name : str
        Which chunk this is, for errors.
    X : ndarray or CSR matrix of shape (n, d), float64
    Y : ndarray of shape (n, n_labels), uint8
    start : int
        The number of its first row in the whole table.
    weights : ndarray of shape (n,) or None
    """

    name: str
    X: Any
    Y: NDArray[np.uint8]
    start: int = 0
    weights: NDArray[np.float64] | None = None


class RowChunks(ABC):
    """Rows that need not fit in memory, with their labels, chunk by chunk.

    Made by `open_chunks`, or of Dask's arrays and data frames; `fit` takes it in place of X and Y.
    The labels are held in memory once they have been read, a byte each.

    Attributes
    ----------
    feature_names, label_names : list of str or None
        Names of columns, if they have any.
    shape : tuple
        Rows and features, once `survey` has read them.
    is_sparse : bool
        Whether chunks are sparse tables.
    """

    feature_names: list[str] | None = None
    label_names: list[str] | None = None
    shape: tuple[int, int]
    is_sparse: bool
    _sizes: NDArray[np.int64] | None = None
    _weights: NDArray[np.float64] | None = None

    @abstractmethod
    def reduce(self, function: Callable[[Chunk], T], add: Callable[[T, T], T]) -> T:
        """Return the sum over all chunks of what a function makes of each.

        Parameters
        ----------
        function : callable
            Can be pickled: it may be called in other processes.
        add : callable
            Adds two results, the one of earlier rows first; it may change the first.
        """

    def survey(self) -> NDArray[np.uint8]:
        """Return the labels of all rows; check that chunks agree in their columns.

        Raises
        ------
        ChunkError
            If a chunk cannot be read or does not fit the others.
        """
        found = self.reduce(partial(_surveyed, self.feature_names), iadd)
        first = found[0]
        for each in found:
            _check_alike(each, first)
        sizes = np.array([len(each.Y) for each in found])
        if self._sizes is not None and not np.array_equal(sizes, self._sizes):
            raise ChunkError("chunks have other sizes than when they were read before.")
        self._sizes = sizes
        self.shape = int(sizes.sum()), first.X.shape[1]
        self.is_sparse = sparse.issparse(first.X)
        return np.concatenate([each.Y for each in found])

    def weighted(self, weights: NDArray[np.float64] | None) -> Self:
        """Return the same chunks with a weight for each row."""
        other = copy(self)
        other._weights = weights
        return other

    def _place(self, number: int) -> Place | None:
        """Return where a chunk was when chunks were read before, if they were."""
        if self._sizes is None:
            return None
        # A chunk more than there were is said to have had no rows.
        start, n_rows = int(self._sizes[:number].sum()), int(self._sizes[number : number + 1].sum())
        weights = None if self._weights is None else self._weights[start : start + n_rows]
        return start, n_rows, weights


class LocalChunks(RowChunks):
    """Chunks that are read one after another in this process.

    Parameters
    ----------
    source : object with ``chunks()``, which yields names, features and labels
    """

    def __init__(self, source: Any) -> None:
        self.source = source
        self.feature_names = source.feature_names
        self.label_names = source.label_names

    def __iter__(self) -> Iterator[Chunk]:
        number = -1
        for number, (name, X, Y) in enumerate(self.source.chunks()):
            yield checked_chunk(name, X, Y, self._place(number))
        if number < 0:
            raise ChunkError("there is no chunk, expected at least one row.")
        if self._sizes is not None and number + 1 < len(self._sizes):
            raise ChunkError(
                f"{number + 1} chunks, but there were {len(self._sizes)} when they were read "
                "before. Chunks must be the same every time."
            )

    def reduce(self, function: Callable[[Chunk], T], add: Callable[[T, T], T]) -> T:
        """Return the sum over all chunks of what a function makes of each."""
        return summed(map(function, self), add)


def summed(parts: Iterator[T], add: Callable[[T, T], T]) -> T:
    """Return the sum of some parts: of `RUN` consecutive ones first, then of those sums."""
    total: Any = None
    for run in parts:
        for part in islice(parts, RUN - 1):
            run = add(run, part)
            del part  # not needed while the next is made; `functools.reduce` would keep it
        total = run if total is None else add(total, run)
        del run
    return total


def checked_chunk(name: str, X: Any, Y: Any, place: Place | None = None) -> Chunk:
    """Return a chunk of finite numbers and of labels that are 0 or 1, at its place if known.

    Raises
    ------
    ChunkError
        If it holds anything else, or has not as many rows as before; the error names the chunk.
    """
    try:
        X, Y = _numbers(X), _labels(Y)
    except (TypeError, ValueError) as error:
        raise ChunkError(f"{name}: {error}") from error
    if X.shape[0] != Y.shape[0]:
        raise ChunkError(
            f"{name}: {X.shape[0]} rows of features and {Y.shape[0]} rows of labels, expected as "
            "many of both."
        )
    if place is None:
        return Chunk(name, X, Y)
    start, n_rows, weights = place
    if X.shape[0] != n_rows:
        raise ChunkError(
            f"{name}: {X.shape[0]} rows, but {n_rows} when it was read before. Chunks must be the "
            "same every time."
        )
    if weights is not None:
        # Weights that come over a network need not be aligned nor writable.
        weights = np.require(weights, requirements=["A", "W"])
    return Chunk(name, X, Y, start, weights)


def _numbers(X: Any) -> Any:
    if sparse.issparse(X):
        X = canonical_rows(X).astype(np.float64, copy=False)
        values = X.data
    else:
        # Tables that come over a network need not be aligned nor writable: loops would be compiled
        # for these anew.
        X = values = np.require(X, dtype=np.float64, requirements=["C", "A", "W"])
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a table of at least one row and column, got shape {X.shape}.")
    # A sum is not finite if one of its numbers is not; it may overflow though all are.
    if not np.isfinite(values.sum()) and not np.isfinite(values).all():
        raise ValueError("X must hold finite numbers, got NaN or infinity.")
    return X


def _labels(Y: Any) -> NDArray[np.uint8]:
    Y = Y if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise ValueError(
            f"Y must be a table of zeros and ones, a column for each label, got shape {Y.shape}."
        )
    unknown = None if sparse.issparse(Y) else unknown_cells(Y)
    if unknown is not None:
        raise ValueError(
            f"Y must have all labels known in chunks, {int(unknown.sum())} of {Y.size} are not: "
            "fit a table in memory."
        )
    return np.ascontiguousarray(as_booleans(Y).view(np.uint8))


def _surveyed(names: list[str] | None, chunk: Chunk) -> list[Chunk]:
    """Return the chunk, alone in a list, with its labels but none of its features."""
    try:
        check_size(chunk.X, names)
    except ValueError as error:
        raise ChunkError(f"{chunk.name}: {error}") from error
    return [replace(chunk, X=chunk.X[:0].copy(), weights=None)]


def _check_alike(each: Chunk, first: Chunk) -> None:
    pairs = (
        ("columns", each.X.shape[1], first.X.shape[1]),
        ("labels", each.Y.shape[1], first.Y.shape[1]),
    )
    for what, found, expected in pairs:
        if found != expected:
            raise ChunkError(
                f"{each.name}: {found} {what}, expected {expected} as in {first.name}."
            )
    own, wanted = ("sparse" if sparse.issparse(one.X) else "dense" for one in (each, first))
    if own != wanted:
        raise ChunkError(f"{each.name}: a {own} table, expected a {wanted} one as in {first.name}.")
