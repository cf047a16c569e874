"""Where chunks come from: arrays on disk or in memory, Parquet files, functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from labelcover._arguments import check_integer
from labelcover._imports import naming_extra
from labelcover._table_numbers import blocks
from labelcover.chunks._row_chunks import ChunkError, LocalChunks

if TYPE_CHECKING:
    import pyarrow as pa

# Numbers in a chunk of a dense table (64 MB), unless its rows are given.
CHUNK_NUMBERS = 2**23
# Rows in a chunk of a sparse table, unless they are given.
SPARSE_ROWS = 2**16

Named = tuple[str, Any, Any]


@naming_extra()
def open_chunks(source: Any, labels: Any = None, *, chunk_rows: int | None = None) -> LocalChunks:
    """Return a table in chunks, to be given to ``fit`` in place of X and Y.

    Parameters
    ----------
    source : path, array, sparse matrix or callable
        A Parquet file, or a folder of them (in the order of their names), whose columns are
        numbers. Or the features: the path of an ``.npy`` file, or an array, which may be a
        ``numpy.memmap``, or a CSR matrix. Or a function without arguments that returns an iterator
        of pairs ``(X, Y)``; it is called for every pass over the rows and must return the same
        rows every time.
    labels : list of str, path or array
        The labels: for Parquet the names of their columns; for an array another array, CSR matrix
        or ``.npy`` file of zeros and ones with as many rows; for a function None.
    chunk_rows : int, optional
        Rows in a chunk; by default as many as hold 2²³ numbers. Pairs of a function are chunks as
        they are.

    Examples
    --------
    >>> import numpy as np
    >>> from labelcover import LabelCoverClassifier
    >>> from labelcover.chunks import open_chunks
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(500, 4))
    >>> Y = (X[:, :3] + X[:, 1:] > 0).astype(np.uint8)
    >>> rows = open_chunks(X, Y, chunk_rows=128)
    >>> in_chunks = LabelCoverClassifier(random_state=0).fit(rows)
    >>> in_memory = LabelCoverClassifier(random_state=0).fit(X, Y)
    >>> bool(np.abs(in_chunks.predict_proba(X) - in_memory.predict_proba(X)).max() < 1e-6)
    True
    """
    if chunk_rows is not None:
        chunk_rows = check_integer("chunk_rows", chunk_rows, low=1)
    if callable(source):
        if labels is not None or chunk_rows is not None:
            raise ValueError(
                "labels and chunk_rows must be None where source is a function: it returns pairs "
                f"(X, Y), got labels={labels!r} and chunk_rows={chunk_rows!r}."
            )
        return LocalChunks(FunctionSource(source))
    if isinstance(source, str | os.PathLike) and Path(source).suffix != ".npy":
        return LocalChunks(ParquetSource(source, labels, chunk_rows))
    X, Y = _array(source, "source"), _array(labels, "labels")
    if X.shape[0] != Y.shape[0]:
        raise ValueError(
            f"labels must have as many rows as source, got {Y.shape[0]} and {X.shape[0]}."
        )
    return LocalChunks(ArraySource(X, Y, chunk_rows))


class ArraySource:
    """Slices of two tables of rows."""

    feature_names = label_names = None

    def __init__(self, X: Any, Y: Any, chunk_rows: int | None) -> None:
        self.X, self.Y = X, Y
        # Features in memory have to be sent to a cluster, chunk by chunk.
        self.is_in_memory = sparse.issparse(X) or isinstance(X, np.ndarray)
        wanted = SPARSE_ROWS if sparse.issparse(X) else CHUNK_NUMBERS // max(1, X.shape[1])
        step = max(1, wanted) if chunk_rows is None else chunk_rows
        self.slices = list(blocks(X.shape[0], step))

    def __len__(self) -> int:
        return len(self.slices)

    def name(self, number: int) -> str:
        """Return what a chunk is called."""
        rows = self.slices[number]
        return f"chunk {number} (rows {rows.start} to {rows.stop - 1})"

    def chunk(self, number: int) -> Named:
        """Return one chunk."""
        rows = self.slices[number]
        return self.name(number), self.X[rows], self.Y[rows]

    def chunks(self) -> Iterator[Named]:
        """Yield all chunks."""
        return map(self.chunk, range(len(self)))


class FileArray:
    """An array in a file. Every slice is read by a mapping of its own.

    Pages of a mapping that stays open would count as memory in use as long as it does.

    Parameters
    ----------
    mapped : callable
        Returns a mapping of the file; it can be pickled.
    """

    def __init__(self, mapped: Callable[[], NDArray[Any]]) -> None:
        self.mapped, self.shape = mapped, mapped().shape

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        return np.array(self.mapped()[rows])


class FunctionSource:
    """Pairs that a function yields, anew for every pass."""

    feature_names = label_names = None

    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def chunks(self) -> Iterator[Named]:
        """Yield all chunks."""
        for number, pair in enumerate(self.function()):
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ChunkError(f"chunk {number}: {type(pair).__name__}, expected a pair (X, Y).")
            yield f"chunk {number}", *pair


class ParquetSource:
    """Rows of Parquet files, read in batches.

    On a cluster, where chunks are not read in order, each is one row group of a file.
    """

    is_in_memory = False

    def __init__(
        self, path: str | os.PathLike[str], labels: Sequence[str], chunk_rows: int | None
    ) -> None:
        from pyarrow import parquet, types

        path = Path(path)
        self.files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self.files:
            wanted = "no file that ends in .parquet, expected at least one."
            raise FileNotFoundError(f"{path}: {wanted}")
        schema = parquet.read_schema(self.files[0])
        columns = schema.names
        self.label_names = _label_columns(labels, columns, self.files[0])
        chosen = set(self.label_names)
        self.feature_names = [name for name in columns if name not in chosen]
        if not self.feature_names:
            raise ValueError(f"labels must leave a column as feature, got all of {self.files[0]}.")
        for name in self.feature_names:
            kind = schema.field(name).type
            if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)):
                raise not_encoded(str(self.files[0]), name, kind)
        for file in self.files[1:]:
            _check_columns(file, parquet.read_schema(file).names, columns, self.files[0])
        self.chunk_rows = chunk_rows or max(1, CHUNK_NUMBERS // len(columns))
        self.groups = [
            (file, number)
            for file in self.files
            for number in range(parquet.ParquetFile(file).num_row_groups)
        ]

    def __len__(self) -> int:
        return len(self.groups)

    def name(self, number: int) -> str:
        """Return what a row group is called."""
        path, group = self.groups[number]
        return f"row group {group} of {path}"

    def chunk(self, number: int) -> Named:
        """Return one row group."""
        from pyarrow import parquet

        path, group = self.groups[number]
        with parquet.ParquetFile(path) as file:
            return self._named(self.name(number), file.read_row_group(group))

    def chunks(self) -> Iterator[Named]:
        """Yield batches of rows; a batch ends with its file."""
        from pyarrow import parquet

        for path in self.files:
            with parquet.ParquetFile(path) as file:
                first = 0
                for batch in file.iter_batches(self.chunk_rows):
                    yield self._named(f"{path}, rows from {first}", batch)
                    first += batch.num_rows

    def _named(self, name: str, table: pa.Table | pa.RecordBatch) -> Named:
        return (
            name,
            _columns(name, table, self.feature_names, np.float64),
            _columns(name, table, self.label_names, None),
        )


def _columns(name: str, table: Any, columns: list[str], dtype: Any) -> NDArray[Any]:
    """Return columns of an Arrow table as an array; missing cells become NaN."""
    found = []
    for column in columns:
        values = np.asarray(table.column(column).to_numpy(zero_copy_only=False))
        if values.dtype.kind not in "biuf":
            raise not_encoded(name, column, table.schema.field(column).type)
        found.append(values)
    return np.column_stack(found).astype(dtype or found[0].dtype, copy=False)


def not_encoded(where: str, column: str, kind: Any) -> ChunkError:
    """Return the error about a column of chunks that holds no numbers."""
    return ChunkError(
        f"{where}: column {column!r} holds {kind}, expected numbers, as columns of chunks are not "
        "encoded: give the table itself to fit, if it fits in memory, or encode the column first."
    )


def _label_columns(labels: Any, columns: list[str], path: Path) -> list[str]:
    if labels is None or isinstance(labels, str) or len(labels) == 0:
        raise ValueError(f"labels must be a list of names of columns of {path}, got {labels!r}.")
    missing = [name for name in labels if name not in columns]
    if missing:
        raise ValueError(f"labels must be columns of {path}, which has no {missing[0]!r}.")
    return list(labels)


def _check_columns(path: Path, columns: list[str], expected: list[str], first: Path) -> None:
    if columns == expected:
        return
    odd = [name for name in columns if name not in expected]
    lost = [name for name in expected if name not in columns]
    if odd or lost:
        what = f"column {odd[0]!r}" if odd else f"no column {lost[0]!r}"
    else:
        what = "columns in another order"
    raise ChunkError(f"{path}: {what}, expected the columns of {first}.")


def _array(value: Any, name: str) -> Any:
    if isinstance(value, str | os.PathLike):
        return FileArray(partial(np.load, os.fspath(value), mmap_mode="r", allow_pickle=False))
    if isinstance(value, np.memmap):
        # A part of one has the offset of the whole, so that it could not be found again.
        if value.filename is None or isinstance(value.base, np.memmap):
            return value
        order: Any = "C" if value.flags.c_contiguous else "F"
        where = value.dtype, "r", value.offset, value.shape, order
        return FileArray(partial(np.memmap, os.fspath(value.filename), *where))
    if sparse.issparse(value):
        return value.tocsr()
    if value is None or not hasattr(value, "shape") or len(value.shape) != 2:
        shown = f"shape {value.shape}" if hasattr(value, "shape") else repr(value)
        raise ValueError(
            f"{name} must be a table: an array, a CSR matrix or the path of an .npy file, "
            f"got {shown}."
        )
    return value
