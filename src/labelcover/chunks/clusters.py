"""Connections to a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labelcover._arguments import check_real

if TYPE_CHECKING:
    from distributed import Client

# Seconds that a scheduler has to answer.
TIMEOUT = 10.0


def connect(address: str, *, timeout: float = TIMEOUT) -> Client:
    """Return a client of a running Dask scheduler that has workers.

    Parameters
    ----------
    address : str
        Such as ``"tcp://10.0.0.1:8786"``, as ``dask scheduler`` prints it.
    timeout : float, default=10
        Seconds that the scheduler has to answer, and then its first worker to join it.

    Raises
    ------
    ConnectionError
        If nothing answers, or there are no workers.
    """
    from distributed import Client

    check_real("timeout", timeout, above=0)
    wanted = "scheduler must be the address of a running Dask scheduler"
    try:
        client = Client(address, timeout=timeout)
    except (OSError, ValueError, TimeoutError) as error:
        raise ConnectionError(
            f"{wanted}, got {address!r}, where nothing answered within {timeout:g} seconds."
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
