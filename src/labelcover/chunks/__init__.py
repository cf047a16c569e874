"""Rows that do not fit in memory: read in chunks, summed here or on a Dask cluster."""

from labelcover.chunks.clusters import connect
from labelcover.chunks.dask_chunks import as_chunks, on_dask
from labelcover.chunks.row_chunks import Chunk, ChunkError, RowChunks
from labelcover.chunks.sources import open_chunks

__all__ = ["Chunk", "ChunkError", "RowChunks", "as_chunks", "connect", "on_dask", "open_chunks"]
