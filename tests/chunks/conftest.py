"""A small cluster of several processes on the loopback interface, shared by the tests here."""

import pytest


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes of one thread."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        host="127.0.0.1",
        memory_limit="2GiB",
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of the cluster, the active one."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client


@pytest.fixture
def four_workers(cluster, client):
    """The same with four workers."""
    cluster.scale(4)
    client.wait_for_workers(4, timeout=120)
    return client
