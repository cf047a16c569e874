"""A fit on a Dask cluster of several processes gives the answer of the local one."""

import os
import signal
import socket
import threading

import numpy as np
import pytest

from labelcover import LabelCoverClassifier
from labelcover.chunks import ChunkError, connect, on_dask, open_chunks
from labelcover.learners import LeastSquaresClassifier

da = pytest.importorskip("dask.array")
N = 4_300


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 6))
    Y = (X[:, :4] + np.abs(X[:, 2:]) + 0.5 * random.normal(size=(N, 4)) > 1).astype(np.uint8)
    return X, Y


@pytest.fixture(scope="module")
def model():
    member = LeastSquaresClassifier(kernel="rbf", n_landmarks=40)
    return LabelCoverClassifier(member, random_state=2)


@pytest.fixture(scope="module")
def expected(table, model):
    X, Y = table
    return model.fit(X, Y).predict_proba(X)


def test_dask_arrays_give_the_local_fit(client, table, model, expected):
    X, Y = table
    rows = da.from_array(X, chunks=(500, 4)), da.from_array(Y, chunks=(500, 4))
    weights = np.full(N, 1.0)
    found = model.fit(*rows, sample_weight=weights).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.slow
def test_four_workers_give_the_local_fit(four_workers, table, model, expected):
    X, Y = table
    rows = da.from_array(X, chunks=(300, 6)), da.from_array(Y, chunks=(300, 4))
    np.testing.assert_allclose(model.fit(*rows).predict_proba(X), expected, atol=1e-8)
    pool = LabelCoverClassifier(random_state=4)
    found = pool.fit(*rows).predict_proba(X)
    local = pool.fit(open_chunks(X, Y, chunk_rows=300)).predict_proba(X)
    np.testing.assert_allclose(found, local, atol=1e-8)
    np.testing.assert_allclose(found, pool.fit(X, Y).predict_proba(X), atol=1e-6)


@pytest.mark.slow
def test_dask_frames_give_the_local_fit_and_keep_names(client, table, model, expected):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, Y = (pd.DataFrame(each, columns=list("abcdef")[: each.shape[1]]) for each in table)
    rows = (dd.from_pandas(each, npartitions=5) for each in (X, Y))
    fitted = model.fit(*rows)
    np.testing.assert_allclose(fitted.predict_proba(X), expected, atol=1e-8)
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    assert fitted.label_names_in_.tolist() == list("abcd")


def test_files_and_arrays_are_fitted_where_the_workers_are(
    client, table, model, expected, tmp_path
):
    X, Y = table
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", Y)
    files = open_chunks(tmp_path / "X.npy", tmp_path / "Y.npy", chunk_rows=600)
    local = model.fit(files).predict_proba(X)
    np.testing.assert_allclose(model.fit(on_dask(files)).predict_proba(X), local, atol=1e-8)
    arrays = on_dask(open_chunks(X, Y, chunk_rows=600))
    np.testing.assert_allclose(model.fit(arrays).predict_proba(X), expected, atol=1e-8)
    with pytest.raises(ValueError, match="got a function"):
        on_dask(open_chunks(lambda: iter([(X, Y)])))


def test_without_a_cluster_dask_works_in_this_process(table, model, expected):
    X, Y = table
    rows = da.from_array(X, chunks=(2_000, 6)), da.from_array(Y, chunks=(2_000, 4))
    np.testing.assert_allclose(model.fit(*rows).predict_proba(X), expected, atol=1e-8)
    arrays = on_dask(open_chunks(X, Y, chunk_rows=2_000))
    np.testing.assert_allclose(model.fit(arrays).predict_proba(X), expected, atol=1e-8)


@pytest.mark.slow
def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    four_workers, table, model, expected, tmp_path
):
    X, Y = table
    mark = tmp_path / "killed"

    def dying(block, block_info=None):
        # The second time that the fifth chunk is read, its worker dies, once.
        if block_info[0]["chunk-location"][0] == 5:
            try:
                (tmp_path / "read").open("x").close()
            except FileExistsError:
                try:
                    mark.open("x").close()
                except FileExistsError:
                    return block
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.from_array(X, chunks=(500, 6)).map_blocks(dying, dtype=X.dtype, meta=X[:0])
    found = model.fit(rows, da.from_array(Y, chunks=(500, 4))).predict_proba(X)
    assert mark.exists()
    np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.fixture
def impatient(client):
    """The same cluster, whose scheduler gives a task up when it has lost its first worker."""

    def allow(failures, dask_scheduler=None):
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, failures
        return before

    before = client.run_on_scheduler(allow, 0)
    yield client
    client.run_on_scheduler(allow, before)


@pytest.mark.slow
def test_a_chunk_that_kills_its_workers_is_named(impatient, table):
    X, Y = table

    def deadly(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    rows = da.from_array(X, chunks=(500, 6)).map_blocks(deadly, dtype=X.dtype, meta=X[:0])
    unfitted = LabelCoverClassifier(random_state=0)
    with pytest.raises(ChunkError, match=r"1 workers were lost.*last of them.*tcp://127\.0\.0\.1"):
        unfitted.fit(rows, da.from_array(Y, chunks=(500, 4)))
    assert not hasattr(unfitted, "view_")


def test_a_chunk_too_large_for_memory_is_named(client, table):
    X, Y = table

    def greedy(chunk):
        raise MemoryError

    rows = on_dask(open_chunks(X, Y, chunk_rows=2_000))
    with pytest.raises(ChunkError, match=r"chunk \d \(rows.*worker tcp://127.* ran out of memory"):
        rows.reduce(greedy, lambda a, b: a)


def test_collections_that_do_not_fit_are_refused(table):
    X, Y = table
    rows = da.from_array(X, chunks=(1_000, 6))
    model = LabelCoverClassifier()
    with pytest.raises(ValueError, match=r"y must be a dask\.array or dask\.dataframe.*ndarray"):
        model.fit(rows, Y)
    with pytest.raises(ValueError, match="X must be a collection of Dask where y is one"):
        model.fit(X, da.from_array(Y, chunks=(1_000, 4)))
    with pytest.raises(ValueError, match="y must have as many chunks of rows as X, got 2 and 5"):
        model.fit(rows, da.from_array(Y, chunks=(3_000, 4)))
    with pytest.raises(ValueError, match="y must be a table, got 1 dimensions"):
        model.fit(rows, da.from_array(Y[:, 0], chunks=1_000))
    other = da.concatenate([rows[:3_000], da.from_array(X[3_000:], chunks=(1_300, 6))])
    with pytest.raises(ChunkError, match="chunk 3: 1300 rows of features and 1000 rows of labels"):
        model.fit(other, da.from_array(Y, chunks=((1_000, 1_000, 1_000, 1_000, 300), 4))[:4_000])


def assert_dask_works_here():
    """A connection that failed leaves Dask as it was, without a client."""
    from distributed import Client

    with pytest.raises(ValueError, match="No clients found"):
        Client.current()
    assert da.ones(3).sum().compute() == 3


def test_a_scheduler_that_does_not_answer_is_named_in_bounded_time():
    with pytest.raises(
        ConnectionError, match=r"got 'tcp://127\.0\.0\.1:9', where nothing answered"
    ):
        connect("tcp://127.0.0.1:9", timeout=1)
    with pytest.raises(ConnectionError, match=r"got 'nowhere', where"):
        connect("nowhere", timeout=1)
    assert_dask_works_here()


def test_a_scheduler_without_workers_is_named():
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(ConnectionError, match="which has none after 1 seconds"),
    ):
        connect(empty.scheduler_address, timeout=1)
    assert_dask_works_here()


def test_a_server_that_is_no_scheduler_is_named():
    """It answers a connection with the words of another protocol."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(20)

    def answer():
        connection, _ = server.accept()
        with connection:
            connection.settimeout(20)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.recv(1)

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    with server, pytest.raises(ConnectionError, match="scheduler must be the address of a running"):
        connect(address, timeout=2)
    thread.join(timeout=30)
    assert_dask_works_here()
