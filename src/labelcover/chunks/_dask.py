"""Dask: clusters, joblib's calls on their workers, and chunks that its workers sum."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np
from joblib import parallel_config
from joblib.parallel import get_active_backend

from labelcover._arguments import check_real
from labelcover._imports import naming_extra
from labelcover.chunks._row_chunks import (
    Chunk,
    ChunkError,
    LocalChunks,
    Place,
    RowChunks,
    checked_chunk,
    summed,
)
from labelcover.chunks._sources import not_encoded

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

# Task names begin with this; the number of the chunk follows.
TASK = "labelcover-chunk"
# Seconds that a scheduler has to answer.
TIMEOUT = 10.0


@naming_extra()
def connect(address: str, *, timeout: float | None = None) -> Client:
    """Return a client of a running Dask scheduler that has workers.

    Parameters
    ----------
    address : str
        Such as ``"tcp://10.0.0.1:8786"``, as ``dask scheduler`` prints it.
    timeout : float, optional
        Seconds that the scheduler has to answer, and then its first worker to join it; by default
        ten of each.

    Raises
    ------
    ConnectionError
        If nothing answers, or there are no workers.
    """
    from distributed import Client

    timeout = TIMEOUT if timeout is None else check_real("timeout", timeout, above=0)
    wanted = "scheduler must be the address of a running Dask scheduler"
    try:
        # A client that fails to connect may stay Dask's active one, on which all work would wait.
        Client(address, timeout=timeout, set_as_default=False).close()
        client = Client(address, timeout=timeout)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"{wanted}, got {address!r}, where nothing answered within {timeout:g} seconds."
        ) from error
    except MemoryError as error:  # what another server says, read as the length of a message
        raise ConnectionError(
            f"{wanted}, got {address!r}, where something else answered."
        ) from error
    try:
        client.wait_for_workers(1, timeout=timeout)
    except TimeoutError as error:
        client.close()
        raise ConnectionError(
            f"{wanted} with workers, got {address!r}, which has none after {timeout:g} seconds. "
            "Start some with `dask worker`."
        ) from error
    return client


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Do what joblib does in parallel on a cluster, as long as this context lasts.

    Parameters
    ----------
    address : str or None
        As for `connect`; None changes nothing.
    """
    if address is None:
        yield
        return
    with connect(address), parallel_config(backend="dask"):
        yield


def is_on_cluster() -> bool:
    """Tell whether joblib's calls go to the workers of a Dask cluster."""
    return type(get_active_backend()[0]).__name__ == "DaskDistributedBackend"


def sent_once(shared: Sequence[Any]) -> AbstractContextManager[Any]:
    """Return a context in which what calls share is sent to the workers of a cluster only once.

    Asked where `is_on_cluster`. joblib does so by itself with arrays, for each list of calls; with
    objects that hold arrays it does not.
    """
    return parallel_config(backend="dask", scatter=list(shared))


class Parcel:
    """A value that arrives as it was.

    Over Dask's connections arrays arrive with their numbers at odd addresses or read-only, for
    which every worker would compile loops anew. Inside a parcel they do not; what arrives is the
    value itself.
    """

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self):
        return pickle.loads, (pickle.dumps(self.value, protocol=4),)


class DaskChunks(RowChunks):
    """Chunks of which Dask's workers make sums.

    Tasks run where Dask's do: on the cluster of the active ``distributed.Client``, else in threads
    of this process. A task whose worker is lost is done again by another. Sums are made in the
    order of `LocalChunks`.

    Parameters
    ----------
    parts : list of tuples
        Name, features and labels of each chunk; the last two may be Dask's ``Delayed`` objects or
        futures.
    """

    def __init__(
        self,
        parts: list[tuple[str, Any, Any]],
        feature_names: list[str] | None = None,
        label_names: list[str] | None = None,
    ) -> None:
        self.parts = parts
        self.feature_names, self.label_names = feature_names, label_names

    def reduce(self, function: Callable[[Chunk], T], add: Callable[[T, T], T]) -> T:
        """Return the sum over all chunks of what a function makes of each."""
        from dask import delayed

        token = uuid4().hex
        # One node of the graph, which workers fetch once, whatever the function carries.
        shared = delayed(function, name=f"labelcover-function-{token}", traverse=False)

        def part(number: int) -> Any:
            name, X, Y = self.parts[number]
            how = {"dask_key_name": f"{TASK}-{number}-{token}"}
            return delayed(_performed)(shared, name, X, Y, self._place(number), **how)

        add_later = partial(delayed(_added), add)
        total: Any = summed(map(part, range(len(self.parts))), add_later)
        try:
            return total.compute(optimize_graph=False)
        except Exception as error:
            # distributed need not be installed for Dask's threads.
            if type(error).__name__ != "KilledWorker":
                raise
            raise ChunkError(self._killed(error)) from error

    def _killed(self, error: Any) -> str:
        found = re.match(rf"{TASK}-(\d+)-", str(error.task))
        name = self.parts[int(found[1])][0] if found else f"task {error.task}"
        worker = getattr(error.last_worker, "address", error.last_worker)
        return (
            f"{name}: {error.allowed_failures + 1} workers were lost while they worked on it, the "
            f"last of them {worker}; most likely they ran out of memory. Take smaller chunks, or "
            "workers with more memory."
        )


def as_chunks(X: Any, y: Any) -> RowChunks | None:
    """Return rows in chunks, if `X` is such or a collection of Dask; else None.

    Parameters
    ----------
    X : RowChunks, dask.array or dask.dataframe; or anything else
    y : None, dask.array or dask.dataframe
        The labels of a collection, with as many rows; None for `RowChunks`, which have labels.

    Raises
    ------
    ValueError
        If `y` does not fit `X`.
    """
    if isinstance(X, RowChunks):
        if y is not None:
            raise ValueError("y must be None where X is a table in chunks, which holds the labels.")
        return X
    if not _is_collection(X):
        if _is_collection(y):
            raise ValueError(
                f"X must be a collection of Dask where y is one, got {type(X).__name__}."
            )
        return None
    if not _is_collection(y):
        raise ValueError(
            "y must be a dask.array or dask.dataframe where X is one, got "
            f"{type(y).__name__}. dask.array.from_array makes one of an array."
        )
    for column, dtype in dict(getattr(X, "dtypes", {})).items():
        if getattr(dtype, "kind", "O") not in "biuf":
            raise not_encoded("X", column, dtype)
    features, labels = _blocks(X, "X"), _blocks(y, "y")
    if len(features) != len(labels):
        raise ValueError(
            f"y must have as many chunks of rows as X, got {len(labels)} and {len(features)}. "
            "Use rechunk or repartition."
        )
    pairs = zip(features, labels, strict=True)
    parts = [(f"chunk {number}", *pair) for number, pair in enumerate(pairs)]
    return DaskChunks(parts, _names(X), _names(y))


def on_dask(chunks: LocalChunks) -> DaskChunks:
    """Return the same chunks, read and summed by Dask's workers.

    Files are read where the work is done, so that workers must see them under the same path; arrays
    in memory are sent to the workers once. Of a Parquet file, every row group is a chunk.

    Raises
    ------
    ValueError
        If chunks come from a function, whose chunks can only be read in order.
    """
    from dask import delayed

    source = chunks.source
    if not hasattr(source, "chunk"):
        raise ValueError("chunks must be of files or arrays, got a function: it is read in order.")
    if source.is_in_memory:
        parts = [_sent(*source.chunk(number)) for number in range(len(source))]
    else:
        shared = delayed(source, traverse=False)
        parts = []
        for number in range(len(source)):
            named = shared.chunk(number)
            parts.append((source.name(number), named[1], named[2]))
    return DaskChunks(parts, source.feature_names, source.label_names)


def _sent(name: str, X: Any, Y: Any) -> tuple[str, Any, Any]:
    """Return a chunk whose tables lie with a worker; in a process without a cluster, here."""
    from dask import delayed

    try:
        from distributed import get_client

        features, labels = get_client().scatter([X, np.asarray(Y)], hash=False)
    except (ImportError, ValueError):  # there is no client
        return name, delayed(X, traverse=False), delayed(Y, traverse=False)
    return name, features, labels


def _performed(function: Callable[[Chunk], T], name: str, X: Any, Y: Any, place: Place | None) -> T:
    """Return what a function makes of a chunk; runs on a worker."""
    try:
        return function(checked_chunk(name, X, Y, place))
    except MemoryError as error:
        raise ChunkError(f"{name}: {_here()} ran out of memory. Take smaller chunks.") from error


def _added(add: Callable[[T, T], T], first: T, second: T) -> T:
    # Dask may compute anything again, so that what it holds must not change.
    return add(deepcopy(first), second)


def _here() -> str:
    try:
        from distributed import get_worker

        return f"worker {get_worker().address}"
    except (ImportError, ValueError):
        return "this process"


def _is_collection(value: Any) -> bool:
    return hasattr(value, "__dask_graph__") and hasattr(value, "to_delayed")


def _blocks(table: Any, name: str) -> list[Any]:
    """Return the chunks of rows of a collection, each with all its columns."""
    if hasattr(table, "npartitions") and hasattr(table, "columns"):
        return list(table.to_delayed())
    if table.ndim != 2:
        raise ValueError(f"{name} must be a table, got {table.ndim} dimensions.")
    if table.numblocks[1] > 1:
        table = table.rechunk({1: -1})
    return list(table.to_delayed().ravel())


def _names(table: Any) -> list[str] | None:
    columns = list(getattr(table, "columns", [None]))
    return columns if all(isinstance(each, str) for each in columns) else None
