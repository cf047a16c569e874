"""Dask clusters: the connection, and joblib's calls on their workers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import parallel_config
from joblib.parallel import get_active_backend

from labelcover._arguments import check_real
from labelcover._imports import naming_extra

if TYPE_CHECKING:
    from distributed import Client

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


def aligned_call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Return what a function returns for arguments that came over a network (see `Parcel`)."""
    return function(*map(_aligned, arguments), **{k: _aligned(v) for k, v in named.items()})


def _aligned(value: Any) -> Any:
    is_plain = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return np.require(value, requirements=["A", "W"]) if is_plain else value
