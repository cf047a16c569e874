"""Chunks of files, arrays and functions: what is read, and what is said of bad ones."""

import weakref
from operator import iadd

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from labelcover import LabelCoverClassifier
from labelcover.chunks import ChunkError, open_chunks
from labelcover.chunks._row_chunks import RUN

random = np.random.default_rng(0)
X = random.normal(size=(50, 3))
Y = random.integers(0, 2, size=(50, 2)).astype(np.uint8)
NAMES = ["a", "b", "c", "rain", "wind"]


def write_parquet(path, X=X, Y=Y, names=NAMES, row_group_size=20):
    columns = [*np.asarray(X).T, *np.asarray(Y).T]
    parquet.write_table(pa.table(columns, names=names), path, row_group_size=row_group_size)


def rows_of(chunks):
    labels = chunks.survey()
    found = chunks.reduce(lambda chunk: [(chunk.start, chunk.X)], lambda a, b: a + b)
    assert [start for start, _ in found] == np.cumsum(
        [0, *(len(x) for _, x in found[:-1])]
    ).tolist()
    return np.concatenate([x for _, x in found]), labels


def sources(folder):
    np.save(folder / "X.npy", X)
    np.save(folder / "Y.npy", Y)
    write_parquet(folder / "rows.parquet")
    (folder / "parts").mkdir()
    write_parquet(folder / "parts" / "1.parquet", X[30:], Y[30:])
    write_parquet(folder / "parts" / "0.parquet", X[:30], Y[:30])
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    order = np.memmap(folder / "raw", dtype=np.float32, mode="w+", shape=(50, 3), order="F")
    order[:] = X
    order.flush()
    return {
        "npy files": (X, open_chunks(folder / "X.npy", folder / "Y.npy", chunk_rows=7)),
        "memmap": (X, open_chunks(mapped, Y, chunk_rows=7)),
        "part of a memmap": (X[:, :2], open_chunks(mapped[:, :2], Y, chunk_rows=7)),
        "memmap by columns": (X.astype(np.float32), open_chunks(order, Y, chunk_rows=7)),
        "parquet": (X, open_chunks(folder / "rows.parquet", ["rain", "wind"], chunk_rows=7)),
        "parquet as it is": (X, open_chunks(str(folder / "rows.parquet"), ["rain", "wind"])),
        "folder": (X, open_chunks(folder / "parts", ["rain", "wind"])),
        "function": (
            X,
            open_chunks(lambda: ((X[i : i + 9], Y[i : i + 9]) for i in range(0, 50, 9))),
        ),
    }


def test_every_source_gives_all_rows_in_order(tmp_path):
    for name, (expected, chunks) in sources(tmp_path).items():
        found, labels = rows_of(chunks)
        np.testing.assert_array_equal(found, expected, err_msg=name)
        np.testing.assert_array_equal(labels, Y, err_msg=name)


def test_sparse_chunks_stay_sparse():
    chunks = open_chunks(sparse.csc_matrix(X), sparse.csr_matrix(Y), chunk_rows=20)
    np.testing.assert_array_equal(chunks.survey(), Y)
    parts = chunks.reduce(lambda chunk: [chunk.X], lambda a, b: a + b)
    assert chunks.is_sparse
    np.testing.assert_array_equal(sparse.vstack(parts).toarray(), X)


def test_sums_over_more_chunks_than_a_run_miss_none():
    for n in (1, RUN, RUN + 1, 2 * RUN, 2 * RUN + 3):
        chunks = open_chunks(np.arange(1.0, n + 1)[:, None], np.ones((n, 1)), chunk_rows=1)
        assert chunks.reduce(lambda chunk: chunk.X.sum(), lambda a, b: a + b) == n * (n + 1) / 2


def test_no_more_than_three_sums_are_held_at_once():
    held, most = weakref.WeakSet(), []

    class Part:
        def __init__(self, rows):
            held.add(self)
            self.rows = rows
            most.append(len(held))

        def __iadd__(self, other):
            self.rows += other.rows
            return self

    found = open_chunks(X, Y, chunk_rows=1).reduce(lambda chunk: Part(len(chunk.X)), iadd)
    assert found.rows == len(X) > 3 * RUN
    # That of all runs before, that of this run, and the one that is made of the next chunk.
    assert max(most) == 3


def test_names_of_parquet_columns_are_kept(tmp_path):
    write_parquet(tmp_path / "rows.parquet")
    rows = open_chunks(tmp_path / "rows.parquet", ["rain", "wind"])
    model = LabelCoverClassifier(k=2, random_state=0).fit(rows)
    assert model.label_names_in_.tolist() == ["rain", "wind"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_a_file_with_other_columns_is_named(tmp_path):
    write_parquet(tmp_path / "0.parquet")
    write_parquet(tmp_path / "1.parquet", names=["a", "b", "d", "rain", "wind"])
    with pytest.raises(ChunkError, match=r"1\.parquet: column 'd', expected the columns of .*0\."):
        open_chunks(tmp_path, ["rain", "wind"])
    write_parquet(tmp_path / "1.parquet", names=["b", "a", "c", "rain", "wind"])
    with pytest.raises(ChunkError, match=r"1\.parquet: columns in another order"):
        open_chunks(tmp_path, ["rain", "wind"])
    write_parquet(tmp_path / "1.parquet", X=X[:, :2], names=["a", "b", "rain", "wind"])
    with pytest.raises(ChunkError, match=r"1\.parquet: no column 'c'"):
        open_chunks(tmp_path, ["rain", "wind"])


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ((X[:, :2], Y), r"chunk 1: 2 columns, expected 3 as in chunk 0"),
        ((X, Y[:, :1]), r"chunk 1: 1 labels, expected 2 as in chunk 0"),
        ((sparse.csr_matrix(X), Y), r"chunk 1: a sparse table, expected a dense one"),
        ((X[:4], Y), r"chunk 1: 4 rows of features and 50 rows of labels"),
        ((np.where(X > 1, np.nan, X), Y), r"chunk 1: X must hold finite numbers"),
        ((X * [1, -1e40, 1], Y), r"chunk 1: X must hold numbers of at most .* in column 1:"),
        ((X, Y + 1), r"chunk 1: Y must hold only 0 and 1, got 2"),
        ((X, np.where(X[:, :2] > 2, np.nan, Y)), r"chunk 1: Y must have all labels known in chunk"),
        ((X[:, 0], Y), r"chunk 1: X must be a table"),
        ((X, Y[:, 0]), r"chunk 1: Y must be a table"),
        (([["rain"]], Y[:1]), r"chunk 1: could not convert string"),
        (X, r"chunk 1: ndarray, expected a pair"),
    ],
)
def test_a_chunk_that_does_not_fit_the_others_is_named(second, said):
    model = LabelCoverClassifier()
    with pytest.raises(ChunkError, match=said):
        model.fit(open_chunks(lambda: iter([(X, Y), second])))
    assert not hasattr(model, "view_")


def test_a_column_with_a_number_beyond_single_precision_is_named(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "b": [1e39, 2.0], "rain": [0, 1]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ChunkError, match=r"rows\.parquet.*got 1e\+39 in column 'b'"):
        open_chunks(tmp_path / "rows.parquet", ["rain"]).survey()


def test_a_column_that_holds_no_numbers_is_named(tmp_path):
    table = pa.table({"a": [1.0, 2.0], "b": ["x", "y"], "rain": [0, 1]})
    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ChunkError, match=r"rows\.parquet.*column 'b' holds string, expected num"):
        open_chunks(tmp_path / "rows.parquet", ["rain"]).survey()


def test_wrong_arguments_are_named(tmp_path):
    write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="chunk_rows must be an integer of at least 1, got 0"):
        open_chunks(X, Y, chunk_rows=0)
    with pytest.raises(ValueError, match="labels must have as many rows as source, got 9 and 50"):
        open_chunks(X, Y[:9])
    with pytest.raises(ValueError, match=r"labels must be a table.*got None"):
        open_chunks(X)
    with pytest.raises(ValueError, match="which has no 'snow'"):
        open_chunks(tmp_path / "rows.parquet", ["snow"])
    with pytest.raises(ValueError, match=r"labels must be a list of names.*got None"):
        open_chunks(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="labels must leave a column"):
        open_chunks(tmp_path / "rows.parquet", NAMES)
    with pytest.raises(ValueError, match="labels and chunk_rows must be None"):
        open_chunks(lambda: iter([]), Y)
    with pytest.raises(FileNotFoundError):
        open_chunks(tmp_path / "nothing.parquet", ["rain"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no file that ends in \.parquet"):
        open_chunks(tmp_path / "empty", ["rain"])
    with pytest.raises(ChunkError, match="there is no chunk"):
        open_chunks(lambda: iter([])).survey()
